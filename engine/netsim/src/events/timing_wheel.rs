//! A timing wheel: short slots for events that are due soon, a heap for the others.
//!
//! Nearly every event of a run is an arrival or the end of a transmission, at most a link's time ahead. Such
//! an event goes into the list of its slot, at a cost that does not grow with the number of waiting events.
//! When time reaches a slot, its events are sorted and leave in the order of their keys. An event that is
//! scheduled for that slot from then on goes through a small heap beside them. Events beyond the wheel
//! (timeouts, starts of flows) wait in a heap of their own until their slot comes. An event that is alone in
//! its slot, as most are, is not even sorted. With ill-chosen slots all events land in one of the heaps or in
//! one sort, and the wheel is no worse than one heap.
//!
//! Invariants: the slot of an event in `current` is at most `cursor`, that of an event in the wheel lies in
//! `cursor + 1 .. cursor + SLOTS`, that of an event in `far` beyond `cursor`; a bit of `occupied` is set
//! exactly where the slot's list has an event, a bit of `summary` where a word of `occupied` is not zero.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4cc_units::{Span, Time};

use super::event::Event;

/// Slots of the wheel; a word of the summary has a bit for each word of bits.
const SLOTS: usize = 64 * WORD;
const WORD: usize = u64::BITS as usize;
/// The wheel reaches a quarter further than most events are scheduled ahead, as packets grow on their way;
/// rounding up adds to it. Short slots have few events.
const REACH: (u64, u64) = (5, 4);
/// End of a list.
const NONE: u32 = u32::MAX;

/// An event in a slot's list.
#[derive(Clone, Copy, Debug)]
struct Node {
    event: Event,
    next: u32,
}

/// Events to come.
#[derive(Clone, Debug)]
pub(crate) struct TimingWheel {
    /// Events of the slot that time is in, the first one last.
    current: Vec<Event>,
    /// Events of that slot, or of slots before it, that were scheduled when time was there.
    late: BinaryHeap<Reverse<Event>>,
    /// Number of that slot, from time zero.
    cursor: u64,
    /// A slot lasts 2^shift ps.
    shift: u32,
    /// First event of each slot's list.
    heads: Vec<u32>,
    occupied: [u64; SLOTS / WORD],
    summary: u64,
    nodes: Vec<Node>,
    free: u32,
    far: BinaryHeap<Reverse<Event>>,
    /// Slot of the first event of `far`; the largest number if there is none.
    far_slot: u64,
}

impl TimingWheel {
    /// A wheel for events that are mostly scheduled `usual_lead` ahead.
    pub fn new(usual_lead: Span) -> Self {
        let slot_ps = usual_lead.as_ps().saturating_mul(REACH.0) / (REACH.1 * SLOTS as u64);
        Self {
            current: Vec::new(),
            late: BinaryHeap::new(),
            cursor: 0,
            // Two picoseconds at least, so that no slot has the largest number.
            shift: slot_ps.clamp(2, 1 << 62).next_power_of_two().trailing_zeros(),
            heads: vec![NONE; SLOTS],
            occupied: [0; SLOTS / WORD],
            summary: 0,
            nodes: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            far_slot: u64::MAX,
        }
    }

    #[inline]
    fn slot_of(&self, event: &Event) -> u64 {
        event.time().as_ps() >> self.shift
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        let slot = self.slot_of(&event);
        if slot <= self.cursor {
            self.late.push(Reverse(event));
        } else if slot - self.cursor < SLOTS as u64 {
            self.push_near(slot as usize % SLOTS, event);
        } else {
            self.far_slot = self.far_slot.min(slot);
            self.far.push(Reverse(event));
        }
    }

    #[inline]
    fn push_near(&mut self, place: usize, event: Event) {
        let node = Node { event, next: self.heads[place] };
        let at = self.free;
        match self.nodes.get_mut(at as usize) {
            Some(old) => {
                self.free = old.next;
                *old = node;
                self.heads[place] = at;
            }
            None => {
                self.heads[place] = self.nodes.len() as u32;
                self.nodes.push(node);
            }
        }
        self.occupied[place / WORD] |= 1 << (place % WORD);
        self.summary |= 1 << (place / WORD);
    }

