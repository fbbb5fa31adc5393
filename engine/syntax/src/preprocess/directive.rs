//! The directives: lines that start with `#`.

use super::expand::ExpandError;
use super::file::{FileJob, Group};
use super::scan::{Kind, Piece, Scanner};
use super::token::Token;
use super::{Job, condition};
use crate::closest;
use crate::diag::Diagnostic;
use crate::source::Marker;

/// One directive line.
pub(super) struct Line {
    /// Name after the `#`.
    pub(super) name: String,
    name_start: usize,
    /// Tokens after the name.
    pub(super) tokens: Vec<Token>,
    /// Place of each, and one more for the end.
    places: Vec<(usize, usize)>,
    /// The bytes after the name as written.
    pub(super) raw: String,
    pub(super) start: usize,
    /// End of the last token.
    pub(super) end: usize,
}

impl Line {
    /// Place of a token, or of the line if there is none.
    pub(super) fn place(&self, token: usize) -> (usize, usize) {
        self.places.get(token).copied().unwrap_or((self.start, self.end))
    }
}

/// The directives.
const NAMES: [&str; 21] = [
    "define",
    "undef",
    "include",
    "include_next",
    "import",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "elifdef",
    "elifndef",
    "else",
    "endif",
    "error",
    "warning",
    "line",
    "pragma",
    "ident",
    "sccs",
    "assert",
    "unassert",
];

/// Those that choose what is read.
const CONDITIONALS: [&str; 8] = ["if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"];

