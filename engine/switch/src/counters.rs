//! Counters of a switch: packets, bytes, drops by cause, and PFC (IEEE 802.1Qbb) pauses.
//!
//! Invariant: every packet that is lost adds one to exactly one drop counter.

use p4cc_units::{Span, Time};

use crate::config::PRIORITIES;

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DropCause {
    /// The queue was full.
    TailDrop,
    /// The program dropped it in ingress.
    Ingress,
    /// The program dropped it in egress.
    Egress,
    /// No program is loaded.
    NoPipeline,
    /// It came in on a port that the switch does not have, or egress sent it out of one.
    NoSuchPort,
    /// It was sent to a multicast group that does not exist or is empty.
    NoReplicas,
    /// The packet received had caused as many copies and
    /// passes as [`crate::SwitchConfig::pass_limit`] allows.
    PassLimit,
    /// It is longer than [`crate::MAX_PACKET_BYTES`].
    TooLong,
    /// The controller did not fetch earlier packet-ins.
    ControllerQueue,
    /// The shared buffer had no room left for its queue.
    SharedBuffer,
    /// The headroom of its lossless priority was full: the pause came too late.
    Headroom,
}

impl DropCause {
    /// How many causes there are.
    pub const COUNT: usize = 11;

    /// All causes, in the order of [`Self::index`].
    pub const ALL: [Self; Self::COUNT] = [
        Self::TailDrop,
        Self::Ingress,
        Self::Egress,
        Self::NoPipeline,
        Self::NoSuchPort,
        Self::NoReplicas,
        Self::PassLimit,
        Self::TooLong,
        Self::ControllerQueue,
        Self::SharedBuffer,
        Self::Headroom,
    ];

    /// Place in a [`Drops`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name of its column in tables.
    pub const fn column(self) -> &'static str {
        match self {
            Self::TailDrop => "dropped_queue_full",
            Self::Ingress => "dropped_ingress",
            Self::Egress => "dropped_egress",
            Self::NoPipeline => "dropped_no_pipeline",
            Self::NoSuchPort => "dropped_no_such_port",
            Self::NoReplicas => "dropped_no_replicas",
            Self::PassLimit => "dropped_pass_limit",
            Self::TooLong => "dropped_too_long",
            Self::ControllerQueue => "dropped_controller_queue",
            Self::SharedBuffer => "dropped_shared_buffer",
            Self::Headroom => "dropped_headroom",
        }
    }
}

/// Dropped packets by cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Drops([u64; DropCause::COUNT]);

impl Drops {
    /// Packets dropped for this cause.
    pub fn of(&self, cause: DropCause) -> u64 {
        self.0[cause.index()]
    }

    /// Packets dropped for any cause.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn add(&mut self, cause: DropCause) {
        self.add_many(cause, 1);
    }

    pub(crate) fn add_many(&mut self, cause: DropCause, pkts: u64) {
        self.0[cause.index()] += pkts;
    }
}

/// Counters of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct QueueCounters {
    /// Packets taken in.
    pub enqueued_pkts: u64,
    /// Their bytes on the link.
    pub enqueued_bytes: u64,
    /// Most packets that waited at once.
    pub peak_depth_pkts: u32,
    /// Most bytes that waited at once.
    pub peak_depth_bytes: u64,
    /// Drops: tail drops and egress drops of this queue, and of packets that came in on this port those that
    /// never reached a queue (by their `priority` metadata).
    pub dropped: Drops,
}

