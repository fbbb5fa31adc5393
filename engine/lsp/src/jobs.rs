//! Reading and checking on threads of their own.

use crate::analysis::{Analysis, Overlay};
use crate::config::Config;
use crossbeam_channel::Sender;
use p4cc_budget::Budget;
use p4cc_syntax::Diagnostic;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Stack of a thread: trees are as deep as the parser's bounds allow.
const STACK_BYTES: usize = 64 << 20;

/// What a thread has to say.
pub enum Done {
    /// A program was read; `None` if the reader failed.
    Read(Option<Arc<Analysis>>),
    /// A program was checked.
    Checked(Vec<Diagnostic>),
}

/// Something done for one state of a program.
pub struct Report {
    /// The program.
    pub program: PathBuf,
    /// Its revision.
    pub revision: u64,
    /// What was done.
    pub done: Done,
}

/// Settings of the client beyond those of `p4cc.toml`.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Folders searched by `#include`.
    pub include_dirs: Vec<PathBuf>,
    /// Macros with their texts.
    pub defines: Vec<(String, String)>,
}

/// How the programs of a folder are compiled.
pub fn config_for(path: &Path, settings: &Settings) -> Config {
    let folder = path.parent().filter(|folder| folder.is_absolute());
    let mut config = folder.map(Config::for_folder).unwrap_or_default();
    config.include_dirs.extend(settings.include_dirs.iter().cloned());
    config.defines.extend(settings.defines.iter().cloned());
    config
}

/// Reads a program.
pub fn read(
    (program, revision): (PathBuf, u64),
    overlay: Overlay,
    settings: Settings,
    budget: Budget,
    to: Sender<Report>,
) {
    spawn("p4cc-read", move || {
        let read = || Analysis::read(&program, &overlay, config_for(&program, &settings), &budget);
        let analysis = catch_unwind(AssertUnwindSafe(read)).ok().map(Arc::new);
        // The server may have ended.
        let _ = to.send(Report { program, revision, done: Done::Read(analysis) });
    });
}

/// Checks a program that was read.
pub fn check(program: PathBuf, revision: u64, analysis: Arc<Analysis>, budget: Budget, to: Sender<Report>) {
    spawn("p4cc-check", move || {
        let check = || analysis.check(&budget);
        let findings = catch_unwind(AssertUnwindSafe(check));
        let findings = findings.unwrap_or_else(|_| analysis.findings().to_vec());
        let _ = to.send(Report { program, revision, done: Done::Checked(findings) });
    });
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    // Without a thread there is no answer: the next edit tries again.
    let _ = thread.spawn(work);
}
