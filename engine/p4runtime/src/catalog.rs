//! A program seen by a controller: from ids of the protocol to objects of the IR, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_ir::{
    ActionId, ActionScope, CounterId, DigestId, MatchKind, MeterId, ProfileId, Program, RegisterId, Table,
    TableId, ValueSetId,
};

use crate::errors::Failure;
use crate::p4info::{Ids, P4InfoError, field_ids, matched_keys, with_ids};
use crate::proto::p4::config::v1::P4Info;

/// A key of a table as the protocol names it.
#[derive(Clone, Debug)]
pub(crate) struct KeyInfo {
    pub(crate) id: u32,
    /// Position among the keys that entries match.
    pub(crate) position: usize,
    pub(crate) name: String,
    pub(crate) width: u32,
    pub(crate) kind: MatchKind,
}

/// Keys of a value set's members as the protocol names them.
pub(crate) fn value_set_keys(set: &p4cc_ir::ValueSet) -> Vec<KeyInfo> {
    let ids = field_ids(set.keys.iter().map(|(cp, ..)| cp));
    let keys = set.keys.iter().zip(ids).enumerate();
    keys.map(|(position, ((cp, ty, kind), id))| KeyInfo {
        id,
        position,
        name: cp.name.clone(),
        width: ty.width(),
        kind: *kind,
    })
    .collect()
}

/// A table as the protocol names it.
#[derive(Clone, Debug)]
pub(crate) struct TableInfo {
    pub(crate) table: TableId,
    pub(crate) id: u32,
    pub(crate) keys: Vec<KeyInfo>,
    /// Some key is ternary, range or optional, so entries have priorities.
    pub(crate) has_priority: bool,
    /// By id, where each may stand.
    pub(crate) actions: BTreeMap<u32, (ActionId, ActionScope)>,
}

/// An action as the protocol names it.
#[derive(Clone, Debug)]
pub(crate) struct ActionInfo {
    pub(crate) id: u32,
    /// Id, name and width of each parameter, in order.
    pub(crate) params: Vec<(u32, String, u32)>,
}

/// All objects of a program by their ids.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) program: Arc<Program>,
    pub(crate) p4info: P4Info,
    pub(crate) ids: Ids,
    tables: BTreeMap<u32, TableInfo>,
    actions: Vec<ActionInfo>,
    profiles: BTreeMap<u32, ProfileId>,
    counters: BTreeMap<u32, CounterId>,
    meters: BTreeMap<u32, MeterId>,
    registers: BTreeMap<u32, RegisterId>,
    value_sets: BTreeMap<u32, ValueSetId>,
    digests: BTreeMap<u32, DigestId>,
}

impl Catalog {
    /// Indexes a program.
    ///
    /// # Errors
    /// An `@id` cannot be given.
    pub(crate) fn new(program: Arc<Program>) -> Result<Self, P4InfoError> {
        let ids = Ids::new(&program)?;
        let tables = program
            .tables
            .iter()
            .enumerate()
            .filter(|(_, table)| !table.cp.hidden)
            .map(|(at, table)| (ids.tables[at], table_info(&program, &ids, TableId::from_index(at), table)))
            .collect();
        let actions = program
            .actions
            .iter()
            .zip(&ids.actions)
            .map(|(action, &id)| {
                let param_ids = field_ids(action.params.iter().map(|param| &param.cp));
                let params = param_ids.into_iter().zip(&action.params).map(|(id, param)| {
                    (id, param.cp.name.clone(), program.vars[param.var.index()].ty.width())
                });
                ActionInfo { id, params: params.collect() }
            })
            .collect();
        let visible = |ids: &[u32], hidden: &dyn Fn(usize) -> bool| {
            let seen = ids.iter().enumerate().filter(|(at, _)| !hidden(*at));
            seen.map(|(at, &id)| (id, at)).collect::<Vec<_>>()
        };
        let p = &program;
        Ok(Self {
            p4info: with_ids(p, &ids),
            profiles: index(visible(&ids.profiles, &|at| p.profiles[at].cp.hidden), ProfileId::from_index),
            counters: index(visible(&ids.counters, &|at| p.counters[at].cp.hidden), CounterId::from_index),
            meters: index(visible(&ids.meters, &|at| p.meters[at].cp.hidden), MeterId::from_index),
            registers: index(
                visible(&ids.registers, &|at| p.registers[at].cp.hidden),
                RegisterId::from_index,
            ),
            value_sets: index(
                visible(&ids.value_sets, &|at| p.value_sets[at].cp.hidden),
                ValueSetId::from_index,
            ),
            digests: index(visible(&ids.digests, &|at| p.digests[at].cp.hidden), DigestId::from_index),
            tables,
            actions,
            ids,
            program,
        })
    }

