//! Match indexes: from a packed key to the row of an entry. There is one kind for each shape of table.
//! Lookups do not allocate.
//!
//! Invariants: an index holds exactly the live entries of its table. Of several matches the one with the
//! larger rank (prefix length or priority) wins, then the earlier insertion. Row 0 belongs to no entry.

use p4cc_ir::{MatchKind, Table};

use super::hash::Hash;
use super::pattern::Pattern;
use super::tuples::Tuples;
use super::validate::needs_priority;

/// How a table finds entries.
// Generated code reads the tag and the rows of a dense index, so their places are fixed.
#[derive(Clone, Debug)]
#[repr(u64)]
pub(crate) enum Index {
    /// No key: never hits.
    Empty = 0,
    /// Exact keys of one word, none of them further apart
    /// than the number of entries says: a row for each key.
    Dense(Dense) = Self::DENSE,
    /// Exact.
    Hash(Hash),
    /// Ternary, range, optional: few entries, by rank, the first match wins.
    Scan(Vec<Ranked>),
    /// The same for more, and longest prefixes.
    Tuples(Box<Tuples>) = Self::TUPLES,
}

/// The index that a table's keys need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexKind {
    Exact,
    Lpm,
    Ranked,
}

/// Rows by key, from some key on: keys near each other need not be small.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dense {
    /// As many as the smallest and the largest key so far need.
    rows: Vec<u32>,
    /// Key of the first row.
    first: u64,
    len: usize,
}

/// Keys that are always found by position, and keys for each entry
/// up to which all of them are: a hash takes about as much memory.
const DENSE_KEYS: u64 = 256;
const DENSE_KEYS_PER_ENTRY: u64 = 8;

impl Dense {
    /// Its place in an index: behind the tag.
    pub const IN_INDEX: usize = size_of::<u64>().next_multiple_of(align_of::<Self>());
    /// Place of the rows.
    pub const ROWS: usize = core::mem::offset_of!(Self, rows);
    /// Place of the first row's key.
    pub const FIRST: usize = core::mem::offset_of!(Self, first);

    /// Whether keys so far apart belong into rows by key, with so many entries.
    fn spans(keys: u64, entries: usize) -> bool {
        keys < (entries as u64 * DENSE_KEYS_PER_ENTRY).max(DENSE_KEYS)
    }

    /// Whether one key more belongs into them.
    fn takes(&self, key: u64) -> bool {
        match self.rows.len() as u64 {
            0 => true,
            rows => {
                let last = (self.first + (rows - 1)).max(key);
                Self::spans(last - self.first.min(key), self.len + 1)
            }
        }
    }

    #[inline]
    fn find(&self, key: u64) -> u32 {
        let place = usize::try_from(key.wrapping_sub(self.first)).ok();
        place.and_then(|place| self.rows.get(place)).copied().unwrap_or(0)
    }

    fn insert(&mut self, key: u64, row: u32) {
        if self.rows.is_empty() {
            self.first = if key < DENSE_KEYS { 0 } else { key };
        }
        if key < self.first {
            // As many again, so that many keys which come in descending order move few rows each.
            let rows = self.rows.len() as u64;
            let more = if rows < DENSE_KEYS { 0 } else { rows };
            let room = (self.first - key).max(more).min(self.first);
            self.rows.splice(..0, core::iter::repeat_n(0, room as usize));
            self.first -= room;
        }
        let place = (key - self.first) as usize;
        if place >= self.rows.len() {
            self.rows.resize(place + 1, 0);
        }
        self.rows[place] = row;
        self.len += 1;
    }

    fn remove(&mut self, key: u64) {
        let place = usize::try_from(key.wrapping_sub(self.first)).ok();
        if let Some(row) = place.and_then(|place| self.rows.get_mut(place)) {
            *row = 0;
            self.len -= 1;
        }
        if self.len == 0 {
            self.rows.clear();
        }
    }

    /// The same entries in a hash, with room for as many again.
    fn hashed(&self) -> Hash {
        let mut hash = Hash::with_room(1, self.len * 2 + 2);
        let taken = (self.first..=u64::MAX).zip(&self.rows).filter(|(_, row)| **row != 0);
        taken.for_each(|(key, &row)| hash.set(0, &[key], row));
        hash
    }

    /// The entries of a hash, if they lie dense enough.
    fn of(hash: &Hash) -> Option<Self> {
        let keys = || hash.iter().map(|(_, key, _)| key[0]);
        let (smallest, largest) = (keys().min()?, keys().max()?);
        Self::spans(largest - smallest, hash.len()).then(|| {
            let mut dense = Self { first: smallest, ..Self::default() };
            dense.rows.resize((largest - smallest) as usize + 1, 0);
            hash.iter().for_each(|(_, key, row)| dense.insert(key[0], row));
            dense
        })
    }
}

/// An entry of a short list.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    rank: u32,
    row: u32,
    pattern: Pattern,
}

/// Longest list that is searched from its start.
const SCAN_ENTRIES: usize = 8;

impl IndexKind {
    /// The index that a table's keys need.
    pub fn of(table: &Table) -> Self {
        if needs_priority(table) {
            Self::Ranked
        } else if table.keys.iter().any(|key| key.kind == MatchKind::Lpm) {
            Self::Lpm
        } else {
            Self::Exact
        }
    }
}

