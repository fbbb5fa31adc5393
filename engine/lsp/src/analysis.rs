//! One reading of a program: its text with its includes, its syntax tree, and what its names stand for.

use crate::config::Config;
use crate::names::{self, DefId, Names};
use crate::paths::normal;
use crate::text::Lines;
use p4cc_budget::Budget;
use p4cc_compile::compile_unit_within;
use p4cc_syntax::{
    Diagnostic, Options, Severity, Source, SourceLoader, Span, ast, builtin_file, parse_within,
};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts of open documents by path: what the editor shows counts, not what the disk holds.
#[derive(Clone, Debug, Default)]
pub struct Overlay(pub BTreeMap<PathBuf, Arc<str>>);

impl SourceLoader for Overlay {
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        match self.0.get(&normal(path)) {
            Some(text) if text.len() as u64 > limit_bytes => Err(io::ErrorKind::FileTooLarge.into()),
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => p4cc_syntax::FileSystem.read(path, limit_bytes),
        }
    }
}

/// A file of a program.
#[derive(Clone, Debug)]
pub struct File {
    /// Its path; of a file that comes with p4cc the name that it is shown by.
    pub path: PathBuf,
    /// It comes with p4cc.
    pub is_builtin: bool,
    /// Its lines.
    pub lines: Lines,
}

/// Bytes of a file of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// Position in [`Analysis::files`].
    pub file: usize,
    /// The bytes.
    pub range: std::ops::Range<usize>,
    /// They are the use of a macro.
    pub expanded: bool,
}

/// A program as read.
#[derive(Debug)]
pub struct Analysis {
    /// The program's own file.
    pub root: PathBuf,
    /// How it is compiled.
    pub config: Config,
    /// Text and includes.
    pub source: Source,
    /// What its names stand for.
    pub names: Names,
    /// The files, the root first.
    pub files: Vec<File>,
    tree: ast::Program,
    findings: Vec<Diagnostic>,
}

impl Analysis {
    /// Reads a program. Never panics on any text; `budget` ends it early.
    pub fn read(root: &Path, overlay: &Overlay, config: Config, budget: &Budget) -> Self {
        let options = Options {
            include_dirs: config.include_dirs.clone(),
            defines: config.defines.clone(),
            budget: budget.clone(),
            ..Options::default()
        };
        let (source, mut findings) = Source::load_with(root, overlay, &options);
        let (tree, syntax) = parse_within(&source, budget);
        findings.extend(syntax);
        let names = names::build(&tree, source.text());
        let file = |(name, text): (&str, &str)| File {
            path: normal(Path::new(name)),
            is_builtin: builtin_file(name).is_some(),
            lines: Lines::of(text),
        };
        let files = source.files().map(file).collect();
        Self { root: root.to_owned(), config, source, names, files, tree, findings }
    }

    /// All that is wrong with the program, as `p4cc check` reports it.
    pub fn check(&self, budget: &Budget) -> Vec<Diagnostic> {
        let mut findings = self.findings.clone();
        self.config.strict.enforce(&mut findings);
        if !self.has_errors() {
            let (_, found) = compile_unit_within(&self.tree, self.config.strict, budget);
            findings.extend(found);
        }
        findings
    }

    /// What reading alone found.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// Whether reading found an error, so that nothing more is checked.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Whether a file takes part.
    pub fn contains(&self, path: &Path) -> bool {
        self.file(path).is_some()
    }

    /// Position of a file; of one that is included more than once that of the first time.
    pub fn file(&self, path: &Path) -> Option<usize> {
        self.files.iter().position(|file| file.path == path)
    }

    /// Text of a file.
    pub fn text(&self, file: usize) -> &str {
        self.source.files().nth(file).map_or("", |(_, text)| text)
    }

    /// Where a span came from.
    pub fn place(&self, span: Span) -> Option<FileRange> {
        let place = self.source.place(span)?;
        Some(FileRange { file: place.file, range: place.range, expanded: place.expanded })
    }

    /// Where the byte of a file stands in the text that was parsed.
    pub fn offset(&self, file: usize, at: usize) -> Option<u32> {
        self.source.offset(file, at)
    }

    /// What the name at a byte of a file stands for, and the bytes of the name.
    pub fn definition_at(&self, file: usize, at: usize) -> Option<(DefId, std::ops::Range<usize>)> {
        let word = word_at(self.text(file), at)?;
        let path = &self.files[file].path;
        // The same file may be there several times.
        for same in (0..self.files.len()).filter(|other| self.files[*other].path == *path) {
            let Some(offset) = self.offset(same, word.start) else { continue };
            let found = self.names.use_at(offset).filter(|found| {
                found.span.start == offset
                    && self.place(found.span).is_some_and(|place| !place.expanded && place.range == word)
            });
            if let Some(found) = found {
                return Some((found.def, word));
            }
        }
        self.in_macro(file, at, &word).map(|def| (def, word))
    }

    /// A name among the arguments of a macro: all that the macro gives stands at its use.
    fn in_macro(&self, file: usize, at: usize, word: &std::ops::Range<usize>) -> Option<DefId> {
        let name = self.text(file).get(word.clone())?;
        let named = self.names.uses().iter().filter(|found| self.source.slice(found.span) == name);
        let here = |found: &&names::Use| {
            self.place(found.span)
                .is_some_and(|place| place.expanded && place.file == file && place.range.contains(&at))
        };
        named.into_iter().find(here).map(|found| found.def)
    }
}

/// The bytes of the word at a byte, or ending there.
pub fn word_at(text: &str, at: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut start = at.min(bytes.len());
    while start > 0 && is_word(start - 1) {
        start -= 1;
    }
    let mut end = start;
    while is_word(end) {
        end += 1;
    }
    (end > start && end >= at && !bytes[start].is_ascii_digit()).then_some(start..end)
}
