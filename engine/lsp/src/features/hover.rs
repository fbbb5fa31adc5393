//! What a name stands for: the declaration in a line, its width, its comment.

use super::macros;
use crate::comments::comment;
use crate::names::{DefId, DefKind, Names, Ty};
use crate::view::{Cursor, View};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

/// Fields of a header that are listed.
const MAX_FIELDS: usize = 40;

/// What the name under the cursor stands for.
pub fn hover(view: &View<'_>, cursor: Cursor) -> Option<Hover> {
    if let Some((def, range)) = view.definition(cursor) {
        return Some(Hover { contents: markdown(describe(view, def)), range: Some(range) });
    }
    let (file, name) = macros::definition(view, cursor)?;
    let text = macros::shown(view.analysis.text(file), &name);
    Some(Hover { contents: markdown(format!("```p4\n{text}\n```")), range: None })
}

fn markdown(value: String) -> HoverContents {
    HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value })
}

/// A declaration as text: also what completion shows beside a name.
pub fn describe(view: &View<'_>, id: DefId) -> String {
    let names = view.names();
    let mut text = format!("```p4\n{}\n```", names.line(id));
    for part in [facts(names, id), documentation(view, id)].into_iter().flatten() {
        text.push_str("\n\n");
        text.push_str(&part);
    }
    text
}

/// The comment of a declaration.
pub fn documentation(view: &View<'_>, id: DefId) -> Option<String> {
    let def = view.names().def(id);
    let name = view.analysis.place(def.span)?;
    let whole = view.analysis.place(def.whole).filter(|whole| whole.file == name.file);
    let start = whole.map_or(name.range.start, |whole| whole.range.start.min(name.range.start));
    let lines = &view.analysis.files[name.file].lines;
    comment(view.analysis.text(name.file), lines, start, name.range.end)
}

/// Widths, places, keys: what the declaration does not say itself.
fn facts(names: &Names, id: DefId) -> Option<String> {
    let def = names.def(id);
    match def.kind {
        DefKind::Header | DefKind::Struct => Some(layout(names, id)),
        DefKind::Field => {
            let at = offset_of(names, id).map(|at| format!("bit {at} of its header"));
            let parts = [value_of(names, &def.ty), at];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then(|| parts.join(", "))
        }
        DefKind::Table => {
            let actions: Vec<&str> =
                def.actions.iter().map(|action| names.def(*action).name.as_str()).collect();
            let kinds: Vec<&str> = def.keys.iter().map(|(_, kind)| kind.as_str()).collect();
            Some(format!("keys: {}; actions: {}", list(&kinds), list(&actions)))
        }
        DefKind::Variable | DefKind::Param(_) | DefKind::Const | DefKind::Typedef => value_of(names, &def.ty),
        _ => None,
    }
}

fn list(items: &[&str]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// The type below typedefs, and its width.
fn value_of(names: &Names, ty: &Ty) -> Option<String> {
    let under = names.target(ty);
    let width = names.width(ty)?;
    let plural = if width == 1 { "" } else { "s" };
    match under == ty {
        true => Some(format!("{width} bit{plural}")),
        false => Some(format!("`{}`, {width} bit{plural}", names.show(under))),
    }
}

/// First bit of a field in its header.
pub fn offset_of(names: &Names, field: DefId) -> Option<u64> {
    let parent = names.def(field).parent.filter(|parent| names.def(*parent).kind == DefKind::Header)?;
    let before = names.def(parent).children.iter().take_while(|child| **child != field);
    let fields = before.filter(|child| names.def(**child).kind == DefKind::Field);
    fields.into_iter().try_fold(0u64, |sum, child| sum.checked_add(names.def(*child).width?))
}

fn layout(names: &Names, id: DefId) -> String {
    let def = names.def(id);
    let fields: Vec<DefId> =
        def.children.iter().copied().filter(|child| names.def(*child).kind == DefKind::Field).collect();
    let mut text = match def.width {
        Some(width) if width.is_multiple_of(8) => format!("{width} bits, {} bytes", width / 8),
        Some(width) => format!("{width} bits"),
        None => format!("{} fields", fields.len()),
    };
    text.push_str("\n\n```p4\n");
    for field in fields.iter().take(MAX_FIELDS) {
        let field = names.def(*field);
        text.push_str(&format!("{} {};\n", names.show(&field.ty), field.name));
    }
    if fields.len() > MAX_FIELDS {
        text.push_str(&format!("// {} more\n", fields.len() - MAX_FIELDS));
    }
    text.push_str("```");
    text
}
