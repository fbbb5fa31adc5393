//! What a sender asks of its surroundings, and what it reports.

use p4cc_units::{Span, Time};

use crate::Codepoint;

/// One data segment to put on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Segment {
    /// Position of the first payload byte in the flow.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// What the flow has beyond it, where a receiver algorithm hears of it: the largest number for more than
    /// fits, or for an end that nobody knows. Else 0.
    pub beyond: u32,
    /// ECN bits of the IPv4 header.
    pub ecn: Codepoint,
    /// The segment was sent before.
    pub retransmit: bool,
    /// The window was cut for marks since the last new segment.
    pub cwr: bool,
    /// The segment ends the flow.
    pub fin: bool,
    /// The receiver is to answer at once.
    pub ack_request: bool,
    /// The sender reads SACK blocks.
    pub sack_permitted: bool,
    /// The sender wants a mark repeated until its CWR arrives (RFC3168).
    pub echo_until_cwr: bool,
}

/// One thing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send a segment; segments leave in the order given.
    Send(Segment),
    /// Call `on_timer` at this instant. It replaces the earlier one; a call at another time does no harm.
    SetTimer(Time),
    /// No timer is needed any more.
    CancelTimer,
    /// Every byte of the flow is acknowledged; comes once.
    Complete,
}

/// Why an ACK changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IgnoredAck {
    /// The flow has not started or is complete.
    NotActive,
    /// It acknowledges less than an earlier one.
    Old,
    /// It acknowledges bytes that were never sent.
    NeverSent,
}

/// What happened inside a sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// Something in the congestion controller.
    Congestion(p4cc_cc::Event),
    /// The retransmission timer expired.
    Timeout {
        /// First unacknowledged byte.
        seq: u64,
        /// The timeout that expired.
        rto: Span,
    },
    /// Duplicate ACKs caused a retransmission and started fast recovery.
    FastRetransmit {
        /// First unacknowledged byte.
        seq: u64,
    },
    /// A partial ACK in fast recovery showed a further hole.
    PartialAck {
        /// First unacknowledged byte.
        seq: u64,
    },
    /// An ACK changed nothing.
    AckIgnored(IgnoredAck),
}

/// A reusable buffer of actions and events; the caller clears it, so its memory stays.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Actions {
    actions: Vec<Action>,
    events: Vec<Event>,
    /// A round-trip time, and whether the ACK that gave it told of a mark.
    rtt: Option<(Span, bool)>,
}

impl Actions {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.actions.clear();
        self.events.clear();
        self.rtt = None;
    }

    /// What to do, in order.
    #[inline]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// What happened, in order.
    #[inline]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The round-trip time that an ACK gave, and whether it told of a mark.
    #[inline]
    pub fn rtt(&self) -> Option<(Span, bool)> {
        self.rtt
    }

    #[inline]
    pub(crate) fn sampled(&mut self, rtt: Span, marked: bool) {
        self.rtt = Some((rtt, marked));
    }

    #[inline]
    pub(crate) fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    pub(crate) fn report(&mut self, event: Event) {
        self.events.push(event);
    }
}

impl p4cc_cc::Publisher for Actions {
    fn publish(&mut self, event: p4cc_cc::Event) {
        self.events.push(Event::Congestion(event));
    }
}
