//! Packets of flows that are not p4cc's plain ones: TCP, IPv6, headers of the user's program.

use p4cc_switch::Packet;
use p4cc_transport::wire::{
    self, PacketKind, TcpPacket, TrafficClass, decode_trimmed, is_ipv6, is_tcp, to_ipv4, to_ipv6,
};

use crate::context::Context;
use crate::describe::Topology;
use crate::hosts::connections::TcpEnd;
use crate::hosts::packets::{self, Outgoing};
use crate::hosts::state::Hosts;
use crate::hosts::user_headers::{add_echo, add_headers, replace_head};
use crate::record::NoFlow;

/// The traffic class of a packet: that in its transport header, behind IPv6 and the user's headers too and
/// without its payload, and for what is not p4cc's the class selector of its DSCP (RFC 2474 4.2.2), as
/// switches see it (`ack_priority.p4`).
pub(super) fn class_of(topology: &Topology, packet: &Packet) -> TrafficClass {
    let mut plain = Vec::new();
    let mut head = &packet.head[..];
    if is_ipv6(head) && to_ipv4(head, packet.zeros as usize, &mut plain).is_ok() {
        head = &plain;
    }
    let split = topology.headers.as_ref().and_then(|headers| headers.take(head));
    if let Some(split) = &split {
        head = &split.frame;
    }
    let read = wire::Packet::decode(head, packet.zeros as usize).ok().or_else(|| decode_trimmed(head));
    read.map_or_else(|| wire::peek_class(head), |read| read.header.class)
}

impl Hosts {
    /// The bytes of a packet of such a flow that leaves now.
    pub(super) fn special_packet(&mut self, cx: &mut Context<'_>, out: &Outgoing) -> Option<Packet> {
        let Some(flow) = out.flow() else { return packets::to_packet(cx, &self.plans, out) };
        let (is_ipv6, is_tcp) = {
            let state = &self.flows[flow as usize];
            (state.is_ipv6, state.tcp.is_some())
        };
        let packet = if is_tcp {
            self.tcp_packet(cx, flow, out)?
        } else {
            let packet = packets::to_packet(cx, &self.plans, out)?;
            match (out, &cx.topology.headers) {
                (Outgoing::Data(..), Some(headers)) => add_headers(cx.pool, headers, packet)?,
                (Outgoing::Ack(flow, _), _) => {
                    add_echo(cx.pool, self.flows[*flow as usize].echo.as_deref(), packet)?
                }
                _ => packet,
            }
        };
        if !is_ipv6 {
            return Some(packet);
        }
        let (mut bytes, flow_id) = (Vec::new(), self.plans[flow as usize].id);
        to_ipv6(&packet.head, flow_id, &mut bytes).then(|| replace_head(cx.pool, packet, &bytes))
    }

    /// A packet reaches a host, or the card of one that takes packets slowly.
    pub(super) fn receive_special(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        packet: Packet,
    ) -> Option<Packet> {
        let packet = if self.hosts[host as usize].slow.is_some() {
            self.queue_in_card(cx, host, packet)?
        } else {
            packet
        };
        self.take_special(cx, host, packet)
    }

    /// A host takes a packet.
    pub(super) fn take_special(&mut self, cx: &mut Context<'_>, host: u32, packet: Packet) -> Option<Packet> {
        if cx.topology.has_ipv6 && is_ipv6(&packet.head) {
            self.receive_ipv6(cx, host, packet)
        } else if cx.topology.has_tcp && is_tcp(&packet.head) {
            self.receive_tcp(cx, host, packet)
        } else if let Some(headers) = &cx.topology.headers {
            self.receive_with_headers(cx, host, headers, packet)
        } else if cx.topology.has_receivers {
            self.receive_driven(cx, host, packet)
        } else {
            self.receive_plain(cx, host, packet)
        }
    }

    /// A packet of IPv6 goes to its flow as one of IPv4; one of no flow is refused as it came.
    fn receive_ipv6(&mut self, cx: &mut Context<'_>, host: u32, packet: Packet) -> Option<Packet> {
        let mut bytes = Vec::new();
        if let Err(error) = to_ipv4(&packet.head, packet.zeros as usize, &mut bytes) {
            return self.refuse(cx, host, NoFlow::of(&error), packet);
        }
        let mut plain = cx.pool.take_with(&bytes);
        plain.zeros = packet.zeros;
        if let Err(cause) = self.check_ipv6_flow(cx.topology, host, &plain) {
            cx.pool.give(plain);
            return self.refuse(cx, host, cause, packet);
        }
        cx.pool.give(packet);
        if is_tcp(&plain.head) {
            self.receive_tcp(cx, host, plain)
        } else {
            self.receive_plain(cx, host, plain)
        }
    }

