//! P4Info of a program: what a controller needs to know of it, as p4c would print it.
//!
//! Hidden objects and `selector` keys do not appear. The order is the program's.

mod annotations;
mod assigner;
pub mod chip;
mod ids;
mod text;
mod types;

use std::collections::BTreeSet;

use p4cc_ir::{
    ActionCall, ActionId, ActionParam, ActionScope, ControlPlaneName, ControllerHeader, CountUnit, DataTypes,
    Func, Inst, Library, MatchKind, Program, Register, RegisterKind, Table, TableId, ValueSet, VarType,
};

use crate::proto::p4::config::v1 as p4;
use annotations::Annotations;
pub use annotations::plain as plain_annotations;
pub use assigner::field_ids;
pub use ids::Ids;
pub use text::{ReflectError, p4info_from_text, p4info_text};
use types::{bitwidth, data_type, param_type_name, signed, type_name};

/// Why a program has no P4Info.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum P4InfoError {
    /// An `@id` of another kind of object.
    #[error(
        "{name}: @id {id:#010x} has another resource's prefix; give it {expected:#04x} or none in the top 8 bits"
    )]
    WrongPrefix {
        /// The object.
        name: String,
        /// Its `@id`.
        id: u32,
        /// The prefix it should have.
        expected: u8,
    },
    /// An `@id` given twice.
    #[error("{name}: @id {id:#010x} is taken by another object; choose another")]
    DuplicateId {
        /// The second object.
        name: String,
        /// The id.
        id: u32,
    },
    /// More objects than ids.
    #[error("{name}: all ids of its kind are taken")]
    NoFreeId {
        /// The object.
        name: String,
    },
}

/// P4Info of a program.
///
/// # Errors
/// An `@id` that cannot be given.
pub fn p4info(program: &Program) -> Result<p4::P4Info, P4InfoError> {
    Ok(Builder { program, ids: &Ids::new(program)? }.build())
}

/// P4Info of a source without `main`: no pipeline, so that neither tables nor a package are in it.
///
/// # Errors
/// An `@id` that cannot be given.
pub fn library_p4info(library: &Library) -> Result<p4::P4Info, P4InfoError> {
    let Library { controller_headers: headers, data_types, errors, .. } = library;
    let type_info = (!headers.is_empty()).then(|| types::type_info(data_types, errors));
    let controller_packet_metadata = controller_headers(headers, data_types, &Ids::of_library(library)?);
    Ok(p4::P4Info { controller_packet_metadata, type_info, ..Default::default() })
}

struct Builder<'a> {
    program: &'a Program,
    ids: &'a Ids,
}

