//! Copies of parts of the state, so that a batch which fails can be undone without a copy of the whole.

use p4cc_ir::{CounterId, MeterId, ProfileId, RegisterId, Table, TableId};

use super::State;
use super::filter::FilterState;
use super::meter::MeterCell;
use super::profile::ProfileState;
use super::table::TableState;
use crate::control::CounterCell;

/// What one kind of write may change, as it was.
#[derive(Clone, Debug, Default)]
pub struct Part {
    tables: Vec<(usize, TableState)>,
    profiles: Vec<(usize, ProfileState)>,
    registers: Vec<(usize, Vec<u64>)>,
    filters: Vec<(usize, FilterState)>,
    counters: Vec<(usize, Vec<CounterCell>)>,
    meters: Vec<(usize, Vec<MeterCell>)>,
}

impl Part {
    fn add_table(&mut self, state: &State, at: usize) {
        self.tables.extend(state.tables.get(at).map(|table| (at, table.clone())));
    }

    fn add_register(&mut self, state: &State, register: RegisterId) {
        let at = register.index();
        self.registers.extend(state.registers.get(at).map(|register| (at, register.words.clone())));
    }

    fn add_profile(&mut self, state: &State, profile: ProfileId) {
        let at = profile.index();
        self.profiles.extend(state.profiles.get(at).map(|profile| (at, profile.clone())));
        if let Some(bits) = state.program.profiles.get(at).and_then(|profile| profile.bits) {
            self.add_register(state, bits);
        }
    }
}

impl State {
    /// What writes of a table's entries may change.
    pub fn part_of_table(&self, id: TableId) -> Part {
        let mut part = Part::default();
        let Some(table) = self.program.tables.get(id.index()) else { return part };
        part.add_table(self, id.index());
        if let Some(profile) = table.profile {
            part.add_profile(self, profile);
        }
        if let Some(register) = table.register {
            part.add_register(self, register);
        }
        let filter = table.filter.map(p4cc_ir::FilterId::index);
        part.filters.extend(filter.and_then(|at| self.filters.get(at).map(|filter| (at, filter.clone()))));
        part
    }

    /// What writes of a profile's members and groups may change: default entries of its tables, too.
    pub fn part_of_profile(&self, id: ProfileId) -> Part {
        let mut part = Part::default();
        part.add_profile(self, id);
        let of_profile = |(_, table): &(usize, &Table)| table.profile == Some(id);
        for (at, _) in self.program.tables.iter().enumerate().filter(of_profile) {
            if self.tables.get(at).is_some_and(|table| table.default.of_profile.is_some()) {
                part.add_table(self, at);
            }
        }
        part
    }

    /// What writes of a register's cells may change.
    pub fn part_of_register(&self, id: RegisterId) -> Part {
        match self.program.profiles.iter().position(|profile| profile.bits == Some(id)) {
            Some(profile) => self.part_of_profile(ProfileId::from_index(profile)),
            None => {
                let mut part = Part::default();
                part.add_register(self, id);
                part
            }
        }
    }

    /// What writes of a counter's cells may change.
    pub fn part_of_counter(&self, id: CounterId) -> Part {
        let cells = self.counters.get(id.index()).map(|cells| (id.index(), cells.clone()));
        Part { counters: cells.into_iter().collect(), ..Part::default() }
    }

    /// What writes of a meter's cells may change.
    pub fn part_of_meter(&self, id: MeterId) -> Part {
        let cells = self.meters.get(id.index()).map(|cells| (id.index(), cells.clone()));
        Part { meters: cells.into_iter().collect(), ..Part::default() }
    }

    /// Puts a part back in its place.
    pub fn put_back(&mut self, part: Part) {
        fn each<T, U>(saved: Vec<(usize, U)>, all: &mut [T], put: impl Fn(&mut T, U)) {
            for (at, old) in saved {
                if let Some(now) = all.get_mut(at) {
                    put(now, old);
                }
            }
        }
        each(part.tables, &mut self.tables, |now, old| *now = old);
        each(part.profiles, &mut self.profiles, |now, old| *now = old);
        each(part.registers, &mut self.registers, |now, old| now.words = old);
        each(part.filters, &mut self.filters, |now, old| *now = old);
        each(part.counters, &mut self.counters, |now, old| *now = old);
        each(part.meters, &mut self.meters, |now, old| *now = old);
    }
}
