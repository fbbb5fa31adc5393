//! State that outlives a packet: tables, profiles, counters, meters, registers, value sets.
//!
//! Invariants: a state belongs to one pipeline and serves no other. Every write is checked against the
//! program first, so the data path checks nothing. Iteration orders depend on contents only. A clone shares
//! nothing mutable.

mod arrays;
mod chip;
mod control;
mod defaults;
pub(crate) mod filter;
mod hash;
pub(crate) mod hashing;
pub(crate) mod idle;
mod index;
#[cfg(test)]
mod index_tests;
pub(crate) mod meter;
pub(crate) mod offsets;
mod pattern;
mod places;
mod profile;
mod row;
mod table;
mod taken;
mod tuples;
mod undo;
mod validate;
mod watch;

use std::collections::BTreeSet;
use std::sync::Arc;

use p4cc_ir::{Bits, CustomCrcId, HashAlgorithm, ProfileId, Program, TableId, ValueSetId, VarType};
use p4cc_units::Time;

use self::index::IndexKind;
pub(crate) use self::pattern::KeyShape;
use self::pattern::Pattern;
use self::profile::ProfileState;
pub(crate) use self::row::Head;
use self::table::TableState;
pub use self::undo::Part;
pub(crate) use self::validate::match_keys;
pub use self::watch::{Array, ArrayKind};
use crate::Pipeline;
use crate::checksum::{CrcParams, Hashes};
use crate::control::{ControlError, CounterCell, EntryAction, TableEntry};
use crate::env::PacketView;

/// v1model's drop port, unless the switch says otherwise.
pub const DEFAULT_DROP_PORT: u32 = 511;

/// Tables, profiles, counters, meters, registers and value sets of one switch. A clone is a snapshot.
#[derive(Clone, Debug)]
// In the order of fields: most programs touch the first.
#[repr(C)]
pub struct State {
    program: Arc<Program>,
    tables: Vec<TableState>,
    registers: Vec<RegisterState>,
    profiles: Vec<ProfileState>,
    counters: Vec<Vec<CounterCell>>,
    meters: Vec<Vec<meter::MeterCell>>,
    value_sets: Vec<ValueSetState>,
    hashes: Hashes,
    filters: Vec<filter::FilterState>,
    hash_objects: Vec<hashing::HashState>,
    /// By table, bits of its keys that count; nothing where all do.
    key_masks: Vec<Vec<Bits>>,
    /// Bytes that are added to what each meter meters.
    meter_adjust: Vec<i32>,
    drop_port: u32,
    ports_down: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
struct RegisterState {
    words_per_cell: usize,
    ty: VarType,
    words: Vec<u64>,
}

#[derive(Clone, Debug)]
struct ValueSetState {
    shape: KeyShape,
    members: Vec<Vec<p4cc_ir::MatchValue>>,
    patterns: Vec<Pattern>,
}

/// What applying a table comes to.
pub(crate) struct Chosen<'a> {
    /// Action, hit, place in the table's list.
    pub head: Head,
    /// Arguments of the action, and zeros behind them.
    pub args: &'a [u64],
    /// Colour of the direct meter.
    pub color: u64,
}

impl State {
    /// The state a pipeline starts with: source entries and
    /// default actions are installed, all else is empty or zero.
    pub fn new(pipeline: &Pipeline) -> State {
        Self::start(pipeline, false)
    }

    /// The same, with hits counted for every entry. Native code counts those of direct counters only: it is
    /// the interpreter that counts the others.
    pub fn counting_hits(pipeline: &Pipeline) -> State {
        Self::start(pipeline, true)
    }

    fn start(pipeline: &Pipeline, counts_hits: bool) -> State {
        let program = Arc::clone(pipeline.program());
        let mut state = State {
            tables: Self::tables(&program, counts_hits),
            profiles: Self::profiles(&program),
            counters: arrays::counters(&program),
            meters: arrays::meters(&program),
            registers: arrays::registers(&program),
            value_sets: arrays::value_sets(&program),
            hashes: Hashes::new(&program.custom_crcs),
            filters: filter::filters(&program),
            hash_objects: program.hashes.iter().map(hashing::HashState::new).collect(),
            key_masks: vec![Vec::new(); program.tables.len()],
            meter_adjust: vec![0; program.meters.len()],
            drop_port: DEFAULT_DROP_PORT,
            ports_down: BTreeSet::new(),
            program,
        };
        state.install_source_entries();
        state
    }

    fn tables(program: &Program, counts_hits: bool) -> Vec<TableState> {
        let tables = program.tables.iter().enumerate();
        let new = |(id, table)| TableState::new(program, TableId::from_index(id), table, counts_hits);
        tables.map(new).collect()
    }

    fn profiles(program: &Program) -> Vec<ProfileState> {
        let profiles = program.profiles.iter().enumerate();
        profiles.map(|(id, profile)| ProfileState::new(program, ProfileId::from_index(id), profile)).collect()
    }