impl Job<'_> {
    /// Carries out the directive whose `#` was just read; false if the line is not one: then
    /// the scanner is behind the `#`, and the line is text, which P4's lexer ignores.
    pub(super) fn directive(&mut self, job: &mut FileJob, scanner: &mut Scanner<'_>, hash: Piece) -> bool {
        let behind = scanner.clone();
        let room = self.options.limits.macro_tokens.saturating_sub(self.macro_tokens) as usize;
        let line = read_line(scanner, hash, room);
        let name = line.name.as_str();
        let in_string = self.out.in_string();
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            // p4c's lexer reads such a line, the preprocessor does not.
            if job.active() && !in_string && self.lexer_marker(job, scanner, &line) {
                return true;
            }
            *scanner = behind;
            return false;
        }
        if !name.is_empty() && !NAMES.contains(&name) {
            if job.active() && !in_string {
                self.not_a_directive(job, &line, behind.text(hash).len() + hash.start);
            }
            *scanner = behind;
            return false;
        }
        if !job.active() && !CONDITIONALS.contains(&name) {
            return true;
        }
        if line.tokens.len() > room {
            self.expand_error(job.index, line.start, line.end, ExpandError::TooManyTokens);
            return true;
        }
        self.carry_out(job, scanner, &line);
        true
    }

    fn carry_out(&mut self, job: &mut FileJob, scanner: &Scanner<'_>, line: &Line) {
        match line.name.as_str() {
            "if" | "ifdef" | "ifndef" => self.open_group(job, line),
            "elif" | "elifdef" | "elifndef" | "else" => self.next_branch(job, line),
            "endif" => {
                self.extra_tokens(job, line, 0);
                if job.groups.pop().is_none() {
                    self.line_error(job, line, "`#endif` without `#if`");
                }
            }
            "define" => {
                self.macro_tokens += line.tokens.len() as u32;
                self.define(job, line);
            }
            "undef" => {
                if let Some(name) = self.macro_name(job, line) {
                    self.macros.remove(&*name);
                    self.extra_tokens(job, line, 1);
                }
            }
            "include" | "include_next" | "import" => self.include_line(job, line),
            "error" => self.line_error(job, line, &format!("#error {}", line.raw)),
            "warning" => {
                let span = self.out.anchor(job.index, line.start, line.end);
                self.report(Diagnostic::warning(span, format!("#warning {}", line.raw)));
            }
            "pragma" => {
                let anchor = (job.index, line.start, line.end);
                self.pragma_at = anchor;
                self.pragma(&line.raw.clone());
            }
            "line" => self.line_marker(job, scanner, line),
            "assert" | "unassert" => self.assertion_line(job, line),
            _ => {}
        }
    }

    pub(super) fn line_error(&mut self, job: &FileJob, line: &Line, message: &str) {
        self.error(job.index, line.start, line.end, message.to_owned(), None);
    }

    /// A warning where a line that is ignored looks like a directive.
    fn not_a_directive(&mut self, job: &FileJob, line: &Line, behind_hash: usize) {
        let names_file = line.tokens.first().is_some_and(|token| token.kind == Kind::Str || token.is("<"));
        let attached = line.name_start == behind_hash;
        let Some(meant) = closest(&line.name, NAMES.into_iter()).filter(|_| attached || names_file) else {
            return;
        };
        let message = format!("`#{}` is not a directive; the line is ignored, as in p4c", line.name);
        let span = self.out.anchor(job.index, line.start, line.end);
        let help = format!("did you mean `#{meant}`? Write `//` before a comment");
        self.report(Diagnostic::warning(span, message).with_help(help));
    }

    /// Warns of tokens that nothing reads.
    pub(super) fn extra_tokens(&mut self, job: &FileJob, line: &Line, used: usize) {
        if line.tokens.len() > used {
            let (start, _) = line.place(used);
            let span = self.out.anchor(job.index, start, line.end);
            let message = format!("`#{}` ignores what follows here", line.name);
            let help = "make it a comment with `//`, or use `#if` with `defined(NAME)`";
            self.report(Diagnostic::warning(span, message).with_help(help));
        }
    }

    /// The name that a directive is about.
    pub(super) fn macro_name(&mut self, job: &FileJob, line: &Line) -> Option<std::rc::Rc<str>> {
        let name = line.tokens.first().filter(|token| token.kind == Kind::Ident);
        let Some(name) = name else {
            self.line_error(job, line, &format!("`#{}` needs a macro name", line.name));
            return None;
        };
        if matches!(line.name.as_str(), "define" | "undef") && &*name.text == "defined" {
            self.line_error(job, line, "`defined` cannot be a macro name");
            return None;
        }
        Some(name.text.clone())
    }

    fn is_defined(&mut self, job: &FileJob, line: &Line) -> Option<bool> {
        let name = self.macro_name(job, line)?;
        self.extra_tokens(job, line, 1);
        Some(self.macros.contains_key(&name))
    }

    fn open_group(&mut self, job: &mut FileJob, line: &Line) {
        let outer = job.active();
        let active = outer
            && match line.name.as_str() {
                "if" => self.condition(job, line),
                "ifdef" => self.is_defined(job, line) == Some(true),
                _ => self.is_defined(job, line) == Some(false),
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
        group.active = open
            && match line.name.as_str() {
                "else" => true,
                "elif" => self.condition(job, line),
                "elifdef" => self.is_defined(job, line) == Some(true),
                _ => self.is_defined(job, line) == Some(false),
            };
        if line.name == "else" {
            if group.outer {
                self.extra_tokens(job, line, 0);
            }
            group.last = true;
        }
        group.taken |= group.active;
        job.groups.push(group);
    }

    fn condition(&mut self, job: &FileJob, line: &Line) -> bool {
        let tokens = self.in_line(&line.tokens, line.start, Self::condition_tokens);
        let wrong = match tokens {
            Ok(Ok(tokens)) => match condition::evaluate(&tokens) {
                Ok(value) => return value,
                Err(cause) => cause,
            },
            Ok(Err(cause)) => cause,
            Err(cause) => {
                self.expand_error(job.index, line.start, line.end, cause);
                return false;
            }
        };
        let message = format!("`#{}` cannot be evaluated: {wrong}", line.name);
        let help = "use integers, macros, `defined(NAME)` and the operators of C";
        self.error(job.index, line.start, line.end, message, Some(help));
        false
    }

    /// The tokens of a condition, macros replaced, `defined` and assertions answered.
    fn condition_tokens(&mut self) -> Result<Result<Vec<Token>, String>, ExpandError> {
        let mut out = Vec::new();
        loop {
            let token = self.next_word()?;
            if token.kind == Kind::End {
                return Ok(Ok(out));
            }
            if token.is("#") {
                let asserted = match self.is_asserted()? {
                    Ok(asserted) => asserted,
                    Err(wrong) => return Ok(Err(wrong)),
                };
                out.push(Token::new(Kind::Number, if asserted { "1" } else { "0" }, true));
                continue;
            }
            if !token.is_name("defined") {
                out.push(token);
                continue;
            }
            self.expansion.held += 1;
            let mut name = self.next_word()?;
            let open = name.is("(");
            if open {
                name = self.next_word()?;
            }
            if name.kind != Kind::Ident {
                return Ok(Err("`defined` needs a macro name".to_owned()));
            }
            if open && !self.next_word()?.is(")") {
                return Ok(Err("`)` is missing after `defined`".to_owned()));
            }
            self.expansion.held -= 1;
            let known = self.macros.contains_key(&name.text);
            out.push(Token::new(Kind::Number, if known { "1" } else { "0" }, true));
        }
    }

    /// The next token of a directive.
    pub(super) fn next_word(&mut self) -> Result<Token, ExpandError> {
        loop {
            let token = self.next(&mut super::expansion::Base::Empty)?;
            if !token.is_pad() {
                return Ok(token);
            }
        }
    }

    /// `#line N "file"`: the next line claims to be line N of that file.
    fn line_marker(&mut self, job: &FileJob, scanner: &Scanner<'_>, line: &Line) {
        let tokens = match self.expand_line(&line.tokens, line.start) {
            Ok(tokens) => tokens,
            Err(cause) => return self.expand_error(job.index, line.start, line.end, cause),
        };
        let number = tokens.first().and_then(|token| line_number(&token.text));
        let file = tokens.get(1).map(|token| (token.kind == Kind::Str).then(|| unescape(&token.text)));
        match (number, file) {
            (Some(number), None) => self.mark(job, scanner, line, (number, None), true),
            (Some(number), Some(Some(name))) => {
                self.mark(job, scanner, line, (number, Some(name)), true);
            }
            _ => {
                self.line_error(job, line, "`#line` needs a line number, optionally followed by a file name")
            }
        }
    }

    /// `# N "file" flags`, which preprocessors write and p4c's lexer reads.
    fn lexer_marker(&mut self, job: &FileJob, scanner: &Scanner<'_>, line: &Line) -> bool {
        let Some(number) = line_number(&line.name) else { return false };
        let name = match line.tokens.first() {
            Some(token) if token.kind == Kind::Str => Some(unescape(&token.text)),
            Some(_) => return false,
            None => None,
        };
        self.mark(job, scanner, line, (number, name), false);
        true
    }

    fn mark(
        &mut self,
        job: &FileJob,
        scanner: &Scanner<'_>,
        line: &Line,
        (number, name): (u32, Option<String>),
        in_macros: bool,
    ) {
        let this = self.out.start(job.index, line.start);
        // The scanner is at the end of the directive's last line.
        let last = self.out.start(job.index, scanner.position());
        let file = &mut self.files[job.index];
        let this = file.line_index(this);
        let name = name.unwrap_or_else(|| file.presumed_name(this).to_owned());
        let line_index = file.line_index(last) + 1;
        file.markers.push(Marker { line_index, name, line: number, in_macros });
    }
}

