//! C-style preprocessing: one text and a source map out of a root file and what it includes.
//!
//! Lines that end with a backslash are joined first, so that no later step sees them; offsets inside a file
//! are those of its joined text, and lead back to the file itself where places are written down ([`output`]).
//!
//! The judge is GNU cpp as p4c calls it (`cpp -C -undef -nostdinc -x assembler-with-cpp`), with p4c's lexer
//! behind it: tests compare the tokens of both.
//!
//! Invariants: every bound of [`Limits`](crate::source::Limits) that is exceeded is a
//! diagnostic; nothing is read but through the loader; comments become white space,
//! and a directive leaves no text behind but the blank on which its diagnostics hang.

mod assertion;
mod condition;
mod constant;
mod define;
mod directive;
mod expand;
mod expansion;
mod file;
mod include;
mod macros;
mod output;
mod scan;
mod splice;
mod target;
mod token;

use crate::diag::Diagnostic;
use crate::loader::{FileSystem, SourceLoader};
use crate::source::{Options, Source, SourceFile};
use expansion::{Base, Expansion};
use file::FileJob;
use macros::Macro;
use output::{Origin, Output};
use scan::{Kind, Piece, Scanner};
use splice::join_lines;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use target::BackEnd;
use token::{Spacing, Token};

/// Diagnostics kept from preprocessing; more would only hide the first.
const MAX_DIAGNOSTICS: usize = 100;

/// Spans are 32 bits wide and the anchors of diagnostics come on top of the limit.
const MAX_TOTAL_BYTES: u32 = 1 << 30;

impl Source {
    /// Reads and preprocesses a file of the file system.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> (Source, Vec<Diagnostic>) {
        Self::load_with(path, &FileSystem, options)
    }

    /// Reads and preprocesses a file that `loader` knows.
    pub fn load_with(
        path: impl AsRef<Path>,
        loader: &dyn SourceLoader,
        options: &Options,
    ) -> (Source, Vec<Diagnostic>) {
        let path = path.as_ref();
        let first = path_for(path, loader, options, BackEnd::default());
        match first.again {
            Some(back_end) => path_for(path, loader, options, back_end).finish(),
            None => first.finish(),
        }
    }

    /// Preprocesses `text`; quoted includes are looked up beside `name`.
    pub fn from_text(
        name: &str,
        text: &str,
        loader: &dyn SourceLoader,
        options: &Options,
    ) -> (Source, Vec<Diagnostic>) {
        let read = |back_end| {
            let mut job = Job::new(loader, options, back_end);
            job.run_root(name, text, Path::new(name).parent());
            job
        };
        let first = read(BackEnd::default());
        match first.again {
            Some(back_end) => read(back_end).finish(),
            None => first.finish(),
        }
    }
}

fn path_for<'a>(
    path: &Path,
    loader: &'a dyn SourceLoader,
    options: &'a Options,
    back_end: BackEnd,
) -> Job<'a> {
    let mut job = Job::new(loader, options, back_end);
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
                return job;
            }
            let message = format!("cannot read `{name}`: {cause}");
            job.error(
                0,
                0,
                0,
                message,
                Some("check that the path is correct and the file is readable P4 text"),
            );
        }
    }
    job
}

/// State of one preprocessing run.
struct Job<'a> {
    loader: &'a dyn SourceLoader,
    options: &'a Options,
    out: Output,
    files: Vec<SourceFile>,
    macros: BTreeMap<Rc<str>, Macro>,
    /// The answers of each name of `#assert`.
    asserted: BTreeMap<Rc<str>, Vec<assertion::Answer>>,
    /// Files that said `#pragma once`.
    once: BTreeSet<String>,
    diags: Vec<Diagnostic>,
    read_bytes: u64,
    includes: u32,
    macro_tokens: u32,
    macro_bytes: u64,
    /// Value of the next `__COUNTER__`.
    counter: u32,
    expansion: Expansion,
    spacing: Spacing,
    /// The file that is read.
    reading: Reading,
    /// Macros that `#pragma push_macro` keeps.
    pushed: BTreeMap<Rc<str>, Vec<Option<Macro>>>,
    /// Place of the last pragma.
    pragma_at: (usize, usize, usize),
    back_end: BackEnd,
    /// The program is one for this back end.
    again: Option<BackEnd>,
    /// A bound of the whole run was exceeded: nothing more is read.
    stopped: bool,
}

/// What macros and includes ask of the file that is read.
#[derive(Clone, Debug, Default)]
struct Reading {
    index: usize,
    depth: u32,
    folder: Option<PathBuf>,
    /// The folder of the command line in which it was found.
    found: Option<usize>,
}

