//! Hosts and the two ends of flows: interface, demultiplexing, packets to bytes and back.
//!
//! An interface sends in order without bound on what waits: the receiver window bounds each flow. What waits
//! is a segment or an ACK; its bytes are made when it leaves, so timestamps are those of departure. A host
//! reads the real bytes that the P4 program left in the packet and refuses what is not for it.

use std::collections::VecDeque;

use p4cc_cc::Mark;
use p4cc_switch::config::PRIORITIES;
use p4cc_switch::{Packet, PacketPool, PauseCounters};
use p4cc_transport::rdma::{RdmaAck, RdmaReceiver, RdmaSender};
use p4cc_transport::wire::{self, Extension, ExtensionType, FRAME_HEADERS_LEN, Header, TrafficClass};
use p4cc_transport::{AckFields, EcnProfile, Receiver, Segment, Snapshot, WindowSender};
use p4cc_units::{Span, Time};

use crate::describe::topology::{FlowPlan, HostPlan};
use crate::events::tie_break::Ticket;
use crate::hosts::round_robin::{Seat, Turns};
use crate::hosts::rtt_noise::RttNoise;
use crate::links::channel::Line;

/// A segment or ACK that waits for the interface.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outgoing {
    /// Of the flow with this index.
    Data(u32, Segment),
    /// Of the flow with this index.
    Ack(u32, AckFields),
}

/// An answer of an RDMA-like receiver that waits for the interface. It leaves in the packet that it answers,
/// as a rule: what it carries stands where it belongs already.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    packet: Packet,
    ack: RdmaAck,
    extension_kind: ExtensionType,
    pub class: TrafficClass,
    /// With this index.
    pub flow: u32,
}

impl Answer {
    /// An answer to a data packet with this extension, in that packet.
    pub fn echo(
        mut packet: Packet,
        (flow, class): (u32, TrafficClass),
        ack: RdmaAck,
        (extension_kind, len): (ExtensionType, usize),
    ) -> Self {
        packet.head.truncate(FRAME_HEADERS_LEN + len);
        packet.zeros = 0;
        Self { packet, ack, extension_kind, class, flow }
    }

    /// A notification of marked packets, in a packet of its own.
    pub fn notification(pool: &mut PacketPool, flow: u32, class: TrafficClass, ack: RdmaAck) -> Self {
        let extension = ack.extension(Extension::NONE);
        let mut packet = pool.take(FRAME_HEADERS_LEN + extension.bytes.len(), 0);
        packet.head[FRAME_HEADERS_LEN..].copy_from_slice(extension.bytes);
        Self { packet, ack, extension_kind: extension.kind, class, flow }
    }
}

/// A host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    pub line: Line,
    pub waiting: VecDeque<(Ticket, Outgoing)>,
    pub answers: VecDeque<Answer>,
    pub paced: Turns,
    pub pauses: Pauses,
    pub counters: HostCounters,
}

impl Host {
    /// The first answer that may leave.
    #[inline]
    pub fn next_answer(&mut self) -> Option<Answer> {
        if self.pauses.is_any_paused() { self.next_free_answer() } else { self.answers.pop_front() }
    }

    #[cold]
    fn next_free_answer(&mut self) -> Option<Answer> {
        let pauses = &self.pauses;
        let place = self.answers.iter().position(|answer| !pauses.is_paused(answer.class))?;
        self.answers.remove(place)
    }

    /// The first segment or ACK that may leave.
    #[inline]
    pub fn next_waiting(&mut self, flows: &[FlowPlan]) -> Option<(Ticket, Outgoing)> {
        if self.pauses.is_any_paused() { self.next_free_waiting(flows) } else { self.waiting.pop_front() }
    }

    #[cold]
    fn next_free_waiting(&mut self, flows: &[FlowPlan]) -> Option<(Ticket, Outgoing)> {
        let pauses = &self.pauses;
        let place = self.waiting.iter().position(|(_, out)| !pauses.is_paused(out.class(flows)))?;
        self.waiting.remove(place)
    }

    /// Whether a segment or ACK that is handed over now is the first to leave.
    #[inline]
    pub fn has_none_in_front(&self) -> bool {
        self.answers.is_empty() && self.waiting.is_empty() && !self.pauses.is_any_paused()
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
            || self.waiting.iter().any(|(_, out)| is_free(out.class(flows)))
    }
}

impl Outgoing {
    /// The class of its flow.
    fn class(&self, flows: &[FlowPlan]) -> TrafficClass {
        match self {
            Self::Data(flow, _) | Self::Ack(flow, _) => flows[*flow as usize].priority,
        }
    }
}

