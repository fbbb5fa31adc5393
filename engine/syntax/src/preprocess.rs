//! C-style preprocessing: one text and a source map out of a root file and what it includes.
//!
//! Lines that end with a backslash are joined first, so that no later step sees them; offsets inside a file
//! are those of its joined text, and lead back to the file itself where places are written down ([`output`]).
//!
//! Invariants: every bound of [`Limits`](crate::source::Limits) that is exceeded is a
//! diagnostic; nothing is read but through the loader; comments become white space,
//! and a directive leaves no text behind but the blank on which its diagnostics hang.

mod condition;
mod directive;
mod long_string;
mod macros;
mod output;
mod scan;
mod splice;

use crate::diag::Diagnostic;
use crate::loader::{SourceLoader, builtin, other_architecture};
use crate::source::{Options, Source, SourceFile};
use crate::span::Span;
use macros::{ExpandError, Expander, Macro, Token};
use output::Output;
use scan::{Kind, Piece, Scanner};
use splice::join_lines;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Diagnostics kept from preprocessing; more would only hide the first.
const MAX_DIAGNOSTICS: usize = 100;

/// Spans are 32 bits wide and the anchors of diagnostics come on top of the limit.
const MAX_TOTAL_BYTES: u32 = 1 << 30;

/// Preprocesses the file at `path`.
pub(crate) fn from_path(
    path: &Path,
    loader: &dyn SourceLoader,
    options: &Options,
) -> (Source, Vec<Diagnostic>) {
    let mut job = Job::new(loader, options);
    let name = path.to_string_lossy().into_owned();
    match loader.read(path, u64::from(job.limit_bytes())) {
        Ok(bytes) => {
            job.run_root(&name, &String::from_utf8_lossy(&bytes), path.parent());
            job.check_utf8(0, &bytes);
        }
        Err(cause) => {
            job.files.push(SourceFile::new(name.clone(), Arc::from("")));
            if cause.kind() == ErrorKind::FileTooLarge {
                job.too_large(0, 0, 0);
                return job.finish();
            }
            let message = format!("cannot read `{name}`: {cause}");
            job.error(0, 0, 0, message, Some("check the path and that the file is readable P4 text"));
        }
    }
    job.finish()
}

/// Preprocesses `text`.
pub(crate) fn from_text(
    name: &str,
    text: &str,
    loader: &dyn SourceLoader,
    options: &Options,
) -> (Source, Vec<Diagnostic>) {
    let mut job = Job::new(loader, options);
    job.run_root(name, text, Path::new(name).parent());
    job.finish()
}

/// State of one preprocessing run.
struct Job<'a> {
    loader: &'a dyn SourceLoader,
    options: &'a Options,
    out: Output,
    files: Vec<SourceFile>,
    macros: BTreeMap<Rc<str>, Macro>,
    /// Files that said `#pragma once`.
    once: BTreeSet<String>,
    diags: Vec<Diagnostic>,
    read_bytes: u64,
    includes: u32,
    macro_tokens: u32,
    macro_bytes: u64,
    /// A bound of the whole run was exceeded: nothing more is read.
    stopped: bool,
}

/// What a file needs to know about itself.
struct FileJob {
    index: usize,
    folder: Option<PathBuf>,
    depth: u32,
    groups: Vec<Group>,
}

/// One open `#if`.
struct Group {
    /// Text of the current branch is read.
    active: bool,
    /// Text around the `#if` is read.
    outer: bool,
    /// Some branch was taken already.
    taken: bool,
    /// `#else` was seen.
    last: bool,
    start: usize,
    end: usize,
}

impl FileJob {
    fn active(&self) -> bool {
        self.groups.last().is_none_or(|group| group.active)
    }
}

