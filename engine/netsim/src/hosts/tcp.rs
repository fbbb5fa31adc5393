//! Window flows that are TCP connections on the wire: open, segments out and in, close.
//!
//! The ends of a connection (`p4cc_transport::tcp`) stand between the packets and the sender and receiver,
//! which a connection starts once it is open. A flow's one timer of its sender is the client's while it opens
//! or closes, and that of delayed ACKs is the server's then.

use p4cc_switch::Packet;
use p4cc_transport::Codepoint;
use p4cc_transport::tcp::{Control, TcpClient, TcpServer};
use p4cc_transport::wire::{TTL, TcpHeader, TcpPacket, encode_tcp};

use crate::events::Timer;
use crate::hosts::connections::{TcpEnd, TcpEnds};
use crate::hosts::packets::Outgoing;
use crate::network::Network;
use crate::output::NoFlow;

impl Network {
    #[inline]
    fn tcp(&mut self, flow: u32) -> Option<&mut TcpEnds> {
        self.nodes.flows[flow as usize].tcp.as_deref_mut()
    }

    fn tcp_client(&mut self, flow: u32) -> Option<&mut TcpClient> {
        self.tcp(flow).map(|ends| &mut ends.client)
    }

    fn tcp_server(&mut self, flow: u32) -> Option<&mut TcpServer> {
        self.tcp(flow).map(|ends| &mut ends.server)
    }

    /// Starts the sender of a flow, or opens its connection first.
    pub(crate) fn start_sender(&mut self, flow: u32) {
        let now = self.now();
        match self.tcp_client(flow).map(|client| client.open(now)) {
            Some(syn) => self.send_control(flow, syn),
            None => self.with_sender(flow, |sender, now, out| sender.start(now, out)),
        }
    }

    /// The sender of a flow is done: its connection says so, unless data did.
    pub(crate) fn close_tcp_client(&mut self, flow: u32) {
        let now = self.now();
        if let Some(fin) = self.tcp_client(flow).and_then(|client| client.close(now)) {
            self.send_control(flow, fin);
        }
    }

    /// The receiver of a flow has all of it.
    pub(crate) fn close_tcp_server(&mut self, flow: u32) {
        let now = self.now();
        if let Some(fin) = self.tcp_server(flow).and_then(|server| server.close(now)) {
            self.send_control(flow, fin);
        }
    }

    /// The client's timer, where it waits for an answer to SYN or FIN.
    pub(crate) fn on_tcp_client_timer(&mut self, flow: u32) {
        let now = self.now();
        if let Some(again) = self.tcp_client(flow).and_then(|client| client.on_timer(now)) {
            self.send_control(flow, again);
        }
    }

    /// The server's timer, where it waits for an answer to SYN or FIN.
    pub(crate) fn on_tcp_server_timer(&mut self, flow: u32) {
        let now = self.now();
        if let Some(again) = self.tcp_server(flow).and_then(|server| server.on_timer(now)) {
            self.send_control(flow, again);
        }
    }

    /// Hands a control segment to its host, and asks for the timer until which it is to be answered.
    fn send_control(&mut self, flow: u32, what: Control) {
        let plan = &self.nodes.plans[flow as usize];
        let host = if what.is_from_client() { plan.src } else { plan.dst };
        let node = self.nodes.host_node(host);
        let Some(ends) = self.nodes.flows[flow as usize].tcp.as_deref() else { return };
        if what.is_from_client() {
            if let Some(deadline) = ends.client.deadline() {
                self.nodes.flows[flow as usize].timer = Some(deadline);
                self.schedule.timer(deadline, node, Timer::Sender { flow });
            }
        } else if let Some(deadline) = ends.server.deadline() {
            self.schedule.timer(deadline, node, Timer::DelayedAck { flow });
        }
        let ticket = self.schedule.order.ticket();
        self.start_with(host, (ticket, Outgoing::Control(flow, what)));
    }

