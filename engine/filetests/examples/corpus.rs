//! Runs the engine over a copy of p4c's test data and prints what came out of each file.
//!
//! ```text
//! cargo run --release -p p4cc-filetests --features p4info --example corpus -- \
//!     testdata [--only NAME] [--v1model]
//! ```
//!
//! `testdata` is p4c's folder of that name, or a part of it that holds `p4_16_samples` and
//! `p4_16_samples_outputs` (STF tests and golden P4Info), `p4_16_errors` and `p4_16_errors_outputs` (programs
//! that must fail, with p4c's messages). One line for each file and question: `stf`, `p4info`, `compile` or
//! `reject`, then the verdict. The sums come last.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use p4cc_filetests::{Compiled, compile, stf};
use p4cc_syntax::Severity;

/// How long one file may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a question about a file came to: a word that is counted, and what a reader wants to know of it.
struct Verdict(&'static str, String);

type Question = fn(&Path, &Path) -> Option<Verdict>;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (mut root, mut only, mut v1model) = (None, String::new(), false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--only" => only = args.next().unwrap_or_default(),
            "--v1model" => v1model = true,
            _ => root = Some(PathBuf::from(arg)),
        }
    }
    let Some(root) = root else {
        eprintln!("usage: corpus TESTDATA [--only PART_OF_NAME] [--v1model]");
        return ExitCode::from(2);
    };
    let samples: [(&'static str, Question); 4] =
        [("compile", compiles), ("stf", passes), ("json", passes_as_json), ("p4info", equals)];
    let mut sums = BTreeMap::new();
    for (folder, questions) in
        [("p4_16_samples", &samples[..]), ("p4_16_errors", &[("reject", rejects as Question)][..])]
    {
        let outputs = root.join(format!("{folder}_outputs"));
        for program in programs(&root.join(folder), &only) {
            if v1model && !includes_v1model(&program) {
                continue;
            }
            for (question, ask) in questions {
                let Some(Verdict(word, detail)) = bounded(*ask, &program, &outputs) else { continue };
                let detail = detail.trim_end().replace('\n', "\n    ");
                println!("{question} {} {word} {detail}", name_of(&program));
                *sums.entry((*question, word)).or_insert(0) += 1;
            }
        }
    }
    println!();
    for ((question, word), count) in sums {
        println!("{question:8} {word:12} {count}");
    }
    ExitCode::SUCCESS
}

fn programs(folder: &Path, only: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "p4") && name_of(path).contains(only)
        })
        .collect();
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn includes_v1model(program: &Path) -> bool {
    std::fs::read_to_string(program).is_ok_and(|text| text.contains("v1model.p4"))
}

/// Asks in a thread of its own, so that a crash or an endless loop costs one file only.
fn bounded(ask: Question, program: &Path, outputs: &Path) -> Option<Verdict> {
    let (send, receive) = channel();
    let (program, outputs) = (program.to_path_buf(), outputs.to_path_buf());
    std::thread::spawn(move || {
        let verdict = catch_unwind(AssertUnwindSafe(|| ask(&program, &outputs)));
        let _ = send.send(verdict.unwrap_or_else(|_| Some(Verdict("PANIC", String::new()))));
    });
    match receive.recv_timeout(PATIENCE) {
        Ok(verdict) => verdict,
        Err(RecvTimeoutError::Timeout) => Some(Verdict("HANG", String::new())),
        Err(RecvTimeoutError::Disconnected) => Some(Verdict("PANIC", String::new())),
    }
}

/// The first error with its place.
fn first_error(compiled: &Compiled) -> String {
    let error = compiled.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    error.map_or_else(String::new, |error| {
        let place = compiled.source.locate(error.span);
        format!("{}:{} {}", name_of(Path::new(&place.file)), place.line, error.message)
    })
}

fn compiles(program: &Path, _: &Path) -> Option<Verdict> {
    let compiled = compile(program);
    Some(if compiled.accepted() {
        Verdict("ok", String::new())
    } else {
        Verdict("refused", first_error(&compiled))
    })
}

fn passes(program: &Path, _: &Path) -> Option<Verdict> {
    let test = program.with_extension("stf");
    if !test.exists() {
        return None;
    }
    let problems = stf::run_files(program, &test);
    let detail = problems.first().map(ToString::to_string).unwrap_or_default();
    Some(Verdict(if problems.is_empty() { "pass" } else { "fail" }, detail))
}

