//! Strings of several lines, as the C preprocessor reads them for p4c.
//!
//! To it a string ends with its line. So what follows the first line is ordinary text: conditionals choose
//! among its lines, macros are replaced, blanks in a row become one. Nothing is replaced behind an apostrophe
//! or an escaped quote, nor in a comment, and comments stay. The string itself ends with the first quote in
//! what is left.
//!
//! Invariant: each line of the file is a line of the string,
//! empty if a directive or a skipped group stood there.

use super::scan::{Kind, Piece, Scanner};
use super::{FileJob, Job, directive};

/// Where in a line of such a string the reader is.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Nothing but blanks so far.
    start: bool,
    /// Start of the blanks that were read and not yet written.
    blanks: Option<usize>,
    /// Macros stay as they are.
    verbatim: bool,
}

const LINE: Line = Line { start: true, blanks: None, verbatim: false };

impl Job<'_> {
    /// Copies the string that `first` begins, up to its end.
    pub(super) fn long_string(&mut self, job: &mut FileJob, scanner: &mut Scanner<'_>, first: Piece) {
        let text = scanner.text(first);
        let end = first.start + text.find('\n').unwrap_or(text.len());
        scanner.return_to(end);
        self.string_text(job, first.start, &text[..end - first.start]);
        let mut line = LINE;
        while !self.stopped {
            let before = scanner.clone();
            let Some(piece) = scanner.next(false) else { break };
            let text = scanner.text(piece);
            if line.start && text.starts_with('#') {
                if directive::known(scanner.clone(), job.active()) {
                    self.directive(job, scanner, piece);
                    line.blanks = None;
                    continue;
                }
                *scanner = before;
                scanner.next(false);
            }
            let ended = if job.active() {
                self.string_piece(job, scanner, piece, &mut line)
            } else {
                line.start &= piece.kind == Kind::Space;
                self.skipped(job, piece, text, &mut line)
            };
            if ended {
                return;
            }
        }
    }

    /// One piece of the string's text; true if it ends there.
    fn string_piece(
        &mut self,
        job: &FileJob,
        scanner: &mut Scanner<'_>,
        piece: Piece,
        line: &mut Line,
    ) -> bool {
        let text = scanner.text(piece);
        match piece.kind {
            Kind::Newline => {
                *line = LINE;
                self.string_text(job, piece.start, text);
                return false;
            }
            Kind::Space if !text.starts_with('/') => {
                line.blanks.get_or_insert(piece.start);
                return false;
            }
            _ => self.write_blanks(job, scanner, piece.start, line),
        }
        match piece.kind {
            Kind::Ident if !line.verbatim && self.is_macro(text) => {
                self.expand_piece(job, scanner, piece, "");
                return false;
            }
            Kind::Space => {
                if let Some(quote) = closing_quote(text) {
                    scanner.return_to(piece.start + quote + 1);
                    self.string_text(job, piece.start, &text[..=quote]);
                    return true;
                }
            }
            _ => {}
        }
        self.string_text(job, piece.start, text);
        match text {
            "\"" => return true,
            "'" => line.verbatim = !line.verbatim,
            "\\" => self.escaped(job, scanner, line),
            _ => {}
        }
        false
    }

    /// What a backslash stands before.
    fn escaped(&mut self, job: &FileJob, scanner: &mut Scanner<'_>, line: &mut Line) {
        let before = scanner.clone();
        let Some(next) = scanner.next(false) else { return };
        match scanner.text(next) {
            text @ ("\"" | "\\" | "'") => {
                line.verbatim |= text != "\\";
                self.string_text(job, next.start, text);
            }
            _ => *scanner = before,
        }
    }

    /// The ends of lines that a group skips.
    fn skipped(&mut self, job: &FileJob, piece: Piece, text: &str, line: &mut Line) -> bool {
        for (at, end) in text.match_indices('\n') {
            *line = LINE;
            self.string_text(job, piece.start + at, end);
        }
        false
    }

    /// The blanks before `end`: as many as there are at the start of a line, one elsewhere.
    fn write_blanks(&mut self, job: &FileJob, scanner: &Scanner<'_>, end: usize, line: &mut Line) {
        let start = line.blanks.take();
        let at_start = std::mem::replace(&mut line.start, false);
        let Some(start) = start else { return };
        let blanks = scanner.text(Piece { kind: Kind::Space, start, end });
        match (at_start, line.verbatim) {
            (true, _) => self.string_text(job, start, &" ".repeat(blanks.len())),
            (false, true) => self.string_text(job, start, blanks),
            (false, false) => self.string_text(job, start, " "),
        }
    }

    fn string_text(&mut self, job: &FileJob, start: usize, text: &str) {
        let end = start + text.len();
        if self.out.text.len() + text.len() > self.limit_bytes() as usize {
            return self.too_large(job.index, start, end);
        }
        self.out.copy(job.index, Piece { kind: Kind::Str, start, end }, text);
    }
}

/// Offset of the first quote that no backslash stands before.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}
