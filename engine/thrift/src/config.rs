//! The program as BMv2's tools read it: BMv2 JSON as it was given, or, of a
//! program given as P4-16 source, those parts that describe it to a controller.
//!
//! What only a switch needs (parsers, the statements of actions and controls,
//! deparsers) is not written: our own lowering is not BMv2's, and a tool has
//! no use for it. So a config made here cannot be loaded into a switch.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::{
    ControlPlaneName, CountUnit, HashAlgorithm, MatchKind, Program, Table, VarId, VarKind, VarType,
};
use serde_json::{Value, json};

use crate::learning::Lists;

/// The header that BMv2 keeps everything in which is no header.
const SCALARS: &str = "scalars";

/// Fields of the headers that keys name, by header.
type Fields<'p> = BTreeMap<String, BTreeMap<String, u32>>;

/// BMv2 JSON for controllers.
pub(crate) fn of_program(program: &Program) -> Value {
    let mut fields = headers(program);
    let pipelines = pipelines(program, &mut fields);
    let header_types = fields.iter().enumerate().map(|(id, (name, fields))| {
        let fields: Vec<Value> = fields.iter().map(|(name, width)| json!([name, width, false])).collect();
        json!({"name": format!("{name}_t"), "id": id, "fields": fields})
    });
    let header_types: Vec<Value> = header_types.collect();
    let instances = fields.keys().enumerate().map(|(id, name)| {
        let metadata = name == SCALARS || name == "standard_metadata";
        json!({"name": name, "id": id, "header_type": format!("{name}_t"), "metadata": metadata, "pi_omit": true})
    });
    json!({
        "program": program.name,
        "__meta__": {
            "version": [2, 23],
            "compiler": "p4cc: what a controller needs; the code is in the P4-16 source",
        },
        "header_types": header_types,
        "headers": instances.collect::<Vec<_>>(),
        "header_stacks": [], "header_union_types": [], "header_unions": [], "header_union_stacks": [],
        "field_lists": [], "errors": [], "enums": [], "parsers": [], "deparsers": [], "checksums": [],
        "force_arith": [], "extern_instances": [], "field_aliases": [],
        "parse_vsets": value_sets(program),
        "meter_arrays": meters(program),
        "counter_arrays": counters(program),
        "register_arrays": numbered(&program.registers, |one| &one.cp).map(|(id, one)| {
            json!({"name": one.cp.name, "id": id, "size": one.size, "bitwidth": one.ty.width()})
        }).collect::<Vec<_>>(),
        "calculations": program.custom_crcs.iter().enumerate().map(|(id, one)| {
            json!({"name": one.name, "id": id, "algo": format!("crc{}_custom", one.width), "input": []})
        }).collect::<Vec<_>>(),
        "learn_lists": learn_lists(program),
        "actions": actions(program),
        "pipelines": pipelines,
    })
}

/// Objects with the numbers that stand for them in the document: their places, gaps and all.
fn numbered<'p, T>(
    objects: &'p [T],
    cp: impl Fn(&'p T) -> &'p ControlPlaneName,
) -> impl Iterator<Item = (usize, &'p T)> {
    let mut seen = BTreeSet::new();
    objects.iter().enumerate().filter(move |(_, one)| seen.insert(cp(one).name.as_str()))
}

/// A header's name without the struct around it, as p4c leaves it out.
fn short(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, rest)| rest)
}

fn headers(program: &Program) -> Fields<'_> {
    let of = |header: &p4cc_ir::Header| {
        let fields = &program.header_types[header.ty.index()].fields;
        let fields = fields.iter().map(|field| (field.name.clone(), field.ty.width())).collect();
        (short(&header.name).to_owned(), fields)
    };
    program.headers.iter().map(of).collect()
}

/// Header and field that stand for a variable; it is added where it is missing.
fn place(program: &Program, fields: &mut Fields<'_>, var: VarId) -> [String; 2] {
    let of = &program.vars[var.index()];
    let (header, field) = match of.kind {
        VarKind::Field { header, field } => {
            let header = &program.headers[header.index()];
            let field = &program.header_types[header.ty.index()].fields[field as usize];
            (short(&header.name), field.name.as_str())
        }
        VarKind::Metadata | VarKind::Local => {
            match of.name.split_once('.').filter(|(front, _)| *front == "standard_metadata") {
                Some((front, field)) => (front, field),
                None => (SCALARS, of.name.as_str()),
            }
        }
    };
    fields.entry(header.to_owned()).or_default().insert(field.to_owned(), of.ty.width());
    [header.to_owned(), field.to_owned()]
}