impl<'a> Job<'a> {
    fn new(loader: &'a dyn SourceLoader, options: &'a Options) -> Self {
        let mut macros = BTreeMap::new();
        for (name, value) in &options.defines {
            let body = tokens_of(value);
            let definition = Macro { params: None, variadic: false, body, place: None };
            macros.insert(Rc::from(name.as_str()), definition);
        }
        Self {
            loader,
            options,
            out: Output::default(),
            files: Vec::new(),
            macros,
            once: BTreeSet::new(),
            diags: Vec::new(),
            read_bytes: 0,
            includes: 0,
            macro_tokens: 0,
            macro_bytes: 0,
            stopped: false,
        }
    }

    fn limit_bytes(&self) -> u32 {
        self.options.limits.total_bytes.min(MAX_TOTAL_BYTES)
    }

    fn run_root(&mut self, name: &str, text: &str, folder: Option<&Path>) {
        let index = self.add_file(name.to_owned(), text);
        if !self.stopped {
            self.run_file(index, folder.map(Path::to_owned), 0);
        }
    }

    fn finish(self) -> (Source, Vec<Diagnostic>) {
        let Output { text, segments, string_newlines, cuts: _ } = self.out;
        (Source { text, files: self.files, segments, string_newlines }, self.diags)
    }

    /// Registers a file and counts its bytes; a text that is too large is dropped with a diagnostic.
    fn add_file(&mut self, name: String, text: &str) -> usize {
        let index = self.files.len();
        self.read_bytes += text.len() as u64;
        let fits = self.read_bytes <= u64::from(self.limit_bytes());
        // A byte order mark is no part of the program.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self.files.push(SourceFile::new(name, Arc::from(if fits { text } else { "" })));
        if !fits {
            self.too_large(index, 0, 0);
        }
        index
    }

    fn too_large(&mut self, file: usize, start: usize, end: usize) {
        self.stopped = true;
        let message = format!("the program is larger than {} bytes with its includes", self.limit_bytes());
        self.error(file, start, end, message, Some("look for an include or macro that repeats itself"));
    }

    fn check_utf8(&mut self, file: usize, bytes: &[u8]) {
        if let Err(cause) = std::str::from_utf8(bytes) {
            let at = cause.valid_up_to();
            let span = self.out.anchor_bytes(file, at, at + 1);
            let message = "the file is not UTF-8 text from here on";
            self.report(Diagnostic::error(span, message).with_help("save the file as UTF-8"));
        }
    }

    fn error(&mut self, file: usize, start: usize, end: usize, message: String, help: Option<&str>) {
        let span = self.out.anchor(file, start, end);
        let diag = Diagnostic::error(span, message);
        self.report(match help {
            Some(help) => diag.with_help(help),
            None => diag,
        });
    }

    fn report(&mut self, diag: Diagnostic) {
        if self.diags.len() < MAX_DIAGNOSTICS {
            self.diags.push(diag);
        }
    }

    fn run_file(&mut self, index: usize, folder: Option<PathBuf>, depth: u32) {
        let file = self.files[index].text.clone();
        let (text, cuts) = join_lines(&file);
        // A file is run as soon as it is added, so that this is its place in the list.
        self.out.cuts.push(cuts);
        let mut job = FileJob { index, folder, depth, groups: Vec::new() };
        let mut scanner = Scanner::new(&text);
        let mut line_start = true;
        while !self.stopped
            && let Some(piece) = scanner.next(job.active())
        {
            if line_start && scanner.text(piece).starts_with('#') {
                self.directive(&mut job, &mut scanner, piece);
                continue;
            }
            match piece.kind {
                Kind::Newline => line_start = true,
                Kind::Space => {}
                _ => line_start = false,
            }
            if !job.active() {
                continue;
            }
            if piece.kind == Kind::Str && scanner.text(piece).contains('\n') {
                self.long_string(&mut job, &mut scanner, piece);
            } else {
                self.piece(&job, &mut scanner, piece);
            }
        }
        if let Some(piece) = scanner.unclosed.filter(|_| !self.stopped) {
            let message = "this comment is never closed".to_owned();
            self.error(index, piece.start, piece.end, message, Some("add `*/`"));
        }
        let open = if self.stopped { Vec::new() } else { std::mem::take(&mut job.groups) };
        for group in open {
            let message = "this conditional is never closed".to_owned();
            self.error(index, group.start, group.end, message, Some("add `#endif`"));
        }
        if !self.stopped {
            // The last token of a file ends with the file.
            let end = text.len();
            self.out.copy(index, Piece { kind: Kind::Newline, start: end, end }, "\n");
        }
    }

