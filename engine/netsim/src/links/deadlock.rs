//! Deadlock detection: cycles of links that PFC (IEEE 802.1Qbb) has paused (docs/algorithms/pfc.md#deadlock).
//!
//! A link waits for another when a packet that came over the first, whose receiver has paused it, stands in a
//! paused queue for the second. A cycle of such links, all paused for `deadlock_after_ns`, is a deadlock and
//! is reported once.

use p4cc_switch::config::PRIORITIES;
use p4cc_units::{Span, Time};

use crate::events::Timer;
use crate::links::wait_graph::WaitGraph;
use crate::network::Network;

/// Time between two checks (docs/algorithms/pfc.md#deadlock).
const CHECK_INTERVAL: Span = Span::from_ms(1);

impl Network {
    /// Time between two checks; no longer than the time after which a cycle is a deadlock.
    pub(crate) fn deadlock_check_interval(&self) -> Span {
        CHECK_INTERVAL.min(Span::from_ns(self.spec.deadlock_after_ns))
    }

    /// Schedules a check, unless one is due.
    pub(crate) fn schedule_deadlock_check(&mut self) {
        if self.observers.deadlocks.check_at.is_some() {
            return;
        }
        let at = self.now() + self.deadlock_check_interval();
        if self.observers.deadlocks.is_partition {
            (self.observers.deadlocks.check_at, self.observers.deadlocks.wanted_at) = (Some(at), Some(at));
        } else {
            self.schedule_deadlock_check_at(at);
        }
    }

    /// Schedules a check at a time.
    pub(crate) fn schedule_deadlock_check_at(&mut self, at: Time) {
        self.observers.deadlocks.check_at = Some(at);
        self.schedule.timer(at, 0, Timer::DeadlockCheck);
    }

    /// Looks for deadlocks; goes on as long as a port is paused.
    pub(crate) fn on_deadlock_check(&mut self) {
        self.observers.deadlocks.check_at = None;
        let mut is_any_paused = false;
        for priority in 0..PRIORITIES as u8 {
            let waits = self.long_waits(priority, &mut is_any_paused);
            let now = self.now();
            self.observers.deadlocks.add_cycles(now, priority, &waits);
        }
        if is_any_paused {
            self.schedule_deadlock_check();
        }
    }

    /// The wait-for graph of a priority: for each channel that has been paused for long enough, the channels,
    /// paused as long, for which its packets wait.
    fn long_waits(&self, priority: u8, is_any_paused: &mut bool) -> WaitGraph {
        let bound = Span::from_ns(self.spec.deadlock_after_ns);
        let mut waits = WaitGraph::new();
        for (number, node) in self.nodes.switches.iter().enumerate() {
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
        self.nodes.switches.get(plan.from as usize)?.switch.paused_since(near_port, priority)
    }
}
