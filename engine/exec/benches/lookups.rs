//! Time for one lookup by the shape of the key and the number of entries,
//! beside a plain scan of the same entries; and for filling a table.
//!
//! With `--count SHAPE SIZE LOOKUPS` it makes so many lookups and nothing else, for a count of instructions.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use p4cc_exec::RandomSource;
use p4cc_exec::State;
use p4cc_exec::control::{EntryAction, TableEntry};
use p4cc_exec::testing::{ProgramBuilder, SplitMix, lookup};
use p4cc_ir::{ActionCall, ActionId, Bits, Inst, MatchKind, MatchValue, TableId};

const SIZES: [u32; 3] = [8, 1_024, 65_536];
/// Keys that are looked up in turn; of eight, one is most likely no entry's.
const KEYS: usize = 4_096;
/// Most entries whose scan is measured: a longer one takes as much longer.
const MAX_SCAN: u32 = 1_024;

/// A kind of table.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    keys: &'static [(u32, MatchKind)],
    /// Match values of an entry, by its number and random bits.
    entry: fn(u32, u64) -> Vec<MatchValue>,
}

fn bits(width: u32, value: u64) -> Bits {
    Bits::from_words(width, &[value])
}

fn prefix(value: u64, len: u32) -> MatchValue {
    let mask = u64::from(u32::MAX) << (32 - len) & u64::from(u32::MAX);
    MatchValue::Lpm { value: bits(32, value & mask), len }
}

const SHAPES: [Shape; 8] = [
    Shape {
        name: "exact dense",
        keys: &[(32, MatchKind::Exact)],
        entry: |number, _| vec![MatchValue::Exact(bits(32, number.into()))],
    },
    Shape {
        name: "exact",
        keys: &[(48, MatchKind::Exact)],
        entry: |_, random| vec![MatchValue::Exact(bits(48, random >> 16))],
    },
    Shape {
        name: "exact wide",
        keys: &[(128, MatchKind::Exact)],
        entry: |_, random| vec![MatchValue::Exact(Bits::from_words(128, &[random, !random]))],
    },
    Shape {
        name: "lpm hosts",
        keys: &[(32, MatchKind::Lpm)],
        entry: |number, _| vec![prefix(u64::from(0x0a00_0000 + number), 32)],
    },
    Shape {
        name: "lpm of 25 lengths",
        keys: &[(32, MatchKind::Lpm)],
        entry: |number, random| vec![prefix(random >> 32, if number < 8 { 8 } else { 8 + number % 25 })],
    },
    Shape {
        name: "ternary of 8 masks",
        keys: &[(32, MatchKind::Ternary), (16, MatchKind::Ternary)],
        entry: |number, random| {
            let (host, port) = (0xffff_ffff << (number % 4 * 4) & 0xffff_ffff, (number / 4 % 2) * 0xffff);
            let port = if port == 0 {
                MatchValue::Any
            } else {
                MatchValue::Ternary { value: bits(16, random >> 48), mask: bits(16, port.into()) }
            };
            let value = bits(32, random & 0xffff_ffff & host);
            vec![MatchValue::Ternary { value, mask: bits(32, host) }, port]
        },
    },
    Shape {
        name: "range",
        keys: &[(32, MatchKind::Exact), (16, MatchKind::Range)],
        entry: |_, random| {
            let low = random >> 48;
            let range = MatchValue::Range { low: bits(16, low), high: bits(16, (low + 100).min(0xfffe)) };
            vec![MatchValue::Exact(bits(32, random & 0xffff)), range]
        },
    },
    Shape {
        name: "optional",
        keys: &[(32, MatchKind::Optional), (32, MatchKind::Optional)],
        entry: |number, random| {
            let first = MatchValue::Exact(bits(32, random >> 32));
            let second = if number % 2 == 0 {
                MatchValue::Any
            } else {
                MatchValue::Exact(bits(32, random & 0xffff_ffff))
            };
            vec![first, second]
        },
    },
];

/// An entry as a scan sees it: value and mask words, low
/// and high end of the range in the upper half of the word.
struct Scanned {
    rank: u32,
    value: [u64; 2],
    mask: [u64; 2],
    range: Option<(u64, u64)>,
}

/// A table and keys for it.
struct Filled {
    state: State,
    table: TableId,
    entries: Vec<TableEntry>,
    list: Vec<Scanned>,
    keys: Vec<Vec<u64>>,
}

impl Shape {
    fn empty(&self) -> (State, TableId, ActionId) {
        let mut b = ProgramBuilder::new();
        let vars: Vec<_> = self.keys.iter().map(|&(width, kind)| (b.bits("key", width), kind)).collect();
        let set = b.action("set", &[32], |_| Vec::new());
        let table = b.table("t", &vars, &[set]);
        b.program.tables[table.index()].size = 1 << 17;
        b.ingress(vec![Inst::Apply { table, hit: None, action: None }]);
        (State::new(&b.compile()), table, set)
    }

