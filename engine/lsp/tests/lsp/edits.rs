//! Any edits of any program: the server lives, and its text is the client's.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use p4cc_budget::Budget;
use p4cc_lsp::analysis::{Analysis, Overlay};
use p4cc_lsp::config::Config;
use p4cc_lsp::features::{
    completion, diagnostics, formatting, hover, inlay, navigation, rename, signature, symbols,
};
use p4cc_lsp::text::{Encoding, Lines, apply};
use p4cc_lsp::view::{Cursor, View};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Programs of the repository.
pub fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders =
        ["p4src/v1model", "p4src/tna", "engine/filetests/cases/run", "engine/filetests/cases/check"];
    let mut found = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        found.extend(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()));
    }
    found.sort();
    assert!(found.len() > 20, "{}", found.len());
    found
}

/// An edit: where it begins and how many characters it takes, as parts of the text, and what it writes.
#[derive(Clone, Debug)]
struct Edit {
    at: f64,
    takes: usize,
    text: String,
}

fn edit() -> impl Strategy<Value = Edit> {
    let pieces = prop::sample::select(vec![
        "",
        " ",
        "\n",
        "\r\n",
        "\r",
        ".",
        ";",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "[",
        "\"",
        "/*",
        "*/",
        "//",
        "#",
        "\\\n",
        "hdr.",
        "#define A(x) x\n",
        "#include <v1model.p4>\n",
        "#include \"",
        "header h { bit<8> a; }",
        "@name(\"",
        "state s { transition ",
        "é",
        "😀",
        "\u{2028}",
        "control c() { apply { ",
        "typedef bit<W> T;",
        "0w",
        "99999999999",
    ]);
    (0.0..1.0f64, 0usize..40, pieces).prop_map(|(at, takes, text)| Edit { at, takes, text: text.to_owned() })
}

/// The change as a client would send it for this text, and the text that the client then has.
fn changed(text: &str, edit: &Edit, encoding: Encoding) -> (TextDocumentContentChangeEvent, String) {
    let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let first = ((boundaries.len() - 1) as f64 * edit.at) as usize;
    let last = (first + edit.takes).min(boundaries.len() - 1);
    let (start, end) = (boundaries[first], boundaries[last]);
    // No editor puts a cursor between the two characters that end a line.
    let between = |at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
    let (start, end) = (start - usize::from(between(start)), end + usize::from(between(end)));
    let lines = Lines::of(text);
    let range = lines.range(text, start..end, encoding);
    let new = format!("{}{}{}", &text[..start], edit.text, &text[end..]);
    (TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: edit.text.clone() }, new)
}

/// Asks everything about a text; what is asked must neither panic nor name a place outside of a text.
fn ask_everything(path: &Path, text: &str, at: f64) {
    let budget = Budget::default();
    let overlay = Overlay([(path.to_owned(), Arc::from(text))].into());
    let analysis = Analysis::read(path, &overlay, Config::default(), &budget);
    let view = View { analysis: &analysis, encoding: Encoding::Utf16 };
    let findings = analysis.check(&budget);
    let lines = Lines::of(text).position(text, text.len(), Encoding::Utf16).line;
    for shown in diagnostics::by_file(&view, &findings).remove(path).unwrap_or_default() {
        assert!(shown.range.start <= shown.range.end && shown.range.end.line <= lines);
    }
    let all = Range::new(Position::new(0, 0), Position::new(u32::MAX, u32::MAX));
    for symbol in symbols::symbols(&view, 0) {
        assert!(
            symbol.range.start <= symbol.selection_range.start
                && symbol.selection_range.end <= symbol.range.end
        );
    }
    inlay::hints(&view, 0, all);
    // What is left as it is has a reason.
    let _ = formatting::edits(&view, 0);
    p4cc_lsp::features::actions::actions(&view, &findings, 0, all);
    let around = (text.len() as f64 * at) as usize;
    for byte in (around..text.len()).take(24).filter(|at| text.is_char_boundary(*at)) {
        let cursor = Cursor { file: 0, at: byte };
        hover::hover(&view, cursor);
        navigation::definition(&view, cursor);
        navigation::highlights(&view, cursor);
        let _ = rename::rename(std::iter::once((&view, cursor)), "renamed");
        signature::help(&view, cursor);
        completion::complete(&view, cursor);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn edits_leave_the_server_alive_and_its_text_the_clients(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec(edit(), 1..12),
        utf8 in any::<bool>(),
    ) {
        let programs = programs();
        let path = which.get(&programs);
        let mut server = String::from_utf8_lossy(&std::fs::read(path).expect("a program")).into_owned();
        let encoding = if utf8 { Encoding::Utf8 } else { Encoding::Utf16 };
        for edit in &edits {
            let (change, client) = changed(&server, edit, encoding);
            apply(&mut server, &change, encoding);
            prop_assert_eq!(&server, &client);
        }
        ask_everything(path, &server, edits[0].at);
    }
}
