//! The entries of one table.
//!
//! Entries that run the same action with the same arguments share a row, if a hit counts nothing and the
//! index keeps one entry per key. The index then gives that row. In other tables each entry has a row of its
//! own number.
//!
//! Invariants: an entry keeps its number while it lives. Index, identities, rows and stored entries agree.
//! The data of a lookup is contiguous and separate from the rest.

use core::hash::{Hash as _, Hasher};

use hashbrown::HashTable;
use p4cc_ir::{ActionCall, ActionId, CountUnit, MatchValue, Program, Table, TableId};
use p4cc_units::Time;

use super::defaults::ProfileDefault;
use super::hash::fold;
use super::index::{Index, IndexKind};
use super::meter::MeterCell;
use super::pattern::{KeyShape, Pattern};
use super::row::{Head, Rows, direct_call, position};
use crate::control::{CounterCell, TableEntry};

/// What the control plane sees of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub entry: TableEntry,
    /// What it runs.
    row: u32,
    /// When it was written.
    pub written: Time,
    /// When it was written or found idle.
    pub timer: Time,
    /// When it was reported idle, if it was not hit since.
    pub idle_since: Option<Time>,
    /// Its last hit when it was asked for hits.
    pub asked: Time,
}

/// What a hit changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cells {
    pub counter: CounterCell,
    pub meter: MeterCell,
    pub last_hit: Time,
}

/// What is run on a miss, and what the controller keeps with it.
#[derive(Clone, Debug)]
pub(crate) struct DefaultEntry {
    pub call: ActionCall,
    pub metadata: Vec<u8>,
    pub controller_metadata: u64,
    /// A member or group in place of the action.
    pub of_profile: Option<ProfileDefault>,
}

/// What a lookup reads.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Path {
    pub index: Index,
    /// What entries run; row 0 is the default action.
    pub rows: Rows,
    /// Whether a hit has more to do than run an action: counter, meter or idle timeout.
    pub counts: bool,
    /// The profile that members and lists are of.
    pub profile: Option<u32>,
}

/// The entries of one table.
#[derive(Clone, Debug)]
pub(crate) struct TableState {
    pub path: Path,
    shape: KeyShape,
    /// Bits of the packed key that count, where the controller says so.
    mask: Option<Box<[u64]>>,
    kind: IndexKind,
    /// Whether cells hold what hits counted.
    has_counter: bool,
    /// Whether each hit counts; otherwise the program counts by calls.
    counts_hits: bool,
    /// What the direct meter counts, if each hit is metered.
    pub meter_unit: Option<CountUnit>,
    /// By action its place in the table's list, and the length of the list at the end; only where the rows of
    /// the profile name places in another table's list.
    pub positions: Box<[u32]>,
    /// Whether entries share rows.
    shares: bool,
    /// By number less one.
    stored: Vec<Option<Stored>>,
    /// Numbers that are free again; where rows are shared.
    free: Vec<u32>,
    /// By number less one; empty where hits change nothing.
    cells: Vec<Cells>,
    /// Numbers by identity.
    places: HashTable<u32>,
    pub default: DefaultEntry,
    /// What misses changed; nothing where hits change nothing either.
    default_cells: Cells,
    /// Most entries.
    pub capacity: usize,
}

/// Hashes identities, the same on every machine.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word ^ 0x243f_6a88_85a3_08d3, 0x9e37_79b9_7f4a_7c15);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn hash_of(matches: &[MatchValue], priority: u32) -> u64 {
    let mut hasher = IdentityHasher::default();
    (matches, priority).hash(&mut hasher);
    hasher.finish()
}

fn stored_hash(stored: &[Option<Stored>], number: u32) -> u64 {
    let stored = stored.get(number as usize - 1).and_then(Option::as_ref);
    stored.map_or(0, |stored| hash_of(&stored.entry.matches, stored.entry.priority))
}

impl TableState {
    /// The table as the program declares it, without entries; it may count hits though the program does not.
    pub fn new(program: &Program, id: TableId, table: &Table, counts_hits: bool) -> Self {
        let shape = KeyShape::new(program, table);
        let kind = IndexKind::of(table);
        let call = table.default_action.clone();
        let rows = Rows::new(program, Self::actions(table), Head::NOTHING);
        let counts = counts_hits || Self::counts(table);
        let by_calls = super::State::counts_by_calls(program);
        let profile = table.profile.map(|profile| profile.0);
        let mut state = Self {
            path: Path { index: Index::new(kind, shape.words as usize), rows, counts, profile },
            shape,
            mask: None,
            kind,
            has_counter: counts_hits || table.counter.is_some(),
            counts_hits: if table.counter.is_some() { !by_calls } else { counts_hits },
            meter_unit: table.meter.filter(|_| !by_calls).map(|meter| program.meters[meter.index()].unit),
            positions: Self::positions(program, id, table),
            shares: !counts && kind != IndexKind::Ranked,
            stored: Vec::new(),
            free: Vec::new(),
            cells: Vec::new(),
            places: HashTable::new(),
            default: DefaultEntry {
                call: call.clone(),
                metadata: Vec::new(),
                controller_metadata: 0,
                of_profile: None,
            },
            default_cells: Cells::default(),
            capacity: (table.size as usize).max(table.entries.len()),
        };
        state.set_default(call, position(program, id, table.default_action.action));
        state
    }

