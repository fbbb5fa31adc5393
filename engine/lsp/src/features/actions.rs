//! Remedies that messages name, as edits.
//!
//! A remedy is known by its words: `every_remedy_is_one_that_a_message_names` in the crate's tests compiles a
//! program for each, so that a message that changes fails there.

use super::remedy::{Remedy, insert, one, written};
use crate::cursor::{Token, line_start, tokens};
use crate::names::{Def, DefKind};
use crate::view::View;
use lsp_types::{CodeAction, CodeActionKind, Position, Range, TextEdit};
use p4cc_syntax::{Diagnostic as Finding, Span};

/// Actions for the findings that a range of a file touches.
pub fn actions(view: &View<'_>, findings: &[Finding], file: usize, range: Range) -> Vec<CodeAction> {
    let path = &view.analysis.files[file].path;
    let touched = findings.iter().filter(|finding| {
        view.analysis.place(finding.span).is_some_and(|place| {
            let found = view.range(place.file, place.range);
            view.analysis.files[place.file].path == *path
                && found.start <= range.end
                && range.start <= found.end
        })
    });
    let shown = super::diagnostics::by_file(view, findings).remove(path).unwrap_or_default();
    touched
        .filter_map(|finding| {
            let remedy = remedy(view, finding)?;
            let uri = view.uri(remedy.file)?;
            let answers =
                shown.iter().filter(|one| one.message.starts_with(&finding.message)).cloned().collect();
            Some(CodeAction {
                title: remedy.title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(answers),
                edit: Some(super::workspace_edit([(uri, remedy.edits)])),
                is_preferred: Some(true),
                ..CodeAction::default()
            })
        })
        .collect::<Vec<_>>()
}

/// The text between the first two backquotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('`').nth(1)
}

fn remedy(view: &View<'_>, finding: &Finding) -> Option<Remedy> {
    let help = finding.help.as_deref()?;
    if let Some(name) = help.strip_prefix("did you mean `").and_then(|rest| rest.split('`').next()) {
        return meant(view, finding, name);
    }
    if help.starts_with("add `#include") {
        return include(view, quoted(help)?);
    }
    if help == "include core.p4" || help.ends_with("or include core.p4, which declares `NoAction`") {
        return include(view, "#include <core.p4>");
    }
    if help == "add `;`" {
        return at_end(view, finding.span, ";", "Add `;`");
    }
    if let Some(ty) = help.strip_prefix("cast it: `(").and_then(|rest| rest.strip_suffix(")`")) {
        return cast(view, finding.span, ty);
    }
    if help.starts_with("end it with `transition accept;`") {
        return transition(view, finding.span);
    }
    if help.starts_with("add `apply { ... }`") {
        return apply(view, finding.span);
    }
    if help.contains(".setValid()` first") && help.starts_with("call `") {
        return set_valid(view, finding.span, quoted(help)?);
    }
    if help.starts_with("emit it in the deparser") {
        return emit(view, quoted(&finding.message)?);
    }
    if help == "add `actions = { ... }`" {
        let table = declared(view, DefKind::Table, finding.span)?;
        return last_line(view, table, "actions = { NoAction; }", "Add `actions`");
    }
    if help == "add it to `actions`" {
        return list_action(view, finding.span);
    }
    super::rewrites::remedy(view, finding, help)
}

fn at_end(view: &View<'_>, span: Span, text: &str, title: &str) -> Option<Remedy> {
    let (file, range) = written(view, span)?;
    one(view, (file, range.end), text.to_owned(), title.to_owned())
}

fn meant(view: &View<'_>, finding: &Finding, name: &str) -> Option<Remedy> {
    let (wrong, (file, range)) = (quoted(&finding.message)?, place_of(view, finding.span)?);
    let text = view.analysis.text(file).get(range.clone())?;
    // The place may be more than the name: a line that includes a file, or a call.
    let at = range.start + text.find(wrong).or_else(|| text.find(finding.message.split('`').nth(3)?))?;
    let old = if text.contains(wrong) { wrong } else { finding.message.split('`').nth(3)? };
    let edit = TextEdit { range: view.range(file, at..at + old.len()), new_text: name.to_owned() };
    Some(Remedy { title: format!("Replace by `{name}`"), file, edits: vec![edit] })
}

/// As [`written`]; the place of a directive is one that stands for it.
fn place_of(view: &View<'_>, span: Span) -> Option<(usize, std::ops::Range<usize>)> {
    let place = view.analysis.place(span)?;
    Some((place.file, place.range))
}

fn include(view: &View<'_>, directive: &str) -> Option<Remedy> {
    let text = view.analysis.text(0);
    // Behind the last include, or else behind the comment at the head.
    let mut line = 0;
    let mut is_comment = true;
    let mut head = 0;
    for (at, content) in text.lines().enumerate() {
        let content = content.trim();
        if content.starts_with("#include") {
            line = at + 1;
            if directive.contains('<') {
                line = at;
                break;
            }
        }
        is_comment = is_comment && (content.starts_with(['/', '*']) || content.ends_with("*/"));
        if is_comment {
            head = at + 1;
        }
    }
    let at = Position::new(if line > 0 { line } else { head } as u32, 0);
    let edit = TextEdit { range: Range::new(at, at), new_text: format!("{directive}\n") };
    Some(Remedy { title: format!("Add `{directive}`"), file: 0, edits: vec![edit] })
}

