//! What is to happen, and in which order it is done.
//!
//! As a rule events come in the order of their keys, out of one [wheel](crate::events::timing_wheel). In a
//! large network that order goes from switch to switch with each event, and by the time that it comes back to
//! one, the processor's near caches have lost what it needs. So where the network allows it, time goes on in
//! windows, and within a window one district after the other does all that it has to do: a district is a
//! switch, or the hosts of one. A window is no longer than any link between districts takes, so nothing that
//! happens within it can touch another district (the look-ahead of [`crate::parallel::partitions`]). Events
//! of later windows wait in a [list](crate::events::buckets) for each window and district, unsorted; those of
//! a district are put in order when its [turn](crate::events::batch) comes.
//!
//! Invariant: while districts take turns, the wheel is empty, and the
//! turn holds events of one district before the end of the window only.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4cc_switch::Packet;
use p4cc_units::{Span, Time};

use crate::events::batch::Turn;
use crate::events::buckets::{Cursor, Entry, List, Listed, Lists};
use crate::events::event::Event;
use crate::events::timing_wheel::EventQueue;

/// Windows whose events wait in lists, the present one included; what is later waits in a heap.
const WINDOWS: u64 = 4;

/// Events to come.
#[derive(Debug)]
pub(crate) struct Agenda {
    wheel: EventQueue,
    /// Events of the district whose turn it is, before the end of the present window.
    turn: Turn,
    /// End of the present window: events before it are of the
    /// district whose turn it is. Zero while they take no turns.
    end: Time,
    /// So many picoseconds last a window.
    width_ps: u64,
    /// District of each node; empty while they take no turns.
    owner: Vec<u16>,
    districts: usize,
    /// First node of each district.
    first_nodes: Vec<usize>,
    /// By district, then by window.
    lists: Vec<[List; WINDOWS as usize]>,
    /// What is in all of them.
    entries: Lists,
    /// Lists of each window that have an event.
    counts: [usize; WINDOWS as usize],
    /// Number of the present window from time zero.
    window: u64,
    /// End of that window; a stretch may end within it.
    window_end_ps: u64,
    /// Place of the next one among the lists of a district.
    place_after: usize,
    far: BinaryHeap<Reverse<Entry>>,
}

impl Agenda {
    /// See [`EventQueue::new`].
    pub fn new(usual_lead: Span) -> Self {
        Self {
            wheel: EventQueue::new(usual_lead),
            turn: Turn::new(Span::ZERO),
            end: Time::ZERO,
            width_ps: 1,
            owner: Vec::new(),
            districts: 0,
            first_nodes: Vec::new(),
            lists: Vec::new(),
            entries: Lists::default(),
            counts: [0; WINDOWS as usize],
            window: 0,
            window_end_ps: 0,
            place_after: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        if self.owner.is_empty() {
            self.wheel.push(event);
        } else if event.time() < self.end {
            self.turn.push(&mut self.entries, &event, None);
        } else {
            self.list(event, None);
        }
    }

    /// Adds the arrival of a packet; districts take turns.
    // Into its callers always: what is put together there should be written once, at its place.
    #[inline(always)]
    pub fn push_arrival(&mut self, event: Event, packet: Packet) {
        // What is sent in this window arrives in the next one, as a rule.
        if event.time().as_ps().wrapping_sub(self.window_end_ps) < self.width_ps {
            self.put(self.place_after, &event, Some(packet));
        } else {
            self.list(event, Some(packet));
        }
    }

    #[inline(never)]
    fn list(&mut self, event: Event, packet: Option<Packet>) {
        if event.time() < self.end {
            return self.turn.push(&mut self.entries, &event, packet);
        }
        let (mut window, mut end_ps) = (self.window, self.window_end_ps);
        let time_ps = event.time().as_ps();
        while time_ps >= end_ps {
            window += 1;
            if window == self.window + WINDOWS {
                return self.far.push(Reverse(Entry { event, packet }));
            }
            end_ps = end_ps.saturating_add(self.width_ps);
        }
        self.put((window % WINDOWS) as usize, &event, packet);
    }

    /// Takes the first event of the district whose turn it is, before the end of the window.
    #[inline]
    pub fn pop_turn(&mut self) -> Option<Entry> {
        self.turn.pop(&mut self.entries)
    }

    /// Takes the first event if it is not after `limit`; districts take no turns.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<Event> {
        self.wheel.pop_until(limit)
    }

