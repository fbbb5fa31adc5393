//! The network card of a receiver of paced flows: answers that it works on
//! (docs/algorithms/substrate.md#card-times), and the interval of notifications that several flows share
//! (docs/algorithms/dcqcn.md#cnp-scope).

use std::collections::BTreeMap;

use p4cc_transport::rdma::{CnpScope, Notification, RdmaConfig};
use p4cc_units::{Span, Time};

use crate::hosts::packets::Answer;

/// What the receiver's card does with the answers of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AnswerTimes {
    pub(super) ack_processing: Span,
    pub(super) cnp_processing: Span,
    scope: CnpScope,
    cnp_interval: Span,
}

impl AnswerTimes {
    /// None where answers take no time and each flow bounds its own notifications.
    pub fn new(config: &RdmaConfig) -> Option<Self> {
        let is_packet = config.notification == Notification::Packet;
        let times = Self {
            ack_processing: Span::from_ns(config.ack_processing_ns),
            cnp_processing: Span::from_ns(config.cnp_processing_ns),
            scope: if is_packet { config.cnp_scope } else { CnpScope::Flow },
            cnp_interval: Span::from_ns(config.cnp_interval_ns),
        };
        let is_plain = times.ack_processing == Span::ZERO
            && times.cnp_processing == Span::ZERO
            && times.scope == CnpScope::Flow;
        (!is_plain && !config.reads).then_some(times)
    }
}

/// The card of a host: answers that it works on, and when notifications may follow.
#[derive(Debug, Default)]
pub(crate) struct AnswerCard {
    /// By the time at which each is done, and in the order of their arrival.
    pub(super) under_way: BTreeMap<(Time, u64), Answer>,
    pub(super) arrived: u64,
    /// By the host that sends the marked flows; one entry where all share an interval.
    cnp_after: BTreeMap<Option<u32>, Time>,
}

impl AnswerCard {
    /// Whether a notification to a host may leave now; the next one has to wait then.
    pub(super) fn lets_notify(&mut self, now: Time, times: &AnswerTimes, to: u32) -> bool {
        let shared = match times.scope {
            CnpScope::Flow => return true,
            CnpScope::Destination => Some(to),
            CnpScope::Port => None,
        };
        let after = self.cnp_after.entry(shared).or_default();
        let may = now >= *after;
        if may {
            *after = now + times.cnp_interval;
        }
        may
    }
}
