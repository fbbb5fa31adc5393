//! Sampling: when a sample is due, the recorder reads flows, links and queues.

use crate::describe::spec::NetworkSpec;
use crate::hosts::Hosts;
use crate::links::Links;
use crate::output::view::View;
use crate::record::{Due, Recorder, Table};
use crate::switches::Switches;

impl View<'_> {
    /// The state of the programs as sampled, and as it is now.
    pub(crate) fn arrays_tables(&self, recorder: &Recorder) -> [Table; 4] {
        let names = self.spec.switch_names();
        recorder.arrays.each_ref().map(|sampled| {
            let mut arrays = sampled.clone();
            arrays.sample(self.now, |index| &self.switches.nodes()[index].switch);
            arrays.table(&names)
        })
    }
}

/// Takes a sample.
pub(crate) fn sample(
    recorder: &mut Recorder,
    due: Due,
    spec: &NetworkSpec,
    hosts: &Hosts,
    switches: &Switches,
    links: &Links,
) {
    if due.windows {
        for &index in &hosts.progress().active {
            let index = index as usize;
            let (flow, id) = (&hosts.flows()[index], hosts.plans()[index].id);
            recorder.window(due.at, index, id, &flow.snapshot());
            if recorder.state.is_wanted() {
                recorder.state.sample(due.at, index, id, |name| flow.state(name));
            }
        }
        recorder.state.hand_over(&mut recorder.room.stream);
    }
    if due.checkpoint {
        for (plan, flow) in hosts.planned_flows().filter(|(_, flow)| flow.has_begun) {
            recorder.checkpoint(due.at, plan.id, flow.snapshot().snd_una);
        }
        for (place, channel) in links.channels().iter().enumerate() {
            recorder.link(due.at, place, channel.bytes);
        }
    }
    if due.queue_histogram {
        for switch in switches.iter() {
            for port in &switch.config().ports {
                recorder.depth_bytes(switch.observation().port_depth_bytes(port.port));
            }
        }
    }
    for (arrays, _) in recorder.arrays.iter_mut().zip(due.arrays).filter(|(_, due)| *due) {
        arrays.sample(due.at, |index| &switches.nodes()[index].switch);
        arrays.hand_over(&mut recorder.room.stream, || spec.switch_names());
    }
    if due.queues {
        let mut place = 0;
        for switch in switches.iter() {
            for port in &switch.config().ports {
                let depth = switch.observation().port_depth_pkts(port.port);
                recorder.depth(due.at, place, switch.device_id(), port.port, depth);
                place += 1;
            }
        }
    }
}
