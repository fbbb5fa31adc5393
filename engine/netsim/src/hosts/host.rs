//! A host: its interface, and what waits there to be sent.
//!
//! The interface sends in order. What waits is unbounded here, as the receiver's window bounds each flow, and
//! each source of users' packets has a bound. A segment or an ACK waits without its bytes, which
//! are made when it leaves, so timestamps are those of departure. A priority that PFC (IEEE 802.1Qbb) has
//! paused does not leave.

use std::collections::VecDeque;

use p4cc_transport::wire::TrafficClass;
use p4cc_units::Time;

use crate::describe::FlowPlan;
use crate::hosts::host_receiver::HostReceiver;
use crate::hosts::jitter::Jitter;
use crate::hosts::nic::AnswerCard;
use crate::hosts::packets::{Answer, Outgoing};
use crate::hosts::pauses::Pauses;
use crate::hosts::round_robin::RoundRobin;
use crate::hosts::slow_card::SlowCard;
use crate::hosts::source::UserPackets;
use crate::links::Line;

/// An interface of a host, and where the host has one, all of the host.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub line: Line,
    pub waiting: VecDeque<Outgoing>,
    pub answers: VecDeque<Answer>,
    pub paced: RoundRobin,
    pub pauses: Pauses,
    /// Where a description asks for it.
    pub jitter: Option<Box<Jitter>>,
    /// Answers in its network card, where that takes time for them or bounds notifications.
    pub card: Option<Box<AnswerCard>>,
    /// Of a host that takes packets from its network card slowly.
    pub slow: Option<Box<SlowCard>>,
    /// Where flows that end here have one.
    pub receiver: Option<Box<HostReceiver>>,
    /// Of hosts that send users' packets, or record what arrives.
    pub user: Option<Box<UserPackets>>,
    pub counters: HostCounters,
}

/// Takes the first of those that wait whose class is not paused.
#[inline]
fn take_first<T>(
    waiting: &mut VecDeque<T>,
    pauses: &Pauses,
    class: impl Fn(&T) -> TrafficClass,
) -> Option<T> {
    if !pauses.is_any_paused() {
        return waiting.pop_front();
    }
    let place = waiting.iter().position(|item| !pauses.is_paused(class(item)))?;
    waiting.remove(place)
}

impl Host {
    /// The first answer that may leave.
    #[inline]
    pub fn next_answer(&mut self) -> Option<Answer> {
        take_first(&mut self.answers, &self.pauses, |answer| answer.class)
    }

    /// The first segment or ACK that may leave.
    #[inline]
    pub fn next_waiting(&mut self, flows: &[FlowPlan]) -> Option<Outgoing> {
        take_first(&mut self.waiting, &self.pauses, |out| out.class(flows))
    }

    /// Whether a segment or ACK that is handed over now leaves at once.
    #[inline]
    pub fn lets_pass(&self, now: Time) -> bool {
        self.answers.is_empty()
            && self.waiting.is_empty()
            && !self.pauses.is_any_paused()
            && self.line.is_free(now)
            && self.jitter.is_none()
    }

    /// Whether an answer, a segment or an ACK waits that may leave.
    #[inline]
    pub fn has_waiting(&self, flows: &[FlowPlan]) -> bool {
        let waits = !self.answers.is_empty() || !self.waiting.is_empty();
        waits && (!self.pauses.is_any_paused() || self.has_free_waiting(flows))
    }

    #[cold]
    fn has_free_waiting(&self, flows: &[FlowPlan]) -> bool {
        let is_free = |class: TrafficClass| !self.pauses.is_paused(class);
        self.answers.iter().any(|answer| is_free(answer.class))
            || self.waiting.iter().any(|out| is_free(out.class(flows)))
    }
}

/// What a host counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HostCounters {
    /// Packets that left the interface.
    pub sent_pkts: u64,
    /// Packets that an end of a flow took.
    pub delivered_pkts: u64,
    /// Packets whose destination address is another's.
    pub refused_address: u64,
    /// Packets of another protocol, or damaged.
    pub refused_malformed: u64,
    /// Packets of a flow that does not end here.
    pub refused_flow: u64,
}

impl core::iter::Sum for HostCounters {
    fn sum<I: Iterator<Item = Self>>(interfaces: I) -> Self {
        interfaces.fold(Self::default(), |one, other| Self {
            sent_pkts: one.sent_pkts + other.sent_pkts,
            delivered_pkts: one.delivered_pkts + other.delivered_pkts,
            refused_address: one.refused_address + other.refused_address,
            refused_malformed: one.refused_malformed + other.refused_malformed,
            refused_flow: one.refused_flow + other.refused_flow,
        })
    }
}

impl HostCounters {
    /// Packets that arrived and no end of a flow took.
    pub const fn refused_pkts(&self) -> u64 {
        self.refused_address + self.refused_malformed + self.refused_flow
    }
}
