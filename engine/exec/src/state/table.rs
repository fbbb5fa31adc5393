//! The entries of one table.
//!
//! Invariants: an entry keeps its place while it lives; index, identities and places agree; the hot array holds what a
//! lookup needs and nothing else.

use std::collections::BTreeMap;

use p4cc_ir::{ActionCall, MatchKind, MatchValue, Program, Table, TableId};
use p4cc_units::Time;

use super::action::{Resolved, position};
use super::index::{Index, IndexKind};
use super::meter::MeterCell;
use super::pattern::KeyShape;
use super::validate;
use crate::control::{CounterCell, TableEntry};

/// What makes an entry the same entry.
pub(crate) type Identity = (Vec<MatchValue>, u32);

/// What an entry runs, ready for the data path.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Action(Resolved),
    /// Place of a member.
    Member(u32),
    /// Place of a group.
    Group(u32),
    /// Place of the entry's own set of actions.
    Set(u32),
}

/// What the control plane sees of an entry, and its counters.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub entry: TableEntry,
    pub counter: CounterCell,
    pub meter: MeterCell,
    pub last_hit: Time,
    /// When it was written.
    pub written: Time,
    /// When it was written or found idle.
    pub timer: Time,
}

/// The entries of one table.
#[derive(Clone, Debug)]
pub(crate) struct TableState {
    index: Index,
    shape: KeyShape,
    pub targets: Vec<Option<Target>>,
    pub stored: Vec<Option<Stored>>,
    free: Vec<u32>,
    places: BTreeMap<Identity, u32>,
    pub default: Resolved,
    pub default_call: ActionCall,
    /// Most entries.
    pub capacity: usize,
    /// Whether a hit has more to do than run an action: counter, meter or idle timeout.
    pub counts: bool,
}

impl TableState {
    /// The table as the program declares it, without entries.
    pub fn new(program: &Program, id: TableId, table: &Table) -> Self {
        let shape = KeyShape::new(program, table);
        let has = |kind| table.keys.iter().any(|key| key.kind == kind);
        let kind = if validate::needs_priority(table) {
            IndexKind::Scan
        } else if has(MatchKind::Lpm) {
            IndexKind::Lpm
        } else {
            IndexKind::Exact
        };
        let call = table.default_action.clone();
        Self {
            index: Index::new(kind, shape.bits, shape.words as usize),
            shape,
            targets: Vec::new(),
            stored: Vec::new(),
            free: Vec::new(),
            places: BTreeMap::new(),
            default: Resolved::new(&call, position(program, id, call.action)),
            default_call: call,
            capacity: (table.size as usize).max(table.entries.len()),
            counts: table.counter.is_some() || table.meter.is_some() || table.idle_timeout,
        }
    }

    #[inline]
    pub fn find(&self, key: &[u64]) -> Option<u32> {
        self.index.find(key)
    }

    pub fn place(&self, identity: &Identity) -> Option<u32> {
        self.places.get(identity).copied()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Entries in the order of their identities.
    pub fn entries(&self) -> impl Iterator<Item = &Stored> {
        self.places.values().filter_map(|&place| self.stored[place as usize].as_ref())
    }

    pub fn get(&self, place: u32) -> Option<&Stored> {
        self.stored.get(place as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, place: u32) -> Option<&mut Stored> {
        self.stored.get_mut(place as usize)?.as_mut()
    }

    /// Whether entries counted the same and were hit at the same times.
    pub fn has_same_cells(&self, other: &Self) -> bool {
        let cells = |stored: &Option<Stored>| {
            stored.as_ref().map(|stored| (stored.counter, stored.meter.clone(), stored.last_hit))
        };
        // Without counters and timers nothing of an entry changes.
        !self.counts || self.stored.iter().map(cells).eq(other.stored.iter().map(cells))
    }

    fn rank(entry: &TableEntry) -> u32 {
        let prefix = entry.matches.iter().find_map(|value| match value {
            MatchValue::Lpm { len, .. } => Some(*len),
            _ => None,
        });
        if entry.priority > 0 { entry.priority } else { prefix.unwrap_or(0) }
    }

    /// Adds a validated entry whose identity is new.
    pub fn insert(&mut self, entry: TableEntry, target: Target) {
        let place = self.free.pop().unwrap_or(self.stored.len() as u32);
        if place as usize == self.stored.len() {
            self.stored.push(None);
            self.targets.push(None);
        }
        self.index.insert(self.shape.pattern(&entry.matches), Self::rank(&entry), place);
        self.places.insert((entry.matches.clone(), entry.priority), place);
        self.targets[place as usize] = Some(target);
        let (counter, meter, last_hit, written, timer) = Default::default();
        self.stored[place as usize] = Some(Stored { entry, counter, meter, last_hit, written, timer });
    }

    /// Takes an entry out.
    pub fn remove(&mut self, identity: &Identity) -> Option<(TableEntry, Target)> {
        let place = self.places.remove(identity)?;
        let stored = self.stored[place as usize].take()?;
        let target = self.targets[place as usize].take()?;
        self.index.remove(&self.shape.pattern(&stored.entry.matches), Self::rank(&stored.entry), place);
        self.free.push(place);
        Some((stored.entry, target))
    }
}
