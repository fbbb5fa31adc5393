//! Tuple space search (Srinivasan, Suri, Varghese: "Packet Classification using Tuple Space Search", SIGCOMM
//! 1999).
//!
//! The entries of one mask form a tuple, and one look into a hash table finds a match among them. Tuples are
//! searched in descending order of their best rank, until no tuple left can hold a better entry than the one
//! found.
//!
//! Longest-prefix match is the case of one rank per mask. A range is stored in the blocks of keys that cover
//! it, and compared when its block is found.
//!
//! Invariants: a tuple's `best` is at least the rank of each of its entries. `order` names exactly the tuples
//! in use.

use core::cmp::Reverse;
use std::collections::BTreeMap;

use super::hash::Hash;
use super::pattern::{Pattern, Ranges};

/// Entries of one value and mask, from the best: by rank, then by age.
type List = BTreeMap<(Reverse<u32>, u64), u32>;

/// Set in a value of the hash that is the number of a list, not a row.
const LIST: u32 = 1 << 31;

/// Removals after which ranks are looked at again, besides as many as there are blocks.
const MIN_STALE: usize = 64;

/// Entries by mask.
#[derive(Clone, Debug)]
// In the order of fields: what a search begins with is a line of the processor's cache.
#[repr(C, align(64))]
pub(super) struct Tuples {
    /// What the search begins with.
    first: First,
    /// From tuple and masked key to a row or a list.
    hash: Hash,
    /// Every entry of a mask has the same rank and another value.
    longest: bool,
    words: usize,
    /// Masks of the tuples, `words` each.
    masks: Vec<u64>,
    /// The tuples in use, the best one last.
    order: Vec<RankedTuple>,
    /// By tuple.
    counts: Vec<Count>,
    free: Vec<u32>,
    by_mask: BTreeMap<Box<[u64]>, u32>,
    /// By row: rank and age.
    precedence: Vec<(u32, u64)>,
    /// By row, as far as entries have ranges.
    ranges: Vec<Option<Box<Ranges>>>,
    lists: Vec<List>,
    free_lists: Vec<u32>,
    next_age: u64,
    /// Removals since ranks were looked at.
    stale: usize,
}

/// A tuple in the order of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedTuple {
    best: u32,
    tuple: u32,
}

/// The best tuple, where keys are of one word.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct First {
    mask: u64,
    /// What the hash of its keys starts from.
    seed: u64,
    tuple: u64,
}

impl First {
    /// None is in use: there is no tuple of this number.
    const NONE: Self = Self { mask: 0, seed: 0, tuple: u64::MAX };
    /// Places of its fields.
    pub const MASK: usize = core::mem::offset_of!(Self, mask);
    pub const SEED: usize = core::mem::offset_of!(Self, seed);
    pub const TUPLE: usize = core::mem::offset_of!(Self, tuple);
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    blocks: u32,
    /// At least the rank of each entry.
    best: u32,
}

impl Tuples {
    /// Place of the tuple that is looked into first.
    pub const FIRST: usize = core::mem::offset_of!(Self, first);
    /// Place of the hash.
    pub const HASH: usize = core::mem::offset_of!(Self, hash);

    /// An empty index; `longest` if the rank of an entry is the length of its one prefix.
    pub fn new(words: usize, longest: bool) -> Self {
        Self {
            longest,
            words,
            hash: Hash::new(words),
            masks: Vec::new(),
            order: Vec::new(),
            first: First::NONE,
            counts: Vec::new(),
            free: Vec::new(),
            by_mask: BTreeMap::new(),
            precedence: Vec::new(),
            ranges: Vec::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
            next_age: 0,
            stale: 0,
        }
    }

    /// The best row that matches a key of one word; 0 if there is none.
    #[inline]
    pub fn find_word(&self, key: u64) -> u32 {
        if self.longest { self.longest_word(key) } else { self.best_word(key) }
    }

