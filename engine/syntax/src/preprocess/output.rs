//! The growing preprocessed text and its map.
//!
//! Files are named here by offsets of their joined text; segments hold those of the file itself.

use super::scan::{Kind, Piece};
use super::splice::Cuts;
use crate::source::Segment;
use crate::span::Span;

/// Text under construction.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) segments: Vec<Segment>,
    pub(super) string_newlines: Vec<u32>,
    /// Of each file, where its lines were joined.
    pub(super) cuts: Vec<Cuts>,
}

impl Output {
    /// Copies a piece of a file.
    pub(super) fn copy(&mut self, file: usize, piece: Piece, text: &str) {
        let out_start = self.text.len() as u32;
        if piece.kind == Kind::Str {
            let newlines = text.match_indices('\n').map(|(at, _)| out_start + at as u32);
            self.string_newlines.extend(newlines);
        }
        self.copied(out_start, file, self.start(file, piece.start) as u32);
        if let Some(cuts) = self.cuts.get(file) {
            // What stands behind a joint is a stretch of its own.
            let joints: Vec<usize> = cuts.within(piece.start, piece.start + text.len()).collect();
            for joint in joints {
                let src_start = self.start(file, joint) as u32;
                self.copied(out_start + (joint - piece.start) as u32, file, src_start);
            }
        }
        self.text.push_str(text);
    }

    /// From `out_start` on the text is that of the file from `src_start` on.
    fn copied(&mut self, out_start: u32, file: usize, src_start: u32) {
        let follows = self.segments.last().is_some_and(|last| {
            last.file == file
                && last.expanded_to.is_none()
                && last.src_start + (out_start - last.out_start) == src_start
        });
        if !follows {
            self.segments.push(Segment { out_start, file, src_start, expanded_to: None });
        }
    }

    /// Place in the file of the byte at an offset of its joined text.
    pub(super) fn start(&self, file: usize, at: usize) -> usize {
        self.cuts.get(file).map_or(at, |cuts| cuts.start(at))
    }

    fn end(&self, file: usize, at: usize) -> usize {
        self.cuts.get(file).map_or(at, |cuts| cuts.end(at))
    }

    /// Writes text that stands for `start..end` of a file.
    pub(super) fn expansion(&mut self, file: usize, start: usize, end: usize, text: &str) {
        let (start, end) = (self.start(file, start), self.end(file, end));
        self.stand_for(file, start, end.max(start), text);
    }

    /// A blank that stands for `start..end` of a file: a place to hang
    /// a diagnostic about text that is not in the output (a directive).
    pub(super) fn anchor(&mut self, file: usize, start: usize, end: usize) -> Span {
        let at = self.text.len() as u32;
        self.expansion(file, start, end, " ");
        Span::new(at, at + 1)
    }

    /// The same for bytes of the file itself.
    pub(super) fn anchor_bytes(&mut self, file: usize, start: usize, end: usize) -> Span {
        let at = self.text.len() as u32;
        self.stand_for(file, start, end, " ");
        Span::new(at, at + 1)
    }

    fn stand_for(&mut self, file: usize, start: usize, end: usize, text: &str) {
        let segment = Segment {
            out_start: self.text.len() as u32,
            file,
            src_start: start as u32,
            expanded_to: Some(end as u32),
        };
        self.segments.push(segment);
        self.text.push_str(text);
    }
}
