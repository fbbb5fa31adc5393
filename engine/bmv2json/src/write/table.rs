//! Tables: keys, actions, default, entries.

use p4cc_ir::{ActionCall, ActionId, Key, MatchKind, MatchValue, Table, TableId};
use serde_json::{Value, json};

use super::json::{digits, typed};
use super::{Res, Writer, refuse};

impl Writer<'_> {
    /// A table, but for its id and what follows it.
    pub(super) fn table(&mut self, id: TableId) -> Res<Value> {
        let table = &self.program.tables[id.index()];
        let name = &table.cp.name;
        if table.register.is_some() || table.filter.is_some() {
            return refuse(name, "a direct register or filter", "use v1model's direct counter and meter");
        }
        let keys: Vec<&Key> = table.keys.iter().filter(|key| key.kind != MatchKind::Selector).collect();
        let written: Vec<Value> = keys
            .iter()
            .map(|key| {
                json!({
                    "match_type": match_type(key.kind),
                    "name": key.cp.name,
                    "target": self.names.pair(key.var),
                    "mask": null,
                })
            })
            .collect();
        let profile = table.profile.map(|profile| &self.program.profiles[profile.index()]);
        let ty = match profile {
            None => "simple",
            Some(profile) if profile.selector.is_some() => "indirect_ws",
            Some(_) => "indirect",
        };
        let meter = table.meter.map(|meter| &self.program.meters[meter.index()].cp.name);
        let ids = self.action_ids(table);
        let id_of = |action: ActionId| {
            let at = table.actions.iter().position(|listed| listed.action == action);
            at.map_or(action.index(), |at| ids[at])
        };
        let mut node = json!({
            "name": name,
            "key": written,
            "match_type": kind_of_all(&keys),
            "type": ty,
            "max_size": table.size,
            "with_counters": table.counter.is_some(),
            "support_timeout": table.idle_timeout,
            "direct_meters": meter,
            "action_ids": ids,
            "actions": ids.iter().map(|id| &self.made.actions[*id]["name"]).collect::<Vec<_>>(),
        });
        if let Some(profile) = profile {
            node["action_profile"] = json!(profile.cp.name);
        } else {
            let mut default = call_of(&table.default_action, &id_of);
            default["action_const"] = json!(table.const_default);
            default["action_entry_const"] = json!(table.const_default);
            node["default_entry"] = default;
        }
        if !table.entries.is_empty() {
            node["entries"] = self.entries(table, &keys, &id_of)?;
        }
        Ok(node)
    }

    /// Ids of a table's actions. One with a direct meter has copies of its own, as p4c gives them to every
    /// table: BMv2 runs the meter with the action.
    fn action_ids(&mut self, table: &Table) -> Vec<usize> {
        let actions = table.actions.iter().map(|listed| listed.action.index());
        if table.meter.is_none() {
            return actions.collect();
        }
        let mut ids = Vec::with_capacity(table.actions.len());
        for action in actions {
            let id = self.made.actions.len();
            let mut copy = self.made.actions[action].clone();
            copy["id"] = json!(id);
            self.made.actions.push(copy);
            ids.push(id);
        }
        ids
    }

    /// Entries of the source. BMv2 takes a smaller number for more important, P4Runtime a larger one.
    fn entries(&self, table: &Table, keys: &[&Key], id_of: &dyn Fn(ActionId) -> usize) -> Res<Value> {
        let most = table.entries.iter().map(|entry| entry.priority).max().unwrap_or(0);
        let mut entries = Vec::with_capacity(table.entries.len());
        for entry in &table.entries {
            let values = entry.matches.iter().zip(keys).map(|(value, key)| {
                let width = self.program.vars[key.var.index()].ty.width();
                match_value(value, key.kind, width)
            });
            let match_key: Option<Vec<Value>> = values.collect();
            let Some(match_key) = match_key else {
                return refuse(
                    &table.cp.name,
                    "an entry of a kind that its key does not have",
                    "correct the entry",
                );
            };
            entries.push(json!({
                "match_key": match_key,
                "action_entry": call_of(&entry.action, id_of),
                "priority": most - entry.priority + 1,
            }));
        }
        Ok(json!(entries))
    }

    /// Action profiles, all in one pipeline: BMv2 looks them up by name.
    pub(super) fn profiles(&mut self) -> Value {
        let mut profiles = Vec::with_capacity(self.program.profiles.len());
        for (id, profile) in self.program.profiles.iter().enumerate() {
            let mut written = json!({ "name": profile.cp.name, "id": id, "max_size": profile.size });
            if let Some((algorithm, _)) = profile.selector {
                let mut users = self
                    .program
                    .tables
                    .iter()
                    .filter(|table| table.profile.is_some_and(|profile| profile.index() == id));
                let keys = users.next().map(|table| table.keys.as_slice()).unwrap_or_default();
                let of_hash = keys.iter().filter(|key| key.kind == MatchKind::Selector);
                let input: Vec<Value> = of_hash.map(|key| typed("field", self.names.pair(key.var))).collect();
                let algo = super::inst::algorithm_name(algorithm);
                written["selector"] = json!({ "algo": algo, "input": input });
            }
            profiles.push(written);
        }
        Value::Array(profiles)
    }
}