    /// Actions that its rows may name.
    pub fn actions(table: &Table) -> impl Iterator<Item = ActionId> {
        let listed = table.actions.iter().map(|listed| listed.action);
        listed.chain([table.default_action.action])
    }

    /// Whether a hit has more to do than run an action.
    pub fn counts(table: &Table) -> bool {
        let direct = table.counter.is_some() || table.meter.is_some();
        direct || table.register.is_some() || table.filter.is_some() || table.idle_timeout
    }

    fn positions(program: &Program, id: TableId, table: &Table) -> Box<[u32]> {
        let first = program.tables.iter().position(|other| other.profile == table.profile);
        if table.profile.is_none() || first == Some(id.index()) {
            return Box::default();
        }
        let actions = (0..program.actions.len()).map(p4cc_ir::ActionId::from_index);
        let positions = actions.map(|action| position(program, id, action));
        positions.chain([table.actions.len() as u32]).collect()
    }

    /// The number of an entry.
    pub fn place(&self, matches: &[MatchValue], priority: u32) -> Option<u32> {
        let same = |&number: &u32| {
            let stored = self.get(number);
            stored.is_some_and(|stored| stored.entry.priority == priority && stored.entry.matches == matches)
        };
        self.places.find(hash_of(matches, priority), same).copied()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Entries in the order of their identities.
    pub fn entries(&self) -> impl Iterator<Item = &Stored> {
        let mut entries: Vec<&Stored> = self.stored.iter().flatten().collect();
        entries.sort_unstable_by_key(|stored| (&stored.entry.matches, stored.entry.priority));
        entries.into_iter()
    }

    /// Numbers of the entries in the order of their identities.
    pub fn numbers(&self) -> Vec<u32> {
        let stored = self.stored.iter().zip(1..);
        let mut entries: Vec<(&Stored, u32)> =
            stored.filter_map(|(stored, number)| Some((stored.as_ref()?, number))).collect();
        entries.sort_unstable_by_key(|(stored, _)| (&stored.entry.matches, stored.entry.priority));
        entries.into_iter().map(|(_, number)| number).collect()
    }

    pub fn get(&self, number: u32) -> Option<&Stored> {
        self.stored.get((number as usize).checked_sub(1)?)?.as_ref()
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut Stored> {
        self.stored.get_mut((number as usize).checked_sub(1)?)?.as_mut()
    }

    /// What hits of an entry changed; number 0 is the default entry, whose hits are misses.
    pub fn cells(&self, number: u32) -> Option<&Cells> {
        match number.checked_sub(1) {
            Some(at) => self.cells.get(at as usize),
            None => Some(&self.default_cells),
        }
    }

    pub fn cells_mut(&mut self, number: u32) -> Option<&mut Cells> {
        match number.checked_sub(1) {
            Some(at) => self.cells.get_mut(at as usize),
            None => Some(&mut self.default_cells),
        }
    }

    /// What misses counted, then what hits did, by the entries' numbers; nothing where they count nothing.
    pub fn hit_cells(&self) -> impl Iterator<Item = CounterCell> {
        let cells = core::iter::once(&self.default_cells).chain(&self.cells).filter(|_| self.has_counter);
        cells.map(|cells| cells.counter)
    }

    /// All entries with the time of their last hit, in no order of meaning.
    pub fn timers(&mut self) -> impl Iterator<Item = (&mut Stored, Time)> {
        let pairs = self.stored.iter_mut().zip(&self.cells);
        pairs.filter_map(|(stored, cells)| Some((stored.as_mut()?, cells.last_hit)))
    }

    /// As [`Self::timers`], to look at.
    pub fn last_hits(&self) -> impl Iterator<Item = (&Stored, Time)> {
        let pairs = self.stored.iter().zip(&self.cells);
        pairs.filter_map(|(stored, cells)| Some((stored.as_ref()?, cells.last_hit)))
    }

    /// Whether entries counted the same and were hit at the same times.
    pub fn has_same_cells(&self, other: &Self) -> bool {
        self.cells == other.cells && self.default_cells == other.default_cells
    }

    /// Direct counter, direct meter and last-hit time of an entry; the meter's colour.
    pub fn count_hit(&mut self, row: u32, packet_length: u32, now: Time) -> u64 {
        let (counts, unit) = (self.counts_hits, self.meter_unit);
        let Some(cells) = self.cells_mut(row) else { return super::meter::COLOR_GREEN };
        cells.last_hit = now;
        if counts {
            super::arrays::count(&mut cells.counter, packet_length);
        }
        unit.map_or(super::meter::COLOR_GREEN, |unit| {
            let units = super::arrays::metered_units(unit, packet_length);
            cells.meter.execute(units, packet_length, super::meter::COLOR_GREEN, now)
        })
    }

    /// What the index is given of match values.
    fn pattern(&self, matches: &[MatchValue]) -> Pattern {
        let mut pattern = self.shape.pattern(matches);
        if let Some(mask) = &self.mask {
            for ((value, cared), mask) in pattern.value.iter_mut().zip(&mut pattern.mask).zip(mask) {
                *value &= mask;
                *cared &= mask;
            }
        }
        pattern
    }

    /// Lets only some bits of exact keys count; the table has no entries. Entries that are equal then are
    /// found by their age.
    pub fn set_mask(&mut self, masks: Option<&[MatchValue]>, shares: bool) {
        self.mask = masks.map(|masks| self.shape.pattern(masks).mask);
        let words = self.shape.words as usize;
        self.path.index = match self.mask {
            Some(_) => Index::masked(words),
            None => Index::new(self.kind, words),
        };
        self.shares = shares && self.mask.is_none();
        self.stored.clear();
        self.free.clear();
        self.cells.clear();
    }

    /// Whether all keys are exact.
    pub fn is_exact(&self) -> bool {
        self.kind == IndexKind::Exact
    }

    fn rank(entry: &TableEntry) -> u32 {
        let prefix = entry.matches.iter().find_map(|value| match value {
            MatchValue::Lpm { len, .. } => Some(*len),
            _ => None,
        });
        if entry.priority > 0 { entry.priority } else { prefix.unwrap_or(0) }
    }

    /// Sets what is run on a miss.
    pub fn set_default(&mut self, call: ActionCall, position: u32) {
        self.path.rows.set(0, Head::miss(call.action, position), Some(&call));
        self.default.call = call;
    }

    /// Adds a validated entry whose identity is new; its number.
    pub fn insert(&mut self, entry: TableEntry, head: Head) -> u32 {
        let call = direct_call(&entry);
        let (number, row) = if self.shares {
            let number = self.free.pop().unwrap_or(self.stored.len() as u32 + 1);
            (number, self.path.rows.share(head, call))
        } else {
            let row = self.path.rows.take();
            self.path.rows.set(row, head, call);
            (row, row)
        };
        let at = number as usize - 1;
        if at >= self.stored.len() {
            self.stored.resize(at + 1, None);
        }
        if self.path.counts {
            self.cells.resize(self.stored.len(), Cells::default());
            self.cells[at] = Cells::default();
        }
        self.path.index.insert(self.pattern(&entry.matches), Self::rank(&entry), row);
        let hash = hash_of(&entry.matches, entry.priority);
        self.stored[at] = Some(Stored {
            entry,
            row,
            written: Time::default(),
            timer: Time::default(),
            idle_since: None,
            asked: Time::default(),
        });
        let stored = &self.stored;
        self.places.insert_unique(hash, number, |&number| stored_hash(stored, number));
        number
    }

    /// Changes what an entry runs; what it ran before.
    pub fn modify(&mut self, number: u32, entry: TableEntry, head: Head) -> Option<(TableEntry, Head)> {
        let old_row = self.get(number)?.row;
        let (old_head, _) = self.path.rows.get(old_row);
        let mut row = old_row;
        if self.shares {
            row = self.path.rows.share(head, direct_call(&entry));
            self.path.rows.unshare(old_row);
            if row != old_row {
                let pattern = self.shape.pattern(&entry.matches);
                self.path.index.remove(&pattern, old_row);
                self.path.index.insert(pattern, Self::rank(&entry), row);
            }
        } else {
            self.path.rows.set(row, head, direct_call(&entry));
        }
        let stored = self.get_mut(number)?;
        stored.row = row;
        Some((core::mem::replace(&mut stored.entry, entry), old_head))
    }

    /// Takes an entry out.
    pub fn remove(&mut self, number: u32) -> Option<(TableEntry, Head)> {
        let hash = stored_hash(&self.stored, number);
        let stored = self.stored.get_mut((number as usize).checked_sub(1)?)?.take()?;
        if let Ok(place) = self.places.find_entry(hash, |&other| other == number) {
            place.remove();
        }
        if let Some(cells) = self.cells_mut(number) {
            *cells = Cells::default();
        }
        let (head, _) = self.path.rows.get(stored.row);
        let pattern = self.pattern(&stored.entry.matches);
        self.path.index.remove(&pattern, stored.row);
        if self.shares {
            self.path.rows.unshare(stored.row);
            self.free.push(number);
        } else {
            self.path.rows.release(stored.row);
        }
        Some((stored.entry, head))
    }
}
