//! Packets of hosts: segments, ACKs and answers that wait; their bytes, made when they leave; bytes read on
//! arrival.
//!
//! A host reads the real bytes that the P4 program left in a packet and refuses a packet that is not for it.

use p4cc_switch::{Packet, PacketPool};
use p4cc_transport::rdma::{RdmaAck, RdmaDueAck, ReadRequest};
use p4cc_transport::tcp::Control;
use p4cc_transport::wire::{
    self, Endpoint, Extension, ExtensionType, FRAME_HEADERS_LEN, Header, TrafficClass,
};
use p4cc_transport::{AckFields, Codepoint, Segment};

use crate::context::Context;
use crate::describe::{FlowPlan, HostPlan};

/// What waits for the interface: a segment, an ACK, what opens or closes a TCP connection, or a user's
/// packet, from a source or injected by the caller of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outgoing {
    /// Of the flow with this index.
    Data(u32, Segment),
    /// Of the flow with this index.
    Ack(u32, AckFields),
    /// Of the flow with this index, which speaks TCP.
    Control(u32, Control),
    /// A user's packet: its source, its frame there, and the class of that.
    User { source: u32, frame: u32, class: TrafficClass },
    /// An injected packet: its place among those of the host, and its class.
    Injected { place: u32, class: TrafficClass },
}

/// An answer of an RDMA-like receiver that waits for the interface. It mostly leaves in the packet that it
/// answers, where the records that it echoes already stand.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    packet: Packet,
    ack: RdmaAck,
    extension_kind: ExtensionType,
    pub class: TrafficClass,
    /// With this index.
    pub flow: u32,
    /// The source port of the packet that it answers, where the sender chose that.
    port: Option<u16>,
}

impl Answer {
    /// An answer to a data packet with an extension of this kind and length, in that packet.
    pub fn echo(
        mut packet: Packet,
        flow: u32,
        class: TrafficClass,
        ack: RdmaAck,
        extension_kind: ExtensionType,
        len: usize,
    ) -> Self {
        packet.head.truncate(FRAME_HEADERS_LEN + len);
        packet.zeros = 0;
        Self { packet, ack, extension_kind, class, flow, port: None }
    }

    /// Echoes the source port of what it answers.
    #[must_use]
    pub fn by_port(self, port: Option<u16>) -> Self {
        Self { port, ..self }
    }

    /// A notification of marked packets, in a separate packet.
    pub fn notification(pool: &mut PacketPool, flow: u32, class: TrafficClass, ack: RdmaAck) -> Self {
        Self::new(pool, flow, class, ack, ack.extension(Extension::NONE))
    }

    /// An ACK that a timer sends, in a separate packet.
    pub fn due(pool: &mut PacketPool, flow: u32, class: TrafficClass, due: &RdmaDueAck) -> Self {
        Self::new(pool, flow, class, due.ack, due.extension())
    }

    fn new(
        pool: &mut PacketPool,
        flow: u32,
        class: TrafficClass,
        ack: RdmaAck,
        extension: Extension<'_>,
    ) -> Self {
        let mut packet = pool.take(FRAME_HEADERS_LEN + extension.bytes.len(), 0);
        packet.head[FRAME_HEADERS_LEN..].copy_from_slice(extension.bytes);
        Self { packet, ack, extension_kind: extension.kind, class, flow, port: None }
    }
}

impl Outgoing {
    /// The class of its flow.
    pub fn class(&self, flows: &[FlowPlan]) -> TrafficClass {
        match self {
            Self::Data(flow, _) | Self::Ack(flow, _) | Self::Control(flow, _) => {
                flows[*flow as usize].priority
            }
            Self::User { class, .. } | Self::Injected { class, .. } => *class,
        }
    }

    /// Its flow, if it is of one.
    #[inline]
    pub const fn flow(&self) -> Option<u32> {
        match self {
            Self::Data(flow, _) | Self::Ack(flow, _) | Self::Control(flow, _) => Some(*flow),
            Self::User { .. } | Self::Injected { .. } => None,
        }
    }
}

/// From host to host.
#[derive(Clone, Copy)]
struct Way {
    from: u32,
    to: u32,
}

impl Way {
    /// From the source of a flow to its destination.
    const fn forth(flow: &FlowPlan) -> Self {
        Self { from: flow.src, to: flow.dst }
    }

    /// From its destination to its source.
    const fn back(flow: &FlowPlan) -> Self {
        Self { from: flow.dst, to: flow.src }
    }
}