/// Pauses of one port and priority (docs/algorithms/pfc.md#pfc).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PauseCounters {
    /// Pause frames sent to the neighbour.
    pub sent: u64,
    /// Resume frames sent to the neighbour.
    pub resumes_sent: u64,
    /// Times that the neighbour paused this port; a pause of what is paused already is not counted.
    pub received: u64,
    /// How long the neighbour kept it paused, up to the last resume.
    pub paused: Span,
    /// The longest time without a resume in between.
    pub longest: Span,
    /// When the neighbour paused it for the first time.
    pub first: Option<Time>,
    /// When the neighbour last paused it or let it go on.
    pub last: Option<Time>,
    /// Most bytes charged to it at once, headroom included.
    pub peak_ingress_bytes: u64,
    /// Most bytes of headroom in use at once.
    pub peak_headroom_bytes: u64,
}

impl PauseCounters {
    /// The neighbour paused what was not paused.
    pub fn begin(&mut self, now: Time) {
        self.received += 1;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// What was paused since some time may go on.
    pub fn end(&mut self, since: Time, now: Time) {
        self.last = Some(now);
        self.add(now.since(since));
    }

    /// The same with a pause that lasts since some time, if there is one.
    pub fn up_to(mut self, since: Option<Time>, now: Time) -> Self {
        if let Some(since) = since {
            self.add(now.since(since));
        }
        self
    }

    fn add(&mut self, held: Span) {
        self.paused = self.paused + held;
        self.longest = self.longest.max(held);
    }
}

/// Counters of a port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PortCounters {
    /// Packets received.
    pub rx_pkts: u64,
    /// Bytes received, Ethernet header included.
    pub rx_bytes: u64,
    /// Packets sent.
    pub tx_pkts: u64,
    /// Bytes sent, Ethernet header included.
    pub tx_bytes: u64,
    /// By priority.
    pub queues: [QueueCounters; PRIORITIES],
    /// By priority.
    pub pauses: [PauseCounters; PRIORITIES],
}

impl PortCounters {
    /// Packets dropped, over all queues and causes.
    pub fn dropped(&self) -> u64 {
        self.queues.iter().map(|queue| queue.dropped.total()).sum()
    }

    /// The deepest that any queue of the port was, in packets.
    pub fn peak_depth_pkts(&self) -> u32 {
        self.queues.iter().map(|queue| queue.peak_depth_pkts).max().unwrap_or(0)
    }
}

/// Counters of the whole switch. Packets are conserved:
/// `received + packet_outs + generated + copies = sent + packet_ins + drops.total() + waiting`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
// In the order of fields: the first two are every packet's.
#[repr(C)]
pub struct SwitchCounters {
    /// Packets received on ports.
    pub received: u64,
    /// Packets sent out of ports.
    pub sent: u64,
    /// Packets given by the controller.
    pub packet_outs: u64,
    /// Copies made: clones, and multicast copies beyond the original.
    pub copies: u64,
    /// Packets given to the controller.
    pub packet_ins: u64,
    /// Drops of all ports, and of packets that belong to no port.
    pub drops: Drops,
    /// Resubmissions.
    pub resubmitted: u64,
    /// Recirculations.
    pub recirculated: u64,
    /// Further passes through ingress of v1model's packets whose queue was full.
    pub deflected: u64,
    /// Packets of the packet generator (TNA), which enter ingress as if received.
    pub generated: u64,
    /// Packets whose parser rejected them; the program decides what becomes of them.
    pub parser_errors: u64,
    /// Digest messages of the program.
    pub digests: u64,
    /// Of these, lost because the controller did not fetch earlier ones.
    pub digests_lost: u64,
    /// `assert` or `assume` that did not hold; [`crate::Observation::failed_assertions`] says which.
    pub assertions_failed: u64,
}

impl SwitchCounters {
    /// Passes and copies that packets caused beyond their first pass: a measure of work.
    pub fn caused(&self) -> u64 {
        self.resubmitted + self.recirculated + self.deflected + self.copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_stand_at_their_index_with_distinct_names() {
        for (i, cause) in DropCause::ALL.into_iter().enumerate() {
            assert_eq!(cause.index(), i);
            assert_eq!(DropCause::ALL.iter().filter(|other| other.column() == cause.column()).count(), 1);
        }
    }
}
