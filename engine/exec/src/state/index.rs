//! Match indexes: from a packed key to an entry. One kind per shape of table; lookups do not allocate.
//!
//! Invariants: an index holds exactly the live entries of its table; of several matches the one with the larger rank
//! (prefix length or priority) wins, then the one inserted earlier.

use hashbrown::HashTable;

/// An entry's packed match: value and mask words, and the ranges that masks cannot say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    /// Wanted bits, zero outside the mask.
    pub value: Box<[u64]>,
    /// Bits that matter.
    pub mask: Box<[u64]>,
    /// Ranges of one-word fields.
    pub ranges: Box<[RangeCheck]>,
    /// Ranges of wider fields.
    pub wide_ranges: Box<[WideRangeCheck]>,
}

/// A range over part of one key word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RangeCheck {
    pub word: u32,
    pub shift: u8,
    pub mask: u64,
    pub low: u64,
    pub high: u64,
}

/// A range over several whole key words, lowest first.
#[derive(Clone, Debug)]
pub(crate) struct WideRangeCheck {
    pub first: u32,
    pub low: Box<[u64]>,
    pub high: Box<[u64]>,
}

impl Pattern {
    pub fn matches(&self, key: &[u64]) -> bool {
        let masked = key.iter().zip(&self.mask).zip(&self.value);
        masked.into_iter().all(|((key, mask), value)| key & mask == *value)
            && self.ranges.iter().all(|range| range.matches(key))
            && self.wide_ranges.iter().all(|range| range.matches(key))
    }
}

impl RangeCheck {
    fn matches(&self, key: &[u64]) -> bool {
        let word = key.get(self.word as usize).copied().unwrap_or(0);
        (self.low..=self.high).contains(&(word >> self.shift & self.mask))
    }
}

impl WideRangeCheck {
    fn matches(&self, key: &[u64]) -> bool {
        let first = self.first as usize;
        let key = key.get(first..first + self.low.len()).unwrap_or_default();
        !key.iter().rev().lt(self.low.iter().rev()) && !self.high.iter().rev().lt(key.iter().rev())
    }
}

/// How a table finds entries.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    /// No key: never hits.
    Empty,
    /// Exact, few bits: one cell per key, entry number plus one.
    Direct(Box<[u32]>),
    /// Exact.
    Exact(Buckets),
    /// One longest-prefix field, the rest exact.
    Lpm(Lpm),
    /// Ternary, range, optional: by rank, first match wins.
    Scan(Vec<Ranked>),
}

/// Widest key that is looked up by position, in bits.
const DIRECT_BITS: u32 = 12;

/// An entry of the scan list.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    rank: u32,
    entry: u32,
    pattern: Pattern,
}

/// Hash table from packed keys to entries, keys stored flat by entry.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    words: usize,
    table: HashTable<u32>,
    /// Key of entry `i` at `i * words`.
    keys: Vec<u64>,
}

/// Hash of a packed key: multiply and fold, the same on every machine.
#[inline]
fn hash_of(key: impl Iterator<Item = u64>) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = key.fold(0u64, |hash, word| (hash.rotate_left(26) ^ word).wrapping_mul(MULTIPLIER));
    // The table takes its bucket from the low bits and its tag from the high ones: spread both.
    hash ^ hash >> 32
}

impl Buckets {
    fn new(words: usize) -> Self {
        Self { words, table: HashTable::new(), keys: Vec::new() }
    }

    fn insert(&mut self, key: &[u64], entry: u32) {
        let at = entry as usize * self.words;
        if self.keys.len() < at + self.words {
            self.keys.resize(at + self.words, 0);
        }
        self.keys[at..at + self.words].copy_from_slice(key);
        let (words, keys) = (self.words, &self.keys);
        let rehash = |&entry: &u32| {
            let at = entry as usize * words;
            hash_of(keys[at..at + words].iter().copied())
        };
        self.table.insert_unique(hash_of(key.iter().copied()), entry, rehash);
    }

    fn remove(&mut self, key: &[u64], entry: u32) {
        if let Ok(found) = self.table.find_entry(hash_of(key.iter().copied()), |&other| other == entry) {
            found.remove();
        }
    }

