//! The program as the switch describes it, in BMv2 JSON: what commands need to read keys and action data.

use serde_json::Value as Json;

use crate::commands::{call, show};
use crate::{Outcome, Session};

/// The program of a switch.
pub(crate) struct Program(Json);

/// A key of a table.
pub(crate) struct Key {
    pub(crate) kind: String,
    pub(crate) width: u32,
}

impl Program {
    pub(crate) fn of(switch: &mut Session) -> Result<Self, String> {
        let text = call(switch, "standard:bm_get_config", [])?.as_ref().map(show).unwrap_or_default();
        serde_json::from_str(&text).map(Self).map_err(|error| format!("the switch's program: {error}"))
    }

    fn items(&self, list: &str) -> impl Iterator<Item = &Json> {
        self.0[list].as_array().into_iter().flatten()
    }

    /// Tables, or action profiles, of both pipelines.
    fn of_pipelines<'s>(&'s self, list: &'s str) -> impl Iterator<Item = &'s Json> {
        self.items("pipelines").flat_map(move |pipeline| pipeline[list].as_array().into_iter().flatten())
    }

    pub(crate) fn table(&self, name: &str) -> Result<&Json, String> {
        named(self.of_pipelines("tables"), name, "table")
    }

    pub(crate) fn profile(&self, name: &str) -> Result<&Json, String> {
        named(self.of_pipelines("action_profiles"), name, "action profile")
    }

    /// The full name of an array: `counter_arrays`, `meter_arrays`, `register_arrays`.
    pub(crate) fn array(&self, list: &str, name: &str) -> Outcome {
        let what = list.trim_end_matches("_arrays");
        named(self.items(list), name, what).map(|found| name_of(found).to_owned())
    }

    /// The full name of an action, and the widths of its parameters.
    pub(crate) fn action(&self, name: &str) -> Result<(String, Vec<u32>), String> {
        let found = named(self.items("actions"), name, "action")?;
        let params = found["runtime_data"].as_array().into_iter().flatten();
        Ok((name_of(found).to_owned(), params.map(|param| bits(&param["bitwidth"])).collect()))
    }

    /// The keys of a table.
    pub(crate) fn keys(&self, table: &Json) -> Vec<Key> {
        let keys = table["key"].as_array().into_iter().flatten();
        let key = |key: &Json| Key {
            kind: key["match_type"].as_str().unwrap_or_default().to_owned(),
            width: self.width(&key["target"]),
        };
        keys.map(key).collect()
    }

    /// The width of the field that a key is; validity has one bit.
    fn width(&self, target: &Json) -> u32 {
        let (Some(header), Some(field)) = (target[0].as_str(), target[1].as_str()) else { return 1 };
        let instance = self.items("headers").find(|one| name_of(one) == header);
        let ty = instance.and_then(|one| one["header_type"].as_str()).unwrap_or_default();
        let ty = self.items("header_types").find(|one| name_of(one) == ty);
        let fields = ty.and_then(|ty| ty["fields"].as_array()).into_iter().flatten();
        fields.into_iter().find(|one| one[0].as_str() == Some(field)).map_or(1, |one| bits(&one[1]))
    }

    /// Tables with their keys, a line each; hidden ones are left out.
    pub(crate) fn tables(&self) -> String {
        let seen = self.of_pipelines("tables").filter(|table| !name_of(table).starts_with("tbl_"));
        let line = |table: &Json| {
            let keys = table["key"].as_array().into_iter().flatten().zip(self.keys(table));
            let keys: Vec<String> = keys
                .map(|(key, Key { kind, width })| {
                    format!("{}({kind}, {width})", key["name"].as_str().unwrap_or_default())
                })
                .collect();
            format!("{:30} [{}]\n", name_of(table), keys.join(",\t"))
        };
        seen.map(line).collect()
    }
}

pub(crate) fn name_of(item: &Json) -> &str {
    item["name"].as_str().unwrap_or_default()
}

fn bits(value: &Json) -> u32 {
    value.as_u64().and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0)
}

/// An item by its name, or by the end of it where only one item ends so.
fn named<'s>(items: impl Iterator<Item = &'s Json>, name: &str, what: &str) -> Result<&'s Json, String> {
    let mut ending: Vec<&Json> = Vec::new();
    for item in items {
        let full = name_of(item);
        if full == name {
            return Ok(item);
        }
        if full.strip_suffix(name).is_some_and(|before| before.ends_with('.')) {
            ending.push(item);
        }
    }
    let first = ending.first().ok_or_else(|| format!("there is no {what} `{name}`"))?;
    // p4c gives each table a copy of its actions: these have one name.
    if ending.iter().all(|item| name_of(item) == name_of(first)) {
        return Ok(first);
    }
    let names: Vec<&str> = ending.iter().map(|item| name_of(item)).collect();
    Err(format!("`{name}` may be {}; give the whole name", names.join(" or ")))
}