fn match_type(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact | MatchKind::Selector => "exact",
        MatchKind::Lpm => "lpm",
        // BMv2 has no optional keys.
        MatchKind::Ternary | MatchKind::Optional => "ternary",
        MatchKind::Range => "range",
    }
}

/// What BMv2 builds the table as: the most general kind among its keys.
fn kind_of_all(keys: &[&Key]) -> &'static str {
    let has = |kinds: &[MatchKind]| keys.iter().any(|key| kinds.contains(&key.kind));
    if has(&[MatchKind::Range]) {
        "range"
    } else if has(&[MatchKind::Ternary, MatchKind::Optional]) {
        "ternary"
    } else if has(&[MatchKind::Lpm]) {
        "lpm"
    } else {
        "exact"
    }
}

fn call_of(call: &ActionCall, id_of: &dyn Fn(ActionId) -> usize) -> Value {
    let data: Vec<String> = call.args.iter().map(digits).collect();
    json!({ "action_id": id_of(call.action), "action_data": data })
}

/// One key of an entry; none if the value is not of the key's kind.
fn match_value(value: &MatchValue, kind: MatchKind, width: u32) -> Option<Value> {
    let zero = digits(&p4cc_ir::Bits::zero(width));
    let ones = super::json::ones(width)["value"].clone();
    Some(match (kind, value) {
        (MatchKind::Exact, MatchValue::Exact(key)) => {
            json!({ "match_type": "exact", "key": digits(key) })
        }
        (MatchKind::Optional, MatchValue::Exact(key)) => {
            json!({ "match_type": "ternary", "key": digits(key), "mask": ones })
        }
        (MatchKind::Optional | MatchKind::Ternary, MatchValue::Any) => {
            json!({ "match_type": "ternary", "key": zero, "mask": zero })
        }
        (MatchKind::Ternary, MatchValue::Exact(key)) => {
            json!({ "match_type": "ternary", "key": digits(key), "mask": ones })
        }
        (MatchKind::Ternary, MatchValue::Ternary { value, mask }) => {
            json!({ "match_type": "ternary", "key": digits(value), "mask": digits(mask) })
        }
        (MatchKind::Lpm, MatchValue::Lpm { value, len }) => {
            json!({ "match_type": "lpm", "key": digits(value), "prefix_length": len })
        }
        (MatchKind::Lpm, MatchValue::Exact(key)) => {
            json!({ "match_type": "lpm", "key": digits(key), "prefix_length": width })
        }
        (MatchKind::Lpm, MatchValue::Any) => {
            json!({ "match_type": "lpm", "key": zero, "prefix_length": 0 })
        }
        (MatchKind::Range, MatchValue::Range { low, high }) => {
            json!({ "match_type": "range", "start": digits(low), "end": digits(high) })
        }
        (MatchKind::Range, MatchValue::Exact(key)) => {
            json!({ "match_type": "range", "start": digits(key), "end": digits(key) })
        }
        (MatchKind::Range, MatchValue::Any) => {
            json!({ "match_type": "range", "start": zero, "end": ones })
        }
        _ => return None,
    })
}
