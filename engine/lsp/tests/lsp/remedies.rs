//! All remedies of the compiler: each is an edit that a client is offered, or advice whose edit nobody knows.

use crate::actions::{CASES, OTHERS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Remedies without an edit, with the reason above them.
const ADVICE: &str = include_str!("advice.txt");

/// The crates whose messages an editor shows.
const CRATES: [&str; 5] = ["syntax", "types", "check", "lower", "compile"];

/// What stands in front of a remedy in the sources.
const BEFORE: [&str; 4] = [".with_help(", "let help =", "let remedy =", "let instead ="];

/// Whether a text holds a remedy, whose placeholders stand for anything.
pub fn says(remedy: &str, text: &str) -> bool {
    let mut rest = text;
    pieces(remedy).into_iter().all(|piece| match rest.split_once(piece) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// The parts of a remedy between its placeholders, `{}` and `{name}`.
fn pieces(remedy: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), remedy);
    let mut from = 0;
    while let Some(open) = rest[from..].find('{').map(|at| from + at) {
        let name = rest[open + 1..].split('}').next().unwrap_or_default();
        if name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && rest[open + 1..].len() > name.len() {
            found.push(&rest[..open]);
            rest = &rest[open + name.len() + 2..];
            from = 0;
        } else {
            from = open + 1;
        }
    }
    found.push(rest);
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("part of the repository") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text literals that stand behind the words of [`BEFORE`], as they read.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in BEFORE {
        for (at, _) in source.match_indices(word) {
            let rest = source[at + word.len()..].trim_start();
            let rest = rest.strip_prefix("Some(").unwrap_or(rest).trim_start();
            let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
            let Some(rest) = rest.strip_prefix('"') else { continue };
            let (mut text, mut chars) = (String::new(), rest.chars());
            while let Some(c) = chars.next().filter(|c| *c != '"') {
                match (c, if c == '\\' { chars.next() } else { None }) {
                    (_, Some('\n')) => {
                        let left = chars.as_str().trim_start();
                        chars = left.chars();
                    }
                    (_, Some(escaped)) => text.push(if escaped == 'n' { '\n' } else { escaped }),
                    _ => text.push(c),
                }
            }
            found.push(text.replace("{{", "{").replace("}}", "}"));
        }
    }
    found
}

fn advice() -> Vec<String> {
    let lines = ADVICE.lines().filter(|line| !line.starts_with("# ") && !line.is_empty());
    lines.map(|line| line.replace("\\n", "\n")).collect()
}

#[test]
fn every_remedy_is_an_edit_or_says_why_not() {
    let mut files = Vec::new();
    for name in CRATES {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"), &mut files);
    }
    let mut remedies = BTreeSet::new();
    for path in &files {
        remedies.extend(literals(&std::fs::read_to_string(path).expect("readable")));
    }
    assert!(remedies.len() > 120, "only {} remedies were found", remedies.len());
    let edits: BTreeSet<String> = CASES.iter().chain(&OTHERS).map(|case| case.help.to_owned()).collect();
    let advice: BTreeSet<String> = advice().into_iter().collect();
    let both: Vec<&String> = advice.intersection(&edits).collect();
    assert!(both.is_empty(), "an edit and none: {both:#?}");
    let neither: Vec<&String> =
        remedies.iter().filter(|one| !edits.contains(*one) && !advice.contains(*one)).collect();
    assert!(
        neither.is_empty(),
        "write an edit (engine/lsp/src/features) with a case in actions.rs, or say in advice.txt why there is \
         none: {neither:#?}"
    );
}

/// Remedies that the sources build from parts are met where the language cases run.
#[test]
fn remedies_of_the_language_cases_are_known() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../filetests/cases/check");
    let files = std::fs::read_dir(folder).expect("part of the repository");
    let (mut met, mut unknown) = (0, BTreeSet::new());
    let known: Vec<String> =
        CASES.iter().chain(&OTHERS).map(|case| case.help.to_owned()).chain(advice()).collect();
    for path in files.map(|file| file.expect("readable").path()).filter(|path| path.is_file()) {
        let (source, mut found) = p4cc_syntax::Source::load(&path, &p4cc_syntax::Options::default());
        let budget = p4cc_budget::Budget::default();
        let (tree, more) = p4cc_syntax::parse_within(&source, &budget);
        found.extend(more);
        if !found.iter().any(|one| one.severity == p4cc_syntax::Severity::Error) {
            found.extend(p4cc_compile::compile_unit_within(&tree, p4cc_compile::Strict::Off, &budget).1);
        }
        for help in found.into_iter().filter_map(|one| one.help) {
            met += 1;
            if !known.iter().any(|one| says(one, &help)) {
                unknown.insert(help);
            }
        }
    }
    assert!(met > 100, "only {met} remedies were met");
    assert!(unknown.is_empty(), "neither in actions.rs nor in advice.txt: {unknown:#?}");
}
