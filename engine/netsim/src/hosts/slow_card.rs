//! The network card of a host that takes packets from it slowly: what waits there, and when PFC (IEEE
//! 802.1Qbb) pauses the neighbour (docs/algorithms/pfc.md#slow-receivers).

use std::collections::VecDeque;

use p4cc_switch::{Packet, PauseCounters, link_bytes};
use p4cc_transport::wire::TrafficClass;
use p4cc_units::{Bytes, Span, Time};

use crate::describe::SlowReceiverPlan;

/// The card.
#[derive(Debug)]
pub(crate) struct SlowCard {
    pub plan: SlowReceiverPlan,
    /// Of its link, in whose bytes packets count.
    framing_bytes: u32,
    /// Behind the one that the host is taking.
    pub(super) waiting: VecDeque<Packet>,
    /// Of the packets that wait.
    pub(super) bytes: u64,
    /// The neighbour is paused since then, in all lossless priorities.
    pub(super) paused_since: Option<Time>,
    /// Packets have been waiting since then.
    pub(super) busy_since: Option<Time>,
    pub counters: SlowCounters,
}

/// What it counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct SlowCounters {
    pub arrived_pkts: u64,
    pub taken_pkts: u64,
    pub taken_bytes: u64,
    pub dropped_pkts: u64,
    pub peak_bytes: u64,
    pub pauses: u64,
    pub resumes: u64,
    pub(super) paused: Span,
    pub(super) busy: Span,
}

impl SlowCard {
    pub fn new(plan: SlowReceiverPlan, framing_bytes: u32) -> Self {
        let waiting = VecDeque::new();
        Self {
            plan,
            framing_bytes,
            waiting,
            bytes: 0,
            paused_since: None,
            busy_since: None,
            counters: SlowCounters::default(),
        }
    }

    /// Packets that wait in it.
    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// How long it paused its neighbour up to now.
    pub fn paused(&self, now: Time) -> Span {
        self.counters.paused + self.paused_since.map_or(Span::ZERO, |since| now.since(since))
    }

    /// How long packets waited in it up to now.
    pub fn busy(&self, now: Time) -> Span {
        self.counters.busy + self.busy_since.map_or(Span::ZERO, |since| now.since(since))
    }

    /// Adds the pause frames that it sent in a priority.
    pub fn add_pauses(&self, priority: usize, counters: &mut PauseCounters) {
        if self.plan.lossless & (1 << priority) != 0 {
            counters.sent += self.counters.pauses;
            counters.resumes_sent += self.counters.resumes;
        }
    }

    pub(super) fn bytes_of(&self, packet: &Packet) -> u64 {
        link_bytes(self.framing_bytes, packet.len()).into()
    }

    pub(super) fn is_slow(&self, now: Time) -> bool {
        now >= self.plan.start && self.plan.end.is_none_or(|end| now < end)
    }

    /// When the host has taken the first packet, which it begins to take now; none if it never does.
    pub(super) fn taken_at(&self, now: Time) -> Option<Time> {
        let bytes = Bytes(self.bytes_of(self.waiting.front()?));
        let at = self.plan.rate.map(|rate| now + rate.time_to_send(bytes));
        match (at, self.plan.end) {
            (Some(at), Some(end)) => Some(at.min(end.max(now))),
            (at, end) => at.or(end),
        }
    }

    /// Whether a packet of a traffic class finds room.
    pub(super) fn has_room(&self, packet: &Packet, class: TrafficClass) -> bool {
        let is_lossless = self.plan.lossless & (1 << class.get()) != 0;
        let most = if is_lossless || self.plan.lossless == 0 {
            self.plan.buffer_bytes
        } else {
            self.plan.xoff_bytes
        };
        self.bytes + self.bytes_of(packet) <= most
    }

    /// The link went down, and with it the pauses.
    pub fn forget_pauses(&mut self, now: Time) {
        if let Some(since) = self.paused_since.take() {
            self.counters.paused = self.counters.paused + now.since(since);
        }
    }
}
