//! The events of one logical process in one epoch, in the order of time.
//!
//! A batch has some dozens of events, all within one epoch. So the slots of this wheel are few and stay in
//! the processor's nearest cache, an event stays where its [bucket](super::buckets) stored it, and none lies
//! beyond the last slot. An event that is alone in its slot, as most are, leaves without sorting. The others
//! of a slot are sorted when the slot is reached. An event that is scheduled into a slot already reached goes
//! through a heap, as in the [timing wheel](super::timing_wheel) of a whole run.
//!
//! Invariants: slots before the last one reached are empty; an event is in a slot, in `rest` or in `late`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4cc_switch::Packet;
use p4cc_units::{Span, Time};

use super::buckets::{Bucket, BucketPool, NONE};
use super::event::Event;

/// Slots of an epoch.
const SLOTS: usize = 16 * WORD;
const WORD: usize = u64::BITS as usize;

/// Events of one logical process and epoch.
#[derive(Debug)]
pub(crate) struct Batch {
    /// All events of the batch in the order of scheduling, those already handled included; each links to the
    /// next one of its slot.
    events: Bucket,
    heads: [u32; SLOTS],
    occupied: [u64; SLOTS / WORD],
    /// Slots before this one have been reached.
    reached: usize,
    start_ps: u64,
    /// A slot lasts 2^shift ps.
    shift: u32,
    /// Indices of the other events of the last slot reached, the first one last.
    rest: Vec<u32>,
    /// Events whose slot had been reached when they were scheduled, with their indices.
    late: BinaryHeap<Reverse<(Event, u32)>>,
}

impl Batch {
    /// A batch for epochs of this length.
    pub fn new(lookahead: Span) -> Self {
        let slot_ps = (lookahead.as_ps() / SLOTS as u64 + 1).next_power_of_two();
        Self {
            events: Bucket::EMPTY,
            heads: [NONE; SLOTS],
            occupied: [0; SLOTS / WORD],
            reached: 0,
            start_ps: 0,
            shift: slot_ps.trailing_zeros(),
            rest: Vec::new(),
            late: BinaryHeap::new(),
        }
    }

    /// Begins with the events of a bucket, all of them within the epoch that starts at `start`.
    pub fn begin(&mut self, pool: &mut BucketPool, start: Time, bucket: Bucket) {
        self.finish(pool);
        (self.reached, self.start_ps, self.events) = (0, start.as_ps(), bucket);
        let (start_ps, shift) = (self.start_ps, self.shift);
        pool.for_each(bucket, |place, entry| {
            let slot = slot(entry.time(), start_ps, shift);
            self.occupied[slot / WORD] |= 1 << (slot % WORD);
            entry.next = core::mem::replace(&mut self.heads[slot], place);
        });
    }

    /// Gives the memory of all events back; all of them have been handled.
    pub fn finish(&mut self, pool: &mut BucketPool) {
        debug_assert!(self.is_empty(), "the batch before has not finished");
        pool.give_back(&mut self.events);
    }

    /// Adds an event of this logical process and epoch.
    // Always inlined: a dequeue, as most such events are, goes from registers into its bucket.
    #[inline(always)]
    pub fn push(&mut self, pool: &mut BucketPool, event: &Event, packet: Option<Packet>) {
        let place = pool.push(&mut self.events, event, packet);
        let slot = slot(event.time(), self.start_ps, self.shift);
        if slot < self.reached {
            return self.late.push(Reverse((*event, place)));
        }
        self.occupied[slot / WORD] |= 1 << (slot % WORD);
        pool.at_mut(place).next = core::mem::replace(&mut self.heads[slot], place);
    }

    /// Takes the first event; the entry at this place is to be taken.
    // A place fits a register; an entry would be handed over in memory.
    #[inline(always)]
    pub fn pop(&mut self, pool: &BucketPool) -> Option<u32> {
        if self.rest.is_empty() && self.late.is_empty() {
            self.pop_slot(pool)
        } else {
            self.pop_reached(pool)
        }
    }

    /// Takes the first event of the next slot that has events.
    #[inline(always)]
    fn pop_slot(&mut self, pool: &BucketPool) -> Option<u32> {
        let mut word = self.reached / WORD;
        let mut bits = *self.occupied.get(word)?;
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        let slot = word * WORD + bits.trailing_zeros() as usize;
        self.occupied[word] = bits & (bits - 1);
        self.reached = slot + 1;
        let first = core::mem::replace(&mut self.heads[slot], NONE);
        if pool.at(first).next == NONE {
            return Some(first);
        }
        self.sort(pool, first);
        self.pop_reached(pool)
    }

    /// Sorts the events of a slot: mostly two, thousands where flows start together.
    #[inline(never)]
    fn sort(&mut self, pool: &BucketPool, first: u32) {
        let mut at = first;
        while at != NONE {
            self.rest.push(at);
            at = pool.at(at).next;
        }
        let key = |place: u32| pool.at(place).key();
        if let [first, second] = &mut self.rest[..] {
            if key(*first) < key(*second) {
                core::mem::swap(first, second);
            }
        } else {
            self.rest.sort_unstable_by_key(|&place| Reverse(key(place)));
        }
    }

    #[inline(never)]
    fn pop_reached(&mut self, pool: &BucketPool) -> Option<u32> {
        let is_late = match (self.rest.last(), self.late.peek()) {
            (Some(&first), Some(Reverse((late, _)))) => *late < pool.at(first).event(),
            (first, _) => first.is_none(),
        };
        if is_late { self.late.pop().map(|Reverse((_, place))| place) } else { self.rest.pop() }
    }

    /// Whether all events have been handled.
    fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.late.is_empty() && self.occupied.iter().all(|&bits| bits == 0)
    }
}

/// The slot of an instant of an epoch.
#[inline]
fn slot(time: Time, start_ps: u64, shift: u32) -> usize {
    ((time.as_ps() - start_ps) >> shift) as usize % SLOTS
}
