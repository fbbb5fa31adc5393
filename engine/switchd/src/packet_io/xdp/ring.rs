//! One of the four rings that an AF_XDP socket shares with the kernel (the kernel's documentation, "AF_XDP").
//!
//! A ring has one producer and one consumer, the kernel and we in either
//! order. Each writes its own index only, behind the entries that it is done with.

#![allow(unsafe_code, reason = "memory shared with the kernel; each use states its proof")]

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::xdp_ring_offset;

use super::super::sys::Mapping;

/// What a ring holds. Unsafe to implement for types that not any bytes are a value of.
///
/// # Safety
/// The type is `Copy`, without padding, and any bytes are a value of it.
pub(super) unsafe trait Entry: Copy {}
// SAFETY: an integer.
unsafe impl Entry for u64 {}
// SAFETY: integers of 8, 4 and 4 bytes.
unsafe impl Entry for libc::xdp_desc {}

/// A ring whose other end is the kernel's.
pub(super) struct Ring<T> {
    mapping: Mapping,
    producer_at: usize,
    consumer_at: usize,
    entries: NonNull<T>,
    size: u32,
    /// Our index, which the other end may not know yet.
    ours: u32,
    /// The other end's, as it was seen last.
    theirs: u32,
}

// SAFETY: the entries lie in the mapping, which may change threads; all access takes `&mut` or reads indices
// as atomics.
unsafe impl<T: Entry> Send for Ring<T> {}

impl<T: Entry> Ring<T> {
    /// Maps a ring of so many entries, a power of two, for which its socket's option was set.
    pub fn map(fd: &OwnedFd, page: u64, offsets: &xdp_ring_offset, size: u32) -> io::Result<Self> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let (producer_at, consumer_at) = (offsets.producer as usize, offsets.consumer as usize);
        let entries_at = offsets.desc as usize;
        let bytes = size_of::<T>().checked_mul(size as usize).and_then(|bytes| bytes.checked_add(entries_at));
        let bytes = bytes.ok_or_else(invalid)?;
        let is_index = |at: usize| at.is_multiple_of(4) && at + 4 <= entries_at;
        if !size.is_power_of_two()
            || !is_index(producer_at)
            || !is_index(consumer_at)
            || !entries_at.is_multiple_of(align_of::<T>())
        {
            return Err(invalid());
        }
        let mapping = Mapping::of(fd, page as libc::off_t, bytes)?;
        // SAFETY: `entries_at <= bytes`, which are mapped.
        let entries = unsafe { mapping.base().add(entries_at) }.cast::<T>();
        Ok(Self { mapping, producer_at, consumer_at, entries, size, ours: 0, theirs: 0 })
    }

    #[inline]
    fn index(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is one of the two places that `map` checked: aligned, inside the mapping, which lives
        // as long as `self`, and only ever accessed as an atomic.
        unsafe { AtomicU32::from_ptr(self.mapping.base().as_ptr().add(at).cast::<u32>()) }
    }

    #[inline]
    fn entry(&self, index: u32) -> NonNull<T> {
        // SAFETY: the remainder is less than `size`, and as many entries are mapped.
        unsafe { self.entries.add((index & (self.size - 1)) as usize) }
    }

    // ---- as its producer

    /// Puts in one more entry, which the kernel sees after [`Self::publish`]; false where the ring is full.
    #[inline]
    pub fn push(&mut self, value: T) -> bool {
        if self.unused() == 0 {
            return false;
        }
        // SAFETY: an aligned place inside the mapping; the consumer has passed it
        // (`unused`) and looks at it again after `publish` only.
        unsafe { self.entry(self.ours).write(value) };
        self.ours = self.ours.wrapping_add(1);
        true
    }

    /// Entries that there is room for.
    #[inline]
    fn unused(&mut self) -> u32 {
        if self.ours.wrapping_sub(self.theirs) >= self.size {
            self.theirs = self.index(self.consumer_at).load(Ordering::Acquire);
        }
        self.size.saturating_sub(self.ours.wrapping_sub(self.theirs))
    }

    /// Lets the kernel see what was put in.
    #[inline]
    pub fn publish(&self) {
        self.index(self.producer_at).store(self.ours, Ordering::Release);
    }

    /// Entries that the kernel has not taken yet.
    #[inline]
    pub fn left(&mut self) -> u32 {
        self.theirs = self.index(self.consumer_at).load(Ordering::Acquire);
        self.ours.wrapping_sub(self.theirs).min(self.size)
    }

    /// Takes the entries back that the kernel has not taken, the last one first. Only for a ring whose
    /// kernel end runs in calls of this thread, and so not now, and that has not looked at them.
    pub fn withdraw(&mut self, mut f: impl FnMut(T)) {
        for _ in 0..self.left() {
            self.ours = self.ours.wrapping_sub(1);
            // SAFETY: an aligned place inside the mapping, written by `push`; any bytes are a value.
            f(unsafe { self.entry(self.ours).read() });
        }
        self.publish();
    }

    // ---- as its consumer

    /// The next entry, which stays the ring's until [`Self::release`].
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.ours == self.theirs {
            self.theirs = self.index(self.producer_at).load(Ordering::Acquire);
            if self.ours == self.theirs {
                return None;
            }
        }
        // SAFETY: an aligned place inside the mapping, written by the producer before it set its index, which
        // was loaded to acquire it; any bytes are a value.
        let value = unsafe { self.entry(self.ours).read() };
        self.ours = self.ours.wrapping_add(1);
        Some(value)
    }

    /// The entry after the one that was taken last, if the producer is known to have put one in.
    #[inline]
    pub fn peek(&self) -> Option<T> {
        // SAFETY: as in `pop`; the entry is one of those that its load acquired.
        (self.ours != self.theirs).then(|| unsafe { self.entry(self.ours).read() })
    }

    /// Gives the entries that were taken back to the producer.
    #[inline]
    pub fn release(&self) {
        self.index(self.consumer_at).store(self.ours, Ordering::Release);
    }
}
