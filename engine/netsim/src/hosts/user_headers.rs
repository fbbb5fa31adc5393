//! Headers of the user's program at hosts: senders add them to data packets, receivers remove them, keep what
//! is recorded of them, and echo them.
//!
//! An ACK that leaves carries the headers that came last, as its payload.

use p4cc_cc::HeaderField;
use p4cc_switch::{Packet, PacketPool};
use p4cc_transport::wire::PacketKind;
use p4cc_transport::wire::user_headers::{UserHeaders, append_echo};

use crate::context::Context;
use crate::hosts::packets;
use crate::hosts::state::Hosts;
use crate::record::Side;

/// A packet with another head, in the memory of this one.
pub(super) fn replace_head(pool: &mut PacketPool, packet: Packet, head: &[u8]) -> Packet {
    let zeros = packet.zeros;
    pool.give(packet);
    let mut packet = pool.take_with(head);
    packet.zeros = zeros;
    packet
}

/// A data packet with headers; none if they do not fit, which the checks of the description exclude.
pub(super) fn add_headers(pool: &mut PacketPool, headers: &UserHeaders, packet: Packet) -> Option<Packet> {
    let mut bytes = Vec::new();
    let fits = headers.insert(&packet.head, &mut bytes);
    fits.then(|| replace_head(pool, packet, &bytes))
}

/// An ACK with the headers that came last; none if they do not fit, which the checks exclude too.
pub(super) fn add_echo(pool: &mut PacketPool, echo: Option<&[u8]>, packet: Packet) -> Option<Packet> {
    let Some(echo) = echo else { return Some(packet) };
    let mut bytes = packet.head.to_vec();
    let fits = append_echo(&mut bytes, echo);
    fits.then(|| replace_head(pool, packet, &bytes))
}

impl Hosts {
    /// A packet that may carry headers, or an echo of them, reaches a host. It goes to its flow without them.
    #[cold]
    pub(super) fn receive_with_headers(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        headers: &UserHeaders,
        packet: Packet,
    ) -> Option<Packet> {
        let Some(split) = headers.take(&packet.head) else {
            self.note_echo(cx, host, headers, &packet);
            return self.receive_plain(cx, host, packet);
        };
        let mut plain = cx.pool.take_with(&split.frame);
        plain.zeros = packet.zeros;
        let flow = packets::read(&plain).ok().and_then(|read| self.flow_at(cx.topology, host, &read).ok());
        let Some(flow) = flow else {
            // It is refused as it came.
            cx.pool.give(plain);
            return self.receive_plain(cx, host, packet);
        };
        cx.pool.give(packet);
        self.note_headers(cx, host, flow, Side::Receiver, &split.headers);
        if headers.is_echoed() {
            self.flows[flow].echo = Some(split.headers);
        }
        self.receive_plain(cx, host, plain)
    }

    /// Notes the headers that an ACK echoes, if it echoes any.
    fn note_echo(&mut self, cx: &Context<'_>, host: u32, headers: &UserHeaders, packet: &Packet) {
        if !headers.is_echoed() {
            return;
        }
        let Ok(read) = packets::read(packet) else { return };
        let Ok(flow) = self.flow_at(cx.topology, host, &read) else { return };
        let payload = read.headers_len()..read.headers_len() + usize::from(read.header.payload_len);
        let echo = packet.head.get(payload).filter(|echo| headers.view(echo).is_some());
        if let (PacketKind::Ack, Some(echo)) = (read.header.kind, echo) {
            let sender = &mut self.flows[flow];
            if let Some(view) = headers.view(echo).filter(|_| sender.reads_headers()) {
                let fields: Vec<HeaderField<'_>> = view.fields().collect();
                sender.on_headers(&fields);
            }
            self.note_headers(cx, host, flow, Side::Sender, echo);
        }
    }

    fn note_headers(&mut self, cx: &Context<'_>, host: u32, flow: usize, side: Side, bytes: &[u8]) {
        let user = self.hosts[host as usize].user.as_mut();
        if let Some(log) = user.and_then(|user| user.headers.as_mut()) {
            log.add(cx.now(), self.plans[flow].id, side, bytes);
        }
    }
}
