//! What a switch is going to touch, for the processor to fetch before a packet comes or leaves.
//!
//! What lies behind a pointer can be named only when the pointer itself is there, so there are steps: each reads what the
//! one before had fetched. Nothing here changes anything but time.

use p4cc_exec::prefetch::{prefetch, prefetch_start};

use crate::switch::Switch;
use crate::tm::{TrafficManager, queue_of};

impl Switch {
    /// First step: the switch itself.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.core.tm);
        prefetch_start(&self.core.counters);
        prefetch_start(&self.core.config.drop_port);
        prefetch_start(&self.program);
    }

    /// Second step: a port.
    #[inline]
    pub fn prefetch_port(&self, port: u32) {
        self.core.tm.prefetch_port(port);
    }

    /// Third step of a port that will send: the queue that it sends from.
    #[inline]
    pub fn prefetch_queue(&self, port: u32) {
        self.core.tm.prefetch_queue(port);
    }
}

impl<T> TrafficManager<T> {
    /// What enqueueing for a port and priority will touch.
    #[inline]
    pub(crate) fn prefetch_way_out(&self, port: u32, priority: u8) {
        if let Some(index) = self.port(port) {
            self.ports.get(index.at()).into_iter().for_each(prefetch_start);
            self.queues.get(index.queue(queue_of(priority))).into_iter().for_each(prefetch_start);
        }
    }

    #[inline]
    fn prefetch_port(&self, port: u32) {
        if let Some(port) = self.port(port).and_then(|index| self.ports.get(index.at())) {
            prefetch_start(port);
        }
    }

    #[inline]
    fn prefetch_queue(&self, port: u32) {
        let Some(index) = self.port(port) else { return };
        if let Some(at) = self.at(index).sendable().checked_ilog2() {
            prefetch_start(&self.queues[index.queue(at as usize)]);
        }
    }
}