    fn install_source_entries(&mut self) {
        let program = Arc::clone(&self.program);
        for (id, table) in program.tables.iter().enumerate() {
            for entry in &table.entries {
                let id = TableId::from_index(id);
                let position = row::position(&program, id, entry.action.action);
                let keys = validate::match_keys(table).map(|key| program.vars[key.var.index()].ty);
                let matches = entry.matches.iter().zip(keys);
                let matches: Vec<_> = matches.map(|(value, ty)| validate::canonical(value, ty)).collect();
                let state = &mut self.tables[id.index()];
                // The first of two equal entries wins, as it does by order in the source.
                if state.place(&matches, entry.priority).is_some() {
                    continue;
                }
                let head = Head::hit(entry.action.action, position);
                let stored = TableEntry {
                    matches,
                    priority: entry.priority,
                    action: EntryAction::Direct(entry.action.clone()),
                    metadata: Vec::new(),
                    controller_metadata: 0,
                    idle_timeout_ns: 0,
                    is_const: entry.is_const || table.const_entries,
                };
                let number = state.insert(stored, head);
                self.start_direct_cells(id, number);
            }
        }
    }

    /// The program it serves.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Whether it was made from this very program.
    #[inline(always)]
    pub(crate) fn is_of(&self, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(&self.program, program)
    }

    /// Whether it has the tables, profiles, counters and registers of a program.
    #[inline(always)]
    pub(crate) fn serves(&self, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(&self.program, program) || self.program == *program
    }

    /// Whether what packets change is the same: counters, meters, registers, and what entries count and when
    /// they were hit. The other state must be of the same program.
    pub fn has_same_cells(&self, other: &State) -> bool {
        let mut tables = self.tables.iter().zip(&other.tables);
        self.counters == other.counters
            && self.meters == other.meters
            && self.registers.iter().zip(&other.registers).all(|(a, b)| a.words == b.words)
            && self.filters.iter().zip(&other.filters).all(|(a, b)| a.cells == b.cells)
            && tables.all(|(a, b)| a.has_same_cells(b))
    }

    /// Port that `mark_to_drop` sends to.
    pub fn drop_port(&self) -> u32 {
        self.drop_port
    }

    /// Sets the port that `mark_to_drop` sends to.
    pub fn set_drop_port(&mut self, port: u32) {
        self.drop_port = port;
    }

    /// Tells selectors that a port went up or down; members that watch a port which is down are not chosen.
    pub fn set_port_up(&mut self, port: u32, up: bool) {
        let changed = if up { self.ports_down.remove(&port) } else { self.ports_down.insert(port) };
        if changed {
            let down = &self.ports_down;
            self.profiles.iter_mut().for_each(|profile| profile.refresh(|port| !down.contains(&port)));
            self.refresh_defaults(|table| table.profile.is_some());
        }
    }

    /// Tells selectors which ports are down, whatever they knew before.
    pub fn set_ports_down(&mut self, ports: &BTreeSet<u32>) {
        if self.ports_down != *ports {
            self.ports_down.clone_from(ports);
            self.profiles.iter_mut().for_each(|profile| profile.refresh(|port| !ports.contains(&port)));
            self.refresh_defaults(|table| table.profile.is_some());
        }
    }

    /// Sets the parameters of a `crc16_custom` or `crc32_custom`.
    ///
    /// # Errors
    /// The program has no such check.
    pub fn set_custom_crc(&mut self, id: CustomCrcId, params: CrcParams) -> Result<(), ControlError> {
        let set = self.hashes.set_custom(id, params);
        set.then_some(())
            .ok_or_else(|| ControlError::NotFound(format!("the program has no custom check {id:?}")))
    }

    /// A hash of bytes and payload.
    pub(crate) fn hash(
        &self,
        algorithm: HashAlgorithm,
        bytes: PacketView<'_>,
        payload: PacketView<'_>,
    ) -> u64 {
        self.hashes.compute(algorithm, bytes.bytes, payload)
    }

    /// The row of the entry that a packed key hits; 0, the row of the default action, if there is none.
    #[inline]
    pub(crate) fn lookup(&self, table: TableId, key: &[u64]) -> u32 {
        self.tables.get(table.0 as usize).map_or(0, |table| table.path.index.find(key))
    }

    /// The same for a key of one word.
    #[inline]
    pub(crate) fn lookup_word(&self, table: TableId, key: u64) -> u32 {
        self.tables.get(table.0 as usize).map_or(0, |table| table.path.index.find_word(key))
    }

    /// What an exact key of one word comes to, where that is
    /// an action and a hit changes nothing: the usual case.
    #[inline]
    pub(crate) fn lookup_exact(&self, table: TableId, key: u64) -> Option<(Head, &[u64])> {
        let path = &self.tables.get(table.0 as usize)?.path;
        let (head, args) = path.rows.get(path.index.find_exact(key)?);
        (head.is_final() && !path.counts).then_some((head, args))
    }

