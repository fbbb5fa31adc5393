//! Which paused links wait for each other.
//!
//! A link waits for another when a packet that came over the first, whose receiver has paused it, stands in a
//! paused queue for the second.

use p4cc_units::{Span, Time};

use crate::describe::Topology;
use crate::record::WaitGraph;
use crate::switches::state::Switches;

impl Switches {
    /// The wait-for graph of a priority: for each channel that has been paused for at least `bound`, the
    /// channels, paused as long, for which its packets wait; and whether any port is paused.
    pub fn waits(&self, topology: &Topology, now: Time, priority: u8, bound: Span) -> (WaitGraph, bool) {
        let mut waits = WaitGraph::new();
        let mut is_any_paused = false;
        for (switch, channels) in self.iter().zip(&topology.switch_channels) {
            let leaving = |port: u32| channels.get(port as usize).copied().flatten();
            let mut ports = switch.config().ports.iter();
            is_any_paused |= ports.any(|port| switch.paused_since(port.port, priority).is_some());
            for (from, to) in switch.waits(priority) {
                // The two directions of a link are neighbours in number.
                let (Some(arriving), Some(leaving)) = (leaving(from).map(|channel| channel ^ 1), leaving(to))
                else {
                    continue;
                };
                let is_long = |channel| {
                    let since = self.channel_paused_since(topology, channel, priority);
                    since.is_some_and(|since| now.since(since) >= bound)
                };
                if is_long(arriving) && is_long(leaving) {
                    waits.entry(arriving).or_default().insert(leaving);
                }
            }
        }
        (waits, is_any_paused)
    }

    /// Since when the switch at the start of a channel has been paused there.
    fn channel_paused_since(&self, topology: &Topology, channel: u32, priority: u8) -> Option<Time> {
        let switch = &self.nodes().get(topology.channels[channel as usize].from as usize)?.switch;
        switch.paused_since(topology.near_port(channel), priority)
    }
}
