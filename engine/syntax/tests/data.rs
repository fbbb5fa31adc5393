//! Programs as data: `data/ok/*.p4` parse without a diagnostic to the tree
//! printed in `*.out` beside them; `data/err/*.p4` give exactly the diagnostics
//! noted in their comments, and the text of `*.rendered` if there is one.
//!
//! A note is `//~ ERROR part of the message` (or `WARNING`) on the line of the
//! diagnostic; each `^` behind the `~` moves it one line up, each `v` one line
//! down. With `UPDATE_EXPECT=1` the files beside the programs are written anew.

use p4cc_syntax::{Options, Severity, Source, parse, print};
use std::path::{Path, PathBuf};

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the data folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "p4"));
    paths.sort();
    assert!(!paths.is_empty(), "no programs in {}", folder.display());
    paths
}

/// Loads a program under its file name, so that no expectation holds the path of a checkout.
fn load(path: &Path) -> (Source, Vec<p4cc_syntax::Diagnostic>) {
    struct Beside<'p>(&'p Path);
    impl p4cc_syntax::SourceLoader for Beside<'_> {
        fn read(&self, path: &Path, limit_bytes: u64) -> std::io::Result<Vec<u8>> {
            p4cc_syntax::FileSystem.read(&self.0.join(path), limit_bytes)
        }
    }
    let folder = path.parent().expect("a folder");
    let name = path.file_name().expect("a file name");
    Source::load_with(name, &Beside(folder), &Options::default())
}

fn compare(expected_path: &Path, found: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(expected_path, found).expect("write the expectation");
    }
    let expected = std::fs::read_to_string(expected_path)
        .unwrap_or_else(|cause| panic!("{}: {cause}; run with UPDATE_EXPECT=1", expected_path.display()));
    assert_eq!(found, expected, "{}", expected_path.display());
}

/// The declarations of the file itself, those of the built-in files left out.
fn own_tree(source: &Source, program: &p4cc_syntax::ast::Program) -> String {
    let own = |decl: &&p4cc_syntax::ast::Decl| !source.locate(decl.span).file.starts_with('<');
    let decls = program.decls.iter().filter(own).cloned().collect();
    print(&p4cc_syntax::ast::Program { decls, ..Default::default() })
}

#[test]
fn valid_programs_parse_to_the_expected_tree() {
    for path in programs("ok") {
        let (source, mut diagnostics) = load(&path);
        let (program, more) = parse(&source);
        diagnostics.extend(more);
        assert!(diagnostics.is_empty(), "{}:\n{}", path.display(), source.render(&diagnostics, false));
        compare(&path.with_extension("out"), &own_tree(&source, &program));
    }
}

#[test]
fn printing_and_parsing_again_gives_the_same_tree() {
    for path in programs("ok") {
        let (source, _) = load(&path);
        let printed = print(&parse(&source).0);
        assert_same_when_parsed("printed", &path, &printed, &printed);
        assert_same_when_parsed("self-contained", &path, &source.to_self_contained(), &printed);
    }
}

fn assert_same_when_parsed(what: &str, path: &Path, text: &str, expected: &str) {
    let (again, mut diagnostics) =
        Source::from_text(what, text, &p4cc_syntax::Memory::default(), &Options::default());
    let (program, more) = parse(&again);
    diagnostics.extend(more);
    assert!(diagnostics.is_empty(), "{what} {}:\n{}", path.display(), again.render(&diagnostics, false));
    assert_eq!(print(&program), expected, "{what} {}", path.display());
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    line: usize,
    severity: &'static str,
    message: String,
}

fn notes(text: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for note in line.split("//~").skip(1) {
            let up = note.bytes().take_while(|byte| *byte == b'^').count();
            let down = note.bytes().take_while(|byte| *byte == b'v').count();
            let words = note[up + down..].trim();
            let (severity, message) = match words.split_once(' ') {
                Some(("ERROR", message)) => ("ERROR", message),
                Some(("WARNING", message)) => ("WARNING", message),
                _ => panic!("line {}: not a note: {note}", index + 1),
            };
            notes.push(Note { line: index + 1 + down - up, severity, message: message.to_owned() });
        }
    }
    notes.sort();
    notes
}

#[test]
fn invalid_programs_give_the_noted_diagnostics() {
    for path in programs("err") {
        let (source, mut diagnostics) = load(&path);
        diagnostics.extend(parse(&source).1);
        let rendered = source.render(&diagnostics, false);
        let name = path.file_name().expect("a file name").to_string_lossy().into_owned();
        let mut found: Vec<Note> = Vec::new();
        for diagnostic in &diagnostics {
            let place = source.locate(diagnostic.span);
            assert_eq!(place.file, name, "a diagnostic in another file:\n{rendered}");
            let severity = if diagnostic.severity == Severity::Error { "ERROR" } else { "WARNING" };
            found.push(Note { line: place.line as usize, severity, message: diagnostic.message.clone() });
        }
        found.sort();
        let text = std::fs::read_to_string(&path).expect("a readable program");
        let expected = notes(&text);
        assert!(!expected.is_empty(), "{name} notes no diagnostic; found:\n{rendered}");
        let same = found.len() == expected.len()
            && found.iter().zip(&expected).all(|(found, expected)| {
                found.line == expected.line
                    && found.severity == expected.severity
                    && found.message.contains(&expected.message)
            });
        assert!(same, "{name}: expected {expected:#?}\nfound:\n{found:#?}\n{rendered}");
        let golden = path.with_extension("rendered");
        if golden.exists() {
            compare(&golden, &rendered);
        }
    }
}
