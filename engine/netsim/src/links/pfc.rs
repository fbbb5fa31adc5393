//! Pauses on links and the cycles that they can close (docs/algorithms/pfc.md#pfc-rules, #deadlock).
//!
//! A pause frame goes behind the packet that its port is sending, takes the link
//! as long as any frame of its size, and arrives after the link's delay; it is
//! in no queue and is never lost. What it stops stays stopped until a resume.
//!
//! A link waits for another when a packet that came over the first, whose
//! receiver has paused it, stands in a paused queue for the second. A cycle of
//! such links, all paused for `deadlock_after_ns`, is a deadlock, named once.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_switch::PauseFrame;
use p4cc_switch::config::PRIORITIES;
use p4cc_units::{Bytes, Span, Time};

use crate::events::event::Kind;
use crate::links::channel::{Frame, PauseWord, time_on_link};
use crate::network::state::{FABRIC_TIMER, Network, PAUSE_TIMER};

/// Bytes of a pause frame (IEEE 802.1Qbb: a smallest Ethernet frame).
const PAUSE_FRAME_BYTES: u32 = 64;
/// IEEE 802.1Qbb counts pauses in quanta of 512 bits on the link.
const QUANTUM_BYTES: u64 = 64;
/// docs/algorithms/pfc.md#deadlock: "check every 1 ms".
const CHECK_INTERVAL: Span = Span::from_ms(1);
/// Most deadlocks that are kept; they are named once, so a run meets few.
const MAX_DEADLOCKS: usize = 10_000;

/// What is known of pauses in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fabric {
    /// When the next look for deadlocks is due.
    pub check_at: Option<Time>,
    /// This is a part of a network: it asks for a look, the whole takes it.
    pub is_part: bool,
    /// When a part wants a look.
    pub wanted: Option<Time>,
    pub deadlocks: Vec<Deadlock>,
    /// Cycles named so far, each from its smallest channel on.
    named: BTreeSet<(u8, Vec<u32>)>,
    /// When pauses that do not last for ever are over, by node,
    /// port, priority: asked for by a switch, and obeyed.
    pub asked_until: BTreeMap<(u32, u32), Time>,
    pub obeyed_until: BTreeMap<(u32, u32), Time>,
}

/// A port and priority as the subject of an event.
fn subject(port: u32, priority: u8) -> u32 {
    port << 3 | u32::from(priority & 7)
}

/// A cycle of links that wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Deadlock {
    /// When it was found.
    pub at: Time,
    pub priority: u8,
    /// Channels in the order of waiting, from the smallest on.
    pub channels: Vec<u32>,
}

impl Network {
    /// Sends the pause and resume frames that a switch asks for.
    #[inline]
    pub(crate) fn send_pause_frames(&mut self, switch: usize) {
        while let Some(frame) = self.switches[switch].switch.next_pause_frame() {
            self.send_pause_frame(switch, frame);
        }
    }

    #[cold]
    fn send_pause_frame(&mut self, switch: usize, frame: PauseFrame) {
        let channel = self.topology.switch_channels[switch].get(frame.port as usize).copied().flatten();
        let Some(channel) = channel else { return };
        if self.channels[channel as usize].is_down() {
            // Nobody hears it; what it was for ends with the link.
            return self.switches[switch].switch.lapse_pause(frame.port, frame.priority);
        }
        let duration = time_on_link(&self.topology.channels[channel as usize], PAUSE_FRAME_BYTES);
        let now = self.now();
        let line = &mut self.switches[switch].port(frame.port).line;
        let end = line.busy_until().max(now) + duration;
        line.start(self.order.moment(end));
        let arrival = self.order.moment(end + self.channels[channel as usize].delay);
        let word = PauseWord { priority: frame.priority, pause: frame.pause };
        self.carry(channel, arrival, Frame::Pause(word));
        if frame.pause
            && let Some(lasts) = self.pause_lasts(switch, channel)
        {
            let key = (switch as u32, subject(frame.port, frame.priority));
            self.fabric.asked_until.insert(key, end + lasts);
            self.schedule(end + lasts, Kind::Timer, key.0, PAUSE_TIMER, key.1);
        }
        self.schedule_check();
    }

    /// How long a pause lasts that a switch sends into a channel; none if until it is taken back.
    fn pause_lasts(&self, switch: usize, channel: u32) -> Option<Span> {
        let quanta = self.spec.switches[switch].buffer.as_ref()?.pause_quanta?;
        let rate = self.topology.channels[channel as usize].rate;
        Some(rate.time_to_send(Bytes(u64::from(quanta) * QUANTUM_BYTES)))
    }

    /// A pause or resume frame reached a node.
    pub(crate) fn on_pause(&mut self, node: u32, port: u32, channel: u32, (priority, pause): (u8, bool)) {
        let from = self.topology.channels[channel as usize].from as usize;
        if pause && let Some(lasts) = self.pause_lasts(from, channel) {
            let (key, until) = ((node, subject(port, priority)), self.now() + lasts);
            self.fabric.obeyed_until.insert(key, until);
            self.schedule(until, Kind::Timer, node, PAUSE_TIMER, key.1);
        }
        self.obey(node, port, priority, pause);
    }

    /// A pause may be over; a later one of the same port and priority holds longer.
    pub(crate) fn on_pause_timer(&mut self, node: u32, subject: u32) {
        let (now, key, port, priority) = (self.now(), (node, subject), subject >> 3, (subject & 7) as u8);
        if self.fabric.asked_until.get(&key) == Some(&now) {
            self.fabric.asked_until.remove(&key);
            self.switches[node as usize].switch.lapse_pause(port, priority);
        }
        if self.fabric.obeyed_until.get(&key) == Some(&now) {
            self.fabric.obeyed_until.remove(&key);
            self.obey(node, port, priority, false);
        }
    }