    /// From `now` on districts take turns, windows lasting `width`; nothing waits.
    pub fn divide(&mut self, owner: &[usize], width: Span, now: Time) {
        // A description has no more nodes than two bytes can number.
        self.owner = owner.iter().map(|&district| district as u16).collect();
        self.districts = owner.iter().max().map_or(0, |last| last + 1);
        self.first_nodes = vec![0; self.districts];
        for (node, &district) in owner.iter().enumerate().rev() {
            self.first_nodes[district] = node;
        }
        self.lists.resize(self.districts, [List::EMPTY; WINDOWS as usize]);
        self.width_ps = width.as_ps().max(1);
        self.set_window(now);
        self.turn = Turn::new(width);
        self.end = now;
    }

    /// The present window is that of an instant.
    fn set_window(&mut self, at: Time) {
        self.window = at.as_ps() / self.width_ps;
        self.window_end_ps = (self.window + 1).saturating_mul(self.width_ps);
        self.place_after = ((self.window + 1) % WINDOWS) as usize;
    }

    /// Districts take no turns any more. Gives what they had to do, in any order.
    pub fn unite(&mut self, now: Time) -> Vec<Entry> {
        // It is empty, and goes on from now.
        self.wheel.take_all(now);
        self.owner.clear();
        (self.districts, self.end, self.counts) = (0, Time::ZERO, [0; WINDOWS as usize]);
        let mut entries: Vec<Entry> = core::iter::from_fn(|| self.turn.pop(&mut self.entries)).collect();
        self.turn.finish(&mut self.entries);
        let lists = self.lists.iter_mut().flatten();
        entries.extend(lists.flat_map(|list| self.entries.drain(list)));
        entries.extend(self.far.drain().map(|Reverse(entry)| entry));
        entries
    }

    /// How many districts take turns; none if events come one after the other.
    #[inline]
    pub fn districts(&self) -> usize {
        self.districts
    }

    /// The first node of a district.
    #[inline]
    pub fn first_node(&self, district: usize) -> Option<usize> {
        self.first_nodes.get(district).copied()
    }

    /// Place of the present window among the lists of a district.
    #[inline]
    fn present(&self) -> usize {
        (self.window % WINDOWS) as usize
    }

    /// A district's list of it; an empty one behind the last district.
    #[inline]
    fn present_list(&self, district: usize) -> List {
        self.lists.get(district).map_or(List::EMPTY, |lists| lists[self.present()])
    }

    /// Begins a window, or a first stretch of one, that ends at `end`; gives its start.
    pub fn begin(&mut self, end: Time) -> Time {
        self.set_window(Time::from_ps(end.as_ps() - 1));
        self.end = end;
        let place = self.present();
        while let Some(Reverse(first)) = self.far.peek()
            && first.event.time() < end
        {
            let Some(Reverse(Entry { event, packet })) = self.far.pop() else { break };
            self.put(place, &event, packet);
        }
        Time::from_ps(self.window * self.width_ps)
    }

    /// Puts an event into the list of its district for a window.
    #[inline(always)]
    fn put(&mut self, place: usize, event: &Event, packet: Option<Packet>) {
        let list = &mut self.lists[usize::from(self.owner[event.node() as usize])][place % WINDOWS as usize];
        if list.is_empty() {
            self.counts[place % WINDOWS as usize] += 1;
        }
        self.entries.push(list, event, packet);
    }

    /// A district's events of the present window, as far as they are known, in any order.
    #[inline]
    pub fn known(&self, district: usize) -> impl Iterator<Item = &Listed> {
        self.entries.of(self.present_list(district)).flatten()
    }

    /// Goes through them, to note something with each.
    #[inline]
    pub fn for_each_known(&mut self, district: usize, mut act: impl FnMut(&mut Listed)) {
        let list = self.present_list(district);
        self.entries.for_each(list, |_, entry| act(entry));
    }

    /// To go through them one by one.
    #[inline]
    pub fn cursor(&self, district: usize) -> Cursor {
        Cursor::new(self.present_list(district))
    }

    /// The next one.
    #[inline(always)]
    pub fn next_known(&self, cursor: &mut Cursor) -> Option<&Listed> {
        self.entries.next(cursor)
    }

    /// Has the processor fetch a district's events of the present window.
    #[inline]
    pub fn prefetch_known(&self, district: usize) {
        self.entries.prefetch(self.present_list(district));
    }