    /// Whether a flow over IPv6 that ends at a host takes a packet, put back over IPv4; or why none does.
    fn check_ipv6_flow(&self, topology: &Topology, host: u32, plain: &Packet) -> Result<(), NoFlow> {
        let flow = if is_tcp(&plain.head) {
            let read = TcpPacket::decode(&plain.head, plain.zeros as usize).map_err(|e| NoFlow::of(&e))?;
            self.connections.at_host(&topology.hosts[host as usize], &read)?.0 as usize
        } else {
            self.flow_at(topology, host, &packets::read(plain).map_err(|e| NoFlow::of(&e))?)?
        };
        if self.flows[flow].is_ipv6 { Ok(()) } else { Err(NoFlow::Flow) }
    }

    /// The flow of a packet as its host sends it, by its number on the wire, and whether it is an ACK.
    #[cold]
    pub(super) fn flow_of_sent(&self, topology: &Topology, packet: &Packet) -> Option<(u32, bool)> {
        let mut head = packet.head.to_vec();
        if topology.has_ipv6 && is_ipv6(&packet.head) {
            to_ipv4(&packet.head, packet.zeros as usize, &mut head).ok()?;
        }
        if topology.has_tcp && is_tcp(&head) {
            let read = TcpPacket::decode(&head, packet.zeros as usize).ok()?;
            let (flow, to) = self.connections.find((read.src, read.dst, read.header.ports))?;
            return Some((self.plans[flow as usize].id, to == TcpEnd::Client));
        }
        if let Some(split) = topology.headers.as_ref().and_then(|headers| headers.take(&head)) {
            head = split.frame;
        }
        let read = wire::Packet::decode(&head, packet.zeros as usize).ok()?;
        Some((read.header.flow_id, read.header.kind != PacketKind::Data))
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use p4cc_switch::PacketPool;
    use p4cc_transport::Segment;
    use p4cc_transport::wire::user_headers::UserHeaders;
    use p4cc_transport::wire::{Endpoint, Header};
    use p4cc_units::Time;
    use serde_json::json;

    use super::*;

    /// A packet of p4cc's is in the class of its header, whatever carries it and with or without its payload;
    /// another one is in that of its DSCP.
    #[test]
    fn the_class_is_read_from_every_format() {
        let segment = Segment { seq: 0, len: 1_000, ..Segment::default() };
        let class = TrafficClass::new(3).expect("a class");
        let header = Header::data(1, class, &segment, Time::ZERO).expect("it fits");
        let end = |last: u8| Endpoint { mac: [2, 0, 0, 0, 0, last], ip: Ipv4Addr::new(10, 0, 0, last) };
        let encoded = |header: Header| {
            let mut bytes = Vec::new();
            wire::Packet::new(end(1), end(2), segment.ecn, header).encode(&mut bytes).expect("it fits");
            bytes
        };
        let (plain, mut trimmed) = (encoded(header), encoded(Header { payload_len: 0, ..header }));
        // What is left says how long the payload was.
        trimmed[58..60].copy_from_slice(&header.payload_len.to_be_bytes());
        let headers = json!({
            "after": "udp", "announce": {"udp_port": 9_999},
            "headers": [{"name": "tag_t", "fields": [["number", 32]], "bytes": [0, 0, 0, 7]}],
        });
        let headers = serde_json::from_value(headers).expect("it has all fields");
        let headers = UserHeaders::new(&headers).expect("right headers");
        let (mut with_headers, mut over_ipv6) = (Vec::new(), Vec::new());
        assert!(headers.insert(&plain, &mut with_headers));
        assert!(to_ipv6(&plain, 1, &mut over_ipv6));
        let mut of_another = plain.clone();
        // Another protocol's, in class 5 by its DSCP.
        (of_another[15], of_another[23]) = (5 << 5 | 2, 6);
        let topology = Topology { headers: Some(headers), ..Topology::default() };
        let mut pool = PacketPool::default();
        for (name, head, zeros, expected) in [
            ("plain", &plain, 1_000, 3),
            ("trimmed", &trimmed, 0, 3),
            ("with headers", &with_headers, 1_000, 3),
            ("over IPv6", &over_ipv6, 1_000, 3),
            ("another protocol's", &of_another, 1_000, 5),
        ] {
            let mut packet = pool.take_with(head);
            packet.zeros = zeros;
            assert_eq!(class_of(&topology, &packet).get(), expected, "{name}");
        }
    }
}