    /// Copies or expands a piece of ordinary text.
    fn piece(&mut self, job: &FileJob, scanner: &mut Scanner<'_>, piece: Piece) {
        let text = scanner.text(piece);
        if self.out.text.len() + text.len() > self.limit_bytes() as usize {
            return self.too_large(job.index, piece.start, piece.end);
        }
        match piece.kind {
            // Blanks around it keep it from growing together with its neighbours.
            Kind::Ident if self.is_macro(text) => self.expand_piece(job, scanner, piece, " "),
            Kind::Space if text.starts_with('/') => {
                let blank = if text.contains('\n') { "\n" } else { " " };
                self.out.copy(job.index, piece, blank);
            }
            _ => self.out.copy(job.index, piece, text),
        }
    }

    fn is_macro(&self, name: &str) -> bool {
        self.macros.contains_key(name) || name == "__LINE__" || name == "__FILE__"
    }

    /// Writes what a macro stands for, with `blank` before and behind it.
    fn expand_piece(&mut self, job: &FileJob, scanner: &mut Scanner<'_>, piece: Piece, blank: &str) {
        let name = Token::new(Kind::Ident, scanner.text(piece), false);
        let behind_name = scanner.clone();
        let expanded = self.expander(job.index, piece.start).expand(vec![name], Some(scanner));
        if matches!(expanded, Err(ExpandError::Unclosed(_))) {
            // The rest of the file was taken for arguments: give it back.
            *scanner = behind_name;
        }
        let end = scanner.position();
        let text = match expanded {
            Ok(tokens)
                if self.out.text.len() + macros::joined_bytes(&tokens) > self.limit_bytes() as usize =>
            {
                return self.too_large(job.index, piece.start, end);
            }
            Ok(tokens) => macros::join(&tokens),
            Err(cause) => {
                self.expand_error(job.index, piece.start, end, cause);
                // The bare name keeps the parser from complaining about a gap.
                scanner.text(piece).to_owned()
            }
        };
        if self.out.text.len() + text.len() + 2 > self.limit_bytes() as usize {
            return self.too_large(job.index, piece.start, end);
        }
        self.out.expansion(job.index, piece.start, end, &format!("{blank}{text}{blank}"));
    }

