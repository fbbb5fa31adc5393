//! The directives: lines that start with `#`.

use super::macros::ExpandError;
use super::macros::{Macro, Token};
use super::scan::{Kind, Piece, Scanner};
use super::{FileJob, Group, Job, condition};
use crate::diag::Diagnostic;
use crate::source::Marker;
use std::rc::Rc;

/// One directive line.
struct Line {
    /// Name after the `#`.
    name: String,
    /// Tokens after the name.
    tokens: Vec<Token>,
    /// The bytes after the name as written.
    raw: String,
    start: usize,
    /// End of the last token.
    end: usize,
    /// Place of the first token after the name.
    operand: (usize, usize),
}

impl Job<'_> {
    /// Carries out the directive whose `#` was just read.
    pub(super) fn directive(&mut self, job: &mut FileJob, scanner: &mut Scanner<'_>, hash: Piece) {
        let room = self.options.limits.macro_tokens.saturating_sub(self.macro_tokens) as usize;
        let line = read_line(scanner, hash, job.active(), room);
        if line.tokens.len() > room {
            return self.expand_error(job.index, line.start, line.end, ExpandError::TooManyTokens);
        }
        match line.name.as_str() {
            "if" | "ifdef" | "ifndef" => self.open_group(job, &line),
            "elif" | "else" => self.next_branch(job, &line),
            "endif" => {
                if job.groups.pop().is_none() {
                    self.line_error(job, &line, "`#endif` without `#if`");
                }
            }
            _ if !job.active() => {}
            "define" => {
                self.macro_tokens += line.tokens.len() as u32;
                self.define(job, &line);
            }
            "undef" => match line.tokens.first().filter(|token| token.kind == Kind::Ident) {
                Some(name) => {
                    self.macros.remove(&name.text);
                }
                None => self.line_error(job, &line, "`#undef` needs a macro name"),
            },
            "include" => self.include_line(job, &line),
            "error" => self.line_error(job, &line, &format!("#error {}", line.raw)),
            "warning" => {
                let span = self.out.anchor(job.index, line.start, line.end);
                self.report(Diagnostic::warning(span, format!("#warning {}", line.raw)));
            }
            "pragma" if line.raw == "once" => {
                let name = self.files[job.index].name.clone();
                self.once.insert(name);
            }
            "" | "pragma" | "ident" => {}
            "line" => self.marker(job, scanner, &line, &line.tokens),
            number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                let mut tokens = vec![Token::new(Kind::Number, number, false)];
                tokens.extend(line.tokens.iter().cloned());
                self.marker(job, scanner, &line, &tokens);
            }
            other => self.line_error(job, &line, &format!("`#{other}` is not a directive")),
        }
    }

    fn line_error(&mut self, job: &FileJob, line: &Line, message: &str) {
        self.error(job.index, line.start, line.end, message.to_owned(), None);
    }

    fn open_group(&mut self, job: &mut FileJob, line: &Line) {
        let outer = job.active();
        let active = outer
            && match line.name.as_str() {
                "if" => self.condition(job, line),
                name => match line.tokens.first().filter(|token| token.kind == Kind::Ident) {
                    Some(token) => self.macros.contains_key(&token.text) == (name == "ifdef"),
                    None => {
                        self.line_error(job, line, &format!("`#{name}` needs a macro name"));
                        false
                    }
                },
            };
        let group = Group { active, outer, taken: active, last: false, start: line.start, end: line.end };
        job.groups.push(group);
    }

    fn next_branch(&mut self, job: &mut FileJob, line: &Line) {
        let Some(mut group) = job.groups.pop() else {
            return self.line_error(job, line, &format!("`#{}` without `#if`", line.name));
        };
        if group.last {
            self.line_error(job, line, &format!("`#{}` after `#else`", line.name));
        }
        let open = group.outer && !group.taken;
        if line.name == "else" {
            group.active = open;
            group.last = true;
        } else {
            group.active = open && self.condition(job, line);
        }
        group.taken |= group.active;
        job.groups.push(group);
    }

    fn condition(&mut self, job: &FileJob, line: &Line) -> bool {
        let tokens = self.answer_defined(&line.tokens);
        let expanded = match self.expander(job.index, line.start).expand(tokens, None) {
            Ok(tokens) => tokens,
            Err(cause) => {
                self.expand_error(job.index, line.start, line.end, cause);
                return false;
            }
        };
        match condition::evaluate(&expanded) {
            Ok(value) => value != 0,
            Err(cause) => {
                let message = format!("`#{}` has no value: {cause}", line.name);
                let help = "use integers, macros, `defined(NAME)` and the operators of C";
                self.error(job.index, line.start, line.end, message, Some(help));
                false
            }
        }
    }

    /// Replaces `defined X` and `defined(X)` before macros are expanded.
    fn answer_defined(&self, tokens: &[Token]) -> Vec<Token> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            if !token.is("defined") {
                out.push(token.clone());
                continue;
            }
            let parens = tokens.get(at).is_some_and(|next| next.is("("));
            let name = tokens.get(at + usize::from(parens));
            let known = name.is_some_and(|name| self.macros.contains_key(&name.text));
            out.push(Token::new(Kind::Number, if known { "1" } else { "0" }, true));
            at += if parens { 3 } else { 1 };
        }
        out
    }

    fn define(&mut self, job: &FileJob, line: &Line) {
        let Some(name) = line.tokens.first().filter(|token| token.kind == Kind::Ident) else {
            return self.line_error(job, line, "`#define` needs a macro name");
        };
        if name.is("defined") {
            return self.line_error(job, line, "`defined` cannot be a macro name");
        }
        let mut rest = &line.tokens[1..];
        let mut params = None;
        let mut variadic = false;
        // Only a parenthesis that touches the name opens a parameter list.
        if rest.first().is_some_and(|token| token.is("(") && !token.space) {
            let Some(close) = rest.iter().position(|token| token.is(")")) else {
                return self.line_error(job, line, "the parameters of this macro never end");
            };
            match parameters(&rest[1..close]) {
                Some((names, dots)) => (params, variadic) = (Some(names), dots),
                None => return self.line_error(job, line, "macro parameters are names separated by commas"),
            }
            rest = &rest[close + 1..];
        }
        let mut body = rest.to_vec();
        if let Some(first) = body.first_mut() {
            first.space = false;
        }
        let place = Some((job.index, line.operand.0, line.operand.1));
        let definition = Macro { params, variadic, body, place };
        let old = self.macros.insert(name.text.clone(), definition.clone());
        if let Some(old) = old.filter(|old| !old.same_as(&definition)) {
            let span = self.out.anchor(job.index, line.operand.0, line.operand.1);
            let message = format!("macro `{}` is defined again with another value", name.text);
            let diag = Diagnostic::warning(span, message).with_help("`#undef` it first if that is meant");
            let diag = match old.place {
                Some(place) => {
                    let span = self.related_place(place);
                    diag.with_related(span, "defined here before")
                }
                None => diag,
            };
            self.report(diag);
        }
    }

    fn include_line(&mut self, job: &FileJob, line: &Line) {
        let mut raw = line.raw.clone();
        if !raw.starts_with(['"', '<']) {
            // `#include MACRO`
            match self.expander(job.index, line.start).expand(line.tokens.clone(), None) {
                Ok(tokens) => raw = super::macros::join(&tokens),
                Err(cause) => return self.expand_error(job.index, line.start, line.end, cause),
            }
        }
        let quoted = raw.starts_with('"');
        let close = if quoted { '"' } else { '>' };
        let path = raw.get(1..).and_then(|rest| rest.split_once(close)).map(|(path, _)| path.to_owned());
        match path.filter(|path| !path.is_empty() && raw.starts_with(['"', '<'])) {
            Some(path) => {
                let (start, end) = if line.operand.1 > line.operand.0 {
                    (line.operand.0, line.end)
                } else {
                    (line.start, line.end)
                };
                self.include(job, &path, quoted, start, end);
            }
            None => {
                let message = "`#include` needs a file".to_owned();
                let help = "write `#include \"file.p4\"` or `#include <file.p4>`";
                self.error(job.index, line.start, line.end, message, Some(help));
            }
        }
    }

    /// `#line N "file"` and `# N "file" flags`: the next line claims to be line N of that file.
    fn marker(&mut self, job: &FileJob, scanner: &Scanner<'_>, line: &Line, tokens: &[Token]) {
        let number = tokens.first().and_then(|token| token.text.parse::<u32>().ok());
        let Some(number) = number else {
            return self.line_error(job, line, "`#line` needs a line number and may have a file name");
        };
        let this = self.out.start(job.index, line.start);
        // The scanner stands at the end of the directive's last line.
        let last = self.out.start(job.index, scanner.position());
        let file = &mut self.files[job.index];
        let this = file.line_index(this);
        let name = match tokens.get(1).filter(|token| token.kind == Kind::Str) {
            Some(text) => unescape(&text.text),
            None => file.presumed_name(this).to_owned(),
        };
        let line_index = file.line_index(last) + 1;
        file.markers.push(Marker { line_index, name, line: number });
    }
}

