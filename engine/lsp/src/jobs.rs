//! Reading, checking, listing and slow answers, on threads of their own.

use crate::analysis::{Analysis, Overlay};
use crate::config::Config;
use crate::features::diagnostics;
use crate::project::{Includes, programs_of};
use crate::requests::{self, Asking};
use crate::text::Encoding;
use crate::view::View;
use crossbeam_channel::Sender;
use lsp_server::{ErrorCode, Request, Response};
use p4cc_budget::Budget;
use p4cc_syntax::Diagnostic;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Stack of a thread: trees are as deep as the parser's bounds allow.
const STACK_BYTES: usize = 64 << 20;

/// Programs that a renaming looks through beside the one that a document is read with.
const MAX_OTHERS: usize = 16;

/// Diagnostics by the path of their file.
pub type Published = BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>>;

/// What a thread has to say.
pub enum Report {
    /// A program was read or checked.
    Program {
        /// The program.
        program: PathBuf,
        /// Its revision.
        revision: u64,
        /// What was done.
        done: Done,
    },
    /// Documents with the program that each is read with.
    Listed {
        /// Number of the list.
        list: u64,
        /// The documents.
        programs: Vec<(PathBuf, PathBuf)>,
    },
    /// A question was answered.
    Answered(Response),
}

/// Something done for one state of a program.
pub enum Done {
    /// It was read; `None` if the reader failed.
    Read(Option<Arc<Analysis>>),
    /// It was checked.
    Checked(Vec<Diagnostic>, Published),
}

/// Settings of the client beyond those of `p4cc.toml`.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Folders searched by `#include`.
    pub include_dirs: Vec<PathBuf>,
    /// Macros with their texts.
    pub defines: Vec<(String, String)>,
}

/// What programs are read from: open documents, settings, and the disk.
#[derive(Clone)]
pub struct Texts {
    /// Open documents.
    pub overlay: Overlay,
    /// Settings of the client.
    pub settings: Settings,
    /// What files are known to include.
    pub includes: Arc<Includes>,
}

impl Texts {
    /// How the programs of a folder are compiled.
    fn config(&self, path: &Path) -> Config {
        let folder = path.parent().filter(|folder| folder.is_absolute());
        let mut config = folder.map(Config::for_folder).unwrap_or_default();
        config.include_dirs.extend(self.settings.include_dirs.iter().cloned());
        config.defines.extend(self.settings.defines.iter().cloned());
        config
    }

    fn read(&self, program: &Path, budget: &Budget) -> Analysis {
        Analysis::read(program, &self.overlay, self.config(program), budget)
    }

    fn programs_of(&self, document: &Path, budget: &Budget) -> Vec<PathBuf> {
        programs_of(document, &self.config(document), &self.overlay, &self.includes, budget)
    }

    /// The other programs that a document is a part of.
    fn others(&self, document: &Path, root: &Path, budget: &Budget) -> Vec<Analysis> {
        let programs = self.programs_of(document, budget);
        let others = programs.iter().filter(|program| *program != root).take(MAX_OTHERS);
        others.map(|program| self.read(program, budget)).collect()
    }
}

/// A question with what it is answered from.
pub struct Question {
    /// As the client asked.
    pub request: Request,
    /// Its document.
    pub document: PathBuf,
    /// Units of the client's columns.
    pub encoding: Encoding,
    /// The program that the document is read with.
    pub analysis: Arc<Analysis>,
    /// What is wrong with the program.
    pub findings: Arc<[Diagnostic]>,
}

impl Question {
    /// The answer, with other programs that the document is a part of.
    pub fn answered(self, others: &[Analysis]) -> Response {
        let id = self.request.id.clone();
        let view = |analysis| View { analysis, encoding: self.encoding };
        let others: Vec<View<'_>> = others.iter().map(view).collect();
        let asking = Asking { view: view(&self.analysis), others, findings: &self.findings };
        let answer = || requests::answer(&asking, &self.document, self.request);
        catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
            let message = "error of the server itself: please report it with the program";
            Response::new_err(id, ErrorCode::InternalError as i32, message.to_owned())
        })
    }
}

/// Reads a program; whether a thread does so.
pub fn read(program: PathBuf, revision: u64, texts: Texts, budget: Budget, to: Sender<Report>) -> bool {
    spawn("p4cc-read", move || {
        let analysis = catch_unwind(AssertUnwindSafe(|| texts.read(&program, &budget))).ok().map(Arc::new);
        // The server may have ended.
        let _ = to.send(Report::Program { program, revision, done: Done::Read(analysis) });
    })
}

/// Checks a program that was read; whether a thread does so.
pub fn check(
    (program, revision): (PathBuf, u64),
    analysis: Arc<Analysis>,
    encoding: Encoding,
    budget: Budget,
    to: Sender<Report>,
) -> bool {
    spawn("p4cc-check", move || {
        let checked = catch_unwind(AssertUnwindSafe(|| analysis.check(&budget)));
        let findings = checked.unwrap_or_else(|_| analysis.findings().to_vec());
        let view = View { analysis: &analysis, encoding };
        let published = diagnostics::by_file(&view, &findings);
        let _ = to.send(Report::Program { program, revision, done: Done::Checked(findings, published) });
    })
}

/// Finds the programs of documents; whether a thread does so.
pub fn list(list: u64, documents: Vec<PathBuf>, texts: Texts, budget: Budget, to: Sender<Report>) -> bool {
    spawn("p4cc-list", move || {
        let find = |document: PathBuf| {
            let found = catch_unwind(AssertUnwindSafe(|| texts.programs_of(&document, &budget)));
            let program = found.ok().and_then(|programs| programs.into_iter().next());
            (document.clone(), program.unwrap_or(document))
        };
        let programs = documents.into_iter().map(find).collect();
        let _ = to.send(Report::Listed { list, programs });
    })
}

/// Answers a question that takes files; whether a thread does so.
pub fn answer(question: Question, texts: Texts, budget: Budget, to: Sender<Report>) -> bool {
    spawn("p4cc-answer", move || {
        let others = || match requests::concerns_all_programs(&question.request.method) {
            true => texts.others(&question.document, &question.analysis.root, &budget),
            false => Vec::new(),
        };
        let others = catch_unwind(AssertUnwindSafe(others)).unwrap_or_default();
        let _ = to.send(Report::Answered(question.answered(&others)));
    })
}

/// Whether the system had a thread for the work; without one there is no report.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    thread.spawn(work).is_ok()
}
