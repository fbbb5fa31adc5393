//! Lists of events that wait, each with the packet that arrives by it, in memory that all lists share.
//!
//! A list is written once and read once, and by then the processor's near caches have lost it. So a list has
//! no memory of its own, which would be as large as it ever was: it is made of chunks of one pool, and the
//! chunk that was given back last, which is still near, is written next.
//!
//! Invariants: a chunk is in one list or free; what is
//! behind the end of a list, or in no list, has no packet.

use core::ops::Range;
use std::cmp::Ordering;
use std::mem::ManuallyDrop;

use p4cc_switch::Packet;
use p4cc_switch::prefetch::prefetch_start;
use p4cc_units::Time;

use crate::events::event::Event;

/// An event, and the packet that arrives by it: where districts take turns, packets on links wait here.
#[derive(Debug)]
pub(crate) struct Entry {
    pub event: Event,
    pub packet: Option<Packet>,
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

/// No place of an entry.
pub(crate) const NONE: u32 = u32::MAX;
/// Entries of a chunk.
const CHUNK: usize = 16;

/// An entry in a list: two to a line of the processor's cache.
#[derive(Debug)]
#[repr(align(32))]
pub(crate) struct Listed {
    time: Time,
    below: u64,
    subject: u32,
    /// The next one of its slot, while it is in a [turn](crate::events::batch);
    /// before that for [looking ahead](crate::parallel::prefetch).
    pub next: u32,
    /// Freed by [`Lists`]: an entry that was taken is written over without a look at what it was.
    packet: ManuallyDrop<Option<Packet>>,
}

impl Listed {
    const FREE: Self =
        Self { time: Time::ZERO, below: 0, subject: 0, next: NONE, packet: ManuallyDrop::new(None) };

    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }

    #[inline]
    pub fn event(&self) -> Event {
        Event::from_key(self.time, self.below, self.subject)
    }

    #[inline]
    pub fn packet(&self) -> Option<&Packet> {
        self.packet.as_ref()
    }

    /// What decides the order of events.
    #[inline]
    pub fn key(&self) -> (Time, u64) {
        (self.time, self.below)
    }

    #[inline(always)]
    fn take_packet(&mut self) -> Option<Packet> {
        ManuallyDrop::into_inner(core::mem::replace(&mut self.packet, ManuallyDrop::new(None)))
    }

    /// Takes out what is listed; the place stays free until its list is given back.
    #[inline(always)]
    pub fn take(&mut self) -> Entry {
        Entry { event: self.event(), packet: self.take_packet() }
    }
}

/// A list: its first chunk, and where its next entry goes. At the end of
/// a chunk, and while it is empty, that is a multiple of a chunk's size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    first: u32,
    end: u32,
}

impl List {
    pub const EMPTY: Self = Self { first: NONE, end: 0 };

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// A place in a list on the way to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    place: u32,
    end: u32,
}

impl Cursor {
    /// From the beginning of a list on, as it is now.
    #[inline]
    pub fn new(list: List) -> Self {
        let place = if list.is_empty() { list.end } else { list.first * CHUNK as u32 };
        Self { place, end: list.end }
    }
}

/// The entries of all lists.
#[derive(Default, Debug)]
pub(crate) struct Lists {
    entries: Vec<Listed>,
    /// The chunk behind each.
    after: Vec<u32>,
    free: Vec<u32>,
}

impl Lists {
    /// Adds an event at the end of a list; gives its place.
    #[inline(always)]
    pub fn push(&mut self, list: &mut List, event: &Event, packet: Option<Packet>) -> u32 {
        if (list.end as usize).is_multiple_of(CHUNK) {
            self.open_chunk(list);
        }
        let place = list.end;
        list.end += 1;
        let (time, below, subject) = (event.time(), event.below(), event.subject);
        self.entries[place as usize] =
            Listed { time, below, subject, next: NONE, packet: ManuallyDrop::new(packet) };
        place
    }

    /// Gives a list whose last chunk is full, or that has none, another one.
    #[inline(never)]
    fn open_chunk(&mut self, list: &mut List) {
        let chunk = self.free.pop().unwrap_or_else(|| {
            self.entries.extend(core::iter::repeat_with(|| Listed::FREE).take(CHUNK));
            self.after.push(NONE);
            self.after.len() as u32 - 1
        });
        if list.is_empty() {
            list.first = chunk;
        } else {
            self.after[list.end as usize / CHUNK - 1] = chunk;
        }
        list.end = chunk * CHUNK as u32;
    }

    /// The entry at a place.
    #[inline]
    pub fn at(&self, place: u32) -> &Listed {
        &self.entries[place as usize]
    }

