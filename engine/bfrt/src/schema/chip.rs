//! The tables that the chip has beside those of a program, from a list of each group.
//!
//! A line of a list is a table, or a part of the table above it; a line that begins with 1 or 2 is of
//! Tofino 1 or Tofino 2 only. `tf*` in a name is the chip's own prefix. Words of a line:
//!
//! ```text
//! table NAME ID TYPE SIZE [attribute=NAME]...
//! key ID NAME MATCH TYPE [mandatory] [@annotation=value]...
//! data ID NAME TYPE [repeated] [mandatory] [ro] [@annotation=value]...
//! in ...       a field within the container above
//! action ID NAME
//! param ...    as data, of the action above
//! ```
//! A type is `uint32`, `bytes16`, `bool`, `float`, `string`, `{A|B}` or `container`; `=` gives its default.

use super::fields::{field, key, table};
use super::{Action, ActionScope, Annotation, Data, Key, KeyKind, Means, Object, Schema, Table, Type};

/// The chip that a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// Tofino 1.
    Tofino1,
    /// Tofino 2.
    Tofino2,
}

impl Chip {
    /// Match stages of a pipe.
    pub const fn stages(self) -> u32 {
        match self {
            Self::Tofino1 => 12,
            Self::Tofino2 => 20,
        }
    }

    /// Tables that a stage runs at most.
    pub const fn tables_per_stage(self) -> u32 {
        16
    }

    /// Bits that the chip puts in front of a packet for its port.
    pub const fn port_metadata_bits(self) -> u32 {
        match self {
            Self::Tofino1 => 64,
            Self::Tofino2 => 128,
        }
    }

    /// What its own tables' names begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Tofino1 => "tf1",
            Self::Tofino2 => "tf2",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Tofino1 => "1 ",
            Self::Tofino2 => "2 ",
        }
    }
}

const GROUPS: [(&str, &str); 6] = [
    ("port.txt", include_str!("chip/port.txt")),
    ("pre.txt", include_str!("chip/pre.txt")),
    ("mirror.txt", include_str!("chip/mirror.txt")),
    ("pktgen.txt", include_str!("chip/pktgen.txt")),
    ("dev.txt", include_str!("chip/dev.txt")),
    ("tm.txt", include_str!("chip/tm.txt")),
];

/// The tables that every program has beside its own: ports, multicast, mirroring, packet generator, device,
/// traffic manager.
pub fn fixed(chip: Chip) -> Schema {
    let mut schema = Schema::default();
    for (_, list) in GROUPS {
        schema.tables.extend(read(list, chip).unwrap_or_default());
    }
    schema
}

/// Reads a list; an error names the line.
fn read(list: &'static str, chip: Chip) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    for (number, line) in list.lines().enumerate() {
        let line = match line.strip_prefix(chip.mark()) {
            Some(own) => own,
            None if line.starts_with(|c: char| c.is_ascii_digit()) => continue,
            None => line,
        };
        if !line.is_empty() {
            read_line(line, chip, &mut tables).ok_or_else(|| format!("line {}: {line}", number + 1))?;
        }
    }
    Ok(tables)
}

fn read_line(line: &'static str, chip: Chip, tables: &mut Vec<Table>) -> Option<()> {
    let (what, rest) = line.split_once(' ')?;
    let mut words = rest.split(' ');
    if what == "table" {
        let name = words.next()?.replacen("tf*", chip.prefix(), 1);
        let id = u32::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        let kind = words.next()?;
        let mut made = table(name, id, kind, Object::Fixed, words.next()?.parse().ok()?);
        for word in words {
            made.attributes.push(word.strip_prefix("attribute=")?);
        }
        tables.push(made);
        return Some(());
    }
    let table = tables.last_mut()?;
    match what {
        "key" => table.key.push(read_key(&mut words)?),
        "data" => table.data.push(read_data(&mut words)?),
        "in" => within(rest, &mut table.data)?,
        "action" => table.actions.push(Action {
            id: words.next()?.parse().ok()?,
            name: words.next()?.to_owned(),
            action: None,
            scope: ActionScope::Any,
            annotations: Vec::new(),
            data: Vec::new(),
        }),
        "param" => table.actions.last_mut()?.data.push(read_data(&mut words)?),
        _ => return None,
    }
    Some(())
}

/// Adds a field to the container that was read last.
fn within(rest: &'static str, data: &mut [Data]) -> Option<()> {
    let Type::Container(inner) = &mut data.last_mut()?.fields.last_mut()?.ty else { return None };
    match rest.strip_prefix("in ") {
        Some(deeper) => within(deeper, inner),
        None => {
            inner.push(read_data(&mut rest.split(' '))?);
            Some(())
        }
    }
}

