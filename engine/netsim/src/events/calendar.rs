//! The event queue of a run.
//!
//! By default the calendar gives events in the order of their keys, out of a [timing
//! wheel](super::timing_wheel). In a large network that order goes from switch to switch with each event.
//! When it comes back to a switch, the processor's near caches have lost the switch's state. So where the
//! network allows it, the calendar gives events in batches. Time advances in epochs; within an epoch one
//! logical process after the other handles all its events.
//!
//! - A logical process is a switch, or the hosts of a switch.
//! - An epoch is no longer than the delay of any link between logical processes. So nothing that happens
//!   within an epoch reaches another logical process in that epoch: this is conservative synchronisation, see
//!   `parallel/lookahead.rs`.
//! - Events of later epochs wait in [buckets](super::buckets), one for each epoch and logical process, in any
//!   order.
//! - The events of one logical process and epoch are its [batch](super::batch), which puts them in order.
//!
//! Invariant: while events are given in batches, the timing wheel is empty, and the batch holds only events
//! of one logical process before the end of the epoch.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4cc_switch::Packet;
use p4cc_units::{Span, Time};

use super::batch::Batch;
use super::buckets::{Bucket, BucketEntry, BucketPool, Cursor, Entry};
use super::event::Event;
use super::timing_wheel::TimingWheel;

/// Epochs whose events wait in buckets, the current one included; later events wait in a heap.
const EPOCHS: u64 = 4;

/// Whether an epoch is handled one logical process after the other. Results do not depend on it, only speed
/// does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Batching {
    /// Where the network is large enough for batches to pay.
    #[default]
    Auto,
    /// Wherever batches are possible.
    Always,
    /// Nowhere.
    Never,
}

/// Events to come.
#[derive(Debug)]
pub(crate) struct Calendar {
    wheel: TimingWheel,
    /// Events of the current logical process before the end of the current epoch.
    batch: Batch,
    /// End of the current epoch: an event before it is of the current logical process. Zero without batches.
    end: Time,
    /// Length of an epoch.
    lookahead_ps: u64,
    /// Logical process of each node; empty without batches.
    process_of: Vec<u16>,
    processes: usize,
    /// First node of each logical process.
    first_nodes: Vec<usize>,
    /// By logical process, then by epoch.
    buckets: Vec<[Bucket; EPOCHS as usize]>,
    /// Memory of all buckets.
    pool: BucketPool,
    /// For each epoch, how many buckets have an event.
    counts: [usize; EPOCHS as usize],
    /// Number of the current epoch from time zero.
    epoch: u64,
    /// End of that epoch; a region may end within it.
    epoch_end_ps: u64,
    /// Index of the next epoch among the buckets of a logical process.
    next_place: usize,
    far: BinaryHeap<Reverse<Entry>>,
}

impl Calendar {
    /// A calendar for events that are mostly scheduled `usual_lead` ahead.
    pub fn new(usual_lead: Span) -> Self {
        Self {
            wheel: TimingWheel::new(usual_lead),
            batch: Batch::new(Span::ZERO),
            end: Time::ZERO,
            lookahead_ps: 1,
            process_of: Vec::new(),
            processes: 0,
            first_nodes: Vec::new(),
            buckets: Vec::new(),
            pool: BucketPool::default(),
            counts: [0; EPOCHS as usize],
            epoch: 0,
            epoch_end_ps: 0,
            next_place: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        if self.process_of.is_empty() {
            self.wheel.push(event);
        } else if event.time() < self.end {
            self.batch.push(&mut self.pool, &event, None);
        } else {
            self.push_later(event, None);
        }
    }

    /// Adds the arrival of a packet, while events are given in batches.
    // Always inlined: a caller builds the event and the packet, which are then written once, into the bucket.
    #[inline(always)]
    pub fn push_arrival(&mut self, event: Event, packet: Packet) {
        // Nearly always: a packet sent in this epoch arrives in the next one.
        if event.time().as_ps().wrapping_sub(self.epoch_end_ps) < self.lookahead_ps {
            self.put(self.next_place, &event, Some(packet));
        } else {
            self.push_later(event, Some(packet));
        }
    }

    #[inline(never)]
    fn push_later(&mut self, event: Event, packet: Option<Packet>) {
        if event.time() < self.end {
            return self.batch.push(&mut self.pool, &event, packet);
        }
        let (mut epoch, mut end_ps) = (self.epoch, self.epoch_end_ps);
        let time_ps = event.time().as_ps();
        while time_ps >= end_ps {
            epoch += 1;
            if epoch == self.epoch + EPOCHS {
                return self.far.push(Reverse(Entry { event, packet }));
            }
            end_ps = end_ps.saturating_add(self.lookahead_ps);
        }
        self.put((epoch % EPOCHS) as usize, &event, packet);
    }

    /// Takes the first event of the current batch.
    #[inline(always)]
    pub fn pop_batch(&mut self) -> Option<Entry> {
        let place = self.batch.pop(&self.pool)?;
        Some(self.pool.at_mut(place).take())
    }

    /// Takes the first event if it is not after `limit`; without batches only.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<Event> {
        self.wheel.pop_until(limit)
    }

