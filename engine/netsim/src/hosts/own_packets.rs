//! Packets of the user's own at their host: when they are handed to the interface.
//!
//! A source hands a packet over when it is due, and the packet takes its turn behind segments, ACKs and own
//! packets that wait already.

use std::sync::Arc;

use crate::events::Timer;
use crate::hosts::packets::Outgoing;
use crate::network::Network;

impl Network {
    /// Schedules the first packet of every source, at the start of a run.
    pub(crate) fn schedule_own_packets(&mut self) {
        let topology = Arc::clone(&self.topology);
        for (source, plan) in (0_u32..).zip(&topology.packets) {
            if plan.start < plan.end {
                let node = self.nodes.host_node(plan.host);
                self.schedule.timer(plan.start, node, Timer::OwnPacket { source });
            }
        }
    }

    /// Packets of a source are due.
    pub(crate) fn on_own_packet_due(&mut self, source: u32) {
        self.hand_over_own(source);
        self.start_interface(self.topology.packets[source as usize].host);
    }

    /// Adds the packets of a source that are due to those that wait at the interface, as many as it takes.
    fn hand_over_own(&mut self, source: u32) {
        let topology = Arc::clone(&self.topology);
        let plan = &topology.packets[source as usize];
        let (now, node) = (self.now(), self.nodes.host_node(plan.host));
        let host = &mut self.nodes.hosts[plan.host as usize];
        let Some(state) = host.own.as_mut().and_then(|own| own.sources.get_mut(plan.slot as usize)) else {
            return;
        };
        while let Some(due) = state.next_due(plan) {
            if due > now {
                return self.schedule.timer(due, node, Timer::OwnPacket { source });
            }
            if state.holds_back() {
                return;
            }
            let out = Outgoing::Own { source, frame: state.hand_over(plan), class: plan.class };
            host.waiting.push_back((self.schedule.order.ticket(), out));
        }
    }

    /// A packet of a source leaves its interface; one that was held back may be handed over.
    #[cold]
    pub(crate) fn on_own_packet_left(&mut self, source: u32, bytes: u32) {
        let (now, plan) = (self.now(), &self.topology.packets[source as usize]);
        let host = &mut self.nodes.hosts[plan.host as usize];
        let Some(state) = host.own.as_mut().and_then(|own| own.sources.get_mut(plan.slot as usize)) else {
            return;
        };
        if state.on_left(now, bytes) {
            self.hand_over_own(source);
        }
    }
}
