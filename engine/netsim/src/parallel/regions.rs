//! Which way a run handles a region: on several threads, in batches on one, or not at all.

use p4cc_units::Time;

use super::batches::Batches;
use super::choice::{Choice, Way};
use super::partitions::Partitions;
use crate::network::{Control, Network, RealClock};

/// How regions of a run are handled.
pub(crate) enum Regions {
    Threads(Partitions),
    Batches(Batches),
    /// On threads or in batches on one, whichever is faster by the caller's clock.
    Faster {
        threads: Partitions,
        one_thread: Batches,
        choice: Choice,
    },
}

impl Network {
    /// How regions are handled with a number of threads; none where all events are handled one by one. With a
    /// clock, threads are used while they are faster than batches on one.
    pub(crate) fn regions(&self, threads: usize, clock: Option<RealClock<'_>>) -> Option<Regions> {
        let Some(threads) = Partitions::new(self, threads) else {
            return Batches::new(self).map(Regions::Batches);
        };
        let Some((clock, one_thread)) = clock.zip(Batches::new(self)) else {
            return Some(Regions::Threads(threads));
        };
        let states = self.switches.len() + self.topology.hosts.len() + self.hosts.plans().len();
        let choice = Choice::new(clock.stretch_events, states);
        Some(Regions::Faster { threads, one_thread, choice })
    }
}

impl Regions {
    /// Runs a region, if one can begin now and end before `until`.
    pub fn run(&mut self, network: &mut Network, until: Time, control: &mut Control<'_>) {
        match self {
            Self::Threads(partitions) => partitions.run(network, until, u64::MAX, control),
            Self::Batches(batches) => batches.run(network, until, u64::MAX, control),
            Self::Faster { threads, one_thread, choice } => {
                let (way, events) = choice.next(network.schedule.events, || control.now_ns());
                match way {
                    Way::Threads => threads.run(network, until, events, control),
                    Way::OneThread => one_thread.run(network, until, events, control),
                }
            }
        }
    }
}
