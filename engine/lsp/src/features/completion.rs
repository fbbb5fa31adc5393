//! What may stand at the cursor.

use super::{hover, macros};
use crate::cursor::{Place, Token, chain, open_bracket, tokens, type_of};
use crate::names::{DefId, DefKind, Names, Ty};
use crate::view::{Cursor, View};
use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind};
use p4cc_syntax::builtin_names;
use std::path::Path;

/// Items that are given.
const MAX_ITEMS: usize = 2_000;

/// Files of a folder that are offered to an include.
const MAX_FILES: usize = 500;

/// Annotations with what they are for.
const ANNOTATIONS: [(&str, &str); 26] = [
    ("name", "name for the control plane: `@name(\"...\")`"),
    ("id", "id in P4Info: `@id(1)`"),
    ("hidden", "not shown to the control plane"),
    ("tableonly", "only as an action of entries"),
    ("defaultonly", "only as the default action"),
    ("optional", "may be left out"),
    ("noWarn", "silences a warning: `@noWarn(\"unused\")`"),
    ("noSideEffects", "the extern function changes nothing"),
    ("pure", "the extern function depends on its arguments only"),
    ("deprecated", "warns where it is used"),
    ("atomic", "the block runs as one step"),
    ("priority", "precedence of an entry"),
    ("brief", "a short description in P4Info"),
    ("description", "a description in P4Info"),
    ("pkginfo", "description of the program in P4Info"),
    ("field_list", "metadata that recirculation keeps: `@field_list(1)`"),
    ("controller_header", "header of packets to and from the controller"),
    ("p4runtime_translation", "the control plane uses other values for a type"),
    ("format", "how the value is shown to people"),
    ("max_group_size", "members of an action selector's group"),
    ("refers_to", "the value is a key of another table"),
    ("entry_restriction", "what entries of the table must satisfy"),
    ("alias", "another name for the control plane"),
    ("match", "match kind for P4Info"),
    ("p4cc_role", "what a table, key or parameter is for (p4cc)"),
    ("pragma", "an option of a compiler"),
];

/// Words at the beginning of a declaration.
const DECLARATIONS: [&str; 15] = [
    "action",
    "bit",
    "bool",
    "const",
    "control",
    "enum",
    "error",
    "extern",
    "header",
    "header_union",
    "package",
    "parser",
    "struct",
    "table",
    "typedef",
];

/// Words in bodies.
const STATEMENTS: [&str; 17] = [
    "apply",
    "bit",
    "bool",
    "const",
    "default",
    "else",
    "exit",
    "false",
    "if",
    "int",
    "return",
    "select",
    "state",
    "switch",
    "transition",
    "true",
    "varbit",
];

/// Properties of tables.
const PROPERTIES: [&str; 9] = [
    "actions",
    "const default_action",
    "const entries",
    "counters",
    "default_action",
    "implementation",
    "key",
    "meters",
    "size",
];

/// Items for a place.
pub fn complete(view: &View<'_>, cursor: Cursor) -> Vec<CompletionItem> {
    let text = view.analysis.text(cursor.file);
    // The word that is being written is no part of what is before it.
    let word = text.get(..cursor.at).map_or(0, |before| {
        before.bytes().rev().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
    });
    let start = cursor.at - word;
    let (tokens, place) = tokens(text, start);
    let mut items = match place {
        Place::Text => Vec::new(),
        Place::Directive(at) => directive(view, cursor, text.get(at..start).unwrap_or("")),
        Place::Code => code(view, Cursor { at: start, ..cursor }, &tokens),
    };
    items.truncate(MAX_ITEMS);
    items
}

fn code(view: &View<'_>, cursor: Cursor, tokens: &[Token<'_>]) -> Vec<CompletionItem> {
    let names = view.names();
    let offset = view.offset(cursor);
    match tokens.last().map(|last| last.text) {
        Some("@") => ANNOTATIONS.iter().map(|(name, what)| word(name, what)).collect(),
        Some(".") => match chain(&tokens[..tokens.len() - 1]) {
            Some(chain) => members(view, &type_of(names, &chain, offset)),
            // `.x` is a name of the outermost scope.
            None => names.visible(0).into_iter().map(|id| item(view, id)).collect(),
        },
        Some("transition") => {
            let mut items = states(view, offset);
            items.push(word("select", "by value"));
            items
        }
        _ => in_brackets(view, tokens, offset),
    }
}