    /// Takes the first event if it is not after `limit`.
    pub fn pop_until(&mut self, limit: Time) -> Option<Event> {
        if self.current.is_empty() && self.late.is_empty() {
            let near = self.next_near().unwrap_or(u64::MAX);
            let slot = near.min(self.far_slot);
            if slot > limit.as_ps() >> self.shift {
                // Time must not go on to a slot behind the limit:
                // an event scheduled before it would come late.
                return None;
            }
            if near < self.far_slot
                && let Some(alone) = self.alone_at(near as usize % SLOTS)
            {
                if alone.time() > limit {
                    return None;
                }
                self.cursor = near;
                self.clear_near(near as usize % SLOTS);
                return Some(alone);
            }
            self.advance_to(slot);
        }
        if self.late.is_empty() {
            return self.current.pop_if(|first| first.time() <= limit);
        }
        let is_late = match (self.current.last(), self.late.peek()) {
            (Some(first), Some(Reverse(late))) => late < first,
            (first, _) => first.is_none(),
        };
        let first = if is_late { self.late.peek()?.0 } else { *self.current.last()? };
        if first.time() > limit {
            return None;
        }
        if is_late {
            self.late.pop();
        } else {
            self.current.pop();
        }
        Some(first)
    }

    /// Goes on to a slot, the next one that has an event.
    fn advance_to(&mut self, slot: u64) {
        self.cursor = slot;
        let place = slot as usize % SLOTS;
        let mut at = self.heads[place];
        while let Some(node) = self.nodes.get(at as usize) {
            self.current.push(node.event);
            at = node.next;
        }
        if self.heads[place] != NONE {
            self.clear_near(place);
        }
        while self.far_slot <= slot {
            self.current.extend(self.far.pop().map(|Reverse(event)| event));
            self.far_slot = self.far.peek().map_or(u64::MAX, |Reverse(event)| self.slot_of(event));
        }
        sort_descending(&mut self.current);
    }

    /// When the first event is due.
    pub fn next_time(&self) -> Option<Time> {
        let late = self.late.peek().map(|Reverse(event)| event);
        let first = self.current.last().into_iter().chain(late).min();
        if let Some(first) = first {
            return Some(first.time());
        }
        let far = self.far.peek().map(|Reverse(event)| event.time());
        let mut at = self.next_near().map_or(NONE, |slot| self.heads[slot as usize % SLOTS]);
        let near = core::iter::from_fn(|| {
            let node = self.nodes.get(at as usize)?;
            at = node.next;
            Some(node.event.time())
        });
        near.chain(far).min()
    }

    /// Takes all events, in any order; the next ones are expected from `now` on.
    pub fn take_all(&mut self, now: Time) -> Vec<Event> {
        let mut events = core::mem::take(&mut self.current);
        events.extend(self.late.drain().chain(self.far.drain()).map(|Reverse(event)| event));
        for head in &mut self.heads {
            let mut at = core::mem::replace(head, NONE);
            while let Some(node) = self.nodes.get(at as usize) {
                events.push(node.event);
                at = node.next;
            }
        }
        self.nodes.clear();
        (self.free, self.far_slot) = (NONE, u64::MAX);
        (self.occupied, self.summary) = ([0; SLOTS / WORD], 0);
        self.cursor = now.as_ps() >> self.shift;
        events
    }

    /// Number of the first slot of the wheel that has an event.
    #[inline]
    fn next_near(&self) -> Option<u64> {
        let start = (self.cursor as usize + 1) % SLOTS;
        let (word, bit) = (start / WORD, start % WORD);
        let in_word = self.occupied[word] >> bit;
        let place = if in_word != 0 {
            start + in_word.trailing_zeros() as usize
        } else {
            // The words behind, then from the first on; what is left of this word comes last.
            let behind = self.summary & u64::MAX.checked_shl(word as u32 + 1).unwrap_or(0);
            let words = if behind != 0 { behind } else { self.summary };
            let word = words.checked_ilog2().map(|_| words.trailing_zeros() as usize)?;
            word * WORD + self.occupied[word].trailing_zeros() as usize
        };
        Some(self.cursor + 1 + ((place + SLOTS - start) % SLOTS) as u64)
    }