    pub(crate) fn obey(&mut self, node: u32, port: u32, priority: u8, pause: bool) {
        let (now, switches) = (self.now(), self.switches.len() as u32);
        if node < switches {
            self.switches[node as usize].switch.set_paused(now, port, priority, pause);
            self.lend_workspace(node as usize);
            self.start_ready_ports(node as usize);
        } else {
            let host = node - switches;
            self.hosts[host as usize].pauses.set(now, priority, pause);
            self.start_interface(host);
        }
    }

    pub(crate) fn check_interval(&self) -> Span {
        CHECK_INTERVAL.min(Span::from_ns(self.spec.deadlock_after_ns))
    }

    fn schedule_check(&mut self) {
        if self.fabric.check_at.is_some() {
            return;
        }
        let at = self.now() + self.check_interval();
        if self.fabric.is_part {
            (self.fabric.check_at, self.fabric.wanted) = (Some(at), Some(at));
        } else {
            self.schedule_check_at(at);
        }
    }

    pub(crate) fn schedule_check_at(&mut self, at: Time) {
        self.fabric.check_at = Some(at);
        self.schedule(at, Kind::Timer, 0, FABRIC_TIMER, 0);
    }

    pub(crate) fn on_fabric_timer(&mut self) {
        self.fabric.check_at = None;
        let mut is_any_paused = false;
        for priority in 0..PRIORITIES as u8 {
            let waits = self.long_waits(priority, &mut is_any_paused);
            for cycle in cycles(&waits) {
                let at = self.now();
                let is_new = self.fabric.named.len() < MAX_DEADLOCKS
                    && self.fabric.named.insert((priority, cycle.clone()));
                if is_new {
                    self.fabric.deadlocks.push(Deadlock { at, priority, channels: cycle });
                }
            }
        }
        if is_any_paused {
            self.schedule_check();
        }
    }

    /// For each channel that has been paused for long, the
    /// channels, paused as long, for which what it brought waits.
    fn long_waits(&self, priority: u8, is_any_paused: &mut bool) -> BTreeMap<u32, BTreeSet<u32>> {
        let bound = Span::from_ns(self.spec.deadlock_after_ns);
        let mut waits: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (number, node) in self.switches.iter().enumerate() {
            let ports = &self.topology.switch_channels[number];
            let leaving = |port: u32| ports.get(port as usize).copied().flatten();
            *is_any_paused |= node
                .switch
                .config()
                .ports
                .iter()
                .any(|p| node.switch.paused_since(p.port, priority).is_some());
            for (from, to) in node.switch.waits(priority) {
                // The two directions of a link are neighbours in number.
                let (Some(arriving), Some(leaving)) = (leaving(from).map(|one| one ^ 1), leaving(to)) else {
                    continue;
                };
                let is_long = |channel| {
                    let since = self.channel_paused_since(channel, priority);
                    since.is_some_and(|since| self.now().since(since) >= bound)
                };
                if is_long(arriving) && is_long(leaving) {
                    waits.entry(arriving).or_default().insert(leaving);
                }
            }
        }
        waits
    }

    /// Since when the switch at the start of a channel has been paused there.
    fn channel_paused_since(&self, channel: u32, priority: u8) -> Option<Time> {
        let plan = &self.topology.channels[channel as usize];
        let near_port = self.topology.channels[(channel ^ 1) as usize].to_port;
        self.switches.get(plan.from as usize)?.switch.paused_since(near_port, priority)
    }
}

/// A cycle through every channel that lies on one, each from its smallest channel on.
fn cycles(waits: &BTreeMap<u32, BTreeSet<u32>>) -> BTreeSet<Vec<u32>> {
    waits.keys().filter_map(|&start| shortest_cycle(waits, start)).collect()
}

/// A shortest way from a channel back to itself, turned so that it begins with its smallest channel.
fn shortest_cycle(waits: &BTreeMap<u32, BTreeSet<u32>>, start: u32) -> Option<Vec<u32>> {
    let mut came_from = BTreeMap::new();
    let mut wave = vec![start];
    while !wave.is_empty() {
        let mut next_wave = Vec::new();
        for at in wave {
            for &next in waits.get(&at).into_iter().flatten() {
                if came_from.contains_key(&next) {
                    continue;
                }
                came_from.insert(next, at);
                next_wave.push(next);
            }
        }
        if came_from.contains_key(&start) {
            break;
        }
        wave = next_wave;
    }
    let mut cycle = vec![start];
    let mut at = *came_from.get(&start)?;
    while at != start {
        cycle.push(at);
        at = *came_from.get(&at)?;
    }
    cycle.reverse();
    let smallest = (0..cycle.len()).min_by_key(|&place| cycle[place])?;
    cycle.rotate_left(smallest);
    Some(cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, u32)]) -> BTreeMap<u32, BTreeSet<u32>> {
        let mut waits: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        edges.iter().for_each(|&(from, to)| {
            waits.entry(from).or_default().insert(to);
        });
        waits
    }

    #[test]
    fn cycles_are_found_once_and_only_where_they_are() {
        assert!(cycles(&graph(&[(1, 2), (2, 3), (1, 3), (4, 1)])).is_empty());
        let found = cycles(&graph(&[(8, 2), (2, 5), (5, 8), (7, 2), (5, 9)]));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [vec![2, 5, 8]]);
        let found = cycles(&graph(&[(1, 2), (2, 1), (3, 4), (4, 3), (6, 6)]));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![6]]);
    }
}
