//! Any text and any edit of it, as an editor's client may send them, and all that it may ask then.

use std::path::Path;
use std::sync::Arc;

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use p4cc_budget::Budget;
use p4cc_lsp::analysis::{Analysis, Overlay};
use p4cc_lsp::config::Config;
use p4cc_lsp::features::{
    actions, completion, diagnostics, formatting, hover, inlay, navigation, rename, signature, symbols,
};
use p4cc_lsp::text::{Encoding, apply};
use p4cc_lsp::view::{Cursor, View};

use crate::{corpus, source};

/// Lines and columns of the two ends of the edit.
const HEAD_BYTES: usize = 4;
/// Places of a text that are asked about.
const PLACES: usize = 24;

pub(crate) fn run(input: &[u8]) {
    let Some((head, rest)) = input.split_at_checked(HEAD_BYTES) else { return };
    let Ok(text) = core::str::from_utf8(rest) else { return };
    let [line, column, lines, columns] = [0, 1, 2, 3].map(|at: usize| u32::from(head[at]));
    let mut edited = text.to_owned();
    let range = Range::new(Position::new(line, column), Position::new(line + lines % 4, columns));
    let written = text.get(..text.len().min(columns as usize)).unwrap_or("").to_owned();
    let change = TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: written };
    apply(&mut edited, &change, if line % 2 == 0 { Encoding::Utf16 } else { Encoding::Utf8 });
    ask(&edited);
}

fn ask(text: &str) {
    let path = Path::new("/input.p4");
    let budget = Budget::default();
    let overlay = Overlay([(path.to_owned(), Arc::from(text))].into());
    let analysis = Analysis::read(path, &overlay, Config::default(), &budget);
    let findings = analysis.check(&budget);
    let view = View { analysis: &analysis, encoding: Encoding::Utf16 };
    let all = Range::new(Position::new(0, 0), Position::new(u32::MAX, u32::MAX));
    diagnostics::by_file(&view, &findings);
    symbols::symbols(&view, 0);
    inlay::hints(&view, 0, all);
    // What is left as it is has a reason.
    let _ = formatting::edits(&view, 0);
    actions::actions(&view, &findings, 0, all);
    let step = text.len() / PLACES + 1;
    for at in (0..=text.len()).step_by(step).filter(|at| text.is_char_boundary(*at)) {
        let cursor = Cursor { file: 0, at };
        hover::hover(&view, cursor);
        navigation::definition(&view, cursor);
        navigation::highlights(&view, cursor);
        signature::help(&view, cursor);
        completion::complete(&view, cursor);
        // Refusals are answers.
        let _ = rename::rename(std::iter::once((&view, cursor)), "renamed");
    }
}

/// The texts of the target `source`, each with an edit near its beginning.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let edited = |(at, text): (usize, Vec<u8>)| {
        let head = [at as u8 % 40, 4, at as u8 % 3, 17];
        head.into_iter().chain(text).collect()
    };
    source::seeds().into_iter().enumerate().map(edited).chain(corpus::kept("editor")).collect()
}
