//! Match indexes against a plain scan: all kinds of keys, packed and wide, with insertions and removals
//! between lookups.

use p4cc_ir::{Bits, MatchValue, VarType};
use proptest::prelude::*;

use super::index::{Index, IndexKind};
use super::pattern::{KeyShape, Pattern};
use super::validate::{canonical, prefix_mask};

/// How one field matches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
}

/// An entry of the model.
struct Entry {
    pattern: Pattern,
    rank: u32,
    row: u32,
}

/// An index beside a list of its entries in the order of their insertion.
struct Twin {
    kinds: Vec<(u32, Kind)>,
    shape: KeyShape,
    index: Index,
    entries: Vec<Entry>,
    free: Vec<u32>,
    next: u32,
}

/// Steps of random numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }

    /// A number that others are equal or near to: few bits at one of a few places.
    fn value(&mut self, width: u32) -> Bits {
        let mut words = vec![0; p4cc_ir::bits::words_for(width)];
        let last = words.len() - 1;
        match self.below(3) {
            0 => words[0] = self.next() % 6,
            1 => words[last] = ((self.next() % 6) << ((width - 1) % 64)) >> 3,
            _ => words.iter_mut().for_each(|word| *word = 0u64.wrapping_sub(self.next() % 4)),
        }
        Bits::from_words(width, &words)
    }
}

fn masked(value: &Bits, mask: &Bits) -> Bits {
    let words: Vec<u64> = value.words().iter().zip(mask.words()).map(|(value, mask)| value & mask).collect();
    Bits::from_words(value.width(), &words)
}

impl Twin {
    fn new(kinds: Vec<(u32, Kind)>) -> Self {
        let shape = KeyShape::of_widths(kinds.iter().map(|kind| kind.0));
        let has = |wanted: &[Kind]| kinds.iter().any(|kind| wanted.contains(&kind.1));
        let kind = if has(&[Kind::Ternary, Kind::Range, Kind::Optional]) {
            IndexKind::Ranked
        } else if has(&[Kind::Lpm]) {
            IndexKind::Lpm
        } else {
            IndexKind::Exact
        };
        let index = Index::new(kind, shape.words as usize);
        Self { kinds, shape, index, entries: Vec::new(), free: Vec::new(), next: 1 }
    }

    fn is_ranked(&self) -> bool {
        self.kinds.iter().any(|kind| !matches!(kind.1, Kind::Exact | Kind::Lpm))
    }

    fn values(&self, numbers: &mut Numbers) -> Vec<MatchValue> {
        let field = |&(width, kind): &(u32, Kind)| {
            let value = numbers.value(width);
            let any = numbers.below(4) == 0;
            let wanted = match kind {
                Kind::Exact => MatchValue::Exact(value),
                _ if any => MatchValue::Any,
                Kind::Optional => MatchValue::Exact(value),
                Kind::Lpm => {
                    let len = numbers.below(width + 1);
                    MatchValue::Lpm { value: masked(&value, &prefix_mask(width, len)), len }
                }
                Kind::Ternary => {
                    let mask = match numbers.below(3) {
                        0 => prefix_mask(width, numbers.below(width + 1)),
                        1 => prefix_mask(width, width),
                        _ => numbers.value(width),
                    };
                    MatchValue::Ternary { value: masked(&value, &mask), mask }
                }
                Kind::Range => {
                    let other = numbers.value(width);
                    let swapped = value.words().iter().rev().gt(other.words().iter().rev());
                    // A quarter goes around the largest number, as ranges of signed ones do.
                    let swapped = swapped && numbers.below(2) == 0;
                    let (low, high) = if swapped { (other, value) } else { (value, other) };
                    MatchValue::Range { low, high }
                }
            };
            canonical(&wanted, VarType::Bit(width))
        };
        self.kinds.iter().map(field).collect()
    }

    fn insert(&mut self, numbers: &mut Numbers, ranks: u32) {
        let values = self.values(numbers);
        let prefix = values.iter().find_map(|value| match value {
            MatchValue::Lpm { len, .. } => Some(*len),
            _ => None,
        });
        // Few ranks, so that age decides as well.
        let rank = if self.is_ranked() { numbers.below(ranks) + 1 } else { prefix.unwrap_or(0) };
        let pattern = self.shape.pattern(&values);
        let same =
            |entry: &Entry| entry.rank == rank && format!("{:?}", entry.pattern) == format!("{pattern:?}");
        if self.entries.iter().any(same) {
            return;
        }
        let row = self.free.pop().unwrap_or(self.next);
        self.next = self.next.max(row + 1);
        self.index.insert(pattern.clone(), rank, row);
        self.entries.push(Entry { pattern, rank, row });
    }

