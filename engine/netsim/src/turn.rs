//! The events of one district in one window, in order.
//!
//! There are some dozens as a rule, all of them within one window, so the slots of this wheel are few enough to stay in
//! the processor's nearest cache, an event stays where it was listed, and none waits beyond the last slot. What is alone in
//! its slot, as most are, is given as it stands; the others of a slot are sorted when its time comes, and what is scheduled into a slot
//! that has been reached goes through a heap, as in the [wheel](crate::wheel) of a whole run.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use p4cc_switch::Packet;
use p4cc_units::{Span, Time};

use crate::event::Event;

/// An event, and the packet that arrives by it: where districts take turns, packets on links wait here.
#[derive(Debug)]
pub(crate) struct Entry {
    pub event: Event,
    pub packet: Option<Packet>,
}

impl Entry {
    #[inline]
    pub fn time(&self) -> Time {
        self.event.time()
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.event == other.event
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.event.cmp(&other.event)
    }
}

/// Slots of a window.
const SLOTS: usize = 8 * WORD;
const WORD: usize = u64::BITS as usize;
/// End of a slot's list.
const NONE: u32 = u32::MAX;

/// Events of one district and window.
#[derive(Debug)]
pub(crate) struct Turn {
    /// All of them, those that are over included, as they were scheduled, and beside each the next one of its slot.
    events: Vec<Entry>,
    next: Vec<u32>,
    heads: [u32; SLOTS],
    occupied: [u64; SLOTS / WORD],
    /// Slots before this one are reached.
    reached: usize,
    start_ps: u64,
    /// A slot lasts 2^shift ps.
    shift: u32,
    /// Other events of the last slot that was reached, the first one last.
    rest: Vec<Entry>,
    /// Events for slots that were reached when they were scheduled.
    late: BinaryHeap<Reverse<Entry>>,
}

impl Turn {
    /// For windows of this width.
    pub fn new(width: Span) -> Self {
        let slot_ps = (width.as_ps() / SLOTS as u64 + 1).next_power_of_two();
        Self {
            events: Vec::new(),
            next: Vec::new(),
            heads: [NONE; SLOTS],
            occupied: [0; SLOTS / WORD],
            reached: 0,
            start_ps: 0,
            shift: slot_ps.trailing_zeros(),
            rest: Vec::new(),
            late: BinaryHeap::new(),
        }
    }

    /// Begins with the events of a list, all of them from `start` on and within the width; the list is empty then.
    pub fn begin(&mut self, start: Time, list: &mut Vec<Entry>) {
        debug_assert!(self.is_empty(), "the district before has not finished");
        (self.reached, self.start_ps) = (0, start.as_ps());
        self.events.clear();
        core::mem::swap(&mut self.events, list);
        self.next.clear();
        for at in 0..self.events.len() {
            let slot = self.slot(self.events[at].time());
            let before = self.put(slot, at);
            self.next.push(before);
        }
    }

    #[inline]
    fn slot(&self, time: Time) -> usize {
        ((time.as_ps() - self.start_ps) >> self.shift) as usize % SLOTS
    }

    /// Puts an event at the front of a slot's list, and gives the one that was.
    #[inline]
    fn put(&mut self, slot: usize, at: usize) -> u32 {
        self.occupied[slot / WORD] |= 1 << (slot % WORD);
        core::mem::replace(&mut self.heads[slot], at as u32)
    }

    /// Adds an event of this district and window.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        let slot = self.slot(entry.time());
        if slot < self.reached {
            return self.late.push(Reverse(entry));
        }
        let before = self.put(slot, self.events.len());
        self.events.push(entry);
        self.next.push(before);
    }

    /// Takes the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        if self.rest.is_empty() && self.late.is_empty() { self.pop_slot() } else { self.pop_reached() }
    }

    /// Takes the first event of the next slot that has one.
    #[inline]
    fn pop_slot(&mut self) -> Option<Entry> {
        let (mut word, mut bits) = (self.reached / WORD, 0);
        if word < self.occupied.len() {
            bits = self.occupied[word] >> (self.reached % WORD) << (self.reached % WORD);
        }
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        let slot = word * WORD + bits.trailing_zeros() as usize;
        self.occupied[word] &= !(1 << (slot % WORD));
        let head = core::mem::replace(&mut self.heads[slot], NONE) as usize;
        self.reached = slot + 1;
        if self.next[head] == NONE {
            return Some(self.take(head));
        }
        let mut at = head as u32;
        while at != NONE {
            let entry = self.take(at as usize);
            self.rest.push(entry);
            at = self.next[at as usize];
        }
        self.rest.sort_unstable_by(|a, b| b.cmp(a));
        self.rest.pop()
    }

    #[inline]
    fn take(&mut self, at: usize) -> Entry {
        let Entry { event, packet } = &mut self.events[at];
        Entry { event: *event, packet: packet.take() }
    }

    fn pop_reached(&mut self) -> Option<Entry> {
        let is_late = match (self.rest.last(), self.late.peek()) {
            (Some(first), Some(Reverse(late))) => late < first,
            (first, _) => first.is_none(),
        };
        if is_late { self.late.pop().map(|Reverse(entry)| entry) } else { self.rest.pop() }
    }

    /// Whether all events are over.
    fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.late.is_empty() && self.occupied.iter().all(|&bits| bits == 0)
    }
}
