//! Remedies that remove, move or change what is written, found by its tokens: the places that messages name
//! are those of a name or of an expression, and the edit is around them.

use super::remedy::{Remedy, insert, one, written};
use crate::cursor::{Token, line_start, tokens};
use crate::view::View;
use lsp_types::TextEdit;
use p4cc_syntax::{Diagnostic as Finding, Span};

/// The file of a finding, its tokens, and which of them the finding begins at.
struct Code<'v> {
    view: &'v View<'v>,
    file: usize,
    text: &'v str,
    tokens: Vec<Token<'v>>,
    /// The bytes of the finding.
    range: std::ops::Range<usize>,
    /// The first token of the finding.
    at: usize,
}

/// The edit for a help that a message ends with.
pub(super) fn remedy(view: &View<'_>, finding: &Finding, help: &str) -> Option<Remedy> {
    let is_directive =
        help.starts_with("`#undef` it first") || help.starts_with("make it a comment with `//`");
    let code = Code::of(view, finding.span, is_directive)?;
    let quoted = || help.split('`').nth(1);
    match help {
        "remove it" => code.without(code.range.clone(), "Remove it"),
        "remove `= { ... }`" => code.without_body(),
        "remove the second argument" => code.without_second_argument(),
        "remove `priority = ...:`" => code.without_priority(),
        "write the smaller number first" => code.swapped_range(),
        "move `default` to the end" => code.default_last(),
        "compare it: `x != 0`" => code.compared(),
        "extract one element: `stack.next`" => {
            one(view, (code.file, code.range.end), ".next".to_owned(), "Extract `.next`".to_owned())
        }
        "add `)`" => {
            let end =
                code.text[code.range.start..].find('\n').map_or(code.text.len(), |at| code.range.start + at);
            one(view, (code.file, end), ")".to_owned(), "Add `)`".to_owned())
        }
        "set `size` to the intended number of entries" => code.size(&finding.message),
        "their order decides; alternatively remove `const` before `entries`" => code.entries_not_const(),
        "`#undef` it first if this is intended" => code.undefined_first(finding.message.split('`').nth(1)?),
        "compare with zero, or use `~`" => code.replaced(code.at, "!", "~"),
        "give the enum a type: `enum bit<8> E { ... }`" => code.typed_enum(),
        "give it a value, or end with `...` for default values" => code.with_defaults(),
        "make one of them ternary" => code.ternary(),
        "name the first state `start`" => code.start_state(),
        "a cast needs parentheses: `(bit<8>) x`" => code.type_in_parentheses(),
        _ if help.starts_with("make it a comment with `//`") => code.inserted("// ", "Make it a comment"),
        _ if help.starts_with("add the type: `for (bit<8> ") => {
            code.inserted("bit<8> ", "Give it the type `bit<8>`")
        }
        _ if help.starts_with("remove the property, ") => code.without_property(),
        _ if help.starts_with("write `const` before it") => code.constant(),
        _ if help.ends_with("remove the direction") => code.without_direction(),
        _ if help.starts_with("write `for (; condition; ) { ... }`") => code.for_loop(),
        _ if help.starts_with("cast ") => code.cast(finding, help, quoted()?),
        _ if help.starts_with("write `") && help.ends_with("` first") => code.before(finding, quoted()?),
        _ if help.starts_with("write `") && help.ends_with("(...);`") => code.constructor(),
        _ => None,
    }
}

/// Whether an operator beside it takes the whole expression: it has names, members and indices only, and what
/// else is given.
fn binds_closely(expr: &str, besides: &str) -> bool {
    expr.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c) || besides.contains(c))
}