    /// Gives events in batches from `now` on, in epochs of `lookahead`. The calendar must be empty.
    pub fn begin_batching(&mut self, process_of: &[usize], lookahead: Span, now: Time) {
        // A description has no more nodes than two bytes can number.
        self.process_of = process_of.iter().map(|&process| process as u16).collect();
        self.processes = process_of.iter().max().map_or(0, |last| last + 1);
        self.first_nodes = vec![0; self.processes];
        for (node, &process) in process_of.iter().enumerate().rev() {
            self.first_nodes[process] = node;
        }
        self.buckets.resize(self.processes, [Bucket::EMPTY; EPOCHS as usize]);
        self.lookahead_ps = lookahead.as_ps().max(1);
        self.set_epoch(now);
        self.batch = Batch::new(lookahead);
        self.end = now;
    }

    /// Makes the epoch of an instant the current one.
    fn set_epoch(&mut self, at: Time) {
        self.epoch = at.as_ps() / self.lookahead_ps;
        self.epoch_end_ps = (self.epoch + 1).saturating_mul(self.lookahead_ps);
        self.next_place = ((self.epoch + 1) % EPOCHS) as usize;
    }

    /// Gives events in the order of time again. Returns all events that wait, in any order.
    pub fn end_batching(&mut self, now: Time) -> Vec<Entry> {
        // The wheel is empty; this sets its time.
        self.wheel.take_all(now);
        self.process_of.clear();
        (self.processes, self.end, self.counts) = (0, Time::ZERO, [0; EPOCHS as usize]);
        let mut entries: Vec<Entry> = core::iter::from_fn(|| self.pop_batch()).collect();
        self.batch.finish(&mut self.pool);
        let buckets = self.buckets.iter_mut().flatten();
        entries.extend(buckets.flat_map(|bucket| self.pool.drain(bucket)));
        entries.extend(self.far.drain().map(|Reverse(entry)| entry));
        entries
    }

    /// Number of logical processes; 0 without batches.
    #[inline]
    pub fn processes(&self) -> usize {
        self.processes
    }

    /// The first node of a logical process.
    #[inline]
    pub fn first_node(&self, process: usize) -> Option<usize> {
        self.first_nodes.get(process).copied()
    }

    /// Index of the current epoch among the buckets of a logical process.
    #[inline]
    fn current_place(&self) -> usize {
        (self.epoch % EPOCHS) as usize
    }

    /// Bucket of a logical process in the current epoch; an empty one behind the last logical process.
    #[inline]
    fn current_bucket(&self, process: usize) -> Bucket {
        self.buckets.get(process).map_or(Bucket::EMPTY, |buckets| buckets[self.current_place()])
    }

    /// Begins the epoch, or the first part of an epoch, that ends at `end`. Returns the start of the epoch.
    pub fn begin_epoch(&mut self, end: Time) -> Time {
        self.set_epoch(Time::from_ps(end.as_ps() - 1));
        self.end = end;
        let place = self.current_place();
        while let Some(Reverse(first)) = self.far.peek()
            && first.event.time() < end
        {
            let Some(Reverse(Entry { event, packet })) = self.far.pop() else { break };
            self.put(place, &event, packet);
        }
        Time::from_ps(self.epoch * self.lookahead_ps)
    }

    /// Puts an event into the bucket of its logical process for an epoch.
    #[inline(always)]
    fn put(&mut self, place: usize, event: &Event, packet: Option<Packet>) {
        let bucket =
            &mut self.buckets[usize::from(self.process_of[event.node() as usize])][place % EPOCHS as usize];
        if bucket.is_empty() {
            self.counts[place % EPOCHS as usize] += 1;
        }
        self.pool.push(bucket, event, packet);
    }

    /// Events of a logical process that wait for the current epoch, in any order.
    #[inline]
    pub fn pending(&self, process: usize) -> impl Iterator<Item = &BucketEntry> {
        self.pool.of(self.current_bucket(process)).flatten()
    }

    /// Calls `act` with each of them.
    #[inline]
    pub fn for_each_pending(&mut self, process: usize, mut act: impl FnMut(&mut BucketEntry)) {
        let bucket = self.current_bucket(process);
        self.pool.for_each(bucket, |_, entry| act(entry));
    }

    /// A cursor at the first of them, for [`Self::next_pending`].
    #[inline]
    pub fn cursor(&self, process: usize) -> Cursor {
        Cursor::new(self.current_bucket(process))
    }

    /// The event at a cursor, which moves on.
    #[inline(always)]
    pub fn next_pending(&self, cursor: &mut Cursor) -> Option<&BucketEntry> {
        self.pool.next(cursor)
    }

    /// Prefetches the events of a logical process that wait for the current epoch.
    #[inline]
    pub fn prefetch_pending(&self, process: usize) {
        self.pool.prefetch(self.current_bucket(process));
    }