/// BMv2 has no optional match: its tools give a value and a mask.
fn match_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact | MatchKind::Selector => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary | MatchKind::Optional => "ternary",
        MatchKind::Range => "range",
    }
}

/// The kind of a table's lookup: the most general of its keys'.
fn table_match(table: &Table) -> &'static str {
    let names = table.keys.iter().map(|key| match_name(key.kind));
    let order = ["exact", "lpm", "ternary", "range"];
    names.max_by_key(|name| order.iter().position(|other| other == name)).unwrap_or("exact")
}

/// Tables by the control that their names begin with, which is what BMv2 calls a pipeline here.
fn pipelines(program: &Program, fields: &mut Fields<'_>) -> Vec<Value> {
    let mut found: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (id, table) in numbered(&program.tables, |one| &one.cp) {
        let control = table.cp.name.split_once('.').map_or(table.cp.name.as_str(), |(front, _)| front);
        found.entry(control).or_default().push(describe(program, fields, id, table));
    }
    let profiles = |control: &str| -> Vec<Value> {
        let own = |(_, one): &(usize, &p4cc_ir::Profile)| {
            one.cp.name.split_once('.').map_or(one.cp.name.as_str(), |(front, _)| front) == control
        };
        numbered(&program.profiles, |one| &one.cp)
            .filter(own)
            .map(|(id, one)| {
                let mut profile = json!({"name": one.cp.name, "id": id, "max_size": one.size});
                if let Some((algorithm, _)) = one.selector {
                    profile["selector"] = json!({"algo": algorithm_name(algorithm), "input": []});
                }
                profile
            })
            .collect()
    };
    // A profile may stand in a control without tables.
    for profile in &program.profiles {
        found
            .entry(profile.cp.name.split_once('.').map_or(profile.cp.name.as_str(), |(front, _)| front))
            .or_default();
    }
    let pipelines = found.into_iter().enumerate().map(|(id, (control, tables))| {
        json!({
            "name": control, "id": id, "init_table": Value::Null,
            "source_info": {"filename": program.name, "line": 1, "column": 0, "source_fragment": control},
            "tables": tables, "action_profiles": profiles(control), "conditionals": [],
        })
    });
    pipelines.collect()
}

fn describe(program: &Program, fields: &mut Fields<'_>, id: usize, table: &Table) -> Value {
    let keys: Vec<Value> = table
        .keys
        .iter()
        .filter(|key| key.kind != MatchKind::Selector)
        .map(|key| {
            let target = place(program, fields, key.var);
            json!({"match_type": match_name(key.kind), "name": key.cp.name, "target": target, "mask": Value::Null})
        })
        .collect();
    let mut seen = BTreeSet::new();
    let actions = table
        .actions
        .iter()
        .map(|one| one.action)
        .filter(|action| seen.insert(program.actions[action.index()].cp.name.as_str()));
    let actions: Vec<_> = actions.collect();
    let names: Vec<_> =
        actions.iter().map(|action| program.actions[action.index()].cp.name.as_str()).collect();
    let ids: Vec<_> = names.iter().map(|name| action_id(program, name)).collect();
    let mut described = json!({
        "name": table.cp.name, "id": id, "key": keys, "match_type": table_match(table), "type": "simple",
        "max_size": table.size, "with_counters": table.counter.is_some(), "support_timeout": table.idle_timeout,
        "direct_meters": Value::Null, "action_ids": ids, "actions": names, "base_default_next": Value::Null,
        "next_tables": {},
    });
    if let Some(meter) = table.meter {
        described["direct_meters"] = json!(program.meters[meter.index()].cp.name);
    }
    if let Some(profile) = table.profile {
        let profile = &program.profiles[profile.index()];
        described["type"] = json!(if profile.selector.is_some() { "indirect_ws" } else { "indirect" });
        described["action_profile"] = json!(profile.cp.name);
        // p4-utils looks for the older name too.
        described["act_prof_name"] = json!(profile.cp.name);
    }
    described
}

fn action_id(program: &Program, name: &str) -> Option<usize> {
    program.actions.iter().position(|action| action.cp.name == name)
}

fn actions(program: &Program) -> Vec<Value> {
    let of = |(id, action): (usize, &p4cc_ir::Action)| {
        let data = action.params.iter().map(
            |param| json!({"name": param.cp.name, "bitwidth": program.vars[param.var.index()].ty.width()}),
        );
        json!({"name": action.cp.name, "id": id, "runtime_data": data.collect::<Vec<_>>(), "primitives": []})
    };
    numbered(&program.actions, |one| &one.cp).map(of).collect()
}

