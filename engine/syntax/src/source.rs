//! The preprocessed text with its map back to the files it came from.
//!
//! Invariants: `segments` is sorted by `out_start` and its first segment starts at 0; every span handed out
//! lies in the text; a span outside the text is clamped, never a panic.

use crate::span::Span;
use p4cc_budget::Budget;
use std::path::PathBuf;

/// How to preprocess.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders searched by `#include`, in order, before the built-in declaration files.
    pub include_dirs: Vec<PathBuf>,
    /// Macros defined before the first line: name and replacement text.
    pub defines: Vec<(String, String)>,
    /// Bounds.
    pub limits: Limits,
    /// The compilation that the text is for: once it is over, no more is read.
    pub budget: Budget,
}

/// Bounds of the preprocessor; what exceeds one is a diagnostic.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes read in all and bytes of the preprocessed text.
    /// At most 1 GiB is honoured, spans being 32 bits wide.
    pub total_bytes: u32,
    /// Files open inside one another.
    pub include_depth: u32,
    /// Files included in all, counting repetitions.
    pub include_count: u32,
    /// Uses of macros inside the arguments of others.
    pub macro_depth: u32,
    /// Tokens of macros' definitions and of their expansion in all.
    pub macro_tokens: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_bytes: 16 << 20,
            include_depth: 64,
            include_count: 4096,
            macro_depth: 128,
            macro_tokens: 1 << 19,
        }
    }
}

/// Longest line that diagnostics show: a program may be one line of megabytes.
pub(crate) const MAX_SHOWN_BYTES: usize = 2000;

/// A preprocessed program.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub(crate) text: String,
    pub(crate) files: Vec<SourceFile>,
    pub(crate) segments: Vec<Segment>,
    /// Offsets of newlines inside string literals: they end no line of the self-contained form.
    pub(crate) string_newlines: Vec<u32>,
}

/// One file that took part.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: std::sync::Arc<str>,
    pub(crate) line_starts: Vec<u32>,
    /// `#line` markers in order of position.
    pub(crate) markers: Vec<Marker>,
}

/// From line `line_index` (counted from 0) on, the text claims to be line `line` of `name`.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    pub(crate) line_index: usize,
    pub(crate) name: String,
    pub(crate) line: u32,
    /// A `#line`, which `__LINE__` follows too; the preprocessor does not read other markers.
    pub(crate) in_macros: bool,
}

/// Where a stretch of the preprocessed text came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) out_start: u32,
    pub(crate) file: usize,
    pub(crate) src_start: u32,
    /// `Some(end)`: a macro expansion, all of it standing for `src_start..end`; `None`: copied byte by byte.
    pub(crate) expanded_to: Option<u32>,
}

/// A place in a user's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// File as named on the command line, by `#include` or by a `#line` marker.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The line itself, without its end; empty if it is longer than a person would read.
    pub line_text: String,
}