    /// Prefetches the end of a neighbour's bucket of the next epoch, where arrivals are written.
    #[inline]
    pub fn prefetch_room(&self, node: u32) {
        self.pool.prefetch_end(self.buckets[usize::from(self.process_of[node as usize])][self.next_place]);
    }

    /// Begins the batch of a logical process; false if it has no event in this epoch, which starts at
    /// `start`.
    pub fn begin_batch(&mut self, process: usize, start: Time) -> bool {
        let place = self.current_place();
        let bucket = core::mem::replace(&mut self.buckets[process][place], Bucket::EMPTY);
        if bucket.is_empty() {
            return false;
        }
        self.counts[place] -= 1;
        if self.end.as_ps() == self.epoch_end_ps {
            self.batch.begin(&mut self.pool, start, bucket);
        } else {
            self.begin_part_of_batch(place, start, bucket);
        }
        true
    }

    /// [`Self::begin_batch`] where a region ends within this epoch: later events go back into the bucket.
    #[cold]
    fn begin_part_of_batch(&mut self, place: usize, start: Time, mut bucket: Bucket) {
        self.batch.begin(&mut self.pool, start, Bucket::EMPTY);
        for Entry { event, packet } in self.pool.drain(&mut bucket) {
            if event.time() < self.end {
                self.batch.push(&mut self.pool, &event, packet);
            } else {
                self.put(place, &event, packet);
            }
        }
    }

    /// A time that no event comes before.
    pub fn next_time(&self) -> Option<Time> {
        if self.process_of.is_empty() {
            return self.wheel.next_time();
        }
        let far = self.far.peek().map(|Reverse(entry)| entry.event.time());
        let mut epochs = self.epoch..self.epoch + EPOCHS;
        let near = epochs.find(|epoch| self.counts[(epoch % EPOCHS) as usize] > 0);
        let near = near.map(|epoch| Time::from_ps(epoch * self.lookahead_ps).max(self.end));
        near.into_iter().chain(far).min()
    }

    /// Takes all events, in any order; without batches only. Time goes on from `now`.
    pub fn take_all(&mut self, now: Time) -> Vec<Event> {
        self.wheel.take_all(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::event::Kind;

    const LOOKAHEAD_PS: u64 = 1_000;

    proptest! {
        /// Each logical process gets its events in the order of one heap, and none is lost. Events are
        /// scheduled for the same process within an epoch and for any process behind it; the last epoch ends
        /// early.
        #[test]
        fn each_logical_process_gets_its_events_in_order(
            first in prop::collection::vec((0_u64..20_000, 0_u32..4), 1..60),
            then in prop::collection::vec((prop::sample::select(vec![0_u64, 1, 3, 400, 999, 1_000, 2_500, 30_000]), 0_u32..4), 60),
            limit_ps in 1_u64..15_000,
        ) {
            let process_of = [0, 1, 2, 1];
            let mut calendar = Calendar::new(Span::from_ps(LOOKAHEAD_PS));
            let mut heaps: [BinaryHeap<Reverse<Event>>; 3] = Default::default();
            let mut seq = 0;
            let mut new = |time_ps, node| {
                seq += 1;
                Event::new(Time::from_ps(time_ps), Kind::Arrival, node, 0, seq, 0)
            };
            calendar.begin_batching(&process_of, Span::from_ps(LOOKAHEAD_PS), Time::ZERO);
            for (at, node) in first {
                let event = new(at, node);
                calendar.push(event);
                heaps[process_of[node as usize]].push(Reverse(event));
            }
            let mut then = then.into_iter();
            let limit = Time::from_ps(limit_ps);
            while let Some(start) = calendar.next_time().filter(|start| *start < limit) {
                let end = Time::from_ps((start.as_ps() / LOOKAHEAD_PS + 1) * LOOKAHEAD_PS).min(limit);
                let start = calendar.begin_epoch(end);
                for process in 0..calendar.processes() {
                    calendar.begin_batch(process, start);
                    while let Some(Entry { event, .. }) = calendar.pop_batch() {
                        prop_assert!(event.time() < end);
                        prop_assert_eq!(heaps[process].pop(), Some(Reverse(event)));
                        let Some((later, node)) = then.next() else { continue };
                        let at = event.time() + Span::from_ps(later);
                        let event = new(at.as_ps(), if at < end { event.node() } else { node });
                        calendar.push(event);
                        heaps[process_of[event.node() as usize]].push(Reverse(event));
                    }
                }
            }
            let mut left: Vec<Event> = calendar.end_batching(limit).into_iter().map(|entry| entry.event).collect();
            left.sort_unstable();
            let mut expected: Vec<Event> = heaps.into_iter().flatten().map(|Reverse(event)| event).collect();
            expected.sort_unstable();
            prop_assert!(expected.iter().all(|event| event.time() >= limit));
            prop_assert_eq!(left, expected);
        }
    }
}
