//! The growing preprocessed text and its map.

use super::scan::{Kind, Piece};
use crate::source::Segment;
use crate::span::Span;

/// Text under construction.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) segments: Vec<Segment>,
    pub(super) string_newlines: Vec<u32>,
}

impl Output {
    /// Copies a piece of a file.
    pub(super) fn copy(&mut self, file: usize, piece: Piece, text: &str) {
        let out_start = self.text.len() as u32;
        if piece.kind == Kind::Str {
            let newlines = text.match_indices('\n').map(|(at, _)| out_start + at as u32);
            self.string_newlines.extend(newlines);
        }
        let follows = self.segments.last().is_some_and(|last| {
            last.file == file
                && last.expanded_to.is_none()
                && last.src_start + (out_start - last.out_start) == piece.start as u32
        });
        if !follows {
            let src_start = piece.start as u32;
            self.segments.push(Segment { out_start, file, src_start, expanded_to: None });
        }
        self.text.push_str(text);
    }

    /// Writes text that stands for `start..end` of a file.
    pub(super) fn expansion(&mut self, file: usize, start: usize, end: usize, text: &str) {
        let segment = Segment {
            out_start: self.text.len() as u32,
            file,
            src_start: start as u32,
            expanded_to: Some(end as u32),
        };
        self.segments.push(segment);
        self.text.push_str(text);
    }

    /// A blank that stands for `start..end` of a file: a place to hang a diagnostic about text that is not in the
    /// output (a directive).
    pub(super) fn anchor(&mut self, file: usize, start: usize, end: usize) -> Span {
        let at = self.text.len() as u32;
        self.expansion(file, start, end, " ");
        Span::new(at, at + 1)
    }
}
