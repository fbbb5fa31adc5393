//! Puts a byte stream back in order.
//!
//! Invariant: what is kept lies above `next`, in at most
//! `max_pieces` pieces, and nothing beyond `next + window_bytes`.

use crate::ranges::{Inserted, RangeSet};

/// What became of a range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Insert {
    /// The stream advanced by this many bytes.
    Advanced(u64),
    /// Kept until the bytes before it come.
    Kept,
    /// Every byte was there already.
    Duplicate,
    /// Beyond the window, or no room for another piece; nothing was kept.
    Refused,
}

/// The received part of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    next: u64,
    window_bytes: u64,
    /// What came above `next`.
    pieces: RangeSet,
}

impl Reassembly {
    pub(crate) const fn new(window_bytes: u64, max_pieces: usize) -> Self {
        Self { next: 0, window_bytes, pieces: RangeSet::new(max_pieces) }
    }

    /// The next byte expected.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// The highest byte received, plus one.
    pub(crate) fn highest(&self) -> u64 {
        self.pieces.end().unwrap_or(self.next)
    }

    /// Bytes kept out of order.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.pieces.count()
    }

    /// Whether bytes are kept out of order.
    pub(crate) fn has_holes(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// The piece kept out of order that holds the byte at `position`.
    pub(crate) fn piece_at(&self, position: u64) -> Option<(u64, u64)> {
        if self.pieces.is_empty() { None } else { self.pieces.containing(position) }
    }

    /// Takes the bytes from `start` to `end`, an empty range is a duplicate.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> Insert {
        if end <= self.next || start >= end {
            return Insert::Duplicate;
        }
        if end - self.next > self.window_bytes {
            return Insert::Refused;
        }
        if start <= self.next {
            return self.advance(end);
        }
        match self.pieces.insert(start, end) {
            Inserted::New => Insert::Kept,
            Inserted::Known => Insert::Duplicate,
            Inserted::Full => Insert::Refused,
        }
    }

    fn advance(&mut self, end: u64) -> Insert {
        let before = self.next;
        if self.pieces.is_empty() {
            self.next = end;
            return Insert::Advanced(end - before);
        }
        // Pieces lie apart, so only the one that `end` reaches can stand out above it.
        let reached = self.pieces.iter().take_while(|piece| piece.0 <= end).last();
        self.next = reached.map_or(end, |piece| piece.1.max(end));
        self.pieces.remove_below(self.next);
        Insert::Advanced(self.next - before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hole_filled_releases_what_follows() {
        let mut stream = Reassembly::new(100, 4);
        assert_eq!(stream.insert(10, 20), Insert::Kept);
        assert_eq!(stream.insert(30, 40), Insert::Kept);
        assert_eq!(stream.insert(12, 18), Insert::Duplicate);
        assert_eq!(stream.insert(0, 10), Insert::Advanced(20));
        assert_eq!((stream.next(), stream.kept_bytes()), (20, 10));
        assert_eq!(stream.insert(15, 35), Insert::Advanced(20));
        assert_eq!(stream.insert(0, 40), Insert::Duplicate);
    }

    #[test]
    fn bounds_are_kept() {
        let mut stream = Reassembly::new(100, 2);
        assert_eq!(stream.insert(50, 101), Insert::Refused);
        assert_eq!(stream.insert(10, 11), Insert::Kept);
        assert_eq!(stream.insert(20, 21), Insert::Kept);
        assert_eq!(stream.insert(30, 31), Insert::Refused);
        assert_eq!(stream.insert(11, 20), Insert::Kept);
        assert_eq!((stream.kept_bytes(), stream.highest()), (11, 21));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_bytes(ranges in prop::collection::vec((0_u64..120, 0_u64..20), 0..60)) {
            let mut stream = Reassembly::new(64, 1_000);
            let (mut have, mut next) = ([false; 256], 0_usize);
            for (start, len) in ranges {
                let end = start + len;
                let fits = len == 0 || end <= stream.next() + 64;
                let answer = stream.insert(start, end);
                if fits {
                    let fresh = (start..end).any(|byte| !have[byte as usize]);
                    (start..end).for_each(|byte| have[byte as usize] = true);
                    let before = next;
                    while have[next] {
                        next += 1;
                    }
                    match answer {
                        Insert::Advanced(bytes) => prop_assert_eq!(bytes as usize, next - before),
                        Insert::Kept => prop_assert!(next == before && fresh),
                        Insert::Duplicate => prop_assert!(!fresh),
                        Insert::Refused => prop_assert!(false, "it fits"),
                    }
                } else {
                    prop_assert_eq!(answer, Insert::Refused);
                }
                prop_assert_eq!(stream.next() as usize, next);
                let kept = have[next..].iter().filter(|byte| **byte).count();
                prop_assert_eq!(stream.kept_bytes() as usize, kept);
            }
        }
    }
}
