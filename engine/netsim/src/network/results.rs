//! What a run has found so far, and packets that one switch follows on the way.

use p4cc_units::Time;

use crate::Network;
use crate::output::{Look, PacketBalance, Progress, Results, Summary, sample, trace};

impl Network {
    /// Results of the run so far.
    pub fn results(&self) -> Results {
        self.view().results(&self.observers, self.summary())
    }

    /// The results with the table `flows` alone: what else was recorded is not copied.
    pub fn flow_results(&self) -> Results {
        let tables = vec![self.view().flows_table()];
        Results { tables, summary: self.summary(), captures: Vec::new(), trace: None }
    }

    /// The run in a few numbers.
    pub fn summary(&self) -> Summary {
        self.view().summary(&self.observers, self.progress())
    }

    /// What there is to see now: the flows of these numbers, and the first active ones up to a count.
    pub fn look(&self, flows: &[u32], first_active: usize) -> Look {
        self.view().look(flows, first_active, self.progress())
    }

    /// Where every packet went so far.
    pub fn packet_balance(&self) -> PacketBalance {
        self.view().packet_balance()
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        let flows = self.hosts.progress();
        Progress {
            now_ns: self.schedule.now.as_ns(),
            stop_ns: self.spec.stop_ns,
            events: self.schedule.events,
            flows_completed: flows.counted - flows.open,
            flows_finite: flows.counted,
            packet_hops: self.packet_hops,
        }
    }

    /// Takes the samples due before an instant.
    pub(crate) fn sample_before(&mut self, time: Time) {
        while let Some(due) = self.observers.recorder.due_before(time) {
            let Self { hosts, switches, links, observers, spec, .. } = self;
            sample(&mut observers.recorder, due, spec, hosts, switches, links);
            if due.windows {
                // What is complete has had its last row.
                self.hosts.forget_ended();
            }
        }
    }

    /// Lets a switch follow the next packets of each of its ports, up to a count; what it does with them and
    /// with their copies is kept. Whether it does: not in a run that follows packets from their hosts.
    pub fn follow_next(&mut self, place: usize, packets: usize) -> bool {
        let follows = self.observers.trace.is_none();
        if follows {
            self.switches.switch_mut(place).follow_next(packets);
        }
        follows
    }

    /// What a switch did with the first packets that it is through with, up to a count: a line of JSON for
    /// each step, packet by packet as they came in, numbered from 1. It follows no packets any more.
    pub fn take_followed(&mut self, place: usize, packets: usize) -> Vec<String> {
        let name = &self.spec.switches[place].name;
        let steps = self.switches.switch_mut(place).take_followed(packets);
        steps.iter().map(|step| trace::followed_line(name, step)).collect()
    }
}
