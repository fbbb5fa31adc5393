//! The next packets that reach a switch, followed from ingress to egress for whoever watches it: a page of a
//! simulated network or of a lab.

use std::collections::BTreeSet;

use p4cc_units::Time;

use crate::switch::Switch;
use crate::trace::{Step, TraceEvent};
use crate::trace_entries::{TracedStep, explained};

/// Most packets that are followed at once.
pub const MAX_FOLLOWED: usize = 64;
/// Steps that are kept of each.
const STEPS_EACH: usize = 512;

/// What a followed packet did.
#[derive(Clone, Debug)]
pub struct FollowedStep {
    /// The packet's number, from 1, as they came in.
    pub packet: u64,
    /// When.
    pub at: Time,
    /// What, with the entry of a table.
    pub step: TracedStep,
}

impl Switch {
    /// Lets the switch follow the next packets of each of its ports, up to a count of at least 1, in place of
    /// any trace that it keeps.
    pub fn follow_next(&mut self, packets: usize) {
        let packets = packets.clamp(1, MAX_FOLLOWED);
        let ports: Vec<u32> = self.config().ports.iter().map(|port| port.port).collect();
        self.control().set_tracing_expected(packets * ports.len() * STEPS_EACH);
        self.control().set_expected_values();
        for (first, port) in (0..).step_by(packets).zip(ports) {
            for nth in 1..=packets as u64 {
                self.control().expect_traced(port, nth, first + nth);
            }
        }
    }

    /// Packets that it is through with, as far as it follows them.
    pub fn followed_to_the_end(&self) -> BTreeSet<u64> {
        let is_end = |step: &Step| {
            matches!(step, Step::Sent { .. } | Step::Dropped { .. } | Step::ToController { .. })
        };
        self.observation().trace().filter(|event| is_end(&event.step)).map(|event| event.packet).collect()
    }

    /// What it did with the first packets that it is through with, up to a count, packet by packet. It
    /// follows none any more.
    pub fn take_followed(&mut self, packets: usize) -> Vec<FollowedStep> {
        let steps = self.followed_steps(packets);
        self.control().set_tracing(false);
        steps
    }

    fn followed_steps(&self, packets: usize) -> Vec<FollowedStep> {
        let ended = self.followed_to_the_end();
        let mut came: Vec<u64> = Vec::new();
        for event in self.observation().trace() {
            if !came.contains(&event.packet) && ended.contains(&event.packet) {
                came.push(event.packet);
            }
        }
        came.truncate(packets);
        let Some(pipeline) = self.observation().pipeline() else { return Vec::new() };
        let state = self.observation().state();
        let steps = (1..).zip(&came).flat_map(|(packet, number)| {
            let steps = self.observation().trace().filter(|event| event.packet == *number);
            let events: Vec<TraceEvent> = steps.cloned().collect();
            let times: Vec<Time> = events.iter().map(|event| event.at).collect();
            let steps = explained(events, pipeline.program(), state);
            times.into_iter().zip(steps).map(move |(at, step)| FollowedStep { packet, at, step })
        });
        steps.collect()
    }
}
