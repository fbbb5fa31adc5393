//! The style changes no program.

use crate::client::Client;
use p4cc_budget::Budget;
use p4cc_compile::{Strict, Unit, compile_unit_within};
use p4cc_lsp::format::format;
use p4cc_syntax::{FileSystem, Options, Source, parse_within};
use serde_json::json;
use std::path::Path;

/// What the compiler makes of a text, and what it says, without places.
fn compiled(path: &Path, text: &str) -> (Option<String>, Vec<String>) {
    let budget = Budget::default();
    let name = path.display().to_string();
    let (source, mut found) = Source::from_text(&name, text, &FileSystem, &Options::default());
    let (tree, syntax) = parse_within(&source, &budget);
    found.extend(syntax);
    let (unit, checks) = compile_unit_within(&tree, Strict::Off, &budget);
    found.extend(checks);
    let ir = unit.map(|unit| match unit {
        Unit::Program(program) => p4cc_ir::text::to_text(&program),
        Unit::Library(_) | Unit::Checked(_) => String::new(),
    });
    (ir, found.into_iter().map(|finding| finding.message).collect())
}

#[test]
fn programs_stay_the_same_and_a_second_time_changes_nothing() {
    let mut changed = 0;
    for path in crate::edits::programs() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // What it leaves alone it says.
        let Ok(styled) = format(&text) else { continue };
        assert_eq!(format(&styled).as_deref(), Ok(styled.as_str()), "{}", path.display());
        if styled != text {
            changed += 1;
            assert_eq!(compiled(&path, &text), compiled(&path, &styled), "{}", path.display());
        }
    }
    assert!(changed > 20, "{changed}");
}

#[test]
fn an_editor_gets_the_style_as_an_edit() {
    let mut client = Client::start("formatting");
    client.open("main.p4", "const bit<8> A = 1;\nconst bit<8>  B=2;\nconst bit<8> C = 3;\n");
    let params = json!({ "textDocument": { "uri": client.uri("main.p4") }, "options": { "tabSize": 4, "insertSpaces": true } });
    let found = client.ask("textDocument/formatting", params).expect("an answer");
    let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 2, "character": 0 } });
    assert_eq!(found, json!([{ "range": range, "newText": "const bit<8> B = 2;\n" }]));
    client.end();
}
