//! The events of one district in one window, in order.
//!
//! There are some dozens as a rule, all of them within one window, so the slots of this wheel are few enough
//! to stay in the processor's nearest cache, an event stays where it was listed, and none waits beyond the
//! last slot. What is alone in its slot, as most are, is given as it stands; the others of a slot are put in
//! order when its time comes, and what is scheduled into a slot that has been reached goes through a heap, as
//! in the [wheel](crate::events::timing_wheel) of a whole run.
//!
//! Invariants: slots before the last one that was reached
//! are empty; an event is in a slot, in `rest` or in `late`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4cc_switch::Packet;
use p4cc_units::{Span, Time};

use crate::events::buckets::{Entry, List, Lists, NONE};
use crate::events::event::Event;

/// Slots of a window.
const SLOTS: usize = 16 * WORD;
const WORD: usize = u64::BITS as usize;

/// Events of one district and window.
#[derive(Debug)]
pub(crate) struct Turn {
    /// All of them, those that are over included, as they were
    /// scheduled; each is linked to the next one of its slot.
    events: List,
    heads: [u32; SLOTS],
    occupied: [u64; SLOTS / WORD],
    /// Slots before this one are reached.
    reached: usize,
    start_ps: u64,
    /// A slot lasts 2^shift ps.
    shift: u32,
    /// Places of other events of the last slot that was reached, the first one last.
    rest: Vec<u32>,
    /// Events for slots that were reached when they were scheduled, with their places.
    late: BinaryHeap<Reverse<(Event, u32)>>,
}

impl Turn {
    /// For windows of this width.
    pub fn new(width: Span) -> Self {
        let slot_ps = (width.as_ps() / SLOTS as u64 + 1).next_power_of_two();
        Self {
            events: List::EMPTY,
            heads: [NONE; SLOTS],
            occupied: [0; SLOTS / WORD],
            reached: 0,
            start_ps: 0,
            shift: slot_ps.trailing_zeros(),
            rest: Vec::new(),
            late: BinaryHeap::new(),
        }
    }

    /// Begins with the events of a list, all of them from `start` on and within the width.
    pub fn begin(&mut self, lists: &mut Lists, start: Time, list: List) {
        self.finish(lists);
        (self.reached, self.start_ps, self.events) = (0, start.as_ps(), list);
        let (start_ps, shift) = (self.start_ps, self.shift);
        lists.for_each(list, |place, entry| {
            let slot = slot(entry.time(), start_ps, shift);
            self.occupied[slot / WORD] |= 1 << (slot % WORD);
            entry.next = core::mem::replace(&mut self.heads[slot], place);
        });
    }

    /// All events are over: gives their memory back.
    pub fn finish(&mut self, lists: &mut Lists) {
        debug_assert!(self.is_empty(), "the district before has not finished");
        lists.give_back(&mut self.events);
    }

    /// Adds an event of this district and window.
    #[inline]
    pub fn push(&mut self, lists: &mut Lists, event: &Event, packet: Option<Packet>) {
        let place = lists.push(&mut self.events, event, packet);
        let slot = slot(event.time(), self.start_ps, self.shift);
        if slot < self.reached {
            return self.late.push(Reverse((*event, place)));
        }
        self.occupied[slot / WORD] |= 1 << (slot % WORD);
        lists.at_mut(place).next = core::mem::replace(&mut self.heads[slot], place);
    }

    /// Takes the first event.
    #[inline]
    pub fn pop(&mut self, lists: &mut Lists) -> Option<Entry> {
        if self.rest.is_empty() && self.late.is_empty() {
            self.pop_slot(lists)
        } else {
            self.pop_reached(lists)
        }
    }

    /// Takes the first event of the next slot that has one.
    #[inline]
    fn pop_slot(&mut self, lists: &mut Lists) -> Option<Entry> {
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
        let alone = lists.at_mut(first);
        if alone.next == NONE {
            return Some(alone.take());
        }
        self.sort(lists, first);
        self.pop_reached(lists)
    }

    /// Puts the events of a slot in order. There are two as a rule, but thousands where flows start together.
    fn sort(&mut self, lists: &Lists, first: u32) {
        let mut at = first;
        while at != NONE {
            self.rest.push(at);
            at = lists.at(at).next;
        }
        let key = |place: u32| lists.at(place).key();
        if let [first, second] = &mut self.rest[..] {
            if key(*first) < key(*second) {
                core::mem::swap(first, second);
            }
        } else {
            self.rest.sort_unstable_by_key(|&place| Reverse(key(place)));
        }
    }

    #[inline(never)]
    fn pop_reached(&mut self, lists: &mut Lists) -> Option<Entry> {
        let is_late = match (self.rest.last(), self.late.peek()) {
            (Some(&first), Some(Reverse((late, _)))) => *late < lists.at(first).event(),
            (first, _) => first.is_none(),
        };
        let place = if is_late { self.late.pop()?.0.1 } else { self.rest.pop()? };
        Some(lists.at_mut(place).take())
    }

    /// Whether all events are over.
    fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.late.is_empty() && self.occupied.iter().all(|&bits| bits == 0)
    }
}

/// The slot of an instant of a window.
#[inline]
fn slot(time: Time, start_ps: u64, shift: u32) -> usize {
    ((time.as_ps() - start_ps) >> shift) as usize % SLOTS
}
