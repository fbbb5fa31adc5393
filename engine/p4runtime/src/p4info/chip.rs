//! Names and ids of a TNA program's objects as p4c's back end for the chip gives them.
//!
//! All names but those of actions have the pipe's name in front, and externs have resource types of the
//! chip's own. P4Info has them with its own types and without the pipe; the low 24 bits of an id stay.

use std::collections::BTreeMap;

use p4cc_ir::{ControlPlaneName, Filter, FilterKind, PipeView, Program, RegisterKind, TableId, TnaView};

use super::P4InfoError;
use super::assigner::{Assigner, Prefix, aliases};
use crate::proto::p4::config::v1 as p4;
use p4::match_field::Match;

/// An object of the chip's control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChipObject {
    /// Fully qualified, with the pipe in front.
    pub name: String,
    /// Resource type in the top 8 bits, as BF Runtime has it.
    pub id: u32,
}

/// All objects of a TNA program, each list in the order of the program's list of that kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChipObjects {
    /// Of [`Program::actions`].
    pub actions: Vec<ChipObject>,
    /// Of [`Program::tables`].
    pub tables: Vec<ChipObject>,
    /// Of [`Program::profiles`].
    pub profiles: Vec<ChipObject>,
    /// Of [`TnaView::selectors`].
    pub selectors: Vec<ChipObject>,
    /// Of [`Program::counters`], direct or not.
    pub counters: Vec<ChipObject>,
    /// Of [`Program::meters`], direct or not.
    pub meters: Vec<ChipObject>,
    /// Of [`Program::registers`], parameters of register actions among them.
    pub registers: Vec<ChipObject>,
    /// Of [`Program::digests`].
    pub digests: Vec<ChipObject>,
    /// Of [`Program::value_sets`].
    pub value_sets: Vec<ChipObject>,
    /// Of [`TnaView::hashes`].
    pub hashes: Vec<ChipObject>,
    /// Of [`Program::filters`], direct or not.
    pub filters: Vec<ChipObject>,
    /// Port metadata of each pipe.
    pub port_metadata: Vec<ChipObject>,
    /// Snapshots: controls of each pipe, ingress before egress.
    pub snapshots: Vec<Vec<ChipObject>>,
    pub(super) aliases: BTreeMap<String, String>,
}

/// Names of objects of one kind, still without ids.
type Names = Vec<(Prefix, ControlPlaneName)>;

/// What BF Runtime sees of a program beside its tables; none of other architectures than TNA.
pub fn view(program: &Program) -> Option<&TnaView> {
    program.architecture.tna().map(|tna| &tna.view)
}

/// Names of a TNA program's objects with the types of their ids: a list for each field of [`ChipObjects`], in
/// their order, and one of snapshots for each pipe.
fn names_of(program: &Program, view: &TnaView) -> Vec<Names> {
    let qualified = |prefix: Prefix, cp: &ControlPlaneName| {
        // Externs cannot be given an id.
        let explicit_id = cp.explicit_id.filter(|_| prefix == Prefix::Table);
        let name = full_name(&view.pipes, &cp.name);
        (prefix, ControlPlaneName { name, explicit_id, ..Default::default() })
    };
    let direct = |size: Option<u32>, array, attached| if size.is_some() { array } else { attached };
    let is_param = |at: usize| view.params.iter().any(|param| param.param.index() == at);
    let register = |at: usize| match program.registers[at].kind {
        _ if is_param(at) => Prefix::ChipRegisterParam,
        RegisterKind::Direct => Prefix::ChipDirectRegister,
        RegisterKind::Array | RegisterKind::Param => Prefix::ChipRegister,
    };
    let filter = |of: &Filter| match of.kind {
        FilterKind::Lpf => direct(of.size, Prefix::ChipLpf, Prefix::ChipDirectLpf),
        FilterKind::Wred { .. } => direct(of.size, Prefix::ChipWred, Prefix::ChipDirectWred),
    };
    let mut lists: Vec<Names> = vec![
        program.actions.iter().map(|action| (Prefix::Action, plain_name(&view.pipes, &action.cp))).collect(),
        program.tables.iter().map(|table| qualified(Prefix::Table, &table.cp)).collect(),
        program.profiles.iter().map(|of| qualified(Prefix::ChipProfile, &of.cp)).collect(),
        view.selectors.iter().map(|of| qualified(Prefix::ChipSelector, &of.cp)).collect(),
        program
            .counters
            .iter()
            .map(|of| qualified(direct(of.size, Prefix::ChipCounter, Prefix::ChipDirectCounter), &of.cp))
            .collect(),
        program
            .meters
            .iter()
            .map(|of| qualified(direct(of.size, Prefix::ChipMeter, Prefix::ChipDirectMeter), &of.cp))
            .collect(),
        program.registers.iter().enumerate().map(|(at, of)| qualified(register(at), &of.cp)).collect(),
        program.digests.iter().map(|of| qualified(Prefix::ChipDigest, &of.cp)).collect(),
        program.value_sets.iter().map(|of| qualified(Prefix::ChipValueSet, &of.cp)).collect(),
        view.hashes.iter().map(|of| qualified(Prefix::ChipHash, &of.cp)).collect(),
        program.filters.iter().map(|of| qualified(filter(of), &of.cp)).collect(),
        view.pipes.iter().map(|pipe| (Prefix::ChipPortMetadata, named(port_metadata_name(pipe)))).collect(),
    ];
    for pipe in &view.pipes {
        let name = |control: &str| named(format!("{0}.{control}.{control}", pipe.name));
        lists.push(pipe.controls.iter().map(|of| (Prefix::ChipSnapshot, name(&of.name))).collect());
    }
    lists
}

