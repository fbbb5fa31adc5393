//! A hash table from packed keys to numbers, in one array: a key and its number share a cache line.
//!
//! It uses linear probing. A removal moves later keys back, so there are no tombstones. A key belongs to a
//! space, a number that separates equal keys of different masks.
//!
//! Invariants: at most five eighths of the slots are in use, so a search ends at a free one. The hash
//! function is the same on every machine.

/// A tag holds the space above and the value, which is not 0, below.
pub(crate) const SPACE_SHIFT: u32 = 32;

/// Multiplies two words and folds the product: every bit of the result depends on all bits of both.
#[inline]
pub(super) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Digits of pi, so that no usual key is one of them.
const START: u64 = 0x243f_6a88_85a3_08d3;
pub(crate) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Where the space stands in what a hash starts from.
const SEED_SHIFT: u32 = 7;

/// What the hash of a key of a space starts from.
pub(super) fn seed(space: u32) -> u64 {
    START ^ u64::from(space) << SEED_SHIFT
}

/// From keys to numbers.
#[derive(Clone, Debug)]
// In the order of fields: what a search needs comes first.
#[repr(C)]
pub(super) struct Hash {
    /// For each place a tag, 0 if it is free, and the words of the key.
    slots: Vec<u64>,
    /// Number of places less one.
    mask: usize,
    words: usize,
    len: usize,
}

impl Hash {
    /// Place of the places.
    pub const SLOTS: usize = core::mem::offset_of!(Self, slots);
    /// Place of the mask.
    pub const MASK: usize = core::mem::offset_of!(Self, mask);

    /// An empty table for keys of so many words.
    pub fn new(words: usize) -> Self {
        Self { slots: Vec::new(), mask: 0, words, len: 0 }
    }

    /// An empty table that takes so many keys before it grows.
    pub fn with_room(words: usize, keys: usize) -> Self {
        let places = (keys * 8).div_ceil(5).next_power_of_two();
        Self { slots: vec![0; places * (words + 1)], mask: places - 1, words, len: 0 }
    }

    /// Keys in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where the search for a key starts.
    #[inline]
    fn start(&self, space: u32, words: impl Iterator<Item = u64>) -> usize {
        words.fold(seed(space), |hash, word| fold(hash ^ word, MULTIPLIER)) as usize & self.mask
    }

    /// Tag and key of a place.
    #[inline]
    fn slot(&self, at: usize) -> Option<(u64, &[u64])> {
        let slot = self.slots.get(at * (self.words + 1)..(at + 1) * (self.words + 1))?;
        slot.split_first().map(|(&tag, key)| (tag, key))
    }

    /// What a key of one word stands for; 0 if it is not there.
    #[inline]
    pub fn find_word(&self, space: u32, key: u64) -> u32 {
        let slots = self.slots.as_chunks::<2>().0;
        let mut at = self.start(space, core::iter::once(key));
        // Empty tables have no places.
        while let Some(&[tag, stored]) = slots.get(at) {
            if stored == key && (tag >> SPACE_SHIFT) as u32 == space || tag == 0 {
                return tag as u32;
            }
            at = (at + 1) & self.mask;
        }
        0
    }

    /// The same for a key of several words.
    #[inline]
    pub fn find(&self, space: u32, key: impl Iterator<Item = u64> + Clone) -> u32 {
        let mut at = self.start(space, key.clone());
        while let Some((tag, stored)) = self.slot(at) {
            if tag == 0 {
                return 0;
            }
            if (tag >> SPACE_SHIFT) as u32 == space && stored.iter().copied().eq(key.clone()) {
                return tag as u32;
            }
            at = (at + 1) & self.mask;
        }
        0
    }