impl<'a> Job<'a> {
    fn new(loader: &'a dyn SourceLoader, options: &'a Options, back_end: BackEnd) -> Self {
        Self {
            loader,
            options,
            out: Output::default(),
            files: Vec::new(),
            macros: target::macros(back_end, options),
            asserted: BTreeMap::new(),
            once: BTreeSet::new(),
            diags: Vec::new(),
            read_bytes: 0,
            includes: 0,
            macro_tokens: 0,
            macro_bytes: 0,
            counter: 0,
            expansion: Expansion::default(),
            spacing: Spacing::default(),
            reading: Reading::default(),
            pushed: BTreeMap::new(),
            pragma_at: (0, 0, 0),
            back_end,
            again: None,
            stopped: false,
        }
    }

    fn limit_bytes(&self) -> u32 {
        self.options.limits.total_bytes.min(MAX_TOTAL_BYTES)
    }

    fn run_root(&mut self, name: &str, text: &str, folder: Option<&Path>) {
        let index = self.add_file(name.to_owned(), text);
        if !self.stopped {
            self.run_file(index, (folder.map(Path::to_owned), None), 0);
        }
    }

    fn finish(self) -> (Source, Vec<Diagnostic>) {
        let Output { text, segments, string_newlines, .. } = self.out;
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
        self.error(file, start, end, message, Some("look for a recursive include or macro"));
    }

