//! A set of numbers kept as ranges: bytes above a hole at the receiver, reported segments at the sender.
//!
//! Invariant: ranges are half-open, not empty, sorted and
//! apart from each other; at most `max_ranges` of them.

/// What became of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inserted {
    /// At least one number is new.
    New,
    /// Every number was there already.
    Known,
    /// No room for another range; nothing was kept.
    Full,
}

/// The set.
#[derive(Clone, Debug)]
pub(crate) struct RangeSet {
    ranges: Vec<(u64, u64)>,
    max_ranges: usize,
}

impl RangeSet {
    pub(crate) const fn new(max_ranges: usize) -> Self {
        Self { ranges: Vec::new(), max_ranges }
    }

    /// Adds `start..end`; an empty range is known.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> Inserted {
        if start >= end {
            return Inserted::Known;
        }
        // Ranges that touch [start, end): those that end at or after start and begin at or before end.
        let first = self.ranges.partition_point(|range| range.1 < start);
        let last = self.ranges.partition_point(|range| range.0 <= end);
        if first == last {
            if self.ranges.len() >= self.max_ranges {
                return Inserted::Full;
            }
            self.ranges.insert(first, (start, end));
            return Inserted::New;
        }
        let merged = (start.min(self.ranges[first].0), end.max(self.ranges[last - 1].1));
        if last - first == 1 && self.ranges[first] == merged {
            return Inserted::Known;
        }
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..last);
        Inserted::New
    }

    /// Removes all numbers below `bound`.
    pub(crate) fn remove_below(&mut self, bound: u64) {
        let gone = self.ranges.partition_point(|range| range.1 <= bound);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(bound);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The range that holds `number`.
    pub(crate) fn containing(&self, number: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|range| range.1 <= number);
        self.ranges.get(at).copied().filter(|range| range.0 <= number)
    }

    /// One past the largest number.
    pub(crate) fn end(&self) -> Option<u64> {
        self.ranges.last().map(|range| range.1)
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        self.iter().map(|(start, end)| end - start).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, rising.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bound_counts_ranges() {
        let mut set = RangeSet::new(2);
        assert_eq!((set.insert(10, 11), set.insert(20, 21)), (Inserted::New, Inserted::New));
        assert_eq!(set.insert(30, 31), Inserted::Full);
        assert_eq!(set.insert(11, 20), Inserted::New);
        assert_eq!((set.count(), set.end()), (11, Some(21)));
        assert_eq!((set.containing(10), set.containing(21)), (Some((10, 21)), None));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(steps in prop::collection::vec((0_u64..100, 0_u64..12, any::<bool>()), 0..60)) {
            let (mut set, mut want) = (RangeSet::new(1_000), BTreeSet::new());
            for (start, len, remove) in steps {
                if remove {
                    set.remove_below(start);
                    want = want.split_off(&start);
                } else {
                    let fresh = (start..start + len).filter(|number| want.insert(*number)).count() > 0;
                    let wanted = if fresh { Inserted::New } else { Inserted::Known };
                    prop_assert_eq!(set.insert(start, start + len), wanted);
                }
                let got: Vec<u64> = set.iter().flat_map(|(start, end)| start..end).collect();
                prop_assert_eq!(got, want.iter().copied().collect::<Vec<_>>());
                let apart: Vec<_> = set.iter().collect();
                prop_assert!(apart.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert_eq!(set.count(), want.len() as u64);
            }
        }
    }
}