    fn expander(&mut self, file: usize, at: usize) -> Expander<'_> {
        let source = &self.files[file];
        let line = source.line_index(self.out.start(file, at));
        Expander {
            macros: &self.macros,
            limits: self.options.limits,
            tokens: &mut self.macro_tokens,
            bytes: &mut self.macro_bytes,
            place: (source.presumed_name(line).to_owned(), source.presumed_line(line)),
        }
    }

    fn expand_error(&mut self, file: usize, start: usize, end: usize, cause: ExpandError) {
        let (message, help) = match cause {
            ExpandError::TooManyTokens => {
                self.stopped = true;
                let (tokens, bytes) = (self.options.limits.macro_tokens, self.limit_bytes());
                (
                    format!(
                        "macros have more than {tokens} tokens, or make more than {bytes} bytes of new ones"
                    ),
                    "look for macros that repeat one another".to_owned(),
                )
            }
            ExpandError::TooDeep(name) => {
                let limit = self.options.limits.macro_depth;
                (
                    format!("macro `{name}` stands inside {limit} others"),
                    "use fewer macros inside one another".to_owned(),
                )
            }
            ExpandError::Unclosed(name) => {
                (format!("the arguments of macro `{name}` never end"), "add `)`".to_owned())
            }
            ExpandError::Arguments(name, expected, found) => (
                format!("macro `{name}` takes {expected} arguments, {found} were given"),
                "see its `#define`".to_owned(),
            ),
        };
        self.error(file, start, end, message, Some(&help));
    }

    /// Reads an included file and runs it. `start..end` is the place of the directive.
    fn include(&mut self, job: &FileJob, path: &str, quoted: bool, start: usize, end: usize) {
        let limits = self.options.limits;
        self.includes += 1;
        if self.includes > limits.include_count {
            self.stopped = true;
            let message = format!("more than {} files are included", limits.include_count);
            return self.error(
                job.index,
                start,
                end,
                message,
                Some("look for files that include each other"),
            );
        }
        if job.depth + 1 > limits.include_depth {
            let message = format!("files include each other more than {} deep", limits.include_depth);
            let help = "put `#ifndef NAME`, `#define NAME` and `#endif` around the included file";
            return self.error(job.index, start, end, message, Some(help));
        }
        let folders = job.folder.iter().filter(|_| quoted).chain(&self.options.include_dirs);
        let candidates: Vec<PathBuf> = folders.map(|folder| folder.join(path)).collect();
        let room = u64::from(self.limit_bytes()).saturating_sub(self.read_bytes);
        for candidate in &candidates {
            match self.loader.read(candidate, room) {
                Ok(bytes) => {
                    let name = candidate.to_string_lossy().into_owned();
                    return self.run_included(&name, &bytes, candidate.parent(), job.depth + 1);
                }
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                Err(cause) if cause.kind() == ErrorKind::FileTooLarge => {
                    return self.too_large(job.index, start, end);
                }
                Err(cause) => {
                    let message = format!("cannot read `{}`: {cause}", candidate.display());
                    return self.error(job.index, start, end, message, None);
                }
            }
        }
        if let Some((name, text)) = builtin(path) {
            return self.run_included(&name, text.as_bytes(), None, job.depth + 1);
        }
        let tried: Vec<String> = candidates.iter().map(|path| format!("`{}`", path.display())).collect();
        let tried = if tried.is_empty() { "no folder".to_owned() } else { tried.join(", ") };
        let (message, help) = match other_architecture(path) {
            Some(what) => (
                format!("included file `{path}` was not found: it declares {what}, which is not supported"),
                format!(
                    "programs for v1model (`v1model.p4`), PSA (`psa.p4`), TNA and T2NA (`tna.p4`, `t2na.p4`) are run, no others yet; with a \
                     folder that holds the file (-I; looked for {tried}) the program can be checked up to its `main`"
                ),
            ),
            None => (
                format!("included file `{path}` was not found"),
                format!(
                    "looked for {tried} and the built-in files core.p4, v1model.p4, psa.p4, tna.p4 and t2na.p4; add a folder with -I"
                ),
            ),
        };
        self.error(job.index, start, end, message, Some(&help));
    }

    fn run_included(&mut self, name: &str, bytes: &[u8], folder: Option<&Path>, depth: u32) {
        if self.once.contains(name) {
            return;
        }
        let index = self.add_file(name.to_owned(), &String::from_utf8_lossy(bytes));
        if !self.stopped {
            self.run_file(index, folder.map(Path::to_owned), depth);
            self.check_utf8(index, bytes);
        }
    }

    fn related_place(&mut self, place: (usize, usize, usize)) -> Span {
        self.out.anchor(place.0, place.1, place.2)
    }
}

/// Tokens of a text without its white space.
fn tokens_of(text: &str) -> Vec<Token> {
    let (text, _) = join_lines(text);
    let mut scanner = Scanner::new(&text);
    let mut tokens = Vec::new();
    let mut space = false;
    while let Some(piece) = scanner.next(true) {
        match piece.kind {
            Kind::Space | Kind::Newline => space = true,
            kind => {
                tokens.push(Token::new(kind, scanner.text(piece), space));
                space = false;
            }
        }
    }
    tokens
}
