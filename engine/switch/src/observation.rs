//! What can be seen of a switch: its program and state, counters, depths, pauses by PFC (IEEE 802.1Qbb), and
//! what was kept for observers.

use std::sync::Arc;

use p4cc_exec::{NativeError, Pipeline, State};
use p4cc_units::Time;

use crate::chip::Chip;
use crate::config::ExecChoice;
use crate::counters::{PauseCounters, PortCounters, SwitchCounters};
use crate::pre::ReplicationEngine;
use crate::switch::Switch;
use crate::trace::TraceEvent;
use crate::watch::{DropLog, DropRow, KeptDigest, LogLine};

/// A switch, to be looked at: [`Switch::observation`].
#[derive(Clone, Copy)]
pub struct Observation<'s> {
    switch: &'s Switch,
}

impl Switch {
    /// The switch as observers see it.
    #[inline]
    pub fn observation(&self) -> Observation<'_> {
        Observation { switch: self }
    }
}

impl<'s> Observation<'s> {
    /// Whether a port is up: the one place that knows, for whatever depends on it.
    pub fn is_port_up(self, port: u32) -> bool {
        !self.switch.core.ports_down.contains(&port)
    }

    /// Pipes that have a state of their own.
    pub fn pipes(self) -> usize {
        self.switch.program.as_ref().map_or(1, |program| program.runtime().pipes())
    }

    /// What runs programs.
    pub fn exec(self) -> ExecChoice {
        self.switch.exec
    }

    /// Why the loaded program has no native code, once that was needed: the interpreter runs it.
    pub fn native_error(self) -> Option<&'s NativeError> {
        self.pipeline().and_then(|pipeline| pipeline.native_error())
    }

    /// The loaded program.
    pub fn pipeline(self) -> Option<&'s Arc<Pipeline>> {
        self.switch.program.as_ref().map(|program| &program.runtime().pipeline)
    }

    /// Tables, counters and registers of the loaded program; of the first pipe of a chip whose pipes have
    /// their own ([`Control::split_pipes`](crate::Control::split_pipes)).
    pub fn state(self) -> Option<&'s State> {
        self.state_of(0)
    }

    /// The same of one pipe of the chip. None if there is no program, or no state of such a pipe.
    pub fn state_of(self, pipe: usize) -> Option<&'s State> {
        self.switch.program.as_ref().and_then(|program| program.runtime().state(pipe))
    }

    /// Multicast groups and clone sessions.
    pub fn pre(self) -> &'s ReplicationEngine {
        &self.switch.core.pre
    }

    /// What a Tofino chip has beside the program; empty after a program is loaded.
    pub fn chip(self) -> &'s Chip {
        &self.switch.core.chip
    }

    /// Counters of the whole switch.
    pub fn counters(self) -> &'s SwitchCounters {
        &self.switch.core.counters
    }

    /// Counters of a port.
    pub fn port_counters(self, port: u32) -> Option<PortCounters> {
        self.switch.core.tm.port(port).map(|index| self.switch.core.tm.counters(index))
    }

    /// Packets waiting in all queues of a port; 0 for a port that is not there.
    pub fn port_depth_pkts(self, port: u32) -> u32 {
        self.switch.core.tm.port(port).map_or(0, |index| self.switch.core.tm.port_depth_pkts(index))
    }

    /// Bytes waiting in all queues of a port; 0 for a port that is not there.
    pub fn port_depth_bytes(self, port: u32) -> u64 {
        self.switch.core.tm.port(port).map_or(0, |index| self.switch.core.tm.port_depth_bytes(index))
    }

    /// Packets that wait in a queue of a port; 0 for a port that does not exist.
    pub fn depth_pkts(self, port: u32, priority: u8) -> u32 {
        self.switch.core.tm.port(port).map_or(0, |index| self.switch.core.tm.depth_pkts(index, priority))
    }

    /// Since when the neighbour at a port has kept a priority paused; none if it may send.
    pub fn paused_since(self, port: u32, priority: u8) -> Option<Time> {
        self.switch.core.tm.port(port).and_then(|index| self.switch.core.tm.paused_since(index, priority))
    }

    /// What is counted of the pauses of a port's priority, up to now; nothing for a port that is not there.
    pub fn pauses(self, port: u32, priority: u8, now: Time) -> PauseCounters {
        self.switch
            .core
            .tm
            .port(port)
            .map_or_else(PauseCounters::default, |index| self.switch.core.tm.pauses(index, priority, now))
    }

    /// Pairs of ingress and egress ports: what came in on the one, which this
    /// switch has paused, waits at the other, which its neighbour has paused.
    pub fn waits(self, priority: u8) -> Vec<(u32, u32)> {
        self.switch.core.tm.waits(priority)
    }

    /// Packets waiting in all queues of all ports.
    pub fn waiting(self) -> u64 {
        self.switch.core.tm.waiting()
    }

    /// Assertions that did not hold, as `assert at file:line`, and how often: those of earlier programs too.
    pub fn failed_assertions(self) -> impl Iterator<Item = (&'s str, u64)> {
        self.switch.core.failed_assertions.iter().map(|(place, count)| (place.as_str(), *count))
    }

    /// Drops that were added up, in the order of time, cause and port.
    pub fn watched_drops(self) -> impl Iterator<Item = DropRow<'s>> {
        self.switch.core.trace.drops().into_iter().flat_map(DropLog::rows)
    }

    /// Digests that were kept, the oldest first.
    pub fn watched_digests(self) -> &'s [KeptDigest] {
        self.switch.core.kept.as_ref().map_or(&[], |kept| &kept.digests)
    }

    /// Lines of `log_msg` that were kept, the oldest first.
    pub fn watched_logs(self) -> &'s [LogLine] {
        self.switch.core.kept.as_ref().map_or(&[], |kept| &kept.logs)
    }

    /// What there was no room for: packets dropped, digests and lines.
    pub fn watched_left_out(self) -> u64 {
        let drops = self.switch.core.trace.drops().map_or(0, |drops| drops.left_out);
        drops + self.switch.core.kept.as_ref().map_or(0, |kept| kept.left_out)
    }

    /// The steps that are kept, the oldest first.
    pub fn trace(self) -> impl Iterator<Item = &'s TraceEvent> {
        self.switch.core.trace.events()
    }

    /// Steps of expected packets that did not fit.
    pub fn trace_left_out(self) -> u64 {
        self.switch.core.trace.left_out()
    }
}
