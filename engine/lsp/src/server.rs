//! The loop: documents, revisions of programs, and who waits for what.

use crate::analysis::{Analysis, Overlay};
use crate::jobs::{self, Done, Published, Question, Report, Settings, Texts};
use crate::paths::{normal, path_of, uri_of};
use crate::project::Includes;
use crate::requests;
use crate::text::{Encoding, apply};
use crossbeam_channel::{Receiver, Sender, after, never, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel, DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::{
    CancelParams, CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, HoverProviderCapability, InitializeParams, NumberOrString, OneOf,
    PositionEncodingKind, PublishDiagnosticsParams, RenameOptions, SaveOptions, ServerCapabilities,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkDoneProgressOptions,
};
use p4cc_budget::Budget;
use p4cc_syntax::Diagnostic;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time without an edit after which a program is checked: between two keystrokes of a fast writer.
const QUIET: Duration = Duration::from_millis(25);

/// Time that a question about a document waits for the list of the folder's programs, which says what the
/// document is a part of. Then a document that reads alone is its own program until the list comes.
const LISTED: Duration = Duration::from_millis(60);

/// Threads that answer at the same time.
const MAX_ANSWERING: usize = 32;

/// A document that the client shows.
struct Document {
    uri: Uri,
    text: String,
    version: i32,
    program: PathBuf,
    /// When it was opened, until a list has said that the program is the right one.
    unlisted: Option<Instant>,
}

/// A program that some document is a part of.
#[derive(Default)]
struct Program {
    /// State of its texts, from 1.
    revision: u64,
    /// A list has named it for a document: it is checked, and what is wrong is published.
    is_listed: bool,
    /// The last edit.
    edited: Option<Instant>,
    analysis: Option<Arc<Analysis>>,
    /// Revision of the analysis.
    read: u64,
    reading: Option<Budget>,
    findings: Arc<[Diagnostic]>,
    /// Revision of the findings.
    checked: u64,
    checking: Option<Budget>,
    /// Files that diagnostics were published for.
    published: BTreeSet<PathBuf>,
}

impl Program {
    /// Its texts are others: what reads or checks them ends early.
    fn changed(&mut self, revision: u64) {
        self.revision = revision;
        self.edited = Some(Instant::now());
        self.reading.iter().chain(&self.checking).for_each(Budget::cancel);
    }

    fn is_read(&self) -> bool {
        self.read == self.revision
    }

    fn is_checked(&self) -> bool {
        self.checked == self.revision
    }

    /// When it is to be checked, if it is.
    fn due(&self) -> Option<Instant> {
        let idle = self.is_listed && self.is_read() && !self.is_checked() && self.checking.is_none();
        idle.then(|| self.edited.unwrap_or_else(Instant::now) + QUIET)
    }
}

/// A question without an answer.
struct Waiting {
    id: RequestId,
    document: PathBuf,
    state: Asked,
}

/// Why there is none.
enum Asked {
    /// Its program is not read, or not checked.
    Waits(Request),
    /// A thread answers it.
    Answering(Budget),
}

/// Remedies are those of the findings.
fn needs_check(request: &Request) -> bool {
    request.method == "textDocument/codeAction"
}

struct Server {
    to_client: Sender<Message>,
    reports: Sender<Report>,
    encoding: Encoding,
    settings: Settings,
    documents: BTreeMap<PathBuf, Document>,
    programs: BTreeMap<PathBuf, Program>,
    waiting: Vec<Waiting>,
    /// Counts all changes of all texts.
    revision: u64,
    includes: Arc<Includes>,
    /// Number of the last list, and what ends its thread.
    list: (u64, Budget),
}

/// Serves one client until it says `exit`.
///
/// # Errors
/// What broke the connection, or that the client left without `shutdown`.
pub fn serve(connection: &Connection) -> Result<(), String> {
    let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| error.to_string())?;
    let encoding = encoding_of(&params);
    let info = json!({
        "capabilities": capabilities(encoding),
        "serverInfo": { "name": "p4cc", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, info).map_err(|error| error.to_string())?;
    let (reports, done) = unbounded();
    let mut server = Server {
        to_client: connection.sender.clone(),
        reports,
        encoding,
        settings: settings_of(params.initialization_options.as_ref()),
        documents: BTreeMap::new(),
        programs: BTreeMap::new(),
        waiting: Vec::new(),
        revision: 0,
        includes: Arc::default(),
        list: (0, Budget::default()),
    };
    server.watch(&params);
    server.run(connection, &done)
}

fn encoding_of(params: &InitializeParams) -> Encoding {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_ref());
    match offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8)) {
        true => Encoding::Utf8,
        false => Encoding::Utf16,
    }
}

