//! Packets of flows that are not p4cc's plain ones: TCP, IPv6, headers of the user's program.
//!
//! A run without any of them comes here for packets alone that are followed.

use p4cc_switch::Packet;
use p4cc_transport::wire::{self, PacketKind, TcpPacket, is_ipv6, is_tcp, to_ipv4, to_ipv6};

use crate::hosts::connections::TcpEnd;
use crate::hosts::packets::{self, Outgoing};
use crate::network::Network;
use crate::output::NoFlow;

impl Network {
    /// The bytes of what leaves a host now.
    pub(crate) fn special_packet(&mut self, out: &Outgoing) -> Option<Packet> {
        let Some(flow) = out.flow() else { return self.plain_packet(out) };
        let state = &self.nodes.flows[flow as usize];
        let is_ipv6 = state.is_ipv6;
        let packet = if state.tcp.is_some() {
            self.tcp_packet(flow, out)?
        } else {
            let packet = self.plain_packet(out)?;
            self.dress(out, packet)?
        };
        if !is_ipv6 {
            return Some(packet);
        }
        let (mut bytes, flow_id) = (Vec::new(), self.nodes.plans[flow as usize].id);
        to_ipv6(&packet.head, flow_id, &mut bytes).then(|| self.remade(packet, &bytes))
    }

    /// A packet reaches a host.
    pub(crate) fn take_in_special(&mut self, host: u32, packet: Packet) -> Option<Packet> {
        if self.topology.has_ipv6 && is_ipv6(&packet.head) {
            self.take_in_ipv6(host, packet)
        } else if self.topology.has_tcp && is_tcp(&packet.head) {
            self.take_in_tcp(host, packet)
        } else if self.topology.headers.is_some() {
            self.take_in_dressed(host, packet)
        } else {
            self.take_in(host, packet)
        }
    }

    /// A packet of IPv6 goes to its flow as one of IPv4; one of no flow is refused as it came.
    fn take_in_ipv6(&mut self, host: u32, packet: Packet) -> Option<Packet> {
        let mut bytes = Vec::new();
        if let Err(error) = to_ipv4(&packet.head, packet.zeros as usize, &mut bytes) {
            return self.refuse(host, NoFlow::of(&error), packet);
        }
        let mut plain = self.nodes.pool.take_with(&bytes);
        plain.zeros = packet.zeros;
        if let Err(cause) = self.flow_of(host, &plain) {
            self.nodes.pool.give(plain);
            return self.refuse(host, cause, packet);
        }
        self.nodes.pool.give(packet);
        if is_tcp(&plain.head) { self.take_in_tcp(host, plain) } else { self.take_in(host, plain) }
    }

    /// The flow of a packet as its host sends it, by its number on the wire, and whether it is an ACK.
    pub(crate) fn flow_sent(&self, packet: &Packet) -> Option<(u32, bool)> {
        let mut head = packet.head.to_vec();
        if self.topology.has_ipv6 && is_ipv6(&packet.head) {
            to_ipv4(&packet.head, packet.zeros as usize, &mut head).ok()?;
        }
        if self.topology.has_tcp && is_tcp(&head) {
            let read = TcpPacket::decode(&head, packet.zeros as usize).ok()?;
            let (flow, to) = self.nodes.connections.find((read.src, read.dst, read.header.ports))?;
            return Some((self.nodes.plans[flow as usize].id, to == TcpEnd::Client));
        }
        if let Some(taken) = self.topology.headers.as_ref().and_then(|headers| headers.take(&head)) {
            head = taken.frame;
        }
        let read = wire::Packet::decode(&head, packet.zeros as usize).ok()?;
        Some((read.header.flow_id, read.header.kind != PacketKind::Data))
    }

    /// Whether a flow over IPv6 that ends at a host takes a packet, put back over IPv4; or why none does.
    fn flow_of(&self, host: u32, plain: &Packet) -> Result<(), NoFlow> {
        let flow = if is_tcp(&plain.head) {
            let read = TcpPacket::decode(&plain.head, plain.zeros as usize).map_err(|e| NoFlow::of(&e))?;
            self.connection_at(host, &read)?.0 as usize
        } else {
            self.flow_at(host, &packets::read(plain).map_err(|e| NoFlow::of(&e))?)?
        };
        if self.nodes.flows[flow].is_ipv6 { Ok(()) } else { Err(NoFlow::Flow) }
    }
}