    /// Where a key is, or else where it would go.
    fn place(&self, space: u32, key: &[u64]) -> Result<usize, usize> {
        let mut at = self.start(space, key.iter().copied());
        loop {
            match self.slot(at) {
                Some((tag, stored)) if tag != 0 => {
                    if (tag >> SPACE_SHIFT) as u32 == space && stored == key {
                        return Ok(at);
                    }
                }
                _ => return Err(at),
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Lets a key stand for a value, which is not 0.
    pub fn set(&mut self, space: u32, key: &[u64], value: u32) {
        debug_assert!(value != 0 && key.len() == self.words);
        let tag = u64::from(space) << SPACE_SHIFT | u64::from(value);
        let at = match self.place(space, key) {
            Ok(at) => at,
            Err(at) => {
                self.len += 1;
                if self.fits(self.len) {
                    at
                } else {
                    self.grow();
                    let (Ok(at) | Err(at)) = self.place(space, key);
                    at
                }
            }
        };
        let stride = self.words + 1;
        self.slots[at * stride] = tag;
        self.slots[at * stride + 1..(at + 1) * stride].copy_from_slice(key);
    }

    fn fits(&self, len: usize) -> bool {
        !self.slots.is_empty() && len * 8 <= (self.mask + 1) * 5
    }

    /// Makes room for one key more and as many again.
    fn grow(&mut self) {
        let places = if self.slots.is_empty() { 4 } else { (self.mask + 1) * 2 };
        let stride = self.words + 1;
        let old = core::mem::replace(&mut self.slots, vec![0; places * stride]);
        self.mask = places - 1;
        for slot in old.chunks_exact(stride).filter(|slot| slot[0] != 0) {
            let (Ok(at) | Err(at)) = self.place((slot[0] >> SPACE_SHIFT) as u32, &slot[1..]);
            self.slots[at * stride..(at + 1) * stride].copy_from_slice(slot);
        }
    }

    /// Whether the next key makes the table grow.
    pub fn is_full(&self) -> bool {
        !self.fits(self.len + 1)
    }

    /// Forgets a key.
    pub fn remove(&mut self, space: u32, key: &[u64]) {
        let Ok(mut hole) = self.place(space, key) else { return };
        self.len -= 1;
        let stride = self.words + 1;
        let mut at = hole;
        loop {
            at = (at + 1) & self.mask;
            let Some((tag, key)) = self.slot(at).filter(|slot| slot.0 != 0) else { break };
            let home = self.start((tag >> SPACE_SHIFT) as u32, key.iter().copied());
            // It moves into the hole if its search passes there: its home is not between hole and place.
            if at.wrapping_sub(home) & self.mask >= at.wrapping_sub(hole) & self.mask {
                self.slots.copy_within(at * stride..(at + 1) * stride, hole * stride);
                hole = at;
            }
        }
        self.slots[hole * stride..(hole + 1) * stride].fill(0);
    }

    /// All keys with their spaces and values, in no order of meaning.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u64], u32)> {
        let taken = self.slots.chunks_exact(self.words + 1).filter(|slot| slot[0] != 0);
        taken.map(|slot| ((slot[0] >> SPACE_SHIFT) as u32, &slot[1..], slot[0] as u32))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_an_ordered_map(
            words in 1usize..4,
            // Few keys, so that they come and go in one run of places.
            steps in proptest::collection::vec((0u32..3, 0u64..24, any::<bool>()), 1..200),
        ) {
            let mut hash = Hash::new(words);
            let mut model = BTreeMap::new();
            let key = |low: u64| (0..words as u64).map(|at| low << (at * 20)).collect::<Vec<_>>();
            for (value, (space, low, insert)) in (1u32..).zip(steps) {
                if insert {
                    hash.set(space, &key(low), value);
                    model.insert((space, low), value);
                } else {
                    hash.remove(space, &key(low));
                    model.remove(&(space, low));
                }
                prop_assert_eq!(hash.len(), model.len());
                for (space, low) in (0..3).flat_map(|space| (0..24).map(move |low| (space, low))) {
                    let (key, wanted) = (key(low), model.get(&(space, low)).copied().unwrap_or(0));
                    let found = match words {
                        1 => hash.find_word(space, key[0]),
                        _ => hash.find(space, key.iter().copied()),
                    };
                    prop_assert_eq!(found, wanted);
                }
            }
            prop_assert_eq!(hash.iter().count(), model.len());
        }
    }
}