fn read_key(words: &mut dyn Iterator<Item = &'static str>) -> Option<Key> {
    let id = words.next()?.parse().ok()?;
    let name = words.next()?;
    if words.next()? != "Exact" {
        return None;
    }
    let mut made = key(id, name, read_type(words.next()?)?, Means::Named);
    made.kind = KeyKind::Exact;
    made.mandatory = false;
    for word in words {
        match word.strip_prefix('@') {
            Some(annotation) => made.annotations.push(read_annotation(annotation)?),
            None if word == "mandatory" => made.mandatory = true,
            None => return None,
        }
    }
    Some(made)
}

fn read_data(words: &mut dyn Iterator<Item = &'static str>) -> Option<Data> {
    let id = words.next()?.parse().ok()?;
    let name = words.next()?;
    let mut made = field(id, name, read_type(words.next()?)?, Means::Named);
    let (mut mandatory, mut read_only) = (false, false);
    for word in words {
        match (word.strip_prefix('@'), word) {
            (Some(annotation), _) => made.annotations.push(read_annotation(annotation)?),
            (None, "repeated") => made.repeated = true,
            (None, "mandatory") => mandatory = true,
            (None, "ro") => read_only = true,
            _ => return None,
        }
    }
    Some(Data { mandatory, read_only, fields: vec![made] })
}

fn read_annotation(text: &str) -> Option<Annotation> {
    let (name, value) = text.split_once('=')?;
    Some(Annotation { name: name.to_owned(), value: Some(value.to_owned()) })
}

fn read_type(text: &'static str) -> Option<Type> {
    const INTS: [&str; 5] = ["uint8", "uint16", "uint32", "uint64", "int32"];
    let (name, default) = match text.split_once('=') {
        Some((name, default)) => (name, Some(default)),
        None => (text, None),
    };
    if let Some(int) = INTS.into_iter().find(|int| *int == name) {
        let default = default.map(str::parse).transpose().ok()?;
        return Some(Type::Int(int, default));
    }
    if let Some(width) = name.strip_prefix("bytes") {
        return Some(Type::Bytes(width.parse().ok()?, None));
    }
    if let Some(choices) = name.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let choices = choices.split('|').map(str::to_owned).collect();
        return Some(Type::Text(choices, default.map(str::to_owned)));
    }
    Some(match name {
        "bool" => Type::Bool(default.map(str::parse).transpose().ok()?),
        "float" => Type::Float(default.map(str::parse).transpose().ok()?),
        "string" => Type::Text(Vec::new(), default.map(str::to_owned)),
        "container" => Type::Container(Vec::new()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_read_for_both_chips() {
        for chip in [Chip::Tofino1, Chip::Tofino2] {
            for (name, list) in GROUPS {
                let read = read(list, chip).unwrap_or_else(|error| panic!("{name}, {error}"));
                assert!(!read.is_empty(), "{name}");
            }
            let schema = fixed(chip);
            let mut ids: Vec<u32> = schema.tables.iter().map(|table| table.id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), schema.tables.len(), "ids are each of one table");
            for table in &schema.tables {
                assert!(table.id >> 24 == 0xff, "{}", table.name);
                for data in table.actions.iter().flat_map(|action| &action.data).chain(&table.data) {
                    assert_eq!(data.fields.len(), 1, "{}", table.name);
                }
            }
        }
    }

    #[test]
    fn the_chips_differ_where_their_marks_say_so() {
        let size = |chip, name: &str| {
            fixed(chip).tables.iter().find(|table| table.name == name).map(|table| table.size)
        };
        assert_eq!(size(Chip::Tofino1, "$mirror.cfg"), Some(1024));
        assert_eq!(size(Chip::Tofino2, "$mirror.cfg"), Some(256));
        assert_eq!(size(Chip::Tofino1, "tf1.pktgen.port_mask"), None);
        assert_eq!(size(Chip::Tofino2, "tf2.pktgen.port_mask"), Some(2));
    }

    #[test]
    fn containers_hold_their_fields() {
        let schema = fixed(Chip::Tofino1);
        let warm = schema.tables.iter().find(|table| table.name == "tf1.dev.warm_init").unwrap();
        let (_, programs) = warm.field(None, 4).unwrap();
        let Type::Container(inner) = &programs.ty else { panic!("{programs:?}") };
        let names: Vec<&str> = inner.iter().map(|data| data.fields[0].name.as_str()).collect();
        assert_eq!(names, ["p4_name", "p4_pipelines", "bfrt_json_file"]);
        let Type::Container(pipelines) = &inner[1].fields[0].ty else { panic!("{inner:?}") };
        assert_eq!(pipelines.len(), 4);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let error = read("table a 0xff000001 A 1\nkey 1 x Exact uint31", Chip::Tofino1).unwrap_err();
        assert_eq!(error, "line 2: key 1 x Exact uint31");
    }
}
