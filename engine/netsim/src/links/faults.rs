//! Links and switches that go down and come up again.
//!
//! Each end of a link learns of it by a timer of its own, at the same instant. From then on what the end
//! sends is lost and a switch's port is down ([`p4cc_switch::Switch::set_port_up`]). Frames on the way
//! arrive. A pause of PFC (IEEE 802.1Qbb) that one end has asked for or obeys ends with the link, as the
//! resume frame would be lost.
//!
//! A switch that goes down loses its program, its tables and its queues at that instant, and its links are
//! down. It has no program until a controller loads one.

use p4cc_switch::config::PRIORITIES;

use crate::describe::{FaultPlan, Topology};
use crate::events::Timer;
use crate::network::Network;

impl Network {
    /// Schedules the faults of a run, at its start.
    pub(crate) fn schedule_faults(&mut self) {
        let topology = std::sync::Arc::clone(&self.topology);
        for FaultPlan { at, channel, up } in topology.faults.links.iter().copied() {
            let node = topology.channels[channel as usize].from;
            self.schedule.timer(at, node, Timer::LinkChange { channel, up });
        }
        for (at, switch) in topology.faults.power_offs.iter().copied() {
            self.schedule.timer(at, switch, Timer::PowerOff);
        }
    }

    /// A switch loses all that it has.
    pub(crate) fn on_power_off(&mut self, node: u32) {
        self.nodes.take_workspace_back();
        if let Some(node) = self.nodes.switches.get_mut(node as usize) {
            node.switch.power_off();
        }
        self.send_pause_frames(node as usize);
    }

    /// The link of a channel that leaves this node went down or came up.
    pub(crate) fn on_link_change(&mut self, node: u32, channel: u32, up: bool) {
        self.nodes.channels[channel as usize].set_down(!up);
        let port = near_port(&self.topology, channel);
        if let Some(node) = self.nodes.switches.get_mut(node as usize) {
            node.switch.set_port_up(port, up);
        }
        if !up {
            self.end_pauses(node, port);
        }
        if (node as usize) < self.nodes.switches.len() {
            self.schedule_generator(node as usize);
        }
    }

    /// Ends the pauses that a node obeys at a port, and those that it asked for there.
    fn end_pauses(&mut self, node: u32, port: u32) {
        for priority in 0..PRIORITIES as u8 {
            if let Some(node) = self.nodes.switches.get_mut(node as usize) {
                node.switch.lapse_pause(port, priority);
            }
            self.obey(node, port, priority, false);
        }
    }
}

/// The port of the node at the start of a channel.
fn near_port(topology: &Topology, channel: u32) -> u32 {
    // The two directions of a link are neighbours in number.
    topology.channels[(channel ^ 1) as usize].to_port
}