/// What the neighbour of a host's interface has paused.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Pauses {
    mask: u8,
    /// None before the first pause.
    times: Option<Box<PauseTimes>>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct PauseTimes {
    since: [Time; PRIORITIES],
    counters: [PauseCounters; PRIORITIES],
}

impl Pauses {
    /// Bit `p` is set where class `p` may send.
    #[inline]
    pub fn free(&self) -> u8 {
        !self.mask
    }

    #[inline]
    pub fn is_paused(&self, class: TrafficClass) -> bool {
        self.mask & (1 << class.get()) != 0
    }

    #[inline]
    pub fn is_any_paused(&self) -> bool {
        self.mask != 0
    }

    pub fn set(&mut self, now: Time, priority: u8, pause: bool) {
        let (at, bit) = (usize::from(priority & 7), 1 << (priority & 7));
        if (self.mask & bit != 0) == pause {
            return;
        }
        self.mask ^= bit;
        let times = self.times.get_or_insert_default();
        if pause {
            times.since[at] = now;
            times.counters[at].begin(now);
        } else {
            times.counters[at].end(times.since[at], now);
        }
    }

    /// What is counted of a priority's pauses up to now.
    pub fn counters(&self, priority: usize, now: Time) -> PauseCounters {
        let Some(times) = &self.times else { return PauseCounters::default() };
        let lasting = (self.mask & (1 << priority) != 0).then_some(times.since[priority]);
        times.counters[priority].up_to(lasting, now)
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
    /// Packets that are no p4cc packet, or damaged.
    pub refused_malformed: u64,
    /// Packets of a flow that does not end here.
    pub refused_flow: u64,
}

impl HostCounters {
    /// Packets that arrived and no end of a flow took.
    pub const fn refused_pkts(&self) -> u64 {
        self.refused_address + self.refused_malformed + self.refused_flow
    }
}

/// Both ends of a flow.
#[expect(clippy::large_enum_variant, reason = "window flows stay in place, without a step through a pointer")]
#[derive(Debug)]
pub(crate) enum Ends {
    Window { sender: WindowSender, receiver: Receiver },
    Rdma(Box<RdmaEnds>),
}

/// Both ends of an RDMA-like flow.
#[derive(Debug)]
pub(crate) struct RdmaEnds {
    pub sender: RdmaSender,
    pub receiver: RdmaReceiver,
    pub ack_class: TrafficClass,
    pub noise: Option<RttNoise>,
    /// Where it stands at its host.
    pub seat: Seat,
}

/// A flow: both ends and what is told about it.
#[derive(Debug)]
pub(crate) struct Flow {
    pub ends: Ends,
    /// How to read the marks that the receiver sees.
    pub profile: Option<EcnProfile>,
    /// Earliest start, random part included; of a flow that waits for another, when that let it start.
    pub start: Option<Time>,
    /// Its application acted for the first time.
    pub has_begun: bool,
    /// Time from its start by which it should be complete.
    pub deadline: Option<Span>,
    /// When its timer is due; events for other times are void.
    pub timer: Option<Time>,
    pub finish: Option<Time>,
    /// When it ended itself early, by its algorithm.
    pub quenched: Option<Time>,
    /// When the receiver had everything.
    pub received: Option<Time>,
    pub data_pkts: u64,
    /// Data packets that arrived with a mark of level 1 (K) and level 2 (K_dc).
    pub marks: [u64; 2],
}

impl Flow {
    /// State of the sender.
    pub fn snapshot(&self) -> Snapshot {
        match &self.ends {
            Ends::Window { sender, .. } => sender.snapshot(),
            Ends::Rdma(ends) => ends.sender.snapshot(),
        }
    }

    /// Whether it has to send data that it never sent before it can be complete.
    pub fn has_unsent(&self) -> bool {
        match &self.ends {
            Ends::Window { sender, .. } => sender.has_unsent(),
            Ends::Rdma(ends) => ends.sender.has_unsent(),
        }
    }

    /// Whether it sends no data any more.
    pub const fn has_ended(&self) -> bool {
        self.finish.is_some() || self.quenched.is_some()
    }

    /// Whether all bytes were at the receiver in time; none without a deadline.
    pub fn deadline_met(&self) -> Option<bool> {
        let deadline = self.deadline?;
        Some(self.start.zip(self.received).is_some_and(|(start, received)| received.since(start) <= deadline))
    }