    fn filled(&self, size: u32) -> Filled {
        let (mut state, table, set) = self.empty();
        let ranked = self.keys.iter().any(|(_, kind)| !matches!(kind, MatchKind::Exact | MatchKind::Lpm));
        let mut random = SplitMix(1);
        let mut entries = Vec::new();
        for number in 0..size {
            let action = ActionCall { action: set, args: vec![bits(32, number.into())] };
            let entry = TableEntry {
                matches: (self.entry)(number, random.next_u64()),
                priority: if ranked { 1 + number % 1_000 } else { 0 },
                action: EntryAction::Direct(action),
                metadata: Vec::new(),
                controller_metadata: 0,
                idle_timeout_ns: 0,
                is_const: false,
            };
            // Random entries meet now and then.
            if state.table_insert(table, entry.clone()).is_ok() {
                entries.push(entry);
            }
        }
        let mut list: Vec<Scanned> = entries.iter().map(|entry| self.scanned(entry)).collect();
        list.sort_by_key(|scanned| core::cmp::Reverse(scanned.rank));
        let key = |_| match random.next_u64() {
            number if number % 8 == 0 => {
                self.full()[..self.words()].iter().map(|full| number & full).collect()
            }
            number => {
                let like = self.scanned(&entries[(number >> 8) as usize % entries.len()]);
                let random = number & (u64::MAX >> 16);
                let masks = like.mask.iter().zip(self.full());
                let words = like.value.iter().zip(masks);
                let mut key: Vec<u64> =
                    words.map(|(value, (mask, full))| value | random & !mask & full).collect();
                if let Some((low, _)) = like.range {
                    key[0] = key[0] & 0xffff_ffff | (low + number % 100) << 32;
                }
                key.truncate(self.words());
                key
            }
        };
        let keys = (0..KEYS).map(key).collect();
        Filled { state, table, entries, list, keys }
    }

    fn words(&self) -> usize {
        self.keys.iter().map(|key| key.0).sum::<u32>().div_ceil(64) as usize
    }

    /// All bits of a key.
    fn full(&self) -> [u64; 2] {
        match self.keys.iter().map(|key| key.0).sum::<u32>() {
            bits @ 0..64 => [(1 << bits) - 1, 0],
            _ => [u64::MAX, u64::MAX],
        }
    }

    fn scanned(&self, entry: &TableEntry) -> Scanned {
        let mut scanned = Scanned { rank: entry.priority, value: [0; 2], mask: [0; 2], range: None };
        let mut shift = 0;
        for (&(width, _), wanted) in self.keys.iter().zip(&entry.matches) {
            let full = u64::MAX >> 64u32.saturating_sub(width);
            match wanted {
                MatchValue::Any => {}
                MatchValue::Exact(value) => {
                    for (at, word) in value.words().iter().enumerate() {
                        scanned.value[at] |= word << shift;
                        scanned.mask[at] |= full << shift;
                    }
                }
                MatchValue::Lpm { value, len } => {
                    scanned.rank = *len;
                    scanned.value[0] |= value.low_u64();
                    scanned.mask[0] |= full << (width - len) & full;
                }
                MatchValue::Ternary { value, mask } => {
                    scanned.value[0] |= value.low_u64() << shift;
                    scanned.mask[0] |= mask.low_u64() << shift;
                }
                MatchValue::Range { low, high } => scanned.range = Some((low.low_u64(), high.low_u64())),
            }
            shift = (shift + width) % 64;
        }
        scanned
    }
}

impl Filled {
    fn scan(&self, key: &[u64]) -> Option<&Scanned> {
        self.list.iter().find(|entry| {
            let mut words = key.iter().zip(&entry.mask).zip(&entry.value);
            words.all(|((key, mask), value)| key & mask == *value)
                && entry.range.is_none_or(|(low, high)| (low..=high).contains(&(key[0] >> 32 & 0xffff)))
        })
    }

    /// Both find something or nothing.
    fn check(&self) {
        let found = |key: &&Vec<u64>| lookup(&self.state, self.table, key).is_some();
        let hits = self.keys.iter().filter(found).count();
        assert!(hits * 2 > self.keys.len(), "{hits} hits");
        for key in self.keys.iter().take(256) {
            assert_eq!(lookup(&self.state, self.table, key).is_some(), self.scan(key).is_some(), "{key:x?}");
        }
    }
}

fn lookups(c: &mut Criterion) {
    for shape in SHAPES {
        for size in SIZES {
            let filled = shape.filled(size);
            filled.check();
            let mut group = c.benchmark_group(format!("{}/{size}", shape.name));
            let mut next = 0;
            let mut key = || {
                next = (next + 1) % KEYS;
                black_box(filled.keys[next].as_slice())
            };
            group.bench_function("index", |b| b.iter(|| lookup(&filled.state, filled.table, key())));
            if size <= MAX_SCAN {
                group.bench_function("scan", |b| b.iter(|| filled.scan(key()).is_some()));
            }
        }
    }
}

/// Entries written and taken out again each second.
fn writes(c: &mut Criterion) {
    for shape in SHAPES {
        let filled = shape.filled(SIZES[2]);
        let mut group = c.benchmark_group(format!("{}/writes", shape.name));
        group.throughput(Throughput::Elements(2 * filled.entries.len() as u64)).sample_size(10);
        group.bench_function("insert and delete", |b| {
            b.iter(|| {
                let (mut state, table, _) = shape.empty();
                for entry in &filled.entries {
                    state.table_insert(table, entry.clone()).expect("a new entry");
                }
                for entry in &filled.entries {
                    state.table_delete(table, &entry.matches, entry.priority).expect("an entry");
                }
                state
            });
        });
    }
}

/// Lookups in one table, for a count of instructions.
fn count(args: &[String]) {
    let [name, size, lookups] = args else { panic!("--count SHAPE SIZE LOOKUPS") };
    let shape = SHAPES.iter().find(|shape| shape.name == name).expect("a shape of the bench");
    let filled = shape.filled(size.parse().expect("a number of entries"));
    let lookups: usize = lookups.parse().expect("a number of lookups");
    for number in 0..lookups {
        black_box(lookup(&filled.state, filled.table, black_box(&filled.keys[number % KEYS])));
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|arg| arg == "--count") {
        return count(&args[at + 1..]);
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(400))
        .configure_from_args();
    lookups(&mut criterion);
    writes(&mut criterion);
    criterion.final_summary();
}
