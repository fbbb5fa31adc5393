//! Definition, references and highlights.

use super::macros;
use crate::names::DefId;
use crate::view::{Cursor, View};
use lsp_types::{DocumentHighlight, DocumentHighlightKind, Location};
use std::collections::BTreeSet;

/// Where the name under the cursor is declared; of a macro where it is defined, of an include the file.
pub fn definition(view: &View<'_>, cursor: Cursor) -> Option<Location> {
    if let Some((def, _)) = view.definition(cursor) {
        return view.location_of(view.names().def(def).span);
    }
    if let Some(file) = macros::included(view, cursor) {
        return Some(file);
    }
    let (file, name) = macros::definition(view, cursor)?;
    view.location(file, name)
}

/// All places of the name under the cursor, in each program that has it.
pub fn references<'a>(
    programs: impl Iterator<Item = (&'a View<'a>, Cursor)>,
    declaration: bool,
) -> Vec<Location> {
    let mut found: Vec<Location> = Vec::new();
    let mut seen = BTreeSet::new();
    for (view, cursor) in programs {
        let Some((def, _)) = view.definition(cursor) else { continue };
        let declared = view.names().def(def).span;
        let uses = view.names().uses().iter().filter(|one| one.def == def);
        let wanted = uses.filter(|one| declaration || one.span != declared);
        for location in wanted.filter_map(|one| view.location_of(one.span)) {
            let start = location.range.start;
            if seen.insert((location.uri.as_str().to_owned(), start.line, start.character)) {
                found.push(location);
            }
        }
    }
    found
}

/// The places of the name under the cursor in its file.
pub fn highlights(view: &View<'_>, cursor: Cursor) -> Vec<DocumentHighlight> {
    let Some((def, _)) = view.definition(cursor) else { return Vec::new() };
    let places = places_in(view, def, cursor.file);
    places.map(|range| DocumentHighlight { range, kind: Some(DocumentHighlightKind::TEXT) }).collect()
}

fn places_in<'a>(view: &'a View<'_>, def: DefId, file: usize) -> impl Iterator<Item = lsp_types::Range> + 'a {
    let uses = view.names().uses().iter().filter(move |one| one.def == def);
    let places = uses.filter_map(|one| view.analysis.place(one.span));
    places.filter(move |place| place.file == file).map(move |place| view.range(file, place.range))
}