/// Text of a quoted file name.
fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// Whether what follows a `#` names a directive; in a skipped group only those of groups count.
pub(super) fn known(mut scanner: Scanner<'_>, active: bool) -> bool {
    let name = std::iter::from_fn(|| scanner.next(false).map(|piece| (piece.kind, scanner.text(piece))))
        .find(|(kind, _)| *kind != Kind::Space);
    let Some((Kind::Ident, name)) = name else { return false };
    let group = matches!(name, "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif");
    group || active && matches!(name, "define" | "undef" | "include" | "error" | "warning" | "pragma")
}

/// Names between the parentheses of a `#define`, and whether the last takes the rest.
fn parameters(tokens: &[Token]) -> Option<(Vec<Rc<str>>, bool)> {
    let mut names: Vec<Rc<str>> = Vec::new();
    if tokens.is_empty() {
        return Some((names, false));
    }
    for group in tokens.split(|token| token.is(",")) {
        match group {
            [name] if name.kind == Kind::Ident => names.push(name.text.clone()),
            [a, b, c] if a.is(".") && b.is(".") && c.is(".") => {
                names.push(Rc::from("__VA_ARGS__"));
                return Some((names, true));
            }
            _ => return None,
        }
    }
    Some((names, false))
}

/// Reads up to, and leaves, the end of the line; of its tokens one more than there is room for.
fn read_line(scanner: &mut Scanner<'_>, hash: Piece, strings: bool, room: usize) -> Line {
    let mut line = Line {
        name: String::new(),
        tokens: Vec::new(),
        raw: String::new(),
        start: hash.start,
        end: hash.end,
        operand: (hash.start, hash.end),
    };
    let mut space = false;
    let mut named = false;
    loop {
        let before = scanner.clone();
        let Some(mut piece) = scanner.next(strings) else { break };
        let open = |text: &str| text.len() < 2 || !text.ends_with('"') || text.contains('\n');
        if piece.kind == Kind::Str && open(scanner.text(piece)) {
            // A directive ends with its line; a lone quote in `#error` is ordinary text.
            *scanner = before.clone();
            let Some(quote) = scanner.next(false) else { break };
            piece = quote;
        }
        let text = scanner.text(piece);
        match piece.kind {
            Kind::Newline => {
                *scanner = before;
                break;
            }
            Kind::Space => space = true,
            kind => {
                if !named {
                    line.name = text.to_owned();
                    named = true;
                } else {
                    if line.tokens.is_empty() {
                        line.operand = (piece.start, piece.end);
                    } else if space {
                        line.raw.push(' ');
                    }
                    line.raw.push_str(text);
                    if line.tokens.len() <= room {
                        line.tokens.push(Token::new(kind, text, space));
                    }
                }
                line.end = piece.end;
                space = false;
            }
        }
    }
    line
}
