//! Dispatch: each event goes to the handler of the node that it concerns.
//!
//! An arrival is a packet, or a pause frame of PFC (IEEE 802.1Qbb), which `links/pfc.rs` handles.

use p4cc_switch::Packet;

use crate::events::{Event, Kind, Timer};
use crate::links::Frame;
use crate::network::state::Network;

impl Network {
    /// Calls the handler of an event. The frame of an arrival is in its channel.
    pub(crate) fn dispatch(&mut self, event: &Event) {
        let (node, port) = (event.node(), event.port());
        match event.kind() {
            Kind::Dequeue => self.on_dequeue(node, port),
            Kind::Arrival => self.on_arrival(node, port, event.subject),
            Kind::Timer => self.on_timer(node, event.timer()),
            Kind::Start => self.on_start(event.subject),
        }
    }

    fn on_timer(&mut self, node: u32, timer: Timer) {
        match timer {
            Timer::Sender { flow } => self.on_sender_timer(flow),
            Timer::DelayedAck { flow } => self.on_ack_timer(flow),
            Timer::Pacing { host } => self.on_pacing_timer(host),
            Timer::DeadlockCheck => self.on_deadlock_check(),
            Timer::Close { flow } => self.on_close(flow),
            Timer::PauseExpiry { port, priority } => self.on_pause_expiry(node, port, priority),
            Timer::LinkChange { channel, up } => self.on_link_change(node, channel, up),
            Timer::Kernel { flow, at_receiver } => self.on_kernel_timer(flow, at_receiver),
            Timer::DeadlineChange { flow } => self.on_deadline_change(flow),
            Timer::OwnPacket { source } => self.on_own_packet_due(source),
            Timer::PowerOff => self.on_power_off(node),
            Timer::Generate => self.on_generate(node),
        }
    }

    fn on_dequeue(&mut self, node: u32, port: u32) {
        let switches = self.nodes.switches.len() as u32;
        if node < switches {
            self.nodes.lend_workspace(node as usize);
            self.wake_port(node as usize, port);
            self.schedule_generator(node as usize);
        } else {
            let host = node - switches;
            self.nodes.hosts[host as usize].line.on_wake();
            self.start_interface(host);
        }
    }

    fn on_arrival(&mut self, node: u32, port: u32, channel: u32) {
        match self.next_frame(node, port, channel) {
            Some(Frame::Packet(packet)) => self.receive(node, port, packet),
            Some(Frame::Pause(word)) => self.on_pause(node, port, channel, (word.priority, word.pause)),
            None => {}
        }
    }

    /// A packet reaches a node.
    #[inline]
    pub(crate) fn receive(&mut self, node: u32, port: u32, packet: Packet) {
        self.observers.packet_hops += 1;
        let switches = self.nodes.switches.len() as u32;
        if node < switches {
            self.nodes.lend_workspace(node as usize);
            self.receive_at_switch(node as usize, port, packet);
            self.schedule_generator(node as usize);
        } else if let Some(packet) = self.deliver(node - switches, packet) {
            self.nodes.pool.give(packet);
        }
    }

    /// The frame that arrives from a channel. Schedules the arrival of the next one, unless each has an event
    /// of its own.
    #[inline]
    fn next_frame(&mut self, node: u32, port: u32, channel: u32) -> Option<Frame> {
        let (frame, next) = self.nodes.channels[channel as usize].arrive()?;
        if let Some(next) = next
            && !self.schedule.holds_packets()
        {
            self.schedule.next_arrival(next, node, port, channel);
        }
        Some(frame)
    }
}
