//! Sampling: when a sample is due, the recorder reads flows, links and queues.

use p4cc_units::Time;

use crate::network::Network;
use crate::output::record::Due;
use crate::output::table::Table;

impl Network {
    /// The state of the programs as sampled, and as it is now.
    pub(crate) fn arrays_tables(&self) -> [Table; 4] {
        let names = self.spec.switch_names();
        let recorder = &self.observers.recorder;
        recorder.arrays.each_ref().map(|sampled| {
            let mut arrays = sampled.clone();
            arrays.sample(self.now(), |index| &self.nodes.switches[index].switch);
            arrays.table(&names)
        })
    }

    /// Takes the samples due before an instant.
    pub(crate) fn sample_before(&mut self, time: Time) {
        while let Some(due) = self.observers.recorder.due_before(time) {
            self.sample(due);
        }
    }

    fn sample(&mut self, due: Due) {
        if due.windows {
            for &index in &self.observers.active {
                let flow = &self.nodes.flows[index as usize];
                let id = self.nodes.plans[index as usize].id;
                self.observers.recorder.window(due.at, index as usize, id, &flow.snapshot());
                if self.observers.recorder.state.is_wanted() {
                    let state = &mut self.observers.recorder.state;
                    state.sample(due.at, (index as usize, id), |name| flow.state(name));
                }
            }
            let recorder = &mut self.observers.recorder;
            recorder.state.hand_over(&mut recorder.stream);
            // What is complete has had its last row.
            let flows = &self.nodes.flows;
            self.observers.active.retain(|&index| !flows[index as usize].has_ended());
        }
        if due.checkpoint {
            for (plan, flow) in
                self.nodes.plans.iter().zip(&self.nodes.flows).filter(|(_, flow)| flow.has_begun)
            {
                self.observers.recorder.checkpoint(due.at, plan.id, flow.snapshot().snd_una);
            }
            for (place, channel) in self.nodes.channels.iter().enumerate() {
                self.observers.recorder.link(due.at, place, channel.bytes);
            }
        }
        if due.queue_histogram {
            for node in &self.nodes.switches {
                for port in &node.switch.config().ports {
                    self.observers.recorder.depth_bytes(node.switch.port_depth_bytes(port.port));
                }
            }
        }
        let switch = |index: usize| &self.nodes.switches[index].switch;
        let recorder = &mut self.observers.recorder;
        for (arrays, _) in recorder.arrays.iter_mut().zip(due.arrays).filter(|(_, due)| *due) {
            arrays.sample(due.at, switch);
            arrays.hand_over(&mut recorder.stream, || self.spec.switch_names());
        }
        if due.queues {
            let mut place = 0;
            for node in &self.nodes.switches {
                for port in &node.switch.config().ports {
                    let depth = node.switch.port_depth_pkts(port.port);
                    self.observers.recorder.depth(due.at, place, node.switch.device_id(), port.port, depth);
                    place += 1;
                }
            }
        }
    }
}
