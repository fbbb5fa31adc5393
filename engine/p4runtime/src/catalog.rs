//! A program seen by a controller: from ids of its P4Info to objects of the IR, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_ir::{
    ActionId, Bits, ControlPlaneName, CounterId, DigestId, MeterId, ProfileId, Program, RegisterId, Table,
    TableId, ValueSetId,
};

use crate::binding::{Binder, Bound, own_action_ids};
use crate::errors::Failure;
use crate::executes::Executes;
use crate::objects::{ActionInfo, CellInfo, HeaderPart, KeyInfo, TableInfo};
use crate::proto::p4::config::v1::{self as p4, P4Info};
use crate::proto::p4::v1::P4Data;
use crate::translation::{Form, Translations};

/// Ids of objects in the order of the program's lists; 0 for what the P4Info does not name.
#[derive(Debug)]
pub(crate) struct ObjectIds {
    pub(crate) actions: Vec<u32>,
    pub(crate) digests: Vec<u32>,
}

/// All objects of a program by their ids.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) program: Arc<Program>,
    pub(crate) ids: ObjectIds,
    tables: BTreeMap<u32, TableInfo>,
    actions: Vec<ActionInfo>,
    profiles: BTreeMap<u32, ProfileId>,
    counters: BTreeMap<u32, CounterId>,
    meters: BTreeMap<u32, MeterId>,
    registers: BTreeMap<u32, (RegisterId, CellInfo)>,
    value_sets: BTreeMap<u32, (ValueSetId, Vec<KeyInfo>)>,
    /// By id, with the position in the program.
    digests: BTreeMap<u32, (DigestId, CellInfo)>,
    headers: BTreeMap<String, Vec<HeaderPart>>,
    /// Sizes that the P4Info gives to arrays.
    sizes: BTreeMap<u32, u32>,
    /// Forms of arrays' indices, where they are translated.
    indices: BTreeMap<u32, Form>,
    has_translations: bool,
    /// Tables and profiles that the P4Info names and the program does without.
    left_out: BTreeMap<u32, String>,
    /// Which actions execute direct resources.
    pub(crate) executes: Executes,
}

impl Catalog {
    /// Indexes a program by a P4Info of it.
    ///
    /// # Errors
    /// The P4Info names what the program does not have, or has as something else.
    pub(crate) fn new(program: Arc<Program>, info: &P4Info) -> Result<Self, Failure> {
        let translations = Translations::new(info);
        let p = &*program;
        let mut binder = Binder::new(p, info, &translations);
        binder.no_externs()?;
        let ids = ObjectIds { actions: own_action_ids(p), digests: vec![0; p.digests.len()] };
        let mut made = Self {
            program: Arc::clone(&program),
            ids,
            has_translations: !translations.is_empty(),
            tables: BTreeMap::new(),
            actions: Vec::with_capacity(p.actions.len()),
            profiles: BTreeMap::new(),
            counters: BTreeMap::new(),
            meters: BTreeMap::new(),
            registers: BTreeMap::new(),
            value_sets: BTreeMap::new(),
            digests: BTreeMap::new(),
            headers: binder.controller_headers()?,
            sizes: BTreeMap::new(),
            indices: BTreeMap::new(),
            left_out: binder.left_out(),
            executes: Executes::of(p),
        };
        made.bind_actions(&mut binder)?;
        let names = cps(&p.profiles, |one| &one.cp);
        let profiles = binder.profiles();
        made.bind_profiles(binder.bind("action profile", &profiles, |one| one.preamble.as_ref(), names)?)?;
        let (tables, names) = (binder.tables(), cps(&p.tables, |one| &one.cp));
        for (id, at, given) in binder.bind("table", &tables, |one| one.preamble.as_ref(), names)? {
            made.tables.insert(id, binder.table(id, TableId::from_index(at), given)?);
        }
        made.bind_arrays(&mut binder)?;
        made.bind_data(&mut binder)?;
        Ok(made)
    }