    fn remove(&mut self, numbers: &mut Numbers) {
        if self.entries.is_empty() {
            return;
        }
        let entry = self.entries.remove(numbers.below(self.entries.len() as u32) as usize);
        self.index.remove(&entry.pattern, entry.row);
        self.free.push(entry.row);
    }

    fn scan(&self, key: &[u64]) -> u32 {
        let mut best: Option<&Entry> = None;
        for entry in self.entries.iter().filter(|entry| entry.pattern.matches(key)) {
            if best.is_none_or(|best| entry.rank > best.rank) {
                best = Some(entry);
            }
        }
        best.map_or(0, |entry| entry.row)
    }

    /// A key like those of entries, or one that matches an entry but for some bits that it does not care for.
    fn key(&self, numbers: &mut Numbers) -> Vec<u64> {
        let exact: Vec<MatchValue> =
            self.kinds.iter().map(|kind| MatchValue::Exact(numbers.value(kind.0))).collect();
        let mut key = self.shape.pattern(&exact).value.to_vec();
        if !self.entries.is_empty() && numbers.below(2) == 0 {
            let entry = &self.entries[numbers.below(self.entries.len() as u32) as usize];
            let pattern = &entry.pattern;
            for (word, (value, mask)) in key.iter_mut().zip(pattern.value.iter().zip(&pattern.mask)) {
                *word = *word & !mask | value;
            }
        }
        key
    }
}

fn kinds() -> impl Strategy<Value = Vec<(u32, Kind)>> {
    let width = prop_oneof![1u32..9, 9u32..33, Just(64), 65u32..130];
    let of = |kinds: &'static [Kind]| proptest::sample::select(kinds);
    let any = of(&[Kind::Exact, Kind::Ternary, Kind::Range, Kind::Optional, Kind::Lpm]);
    let exact = proptest::collection::vec((width.clone(), Just(Kind::Exact)), 1..3);
    let one_range = (1u32..17).prop_map(|width| vec![(width, Kind::Range)]);
    let mixed = proptest::collection::vec((width.clone(), any), 1..5);
    // A table has one longest-prefix key at most.
    let mixed = mixed.prop_map(|mut kinds| {
        let mut seen = false;
        for kind in kinds.iter_mut().filter(|kind| kind.1 == Kind::Lpm) {
            kind.1 = if core::mem::replace(&mut seen, true) { Kind::Exact } else { Kind::Lpm };
        }
        kinds
    });
    let lpm = (exact.clone(), width).prop_map(|(mut kinds, width)| {
        kinds.pop();
        kinds.push((width, Kind::Lpm));
        kinds
    });
    prop_oneof![exact, lpm, one_range, mixed]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_index_agrees_with_a_scan(
        kinds in kinds(),
        seed in any::<u64>(),
        ranks in 1u32..6,
        // Chances of a removal out of four, by phase: filling, churning, emptying.
        phases in proptest::collection::vec((0u32..4, 1usize..60), 1..5),
    ) {
        let mut twin = Twin::new(kinds);
        let mut numbers = Numbers(seed);
        for (removals, steps) in phases {
            for step in 0..steps {
                if numbers.below(4) < removals {
                    twin.remove(&mut numbers);
                } else {
                    twin.insert(&mut numbers, ranks);
                }
                let lookups = if step + 1 == steps { 40 } else { 3 };
                for _ in 0..lookups {
                    let key = twin.key(&mut numbers);
                    prop_assert_eq!(twin.index.find(&key), twin.scan(&key), "{:x?}", key);
                }
            }
        }
    }

    #[test]
    fn blocks_hold_what_matches_and_each_key_once(
        width in 1u32..9,
        ends in (any::<u8>(), any::<u8>()),
        other in (any::<u8>(), any::<u8>()),
    ) {
        let full = u64::MAX >> (64 - width);
        let range = |(a, b): (u8, u8)| {
            let bits = |value: u8| Bits::from_u128(width, u128::from(u64::from(value) & full));
            let (low, high) = (bits(a), bits(b));
            if low.low_u64() > high.low_u64() { (high, low) } else { (low, high) }
        };
        let shape = KeyShape::of_widths([width, width].into_iter());
        let value = |(low, high)| MatchValue::Range { low, high };
        let pattern = shape.pattern(&[value(range(ends)), value(range(other))]);
        let mut blocks = Vec::new();
        pattern.blocks(|value, mask| blocks.push((value[0], mask[0])));
        prop_assert!(blocks.len() <= 4);
        let mut keys = 0_u64;
        for key in 0..=(1_u64 << (2 * width)) - 1 {
            let inside = blocks.iter().filter(|(value, mask)| key & mask == *value).count();
            prop_assert!(inside <= 1, "blocks are disjoint");
            prop_assert!(inside == 1 || !pattern.matches(&[key]), "{key:x}");
            keys += inside as u64;
        }
        let size = |(low, high): (Bits, Bits)| high.low_u64() - low.low_u64() + 1;
        prop_assert!(keys <= 4 * size(range(ends)) * size(range(other)), "half of each block matches");
    }
}