fn meters(program: &Program) -> Vec<Value> {
    let bound =
        |at: usize| program.tables.iter().find(|table| table.meter.is_some_and(|meter| meter.index() == at));
    numbered(&program.meters, |one| &one.cp)
        .map(|(id, one)| {
            let kind = if one.unit == CountUnit::Bytes { "bytes" } else { "packets" };
            let mut meter = json!({
                "name": one.cp.name, "id": id, "is_direct": one.size.is_none(), "rate_count": 2, "type": kind,
            });
            match one.size {
                Some(size) => meter["size"] = json!(size),
                None => meter["binding"] = json!(bound(id).map(|table| &table.cp.name)),
            }
            meter
        })
        .collect()
}

fn counters(program: &Program) -> Vec<Value> {
    let bound = |at: usize| {
        program.tables.iter().find(|table| table.counter.is_some_and(|counter| counter.index() == at))
    };
    numbered(&program.counters, |one| &one.cp)
        .map(|(id, one)| {
            let mut counter = json!({"name": one.cp.name, "id": id, "is_direct": one.size.is_none()});
            match one.size {
                Some(size) => counter["size"] = json!(size),
                None => counter["binding"] = json!(bound(id).map(|table| &table.cp.name)),
            }
            counter
        })
        .collect()
}

fn value_sets(program: &Program) -> Vec<Value> {
    numbered(&program.value_sets, |one| &one.cp)
        .map(|(id, one)| {
            let width: u32 = one.keys.iter().map(|(_, ty, _): &(_, VarType, _)| ty.width()).sum();
            json!({"name": one.cp.name, "id": id, "compressed_bitwidth": width, "max_size": one.size})
        })
        .collect()
}

fn learn_lists(program: &Program) -> Vec<Value> {
    // p4c counts these from 1.
    let of = |(id, one): (usize, &p4cc_ir::Digest)| {
        let elements =
            one.fields.iter().map(|field| json!({"type": "field", "value": [SCALARS, field.name]}));
        json!({"name": one.cp.name, "id": id + 1, "elements": elements.collect::<Vec<_>>()})
    };
    program.digests.iter().enumerate().map(of).collect()
}

fn algorithm_name(algorithm: HashAlgorithm) -> &'static str {
    match algorithm {
        HashAlgorithm::Crc32 => "crc32",
        HashAlgorithm::Crc32Custom(_) => "crc32_custom",
        HashAlgorithm::Crc16 => "crc16",
        HashAlgorithm::Crc16Custom(_) => "crc16_custom",
        HashAlgorithm::Random => "random",
        HashAlgorithm::Identity => "identity",
        HashAlgorithm::Csum16 => "csum16",
        HashAlgorithm::Xor16 => "xor16",
        HashAlgorithm::Object(_) => "object",
    }
}

/// Kinds of objects that have numbers, as `BmResourceType` counts them.
const KINDS: [&str; 6] =
    ["tables", "action_profiles", "counter_arrays", "meter_arrays", "register_arrays", "learn_lists"];

/// The numbers by which BMv2's notifications and its tools name objects, and the lists that have such.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// By kind, then name.
    ids: [BTreeMap<String, i32>; KINDS.len()],
    /// By digest.
    pub digest_lists: Vec<i32>,
    pub lists: Lists,
}

impl Names {
    /// As a config says.
    pub fn new(config: &Value) -> Self {
        let of = |items: &Value| -> Vec<(String, i32)> {
            let items = items.as_array().into_iter().flatten();
            let pair = |item: &Value| {
                let id = i32::try_from(item.get("id")?.as_i64()?).ok()?;
                Some((item.get("name")?.as_str()?.to_owned(), id))
            };
            items.filter_map(pair).collect()
        };
        let pipelines = || config["pipelines"].as_array().into_iter().flatten();
        let ids = KINDS.map(|kind| match kind {
            "tables" | "action_profiles" => pipelines().flat_map(|one| of(&one[kind])).collect(),
            _ => of(&config[kind]).into_iter().collect(),
        });
        let digest_lists: Vec<i32> = of(&config["learn_lists"]).into_iter().map(|(_, id)| id).collect();
        let lists = Lists::new(digest_lists.iter().copied());
        Self { ids, digest_lists, lists }
    }

    /// The number of an object; an error tells whether there is such a kind.
    pub fn id(&self, kind: i32, name: &str) -> Result<i32, bool> {
        let of = usize::try_from(kind).ok().and_then(|kind| self.ids.get(kind)).ok_or(false)?;
        of.get(name).copied().ok_or(true)
    }

    /// The number of a table.
    pub fn table(&self, name: &str) -> Option<i32> {
        self.id(0, name).ok()
    }
}
