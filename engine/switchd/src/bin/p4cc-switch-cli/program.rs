//! The program as the switch describes it, in BMv2 JSON: what commands need to read keys and action data.

use serde_json::Value as Json;

use crate::failure::Failure;

/// The program of a switch.
pub(crate) struct Program(Json);

/// A key of a table.
pub(crate) struct Key {
    /// The field that it compares.
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) width: u32,
}

/// An action and its parameters, names with widths.
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) params: Vec<(String, u32)>,
}

/// Objects that commands name: what messages call them, and where the document has them.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Table,
    Profile,
    Counter,
    Meter,
    Register,
    ValueSet,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Profile => "action profile",
            Self::Counter => "counter",
            Self::Meter => "meter",
            Self::Register => "register",
            Self::ValueSet => "parser value set",
        }
    }
}

impl Program {
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map(Self).map_err(|error| format!("the switch's program: {error}"))
    }

    fn items(&self, list: &str) -> impl Iterator<Item = &Json> {
        list_of(&self.0[list])
    }

    /// All objects of a kind.
    pub(crate) fn all(&self, kind: Kind) -> Vec<&Json> {
        let of_pipelines =
            |list: &'static str| self.items("pipelines").flat_map(move |one| list_of(&one[list])).collect();
        // Counters and meters of PSA are instances of externs.
        let of_psa = |ty: &'static str| {
            self.items("extern_instances").filter(move |one| one["type"].as_str() == Some(ty))
        };
        match kind {
            Kind::Table => of_pipelines("tables"),
            Kind::Profile => of_pipelines("action_profiles"),
            Kind::Counter => self.items("counter_arrays").chain(of_psa("Counter")).collect(),
            Kind::Meter => self.items("meter_arrays").chain(of_psa("Meter")).collect(),
            Kind::Register => self.items("register_arrays").collect(),
            Kind::ValueSet => self.items("parse_vsets").collect(),
        }
    }

    /// All objects of a kind in the order of their names.
    pub(crate) fn sorted(&self, kind: Kind) -> Vec<&Json> {
        let mut all = self.all(kind);
        all.sort_by_key(|one| name_of(one));
        all
    }

    /// An object by its name, or by the end of it where only one ends so.
    pub(crate) fn named(&self, kind: Kind, name: &str) -> Result<&Json, Failure> {
        among(self.all(kind).into_iter(), name)
            .ok_or_else(|| Failure::error(format!("Invalid {} name ({name})", kind.word())))
    }

    /// All actions, in the order of their names; p4c gives each table a copy of its own.
    pub(crate) fn actions(&self) -> Vec<Action> {
        let mut all: Vec<Action> = self.items("actions").map(action_of).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.dedup_by(|a, b| a.name == b.name);
        all
    }

    /// The actions that tables may run, in the order of their names.
    pub(crate) fn actions_of<'t>(&self, tables: impl Iterator<Item = &'t Json>) -> Vec<Action> {
        let names: Vec<&str> =
            tables.flat_map(|table| list_of(&table["actions"])).filter_map(Json::as_str).collect();
        let mut actions = self.actions();
        actions.retain(|action| names.contains(&action.name.as_str()));
        actions
    }

    /// An action that one of these tables may run.
    pub(crate) fn action<'t>(&self, tables: impl Iterator<Item = &'t Json>, name: &str) -> Option<Action> {
        let mut fit: Vec<Action> =
            self.actions_of(tables).into_iter().filter(|of| fits(&of.name, name)).collect();
        let at = fit.iter().position(|of| of.name == name).or((fit.len() == 1).then_some(0))?;
        Some(fit.swap_remove(at))
    }

    /// The tables that run members of a profile.
    pub(crate) fn users<'s>(&'s self, profile: &'s Json) -> impl Iterator<Item = &'s Json> {
        let name = name_of(profile);
        self.all(Kind::Table).into_iter().filter(move |table| profile_of(table) == Some(name))
    }

    /// The keys of a table.
    pub(crate) fn keys(&self, table: &Json) -> Vec<Key> {
        let key = |key: &Json| {
            let target = &key["target"];
            let (name, width) = match (target[0].as_str(), target[1].as_str()) {
                (Some(header), Some("$valid$")) => (format!("{header}_valid"), 1),
                (Some(header), Some(field)) => (format!("{header}.{field}"), self.width(header, field)),
                _ => (format!("{}_valid", target.as_str().unwrap_or_default()), 1),
            };
            Key { name, kind: word(key, "match_type").to_owned(), width }
        };
        list_of(&table["key"]).map(key).collect()
    }

    fn width(&self, header: &str, field: &str) -> u32 {
        let instance = self.items("headers").find(|one| name_of(one) == header);
        let ty = instance.map(|one| word(one, "header_type")).unwrap_or_default();
        let ty = self.items("header_types").find(|one| name_of(one) == ty);
        let mut fields = ty.map(|ty| list_of(&ty["fields"])).into_iter().flatten();
        fields.find(|one| one[0].as_str() == Some(field)).map_or(1, |one| bits(&one[1]))
    }

    /// The width of a custom CRC of the program.
    pub(crate) fn has_crc(&self, name: &str, width: u32) -> bool {
        let algorithm = format!("crc{width}_custom");
        self.items("calculations").any(|one| name_of(one) == name && word(one, "algo") == algorithm)
    }

    /// A table in a line.
    pub(crate) fn table_line(&self, table: &Json) -> String {
        let keys: Vec<String> =
            self.keys(table).iter().map(|key| format!("{}({}, {})", key.name, key.kind, key.width)).collect();
        let profile = profile_of(table).unwrap_or("None");
        format!("{:30} [implementation={profile}, mk={}]", name_of(table), keys.join(",\t"))
    }
}

impl Action {
    /// An action in a line.
    pub(crate) fn line(&self) -> String {
        let params: Vec<String> =
            self.params.iter().map(|(name, width)| format!("{name}({width})")).collect();
        format!("{:30} [{}]", self.name, params.join(",\t"))
    }
}

fn list_of(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

pub(crate) fn name_of(item: &Json) -> &str {
    word(item, "name")
}

/// A text of an object.
pub(crate) fn word<'j>(item: &'j Json, field: &str) -> &'j str {
    item[field].as_str().unwrap_or_default()
}

/// The action profile behind a table.
pub(crate) fn profile_of(table: &Json) -> Option<&str> {
    table["action_profile"].as_str()
}

fn bits(value: &Json) -> u32 {
    value.as_u64().and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0)
}

fn action_of(item: &Json) -> Action {
    let params = list_of(&item["runtime_data"]);
    let params = params.map(|param| (name_of(param).to_owned(), bits(&param["bitwidth"])));
    Action { name: name_of(item).to_owned(), params: params.collect() }
}

fn fits(full: &str, name: &str) -> bool {
    full == name || full.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
}

fn among<'s>(items: impl Iterator<Item = &'s Json>, name: &str) -> Option<&'s Json> {
    let fit: Vec<&Json> = items.filter(|item| fits(name_of(item), name)).collect();
    let exact = fit.iter().find(|item| name_of(item) == name);
    exact.or(fit.first().filter(|_| fit.len() == 1)).copied()
}