impl ChipObjects {
    /// Names and ids of a TNA program's objects.
    ///
    /// # Errors
    /// An `@id` that cannot be given.
    pub fn new(program: &Program, view: &TnaView) -> Result<Self, P4InfoError> {
        let lists = names_of(program, view);
        let mut assigner = Assigner::default();
        for (prefix, cp) in lists.iter().flatten() {
            assigner.declare(*prefix, cp)?;
        }
        assigner.assign()?;
        let object = |(prefix, cp): &(Prefix, ControlPlaneName)| ChipObject {
            name: cp.name.clone(),
            id: assigner.id(*prefix, cp),
        };
        let mut made = lists.iter().map(|list| list.iter().map(object).collect::<Vec<_>>());
        let mut next = || made.next().unwrap_or_default();
        Ok(Self {
            actions: next(),
            tables: next(),
            profiles: next(),
            selectors: next(),
            counters: next(),
            meters: next(),
            registers: next(),
            digests: next(),
            value_sets: next(),
            hashes: next(),
            filters: next(),
            port_metadata: next(),
            snapshots: made.collect(),
            aliases: aliases(lists.iter().flatten().map(|(_, cp)| cp.name.as_str())),
        })
    }
}

/// How a key matches that matches in the chip's own way.
pub(super) fn match_kind(program: &Program, table: TableId, key: usize) -> Option<Match> {
    let kinds = &view(program)?.match_kinds;
    let found = kinds.iter().find(|(of, at, _)| (*of, *at) == (table, key))?;
    Some(Match::OtherMatchType(found.2.name().to_owned()))
}

/// Most members of a group of a profile, where the chip's selector says it.
pub(super) fn max_group_size(program: &Program, profile: usize) -> Option<u32> {
    let selectors = &view(program)?.selectors;
    selectors.iter().find(|of| of.profile.index() == profile).map(|of| of.max_group_size)
}

/// The number of port metadata's extern type, and what it is called.
pub(crate) const PORT_METADATA: (u32, &str) = (Prefix::ChipPortMetadata as u32, "PortMetadata");

/// What P4Info has of the chip's externs: port metadata, as p4c describes them.
pub(super) fn externs(program: &Program) -> Vec<p4::Extern> {
    let objects = view(program).and_then(|view| ChipObjects::new(program, view).ok());
    let Some(objects) = objects.filter(|objects| !objects.port_metadata.is_empty()) else {
        return Vec::new();
    };
    let instance = |object: &ChipObject| {
        let alias = objects.aliases.get(&object.name).unwrap_or(&object.name).clone();
        let name = object.name.split_once('.').map_or(object.name.as_str(), |(_, name)| name).to_owned();
        let info = prost_types::Any {
            type_url: "type.googleapis.com/barefoot.PortMetadata".to_owned(),
            value: b"ig_intr_md.ingress_port".to_vec(),
        };
        let preamble = p4::Preamble { id: object.id, name, alias, ..Default::default() };
        p4::ExternInstance { preamble: Some(preamble), info: Some(info) }
    };
    let (extern_type_id, name) = PORT_METADATA;
    let instances = objects.port_metadata.iter().map(instance).collect();
    vec![p4::Extern { extern_type_id, extern_type_name: name.to_owned(), instances }]
}

/// Name of the table of port metadata of a pipe.
fn port_metadata_name(pipe: &PipeView) -> String {
    format!("{}.{}.$PORT_METADATA", pipe.name, pipe.port_metadata.parser)
}

fn named(name: String) -> ControlPlaneName {
    ControlPlaneName { name, ..ControlPlaneName::default() }
}

/// A name with the pipe in front. With several pipes the program's names have it already.
fn full_name(pipes: &[PipeView], name: &str) -> String {
    match pipes {
        [pipe] if !pipe.named => format!("{}.{name}", pipe.name),
        _ => name.to_owned(),
    }
}

/// An action's name, which never has the pipe in front: actions of several pipes are one.
fn plain_name(pipes: &[PipeView], cp: &ControlPlaneName) -> ControlPlaneName {
    let without = pipes
        .iter()
        .filter(|pipe| pipe.named)
        .find_map(|pipe| cp.name.strip_prefix(pipe.name.as_str()).and_then(|rest| rest.strip_prefix('.')));
    let name = without.unwrap_or(&cp.name).to_owned();
    ControlPlaneName { name, explicit_id: cp.explicit_id, ..ControlPlaneName::default() }
}
