//! Transmission: ports of switches send packets into channels.
//!
//! A port that is free takes the next packet of its queue; a port that is busy is woken at the end of its
//! packet. Behind a packet go the pause frames of PFC (IEEE 802.1Qbb) that the switch asks for
//! ([`super::pfc`]). A packet that finds its queue empty and its port free passes the switch without entering
//! the queue.

use p4cc_switch::{Packet, Transmission};
use p4cc_units::Time;

use crate::events::{Event, Moment, Ticket};
use crate::links::channel::Frame;
use crate::links::line::Work;
use crate::network::{Network, PortLine};

impl Network {
    /// Starts the ports of a switch that have new work. The switch has the workspace.
    #[inline]
    pub(crate) fn start_ready_ports(&mut self, switch: usize) {
        while let Some(port) = self.nodes.switches[switch].switch.next_ready() {
            self.start_port(switch, port);
        }
    }

    /// A packet reaches a switch, which has the workspace. A packet that finds its port free leaves at once.
    #[inline]
    pub(crate) fn receive_at_switch(&mut self, switch: usize, port: u32, packet: Packet) {
        let (node, lines) = self.nodes.switches[switch].split();
        let current = self.schedule.order.current(self.schedule.now);
        let sent = node.receive_with_bypass(self.schedule.now, port, packet, |way_out| {
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
        let now = self.schedule.order.current(self.schedule.now);
        match self.nodes.switches[switch].port(port).line.on_work(now) {
            Work::Wait => {}
            Work::WakeAt(end) => self.schedule.dequeue(end, switch as u32, port),
            Work::Start => self.transmit(switch, port),
        }
    }

    /// A port of a switch is woken. The switch has the workspace.
    #[inline]
    pub(crate) fn wake_port(&mut self, switch: usize, port: u32) {
        let now = self.schedule.order.current(self.schedule.now);
        let line = &mut self.nodes.switches[switch].port(port).line;
        line.on_wake();
        // Mostly it is; a pause frame may have made it busy for longer.
        if line.is_free(now) {
            self.transmit(switch, port)
        } else {
            self.start_port(switch, port)
        }
        // Egress may have sent copies or the packet itself to other ports.
        self.start_ready_ports(switch);
    }

    /// A free port of a switch takes the next packet of its queues.
    #[inline]
    fn transmit(&mut self, switch: usize, port: u32) {
        match self.nodes.switches[switch].switch.transmit(self.schedule.now, port) {
            Some(sent) => self.started(switch, sent),
            None => self.send_pause_frames(switch),
        }
    }

    /// A port of a switch begins to send a packet.
    fn started(&mut self, switch: usize, sent: Transmission) {
        let Transmission { port, packet, bytes, duration, has_more } = sent;
        let end = self.schedule.now + duration;
        let (now, moment) = (self.schedule.order.current(self.schedule.now), self.schedule.order.moment(end));
        let node = &mut self.nodes.switches[switch];
        let pauses = node.switch.has_pause_frames();
        let PortLine { line, channel } = node.port(port);
        let channel = *channel;
        line.start(moment);
        if has_more && let Work::WakeAt(end) = line.on_work(now) {
            self.schedule.dequeue(end, switch as u32, port);
        }
        if let Some(channel) = channel {
            self.send(channel, end, 0, (packet, bytes));
        }
        if pauses {
            self.send_pause_frames(switch);
        }
    }

    /// Sends a packet of a number of bytes into a channel; its last bit leaves at `end`.
    #[inline(always)]
    pub(crate) fn send(&mut self, channel: u32, end: Time, ticket: Ticket, (packet, bytes): (Packet, u32)) {
        let holds_packets = self.schedule.holds_packets();
        let state = &mut self.nodes.channels[channel as usize];
        let arrival = self.schedule.order.moment_of(end + state.delay, ticket);
        state.count(bytes);
        if holds_packets && state.is_plain() {
            // The common case, with the same effect as below.
            self.schedule.arrivals += 1;
            let event = state.arrival(arrival.time, self.schedule.arrivals, channel);
            self.schedule.calendar.push_arrival(event, packet);
        } else if state.is_plain() {
            self.carry(channel, arrival, Frame::Packet(packet));
        } else {
            self.send_specially(channel, arrival, packet);
        }
    }

    /// The same for a channel that does more than carry.
    fn send_specially(&mut self, channel: u32, arrival: Moment, packet: Packet) {
        let now = self.schedule.now;
        let is_lost = self.nodes.channels[channel as usize].loses(now, arrival.time, &packet);
        if self.observers.trace.is_some() {
            self.trace_link(channel, arrival.time, &packet, is_lost);
        }
        if !is_lost {
            self.carry(channel, arrival, Frame::Packet(packet));
        }
    }

    /// A frame is on its way. Frames of a link cannot overtake each other, so only the arrival of the first
    /// one is scheduled. Where the calendar holds packets, each arrival is scheduled, with its packet. A
    /// frame for another partition waits in the outbox.
    pub(crate) fn carry(&mut self, channel: u32, arrival: Moment, frame: Frame) {
        let holds_packets = self.schedule.holds_packets();
        let state = &mut self.nodes.channels[channel as usize];
        match frame {
            frame if state.crosses() => self.nodes.outbox.push((channel, arrival, frame)),
            Frame::Packet(packet) if holds_packets => {
                let event = self.arrival(channel, arrival);
                self.schedule.calendar.push_arrival(event, packet);
            }
            frame => {
                if state.carry(arrival, frame) || holds_packets {
                    let event = self.arrival(channel, arrival);
                    self.schedule.calendar.push(event);
                }
            }
        }
    }

    /// The arrival of a channel's frame.
    #[inline]
    pub(crate) fn arrival(&mut self, channel: u32, arrival: Moment) -> Event {
        self.schedule.arrivals += 1;
        let event =
            self.nodes.channels[channel as usize].arrival(arrival.time, self.schedule.arrivals, channel);
        self.schedule.order.place(event, arrival)
    }
}