impl Builder<'_> {
    fn build(&self) -> p4::P4Info {
        let program = self.program;
        let mut info = p4::P4Info {
            pkg_info: Some(annotations::package(program.architecture.name(), &program.package_annotations)),
            tables: self.visible(&program.tables, |t| &t.cp, |at, table| self.table(at, table)),
            action_profiles: self.visible(&program.profiles, |p| &p.cp, |at, _| self.profile(at)),
            registers: self.registers(),
            ..Default::default()
        };
        self.actions(&mut info);
        self.counters_and_meters(&mut info);
        self.digests(&mut info);
        info.controller_packet_metadata =
            controller_headers(&program.controller_headers, &program.data_types, self.ids);
        self.value_sets(&mut info);
        info.externs = chip::externs(self.program);
        let types = types::type_info(&program.data_types, &program.errors);
        if types != p4::P4TypeInfo::default() || self.asks_for_types() {
            info.type_info = Some(types);
        }
        info
    }

    /// Whether the program has something whose types p4c looks at: then it writes `type_info`, be it empty.
    fn asks_for_types(&self) -> bool {
        let program = self.program;
        let calls = |func: &Func| {
            let mut insts = func.blocks.iter().flat_map(|block| &block.insts);
            insts.any(|inst| matches!(inst, Inst::Extern(_)))
        };
        !program.tables.is_empty()
            || !program.counters.is_empty()
            || !program.meters.is_empty()
            || !program.registers.is_empty()
            || !program.profiles.is_empty()
            || !program.controller_headers.is_empty()
            || program.funcs.iter().any(calls)
    }

    fn visible<T, U>(
        &self,
        of: &[T],
        cp: fn(&T) -> &ControlPlaneName,
        build: impl Fn(usize, &T) -> U,
    ) -> Vec<U> {
        let mut shown: Vec<(usize, &T)> = of.iter().enumerate().filter(|(_, t)| !cp(t).hidden).collect();
        shown.sort_by_key(|(_, t)| cp(t).rank);
        shown.into_iter().map(|(at, t)| build(at, t)).collect()
    }

    /// Registers with a cell for every index; P4Runtime has no registers of entries.
    fn registers(&self) -> Vec<p4::Register> {
        let of_entries = |at: usize| self.program.registers[at].kind == RegisterKind::Direct;
        let build = |at: usize, register: &Register| {
            (!of_entries(at)).then(|| p4::Register {
                preamble: self.preamble(self.ids.registers[at], &register.cp),
                type_spec: Some(data_type(&register.data_type)),
                size: signed(register.size),
                index_type_name: self.index_type(&register.cp),
            })
        };
        self.visible(&self.program.registers, |r| &r.cp, build).into_iter().flatten().collect()
    }

    fn preamble(&self, id: u32, cp: &ControlPlaneName) -> Option<p4::Preamble> {
        Some(preamble(self.ids, id, cp))
    }

    fn table(&self, at: usize, table: &Table) -> p4::Table {
        let table_id = TableId::from_index(at);
        let keys = matched_keys(table);
        let match_fields = keys
            .iter()
            .map(|&(id, key)| {
                let width = self.program.vars[table.keys[key].var.index()].ty;
                let types = &self.program.data_types;
                let made = match_field(types, id, &table.keys[key].cp, width, table.keys[key].kind);
                match chip::match_kind(self.program, table_id, key) {
                    Some(of_chip) => p4::MatchField { r#match: Some(of_chip), ..made },
                    None => made,
                }
            })
            .collect();
        let action_refs = table
            .actions
            .iter()
            .filter(|action| !self.program.actions[action.action.index()].cp.hidden)
            .map(|action| {
                let sorted = annotations::sort(&action.annotations, &[]);
                let scope = match action.scope {
                    ActionScope::TableAndDefault => p4::action_ref::Scope::TableAndDefault,
                    ActionScope::TableOnly => p4::action_ref::Scope::TableOnly,
                    ActionScope::DefaultOnly => p4::action_ref::Scope::DefaultOnly,
                };
                p4::ActionRef {
                    id: self.action_id(action.action),
                    scope: scope.into(),
                    annotations: sorted.plain,
                    structured_annotations: sorted.structured,
                    ..Default::default()
                }
            })
            .collect();
        let timeout = if table.idle_timeout {
            p4::table::IdleTimeoutBehavior::NotifyControl
        } else {
            p4::table::IdleTimeoutBehavior::NoTimeout
        };
        let counter = table.counter.map(|counter| self.ids.counters[counter.index()]);
        let meter = table.meter.map(|meter| self.ids.meters[meter.index()]);
        p4::Table {
            preamble: self.preamble(self.ids.tables[table_id.index()], &table.cp),
            match_fields,
            action_refs,
            const_default_action_id: if table.const_default {
                self.action_id(table.default_action.action)
            } else {
                0
            },
            initial_default_action: Some(self.action_call(&table.default_action)),
            implementation_id: table.profile.map_or(0, |profile| self.ids.profiles[profile.index()]),
            direct_resource_ids: counter.into_iter().chain(meter).collect(),
            size: table.size.into(),
            idle_timeout_behavior: timeout.into(),
            is_const_table: table.const_entries,
            has_initial_entries: !table.entries.is_empty(),
            other_properties: None,
        }
    }

    fn action_id(&self, action: ActionId) -> u32 {
        self.ids.actions[action.index()]
    }

    /// p4c pads argument values to whole bytes of their width here, that of the controller's values.
    fn action_call(&self, call: &ActionCall) -> p4::TableActionCall {
        let params = &self.program.actions[call.action.index()].params;
        let ids = field_ids(params.iter().map(|param| &param.cp));
        let types = &self.program.data_types;
        let arguments = ids
            .into_iter()
            .zip(params.iter().zip(&call.args))
            .map(|(param_id, (param, value))| {
                let bits = bitwidth(types, &param.cp, self.program.vars[param.var.index()].ty);
                let bits = u32::try_from(bits).unwrap_or(0).max(value.width());
                p4::table_action_call::Argument { param_id, value: value.slice(0, bits).to_be_bytes() }
            })
            .collect();
        p4::TableActionCall { action_id: self.action_id(call.action), arguments }
    }

    /// Copies of an action that differ by table only are one action to the controller. Of an action that no
    /// table lists there is nothing but the name: its arguments are the program's.
    fn actions(&self, info: &mut p4::P4Info) {
        let program = self.program;
        let listed: BTreeSet<ActionId> =
            program.tables.iter().flat_map(|table| &table.actions).map(|listed| listed.action).collect();
        // BMv2 JSON has an action once for each table, and may have it once more for none: the tables'
        // counts.
        let listed_ids: BTreeSet<u32> =
            listed.iter().map(|action| self.ids.actions[action.index()]).collect();
        let mut actions: Vec<_> = program
            .actions
            .iter()
            .zip(&self.ids.actions)
            .enumerate()
            .map(|(at, (action, &id))| {
                let is_listed = listed.contains(&ActionId::from_index(at));
                (&action.cp, id, if is_listed { action.params.as_slice() } else { &[] }, is_listed)
            })
            .collect();
        // Programs without ranks have actions of no control first, as they stand first in the source.
        actions.sort_by_key(|(cp, ..)| (cp.rank, cp.name.contains('.')));
        let mut seen = BTreeSet::new();
        for (cp, id, params, is_listed) in actions {
            if cp.hidden || (!is_listed && listed_ids.contains(&id)) || !seen.insert(id) {
                continue;
            }
            let ids = field_ids(params.iter().map(|param| &param.cp));
            let params = params.iter().zip(ids).map(|(param, id)| self.param(param, id)).collect();
            info.actions.push(p4::Action { preamble: self.preamble(id, cp), params });
        }
    }

    fn param(&self, param: &ActionParam, id: u32) -> p4::action::Param {
        let sorted = annotations::sort(&param.cp.annotations, &[]);
        p4::action::Param {
            id,
            name: param.cp.name.clone(),
            annotations: sorted.plain,
            bitwidth: bitwidth(&self.program.data_types, &param.cp, self.program.vars[param.var.index()].ty),
            doc: sorted.doc,
            type_name: param_type_name(&param.cp),
            structured_annotations: sorted.structured,
            ..Default::default()
        }
    }

    fn profile(&self, at: usize) -> p4::ActionProfile {
        let profile = &self.program.profiles[at];
        let uses = |table: &Table| table.profile.is_some_and(|profile| profile.index() == at);
        let tables = self.program.tables.iter().zip(&self.ids.tables);
        let mut users: Vec<_> = tables.filter(|(table, _)| !table.cp.hidden && uses(table)).collect();
        // p4c keeps them by name.
        users.sort_by_key(|(table, _)| table.cp.name.as_str());
        let table_ids = users.into_iter().map(|(_, &id)| id).collect();
        p4::ActionProfile {
            preamble: self.preamble(self.ids.profiles[at], &profile.cp),
            table_ids,
            with_selector: profile.selector.is_some(),
            size: profile.size.into(),
            max_group_size: signed(chip::max_group_size(self.program, at).unwrap_or(profile.max_group_size)),
            weights_disallowed: false,
            selector_size_semantics: profile
                .selector
                .and_then(|_| annotations::size_semantics(&profile.cp.annotations)),
        }
    }

    fn counters_and_meters(&self, info: &mut p4::P4Info) {
        let table_of = |of: &dyn Fn(&Table) -> bool| {
            let table = self.program.tables.iter().position(of)?;
            Some((self.program.tables[table].cp.rank, self.ids.tables[table]))
        };
        // Direct ones are named with their tables; one that no table has is not named.
        let (mut direct_counters, mut direct_meters) = (Vec::new(), Vec::new());
        let mut counters: Vec<_> = self.program.counters.iter().zip(&self.ids.counters).enumerate().collect();
        counters.sort_by_key(|(_, (counter, _))| counter.cp.rank);
        for (at, (counter, &id)) in counters {
            if counter.cp.hidden {
                continue;
            }
            let preamble = self.preamble(id, &counter.cp);
            let spec = Some(p4::CounterSpec { unit: counter_unit(counter.unit).into() });
            match counter.size {
                Some(size) => {
                    let size = size.into();
                    let index_type_name = self.index_type(&counter.cp);
                    info.counters.push(p4::Counter { preamble, spec, size, index_type_name });
                }
                None => {
                    let table = table_of(&|t| t.counter.is_some_and(|c| c.index() == at));
                    direct_counters.extend(table.map(|(rank, direct_table_id)| {
                        (rank, p4::DirectCounter { preamble, spec, direct_table_id })
                    }));
                }
            }
        }
        let mut meters: Vec<_> = self.program.meters.iter().zip(&self.ids.meters).enumerate().collect();
        meters.sort_by_key(|(_, (meter, _))| meter.cp.rank);
        for (at, (meter, &id)) in meters {
            if meter.cp.hidden {
                continue;
            }
            let preamble = self.preamble(id, &meter.cp);
            let spec = Some(p4::MeterSpec { unit: meter_unit(meter.unit).into(), ..Default::default() });
            match meter.size {
                Some(size) => {
                    let (size, index_type_name) = (size.into(), self.index_type(&meter.cp));
                    info.meters.push(p4::Meter { preamble, spec, size, index_type_name });
                }
                None => {
                    let table = table_of(&|t| t.meter.is_some_and(|m| m.index() == at));
                    direct_meters.extend(table.map(|(rank, direct_table_id)| {
                        (rank, p4::DirectMeter { preamble, spec, direct_table_id })
                    }));
                }
            }
        }
        direct_counters.sort_by_key(|(rank, _)| *rank);
        direct_meters.sort_by_key(|(rank, _)| *rank);
        info.direct_counters = direct_counters.into_iter().map(|(_, counter)| counter).collect();
        info.direct_meters = direct_meters.into_iter().map(|(_, meter)| meter).collect();
    }

    /// The type of an array's index; p4c's back end for the chip does not say it.
    fn index_type(&self, cp: &ControlPlaneName) -> Option<p4::P4NamedType> {
        chip::view(self.program).is_none().then(|| type_name(cp)).flatten()
    }

    fn digests(&self, info: &mut p4::P4Info) {
        for (digest, &id) in self.program.digests.iter().zip(&self.ids.digests) {
            if digest.cp.hidden {
                continue;
            }
            info.digests.push(p4::Digest {
                preamble: self.preamble(id, &digest.cp),
                type_spec: Some(data_type(&digest.data_type)),
            });
        }
    }

    fn value_sets(&self, info: &mut p4::P4Info) {
        for (set, &id) in self.program.value_sets.iter().zip(&self.ids.value_sets) {
            if set.cp.hidden {
                continue;
            }
            info.value_sets.push(p4::ValueSet {
                preamble: self.preamble(id, &set.cp),
                r#match: value_set_fields(self.program, set),
                size: signed(set.size),
            });
        }
    }
}