    /// Whether the mapping of translated values grows as a controller writes: then each device has its own.
    pub(crate) fn has_translations(&self) -> bool {
        self.has_translations
    }

    /// Copies of one action, for different tables, are one action to the controller.
    fn bind_actions(&mut self, binder: &mut Binder<'_>) -> Result<(), Failure> {
        let (program, actions) = (Arc::clone(&self.program), binder.actions());
        let names = cps(&program.actions, |one| &one.cp);
        let bound = binder.bind("action", &actions, |one| one.preamble.as_ref(), names)?;
        let by_name: BTreeMap<&str, (u32, &p4::Action)> = bound
            .iter()
            .map(|(id, at, given)| (program.actions[*at].cp.name.as_str(), (*id, **given)))
            .collect();
        for (at, action) in program.actions.iter().enumerate() {
            let given = by_name.get(action.cp.name.as_str());
            let own_id = self.ids.actions[at];
            let free = |id: u32| bound.iter().all(|(other, ..)| *other != id);
            self.ids.actions[at] = match given {
                Some((id, _)) => *id,
                None if free(own_id) => own_id,
                None => 0,
            };
            self.actions.push(binder.action(at, given.map(|(_, given)| *given), self.ids.actions[at])?);
        }
        Ok(())
    }

    fn bind_profiles(&mut self, bound: Vec<Bound<'_, &p4::ActionProfile>>) -> Result<(), Failure> {
        for (id, at, given) in bound {
            let own = &self.program.profiles[at];
            if given.with_selector != own.selector.is_some() {
                let name = &own.cp.name;
                let kind = |selector| if selector { "an action selector" } else { "an action profile" };
                let (given, own) = (kind(given.with_selector), kind(own.selector.is_some()));
                return Err(Failure::invalid(format!(
                    "{name} is {given} in the P4Info, {own} in the program"
                )));
            }
            self.profiles.insert(id, ProfileId::from_index(at));
        }
        Ok(())
    }

    /// Counters and meters. Direct ones are named by the
    /// tables' entries: only their names must be the program's.
    fn bind_arrays(&mut self, binder: &mut Binder<'_>) -> Result<(), Failure> {
        let (program, info) = (Arc::clone(&self.program), binder.info);
        let p = &*program;
        let counters = |direct| {
            cps(&p.counters, |one| &one.cp).filter(move |(at, _)| p.counters[*at].size.is_none() == direct)
        };
        let meters = |direct| {
            cps(&p.meters, |one| &one.cp).filter(move |(at, _)| p.meters[*at].size.is_none() == direct)
        };
        for (id, at, given) in
            binder.bind("counter", &info.counters, |one| one.preamble.as_ref(), counters(false))?
        {
            self.counters.insert(id, CounterId::from_index(at));
            self.array(binder, id, given.size, given.index_type_name.as_ref());
        }
        for (id, at, given) in
            binder.bind("meter", &info.meters, |one| one.preamble.as_ref(), meters(false))?
        {
            self.meters.insert(id, MeterId::from_index(at));
            self.array(binder, id, given.size, given.index_type_name.as_ref());
        }
        binder.bind("direct counter", &info.direct_counters, |one| one.preamble.as_ref(), counters(true))?;
        binder.bind("direct meter", &info.direct_meters, |one| one.preamble.as_ref(), meters(true))?;
        Ok(())
    }

    /// Size and index of an array.
    fn array(&mut self, binder: &Binder<'_>, id: u32, size: i64, index: Option<&p4::P4NamedType>) {
        if let Some(size) = u32::try_from(size).ok().filter(|size| *size > 0) {
            self.sizes.insert(id, size);
        }
        if let Some(form) = binder.index(index) {
            self.indices.insert(id, form);
        }
    }