/// `{"include": [...], "define": [...]}`, of the initialisation or below `p4cc` of a configuration.
fn settings_of(value: Option<&Value>) -> Settings {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Written {
        include: Vec<PathBuf>,
        define: Vec<String>,
    }
    let value = value.and_then(|value| value.get("p4cc").or(Some(value)));
    let written = value.and_then(|value| Written::deserialize(value).ok()).unwrap_or_default();
    Settings {
        include_dirs: written.include,
        defines: written.define.iter().map(|text| crate::config::define(text)).collect(),
    }
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: words(&[".", "@", "<", "\"", "/"]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: words(&["(", ","]),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

impl Server {
    fn run(&mut self, connection: &Connection, done: &Receiver<Report>) -> Result<(), String> {
        loop {
            self.start_jobs();
            let due = self.programs.values().filter_map(Program::due).chain(self.answers_due()).min();
            let timer = due.map_or_else(never, |due| after(due.saturating_duration_since(Instant::now())));
            select! {
                recv(connection.receiver) -> message => {
                    let Ok(message) = message else { return Err("the client has gone".to_owned()) };
                    match message {
                        Message::Request(request) => {
                            if connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                                return Ok(());
                            }
                            self.request(request);
                        }
                        Message::Notification(note) if note.method == "exit" => {
                            return Err("the client left without `shutdown`".to_owned());
                        }
                        Message::Notification(note) => self.notification(&note),
                        Message::Response(_) => {}
                    }
                }
                recv(done) -> report => {
                    if let Ok(report) = report {
                        self.report(report);
                    }
                }
                recv(timer) -> _ => self.answer_ready(),
            }
        }
    }

    /// Asks the client to tell of files that change on disk, if it can.
    fn watch(&self, params: &InitializeParams) {
        let workspace = params.capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        if watched.and_then(|watched| watched.dynamic_registration) != Some(true) {
            return;
        }
        let watchers =
            ["**/*.p4", "**/*.p4h", "**/*.h", "**/p4cc.toml"].map(|glob| json!({ "globPattern": glob }));
        let method = DidChangeWatchedFiles::METHOD;
        let registration =
            json!({ "id": "files", "method": method, "registerOptions": { "watchers": watchers } });
        let params = json!({ "registrations": [registration] });
        let id = RequestId::from("watch".to_owned());
        self.send(Request::new(id, "client/registerCapability".to_owned(), params).into());
    }

    fn send(&self, message: Message) {
        // A client that has gone is noticed where its messages are read.
        let _ = self.to_client.send(message);
    }

    fn request(&mut self, request: Request) {
        if !requests::is_known(&request.method) {
            let message = format!("{} is not known here", request.method);
            return self
                .send(Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message).into());
        }
        let document = requests::document_of(&request).map(|uri| path_of(&uri));
        match document.filter(|path| self.documents.contains_key(path)) {
            Some(document) => {
                let id = request.id.clone();
                self.waiting.push(Waiting { id, document, state: Asked::Waits(request) });
                self.answer_ready();
            }
            None => self.send(Response::new_ok(request.id, Value::Null).into()),
        }
    }

    /// Answers what can be: questions about programs that are read as they are now.
    fn answer_ready(&mut self) {
        for one in std::mem::take(&mut self.waiting) {
            match one.state {
                Asked::Waits(request) if self.is_ready(&request, &one.document) => {
                    self.answer(request, one.document);
                }
                _ => self.waiting.push(one),
            }
        }
    }

    fn is_ready(&self, request: &Request, document: &Path) -> bool {
        let Some(document) = self.documents.get(document) else { return true };
        let Some(program) = self.programs.get(&document.program) else { return true };
        let slow = requests::takes_files(&request.method);
        if !program.is_read() || slow && self.answering() >= MAX_ANSWERING {
            return false;
        }
        match document.unlisted {
            None => program.is_checked() || !needs_check(request),
            Some(opened) => {
                let reads_alone = program.analysis.as_ref().is_none_or(|analysis| !analysis.has_errors());
                let needs_list = needs_check(request) || requests::concerns_all_programs(&request.method);
                reads_alone && !needs_list && opened.elapsed() >= LISTED
            }
        }
    }

    fn answering(&self) -> usize {
        self.waiting.iter().filter(|one| matches!(one.state, Asked::Answering(_))).count()
    }

    /// When questions have waited long enough for a list.
    fn answers_due(&self) -> Option<Instant> {
        let unlisted = self.waiting.iter().filter_map(|one| self.documents.get(&one.document)?.unlisted);
        unlisted.map(|opened| opened + LISTED).filter(|due| *due > Instant::now()).min()
    }

    fn answer(&mut self, request: Request, document: PathBuf) {
        let program = self.documents.get(&document).and_then(|open| self.programs.get(&open.program));
        let Some((program, analysis)) =
            program.and_then(|program| Some((program, program.analysis.clone()?)))
        else {
            return self.send(Response::new_ok(request.id, Value::Null).into());
        };
        let (id, slow) = (request.id.clone(), requests::takes_files(&request.method));
        let (encoding, findings) = (self.encoding, program.findings.clone());
        let question = Question { request, document: document.clone(), encoding, analysis, findings };
        if !slow {
            return self.send(question.answered(&[]).into());
        }
        let budget = Budget::default();
        if jobs::answer(question, self.texts(), budget.clone(), self.reports.clone()) {
            self.waiting.push(Waiting { id, document, state: Asked::Answering(budget) });
        } else {
            let message = "the system has no thread for the answer".to_owned();
            self.send(Response::new_err(id, ErrorCode::InternalError as i32, message).into());
        }
    }

    fn texts(&self) -> Texts {
        Texts {
            overlay: overlay_of(&self.documents),
            settings: self.settings.clone(),
            includes: self.includes.clone(),
        }
    }

    fn notification(&mut self, note: &Notification) {
        match note.method.as_str() {
            DidOpenTextDocument::METHOD => with(note, |params| self.opened(params)),
            DidChangeTextDocument::METHOD => with(note, |params| self.edited(&params)),
            DidCloseTextDocument::METHOD => with(note, |params| self.closed(&params)),
            DidSaveTextDocument::METHOD => {
                with(note, |_: DidSaveTextDocumentParams| self.everything_changed())
            }
            DidChangeWatchedFiles::METHOD => self.everything_changed(),
            DidChangeConfiguration::METHOD => {
                self.settings = settings_of(note.params.get("settings"));
                self.everything_changed();
            }
            Cancel::METHOD => with(note, |params| self.cancelled(&params)),
            _ => {}
        }
    }

    fn cancelled(&mut self, params: &CancelParams) {
        let id = match &params.id {
            NumberOrString::Number(number) => RequestId::from(*number),
            NumberOrString::String(text) => RequestId::from(text.clone()),
        };
        self.refuse(|one| one.id == id, ErrorCode::RequestCanceled, "cancelled");
    }

    /// Answers some of those who wait that nothing will come.
    fn refuse(&mut self, which: impl Fn(&Waiting) -> bool, code: ErrorCode, why: &str) {
        let (gone, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|one| which(one));
        self.waiting = waiting;
        let gone: Vec<Waiting> = gone;
        for one in gone {
            if let Asked::Answering(budget) = one.state {
                budget.cancel();
            }
            self.send(Response::new_err(one.id, code as i32, why.to_owned()).into());
        }
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let opened = params.text_document;
        let path = path_of(&opened.uri);
        // The program that shows it already, or else itself, until the list of programs says which.
        let shown = self.programs.iter().find(|(_, program)| {
            program.is_listed && program.analysis.as_ref().is_some_and(|analysis| analysis.contains(&path))
        });
        let (program, unlisted) = match shown {
            Some((program, _)) => (program.clone(), None),
            None => (path.clone(), Some(Instant::now())),
        };
        self.programs.entry(program.clone()).or_default();
        let document =
            Document { uri: opened.uri, text: opened.text, version: opened.version, program, unlisted };
        self.documents.insert(path.clone(), document);
        self.text_changed(&path);
        self.list();
    }

    /// Lists the programs of all documents anew.
    fn list(&mut self) {
        self.list.1.cancel();
        self.list = (self.list.0 + 1, Budget::default());
        let documents = self.documents.keys().cloned().collect();
        if !jobs::list(self.list.0, documents, self.texts(), self.list.1.clone(), self.reports.clone()) {
            self.list_alone();
        }
    }

    /// Makes each document that waits for a list its own program: questions about it would never be answered.
    fn list_alone(&mut self) {
        let waiting = self.documents.iter().filter(|(_, document)| document.unlisted.is_some());
        let alone = waiting.map(|(path, _)| (path.clone(), path.clone())).collect();
        self.listed(alone);
    }

    /// Documents are parts of these programs.
    fn listed(&mut self, programs: Vec<(PathBuf, PathBuf)>) {
        self.revision += 1;
        let revision = self.revision;
        for (path, listed) in programs {
            let Some(document) = self.documents.get_mut(&path) else { continue };
            document.unlisted = None;
            let without = self.programs.get(&listed).filter(|program| program.is_read());
            let without = without.and_then(|program| program.analysis.as_ref());
            document.program = match without.is_some_and(|analysis| !analysis.contains(&path)) {
                true => path,
                false => listed,
            };
            let program = self.programs.entry(document.program.clone()).or_default();
            program.is_listed = true;
            if program.revision == 0 {
                program.changed(revision);
            }
        }
        self.drop_idle();
    }

    fn edited(&mut self, params: &DidChangeTextDocumentParams) {
        let path = path_of(&params.text_document.uri);
        let Some(document) = self.documents.get_mut(&path) else { return };
        for change in &params.content_changes {
            apply(&mut document.text, change, self.encoding);
        }
        document.version = params.text_document.version;
        self.text_changed(&path);
    }

    fn closed(&mut self, params: &DidCloseTextDocumentParams) {
        let path = path_of(&params.text_document.uri);
        let Some(document) = self.documents.remove(&path) else { return };
        self.refuse(|one| one.document == path, ErrorCode::RequestCanceled, "the document was closed");
        self.publish_file(&document.uri, None, Vec::new());
        self.drop_idle();
        // The text on disk may be another.
        self.text_changed(&path);
    }

    /// Forgets programs of which no document is open.
    fn drop_idle(&mut self) {
        let wanted: BTreeSet<&PathBuf> = self.documents.values().map(|document| &document.program).collect();
        let idle: Vec<PathBuf> =
            self.programs.keys().filter(|path| !wanted.contains(path)).cloned().collect();
        for path in idle {
            if let Some(mut program) = self.programs.remove(&path) {
                program.changed(0);
                let published = std::mem::take(&mut program.published);
                published.iter().for_each(|file| self.publish(&path, file, Vec::new()));
            }
        }
    }

    /// Texts of a file are others: programs with it, or that miss a file, are read again.
    fn text_changed(&mut self, path: &Path) {
        self.revision += 1;
        let revision = self.revision;
        let mut changed = BTreeSet::new();
        for (root, program) in &mut self.programs {
            let known = program.analysis.as_ref().filter(|_| program.is_read());
            if known.is_none_or(|analysis| analysis.contains(path) || analysis.has_errors()) {
                program.changed(revision);
                changed.insert(root.clone());
            }
        }
        let programs: BTreeMap<PathBuf, PathBuf> =
            self.documents.iter().map(|(path, document)| (path.clone(), document.program.clone())).collect();
        let is_old =
            |one: &Waiting| programs.get(&one.document).is_some_and(|program| changed.contains(program));
        self.refuse(is_old, ErrorCode::ContentModified, "the text was edited");
    }

    /// Files on disk or settings are others.
    fn everything_changed(&mut self) {
        self.revision += 1;
        let revision = self.revision;
        self.programs.values_mut().for_each(|program| program.changed(revision));
        self.list();
    }

    fn start_jobs(&mut self) {
        let now = Instant::now();
        let is_due = |program: &Program| !program.is_read() && program.reading.is_none();
        let texts = self.programs.values().any(is_due).then(|| self.texts());
        let (reports, encoding) = (&self.reports, self.encoding);
        for (path, program) in &mut self.programs {
            if let Some(texts) = texts.as_ref().filter(|_| is_due(program)) {
                let budget = Budget::default();
                let (job, texts) = (budget.clone(), texts.clone());
                // Without a thread, the next message or report tries again.
                let is_started = jobs::read(path.clone(), program.revision, texts, job, reports.clone());
                program.reading = is_started.then_some(budget);
            }
            if program.due().is_some_and(|due| due <= now)
                && let Some(analysis) = &program.analysis
            {
                let budget = Budget::default();
                let (state, analysis) = ((path.clone(), program.revision), analysis.clone());
                let is_started = jobs::check(state, analysis, encoding, budget.clone(), reports.clone());
                program.checking = is_started.then_some(budget);
                if !is_started {
                    // It is due again after a pause, not at once.
                    program.edited = Some(now);
                }
            }
        }
    }

    fn report(&mut self, report: Report) {
        match report {
            Report::Program { program, revision, done } => self.done(&program, revision, done),
            Report::Listed { list, programs } if list == self.list.0 => self.listed(programs),
            Report::Listed { .. } => {}
            Report::Answered(response) => {
                let before = self.waiting.len();
                self.waiting.retain(|one| one.id != response.id);
                // Else the client was told that no answer will come.
                if self.waiting.len() < before {
                    self.send(response.into());
                }
            }
        }
        self.answer_ready();
    }

    fn done(&mut self, root: &Path, revision: u64, done: Done) {
        let Some(program) = self.programs.get_mut(root) else { return };
        let is_now = revision == program.revision;
        match done {
            Done::Read(analysis) => {
                program.reading = None;
                if !is_now {
                    return;
                }
                program.read = revision;
                program.analysis = analysis;
                if program.analysis.is_none() {
                    program.checked = revision;
                }
                self.leave_others(root);
            }
            Done::Checked(findings, published) => {
                program.checking = None;
                if !is_now {
                    return;
                }
                program.checked = revision;
                program.findings = findings.into();
                self.publish_all(root, published);
            }
        }
    }

    /// A document that its program does not include after all is a program itself.
    fn leave_others(&mut self, root: &Path) {
        let Some(analysis) = self.programs.get(root).and_then(|program| program.analysis.clone()) else {
            return;
        };
        let mut alone = Vec::new();
        for (path, document) in &mut self.documents {
            if document.program == root && path != root && !analysis.contains(path) {
                document.program.clone_from(path);
                alone.push(path.clone());
            }
        }
        if !alone.is_empty() {
            self.revision += 1;
            let revision = self.revision;
            for path in alone {
                let program = self.programs.entry(path).or_default();
                program.is_listed = true;
                program.changed(revision);
            }
            self.drop_idle();
        }
    }

    fn publish_all(&mut self, root: &Path, mut found: Published) {
        let Some(program) = self.programs.get_mut(root) else { return };
        let before = std::mem::take(&mut program.published);
        program.published = found.keys().cloned().collect();
        // What is open is told of too where nothing is wrong: an editor waits for it.
        let open = self.documents.iter().filter(|(_, document)| document.program == root);
        let open: Vec<PathBuf> = open.map(|(path, _)| path.clone()).collect();
        for path in before.into_iter().chain(open) {
            found.entry(path).or_default();
        }
        for (path, diagnostics) in found {
            self.publish(root, &path, diagnostics);
        }
    }

    /// Publishes what is wrong with a file of a program, unless it is open as a part of another.
    fn publish(&self, root: &Path, path: &Path, diagnostics: Vec<lsp_types::Diagnostic>) {
        let path = normal(path);
        match self.documents.get(&path) {
            Some(document) if document.program == root => {
                self.publish_file(&document.uri, Some(document.version), diagnostics);
            }
            Some(_) => {}
            None => {
                if let Some(uri) = uri_of(&path) {
                    self.publish_file(&uri, None, diagnostics);
                }
            }
        }
    }

    fn publish_file(&self, uri: &Uri, version: Option<i32>, diagnostics: Vec<lsp_types::Diagnostic>) {
        let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version };
        self.send(Notification::new(PublishDiagnostics::METHOD.to_owned(), params).into());
    }
}

fn overlay_of(documents: &BTreeMap<PathBuf, Document>) -> Overlay {
    let text = |(path, document): (&PathBuf, &Document)| (path.clone(), Arc::from(document.text.as_str()));
    Overlay(documents.iter().map(text).collect())
}

/// Runs `act` on the parameters of a notification; of one that is malformed nothing is made.
fn with<P: DeserializeOwned>(note: &Notification, act: impl FnOnce(P)) {
    if let Ok(params) = P::deserialize(&note.params) {
        act(params);
    }
}