    /// Longest prefixes have neither ranges nor lists: the first one found is the best.
    #[inline(always)]
    fn longest_word(&self, key: u64) -> u32 {
        for step in self.order.iter().rev() {
            let Some(&mask) = self.masks.get(step.tuple as usize) else { break };
            let row = self.hash.find_word(step.tuple, key & mask);
            if row != 0 {
                return row;
            }
        }
        0
    }

    #[inline(never)]
    fn best_word(&self, key: u64) -> u32 {
        let look = |tuple: u32| {
            let mask = self.masks.get(tuple as usize).copied().unwrap_or(0);
            self.hash.find_word(tuple, key & mask)
        };
        self.best(&[key], look)
    }

    /// The same for a key of several words.
    pub fn find(&self, key: &[u64]) -> u32 {
        let look = |tuple: u32| {
            let masks = self.masks.get(tuple as usize * self.words..).unwrap_or_default();
            self.hash.find(tuple, key.iter().zip(masks).map(|(key, mask)| key & mask))
        };
        self.best(key, look)
    }

    /// The best row; `look` gives what the hash holds for a tuple.
    #[inline(always)]
    fn best(&self, key: &[u64], look: impl Fn(u32) -> u32) -> u32 {
        let plain = self.ranges.is_empty();
        let row_of = |tuple: u32| {
            let found = look(tuple);
            if plain && found & LIST == 0 { found } else { self.check(found, key) }
        };
        let mut row = 0;
        let mut best = (0, 0);
        for step in self.order.iter().rev() {
            if row != 0 && step.best < best.0 {
                break;
            }
            let other = row_of(step.tuple);
            if other == 0 {
                continue;
            }
            if self.longest {
                return other;
            }
            let rank = self.rank(other);
            if row == 0 || rank.0 > best.0 || rank.0 == best.0 && rank.1 < best.1 {
                (row, best) = (other, rank);
            }
        }
        row
    }

    /// The first row that a value of the hash stands for and whose ranges match.
    fn check(&self, found: u32, key: &[u64]) -> u32 {
        let passes = |row: u32| match self.ranges.get(row as usize) {
            Some(Some(ranges)) => ranges.matches(key),
            _ => true,
        };
        if found & LIST == 0 {
            return if passes(found) { found } else { 0 };
        }
        let list = self.lists.get((found & !LIST) as usize);
        list.and_then(|list| list.values().copied().find(|&row| passes(row))).unwrap_or(0)
    }

    fn rank(&self, row: u32) -> (u32, u64) {
        self.precedence.get(row as usize).copied().unwrap_or_default()
    }

    /// Adds an entry with a new row.
    pub fn insert(&mut self, pattern: Pattern, rank: u32, row: u32) {
        let at = row as usize;
        if at >= self.precedence.len() {
            self.precedence.resize(at + 1, (0, 0));
        }
        self.precedence[at] = (rank, self.next_age);
        self.next_age += 1;
        pattern.blocks(|value, mask| self.insert_block(value, mask, rank, row));
        if !pattern.ranges.is_empty() {
            if at >= self.ranges.len() {
                self.ranges.resize(at + 1, None);
            }
            self.ranges[at] = Some(Box::new(pattern.ranges));
        }
    }

    fn insert_block(&mut self, value: &[u64], mask: &[u64], rank: u32, row: u32) {
        let tuple = self.tuple(mask, rank);
        self.counts[tuple as usize].blocks += 1;
        let found = self.find_block(tuple, value);
        if found == 0 {
            self.hash.set(tuple, value, row);
        } else if found & LIST == 0 {
            let list = self.free_lists.pop().unwrap_or_else(|| {
                self.lists.push(List::new());
                self.lists.len() as u32 - 1
            });
            for row in [found, row] {
                let place = self.place_in_list(row);
                self.lists[list as usize].insert(place, row);
            }
            self.hash.set(tuple, value, list | LIST);
        } else {
            let place = self.place_in_list(row);
            self.lists[(found & !LIST) as usize].insert(place, row);
        }
    }

    fn find_block(&self, tuple: u32, value: &[u64]) -> u32 {
        self.hash.find(tuple, value.iter().copied())
    }

