//! Packets of flows that are not p4cc's plain ones: TCP, IPv6, headers of the user's program.

use p4cc_switch::Packet;
use p4cc_transport::wire::{self, PacketKind, TcpPacket, is_ipv6, is_tcp, to_ipv4, to_ipv6};

use crate::context::Context;
use crate::describe::Topology;
use crate::hosts::connections::TcpEnd;
use crate::hosts::packets::{self, Outgoing};
use crate::hosts::state::Hosts;
use crate::hosts::user_headers::{add_echo, add_headers, replace_head};
use crate::record::NoFlow;

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