/// A program of v1model or PSA as BMv2 JSON, and its test if it has one.
fn passes_as_json(program: &Path, _: &Path) -> Option<Verdict> {
    let compiled = compile(program).program?;
    if matches!(compiled.architecture, p4cc_ir::Architecture::Tna(_)) {
        return None;
    }
    let document = match p4cc_bmv2json::write(&compiled) {
        Ok(document) => document.to_string(),
        Err(error) => return Some(Verdict("refused", error.to_string())),
    };
    if let Some(folder) = std::env::var_os("CORPUS_JSON") {
        let written =
            std::fs::write(Path::new(&folder).join(name_of(program)).with_extension("json"), &document);
        written.unwrap_or_else(|error| eprintln!("{error}"));
    }
    let (back, errors) = p4cc_bmv2json::read(&document);
    let Some(back) = back else {
        return Some(Verdict("unreadable", errors.first().map(ToString::to_string).unwrap_or_default()));
    };
    let test = program.with_extension("stf");
    if !test.exists() {
        return Some(Verdict("read", String::new()));
    }
    let problems = stf::run_program(back, &test);
    let detail = problems.first().map(ToString::to_string).unwrap_or_default();
    Some(Verdict(if problems.is_empty() { "pass" } else { "fail" }, detail))
}

fn equals(program: &Path, outputs: &Path) -> Option<Verdict> {
    let golden = outputs.join(format!("{}.p4info.txtpb", name_of(program)));
    let golden = std::fs::read_to_string(golden).ok()?;
    let golden = match p4cc_p4runtime::p4info_from_text(&golden) {
        Ok(golden) => golden,
        Err(error) => return Some(Verdict("unreadable", error.to_string())),
    };
    let compiled = compile(program);
    let info = match (&compiled.program, &compiled.library) {
        (Some(made), _) => p4cc_p4runtime::p4info(made),
        (None, Some(made)) => p4cc_p4runtime::library_p4info(made),
        (None, None) if compiled.lacking.is_some() => return Some(Verdict("no-p4info", String::new())),
        (None, None) => return Some(Verdict("refused", first_error(&compiled))),
    };
    Some(match info {
        Ok(ours) if ours == golden => Verdict("equal", String::new()),
        Ok(ours) => Verdict("differs", first_difference(&golden, &ours)),
        Err(error) => Verdict("error", error.to_string()),
    })
}

/// The first lines in which the text forms differ.
fn first_difference(
    golden: &p4cc_p4runtime::proto::p4::config::v1::P4Info,
    ours: &p4cc_p4runtime::proto::p4::config::v1::P4Info,
) -> String {
    let text = |info| p4cc_p4runtime::p4info_text(info).unwrap_or_default();
    let (golden, ours) = (text(golden), text(ours));
    let pair = golden
        .lines()
        .map(Some)
        .chain([None])
        .zip(ours.lines().map(Some).chain([None]))
        .find(|(a, b)| a != b);
    pair.map_or_else(String::new, |(a, b)| {
        format!("p4c's `{}`, ours `{}`", a.unwrap_or("(end)").trim(), b.unwrap_or("(end)").trim())
    })
}

fn rejects(program: &Path, outputs: &Path) -> Option<Verdict> {
    let name = name_of(program);
    let said = std::fs::read_to_string(outputs.join(format!("{name}-stderr"))).unwrap_or_default();
    let wanted = error_lines(&said, &name);
    let compiled = compile(program);
    let errors = compiled.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let places = errors.map(|error| compiled.source.locate(error.span));
    let lines: BTreeSet<u32> =
        places.filter(|place| name_of(Path::new(&place.file)) == name).map(|place| place.line).collect();
    let detail = format!("p4c {wanted:?}, ours {lines:?} {}", first_error(&compiled));
    let accepted = compiled.accepted();
    Some(match (accepted, wanted.is_empty()) {
        (true, _) => Verdict("accepted", detail),
        (false, true) => Verdict("no-line", detail),
        (false, false) if lines.is_disjoint(&wanted) => Verdict("other-line", detail),
        (false, false) => Verdict("right-line", String::new()),
    })
}

/// The lines of `file` that p4c's errors name; what it says of them in warnings is left out.
fn error_lines(said: &str, file: &str) -> BTreeSet<u32> {
    let mut in_error = false;
    let mut lines = BTreeSet::new();
    for line in said.lines() {
        if line.contains("error:") || line.contains("syntax error") {
            in_error = true;
        } else if line.contains("warning:") {
            in_error = false;
        }
        if let Some(rest) = line.split_once(&format!("{file}(")).map(|(_, rest)| rest)
            && in_error
            && let Some(number) = rest.split_once(')').and_then(|(number, _)| number.parse().ok())
        {
            lines.insert(number);
        }
    }
    lines
}