    /// The entry whose key equals the masked key.
    #[inline]
    fn find(&self, key: &[u64], mask: &[u64]) -> Option<u32> {
        let masked = || key.iter().zip(mask).map(|(key, mask)| key & mask);
        let same = |&entry: &u32| {
            let at = entry as usize * self.words;
            self.keys.get(at..at + self.words).is_some_and(|stored| masked().eq(stored.iter().copied()))
        };
        self.table.find(hash_of(masked()), same).copied()
    }

    #[inline]
    fn find_exact(&self, key: &[u64]) -> Option<u32> {
        let same = |&entry: &u32| {
            let at = entry as usize * self.words;
            self.keys.get(at..at + self.words) == Some(key)
        };
        self.table.find(hash_of(key.iter().copied()), same).copied()
    }
}

/// One hash table per prefix length in use, longest first.
#[derive(Clone, Debug)]
pub(crate) struct Lpm {
    words: usize,
    lengths: Vec<(u32, Box<[u64]>, Buckets)>,
}

impl Lpm {
    fn insert(&mut self, length: u32, pattern: &Pattern, entry: u32) {
        let at = self.lengths.partition_point(|known| known.0 > length);
        if self.lengths.get(at).is_none_or(|known| known.0 != length) {
            self.lengths.insert(at, (length, pattern.mask.clone(), Buckets::new(self.words)));
        }
        self.lengths[at].2.insert(&pattern.value, entry);
    }

    fn remove(&mut self, length: u32, pattern: &Pattern, entry: u32) {
        if let Some(at) = self.lengths.iter().position(|known| known.0 == length) {
            self.lengths[at].2.remove(&pattern.value, entry);
            if self.lengths[at].2.table.is_empty() {
                self.lengths.remove(at);
            }
        }
    }
}

impl Index {
    /// An index for keys of `bits` in `words` words.
    pub fn new(kind: IndexKind, bits: u32, words: usize) -> Self {
        match kind {
            _ if words == 0 => Self::Empty,
            IndexKind::Exact if bits <= DIRECT_BITS => Self::Direct(vec![0; 1 << bits].into()),
            IndexKind::Exact => Self::Exact(Buckets::new(words)),
            IndexKind::Lpm => Self::Lpm(Lpm { words, lengths: Vec::new() }),
            IndexKind::Scan => Self::Scan(Vec::new()),
        }
    }

    /// Adds an entry; the caller has made sure that no other has this match and rank.
    pub fn insert(&mut self, pattern: Pattern, rank: u32, entry: u32) {
        match self {
            Self::Empty => {}
            Self::Direct(cells) => {
                let at = pattern.value.first().map_or(0, |&word| word as usize);
                if let Some(cell) = cells.get_mut(at) {
                    *cell = entry + 1;
                }
            }
            Self::Exact(buckets) => buckets.insert(&pattern.value, entry),
            Self::Lpm(lpm) => lpm.insert(rank, &pattern, entry),
            Self::Scan(list) => {
                let at = list.partition_point(|ranked| ranked.rank >= rank);
                list.insert(at, Ranked { rank, entry, pattern });
            }
        }
    }

    /// Takes an entry out; pattern and rank are those it was inserted with.
    pub fn remove(&mut self, pattern: &Pattern, rank: u32, entry: u32) {
        match self {
            Self::Empty => {}
            Self::Direct(cells) => {
                let at = pattern.value.first().map_or(0, |&word| word as usize);
                if let Some(cell) = cells.get_mut(at) {
                    *cell = 0;
                }
            }
            Self::Exact(buckets) => buckets.remove(&pattern.value, entry),
            Self::Lpm(lpm) => lpm.remove(rank, pattern, entry),
            Self::Scan(list) => list.retain(|ranked| ranked.entry != entry),
        }
    }

    /// The entry that matches a packed key.
    #[inline]
    pub fn find(&self, key: &[u64]) -> Option<u32> {
        match self {
            Self::Empty => None,
            Self::Direct(cells) => {
                let at = key.first().map_or(0, |&word| word as usize);
                cells.get(at).and_then(|cell| cell.checked_sub(1))
            }
            Self::Exact(buckets) => buckets.find_exact(key),
            Self::Lpm(lpm) => lpm.lengths.iter().find_map(|(_, mask, buckets)| buckets.find(key, mask)),
            Self::Scan(list) => {
                list.iter().find(|ranked| ranked.pattern.matches(key)).map(|ranked| ranked.entry)
            }
        }
    }
}

/// What a table's keys ask of its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexKind {
    Exact,
    Lpm,
    Scan,
}