    /// The bytes of a segment that leaves now; none where the flow does not speak TCP.
    #[inline]
    pub(crate) fn tcp_packet(&mut self, flow: u32, out: &Outgoing) -> Option<Packet> {
        let now = self.now();
        let ends = self.nodes.flows[flow as usize].tcp.as_deref_mut()?;
        match out {
            Outgoing::Data(_, segment) => {
                let (header, ecn) = (ends.client.data(segment, now), ends.client.ecn(segment));
                self.segment_packet(flow, TcpEnd::Client, (&header, ecn))
            }
            Outgoing::Ack(_, fields) => {
                let header = ends.server.ack(fields, now);
                self.segment_packet(flow, TcpEnd::Server, (&header, Codepoint::NOT_ECT))
            }
            Outgoing::Control(_, what) if what.is_from_client() => {
                let header = ends.client.control(*what, now);
                self.segment_packet(flow, TcpEnd::Client, (&header, Codepoint::NOT_ECT))
            }
            Outgoing::Control(_, what) => {
                let header = ends.server.control(*what, now);
                self.segment_packet(flow, TcpEnd::Server, (&header, Codepoint::NOT_ECT))
            }
            Outgoing::Own { .. } | Outgoing::Injected { .. } => None,
        }
    }

    #[inline(always)]
    fn segment_packet(
        &mut self,
        flow: u32,
        sender: TcpEnd,
        (header, ecn): (&TcpHeader, Codepoint),
    ) -> Option<Packet> {
        let plan = &self.nodes.plans[flow as usize];
        let hosts = (&self.topology.hosts[plan.src as usize], &self.topology.hosts[plan.dst as usize]);
        let (from, to) = match sender {
            TcpEnd::Client => hosts,
            TcpEnd::Server => (hosts.1, hosts.0),
        };
        let ends = ((from.mac, from.ipv4), (from.next_hop_mac(to), to.ipv4));
        let mut bytes = self.nodes.pool.take_unwritten(header.frame_len(), u32::from(header.payload_len));
        encode_tcp(ends, (plan.priority, ecn, TTL), header, &mut bytes.head).ok()?;
        Some(bytes)
    }

    /// The flow that ends at a host and that a segment is of, and its end here; or why there is none.
    #[inline]
    pub(crate) fn connection_at(&self, host: u32, read: &TcpPacket) -> Result<(u32, TcpEnd), NoFlow> {
        let plan = &self.topology.hosts[host as usize];
        if read.dst_mac != plan.mac || read.dst != plan.ipv4 {
            return Err(NoFlow::Address);
        }
        self.nodes.connections.find((read.src, read.dst, read.header.ports)).ok_or(NoFlow::Flow)
    }

    /// Gives a segment to its end of a connection.
    #[inline]
    pub(crate) fn take_in_tcp(&mut self, host: u32, packet: Packet) -> Option<Packet> {
        // By reference from here on: it is larger than a line of the cache.
        let read = TcpPacket::decode(&packet.head, packet.zeros as usize);
        let read = match &read {
            Ok(read) => read,
            Err(error) => {
                let cause = NoFlow::of(error);
                return self.refuse(host, cause, packet);
            }
        };
        let (flow, end) = match self.connection_at(host, read) {
            Ok(found) => found,
            Err(cause) => return self.refuse(host, cause, packet),
        };
        self.nodes.hosts[host as usize].counters.delivered_pkts += 1;
        match end {
            TcpEnd::Server => self.at_server(host, flow, read),
            TcpEnd::Client => self.at_client(host, flow, read),
        }
        Some(packet)
    }

    #[inline]
    fn at_server(&mut self, host: u32, flow: u32, read: &TcpPacket) {
        let now = self.now();
        let Some(server) = self.tcp_server(flow) else { return };
        let step = server.on_segment(now, &read.header, read.ecn);
        if let Some(data) = &step.data {
            self.take_data(host, flow, data);
        }
        if let Some(reply) = step.reply {
            self.send_control(flow, reply);
        }
    }

    #[inline]
    fn at_client(&mut self, host: u32, flow: u32, read: &TcpPacket) {
        let now = self.now();
        let Some(client) = self.tcp_client(flow) else { return };
        let step = client.on_segment(now, &read.header);
        if let Some(fields) = &step.ack {
            self.take_ack(host, flow, fields);
        }
        if let Some(reply) = step.reply {
            self.send_control(flow, reply);
        }
        if step.is_opened {
            self.nodes.flows[flow as usize].timer = None;
            self.with_sender(flow, |sender, now, out| sender.start(now, out));
        }
    }
}