    /// Has it fetch where the next events of a neighbour will stand:
    /// what is sent in this window arrives in the next one as a rule.
    #[inline]
    pub fn prefetch_room(&self, node: u32) {
        self.entries.prefetch_end(self.lists[usize::from(self.owner[node as usize])][self.place_after]);
    }

    /// It is a district's turn, from `start` on; whether it has anything to do in this window.
    pub fn enter(&mut self, district: usize, start: Time) -> bool {
        let place = self.present();
        let list = core::mem::replace(&mut self.lists[district][place], List::EMPTY);
        if list.is_empty() {
            return false;
        }
        self.counts[place] -= 1;
        if self.end.as_ps() == self.window_end_ps {
            self.turn.begin(&mut self.entries, start, list);
        } else {
            self.enter_in_part(place, start, list);
        }
        true
    }

    /// The same where a stretch of windows ends within this one: what is later is listed again.
    #[cold]
    fn enter_in_part(&mut self, place: usize, start: Time, mut list: List) {
        self.turn.begin(&mut self.entries, start, List::EMPTY);
        for Entry { event, packet } in self.entries.drain(&mut list) {
            if event.time() < self.end {
                self.turn.push(&mut self.entries, &event, packet);
            } else {
                self.put(place, &event, packet);
            }
        }
    }

    /// A time that no event comes before.
    pub fn next_time(&self) -> Option<Time> {
        if self.owner.is_empty() {
            return self.wheel.next_time();
        }
        let far = self.far.peek().map(|Reverse(entry)| entry.event.time());
        let mut windows = self.window..self.window + WINDOWS;
        let near = windows.find(|window| self.counts[(window % WINDOWS) as usize] > 0);
        let near = near.map(|window| Time::from_ps(window * self.width_ps).max(self.end));
        near.into_iter().chain(far).min()
    }

    /// Takes all events, in any order; districts take no turns. The next ones are expected from `now` on.
    pub fn take_all(&mut self, now: Time) -> Vec<Event> {
        self.wheel.take_all(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::event::Kind;

    const WIDTH_PS: u64 = 1_000;

    proptest! {
        /// Whatever is scheduled, in a window for the same district, behind it for any: each district sees
        /// its events in the order of one heap, and none is lost, also where the last window is cut.
        #[test]
        fn each_district_sees_its_events_in_order(
            first in prop::collection::vec((0_u64..20_000, 0_u32..4), 1..60),
            then in prop::collection::vec((prop::sample::select(vec![0_u64, 1, 3, 400, 999, 1_000, 2_500, 30_000]), 0_u32..4), 60),
            cut_ps in 1_u64..15_000,
        ) {
            let owner = [0, 1, 2, 1];
            let mut agenda = Agenda::new(Span::from_ps(WIDTH_PS));
            let mut heaps: [BinaryHeap<Reverse<Event>>; 3] = Default::default();
            let mut seq = 0;
            let mut new = |time_ps, node| {
                seq += 1;
                Event::new(Time::from_ps(time_ps), Kind::Arrival, node, 0, seq, 0)
            };
            agenda.divide(&owner, Span::from_ps(WIDTH_PS), Time::ZERO);
            for (at, node) in first {
                let event = new(at, node);
                agenda.push(event);
                heaps[owner[node as usize]].push(Reverse(event));
            }
            let mut then = then.into_iter();
            let limit = Time::from_ps(cut_ps);
            while let Some(start) = agenda.next_time().filter(|start| *start < limit) {
                let end = Time::from_ps((start.as_ps() / WIDTH_PS + 1) * WIDTH_PS).min(limit);
                let start = agenda.begin(end);
                for district in 0..agenda.districts() {
                    agenda.enter(district, start);
                    while let Some(Entry { event, .. }) = agenda.pop_turn() {
                        prop_assert!(event.time() < end);
                        prop_assert_eq!(heaps[district].pop(), Some(Reverse(event)));
                        let Some((later, node)) = then.next() else { continue };
                        let at = event.time() + Span::from_ps(later);
                        let event = new(at.as_ps(), if at < end { event.node() } else { node });
                        agenda.push(event);
                        heaps[owner[event.node() as usize]].push(Reverse(event));
                    }
                }
            }
            let mut left: Vec<Event> = agenda.unite(limit).into_iter().map(|entry| entry.event).collect();
            left.sort_unstable();
            let mut expected: Vec<Event> = heaps.into_iter().flatten().map(|Reverse(event)| event).collect();
            expected.sort_unstable();
            prop_assert!(expected.iter().all(|event| event.time() >= limit));
            prop_assert_eq!(left, expected);
        }
    }
}
