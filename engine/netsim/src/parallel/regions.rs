//! Which way a run handles a region: on several threads, in batches on one, or not at all.

use p4cc_units::Time;

use super::batches::Batches;
use super::partitions::Partitions;
use crate::network::{Control, Network};

/// How regions of a run are handled.
pub(crate) enum Regions {
    Threads(Partitions),
    Batches(Batches),
}

impl Network {
    /// How regions are handled with a number of threads; none where all events are handled one by one.
    pub(crate) fn regions(&self, threads: usize) -> Option<Regions> {
        let partitions = Partitions::new(self, threads).map(Regions::Threads);
        partitions.or_else(|| Batches::new(self).map(Regions::Batches))
    }
}

impl Regions {
    /// Runs a region, if one can begin now and end before `until`.
    pub fn run(&mut self, network: &mut Network, until: Time, control: &mut Control<'_>) {
        match self {
            Self::Threads(partitions) => partitions.run(network, until, control),
            Self::Batches(batches) => batches.run(network, until, control),
        }
    }
}