    /// Registers, digests and value sets.
    fn bind_data(&mut self, binder: &mut Binder<'_>) -> Result<(), Failure> {
        let (program, info) = (Arc::clone(&self.program), binder.info);
        let p = &*program;
        let names = cps(&p.registers, |one| &one.cp);
        for (id, at, given) in binder.bind("register", &info.registers, |one| one.preamble.as_ref(), names)? {
            let own = &p.registers[at];
            let leaves = match &own.composite {
                Some(composite) => composite.fields.iter().map(|field| field.ty).collect(),
                None => vec![own.ty],
            };
            let place = format!("register {}", own.cp.name);
            let cell = binder.data(&place, given.type_spec.as_ref(), leaves)?;
            self.registers.insert(id, (RegisterId::from_index(at), cell));
            self.array(binder, id, given.size.into(), given.index_type_name.as_ref());
        }
        let names = binder.digest_names();
        let names = names.iter().enumerate();
        for (id, at, given) in binder.bind("digest", &info.digests, |one| one.preamble.as_ref(), names)? {
            let own = &p.digests[at];
            let leaves = own.fields.iter().map(|field| field.ty).collect();
            let place = format!("digest {}", own.cp.name);
            let cell = binder.data(&place, given.type_spec.as_ref(), leaves)?;
            self.digests.insert(id, (DigestId::from_index(at), cell));
            for (other, digest) in p.digests.iter().enumerate().filter(|(_, one)| one.cp.name == own.cp.name)
            {
                if digest.fields == own.fields {
                    self.ids.digests[other] = id;
                }
            }
        }
        let names = cps(&p.value_sets, |one| &one.cp);
        for (id, at, given) in
            binder.bind("value set", &info.value_sets, |one| one.preamble.as_ref(), names)?
        {
            self.value_sets.insert(id, (ValueSetId::from_index(at), binder.value_set(at, given)?));
        }
        Ok(())
    }

    fn unknown(&self, what: &str, id: u32) -> Failure {
        if let Some(name) = self.left_out.get(&id) {
            return Failure::unimplemented(format!(
                "{what} {name} is in the P4Info, but its compiler left it out of the program: no packet reaches it"
            ));
        }
        let program = &self.program.name;
        Failure::not_found(format!(
            "{program} has no {what} with id {id} ({id:#010x}); its P4Info lists the ids"
        ))
    }

    pub(crate) fn table(&self, id: u32) -> Result<&TableInfo, Failure> {
        self.tables.get(&id).ok_or_else(|| self.unknown("table", id))
    }