    /// The event of a slot that has one only.
    fn alone_at(&self, place: usize) -> Option<Event> {
        let node = self.nodes.get(self.heads[place] as usize)?;
        (node.next == NONE).then_some(node.event)
    }

    /// Empties the list of a slot that has events.
    #[inline]
    fn clear_near(&mut self, place: usize) {
        let first = core::mem::replace(&mut self.heads[place], NONE);
        let mut last = first;
        while let Some(node) = self.nodes.get_mut(last as usize) {
            if node.next == NONE {
                node.next = self.free;
                break;
            }
            last = node.next;
        }
        self.free = first;
        let word = &mut self.occupied[place / WORD];
        *word &= !(1 << (place % WORD));
        if *word == 0 {
            self.summary &= !(1 << (place / WORD));
        }
    }
}

/// Puts the events of a slot in order, the first one last. Most slots have a few events, which insertion
/// sorts fastest.
fn sort_descending(events: &mut [Event]) {
    const FEW: usize = 24;
    if events.len() > FEW {
        events.sort_unstable_by(|a, b| b.cmp(a));
        return;
    }
    for end in 1..events.len() {
        let event = events[end];
        let key = event.key();
        let mut place = end;
        while let Some(before) = place.checked_sub(1).map(|before| events[before])
            && (before.key() < key || before.key() == key && before < event)
        {
            events[place] = before;
            place -= 1;
        }
        events[place] = event;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::event::Kind;

    proptest! {
        /// Whatever is pushed, whenever, near or far, in bursts
        /// at one instant: what comes out is what one heap gives.
        #[test]
        fn order_is_that_of_one_heap(
            lead_ps in prop::sample::select(vec![0_u64, 1, 4_096, 1_000_000, u64::MAX]),
            steps in prop::collection::vec(
                (prop::sample::select(vec![0_u64, 1, 3, 900, 60_000, 1_000_000, 4_000_001, 1 << 40]), 0_u64..5, 0_u32..3, any::<bool>()),
                1..400,
            ),
        ) {
            let mut queue = TimingWheel::new(Span::from_ps(lead_ps));
            let mut heap = BinaryHeap::new();
            let mut now = Time::ZERO;
            for (seq, (ahead_ps, spread, node, pops)) in (0_u64..).zip(steps) {
                let time = now + Span::from_ps(ahead_ps * spread);
                let kind = [Kind::Dequeue, Kind::Arrival, Kind::Timer][node as usize];
                let event = Event::new(time, kind, node, 1, seq, seq as u32);
                queue.push(event);
                heap.push(Reverse(event));
                // A limit that nothing reaches takes nothing.
                let first = heap.peek().map_or(Time::MAX, |Reverse(event)| event.time());
                if first > now {
                    prop_assert_eq!(queue.pop_until(now), None);
                }
                if pops {
                    let event = queue.pop_until(Time::MAX);
                    prop_assert_eq!(event, heap.pop().map(|Reverse(event)| event));
                    now = event.map_or(now, |event| event.time());
                }
            }
            // All of them, taken and given back, are the same events.
            for event in queue.take_all(now) {
                queue.push(event);
            }
            prop_assert_eq!(queue.next_time(), heap.peek().map(|Reverse(event)| event.time()));
            while let Some(Reverse(event)) = heap.pop() {
                prop_assert_eq!(queue.pop_until(event.time()), Some(event));
            }
            prop_assert_eq!(queue.pop_until(Time::MAX), None);
            prop_assert_eq!((queue.summary, queue.occupied), (0, [0; SLOTS / WORD]));
        }
    }
}
