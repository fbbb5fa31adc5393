//! Buckets of waiting events, each with the packet that arrives by it, in memory that all buckets share.
//!
//! A bucket is written once and read once, and by then the processor's near caches have lost it. A bucket
//! with memory of its own would keep the size of its largest epoch. So a bucket is a chain of chunks from one
//! pool. The chunk that was freed last, which is still in a near cache, is written next.
//!
//! Invariants: a chunk is in one bucket or free; behind the end of a bucket, and in free chunks, there is no
//! packet.

use core::ops::Range;
use std::cmp::Ordering;
use std::mem::ManuallyDrop;

use p4cc_switch::Packet;
use p4cc_switch::prefetch::prefetch_start;
use p4cc_units::Time;

use super::event::Event;

/// An event and, for an arrival in a batch, the packet: packets on links wait in buckets then.
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

/// The index of no entry.
pub(crate) const NONE: u32 = u32::MAX;
/// Entries of a chunk.
const CHUNK: usize = 16;

/// An entry as a bucket stores it: two fill a line of the processor's cache.
#[derive(Debug)]
#[repr(align(32))]
pub(crate) struct BucketEntry {
    time: Time,
    below: u64,
    subject: u32,
    /// In a [batch](super::batch), the next entry of the slot; before that, free for the prefetcher to note a
    /// flow.
    pub next: u32,
    /// Dropped by [`BucketPool`], so that an entry that was taken is overwritten without a check.
    packet: ManuallyDrop<Option<Packet>>,
}

impl BucketEntry {
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

    /// The order of events: by time, then by the rest of the key.
    #[inline]
    pub fn key(&self) -> (Time, u64) {
        (self.time, self.below)
    }

    #[inline(always)]
    fn take_packet(&mut self) -> Option<Packet> {
        ManuallyDrop::into_inner(core::mem::replace(&mut self.packet, ManuallyDrop::new(None)))
    }

    /// Takes the event and the packet out; the entry stays unused until its bucket is given back.
    #[inline(always)]
    pub fn take(&mut self) -> Entry {
        Entry { event: self.event(), packet: self.take_packet() }
    }
}

/// A bucket: its first chunk, and the index of its next entry. The index is a multiple of a chunk's size at
/// the end of a chunk and in an empty bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    first: u32,
    end: u32,
}

impl Bucket {
    pub const EMPTY: Self = Self { first: NONE, end: 0 };

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// A position in a bucket on the way to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    place: u32,
    end: u32,
}

impl Cursor {
    /// The first entry of a bucket; entries added later are not visited.
    #[inline]
    pub fn new(bucket: Bucket) -> Self {
        let place = if bucket.is_empty() { bucket.end } else { bucket.first * CHUNK as u32 };
        Self { place, end: bucket.end }
    }
}

/// The entries of all buckets.
#[derive(Default, Debug)]
pub(crate) struct BucketPool {
    entries: Vec<BucketEntry>,
    /// For each chunk, the next one of its bucket.
    after: Vec<u32>,
    free: Vec<u32>,
}

impl BucketPool {
    /// Adds an event at the end of a bucket; returns its index.
    #[inline(always)]
    pub fn push(&mut self, bucket: &mut Bucket, event: &Event, packet: Option<Packet>) -> u32 {
        if (bucket.end as usize).is_multiple_of(CHUNK) {
            self.open_chunk(bucket);
        }
        let place = bucket.end;
        bucket.end += 1;
        let (time, below, subject) = (event.time(), event.below(), event.subject);
        self.entries[place as usize] =
            BucketEntry { time, below, subject, next: NONE, packet: ManuallyDrop::new(packet) };
        place
    }

    /// Appends a chunk to a bucket whose last chunk is full, or that has none.
    #[inline(never)]
    fn open_chunk(&mut self, bucket: &mut Bucket) {
        let chunk = self.free.pop().unwrap_or_else(|| {
            self.entries.extend(core::iter::repeat_with(|| BucketEntry::FREE).take(CHUNK));
            self.after.push(NONE);
            self.after.len() as u32 - 1
        });
        if bucket.is_empty() {
            bucket.first = chunk;
        } else {
            self.after[bucket.end as usize / CHUNK - 1] = chunk;
        }
        bucket.end = chunk * CHUNK as u32;
    }

    /// The entry at an index.
    #[inline]
    pub fn at(&self, place: u32) -> &BucketEntry {
        &self.entries[place as usize]
    }