    /// Tables in the order of their ids.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableInfo> {
        self.tables.values()
    }

    pub(crate) fn ir_table(&self, table: TableId) -> &Table {
        &self.program.tables[table.index()]
    }

    pub(crate) fn table_name(&self, table: TableId) -> &str {
        &self.program.tables[table.index()].cp.name
    }

    pub(crate) fn action(&self, action: ActionId) -> &ActionInfo {
        &self.actions[action.index()]
    }

    pub(crate) fn action_name(&self, action: ActionId) -> &str {
        &self.program.actions[action.index()].cp.name
    }

    pub(crate) fn profile(&self, id: u32) -> Result<ProfileId, Failure> {
        self.profiles.get(&id).copied().ok_or_else(|| self.unknown("action profile", id))
    }

    pub(crate) fn profiles(&self) -> impl Iterator<Item = (u32, ProfileId)> {
        self.profiles.iter().map(|(&id, &profile)| (id, profile))
    }

    /// A table that a profile implements; all tables of one profile have the same actions.
    pub(crate) fn table_of_profile(&self, profile: ProfileId) -> Option<&TableInfo> {
        self.tables.values().find(|info| self.ir_table(info.table).profile == Some(profile))
    }

    /// An indirect counter.
    pub(crate) fn counter(&self, id: u32) -> Result<(CounterId, u32), Failure> {
        let counter = self.counters.get(&id).copied();
        let sized = counter.and_then(|counter| Some((counter, self.counter_size(id, counter)?)));
        sized.ok_or_else(|| self.unknown("counter", id))
    }

    /// Indirect counters in the order of their ids.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (u32, CounterId, u32)> {
        self.counters
            .iter()
            .filter_map(|(&id, &counter)| Some((id, counter, self.counter_size(id, counter)?)))
    }

    /// An indirect meter.
    pub(crate) fn meter(&self, id: u32) -> Result<(MeterId, u32), Failure> {
        let meter = self.meters.get(&id).copied();
        let sized = meter.and_then(|meter| Some((meter, self.meter_size(id, meter)?)));
        sized.ok_or_else(|| self.unknown("meter", id))
    }

    /// Indirect meters in the order of their ids.
    pub(crate) fn meters(&self) -> impl Iterator<Item = (u32, MeterId, u32)> {
        self.meters.iter().filter_map(|(&id, &meter)| Some((id, meter, self.meter_size(id, meter)?)))
    }

    fn counter_size(&self, id: u32, counter: CounterId) -> Option<u32> {
        Some(self.size(id, self.program.counters[counter.index()].size?))
    }

    fn meter_size(&self, id: u32, meter: MeterId) -> Option<u32> {
        Some(self.size(id, self.program.meters[meter.index()].size?))
    }

    /// Cells of an array that the controller sees, of those that it has.
    fn size(&self, id: u32, own: u32) -> u32 {
        self.sizes.get(&id).map_or(own, |given| own.min(*given))
    }

    /// A register, its cells and how many the controller sees.
    pub(crate) fn register(&self, id: u32) -> Result<(RegisterId, &CellInfo, u32), Failure> {
        let (register, cell) = self.registers.get(&id).ok_or_else(|| self.unknown("register", id))?;
        Ok((*register, cell, self.size(id, self.program.registers[register.index()].size)))
    }

    /// Ids of all registers.
    pub(crate) fn register_ids(&self) -> impl Iterator<Item = u32> {
        self.registers.keys().copied()
    }

    /// The cell of an array that an index of the controller names.
    ///
    /// # Errors
    /// A translated index stands for no cell.
    pub(crate) fn cell(&self, id: u32, index: i64, what: impl Fn() -> String) -> Result<i64, Failure> {
        let Some(form) = self.indices.get(&id) else { return Ok(index) };
        let value = form.parse(&index.to_be_bytes(), what)?;
        Ok(value.low_u64().cast_signed())
    }

    /// The controller's index of a cell.
    pub(crate) fn index(&self, id: u32, at: u32) -> i64 {
        let Some(form) = self.indices.get(&id) else { return at.into() };
        let given = form.given(&Bits::from_u128(form.width, at.into()));
        given.iter().fold(0, |index, &byte| index << 8 | i64::from(byte))
    }

    /// A value set and its keys.
    pub(crate) fn value_set(&self, id: u32) -> Result<(ValueSetId, &[KeyInfo]), Failure> {
        let found = self.value_sets.get(&id).map(|(set, keys)| (*set, keys.as_slice()));
        found.ok_or_else(|| self.unknown("value set", id))
    }

    /// Ids of all value sets.
    pub(crate) fn value_set_ids(&self) -> impl Iterator<Item = u32> {
        self.value_sets.keys().copied()
    }

    pub(crate) fn digest(&self, id: u32) -> Result<DigestId, Failure> {
        let found = self.digests.get(&id).map(|(digest, _)| *digest);
        found.ok_or_else(|| self.unknown("digest", id))
    }

    /// The message of a digest, from its values.
    pub(crate) fn digest_data(&self, id: u32, values: &[Bits]) -> Option<P4Data> {
        let (_, cell) = self.digests.get(&id)?;
        Some(cell.form.data(&mut values.iter().cloned()))
    }

    /// The fields of `packet_in` or `packet_out`, if there is such a header.
    pub(crate) fn header(&self, name: &str) -> Option<&[HeaderPart]> {
        self.headers.get(name).map(Vec::as_slice)
    }
}

/// The names of objects, with their positions.
fn cps<T>(all: &[T], cp: fn(&T) -> &ControlPlaneName) -> impl Iterator<Item = (usize, &ControlPlaneName)> {
    all.iter().map(cp).enumerate()
}
