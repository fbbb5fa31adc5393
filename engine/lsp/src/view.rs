//! An analysis as a client sees it: addresses, lines and columns.

use crate::analysis::Analysis;
use crate::names::DefId;
use crate::text::Encoding;
use crate::{builtin, paths};
use lsp_types::{Location, Position, Range, Uri};
use p4cc_syntax::Span;
use std::path::Path;

/// An analysis and the units of its client.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The program.
    pub analysis: &'a Analysis,
    /// Units of columns.
    pub encoding: Encoding,
}

/// A place in a file of the program.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// Position in [`Analysis::files`].
    pub file: usize,
    /// The byte.
    pub at: usize,
}

impl<'a> View<'a> {
    /// The place of a position of a client.
    pub fn cursor(&self, path: &Path, position: Position) -> Option<Cursor> {
        let file = self.analysis.file(path)?;
        let lines = &self.analysis.files[file].lines;
        Some(Cursor { file, at: lines.offset(self.analysis.text(file), position, self.encoding) })
    }

    /// Where the text at a place was parsed.
    pub fn offset(&self, cursor: Cursor) -> u32 {
        self.analysis.offset(cursor.file, cursor.at).unwrap_or_default()
    }

    /// What the name at a place stands for, and the range of the name.
    pub fn definition(&self, cursor: Cursor) -> Option<(DefId, Range)> {
        let (def, word) = self.analysis.definition_at(cursor.file, cursor.at)?;
        Some((def, self.range(cursor.file, word)))
    }

    /// Bytes of a file.
    pub fn range(&self, file: usize, bytes: std::ops::Range<usize>) -> Range {
        self.analysis.files[file].lines.range(self.analysis.text(file), bytes, self.encoding)
    }

    /// The address of a file; one that comes with p4cc is written to where an editor finds it.
    pub fn uri(&self, file: usize) -> Option<Uri> {
        let file = self.analysis.files.get(file)?;
        match file.is_builtin {
            true => paths::uri_of(&builtin::path(&file.path)?),
            false => paths::uri_of(&file.path),
        }
    }

    /// Bytes of a file.
    pub fn location(&self, file: usize, bytes: std::ops::Range<usize>) -> Option<Location> {
        Some(Location { uri: self.uri(file)?, range: self.range(file, bytes) })
    }

    /// Where a span came from.
    pub fn location_of(&self, span: Span) -> Option<Location> {
        let place = self.analysis.place(span)?;
        self.location(place.file, place.range)
    }

    /// The analysis' names.
    pub fn names(&self) -> &'a crate::names::Names {
        &self.analysis.names
    }
}