/// A place as bytes of a physical file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhysicalRange {
    pub(crate) file: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Source {
    /// The preprocessed text, into which all spans point.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The place of a span's first character in the user's file.
    pub fn locate(&self, span: Span) -> Location {
        match self.physical(span) {
            Some(range) => self.location_of(range),
            None => {
                let file = self.files.first().map_or_else(String::new, |file| file.name.clone());
                Location { file, line: 1, column: 1, line_text: String::new() }
            }
        }
    }

    fn location_of(&self, range: PhysicalRange) -> Location {
        let file = &self.files[range.file];
        let index = file.line_index(range.start);
        let bytes = file.line_bytes(index);
        let before = file.text.get(bytes.start..range.start.clamp(bytes.start, bytes.end)).unwrap_or("");
        Location {
            file: file.presumed_name(index).to_owned(),
            line: file.presumed_line(index),
            column: before.chars().count() as u32 + 1,
            line_text: match file.text.get(bytes) {
                Some(line) if line.len() <= MAX_SHOWN_BYTES => line.trim_end_matches(['\r', '\n']).to_owned(),
                _ => String::new(),
            },
        }
    }

    /// The bytes of the physical file that a span stands for.
    pub(crate) fn physical(&self, span: Span) -> Option<PhysicalRange> {
        let first = self.segment_at(span.start)?;
        let start = first.source_offset(span.start);
        let mut end = first.source_end(span.start.saturating_add(1));
        if span.end > span.start.saturating_add(1)
            && let Some(last) = self.segment_at(span.end - 1)
            && last.file == first.file
        {
            end = end.max(last.source_end(span.end));
        }
        let len = self.files[first.file].text.len();
        let text = &self.files[first.file].text;
        let floor = |mut at: usize| {
            at = at.min(len);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(start as usize);
        // An empty span (end of input) stays empty, so that the caret stands at one place.
        let end =
            if span.end <= span.start && first.expanded_to.is_none() { start } else { floor(end as usize) };
        Some(PhysicalRange { file: first.file, start, end: end.max(start) })
    }

    fn segment_at(&self, offset: u32) -> Option<&Segment> {
        let after = self.segments.partition_point(|segment| segment.out_start <= offset);
        self.segments.get(after.saturating_sub(1))
    }

    /// One text that parses alone, with `#line` markers so that its diagnostics name the user's files.
    pub fn to_self_contained(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut current: Option<(String, u32)> = None;
        let mut start = 0usize;
        for line in self.logical_lines() {
            let end = start + line.len();
            let blank = line.len() - line.trim_start().len();
            if blank < line.len() {
                let place = self.locate(Span::new((start + blank) as u32, (start + blank + 1) as u32));
                write_marker(&mut out, current.as_ref(), &place);
                out.push_str(line.trim_end());
                out.push('\n');
                let lines = line.trim_end().matches('\n').count() as u32 + 1;
                current = Some((place.file, place.line + lines));
            }
            start = end;
        }
        out
    }

    /// Lines with their ends; a newline inside a string literal ends none.
    fn logical_lines(&self) -> Vec<&str> {
        let mut lines = Vec::new();
        let mut start = 0;
        for (at, _) in self.text.match_indices('\n') {
            if self.string_newlines.binary_search(&(at as u32)).is_err() {
                lines.push(&self.text[start..=at]);
                start = at + 1;
            }
        }
        lines.push(&self.text[start..]);
        lines
    }
}

/// Brings the reader of the self-contained form to `place`: by blank lines if it is near, by a marker if not.
fn write_marker(out: &mut String, current: Option<&(String, u32)>, place: &Location) {
    const NEAR_LINES: u32 = 4;
    if let Some((name, line)) = current
        && *name == place.file
        && place.line >= *line
        && place.line - *line <= NEAR_LINES
    {
        for _ in *line..place.line {
            out.push('\n');
        }
        return;
    }
    let name = place.file.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    out.push_str(&format!("#line {} \"{name}\"\n", place.line));
}

impl Segment {
    fn source_offset(&self, offset: u32) -> u32 {
        match self.expanded_to {
            Some(_) => self.src_start,
            None => self.src_start.saturating_add(offset.saturating_sub(self.out_start)),
        }
    }

    fn source_end(&self, offset: u32) -> u32 {
        self.expanded_to.unwrap_or_else(|| self.source_offset(offset))
    }
}

fn line_behind(marker: Option<&Marker>, line_index: usize) -> u32 {
    match marker {
        Some(marker) => marker.line.saturating_add((line_index - marker.line_index) as u32),
        None => line_index as u32 + 1,
    }
}

impl SourceFile {
    pub(crate) fn new(name: String, text: std::sync::Arc<str>) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        Self { name, text, line_starts, markers: Vec::new() }
    }

    pub(crate) fn line_index(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }

    pub(crate) fn line_bytes(&self, index: usize) -> std::ops::Range<usize> {
        let start = self.line_starts.get(index).map_or(self.text.len(), |start| *start as usize);
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |start| *start as usize);
        start..end
    }

    fn marker(&self, line_index: usize) -> Option<&Marker> {
        let after = self.markers.partition_point(|marker| marker.line_index <= line_index);
        self.markers[..after].last()
    }

    pub(crate) fn presumed_name(&self, line_index: usize) -> &str {
        self.marker(line_index).map_or(&self.name, |marker| &marker.name)
    }

    pub(crate) fn presumed_line(&self, line_index: usize) -> u32 {
        line_behind(self.marker(line_index), line_index)
    }

    /// File and line as `__FILE__` and `__LINE__` give them.
    pub(crate) fn macro_place(&self, line_index: usize) -> (&str, u32) {
        let before = self.markers.iter().rev().filter(|marker| marker.in_macros);
        let marker = before.into_iter().find(|marker| marker.line_index <= line_index);
        let name = marker.map_or(&self.name, |marker| &marker.name);
        (name, line_behind(marker, line_index))
    }
}
