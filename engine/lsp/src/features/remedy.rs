//! An edit that does what a message's help says.

use crate::view::View;
use lsp_types::TextEdit;
use p4cc_syntax::Span;

/// A title, and what is written where.
pub(super) struct Remedy {
    pub(super) title: String,
    pub(super) file: usize,
    pub(super) edits: Vec<TextEdit>,
}

/// The bytes of a span that no macro gave.
pub(super) fn written(view: &View<'_>, span: Span) -> Option<(usize, std::ops::Range<usize>)> {
    let place = view.analysis.place(span).filter(|place| !place.expanded)?;
    (!view.analysis.files[place.file].is_builtin).then_some((place.file, place.range))
}

/// A text at a byte of a file.
pub(super) fn insert(view: &View<'_>, file: usize, at: usize, text: String) -> TextEdit {
    TextEdit { range: view.range(file, at..at), new_text: text }
}

/// The remedy that is one text at one place.
pub(super) fn one(
    view: &View<'_>,
    (file, at): (usize, usize),
    text: String,
    title: String,
) -> Option<Remedy> {
    Some(Remedy { title, file, edits: vec![insert(view, file, at, text)] })
}
