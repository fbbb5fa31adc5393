//! Packets that one switch follows on a run's way: the next ones that reach it, from ingress to egress.

use std::collections::BTreeSet;

use p4cc_switch::{Step, Switch, TraceEvent, explained};

use crate::output::trace::explained_line;

/// Most packets that are followed at once.
pub const MAX_FOLLOWED: usize = 64;
/// Steps that are kept of each.
const STEPS_EACH: usize = 512;

/// Packets whose way through a switch is over, as far as it is kept.
pub(crate) fn ended(switch: &Switch) -> BTreeSet<u64> {
    let is_end =
        |step: &Step| matches!(step, Step::Sent { .. } | Step::Dropped { .. } | Step::ToController { .. });
    switch.observation().trace().filter(|event| is_end(&event.step)).map(|event| event.packet).collect()
}

/// Lets a switch follow the next packets of each of its ports, up to a count.
pub(crate) fn follow_next(switch: &mut Switch, packets: usize) {
    let packets = packets.min(MAX_FOLLOWED);
    let ports: Vec<u32> = switch.config().ports.iter().map(|port| port.port).collect();
    switch.control().set_tracing_expected(packets * ports.len() * STEPS_EACH);
    switch.control().set_expected_values();
    for (first, port) in (0..).step_by(packets).zip(ports) {
        for nth in 1..=packets as u64 {
            switch.control().expect_traced(port, nth, first + nth);
        }
    }
}

/// What a switch of this name did with the first packets that it is through with, up to a count: a line of
/// JSON for each step, packet by packet as they came in, numbered from 1.
pub(crate) fn lines(switch: &Switch, name: &str, packets: usize) -> Vec<String> {
    let ended = ended(switch);
    let mut came: Vec<u64> = Vec::new();
    for event in switch.observation().trace() {
        if !came.contains(&event.packet) && ended.contains(&event.packet) {
            came.push(event.packet);
        }
    }
    came.truncate(packets);
    let Some(pipeline) = switch.observation().pipeline() else { return Vec::new() };
    let state = switch.observation().state();
    let lines = (1..).zip(&came).flat_map(|(number, packet)| {
        let steps = switch.observation().trace().filter(|event| event.packet == *packet);
        let events: Vec<TraceEvent> = steps.cloned().collect();
        let times: Vec<_> = events.iter().map(|event| event.at).collect();
        let steps = explained(events, pipeline.program(), state);
        let lines = times.into_iter().zip(steps).map(|(at, step)| explained_line(number, at, name, &step));
        lines.collect::<Vec<String>>()
    });
    lines.collect()
}