    /// Whether an entry leaves its action to a list of members.
    #[inline]
    pub(crate) fn is_list(&self, table: TableId, row: u32) -> bool {
        self.tables.get(table.0 as usize).is_some_and(|table| table.path.rows.get(row).0.is_list())
    }

    /// The list of members that an entry leaves its action to, and the rows to choose among.
    #[inline]
    pub(crate) fn list_of(&self, table: TableId, row: u32) -> Option<(Head, &[u32])> {
        let path = &self.tables.get(table.0 as usize)?.path;
        let (head, _) = path.rows.get(row);
        let profile = self.profiles.get(path.profile? as usize).filter(|_| head.is_list())?;
        Some((head, profile.listed(head.place())))
    }

    /// Whether a table is looked up by longest prefixes; with
    /// a key of one word its index is always of one kind.
    pub(crate) fn is_longest(program: &Program, table: TableId) -> bool {
        program.tables.get(table.index()).is_some_and(|table| IndexKind::of(table) == IndexKind::Lpm)
    }

    /// Words of the rows of a table.
    pub(crate) fn stride(program: &Program, table: TableId) -> Option<usize> {
        let table = program.tables.get(table.index())?;
        Some(row::Rows::stride(program, TableState::actions(table)))
    }

    /// Words of the rows of a table without a profile whose hits
    /// change nothing: what generated code reads by itself.
    pub(crate) fn plain_stride(program: &Program, table: TableId) -> Option<usize> {
        let table = program.tables.get(table.index())?;
        let is_plain = table.profile.is_none() && !TableState::counts(table);
        is_plain.then(|| row::Rows::stride(program, TableState::actions(table)))
    }

    /// The same for the rows of the profile of a table whose hits change nothing, where places are those of
    /// the table's own list; and the bits of a hash that count.
    pub(crate) fn member_stride(program: &Program, table: TableId) -> Option<(ProfileId, usize, u64)> {
        let of = program.tables.get(table.index())?;
        let id = of.profile.filter(|&id| ProfileState::first_table(program, id) == Some(table))?;
        // Packets change the lists of such a selector, and generated code reads a list once.
        if program.profiles[id.index()].bits.is_some() {
            return None;
        }
        let stride = row::Rows::stride(program, ProfileState::actions(program, id));
        let mask = ProfileState::hash_mask(&program.profiles[id.index()]);
        (!TableState::counts(of)).then_some((id, stride, mask))
    }

    /// Counts the hit, or the miss against the default entry, and chooses the action.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        table: TableId,
        row: u32,
        hash: u64,
        packet_length: u32,
        now: Time,
    ) -> Chosen<'_> {
        let mut color = meter::COLOR_GREEN;
        if let Some(state) = self.tables.get_mut(table.0 as usize).filter(|state| state.path.counts) {
            color = state.count_hit(row, packet_length, now);
        }
        let (head, args) = self.run(table, row, hash);
        Chosen { head, args, color }
    }

    /// The same where a hit changes nothing; none where it does.
    #[inline]
    pub(crate) fn choose_uncounted(&self, table: TableId, row: u32, hash: u64) -> Option<(Head, &[u64])> {
        let state = self.tables.get(table.0 as usize)?;
        (!state.path.counts).then(|| self.run(table, row, hash))
    }

    /// What a row runs.
    #[inline]
    fn run(&self, table: TableId, row: u32, hash: u64) -> (Head, &[u64]) {
        let Some(state) = self.tables.get(table.0 as usize) else { return (Head::NOTHING, &[]) };
        let (head, args) = state.path.rows.get(row);
        if head.is_final() { (head, args) } else { self.of_profile(state, head, hash) }
    }

    /// What a member or the chosen member of a list runs.
    #[inline]
    fn of_profile(&self, table: &TableState, head: Head, hash: u64) -> (Head, &[u64]) {
        let profile = table.path.profile.and_then(|profile| self.profiles.get(profile as usize));
        let Some(profile) = profile else { return (Head::NOTHING, &[]) };
        let (head, args) = profile.run(head, hash);
        // Places in the list of another table.
        let position = table.positions.get(head.place() as usize).or(table.positions.last());
        (position.map_or(head, |&position| head.at(position)), args)
    }

    /// Whether some member of a value set matches; one word range per key.
    pub(crate) fn value_set_matches<'k>(
        &self,
        set: ValueSetId,
        keys: impl Iterator<Item = &'k [u64]>,
    ) -> bool {
        let set = &self.value_sets[set.index()];
        if set.patterns.is_empty() {
            return false;
        }
        let mut key = smallvec::SmallVec::<[u64; 8]>::new();
        keys.for_each(|words| key.extend_from_slice(words));
        set.patterns.iter().any(|pattern| pattern.matches(&key))
    }
}
