//! Another name for what the cursor is on, wherever it is used.

use super::Edits;
use crate::names::{DefId, DefKind};
use crate::view::{Cursor, View};
use crate::{builtin, paths};
use lsp_types::{Range, TextEdit, Uri};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Words that no name may be.
const RESERVED: [&str; 44] = [
    "abstract",
    "action",
    "actions",
    "apply",
    "bit",
    "bool",
    "const",
    "control",
    "default",
    "else",
    "entries",
    "enum",
    "error",
    "exit",
    "extern",
    "false",
    "for",
    "header",
    "header_union",
    "if",
    "in",
    "inout",
    "int",
    "key",
    "list",
    "match_kind",
    "out",
    "package",
    "parser",
    "priority",
    "return",
    "select",
    "state",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "tuple",
    "typedef",
    "value_set",
    "varbit",
];

/// Edits of a document by line and column.
type Placed = (Uri, BTreeMap<(u32, u32), TextEdit>);

/// The range of the name, if it can have another.
///
/// # Errors
/// Why it cannot.
pub fn prepare(view: &View<'_>, cursor: Cursor) -> Result<Range, String> {
    let (def, range) = target(view, cursor)?;
    places(view, def)?;
    Ok(range)
}

/// The edits that give what the cursor is on another name, in each program that has it.
///
/// # Errors
/// Why it cannot have this name.
pub fn rename<'a>(
    programs: impl Iterator<Item = (&'a View<'a>, Cursor)>,
    name: &str,
) -> Result<Vec<Edits>, String> {
    let word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !word || name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(format!("`{name}` is not a name: letters, digits and `_`, no digit first"));
    }
    if RESERVED.contains(&name) || name == "void" || name == "_" {
        return Err(format!("`{name}` is a word of the language; choose another name"));
    }
    let mut edits: BTreeMap<PathBuf, Placed> = BTreeMap::new();
    for (at, (view, cursor)) in programs.enumerate() {
        let def = match target(view, cursor) {
            Ok((def, _)) => def,
            // Another program may leave the place out.
            Err(_) if at > 0 => continue,
            Err(why) => return Err(why),
        };
        refuse_taken(view, def, name)?;
        for (file, range) in places(view, def)? {
            let Some(uri) = view.uri(file) else { continue };
            let path = view.analysis.files[file].path.clone();
            let (_, there) = edits.entry(path).or_insert_with(|| (uri, BTreeMap::new()));
            let start = (range.start.line, range.start.character);
            there.insert(start, TextEdit { range, new_text: name.to_owned() });
        }
    }
    Ok(edits.into_values().map(|(uri, edits)| (uri, edits.into_values().collect())).collect())
}

fn target(view: &View<'_>, cursor: Cursor) -> Result<(DefId, Range), String> {
    match view.definition(cursor) {
        Some(found) => Ok(found),
        None if super::macros::definition(view, cursor).is_some() => {
            Err("this is a macro: its uses are replaced before names are known; edit `#define`".to_owned())
        }
        None => Err("there is no name of the program here".to_owned()),
    }
}

/// All places of a name, none of which a macro or a file that comes with p4cc gives.
fn places(view: &View<'_>, def: DefId) -> Result<Vec<(usize, Range)>, String> {
    let name = &view.names().def(def).name;
    let mut found = BTreeSet::new();
    for one in view.names().uses().iter().filter(|one| one.def == def) {
        let Some(place) = view.analysis.place(one.span) else { continue };
        let file = &view.analysis.files[place.file];
        if file.is_builtin || builtin::contains(&file.path) {
            return Err(format!("`{name}` belongs to {}, which comes with p4cc", file.path.display()));
        }
        if place.expanded {
            let line = file.lines.line(place.range.start) + 1;
            return Err(format!(
                "a macro gives `{name}` at line {line} of {}: write it out there, or edit the macro",
                file.path.display()
            ));
        }
        if paths::uri_of(&file.path).is_none() {
            return Err(format!("{} has no address that an editor knows", file.path.display()));
        }
        // A file that is included twice holds a place once.
        let first = view.analysis.file(&file.path).unwrap_or(place.file);
        found.insert((first, place.range.start, place.range.end));
    }
    Ok(found.into_iter().map(|(file, start, end)| (file, view.range(file, start..end))).collect())
}

/// Another of the new name, where it would hide this one or be hidden.
fn refuse_taken(view: &View<'_>, def: DefId, name: &str) -> Result<(), String> {
    let names = view.names();
    let is_member = matches!(names.def(def).kind, DefKind::Field | DefKind::EnumMember | DefKind::Method);
    let taken = match names.def(def).parent.filter(|_| is_member) {
        Some(parent) => {
            names.def(parent).children.iter().copied().find(|other| names.def(*other).name == name)
        }
        None => {
            let beside = names.beside(def).iter().copied().find(|other| names.def(*other).name == name);
            let mut uses = names.uses().iter().filter(|one| one.def == def);
            let here = || uses.find_map(|one| names.look_up(name, one.span.start).first().copied());
            beside.or_else(here).or_else(|| names.used_around(def, name))
        }
    };
    match taken {
        None => Ok(()),
        Some(other) => {
            let kind = names.def(other).kind.word();
            Err(format!("`{name}` is the name of another {kind} where this name is used"))
        }
    }
}