    fn place_in_list(&self, row: u32) -> (Reverse<u32>, u64) {
        let (rank, age) = self.rank(row);
        (Reverse(rank), age)
    }

    /// The tuple of a mask, made if there is none, placed for an entry of this rank.
    fn tuple(&mut self, mask: &[u64], rank: u32) -> u32 {
        if let Some(&tuple) = self.by_mask.get(mask) {
            let best = self.counts[tuple as usize].best;
            if rank > best {
                self.unplace(RankedTuple { best, tuple });
                self.enter(RankedTuple { best: rank, tuple });
            }
            return tuple;
        }
        let tuple = self.free.pop().unwrap_or_else(|| {
            self.counts.push(Count::default());
            self.masks.resize(self.masks.len() + self.words, 0);
            self.counts.len() as u32 - 1
        });
        let at = tuple as usize * self.words;
        self.masks[at..at + self.words].copy_from_slice(mask);
        self.by_mask.insert(mask.into(), tuple);
        self.enter(RankedTuple { best: rank, tuple });
        tuple
    }

    fn enter(&mut self, step: RankedTuple) {
        self.counts[step.tuple as usize].best = step.best;
        let at = self.order.partition_point(|known| *known < step);
        self.order.insert(at, step);
        self.set_first();
    }

    fn unplace(&mut self, step: RankedTuple) {
        if let Ok(at) = self.order.binary_search(&step) {
            self.order.remove(at);
            self.set_first();
        }
    }

    /// The order has changed.
    fn set_first(&mut self) {
        let best = self.order.last().map(|step| step.tuple);
        let mask = best.and_then(|tuple| self.masks.get(tuple as usize * self.words).copied());
        self.first = best.zip(mask).map_or(First::NONE, |(tuple, mask)| First {
            mask,
            seed: super::hash::seed(tuple),
            tuple: tuple.into(),
        });
    }

    /// Takes an entry out.
    pub fn remove(&mut self, pattern: &Pattern, row: u32) {
        pattern.blocks(|value, mask| self.remove_block(value, mask, row));
        if let Some(ranges) = self.ranges.get_mut(row as usize) {
            *ranges = None;
        }
        self.stale += 1;
        if !self.longest && self.stale > self.hash.len() + MIN_STALE {
            self.look_again();
        }
    }

    fn remove_block(&mut self, value: &[u64], mask: &[u64], row: u32) {
        let Some(&tuple) = self.by_mask.get(mask) else { return };
        let found = self.find_block(tuple, value);
        if found & LIST == 0 {
            self.hash.remove(tuple, value);
        } else {
            let place = self.place_in_list(row);
            let list = &mut self.lists[(found & !LIST) as usize];
            list.remove(&place);
            if let (1, Some((_, &last))) = (list.len(), list.first_key_value()) {
                list.clear();
                self.free_lists.push(found & !LIST);
                self.hash.set(tuple, value, last);
            }
        }
        let count = &mut self.counts[tuple as usize];
        count.blocks -= 1;
        if count.blocks == 0 {
            let best = count.best;
            self.unplace(RankedTuple { best, tuple });
            self.by_mask.remove(mask);
            self.free.push(tuple);
        }
    }

    /// Works out the best ranks anew: removals leave them as they are.
    fn look_again(&mut self) {
        self.stale = 0;
        self.counts.iter_mut().for_each(|count| count.best = 0);
        for (tuple, _, found) in self.hash.iter() {
            let rank = match self.lists.get((found & !LIST) as usize).filter(|_| found & LIST != 0) {
                Some(list) => list.first_key_value().map_or(0, |((rank, _), _)| rank.0),
                None => self.precedence[found as usize].0,
            };
            let best = &mut self.counts[tuple as usize].best;
            *best = rank.max(*best);
        }
        self.order.iter_mut().for_each(|step| step.best = self.counts[step.tuple as usize].best);
        self.order.sort_unstable();
        self.set_first();
    }
}