    pub(crate) fn table(&self, id: u32) -> Result<&TableInfo, Failure> {
        self.tables.get(&id).ok_or_else(|| unknown("table", id, &self.program.name))
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
        self.profiles.get(&id).copied().ok_or_else(|| unknown("action profile", id, &self.program.name))
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
        let sized = counter.and_then(|counter| Some((counter, self.program.counters[counter.index()].size?)));
        sized.ok_or_else(|| unknown("counter", id, &self.program.name))
    }

    /// Indirect counters in the order of their ids.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (u32, CounterId, u32)> {
        let sized = |counter: CounterId| self.program.counters[counter.index()].size;
        self.counters.iter().filter_map(move |(&id, &counter)| Some((id, counter, sized(counter)?)))
    }

    /// An indirect meter.
    pub(crate) fn meter(&self, id: u32) -> Result<(MeterId, u32), Failure> {
        let meter = self.meters.get(&id).copied();
        let sized = meter.and_then(|meter| Some((meter, self.program.meters[meter.index()].size?)));
        sized.ok_or_else(|| unknown("meter", id, &self.program.name))
    }

    /// Indirect meters in the order of their ids.
    pub(crate) fn meters(&self) -> impl Iterator<Item = (u32, MeterId, u32)> {
        let sized = |meter: MeterId| self.program.meters[meter.index()].size;
        self.meters.iter().filter_map(move |(&id, &meter)| Some((id, meter, sized(meter)?)))
    }

    pub(crate) fn register(&self, id: u32) -> Result<RegisterId, Failure> {
        self.registers.get(&id).copied().ok_or_else(|| unknown("register", id, &self.program.name))
    }

    pub(crate) fn registers(&self) -> impl Iterator<Item = (u32, RegisterId)> {
        self.registers.iter().map(|(&id, &register)| (id, register))
    }

    pub(crate) fn value_set(&self, id: u32) -> Result<ValueSetId, Failure> {
        self.value_sets.get(&id).copied().ok_or_else(|| unknown("value set", id, &self.program.name))
    }

    pub(crate) fn value_sets(&self) -> impl Iterator<Item = (u32, ValueSetId)> {
        self.value_sets.iter().map(|(&id, &set)| (id, set))
    }

    pub(crate) fn digest(&self, id: u32) -> Result<DigestId, Failure> {
        self.digests.get(&id).copied().ok_or_else(|| unknown("digest", id, &self.program.name))
    }
}

fn unknown(what: &str, id: u32, program: &str) -> Failure {
    Failure::not_found(format!("{program} has no {what} with id {id} ({id:#010x}); its P4Info lists the ids"))
}

fn index<T>(ids: Vec<(u32, usize)>, from_index: fn(usize) -> T) -> BTreeMap<u32, T> {
    ids.into_iter().map(|(id, at)| (id, from_index(at))).collect()
}

fn table_info(program: &Program, ids: &Ids, id: TableId, table: &Table) -> TableInfo {
    let keys: Vec<KeyInfo> = matched_keys(table)
        .into_iter()
        .enumerate()
        .map(|(position, (id, at))| {
            let key = &table.keys[at];
            let width = program.vars[key.var.index()].ty.width();
            KeyInfo { id, position, name: key.cp.name.clone(), width, kind: key.kind }
        })
        .collect();
    let has_priority = keys
        .iter()
        .any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
    let actions =
        table.actions.iter().map(|a| (ids.actions[a.action.index()], (a.action, a.scope))).collect();
    TableInfo { table: id, id: ids.tables[id.index()], keys, has_priority, actions }
}
