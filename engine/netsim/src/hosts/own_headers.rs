//! Headers of the user's program at hosts: senders put them into data packets, receivers take them out, keep
//! what is recorded of them, and echo them.
//!
//! An ACK that leaves carries the headers that came last, as its payload.

use p4cc_cc::HeaderField;
use p4cc_switch::Packet;
use p4cc_transport::wire::PacketKind;
use p4cc_transport::wire::own_headers::{OwnHeaders, append_echo};

use crate::hosts::packets::{self, Outgoing};
use crate::network::Network;
use crate::output::Side;

impl Network {
    /// A packet of a flow that leaves, with the headers or the echo that belong to it; none if they do not
    /// fit, which the checks of the description exclude.
    #[cold]
    pub(crate) fn dress(&mut self, out: &Outgoing, packet: Packet) -> Option<Packet> {
        match *out {
            Outgoing::Data(..) => self.dress_data(packet),
            Outgoing::Ack(flow, _) => self.dress_ack(flow, packet),
            Outgoing::Control(..) | Outgoing::Own { .. } | Outgoing::Injected { .. } => Some(packet),
        }
    }

    /// A data packet with the headers.
    pub(crate) fn dress_data(&mut self, packet: Packet) -> Option<Packet> {
        let Some(headers) = &self.topology.headers else { return Some(packet) };
        let mut bytes = Vec::new();
        let fits = headers.insert(&packet.head, &mut bytes);
        fits.then(|| self.remade(packet, &bytes))
    }

    /// An ACK with the headers that came last.
    pub(crate) fn dress_ack(&mut self, flow: u32, packet: Packet) -> Option<Packet> {
        let Some(echo) = &self.nodes.flows[flow as usize].echo else { return Some(packet) };
        let mut bytes = packet.head.to_vec();
        let fits = append_echo(&mut bytes, echo);
        fits.then(|| self.remade(packet, &bytes))
    }

    /// A packet of other bytes, in the memory of this one.
    pub(crate) fn remade(&mut self, packet: Packet, head: &[u8]) -> Packet {
        let zeros = packet.zeros;
        self.nodes.pool.give(packet);
        let mut made = self.nodes.pool.take_with(head);
        made.zeros = zeros;
        made
    }

    /// A packet that may carry headers, or an echo of them, reaches a host. It goes to its flow without them.
    #[cold]
    pub(crate) fn take_in_dressed(&mut self, host: u32, packet: Packet) -> Option<Packet> {
        let Some(taken) = self.topology.headers.as_ref().and_then(|headers| headers.take(&packet.head))
        else {
            self.note_echo(host, &packet);
            return self.take_in(host, packet);
        };
        let mut plain = self.nodes.pool.take_with(&taken.frame);
        plain.zeros = packet.zeros;
        let flow = packets::read(&plain).ok().and_then(|read| self.flow_at(host, &read).ok());
        let Some(flow) = flow else {
            // It is refused as it came.
            self.nodes.pool.give(plain);
            return self.take_in(host, packet);
        };
        self.nodes.pool.give(packet);
        self.note_headers((host, flow), Side::Receiver, &taken.headers);
        if self.topology.headers.as_ref().is_some_and(OwnHeaders::is_echoed) {
            self.nodes.flows[flow].echo = Some(taken.headers);
        }
        self.take_in(host, plain)
    }

    /// Notes the headers that an ACK echoes, if it echoes any.
    fn note_echo(&mut self, host: u32, packet: &Packet) {
        let Some(headers) = self.topology.headers.as_ref().filter(|headers| headers.is_echoed()) else {
            return;
        };
        let Ok(read) = packets::read(packet) else { return };
        let Ok(flow) = self.flow_at(host, &read) else { return };
        let payload = read.headers_len()..read.headers_len() + usize::from(read.header.payload_len);
        let echo = packet.head.get(payload).filter(|echo| headers.view(echo).is_some());
        if let (PacketKind::Ack, Some(echo)) = (read.header.kind, echo) {
            let sender = &mut self.nodes.flows[flow];
            if let Some(view) = headers.view(echo).filter(|_| sender.reads_headers()) {
                let fields: Vec<HeaderField<'_>> = view.fields().collect();
                sender.on_headers(&fields);
            }
            self.note_headers((host, flow), Side::Sender, echo);
        }
    }

    fn note_headers(&mut self, (host, flow): (u32, usize), side: Side, bytes: &[u8]) {
        let (now, flow_id) = (self.schedule.now, self.nodes.plans[flow].id);
        if let Some(log) = self.nodes.hosts[host as usize].own.as_mut().and_then(|own| own.headers.as_mut()) {
            log.add(now, flow_id, side, bytes);
        }
    }
}