fn preamble(ids: &Ids, id: u32, cp: &ControlPlaneName) -> p4::Preamble {
    let Annotations { plain, structured, doc } = annotations::sort(
        &cp.annotations,
        &["max_group_size", "selector_size_semantics", "max_member_weight", "controller_header"],
    );
    p4::Preamble {
        id,
        name: cp.name.clone(),
        alias: ids.alias(&cp.name).to_owned(),
        annotations: plain,
        doc,
        structured_annotations: structured,
        ..Default::default()
    }
}

fn controller_headers(
    headers: &[ControllerHeader],
    data_types: &DataTypes,
    ids: &Ids,
) -> Vec<p4::ControllerPacketMetadata> {
    let described = |(header, &id): (&ControllerHeader, &u32)| {
        let field_ids = field_ids(header.fields.iter().map(|(cp, _)| cp));
        let metadata =
            header.fields.iter().zip(field_ids).filter(|((cp, _), _)| !cp.hidden).map(|((cp, ty), id)| {
                let sorted = annotations::sort(&cp.annotations, &[]);
                p4::controller_packet_metadata::Metadata {
                    id,
                    name: cp.name.clone(),
                    annotations: sorted.plain,
                    bitwidth: bitwidth(data_types, cp, *ty),
                    type_name: type_name(cp),
                    structured_annotations: sorted.structured,
                    ..Default::default()
                }
            });
        let metadata = metadata.collect();
        let preamble = p4::Preamble {
            // p4c keeps `@controller_header` among the annotations of the header it names.
            annotations: annotations::sort(&header.cp.annotations, &[]).plain,
            ..preamble(ids, id, &header.cp)
        };
        p4::ControllerPacketMetadata { preamble: Some(preamble), metadata }
    };
    headers.iter().zip(&ids.controller_headers).map(described).collect()
}

