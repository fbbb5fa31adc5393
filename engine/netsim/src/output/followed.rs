//! Packets that one switch follows on a run's way: the next ones that reach it, from ingress to egress.

use std::collections::BTreeSet;

use p4cc_switch::{Step, Switch};

use crate::output::trace::switch_line;

/// Most packets that are followed at once.
pub const MAX_FOLLOWED: usize = 64;
/// Steps that are kept of each.
const STEPS_EACH: usize = 256;

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
    let lines = (1..).zip(&came).flat_map(|(number, packet)| {
        let steps = switch.observation().trace().filter(move |event| event.packet == *packet);
        steps.map(move |event| switch_line(number, event.at, name, &event.step))
    });
    lines.collect()
}