impl<'v> Code<'v> {
    /// The place of a directive is one that stands for it.
    fn of(view: &'v View<'v>, span: Span, is_directive: bool) -> Option<Self> {
        let place = view.analysis.place(span).filter(|place| is_directive || !place.expanded)?;
        if view.analysis.files[place.file].is_builtin {
            return None;
        }
        let text = view.analysis.text(place.file);
        let (tokens, _) = tokens(text, text.len());
        let at = tokens.iter().position(|token| token.start >= place.range.start).unwrap_or(tokens.len());
        Some(Self { view, file: place.file, text, tokens, range: place.range, at })
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// The first token from one on that is one of these.
    fn next(&self, from: usize, wanted: &[&str]) -> Option<usize> {
        (from..self.tokens.len()).find(|at| wanted.contains(&self.word(*at)))
    }

    /// The last token before one that is one of these.
    fn last(&self, before: usize, wanted: &[&str]) -> Option<usize> {
        (0..before.min(self.tokens.len())).rev().find(|at| wanted.contains(&self.word(*at)))
    }

    /// The token that closes what is open at one: the token itself, if it is a bracket, or what is around it.
    fn closing(&self, from: usize) -> Option<usize> {
        let mut depth = usize::from(!matches!(self.word(from), "(" | "[" | "{"));
        for at in from..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn start(&self, at: usize) -> Option<usize> {
        self.tokens.get(at).map(|token| token.start)
    }

    fn end(&self, at: usize) -> Option<usize> {
        self.tokens.get(at).map(|token| token.start + token.text.len())
    }

    fn edit(&self, range: std::ops::Range<usize>, text: impl Into<String>) -> TextEdit {
        TextEdit { range: self.view.range(self.file, range), new_text: text.into() }
    }

    fn edits(&self, title: impl Into<String>, edits: Vec<TextEdit>) -> Option<Remedy> {
        Some(Remedy { title: title.into(), file: self.file, edits })
    }

    fn without(&self, range: std::ops::Range<usize>, title: impl Into<String>) -> Option<Remedy> {
        self.edits(title, vec![self.edit(range, "")])
    }

    /// The end of what is written before a byte, without the blanks between.
    fn after_blanks_before(&self, at: usize) -> usize {
        self.text[..at].trim_end().len()
    }

    fn without_body(&self) -> Option<Remedy> {
        let equals = self.next(self.at, &["=", ";"]).filter(|at| self.word(*at) == "=")?;
        let close = self.closing(self.next(equals, &["{"])?)?;
        let start = self.after_blanks_before(self.start(equals)?);
        self.without(start..self.end(close)?, "Remove the body")
    }

    fn without_second_argument(&self) -> Option<Remedy> {
        let comma = self.next(self.at, &[","]).filter(|at| self.start(*at) >= Some(self.range.end))?;
        let close = self.closing(comma)?;
        self.without(self.start(comma)?..self.start(close)?, "Remove the second argument")
    }

    fn without_priority(&self) -> Option<Remedy> {
        let first = self.next(self.at, &["priority"]).filter(|at| self.start(*at) < Some(self.range.end))?;
        let colon = self.next(first, &[":"])?;
        let end = self.start(colon + 1).unwrap_or(self.end(colon)?);
        self.without(self.start(first)?..end, "Remove the priority")
    }

    fn swapped_range(&self) -> Option<Remedy> {
        let (low, high) = self.text.get(self.range.clone())?.split_once("..")?;
        let swapped = format!("{} .. {}", high.trim(), low.trim());
        self.edits("Swap the bounds", vec![self.edit(self.range.clone(), swapped)])
    }

    /// The case of `default`, behind the last label of its `switch`.
    fn default_last(&self) -> Option<Remedy> {
        let default = self.last(self.at, &["default"])?;
        let body = default + 2;
        let last = if self.word(body) == "{" { self.closing(body)? } else { default + 1 };
        let brace = self.closing(self.at)?;
        let case = self.text.get(self.start(default)?..self.end(last)?)?;
        let line_of = |at: usize| line_start(self.text, at);
        let (from, to) = (line_of(self.start(default)?), line_of(self.start(brace)?));
        let indent = self.text.get(from..self.start(default)?)?;
        let next = self.start(last + 1)?;
        // Both ends of the move are at the beginning of a line, unless the `switch` is in one line.
        if indent.trim().is_empty()
            && line_of(next) > from
            && self.text[to..self.start(brace)?].trim().is_empty()
        {
            let moved = format!("{indent}{case}\n");
            let edits = vec![self.edit(from..line_of(next), ""), self.edit(to..to, moved)];
            return self.edits("Move `default` to the end", edits);
        }
        let edits = vec![
            self.edit(self.start(default)?..next, ""),
            self.edit(self.start(brace)?..self.start(brace)?, format!("{case} ")),
        ];
        self.edits("Move `default` to the end", edits)
    }

    fn compared(&self) -> Option<Remedy> {
        let is_plain = binds_closely(self.text.get(self.range.clone())?, "()");
        let (open, close) = if is_plain { ("", " != 0") } else { ("(", ") != 0") };
        let edits = vec![
            self.edit(self.range.start..self.range.start, open),
            self.edit(self.range.end..self.range.end, close),
        ];
        self.edits("Compare with 0", edits)
    }

    /// As many entries as the message counts.
    fn size(&self, message: &str) -> Option<Remedy> {
        let given = message.split("but ").nth(1)?.split(' ').next()?;
        let open = self.next(self.at, &["{"])?;
        let close = self.closing(open)?;
        let size = (open..close).find(|at| self.word(*at) == "size" && self.word(at + 1) == "=")?;
        let value = self.start(size + 2)?..self.start(self.next(size, &[";"])?)?;
        self.edits(format!("Set `size` to {given}"), vec![self.edit(value, given)])
    }

    fn entries_not_const(&self) -> Option<Remedy> {
        let entries = self.last(self.at, &["entries"])?;
        let before = entries.checked_sub(1).filter(|at| self.word(*at) == "const")?;
        self.without(self.start(before)?..self.start(entries)?, "Remove `const`")
    }

    fn undefined_first(&self, name: &str) -> Option<Remedy> {
        let line = line_start(self.text, self.range.start);
        one(self.view, (self.file, line), format!("#undef {name}\n"), format!("Add `#undef {name}`"))
    }

    fn replaced(&self, at: usize, old: &str, new: &str) -> Option<Remedy> {
        let token = self.tokens.get(at).filter(|token| token.text == old)?;
        let range = token.start..token.start + old.len();
        self.edits(format!("Replace `{old}` by `{new}`"), vec![self.edit(range, new)])
    }

    fn typed_enum(&self) -> Option<Remedy> {
        let at = self.end(self.last(self.at, &["enum"])?)?;
        one(self.view, (self.file, at), " bit<8>".to_owned(), "Give the enum the type `bit<8>`".to_owned())
    }

    fn with_defaults(&self) -> Option<Remedy> {
        let open = self.next(self.at, &["{"])?;
        let close = self.closing(open)?;
        let comma = if matches!(self.word(close - 1), "{" | ",") { "" } else { ", " };
        let at = if comma.is_empty() { self.start(close)? } else { self.end(close - 1)? };
        one(self.view, (self.file, at), format!("{comma}..."), "Add `...`".to_owned())
    }

    fn ternary(&self) -> Option<Remedy> {
        let kind = self.next(self.at, &[";"]).and_then(|end| self.last(end, &["lpm"]))?;
        self.replaced(kind, "lpm", "ternary")
    }

    /// The first state of a parser, and the transitions to it.
    fn start_state(&self) -> Option<Remedy> {
        let open = self.next(self.at, &["{"])?;
        let close = self.closing(open)?;
        let name = self.word(self.next(open, &["state"])? + 1);
        let is_state =
            |at: &usize| self.word(*at) == name && matches!(self.word(at - 1), "state" | "transition" | ":");
        let edits = (open + 1..close)
            .filter(is_state)
            .filter_map(|at| Some(self.edit(self.start(at)?..self.end(at)?, "start")))
            .collect();
        self.edits(format!("Rename `{name}` to `start`"), edits)
    }

    fn without_direction(&self) -> Option<Remedy> {
        let direction = self.last(self.at, &["in", "out", "inout"])?;
        let next = self.start(direction + 1)?;
        self.without(self.start(direction)?..next, "Remove the direction")
    }

    fn for_loop(&self) -> Option<Remedy> {
        let open = self.next(self.at, &["("])?;
        let close = self.closing(open)?;
        let edits = vec![
            self.edit(self.start(self.at)?..self.end(open)?, "for (; "),
            self.edit(self.start(close)?..self.start(close)?, "; "),
        ];
        self.edits("Write a `for` loop", edits)
    }

    /// A cast that is not around the whole finding: behind another cast, or before one operand.
    fn cast(&self, finding: &Finding, help: &str, ty: &str) -> Option<Remedy> {
        let inner = ty.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'))?;
        let title = format!("Cast to `{inner}`");
        if help.starts_with("cast to the underlying type first: ") {
            return one(self.view, (self.file, self.end(self.closing(self.at)?)?), ty.to_owned(), title);
        }
        // "`OP` cannot be applied to `LEFT` and `RIGHT`": every other piece between backticks is quoted, the
        // operator first.
        let mut shown = finding.message.split('`').skip(3).step_by(2);
        let types = [shown.next()?, shown.next()?];
        // The operand to cast: the one of another type, and for an underlying type the one that has a name.
        let operand = match help.starts_with("cast to the underlying type: ") {
            true => types.iter().position(|of| *of != inner && *of != "int")?,
            false => types.iter().position(|of| *of != inner)?,
        };
        let (span, _) = finding.related.get(operand)?;
        let (file, range) = written(self.view, *span)?;
        let text = self.view.analysis.text(file).get(range.clone())?;
        let (open, close) = if binds_closely(text, "") { ("", "") } else { ("(", ")") };
        let edits = vec![
            insert(self.view, file, range.start, format!("{ty}{open}")),
            insert(self.view, file, range.end, close.to_owned()),
        ];
        Some(Remedy { title, file, edits })
    }

    /// The property of a table that the message calls the later one, in front of the other.
    fn before(&self, finding: &Finding, name: &str) -> Option<Remedy> {
        let (span, _) = finding.related.first()?;
        let (file, range) = written(self.view, *span)?;
        if file != self.file {
            return None;
        }
        let indent = self.text.get(line_start(self.text, self.range.start)..self.range.start)?;
        let property = self.text.get(range.clone())?;
        let from = self.after_blanks_before(range.start);
        let edits = vec![
            self.edit(self.range.start..self.range.start, format!("{property}\n{indent}")),
            self.edit(from..range.end, ""),
        ];
        self.edits(format!("Move `{name}` to the front"), edits)
    }

    fn inserted(&self, text: &str, title: &str) -> Option<Remedy> {
        one(self.view, (self.file, self.range.start), text.to_owned(), title.to_owned())
    }

    /// A type that is a cast, up to the `>` that closes its width.
    fn type_in_parentheses(&self) -> Option<Remedy> {
        let last = if self.word(self.at + 1) == "<" { self.next(self.at, &[">"])? } else { self.at };
        let (start, end) = (self.start(self.at)?, self.end(last)?);
        self.edits(
            "Write the cast in parentheses",
            vec![self.edit(start..start, "("), self.edit(end..end, ")")],
        )
    }

    fn without_property(&self) -> Option<Remedy> {
        let end = self.end(self.next(self.at, &[";"])?)?;
        let start = self.after_blanks_before(self.range.start);
        self.without(start..end, "Remove the property")
    }

    /// `const` in front of the type of what the message names.
    fn constant(&self) -> Option<Remedy> {
        let first = self.last(self.at, &[";", "}"]).map_or(0, |before| before + 1);
        one(self.view, (self.file, self.start(first)?), "const ".to_owned(), "Write `const`".to_owned())
    }

    /// A constructor without the type that is written in front of it.
    fn constructor(&self) -> Option<Remedy> {
        let before = self.last(self.at, &[";", "{", "}"])?;
        self.without(self.start(before + 1)?..self.range.start, "Remove the return type")
    }
}