/// By the list that is open around the cursor: that of a table's actions holds actions only.
fn in_brackets(view: &View<'_>, tokens: &[Token<'_>], offset: u32) -> Vec<CompletionItem> {
    let names = view.names();
    let open = open_bracket(tokens);
    let before = |back: usize| {
        open.and_then(|(at, _)| at.checked_sub(back))
            .and_then(|at| tokens.get(at))
            .map_or("", |token| token.text)
    };
    let after_colon = tokens.last().is_some_and(|last| last.text == ":");
    let only = |kind: DefKind| {
        let found = names.visible(offset).into_iter().filter(|id| names.def(*id).kind == kind);
        found.map(|id| item(view, id)).collect::<Vec<_>>()
    };
    match (open.map(|(_, bracket)| bracket), before(1), before(2)) {
        (Some("{"), "=", "actions") => only(DefKind::Action),
        (Some("{"), "=", "key") if after_colon => names.match_kinds().map(|id| item(view, id)).collect(),
        (Some("{"), "=", "entries") if after_colon => only(DefKind::Action),
        (Some("{"), ")", _) if after_colon && in_select(tokens, open) => states(view, offset),
        _ if ends_with(tokens, &["default_action", "="]) => only(DefKind::Action),
        (Some("{"), name, "table") if !name.is_empty() => {
            PROPERTIES.iter().map(|name| word(name, "")).collect()
        }
        (None, ..) => everything(view, offset, &DECLARATIONS),
        _ => everything(view, offset, &STATEMENTS),
    }
}

fn ends_with(tokens: &[Token<'_>], words: &[&str]) -> bool {
    tokens.len() >= words.len()
        && tokens[tokens.len() - words.len()..].iter().zip(words).all(|(token, word)| token.text == *word)
}

/// Whether the open brace is that of a `select`.
fn in_select(tokens: &[Token<'_>], open: Option<(usize, &str)>) -> bool {
    let Some((at, _)) = open else { return false };
    let before = &tokens[..at];
    let Some((_, inner)) = before.split_last() else { return false };
    open_bracket(inner)
        .and_then(|(paren, _)| paren.checked_sub(1))
        .is_some_and(|at| inner[at].text == "select")
}

fn everything(view: &View<'_>, offset: u32, words: &[&str]) -> Vec<CompletionItem> {
    let mut items: Vec<CompletionItem> =
        view.names().visible(offset).into_iter().map(|id| item(view, id)).collect();
    items.extend(words.iter().map(|name| word(name, "")));
    for file in 0..view.analysis.files.len() {
        if !view.analysis.files[file].is_builtin {
            let found = macros::defined(view.analysis.text(file));
            items.extend(found.map(|name| CompletionItem {
                kind: Some(CompletionItemKind::CONSTANT),
                ..word(name, "macro")
            }));
        }
    }
    items.sort_by(|a, b| a.label.cmp(&b.label));
    items.dedup_by(|a, b| a.label == b.label);
    items
}

fn states(view: &View<'_>, offset: u32) -> Vec<CompletionItem> {
    let names = view.names();
    let known = names.visible(offset).into_iter().filter(|id| names.def(*id).kind == DefKind::State);
    let mut items: Vec<CompletionItem> = known.map(|id| item(view, id)).collect();
    items.push(word("accept", "ends the parser"));
    items.push(word("reject", "ends the parser with an error"));
    items
}

/// What may stand behind the dot of a value or type.
fn members(view: &View<'_>, ty: &Ty) -> Vec<CompletionItem> {
    let names = view.names();
    let (under, is_name) = match ty {
        Ty::TypeName(ty) => (names.target(ty), true),
        ty => (names.target(ty), false),
    };
    let methods =
        |items: &[(&str, &str)]| items.iter().map(|(name, what)| method(name, what)).collect::<Vec<_>>();
    match under {
        Ty::Error => names.errors().map(|id| item(view, id)).collect(),
        Ty::Stack(..) => methods(&[
            ("next", "the first element that is not extracted yet"),
            ("last", "the element that was extracted last"),
            ("lastIndex", "index of the last element"),
            ("size", "number of elements"),
            ("push_front", "moves the elements up: push_front(1)"),
            ("pop_front", "moves the elements down: pop_front(1)"),
        ]),
        Ty::Applied(_) => methods(&[
            ("hit", "whether an entry matched"),
            ("miss", "whether none matched"),
            ("action_run", "the action that ran, for `switch`"),
        ]),
        Ty::Named(id, _) => {
            let mut items = parts(view, *id);
            match names.def(*id).kind {
                DefKind::Header | DefKind::Union if !is_name => items.extend(methods(&[
                    ("isValid", "whether the header is valid"),
                    ("setValid", "makes the header valid"),
                    ("setInvalid", "makes the header invalid"),
                    ("minSizeInBytes", "bytes of the header"),
                ])),
                DefKind::Control | DefKind::Parser | DefKind::Table => {
                    items.extend(methods(&[("apply", "runs it")]));
                }
                _ => {}
            }
            items
        }
        _ => Vec::new(),
    }
}

/// Fields, members of an enum, methods.
fn parts(view: &View<'_>, id: DefId) -> Vec<CompletionItem> {
    let names = view.names();
    let wanted =
        |id: &DefId| matches!(names.def(*id).kind, DefKind::Field | DefKind::EnumMember | DefKind::Method);
    let mut items: Vec<CompletionItem> =
        names.def(id).children.iter().filter(|id| wanted(id)).map(|id| item(view, *id)).collect();
    items.dedup_by(|a, b| a.label == b.label);
    items
}

fn directive(view: &View<'_>, cursor: Cursor, text: &str) -> Vec<CompletionItem> {
    let rest = text.trim_start_matches('#').trim_start();
    let Some(rest) = rest.strip_prefix("include") else {
        let words = [
            "include", "define", "undef", "ifdef", "ifndef", "if", "elif", "else", "endif", "error", "pragma",
        ];
        return if rest.is_empty() { words.iter().map(|name| word(name, "")).collect() } else { Vec::new() };
    };
    let rest = rest.trim_start();
    let Some(inside) = rest.strip_prefix(['<', '"']) else { return Vec::new() };
    let folder = inside.rfind('/').map_or("", |slash| &inside[..slash]);
    let beside = view.analysis.files[cursor.file].path.parent().filter(|_| rest.starts_with('"'));
    let folders = beside.into_iter().chain(view.analysis.config.include_dirs.iter().map(AsRef::as_ref));
    let mut items: Vec<CompletionItem> =
        folders.flat_map(|path| listed(&path.join(folder))).map(|name| file_item(&name)).collect();
    if folder.is_empty() {
        items.extend(builtin_names().map(file_item));
    }
    items.sort_by(|a, b| a.label.cmp(&b.label));
    items.dedup_by(|a, b| a.label == b.label);
    items
}

/// P4 files and folders of a folder.
fn listed(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        match entry.file_type().ok()?.is_dir() {
            true => (!name.starts_with('.')).then(|| format!("{name}/")),
            false => [".p4", ".p4h", ".h"].iter().any(|end| name.ends_with(end)).then_some(name),
        }
    };
    entries.take(MAX_FILES).filter_map(name).collect()
}

fn file_item(name: &str) -> CompletionItem {
    let kind = if name.ends_with('/') { CompletionItemKind::FOLDER } else { CompletionItemKind::FILE };
    CompletionItem { kind: Some(kind), ..word(name, "") }
}

fn word(name: &str, what: &str) -> CompletionItem {
    CompletionItem {
        label: name.to_owned(),
        kind: Some(CompletionItemKind::KEYWORD),
        detail: (!what.is_empty()).then(|| what.to_owned()),
        ..CompletionItem::default()
    }
}

fn method(name: &str, what: &str) -> CompletionItem {
    CompletionItem { kind: Some(CompletionItemKind::METHOD), ..word(name, what) }
}

fn item(view: &View<'_>, id: DefId) -> CompletionItem {
    let names: &Names = view.names();
    let def = names.def(id);
    let documentation = hover::documentation(view, id)
        .map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::PlainText, value }));
    CompletionItem {
        label: def.name.clone(),
        kind: Some(kind(def.kind)),
        detail: Some(names.line(id)),
        documentation,
        ..CompletionItem::default()
    }
}

