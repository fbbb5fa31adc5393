//! The ids of a program's objects, of one for a chip too, and of a source without `main`.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::{ControlPlaneName, ControllerHeader, HeaderType, Library, Program};

use super::P4InfoError;
use super::assigner::{Assigner, Prefix, aliases};
use super::chip::{self, ChipObject, ChipObjects};

/// Ids of a program's objects, each list in the order of the program's list of that kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// Of [`Program::actions`].
    pub actions: Vec<u32>,
    /// Of [`Program::tables`].
    pub tables: Vec<u32>,
    /// Of [`Program::value_sets`].
    pub value_sets: Vec<u32>,
    /// Of [`Program::controller_headers`].
    pub controller_headers: Vec<u32>,
    /// Of [`Program::profiles`].
    pub profiles: Vec<u32>,
    /// Of [`Program::counters`], direct or not.
    pub counters: Vec<u32>,
    /// Of [`Program::meters`], direct or not.
    pub meters: Vec<u32>,
    /// Of [`Program::registers`].
    pub registers: Vec<u32>,
    /// Of [`Program::digests`].
    pub digests: Vec<u32>,
    aliases: BTreeMap<String, String>,
}

impl Ids {
    /// Computes all ids and aliases.
    ///
    /// # Errors
    /// An `@id` with another resource's prefix, or given twice.
    pub fn new(program: &Program) -> Result<Self, P4InfoError> {
        if let Some(view) = chip::view(program) {
            let mut ids = Self::of_chip(&ChipObjects::new(program, view)?, program);
            let headers = hashed_headers(&program.controller_headers, &program.header_types);
            let mut lists = Lists::default();
            lists[3] = headers.iter().map(|cp| (Prefix::ControllerHeader, cp)).collect();
            ids.controller_headers = Self::of(lists)?.controller_headers;
            return Ok(ids);
        }
        let direct = |size: Option<u32>, array, attached| if size.is_some() { array } else { attached };
        let counters = program
            .counters
            .iter()
            .map(|c| (direct(c.size, Prefix::Counter, Prefix::DirectCounter), &c.cp))
            .collect::<Vec<_>>();
        let meters = program
            .meters
            .iter()
            .map(|m| (direct(m.size, Prefix::Meter, Prefix::DirectMeter), &m.cp))
            .collect::<Vec<_>>();
        let headers = hashed_headers(&program.controller_headers, &program.header_types);
        Self::of([
            program.actions.iter().map(|a| (Prefix::Action, &a.cp)).collect(),
            program.tables.iter().map(|t| (Prefix::Table, &t.cp)).collect(),
            program.value_sets.iter().map(|v| (Prefix::ValueSet, &v.cp)).collect(),
            headers.iter().map(|cp| (Prefix::ControllerHeader, cp)).collect(),
            program.profiles.iter().map(|p| (Prefix::ActionProfile, &p.cp)).collect(),
            counters,
            meters,
            program.registers.iter().map(|r| (Prefix::Register, &r.cp)).collect(),
            program.digests.iter().map(|d| (Prefix::Digest, &d.cp)).collect(),
        ])
    }

    /// Those of a source without `main`.
    pub(super) fn of_library(library: &Library) -> Result<Self, P4InfoError> {
        let headers = hashed_headers(&library.controller_headers, &library.header_types);
        let mut lists = Lists::default();
        lists[3] = headers.iter().map(|cp| (Prefix::ControllerHeader, cp)).collect();
        Self::of(lists)
    }

    /// The ids of a chip's objects with P4Info's resource types, and aliases by the program's own names.
    fn of_chip(objects: &ChipObjects, program: &Program) -> Self {
        let mut taken = BTreeSet::new();
        let mut with = |list: &[ChipObject], prefix: &dyn Fn(usize) -> Prefix| -> Vec<u32> {
            let id = |(at, object): (usize, &ChipObject)| {
                let mut low = object.id & 0x00ff_ffff;
                loop {
                    let id = prefix(at).bits() | low;
                    if taken.insert(id) {
                        return id;
                    }
                    low = (low + 1) & 0x00ff_ffff;
                }
            };
            list.iter().enumerate().map(id).collect()
        };
        let size = |size: Option<u32>, array, direct| if size.is_some() { array } else { direct };
        let counter = |at: usize| size(program.counters[at].size, Prefix::Counter, Prefix::DirectCounter);
        let meter = |at: usize| size(program.meters[at].size, Prefix::Meter, Prefix::DirectMeter);
        let mut ids = Self {
            actions: objects.actions.iter().map(|action| action.id).collect(),
            tables: objects.tables.iter().map(|table| table.id).collect(),
            value_sets: with(&objects.value_sets, &|_| Prefix::ValueSet),
            profiles: with(&objects.profiles, &|_| Prefix::ActionProfile),
            counters: with(&objects.counters, &counter),
            meters: with(&objects.meters, &meter),
            registers: with(&objects.registers, &|_| Prefix::Register),
            digests: with(&objects.digests, &|_| Prefix::Digest),
            ..Self::default()
        };
        let mut alias = |cp: &ControlPlaneName, object: &ChipObject| {
            let alias = objects.aliases.get(&object.name).unwrap_or(&object.name);
            ids.aliases.insert(cp.name.clone(), alias.clone());
        };
        program.actions.iter().zip(&objects.actions).for_each(|(of, object)| alias(&of.cp, object));
        program.tables.iter().zip(&objects.tables).for_each(|(of, object)| alias(&of.cp, object));
        program.value_sets.iter().zip(&objects.value_sets).for_each(|(of, object)| alias(&of.cp, object));
        program.profiles.iter().zip(&objects.profiles).for_each(|(of, object)| alias(&of.cp, object));
        program.counters.iter().zip(&objects.counters).for_each(|(of, object)| alias(&of.cp, object));
        program.meters.iter().zip(&objects.meters).for_each(|(of, object)| alias(&of.cp, object));
        program.registers.iter().zip(&objects.registers).for_each(|(of, object)| alias(&of.cp, object));
        program.digests.iter().zip(&objects.digests).for_each(|(of, object)| alias(&of.cp, object));
        ids
    }

    fn of(lists: Lists<'_>) -> Result<Self, P4InfoError> {
        let mut assigner = Assigner::default();
        for (prefix, cp) in lists.iter().flatten() {
            assigner.declare(*prefix, cp)?;
        }
        assigner.assign()?;
        let aliases =
            aliases(lists.iter().flatten().filter(|(_, cp)| !cp.hidden).map(|(_, cp)| cp.name.as_str()));
        let mut ids =
            lists.iter().map(|list| list.iter().map(|(prefix, cp)| assigner.id(*prefix, cp)).collect());
        let mut next = || ids.next().unwrap_or_default();
        Ok(Self {
            actions: next(),
            tables: next(),
            value_sets: next(),
            controller_headers: next(),
            profiles: next(),
            counters: next(),
            meters: next(),
            registers: next(),
            digests: next(),
            aliases,
        })
    }

    /// The alias of a fully qualified name.
    pub(crate) fn alias<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }
}

/// Objects by kind, in the order of the fields of [`Ids`].
type Lists<'a> = [Vec<(Prefix, &'a ControlPlaneName)>; 9];

/// Controller headers under the names that p4c hashes: of
/// the header types, not those that the annotations give.
fn hashed_headers(headers: &[ControllerHeader], types: &[HeaderType]) -> Vec<ControlPlaneName> {
    let named = |header: &ControllerHeader| ControlPlaneName {
        name: types[header.ty.index()].name.clone(),
        ..header.cp.clone()
    };
    headers.iter().map(named).collect()
}