/// How the members of a value set match.
pub(crate) fn value_set_fields(program: &Program, set: &ValueSet) -> Vec<p4::MatchField> {
    let ids = field_ids(set.keys.iter().map(|(cp, ..)| cp));
    let field = |((cp, ty, kind), id): (&(ControlPlaneName, VarType, MatchKind), u32)| {
        match_field(&program.data_types, id, cp, *ty, *kind)
    };
    set.keys.iter().zip(ids).map(field).collect()
}

/// Ids and positions of the keys that a controller sees.
fn matched_keys(table: &Table) -> Vec<(u32, usize)> {
    let seen = table.keys.iter().enumerate().filter(|(_, key)| key.kind != MatchKind::Selector);
    let ids = field_ids(seen.clone().map(|(_, key)| &key.cp));
    ids.into_iter().zip(seen.map(|(at, _)| at)).collect()
}

fn match_field(
    types: &DataTypes,
    id: u32,
    cp: &ControlPlaneName,
    ty: VarType,
    kind: MatchKind,
) -> p4::MatchField {
    use p4::match_field::{Match, MatchType};
    let kind = match kind {
        MatchKind::Exact => MatchType::Exact,
        MatchKind::Lpm => MatchType::Lpm,
        MatchKind::Ternary => MatchType::Ternary,
        MatchKind::Range => MatchType::Range,
        MatchKind::Optional => MatchType::Optional,
        MatchKind::Selector => MatchType::Unspecified,
    };
    // How a value set's field matches is said in its own field.
    let Annotations { plain, structured, doc } = annotations::sort(&cp.annotations, &["match"]);
    p4::MatchField {
        id,
        name: cp.name.clone(),
        annotations: plain,
        bitwidth: bitwidth(types, cp, ty),
        type_name: param_type_name(cp),
        doc,
        structured_annotations: structured,
        r#match: Some(Match::MatchType(kind.into())),
        ..Default::default()
    }
}

fn counter_unit(unit: CountUnit) -> p4::counter_spec::Unit {
    match unit {
        CountUnit::Packets => p4::counter_spec::Unit::Packets,
        CountUnit::Bytes => p4::counter_spec::Unit::Bytes,
        CountUnit::Both => p4::counter_spec::Unit::Both,
    }
}

fn meter_unit(unit: CountUnit) -> p4::meter_spec::Unit {
    match unit {
        CountUnit::Bytes => p4::meter_spec::Unit::Bytes,
        CountUnit::Packets | CountUnit::Both => p4::meter_spec::Unit::Packets,
    }
}