impl Index {
    /// The tag of a dense index.
    pub const DENSE: u64 = 1;
    /// The tag of tuples.
    pub const TUPLES: u64 = 4;
    /// The place of the pointer to tuples: behind the tag.
    pub const TUPLES_POINTER: usize = size_of::<u64>();

    /// An index for keys of so many words.
    pub fn new(kind: IndexKind, words: usize) -> Self {
        match (kind, words) {
            (_, 0) => Self::Empty,
            (IndexKind::Exact, 1) => Self::Dense(Dense::default()),
            (IndexKind::Exact, _) => Self::Hash(Hash::new(words)),
            (IndexKind::Lpm, _) => Self::Tuples(Box::new(Tuples::new(words, true))),
            (IndexKind::Ranked, _) => Self::Scan(Vec::new()),
        }
    }

    /// An index for exact keys of so many words of which not all bits count.
    pub fn masked(words: usize) -> Self {
        match words {
            0 => Self::Empty,
            _ => Self::Tuples(Box::new(Tuples::new(words, false))),
        }
    }

    /// Adds an entry; the caller has made sure that no other has this match and rank.
    pub fn insert(&mut self, pattern: Pattern, rank: u32, row: u32) {
        self.reshape(&pattern);
        match self {
            Self::Empty => {}
            Self::Dense(dense) => dense.insert(pattern.value[0], row),
            Self::Hash(hash) => hash.set(0, &pattern.value, row),
            Self::Scan(list) => {
                let at = list.partition_point(|ranked| ranked.rank >= rank);
                list.insert(at, Ranked { rank, row, pattern });
            }
            Self::Tuples(tuples) => tuples.insert(pattern, rank, row),
        }
    }

    /// Takes another form where this one does not fit with one entry more.
    fn reshape(&mut self, next: &Pattern) {
        let other = match self {
            Self::Dense(dense) if !dense.takes(next.value[0]) => Self::Hash(dense.hashed()),
            // Only when it grows, so that forms do not change to and fro with single entries.
            Self::Hash(hash) if next.value.len() == 1 && hash.is_full() => {
                match Dense::of(hash).filter(|dense| dense.takes(next.value[0])) {
                    Some(dense) => Self::Dense(dense),
                    None => return,
                }
            }
            Self::Scan(list) if list.len() == SCAN_ENTRIES => {
                let mut tuples = Tuples::new(next.value.len(), false);
                // In their order, which is that of age among equals.
                core::mem::take(list)
                    .into_iter()
                    .for_each(|Ranked { rank, row, pattern }| tuples.insert(pattern, rank, row));
                Self::Tuples(Box::new(tuples))
            }
            _ => return,
        };
        *self = other;
    }

    /// Takes an entry out; pattern and row are those it was inserted with.
    pub fn remove(&mut self, pattern: &Pattern, row: u32) {
        match self {
            Self::Empty => {}
            Self::Dense(dense) => dense.remove(pattern.value[0]),
            Self::Hash(hash) => hash.remove(0, &pattern.value),
            Self::Scan(list) => list.retain(|ranked| ranked.row != row),
            Self::Tuples(tuples) => tuples.remove(pattern, row),
        }
    }

    /// The row of the entry that matches a packed key; 0 if there is none.
    #[inline]
    pub fn find(&self, key: &[u64]) -> u32 {
        match key {
            [word] => self.find_word(*word),
            _ => self.find_words(key),
        }
    }

    /// The same for a key of one word.
    #[inline(always)]
    pub fn find_word(&self, key: u64) -> u32 {
        match self {
            Self::Dense(dense) => dense.find(key),
            Self::Hash(hash) => hash.find_word(0, key),
            Self::Tuples(tuples) => tuples.find_word(key),
            Self::Empty | Self::Scan(_) => self.scan_word(key),
        }
    }

    /// The same if the key is exact: what takes a few instructions.
    #[inline]
    pub fn find_exact(&self, key: u64) -> Option<u32> {
        match self {
            Self::Dense(dense) => Some(dense.find(key)),
            Self::Hash(hash) => Some(hash.find_word(0, key)),
            Self::Empty | Self::Scan(_) | Self::Tuples(_) => None,
        }
    }

    #[inline(never)]
    fn scan_word(&self, key: u64) -> u32 {
        match self {
            Self::Scan(list) => scan(list, &[key]),
            Self::Empty | Self::Dense(_) | Self::Hash(_) | Self::Tuples(_) => 0,
        }
    }

    /// The same for a key of several words.
    fn find_words(&self, key: &[u64]) -> u32 {
        match self {
            Self::Empty | Self::Dense(_) => 0,
            Self::Hash(hash) => hash.find(0, key.iter().copied()),
            Self::Scan(list) => scan(list, key),
            Self::Tuples(tuples) => tuples.find(key),
        }
    }
}

fn scan(list: &[Ranked], key: &[u64]) -> u32 {
    list.iter().find(|ranked| ranked.pattern.matches(key)).map_or(0, |ranked| ranked.row)
}