/// Digits only, in the range of a line number.
fn line_number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Text of a quoted file name.
fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// Reads up to, and leaves, the end of the line; of its tokens one more than there is room for.
fn read_line(scanner: &mut Scanner<'_>, hash: Piece, room: usize) -> Line {
    let mut line = Line {
        name: String::new(),
        name_start: hash.end,
        tokens: Vec::new(),
        places: Vec::new(),
        raw: String::new(),
        start: hash.start,
        end: hash.end,
    };
    let mut space = false;
    let mut named = false;
    loop {
        let before = scanner.clone();
        scanner.angled = named && names_file(&line);
        let Some(piece) = scanner.next() else { break };
        let text = scanner.text(piece);
        match piece.kind {
            Kind::Newline => {
                *scanner = before;
                break;
            }
            Kind::Blank | Kind::Comment => space = true,
            kind => {
                if named {
                    if !line.tokens.is_empty() && space {
                        line.raw.push(' ');
                    }
                    line.raw.push_str(text);
                    if line.tokens.len() <= room {
                        line.tokens.push(Token::new(kind, text, space));
                        line.places.push((piece.start, piece.end));
                    }
                } else {
                    line.name = text.to_owned();
                    line.name_start = piece.start;
                    named = true;
                }
                line.end = piece.end;
                space = false;
            }
        }
    }
    scanner.angled = false;
    line
}

/// Whether the next token may be a file in `<>`.
fn names_file(line: &Line) -> bool {
    match line.name.as_str() {
        "include" | "include_next" | "import" => line.tokens.is_empty(),
        "if" | "elif" => match &line.tokens[..] {
            [.., name, open] => {
                open.is("(") && (name.is_name("__has_include") || name.is_name("__has_include_next"))
            }
            _ => false,
        },
        _ => false,
    }
}
