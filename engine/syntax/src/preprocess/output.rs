//! The growing preprocessed text and its map.
//!
//! Files are named here by offsets of their joined text; segments hold those of the file itself.
//!
//! The text is followed as p4c's lexer would read it, because what is a token to the C preprocessor need
//! not be one to P4: a string may have several lines, a line that begins with `#` is ignored, and behind an
//! apostrophe a comment may begin. Ignored text is left out, so that the lexer sees neither comments nor
//! such lines.

use super::scan::Kind;
use super::splice::Cuts;
use crate::source::Segment;
use crate::span::Span;

/// Where P4's lexer would be at the end of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// At the start of a line, or behind its first blanks.
    #[default]
    LineStart,
    /// Behind anything else of a line.
    Code,
    /// In a string; true behind a backslash.
    Text(bool),
    /// In a line that is ignored from `#` or `//` on.
    Ignored,
    /// In a comment of several lines that only P4 sees; true behind a `*`.
    Comment(bool),
}

/// Text under construction.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) segments: Vec<Segment>,
    pub(super) string_newlines: Vec<u32>,
    /// Of each file, where its lines were joined.
    pub(super) cuts: Vec<Cuts>,
    place: Place,
}

/// What text came from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// The same bytes of a file from an offset on.
    Copied(usize, usize),
    /// A macro, at these bytes of a file.
    Expanded(usize, usize, usize),
}

impl Output {
    /// In a string of several lines.
    pub(super) fn in_string(&self) -> bool {
        matches!(self.place, Place::Text(_))
    }

    /// White space ends the text.
    pub(super) fn ends_blank(&self) -> bool {
        self.text.is_empty() || self.text.ends_with([' ', '\n', '\t', '\r'])
    }

    /// Appends a token.
    pub(super) fn write(&mut self, origin: Origin, kind: Kind, text: &str) {
        let mut at = 0;
        while at < text.len() {
            // What is left of a token that P4 reads in parts is none of C's.
            let kind = if at == 0 { kind } else { Kind::Other };
            let (len, kept) = self.stretch(kind, &text[at..]);
            if kept {
                let part = &text[at..at + len];
                match origin {
                    Origin::Copied(file, start) => self.copy(file, start + at, part),
                    Origin::Expanded(file, start, end) => self.expansion(file, start, end, part),
                }
            }
            at += len;
        }
    }

    /// A comment: white space, but part of a string that it is in.
    pub(super) fn comment(&mut self, origin: Origin, text: &str) {
        match self.place {
            Place::LineStart | Place::Code => {
                // A `#` behind it does not begin a line that is ignored.
                self.place = Place::Code;
                let blank = if text.contains('\n') { "\n" } else { " " };
                let (file, start, end) = match origin {
                    Origin::Copied(file, start) => (file, start, start + text.len()),
                    Origin::Expanded(file, start, end) => (file, start, end),
                };
                self.expansion(file, start, end, blank);
            }
            _ => self.write(origin, Kind::Comment, text),
        }
    }

    /// How much of `text` is read in the same way, and whether it is part of the program.
    fn stretch(&mut self, kind: Kind, text: &str) -> (usize, bool) {
        match self.place {
            Place::Text(escaped) => (self.string(text, escaped), true),
            Place::Ignored => match text.find('\n') {
                Some(0) => {
                    self.place = Place::LineStart;
                    (1, true)
                }
                Some(len) => (len, false),
                None => (text.len(), false),
            },
            Place::Comment(star) => {
                let len = self.hidden_comment(text, star);
                (len, false)
            }
            Place::LineStart | Place::Code => match kind {
                Kind::Newline => {
                    self.place = Place::LineStart;
                    (text.len(), true)
                }
                Kind::Blank => (text.len(), true),
                Kind::Punct if self.place == Place::LineStart && text.starts_with('#') => {
                    self.place = Place::Ignored;
                    (text.len(), false)
                }
                Kind::Char | Kind::Other | Kind::Comment => self.quoted(text),
                // `L"..."`: a name to P4.
                Kind::Str if !text.starts_with('"') => self.quoted(text),
                _ => {
                    self.place = Place::Code;
                    (text.len(), true)
                }
            },
        }
    }

    /// Bytes up to the end of the string.
    fn string(&mut self, text: &str, mut escaped: bool) -> usize {
        let out_start = self.text.len() as u32;
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'"' if !escaped => {
                    self.place = Place::Code;
                    return at + 1;
                }
                b'\n' => self.string_newlines.push(out_start + at as u32),
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        self.place = Place::Text(escaped);
        text.len()
    }

    /// What the C preprocessor takes for one token because of a quote, up to where P4's lexer begins another.
    fn quoted(&mut self, text: &str) -> (usize, bool) {
        for (at, byte) in text.bytes().enumerate() {
            let place = match byte {
                b'"' => Place::Text(false),
                b'/' if text[at..].starts_with("//") => Place::Ignored,
                b'/' if text[at..].starts_with("/*") => Place::Comment(false),
                b'\n' => Place::LineStart,
                _ => {
                    self.place = Place::Code;
                    continue;
                }
            };
            if at > 0 && matches!(place, Place::Ignored | Place::Comment(_)) {
                return (at, true);
            }
            self.place = place;
            return match place {
                Place::Ignored => (2, false),
                Place::Comment(_) => (2, false),
                _ => (at + 1, true),
            };
        }
        (text.len(), true)
    }

    fn hidden_comment(&mut self, text: &str, mut star: bool) -> usize {
        for (at, byte) in text.bytes().enumerate() {
            if star && byte == b'/' {
                self.place = Place::Code;
                return at + 1;
            }
            star = byte == b'*';
        }
        self.place = Place::Comment(star);
        text.len()
    }

    /// Copies bytes of a file.
    fn copy(&mut self, file: usize, start: usize, text: &str) {
        let out_start = self.text.len() as u32;
        self.copied(out_start, file, self.start(file, start) as u32);
        if let Some(cuts) = self.cuts.get(file) {
            // What is behind a joint is a stretch of its own.
            let joints: Vec<usize> = cuts.within(start, start + text.len()).collect();
            for joint in joints {
                let src_start = self.start(file, joint) as u32;
                self.copied(out_start + (joint - start) as u32, file, src_start);
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
    fn expansion(&mut self, file: usize, start: usize, end: usize, text: &str) {
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
        let (src_start, expanded_to) = (start as u32, Some(end as u32));
        let follows = self.segments.last().is_some_and(|last| {
            last.file == file && last.src_start == src_start && last.expanded_to == expanded_to
        });
        if !follows {
            let out_start = self.text.len() as u32;
            self.segments.push(Segment { out_start, file, src_start, expanded_to });
        }
        self.text.push_str(text);
    }
}
