//! Conservative synchronisation of threads: every thread runs one partition, epoch by epoch.
//!
//! Before an epoch each thread publishes the time of its next event and what else limits the epoch. After a
//! barrier all threads compute the same end of the epoch from that. They run their partitions to that end,
//! put frames for other partitions into mailboxes, meet at the barrier again, and take their own frames out.
//! A region ends where the network has to handle an event as one, or where the load of the partitions has
//! become uneven.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use p4cc_units::{Span, Time};

use super::barrier::Barrier;
use super::lookahead::{cannot_end, epoch_end};
use crate::links::Message;
use crate::network::Network;
use crate::record::Activity;

/// What the threads of one region share. Times are picoseconds.
pub(super) struct Synchroniser {
    barrier: Barrier,
    /// By partition: time of its next event.
    pub next: Vec<AtomicU64>,
    /// By partition: when it asks for deadlock detection.
    check: Vec<AtomicU64>,
    /// By partition: until when the run cannot end.
    sure_until: Vec<AtomicU64>,
    /// By partition: events of this region; `most_events` bounds their sum.
    events: Vec<AtomicU64>,
    most_events: u64,
    /// By partition: packet-hops of this region, which stand for the work done.
    pub hops: Vec<AtomicU64>,
    /// Epochs between two looks at the balance of load.
    rebalance_interval: u64,
    /// Frames that cross, by sending and receiving partition.
    messages: Vec<Mutex<Vec<Message>>>,
    /// By partition: what the stall detector of the network has to know.
    pub activity: Vec<Mutex<Vec<(Time, Activity)>>>,
    pub is_cancelled: AtomicBool,
}

impl Synchroniser {
    pub fn new(partitions: usize, most_events: u64, rebalance_interval: u64) -> Self {
        let numbers = || (0..partitions).map(|_| AtomicU64::new(u64::MAX)).collect();
        let counts = || (0..partitions).map(|_| AtomicU64::new(0)).collect();
        Self {
            barrier: Barrier::new(partitions),
            next: numbers(),
            check: numbers(),
            sure_until: numbers(),
            events: counts(),
            most_events,
            hops: counts(),
            rebalance_interval,
            messages: (0..partitions * partitions).map(|_| Mutex::default()).collect(),
            activity: (0..partitions).map(|_| Mutex::default()).collect(),
            is_cancelled: AtomicBool::new(false),
        }
    }

    /// The mailbox from one partition to another.
    fn messages(&self, from: usize, to: usize) -> &Mutex<Vec<Message>> {
        &self.messages[from * self.next.len() + to]
    }

    /// The least of the published times.
    pub fn least(numbers: &[AtomicU64]) -> Time {
        let least = numbers.iter().map(|number| number.load(Ordering::Acquire)).min();
        Time::from_ps(least.unwrap_or(u64::MAX))
    }

    /// End of the next epoch; none if the region ends. All threads come to the same answer.
    fn next_epoch(&self, lookahead: Span, limit: Time) -> Option<Time> {
        let (start, limit) = (Self::least(&self.next), limit.min(Self::least(&self.check)));
        let end = epoch_end(start, lookahead).min(limit);
        let events: u64 = self.events.iter().map(|number| number.load(Ordering::Acquire)).sum();
        let sure_until = self.sure_until.iter().map(|number| number.load(Ordering::Acquire)).max();
        let is_sure = end.as_ps() <= sure_until.unwrap_or(0) && events <= self.most_events;
        (start < limit && is_sure && !self.is_cancelled.load(Ordering::Acquire)).then_some(end)
    }
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs epoch after epoch; `between` is called between two epochs, when all partitions have handed over what
/// crosses.
pub(super) fn epoch_loop(
    worker: &mut Worker<'_>,
    lookahead: Span,
    limit: Time,
    between: &mut dyn FnMut(&Synchroniser),
) {
    let sync = worker.sync;
    let mut load = LoadMonitor::default();
    while sync.barrier.wait() {
        let end = sync.next_epoch(lookahead, limit).filter(|_| load.is_balanced(sync));
        let Some(end) = end else { return };
        worker.partition.run_events_before(end);
        worker.send();
        if !sync.barrier.wait() {
            return;
        }
        worker.receive();
        between(sync);
        worker.publish();
    }
}

/// Load monitor: whether partitions have about equal work. All threads come to the same answer.
#[derive(Default)]
struct LoadMonitor {
    epochs: u64,
    /// Packet-hops of each partition at the last look.
    hops: Vec<u64>,
}

impl LoadMonitor {
    /// Called before each epoch; false if one partition had so much more work than the mean that rebalancing
    /// may pay.
    fn is_balanced(&mut self, sync: &Synchroniser) -> bool {
        /// Largest share of the mean work that still counts as balanced.
        const BALANCED: (u64, u64) = (21, 20);
        let is_due = self.epochs.is_multiple_of(sync.rebalance_interval);
        self.epochs += 1;
        if !is_due {
            return true;
        }
        let now: Vec<u64> = sync.hops.iter().map(|number| number.load(Ordering::Acquire)).collect();
        let before = core::mem::replace(&mut self.hops, now);
        let new = || self.hops.iter().zip(&before).map(|(now, before)| now - before);
        let (most, all) = (new().max().unwrap_or(0), new().sum::<u64>());
        most * self.hops.len() as u64 * BALANCED.1 <= all * BALANCED.0
    }
}

/// A partition and what its thread needs.
pub(super) struct Worker<'a> {
    pub number: usize,
    pub partition: &'a mut Network,
    pub unfinished: &'a mut usize,
    pub partition_of: &'a [usize],
    pub sync: &'a Synchroniser,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The other threads end too, so that the panic is reported.
            self.sync.barrier.break_up();
        }
    }
}