    fn check_utf8(&mut self, file: usize, bytes: &[u8]) {
        if let Err(cause) = std::str::from_utf8(bytes) {
            let at = cause.valid_up_to();
            let span = self.out.anchor_bytes(file, at, at + 1);
            let message = "the file is not valid UTF-8 from here on";
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

    fn run_file(&mut self, index: usize, found: (Option<PathBuf>, Option<usize>), depth: u32) {
        let file = self.files[index].text.clone();
        let (text, cuts) = join_lines(&file);
        // A file is run as soon as it is added, so that this is its place in the list.
        self.out.cuts.push(cuts);
        let (folder, found) = found;
        let outer = std::mem::replace(&mut self.reading, Reading { index, depth, folder, found });
        let mut job = FileJob { index, depth, groups: Vec::new() };
        let mut scanner = Scanner::new(&text);
        self.lines(&mut job, &mut scanner);
        if let Some(piece) = scanner.unclosed.filter(|_| !self.stopped) {
            let message = "unterminated comment".to_owned();
            self.error(index, piece.start, piece.end, message, Some("add `*/`"));
        }
        let open = if self.stopped { Vec::new() } else { std::mem::take(&mut job.groups) };
        for group in open {
            let message = "unterminated conditional".to_owned();
            self.error(index, group.start, group.end, message, Some("add `#endif`"));
        }
        if !self.stopped {
            // The last token of a file ends with the file.
            self.out.write(Origin::Copied(index, text.len()), Kind::Newline, "\n");
            self.spacing = Spacing::default();
        }
        self.reading = outer;
    }

    fn lines(&mut self, job: &mut FileJob, scanner: &mut Scanner<'_>) {
        let (mut line_start, mut space) = (true, false);
        while !self.is_over(job.index, scanner)
            && let Some(piece) = scanner.next()
        {
            if line_start && scanner.text(piece) == "#" && self.directive(job, scanner, piece) {
                space = false;
                continue;
            }
            match piece.kind {
                Kind::Newline => {
                    (line_start, space) = (true, false);
                    self.spacing = Spacing::default();
                }
                Kind::Blank => space = true,
                _ => line_start = false,
            }
            if job.active() {
                self.piece(job, scanner, piece, space);
            } else if self.out.in_string() {
                self.skipped_lines(job.index, piece, scanner.text(piece));
            }
            space &= matches!(piece.kind, Kind::Blank);
        }
    }

    /// Each line of a file is a line of the string that it is in, an empty one if a group skips it.
    fn skipped_lines(&mut self, file: usize, piece: Piece, text: &str) {
        for (at, end) in text.match_indices('\n') {
            self.out.write(Origin::Copied(file, piece.start + at), Kind::Newline, end);
        }
    }

    /// Whether nothing more is read, which a compilation that is over is told at the place it has come to.
    fn is_over(&mut self, file: usize, scanner: &Scanner<'_>) -> bool {
        if !self.stopped
            && let Some(overrun) = self.options.budget.over()
        {
            self.stopped = true;
            let at = scanner.position();
            self.error(file, at, at, overrun.cause(), overrun.remedy());
        }
        self.stopped
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.out.text.len() + bytes <= self.limit_bytes() as usize
    }

    /// Copies or expands a piece of ordinary text.
    fn piece(&mut self, job: &mut FileJob, scanner: &mut Scanner<'_>, piece: Piece, space: bool) {
        let text = scanner.text(piece);
        if !self.has_room(text.len() + 1) {
            return self.too_large(job.index, piece.start, piece.end);
        }
        let origin = Origin::Copied(job.index, piece.start);
        match piece.kind {
            Kind::Newline => self.out.write(origin, piece.kind, text),
            Kind::Blank => self.blanks(origin, text),
            Kind::Ident => match self.macros.get(text).cloned() {
                Some(found) => self.expand_piece(job, scanner, piece, space, &found),
                None => self.token(origin, piece.kind, text, space),
            },
            _ => self.token(origin, piece.kind, text, space),
        }
    }

    /// White space of a file. In a string of several lines it is what GNU cpp makes of it: as
    /// many blanks as there are at the start of a line, one elsewhere.
    fn blanks(&mut self, origin: Origin, text: &str) {
        if !self.out.in_string() {
            return self.out.write(origin, Kind::Blank, text);
        }
        let Origin::Copied(file, start) = origin else { return };
        if self.out.text.ends_with('\n') {
            let blanks = " ".repeat(text.len());
            self.out.write(Origin::Expanded(file, start, start + text.len()), Kind::Blank, &blanks);
        }
    }

    /// Writes a token, with a blank before it where GNU cpp has one.
    fn token(&mut self, origin: Origin, kind: Kind, text: &str, space: bool) {
        if self.spacing.next(kind, text, space) && !self.out.ends_blank() {
            let at = match origin {
                Origin::Copied(file, start) => Origin::Expanded(file, start, start),
                expanded @ Origin::Expanded(..) => expanded,
            };
            self.out.write(at, Kind::Blank, " ");
        }
        if kind == Kind::Comment {
            self.out.comment(origin, text);
        } else {
            self.out.write(origin, kind, text);
        }
    }

    /// Writes what a macro stands for.
    fn expand_piece(
        &mut self,
        job: &mut FileJob,
        scanner: &mut Scanner<'_>,
        piece: Piece,
        space: bool,
        found: &Macro,
    ) {
        let mut name = Token::new(Kind::Ident, scanner.text(piece), space);
        name.at = piece.start as u32;
        let index = job.index;
        self.pragma_at = (index, piece.start, piece.end);
        let mut base = Base::File(job, scanner);
        let result = self.enter(found, &name, &mut base).and_then(|entered| {
            if entered {
                self.spacing.pad(Some(space));
            } else {
                self.token(Origin::Copied(index, piece.start), Kind::Ident, &name.text, space);
            }
            self.written(&mut base, (index, piece.start))
        });
        let end = base.position();
        if let Err(cause) = result {
            self.abandon();
            let unclosed = matches!(cause, expand::ExpandError::Unclosed(_));
            let end = if unclosed { piece.end } else { end.max(piece.end) };
            self.expand_error(index, piece.start, end, cause);
            // The bare name keeps the parser from complaining about a gap.
            self.out.write(Origin::Expanded(index, piece.start, piece.end), Kind::Ident, &name.text);
        }
    }

    /// Writes the tokens of the contexts until none is left.
    fn written(&mut self, base: &mut Base<'_, '_>, (file, start): (usize, usize)) -> expand::Expanded<()> {
        while !self.expansion.contexts.is_empty() && !self.stopped {
            let token = self.next(base)?;
            let end = base.position();
            match token.kind {
                Kind::Pad(source) => self.spacing.pad(source),
                Kind::End => break,
                Kind::Newline => {
                    self.out.write(Origin::Expanded(file, start, end), token.kind, &token.text);
                    self.spacing = Spacing::default();
                }
                kind => {
                    if !self.has_room(token.text.len() + 1) {
                        self.too_large(file, start, end);
                        break;
                    }
                    self.token(Origin::Expanded(file, start, end), kind, &token.text, token.space);
                }
            }
        }
        Ok(())
    }

    /// The line that `__LINE__` is for a token of the file that is read.
    fn line_of(&self, at: u32) -> u32 {
        self.macro_place(at).1
    }

    fn name_at(&self, at: u32) -> String {
        self.macro_place(at).0.to_owned()
    }

    fn macro_place(&self, at: u32) -> (&str, u32) {
        let index = self.reading.index;
        let source = &self.files[index];
        source.macro_place(source.line_index(self.out.start(index, at as usize)))
    }
}
