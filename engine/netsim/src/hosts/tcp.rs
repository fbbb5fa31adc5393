//! Window flows that are TCP connections on the wire: open, segments out and in, close.
//!
//! The ends of a connection (`p4cc_transport::tcp`) stand between the packets and the sender and receiver,
//! which a connection starts once it is open. A flow's one timer of its sender is the client's while it opens
//! or closes, and that of delayed ACKs is the server's then.

use p4cc_switch::Packet;
use p4cc_transport::Codepoint;
use p4cc_transport::tcp::Control;
use p4cc_transport::wire::{Endpoint, TTL, TcpPacket, encode_tcp};
use p4cc_units::Time;

use crate::context::Context;
use crate::events::Timer;
use crate::hosts::connections::{TcpEnd, TcpEnds};
use crate::hosts::packets::Outgoing;
use crate::hosts::state::Hosts;
use crate::hosts::window::Window;
use crate::record::NoFlow;

impl Window<'_, '_> {
    #[inline]
    fn tcp(&mut self) -> Option<&mut TcpEnds> {
        self.state().tcp.as_deref_mut()
    }

    /// Lets an end of the connection act, if the flow speaks TCP; whether it sent a control segment.
    pub(super) fn control(&mut self, act: impl FnOnce(&mut TcpEnds, Time) -> Option<Control>) -> bool {
        let now = self.cx.now();
        let control = self.tcp().and_then(|ends| act(ends, now));
        control.map(|control| self.send_control(control)).is_some()
    }

    /// Hands a control segment to its host, and schedules the timer until which it is to be answered.
    fn send_control(&mut self, control: Control) {
        let (flow, (src, dst)) = (self.flow, self.end_hosts());
        let host = if control.is_from_client() { src } else { dst };
        let node = self.cx.topology.host_node(host);
        let state = &mut self.hosts.flows[flow as usize];
        let Some(ends) = state.tcp.as_deref() else { return };
        if control.is_from_client() {
            if let Some(deadline) = ends.client.deadline() {
                state.timer = Some(deadline);
                self.cx.schedule.timer(deadline, node, Timer::Sender { flow });
            }
        } else if let Some(deadline) = ends.server.deadline() {
            self.cx.schedule.timer(deadline, node, Timer::DelayedAck { flow });
        }
        self.hosts.enqueue(self.cx, host, Outgoing::Control(flow, control));
    }

    /// A segment reaches its end of the connection.
    #[inline]
    fn receive_segment(mut self, end: TcpEnd, segment: &TcpPacket) {
        match end {
            TcpEnd::Server => self.receive_at_server(segment),
            TcpEnd::Client => self.receive_at_client(segment),
        }
    }

    #[inline]
    fn receive_at_server(&mut self, segment: &TcpPacket) {
        let now = self.cx.now();
        let Some(ends) = self.tcp() else { return };
        let step = ends.server.on_segment(now, &segment.header, segment.ecn);
        if let Some(data) = &step.data {
            self.receive_data(data);
        }
        if let Some(reply) = step.reply {
            self.send_control(reply);
        }
    }

    #[inline]
    fn receive_at_client(&mut self, segment: &TcpPacket) {
        let now = self.cx.now();
        let Some(ends) = self.tcp() else { return };
        let step = ends.client.on_segment(now, &segment.header);
        if let Some(fields) = &step.ack {
            self.receive_ack(fields);
        }
        if let Some(reply) = step.reply {
            self.send_control(reply);
        }
        if step.is_opened {
            self.state().timer = None;
            self.run_sender(|sender, now, out| sender.start(now, out));
        }
    }
}

impl Hosts {
    /// A segment reaches a host.
    #[inline]
    pub(super) fn receive_tcp(&mut self, cx: &mut Context<'_>, host: u32, packet: Packet) -> Option<Packet> {
        // By reference from here on: it is larger than a line of the cache.
        let segment = TcpPacket::decode(&packet.head, packet.zeros as usize);
        let plan = &cx.topology.hosts[host as usize];
        let found = segment.as_ref().map_err(NoFlow::of);
        let found = found.and_then(|segment| Ok((segment, self.connections.at_host(plan, segment)?)));
        let (segment, (flow, end)) = match found {
            Ok(found) => found,
            Err(cause) => return self.refuse(cx, host, cause, packet),
        };
        self.hosts[host as usize].counters.delivered_pkts += 1;
        Window { hosts: self, cx, flow }.receive_segment(end, segment);
        Some(packet)
    }

    /// The bytes of a segment that leaves now; none where the flow does not speak TCP.
    #[inline]
    pub(super) fn tcp_packet(&mut self, cx: &mut Context<'_>, flow: u32, out: &Outgoing) -> Option<Packet> {
        let now = cx.now();
        let ends = self.flows[flow as usize].tcp.as_deref_mut()?;
        let (sender, header, ecn) = match out {
            Outgoing::Data(_, segment) => {
                (TcpEnd::Client, ends.client.data(segment, now), ends.client.ecn(segment))
            }
            Outgoing::Ack(_, fields) => (TcpEnd::Server, ends.server.ack(fields, now), Codepoint::NOT_ECT),
            Outgoing::Control(_, control) if control.is_from_client() => {
                (TcpEnd::Client, ends.client.control(*control, now), Codepoint::NOT_ECT)
            }
            Outgoing::Control(_, control) => {
                (TcpEnd::Server, ends.server.control(*control, now), Codepoint::NOT_ECT)
            }
            Outgoing::User { .. } | Outgoing::Injected { .. } => return None,
        };
        let (plan, hosts) = (&self.plans[flow as usize], &cx.topology.hosts);
        let (client, server) = (&hosts[plan.src as usize], &hosts[plan.dst as usize]);
        let (from, to) = match sender {
            TcpEnd::Client => (client, server),
            TcpEnd::Server => (server, client),
        };
        let src = Endpoint { mac: from.mac, ip: from.ipv4 };
        let dst = Endpoint { mac: from.next_hop_mac(to), ip: to.ipv4 };
        let mut bytes = cx.pool.take_unwritten(header.frame_len(), u32::from(header.payload_len));
        encode_tcp(src, dst, plan.priority, ecn, TTL, &header, &mut bytes.head).ok()?;
        Some(bytes)
    }
}