    /// Counts the mark of a data packet that arrived.
    pub fn count_mark(&mut self, ecn: p4cc_transport::Codepoint) {
        match self.profile.map_or(Mark::None, |profile| profile.mark(ecn)) {
            Mark::None => {}
            Mark::K => self.marks[0] += 1,
            Mark::Kdc => self.marks[1] += 1,
        }
    }
}

/// The bytes of a segment or ACK that leaves now; none if it does not fit a packet, which the checks of the
/// configuration exclude.
pub(crate) fn to_packet(
    pool: &mut PacketPool,
    hosts: &[HostPlan],
    flows: &[FlowPlan],
    out: &Outgoing,
    now: Time,
) -> Option<Packet> {
    match out {
        Outgoing::Data(flow, segment) => {
            let plan = &flows[*flow as usize];
            let header = Header::data(plan.id, plan.priority, segment, now)?;
            let ends = (&hosts[plan.src as usize], &hosts[plan.dst as usize]);
            assemble_plain(pool, ends, plan, segment.ecn, header)
        }
        Outgoing::Ack(flow, fields) => {
            let plan = &flows[*flow as usize];
            let header = Header::ack(plan.id, plan.priority, fields, now);
            let ends = (&hosts[plan.dst as usize], &hosts[plan.src as usize]);
            let not_capable = p4cc_transport::Codepoint::NOT_ECT;
            if fields.sack.is_empty() {
                return assemble_plain(pool, ends, plan, not_capable, header);
            }
            let blocks = fields.sack.to_wire();
            assemble(pool, ends, plan, not_capable, (header, blocks.extension()))
        }
    }
}

/// The bytes of a paced segment that leaves now.
pub(crate) fn paced_packet(
    pool: &mut PacketPool,
    hosts: &[HostPlan],
    flow: &FlowPlan,
    (segment, extension): &(Segment, Extension<'_>),
    now: Time,
) -> Option<Packet> {
    let header = Header::data(flow.id, flow.priority, segment, now)?;
    let ends = (&hosts[flow.src as usize], &hosts[flow.dst as usize]);
    assemble(pool, ends, flow, segment.ecn, (header, *extension))
}

/// The bytes of an RDMA-like receiver's answer that leaves now.
pub(crate) fn answer_packet(
    hosts: &[HostPlan],
    flow: &FlowPlan,
    answer: Answer,
    now: Time,
) -> Option<Packet> {
    let Answer { mut packet, ack, extension_kind, class, .. } = answer;
    let header = Header::rdma_ack(flow.id, class, &ack, now);
    let (headers, bytes) = packet.head.split_first_chunk_mut()?;
    let extension = Extension { kind: extension_kind, bytes };
    let ends = (&hosts[flow.dst as usize], &hosts[flow.src as usize]);
    wire_packet(ends, flow, p4cc_transport::Codepoint::NOT_ECT, (header, extension))
        .encode_headers(headers)
        .ok()?;
    Some(packet)
}

fn assemble(
    pool: &mut PacketPool,
    ends: (&HostPlan, &HostPlan),
    flow: &FlowPlan,
    ecn: p4cc_transport::Codepoint,
    (header, extension): (Header, Extension<'_>),
) -> Option<Packet> {
    let packet = wire_packet(ends, flow, ecn, (header, extension));
    let mut bytes = pool.take_unwritten(packet.headers_len(), u32::from(header.payload_len));
    packet.encode_to(&mut bytes.head).ok()?;
    Some(bytes)
}

/// The same without an extension, as most packets of windows are.
#[inline]
fn assemble_plain(
    pool: &mut PacketPool,
    ends: (&HostPlan, &HostPlan),
    flow: &FlowPlan,
    ecn: p4cc_transport::Codepoint,
    header: Header,
) -> Option<Packet> {
    let mut bytes = pool.take_unwritten(FRAME_HEADERS_LEN, u32::from(header.payload_len));
    let headers = bytes.head.first_chunk_mut()?;
    wire_packet(ends, flow, ecn, (header, Extension::NONE)).encode_headers(headers).ok()?;
    Some(bytes)
}

/// A packet from host to host, by the port that its flow has.
#[inline]
fn wire_packet<'a>(
    (from, to): (&HostPlan, &HostPlan),
    flow: &FlowPlan,
    ecn: p4cc_transport::Codepoint,
    (header, extension): (Header, Extension<'a>),
) -> wire::Packet<'a> {
    let mut packet = wire::Packet::new((from.mac, from.ipv4), (from.gateway_mac, to.ipv4), ecn, header)
        .with_extension(extension);
    if let Some(port) = flow.src_port {
        packet.src_port = port;
    }
    packet
}

/// Reads a packet that arrived at a host.
#[inline(always)]
pub(crate) fn read(packet: &Packet) -> Result<wire::Packet<'_>, wire::DecodeError> {
    wire::Packet::decode(&packet.head, packet.zeros as usize)
}

/// Whether a packet is for a host.
#[inline]
pub(crate) fn is_addressed(host: &HostPlan, packet: &wire::Packet<'_>) -> bool {
    packet.dst_mac == host.mac && packet.dst == host.ipv4
}