/// Adds an exact key.
fn insert(twin: &mut Twin, value: u64) {
    let (width, _) = twin.kinds[0];
    let pattern = twin.shape.pattern(&[MatchValue::Exact(Bits::from_u128(width, value.into()))]);
    let row = twin.next;
    twin.next += 1;
    twin.index.insert(pattern.clone(), 0, row);
    twin.entries.push(Entry { pattern, rank: 0, row });
}

/// A table of exact keys changes its form as keys come near and far; what it finds stays.
#[test]
fn dense_and_sparse_keys_change_the_form_and_nothing_else() {
    let mut twin = Twin::new(vec![(32, Kind::Exact)]);
    let agree = |twin: &Twin, keys: &[u64]| {
        for key in (0..1_000).chain(keys.iter().copied()) {
            assert_eq!(twin.index.find(&[key]), twin.scan(&[key]), "{key}");
        }
    };
    (0..200).for_each(|key| insert(&mut twin, key));
    assert!(matches!(twin.index, Index::Dense(_)));
    insert(&mut twin, 1_000_000);
    assert!(matches!(twin.index, Index::Hash(_)), "a far key");
    agree(&twin, &[1_000_000]);
    let far = twin.entries.pop().expect("just inserted");
    twin.index.remove(&far.pattern, far.row);
    (200..900).for_each(|key| insert(&mut twin, key));
    assert!(matches!(twin.index, Index::Dense(_)), "near keys only, and a growth since");
    agree(&twin, &[1_000_000, u64::from(u32::MAX)]);
}

/// Keys near each other are found by position wherever they lie and in whichever order they come.
#[test]
fn near_keys_need_not_be_small() {
    for (from, to) in [(0x0800, 0x0800), (1_000, 3_000), (u64::MAX - 300, u64::MAX)] {
        for descends in [false, true] {
            let mut twin = Twin::new(vec![(64, Kind::Exact)]);
            let mut keys: Vec<u64> = (from..=to).collect();
            if descends {
                keys.reverse();
            }
            keys.iter().for_each(|&key| insert(&mut twin, key));
            assert!(matches!(twin.index, Index::Dense(_)), "{from} to {to}");
            for key in (0..300).chain(keys).chain([from - from.min(1), to.wrapping_add(1), u64::MAX]) {
                assert_eq!(twin.index.find(&[key]), twin.scan(&[key]), "{key}");
            }
            while let Some(Entry { pattern, row, .. }) = twin.entries.pop() {
                twin.index.remove(&pattern, row);
            }
            insert(&mut twin, 5);
            assert_eq!([from, 5, 6].map(|key| twin.index.find(&[key])), [0, twin.next - 1, 0]);
            assert!(matches!(twin.index, Index::Dense(_)), "nothing is left of the keys before");
        }
    }
}

/// Priorities of what is left decide when all better entries
/// are gone, and the order of the search is worked out anew.
#[test]
fn removals_leave_the_order_of_the_search_right() {
    let mut twin = Twin::new(vec![(32, Kind::Ternary)]);
    let insert = |twin: &mut Twin, value: u64, mask: u64, rank: u32| {
        let bits = |value: u64| Bits::from_u128(32, value.into());
        let pattern = twin.shape.pattern(&[MatchValue::Ternary { value: bits(value), mask: bits(mask) }]);
        let row = twin.free.pop().unwrap_or(twin.next);
        twin.next = twin.next.max(row + 1);
        twin.index.insert(pattern.clone(), rank, row);
        twin.entries.push(Entry { pattern, rank, row });
    };
    for rank in 1..=300 {
        insert(&mut twin, 7, 0xff, rank);
        insert(&mut twin, u64::from(rank) << 8, 0xffff_ff00, 301 - rank);
    }
    let mut numbers = Numbers(1);
    for left in (0..600).rev() {
        for key in [7, 0x0707, 0x9607, 0x1_2c07, 0x1_2c00] {
            assert_eq!(twin.index.find(&[key]), twin.scan(&[key]), "{left} {key:x}");
        }
        if left % 2 == 0 {
            twin.remove(&mut numbers);
        } else {
            // The best one of all.
            let (at, _) = twin.entries.iter().enumerate().max_by_key(|(_, entry)| entry.rank).expect("left");
            let entry = twin.entries.remove(at);
            twin.index.remove(&entry.pattern, entry.row);
            twin.free.push(entry.row);
        }
    }
    assert_eq!(twin.index.find(&[7]), 0);
}