fn cast(view: &View<'_>, span: Span, ty: &str) -> Option<Remedy> {
    let (file, range) = written(view, span)?;
    let text = view.analysis.text(file).get(range.clone())?;
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']'));
    let (open, close) = if is_plain { (format!("({ty})"), "") } else { (format!("({ty})("), ")") };
    let mut edits = vec![insert(view, file, range.start, open)];
    if !close.is_empty() {
        edits.push(insert(view, file, range.end, close.to_owned()));
    }
    Some(Remedy { title: format!("Cast to `{ty}`"), file, edits })
}

/// The declaration of a kind whose name stands at a place.
fn declared<'a>(view: &'a View<'_>, kind: DefKind, name: Span) -> Option<&'a Def> {
    view.names().defs().map(|(_, def)| def).find(|def| def.kind == kind && def.span == name)
}

/// A line before the brace that closes a declaration.
fn last_line(view: &View<'_>, def: &Def, content: &str, title: &str) -> Option<Remedy> {
    let (file, range) = written(view, def.whole)?;
    let text = view.analysis.text(file);
    let brace = range.end.checked_sub(1).filter(|at| text.as_bytes().get(*at) == Some(&b'}'))?;
    let outer = indent(text, range.start);
    let line = line_start(text, brace);
    let alone = text[line..brace].trim().is_empty();
    let inner = format!("{outer}    {content}\n");
    match alone {
        true => one(view, (file, line), inner, title.to_owned()),
        false => one(view, (file, brace), format!("\n{inner}{outer}"), title.to_owned()),
    }
}

fn indent(text: &str, at: usize) -> &str {
    let start = line_start(text, at);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn transition(view: &View<'_>, name: Span) -> Option<Remedy> {
    let state = declared(view, DefKind::State, name)?;
    last_line(view, state, "transition accept;", "Add `transition accept;`")
}

fn apply(view: &View<'_>, name: Span) -> Option<Remedy> {
    let control = declared(view, DefKind::Control, name)?;
    last_line(view, control, "apply { }", "Add an `apply` block")
}

fn set_valid(view: &View<'_>, span: Span, call: &str) -> Option<Remedy> {
    let (file, range) = written(view, span)?;
    let text = view.analysis.text(file);
    let start = line_start(text, range.start);
    let line = format!("{}{call};\n", indent(text, range.start));
    one(view, (file, start), line, format!("Call `{call}` first"))
}

/// An `emit` behind the last one of the program, for another header of the same struct.
fn emit(view: &View<'_>, header: &str) -> Option<Remedy> {
    let (file, (start, end)) = (0..view.analysis.files.len())
        .filter(|file| !view.analysis.files[*file].is_builtin)
        .find_map(|file| Some((file, last_emit(view.analysis.text(file))?)))?;
    let text = view.analysis.text(file);
    let call = text.get(start..end)?;
    let (packet, argument) = call.split_once(".emit(")?;
    let holder = argument.split(')').next()?.rsplit_once('.')?.0;
    let line = format!("\n{}{packet}.emit({holder}.{header});", indent(text, start));
    one(view, (file, end), line, format!("Emit `{header}` in the deparser"))
}

/// From the name of the packet to the `;` of the last `packet.emit(...);`.
fn last_emit(text: &str) -> Option<(usize, usize)> {
    let (tokens, _) = tokens(text, text.len());
    let at = tokens.iter().rposition(|token| token.text == "emit")?;
    let start = tokens.get(at.checked_sub(2)?)?;
    let end = tokens.get(at..)?.iter().find(|token| token.text == ";")?;
    Some((start.start, end.start + 1))
}

fn list_action(view: &View<'_>, span: Span) -> Option<Remedy> {
    let (file, range) = written(view, span)?;
    let text = view.analysis.text(file);
    let name: String =
        text.get(range.clone())?.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let around = |def: &&Def| def.whole.start <= span.start && span.end <= def.whole.end;
    let tables = view.names().defs().map(|(_, def)| def).filter(|def| def.kind == DefKind::Table);
    let (_, table) = written(view, tables.into_iter().find(around)?.whole)?;
    let (all, _) = tokens(text, table.end);
    let inside = all.iter().position(|token| token.start >= table.start)?;
    let list = &all[inside..];
    let words = |at: usize| {
        list.get(at..at + 3).map(|three| three.iter().map(|token| token.text).collect::<Vec<_>>())
    };
    let open = (0..list.len()).find(|at| words(*at).is_some_and(|three| three == ["actions", "=", "{"]))?;
    let close = list[open..].iter().find(|token: &&Token<'_>| token.text == "}")?.start;
    let alone = text[..close].rfind('\n').map(|at| at + 1).filter(|at| text[*at..close].trim().is_empty());
    let title = format!("Add `{name}` to `actions`");
    match alone {
        Some(line) => {
            let content = format!("{}    {name};\n", indent(text, close));
            one(view, (file, line), content, title)
        }
        None => one(view, (file, close), format!("{name}; "), title),
    }
}