    /// The same, to take or to link.
    #[inline(always)]
    pub fn at_mut(&mut self, place: u32) -> &mut Listed {
        &mut self.entries[place as usize]
    }

    /// Takes out all entries of a list and gives its chunks back.
    pub fn drain(&mut self, list: &mut List) -> Vec<Entry> {
        let places: Vec<usize> = chunks(&self.after, *list).flatten().collect();
        let entries = places.into_iter().map(|place| self.entries[place].take()).collect();
        self.give_back(list);
        entries
    }

    /// Gives back the chunks of a list whose entries were taken.
    pub fn give_back(&mut self, list: &mut List) {
        debug_assert!(self.of(*list).flatten().all(|entry| entry.packet.is_none()));
        self.free.extend(chunks(&self.after, *list).map(|places| (places.start / CHUNK) as u32));
        *list = List::EMPTY;
    }

    /// The next entry on the way through a list, if nobody changed it meanwhile.
    #[inline(always)]
    pub fn next(&self, cursor: &mut Cursor) -> Option<&Listed> {
        if cursor.place == cursor.end {
            return None;
        }
        let entry = &self.entries[cursor.place as usize];
        cursor.place += 1;
        if (cursor.place as usize).is_multiple_of(CHUNK) && cursor.place != cursor.end {
            cursor.place = self.after[cursor.place as usize / CHUNK - 1] * CHUNK as u32;
        }
        Some(entry)
    }

    /// The entries of a list, chunk by chunk.
    #[inline]
    pub fn of(&self, list: List) -> impl Iterator<Item = &[Listed]> {
        chunks(&self.after, list).map(|places| &self.entries[places])
    }

    /// Goes through the entries of a list with their places.
    #[inline(always)]
    pub fn for_each(&mut self, list: List, mut act: impl FnMut(u32, &mut Listed)) {
        for places in chunks(&self.after, list) {
            let first = places.start as u32;
            (first..).zip(&mut self.entries[places]).for_each(|(place, entry)| act(place, entry));
        }
    }

    /// Has the processor fetch a list.
    #[inline]
    pub fn prefetch(&self, list: List) {
        for entries in self.of(list) {
            for pair in entries.chunks(2) {
                prefetch_start(pair);
            }
        }
    }

    /// Has it fetch where the next entries of a list will stand.
    #[inline]
    pub fn prefetch_end(&self, list: List) {
        let end = list.end as usize;
        if let Some(entries) = self.entries.get(end..end + 3) {
            prefetch_start(&entries[0]);
            prefetch_start(&entries[2]);
        }
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        self.entries.iter_mut().for_each(|entry| drop(entry.take_packet()));
    }
}

/// The places of a list's entries, chunk by chunk.
#[inline]
fn chunks(after: &[u32], list: List) -> impl Iterator<Item = Range<usize>> {
    // An empty list ends before its first chunk does.
    let end = list.end as usize;
    let last = end.wrapping_sub(1) / CHUNK;
    let mut next = (!list.is_empty()).then_some(list.first as usize);
    core::iter::from_fn(move || {
        let chunk = next?;
        next = (chunk != last).then(|| after[chunk] as usize);
        Some(chunk * CHUNK..if chunk == last { end } else { (chunk + 1) * CHUNK })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::event::Kind;

    fn event(subject: u32) -> Event {
        Event::new(Time::from_ps(7), Kind::Timer, 3, 1, u64::from(subject), subject)
    }

    proptest! {
        /// Whatever lists grow and are emptied by turns, each
        /// holds what was put there, and memory is used again.
        #[test]
        fn lists_hold_what_was_put_there(steps in prop::collection::vec((0_usize..4, 0_u32..40), 1..100)) {
            let mut lists = Lists::default();
            let mut all = core::array::from_fn::<_, 4, _>(|_| (List::EMPTY, Vec::new()));
            let (mut number, mut most) = (0, 0);
            for (which, more) in steps {
                let (list, held) = &mut all[which];
                if more < 10 {
                    let taken: Vec<u32> = lists.drain(list).into_iter().map(|entry| entry.event.subject).collect();
                    prop_assert_eq!(taken, core::mem::take(held));
                    prop_assert!(list.is_empty());
                }
                for _ in 0..more {
                    number += 1;
                    let packet = Packet::new(&[1], number);
                    let place = lists.push(list, &event(number), Some(packet));
                    held.push(number);
                    prop_assert_eq!(lists.at(place).event(), event(number));
                    prop_assert_eq!(lists.at(place).packet().map(|packet| packet.zeros), Some(number));
                }
                let chunks = all.iter().map(|(_, held)| held.len().div_ceil(CHUNK)).sum::<usize>();
                most = most.max(chunks);
                prop_assert_eq!(lists.after.len(), most);
            }
        }
    }
}
