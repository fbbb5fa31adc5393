//! Samples of a run: what the recorder is told of flows, links and queues when a sample is due.

use p4cc_units::Time;

use crate::network::state::Network;
use crate::output::record::Due;

impl Network {
    /// Takes the samples due before an instant.
    pub(crate) fn sample_before(&mut self, time: Time) {
        while let Some(due) = self.recorder.due_before(time) {
            self.sample(due);
        }
    }

    fn sample(&mut self, due: Due) {
        if due.windows {
            for &index in &self.active {
                let flow = &self.flows[index as usize];
                let id = self.plans[index as usize].id;
                self.recorder.window(due.at, index as usize, id, &flow.snapshot());
            }
            // What is complete has had its last row.
            let flows = &self.flows;
            self.active.retain(|&index| !flows[index as usize].has_ended());
        }
        if due.checkpoint {
            for (plan, flow) in self.plans.iter().zip(&self.flows).filter(|(_, flow)| flow.has_begun) {
                self.recorder.checkpoint(due.at, plan.id, flow.snapshot().snd_una);
            }
            for (place, channel) in self.channels.iter().enumerate() {
                self.recorder.link(due.at, place, channel.bytes);
            }
        }
        if due.queue_histogram {
            for node in &self.switches {
                for port in &node.switch.config().ports {
                    self.recorder.depth_bytes(node.switch.port_depth_bytes(port.port));
                }
            }
        }
        if due.queues {
            let mut place = 0;
            for node in &self.switches {
                for port in &node.switch.config().ports {
                    let depth = node.switch.port_depth_pkts(port.port);
                    self.recorder.depth(due.at, place, node.switch.device_id(), port.port, depth);
                    place += 1;
                }
            }
        }
    }
}
