//! What leaves nodes: ports of switches and interfaces of hosts, and the channels behind them.

use p4cc_switch::{Packet, Transmission};
use p4cc_units::Time;

use crate::describe::topology::HostPlan;
use crate::events::event::{Event, Kind};
use crate::events::tie_break::{Moment, Ticket};
use crate::hosts::host::{self, Outgoing};
use crate::links::channel::{Frame, Work, frame_time};
use crate::network::state::Network;
use crate::network::switch_node::PortLine;

impl Network {
    /// Starts the ports of a switch that got work, while it has the workspace.
    #[inline]
    pub(crate) fn start_ready_ports(&mut self, switch: usize) {
        while let Some(port) = self.switches[switch].switch.next_ready() {
            self.start_port(switch, port);
        }
    }

    /// A packet reaches a switch, which has the workspace: what finds its port free leaves at once.
    #[inline]
    pub(crate) fn pass_switch(&mut self, switch: usize, port: u32, packet: Packet) {
        let (node, lines) = self.switches[switch].split();
        let current = self.order.current(self.now);
        let sent = node.receive_with_bypass(self.now, port, packet, |way_out| {
            lines.get(way_out as usize).is_some_and(|port| port.line.is_free(current))
        });
        match sent {
            Some(sent) => self.started(switch, sent),
            None => self.send_pause_frames(switch),
        }
        self.start_ready_ports(switch);
    }

    /// A port of a switch has work. The switch has the workspace.
    pub(crate) fn start_port(&mut self, switch: usize, port: u32) {
        let now = self.order.current(self.now);
        match self.switches[switch].port(port).line.on_work(now) {
            Work::Wait => {}
            Work::WakeAt(end) => self.schedule_at(end, Kind::Dequeue, switch as u32, port, 0),
            Work::Start => self.transmit(switch, port),
        }
    }

    /// The wake-up of a port of a switch came, which has the workspace.
    #[inline]
    pub(crate) fn wake_port(&mut self, switch: usize, port: u32) {
        let now = self.order.current(self.now);
        let line = &mut self.switches[switch].port(port).line;
        line.on_wake();
        // As a rule; a pause frame may have gone in between.
        if line.is_free(now) {
            self.transmit(switch, port)
        } else {
            self.start_port(switch, port)
        }
        // Egress may have sent copies or the packet itself to other ports.
        self.start_ready_ports(switch);
    }

    /// A port of a switch is free and takes what waits for it.
    #[inline]
    fn transmit(&mut self, switch: usize, port: u32) {
        match self.switches[switch].switch.transmit(self.now, port) {
            Some(sent) => self.started(switch, sent),
            None => self.send_pause_frames(switch),
        }
    }

    /// A port of a switch sends a packet from now on.
    fn started(&mut self, switch: usize, sent: Transmission) {
        let Transmission { port, packet, bytes, duration, has_more } = sent;
        let end = self.now + duration;
        let (now, moment) = (self.order.current(self.now), self.order.moment(end));
        let node = &mut self.switches[switch];
        let pauses = node.switch.has_pause_frames();
        let PortLine { line, channel } = node.port(port);
        let channel = *channel;
        line.start(moment);
        if has_more && let Work::WakeAt(end) = line.on_work(now) {
            self.schedule_at(end, Kind::Dequeue, switch as u32, port, 0);
        }
        if let Some(channel) = channel {
            self.send(channel, end, 0, (packet, bytes));
        }
        if pauses {
            self.send_pause_frames(switch);
        }
    }

    /// The interface of a host has work, or became free.
    pub(crate) fn start_interface(&mut self, host: u32) {
        match self.hosts[host as usize].line.on_work(self.order.current(self.now)) {
            Work::Wait => {}
            Work::WakeAt(end) => self.schedule_at(end, Kind::Dequeue, self.host_node(host), 0, 0),
            Work::Start => {
                if let Some((ticket, packet)) = self.next_packet(host) {
                    self.leave(host, ticket, packet);
                }
                self.await_turn(host);
            }
        }
    }

    /// A segment or ACK is handed to an interface, which looks for work. What finds nothing in front of it
    /// leaves without being put behind others first.
    pub(crate) fn start_with(&mut self, host: u32, (ticket, out): (Ticket, Outgoing)) {
        let current = self.order.current(self.now);
        let state = &mut self.hosts[host as usize];
        if !state.has_none_in_front() || !state.line.is_free(current) {
            state.waiting.push_back((ticket, out));
            return self.start_interface(host);
        }
        let packet = host::to_packet(&mut self.pool, &self.topology.hosts, &self.plans, &out, self.now);
        if let Some(packet) = packet {
            self.leave(host, ticket, packet);
        }
        self.await_turn(host);
    }

    /// A packet leaves an interface that is free.
    #[inline]
    fn leave(&mut self, host: u32, ticket: Ticket, packet: Packet) {
        let state = &mut self.hosts[host as usize];
        state.counters.sent_pkts += 1;
        let HostPlan { uplink, rate, framing_bytes, .. } = self.topology.hosts[host as usize];
        let bytes = packet.len();
        let end = self.now + frame_time(rate, framing_bytes, bytes);
        state.line.start(self.order.moment(end));
        self.send(uplink, end, ticket, (packet, bytes));
    }

    /// A packet of so many bytes goes onto a channel, and is whole there at `end`.
    #[inline(always)]
    fn send(&mut self, channel: u32, end: Time, ticket: Ticket, (packet, bytes): (Packet, u32)) {
        let has_turns = self.queue.districts() > 0;
        let state = &mut self.channels[channel as usize];
        let arrival = self.order.moment_of(end + state.delay, ticket);
        state.count(bytes);
        if has_turns && state.is_plain() {
            // As most are: the same as below.
            self.arrivals += 1;
            let event = state.arrival(arrival.time, self.arrivals, channel);
            self.queue.push_arrival(event, packet);
        } else if !state.loses() {
            self.carry(channel, arrival, Frame::Packet(packet));
        }
    }

    /// A frame is on its way. A link's frames cannot overtake each other, so only the
    /// first one's arrival is scheduled; where districts take turns, each is, and a packet
    /// waits with its event. What leaves this part of a network waits with the part.
    pub(crate) fn carry(&mut self, channel: u32, arrival: Moment, frame: Frame) {
        let has_turns = self.queue.districts() > 0;
        let state = &mut self.channels[channel as usize];
        match frame {
            frame if state.leaves() => self.left.push((channel, arrival, frame)),
            Frame::Packet(packet) if has_turns => {
                let event = self.arrival(channel, arrival);
                self.queue.push_arrival(event, packet);
            }
            frame => {
                if state.carry(arrival, frame) || has_turns {
                    let event = self.arrival(channel, arrival);
                    self.queue.push(event);
                }
            }
        }
    }

    /// The arrival of a channel's frame.
    #[inline]
    pub(crate) fn arrival(&mut self, channel: u32, arrival: Moment) -> Event {
        self.arrivals += 1;
        let event = self.channels[channel as usize].arrival(arrival.time, self.arrivals, channel);
        self.order.place(event, arrival)
    }
}
