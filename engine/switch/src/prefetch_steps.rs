//! Prefetch of a switch's memory before a packet arrives or leaves.
//!
//! The target of a pointer is known only after the pointer is loaded. So the prefetch has steps, and each
//! step reads what the step before it fetched. It changes only the time that a run takes.

use p4cc_exec::prefetch::prefetch_start;

use crate::config::PRIORITIES;
use crate::switch::Switch;
use crate::tm::TrafficManager;

impl Switch {
    /// First step: the switch itself.
    #[inline]
    pub fn prefetch(&self) {
        let (core, tm) = (&self.core, &self.core.tm);
        prefetch_start(&core.drop_port);
        prefetch_start(&tm.ports);
        prefetch_start(&tm.ready);
        tm.buffer.iter().for_each(|buffer| prefetch_start(&buffer.pool_bytes));
        prefetch_start(&tm.slots);
        prefetch_start(&self.program);
    }

    /// Second step: its ports.
    #[inline]
    pub fn prefetch_ports(&self) {
        self.core.tm.ports.iter().for_each(prefetch_start);
    }

    /// Third step: the queues that its ports send from.
    #[inline]
    pub fn prefetch_queues(&self) {
        self.core.tm.prefetch_queues();
    }
}

impl<T> TrafficManager<T> {
    #[inline]
    fn prefetch_queues(&self) {
        for (port, queues) in self.ports.iter().zip(self.queues.chunks(PRIORITIES)) {
            let first = port.sendable().checked_ilog2().and_then(|at| queues.get(at as usize));
            first.into_iter().for_each(prefetch_start);
        }
    }
}