    /// The entry at an index, to take it or to link it.
    #[inline(always)]
    pub fn at_mut(&mut self, place: u32) -> &mut BucketEntry {
        &mut self.entries[place as usize]
    }

    /// Takes out all entries of a bucket and gives its chunks back.
    pub fn drain(&mut self, bucket: &mut Bucket) -> Vec<Entry> {
        let places: Vec<usize> = chunks(&self.after, *bucket).flatten().collect();
        let entries = places.into_iter().map(|place| self.entries[place].take()).collect();
        self.give_back(bucket);
        entries
    }

    /// Gives back the chunks of a bucket whose entries were taken.
    pub fn give_back(&mut self, bucket: &mut Bucket) {
        debug_assert!(self.of(*bucket).flatten().all(|entry| entry.packet.is_none()));
        self.free.extend(chunks(&self.after, *bucket).map(|places| (places.start / CHUNK) as u32));
        *bucket = Bucket::EMPTY;
    }

    /// The entry at a cursor, which moves on; the bucket must not change meanwhile.
    #[inline(always)]
    pub fn next(&self, cursor: &mut Cursor) -> Option<&BucketEntry> {
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

    /// The entries of a bucket, chunk by chunk.
    #[inline]
    pub fn of(&self, bucket: Bucket) -> impl Iterator<Item = &[BucketEntry]> {
        chunks(&self.after, bucket).map(|places| &self.entries[places])
    }

    /// Calls `act` with each entry of a bucket and its index.
    #[inline(always)]
    pub fn for_each(&mut self, bucket: Bucket, mut act: impl FnMut(u32, &mut BucketEntry)) {
        for places in chunks(&self.after, bucket) {
            let first = places.start as u32;
            (first..).zip(&mut self.entries[places]).for_each(|(place, entry)| act(place, entry));
        }
    }

    /// Prefetches the entries of a bucket.
    #[inline]
    pub fn prefetch(&self, bucket: Bucket) {
        for entries in self.of(bucket) {
            for pair in entries.chunks(2) {
                prefetch_start(pair);
            }
        }
    }

    /// Prefetches the memory of the next entries of a bucket.
    #[inline]
    pub fn prefetch_end(&self, bucket: Bucket) {
        let end = bucket.end as usize;
        if let Some(entries) = self.entries.get(end..end + 3) {
            prefetch_start(&entries[0]);
            prefetch_start(&entries[2]);
        }
    }
}

impl Drop for BucketPool {
    fn drop(&mut self) {
        self.entries.iter_mut().for_each(|entry| drop(entry.take_packet()));
    }
}

/// The indices of a bucket's entries, chunk by chunk.
#[inline]
fn chunks(after: &[u32], bucket: Bucket) -> impl Iterator<Item = Range<usize>> {
    // An empty bucket ends before its first chunk does.
    let end = bucket.end as usize;
    let last = end.wrapping_sub(1) / CHUNK;
    let mut next = (!bucket.is_empty()).then_some(bucket.first as usize);
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
        /// Buckets that grow and are emptied in any order hold what was put there, and memory is used again.
        #[test]
        fn buckets_hold_what_was_put_there(steps in prop::collection::vec((0_usize..4, 0_u32..40), 1..100)) {
            let mut pool = BucketPool::default();
            let mut all = core::array::from_fn::<_, 4, _>(|_| (Bucket::EMPTY, Vec::new()));
            let (mut number, mut most) = (0, 0);
            for (which, more) in steps {
                let (bucket, held) = &mut all[which];
                if more < 10 {
                    let taken: Vec<u32> = pool.drain(bucket).into_iter().map(|entry| entry.event.subject).collect();
                    prop_assert_eq!(taken, core::mem::take(held));
                    prop_assert!(bucket.is_empty());
                }
                for _ in 0..more {
                    number += 1;
                    let packet = Packet::new(&[1], number);
                    let place = pool.push(bucket, &event(number), Some(packet));
                    held.push(number);
                    prop_assert_eq!(pool.at(place).event(), event(number));
                    prop_assert_eq!(pool.at(place).packet().map(|packet| packet.zeros), Some(number));
                }
                let chunks = all.iter().map(|(_, held)| held.len().div_ceil(CHUNK)).sum::<usize>();
                most = most.max(chunks);
                prop_assert_eq!(pool.after.len(), most);
            }
        }
    }
}
