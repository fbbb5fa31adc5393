//! Text cases that run a P4 program through every execution back end.
//!
//! A case is one P4 file. Under `cases/check` its comments say which diagnostics the compiler must give
//! beside which line ([`check`]); under `cases/run` they are commands: table entries, packets in, packets out
//! ([`script`], [`runner`]). A case passes only if everything is as said and nothing else happens.

pub mod bench;
pub mod bombs;
pub mod check;
pub mod chip;
#[cfg(feature = "p4info")]
pub mod compare;
pub mod runner;
pub mod script;
pub mod stf;
pub mod tofino;
pub mod twin;

use p4cc_budget::Budget;
use p4cc_compile::{Lacking, Strict, Unit};
use p4cc_ir::{Library, Program};
use p4cc_syntax::{Diagnostic, Options, Severity, Source};
use std::path::{Path, PathBuf};

/// What compiling a file gave.
pub struct Compiled {
    /// The preprocessed text.
    pub source: Source,
    /// All findings.
    pub diagnostics: Vec<Diagnostic>,
    /// The program, if there was no error and it has `main`.
    pub program: Option<Program>,
    /// What it declares, if there was no error and it has no `main`.
    pub library: Option<Library>,
    /// Why nothing was made, if there was no error.
    pub lacking: Option<Lacking>,
}

impl Compiled {
    /// Whether the file has no error.
    pub fn accepted(&self) -> bool {
        self.program.is_some() || self.library.is_some() || self.lacking.is_some()
    }
}

/// Why a case failed.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct Failure {
    /// The case.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// What is not as it should be.
    pub message: String,
}

/// Preprocesses, parses, checks and lowers a file, in a folder `strict` by the rules of Tofino, in a folder
/// `course` by those of a course.
pub fn compile(path: &Path) -> Compiled {
    let is_in = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    let strict = match (is_in("strict"), is_in("course")) {
        (true, _) => Strict::Tofino,
        (_, true) => Strict::Course,
        _ => Strict::Off,
    };
    compile_strict(path, strict)
}

/// The same by the rules of a chip.
pub fn compile_strict(path: &Path, strict: Strict) -> Compiled {
    let (source, diagnostics) = Source::load(path, &Options::default());
    compile_by(source, diagnostics, strict)
}

/// Parses, checks and lowers preprocessed text.
pub fn compile_source(source: Source, diagnostics: Vec<Diagnostic>) -> Compiled {
    compile_by(source, diagnostics, Strict::Off)
}

fn compile_by(source: Source, mut diagnostics: Vec<Diagnostic>, strict: Strict) -> Compiled {
    let budget = Budget::default();
    let (ast, found) = p4cc_syntax::parse_within(&source, &budget);
    diagnostics.extend(found);
    strict.enforce(&mut diagnostics);
    let (mut program, mut library, mut lacking) = (None, None, None);
    if !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        let (made, found) = p4cc_compile::compile_unit_within(&ast, strict, &budget);
        diagnostics.extend(found);
        match made {
            Some(Unit::Program(made)) => program = Some(*made),
            Some(Unit::Library(made)) => library = Some(*made),
            Some(Unit::Checked(why)) => lacking = Some(why),
            None => {}
        }
    }
    Compiled { source, diagnostics, program, library, lacking }
}

/// The `.p4` files below a folder, in order of their names; folders named `include` hold no cases.
///
/// # Errors
/// The folder cannot be read.
pub fn cases(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                if path.file_name().is_none_or(|name| name != "include") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "p4") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