impl Worker<'_> {
    /// Hands over the frames for other partitions, and the activity that the network has to know.
    fn send(&mut self) {
        let partition = &mut *self.partition;
        let mut mailboxes: Vec<_> =
            (0..self.sync.next.len()).map(|to| lock(self.sync.messages(self.number, to))).collect();
        for (node, message) in partition.links.take_outbox() {
            mailboxes[self.partition_of[node as usize]].push(message);
        }
        self.partition.observers.stall.take_activity(&mut lock(&self.sync.activity[self.number]));
    }

    /// Takes the frames that came from other partitions.
    fn receive(&mut self) {
        for from in 0..self.sync.next.len() {
            for message in lock(self.sync.messages(from, self.number)).drain(..) {
                self.partition.links.carry(&mut self.partition.schedule, message);
            }
        }
    }

    /// Publishes what limits the next epoch.
    pub fn publish(&mut self) {
        let (sync, number) = (self.sync, self.number);
        let next = self.partition.schedule.calendar.next_time().unwrap_or(Time::MAX);
        let check = self.partition.observers.deadlocks.deferred().unwrap_or(Time::MAX);
        let sure_until = cannot_end(self.partition, self.partition_of, number, self.unfinished);
        sync.events[number].store(self.partition.schedule.events, Ordering::Release);
        sync.hops[number].store(self.partition.packet_hops, Ordering::Release);
        for (place, time) in [(&sync.next, next), (&sync.check, check), (&sync.sure_until, sure_until)] {
            place[number].store(time.as_ps(), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_ends_where_events_have_to_be_counted_one_by_one() {
        let (sync, lookahead, limit) = (Synchroniser::new(2, 100, 16), Span::from_ns(1), Time::from_ns(10));
        sync.next[1].store(1_500, Ordering::Release);
        sync.events[0].store(60, Ordering::Release);
        for (events, end) in [(40, Some(Time::from_ns(2))), (41, None)] {
            sync.events[1].store(events, Ordering::Release);
            assert_eq!(sync.next_epoch(lookahead, limit), end);
        }
    }

    #[test]
    fn uneven_load_ends_a_region_at_the_next_look() {
        let sync = Synchroniser::new(2, u64::MAX, 3);
        let mut load = LoadMonitor::default();
        let mut is_balanced = |hops: [u64; 2]| {
            sync.hops.iter().zip(hops).for_each(|(place, hops)| place.store(hops, Ordering::Release));
            load.is_balanced(&sync)
        };
        // A look, two epochs without, a look at equal loads, two without; then one partition had 30 of 50.
        for (hops, expected) in [
            ([0, 0], true),
            ([50, 0], true),
            ([60, 0], true),
            ([100, 96], true),
            ([130, 96], true),
            ([130, 100], true),
        ] {
            assert_eq!(is_balanced(hops), expected, "{hops:?}");
        }
        assert!(!is_balanced([130, 116]));
    }
}