/// The bytes of what leaves now, in packets of p4cc's transport; none if it does not fit a packet, which the
/// checks of the configuration exclude.
pub(crate) fn to_packet(cx: &mut Context<'_>, flows: &[FlowPlan], out: &Outgoing) -> Option<Packet> {
    match out {
        Outgoing::Data(flow, segment) => {
            let plan = &flows[*flow as usize];
            let header = Header::data(plan.id, plan.priority, segment, cx.now())?;
            assemble_plain(cx, plan, Way::forth(plan), segment.ecn, header)
        }
        Outgoing::Ack(flow, fields) => {
            let plan = &flows[*flow as usize];
            let header = Header::ack(plan.id, plan.priority, fields, cx.now());
            let way = Way::back(plan);
            if fields.sack.is_empty() {
                return assemble_plain(cx, plan, way, Codepoint::NOT_ECT, header);
            }
            let blocks = fields.sack.to_wire();
            assemble(cx, plan, way, Codepoint::NOT_ECT, header, blocks.extension())
        }
        // Flows of this format have no connection; what is injected has its bytes already.
        Outgoing::Control(..) | Outgoing::Injected { .. } => None,
        Outgoing::User { source, frame, .. } => {
            let frame = cx.topology.packets.get(*source as usize)?.frames.get(*frame as usize)?;
            let mut packet = cx.pool.take_with(&frame.head);
            packet.zeros = frame.zeros;
            Some(packet)
        }
    }
}

/// The bytes of a paced segment that leaves now.
pub(crate) fn paced_packet(
    cx: &mut Context<'_>,
    flow: &FlowPlan,
    class: TrafficClass,
    segment: &Segment,
    extension: Extension<'_>,
) -> Option<Packet> {
    let header = Header::data(flow.id, class, segment, cx.now())?;
    assemble(cx, flow, Way::forth(flow), segment.ecn, header, extension)
}

/// The bytes of a reader's request for a segment that leaves now.
pub(crate) fn read_request(
    cx: &mut Context<'_>,
    flow: &FlowPlan,
    class: TrafficClass,
    wanted: &Segment,
) -> Option<Packet> {
    let header = Header::read_request(flow.id, class, wanted, cx.now());
    let bytes = ReadRequest::extension_bytes(wanted.len);
    let extension = Extension { kind: ExtensionType::READ_REQUEST, bytes: &bytes };
    assemble(cx, flow, Way::forth(flow), Codepoint::NOT_ECT, header, extension)
}

/// The bytes of a packet that a reader requested and that leaves now.
pub(crate) fn read_data(cx: &mut Context<'_>, flow: &FlowPlan, segment: &Segment) -> Option<Packet> {
    let header = Header::data(flow.id, flow.priority, segment, cx.now())?;
    assemble_plain(cx, flow, Way::back(flow), segment.ecn, header)
}

/// The bytes of an RDMA-like receiver's answer that leaves now.
pub(crate) fn answer_packet(cx: &Context<'_>, flow: &FlowPlan, answer: Answer) -> Option<Packet> {
    let Answer { mut packet, ack, extension_kind, class, port, .. } = answer;
    let header = Header::rdma_ack(flow.id, class, &ack, cx.now());
    let (headers, bytes) = packet.head.split_first_chunk_mut()?;
    let extension = Extension { kind: extension_kind, bytes };
    let mut answer = wire_packet(cx, flow, Way::back(flow), Codepoint::NOT_ECT, header, extension);
    if let Some(port) = port {
        answer.src_port = port;
    }
    answer.encode_headers(headers).ok()?;
    Some(packet)
}

fn assemble(
    cx: &mut Context<'_>,
    flow: &FlowPlan,
    way: Way,
    ecn: Codepoint,
    header: Header,
    extension: Extension<'_>,
) -> Option<Packet> {
    let packet = wire_packet(cx, flow, way, ecn, header, extension);
    let mut bytes = cx.pool.take_unwritten(packet.headers_len(), u32::from(header.payload_len));
    packet.encode_to(&mut bytes.head).ok()?;
    Some(bytes)
}

/// [`assemble`] without an extension, as most packets of window flows are.
#[inline]
fn assemble_plain(
    cx: &mut Context<'_>,
    flow: &FlowPlan,
    way: Way,
    ecn: Codepoint,
    header: Header,
) -> Option<Packet> {
    let mut bytes = cx.pool.take_unwritten(FRAME_HEADERS_LEN, u32::from(header.payload_len));
    let headers = bytes.head.first_chunk_mut()?;
    wire_packet(cx, flow, way, ecn, header, Extension::NONE).encode_headers(headers).ok()?;
    Some(bytes)
}

/// A packet from host to host, by the port that its flow has.
#[inline]
fn wire_packet<'a>(
    cx: &Context<'_>,
    flow: &FlowPlan,
    way: Way,
    ecn: Codepoint,
    header: Header,
    extension: Extension<'a>,
) -> wire::Packet<'a> {
    let (from, to) = (&cx.topology.hosts[way.from as usize], &cx.topology.hosts[way.to as usize]);
    let src = Endpoint { mac: from.mac, ip: from.ipv4 };
    let dst = Endpoint { mac: from.next_hop_mac(to), ip: to.ipv4 };
    let mut packet = wire::Packet::new(src, dst, ecn, header).with_extension(extension);
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