const fn kind(kind: DefKind) -> CompletionItemKind {
    match kind {
        DefKind::Header | DefKind::Struct | DefKind::Union => CompletionItemKind::STRUCT,
        DefKind::Enum => CompletionItemKind::ENUM,
        DefKind::EnumMember | DefKind::ErrorMember | DefKind::MatchKind => CompletionItemKind::ENUM_MEMBER,
        DefKind::Typedef | DefKind::TypeParam => CompletionItemKind::TYPE_PARAMETER,
        DefKind::Field => CompletionItemKind::FIELD,
        DefKind::Const => CompletionItemKind::CONSTANT,
        DefKind::Variable | DefKind::Param(_) | DefKind::Instance | DefKind::ValueSet => {
            CompletionItemKind::VARIABLE
        }
        DefKind::Action | DefKind::Function => CompletionItemKind::FUNCTION,
        DefKind::Table => CompletionItemKind::UNIT,
        DefKind::Control | DefKind::Parser => CompletionItemKind::CLASS,
        DefKind::State => CompletionItemKind::EVENT,
        DefKind::Extern | DefKind::Package => CompletionItemKind::INTERFACE,
        DefKind::Method => CompletionItemKind::METHOD,
        DefKind::Constructor => CompletionItemKind::CONSTRUCTOR,
    }
}
