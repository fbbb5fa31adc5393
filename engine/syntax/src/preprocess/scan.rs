//! Preprocessing tokens of one file, whose continued lines are joined already.
//!
//! They are those of GNU cpp for assembler sources, which is how p4c calls it: no digraphs, no raw strings,
//! no prefixes of strings, and a quote without its partner takes the rest of its line.
//!
//! Invariant: the tokens tile the text: each starts where the one before ended, on character boundaries.

/// What a preprocessing token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Blanks.
    Blank,
    /// A comment.
    Comment,
    /// End of line.
    Newline,
    /// Identifier or keyword.
    Ident,
    /// What begins like a number, in C's wide sense: `8w1`, `1.x`, `0xe+A`.
    Number,
    /// String literal with its quotes, on one line.
    Str,
    /// Character constant with its quotes, on one line.
    Char,
    /// `<name>` where a file is named.
    Header,
    /// An operator or separator of C.
    Punct,
    /// A character that C does not know, or a quote without its partner and the rest of the line.
    Other,
    /// Nothing: a place that may need a blank, with the white space of the token that it stands for.
    Pad(Option<bool>),
    /// The end of what is read.
    End,
}

/// A preprocessing token as a byte range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Cuts a text into pieces.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Start of a comment that the end of the text cut off.
    pub(super) unclosed: Option<Piece>,
    /// `<` begins the name of a file.
    pub(super) angled: bool,
}

/// Operators of more than one character, a longer one before those that it starts with.
const LONG_MARKS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=",
];

const SHORT_MARKS: &[u8] = b"()[]{}<>+-*/%&|^!~=?:;,.#";

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, unclosed: None, angled: false }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Continues at an offset that was passed already.
    pub(super) fn return_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn text(&self, piece: Piece) -> &'t str {
        &self.text[piece.start..piece.end]
    }

    pub(super) fn next(&mut self) -> Option<Piece> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let first = *bytes.get(start)?;
        let second = bytes.get(start + 1).copied().unwrap_or_default();
        let (kind, end) = match first {
            b'\n' => (Kind::Newline, start + 1),
            _ if is_blank(first) => {
                (Kind::Blank, start + bytes[start..].iter().take_while(|byte| is_blank(**byte)).count())
            }
            b'/' if second == b'/' => (Kind::Comment, self.line_end(start)),
            b'/' if second == b'*' => (Kind::Comment, self.comment_end(start)),
            b'"' => self.quoted(start, start, Kind::Str),
            b'\'' => self.quoted(start, start, Kind::Char),
            // Wide ones belong to C in every language.
            b'L' if second == b'"' => self.quoted(start, start + 1, Kind::Str),
            b'L' if second == b'\'' => self.quoted(start, start + 1, Kind::Char),
            b'<' if self.angled && self.header_end(start).is_some() => {
                (Kind::Header, self.header_end(start).unwrap_or(start + 1))
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => (Kind::Ident, self.word_end(start)),
            b'0'..=b'9' => (Kind::Number, self.number_end(start)),
            b'.' if second.is_ascii_digit() => (Kind::Number, self.number_end(start)),
            b'#' if second == b'#' => (Kind::Punct, start + 2),
            _ if SHORT_MARKS.contains(&first) => {
                let rest = &self.text[start..];
                let len =
                    LONG_MARKS.iter().find(|mark| rest.starts_with(**mark)).map_or(1, |mark| mark.len());
                (Kind::Punct, start + len)
            }
            _ => (Kind::Other, start + self.text[start..].chars().next().map_or(1, char::len_utf8)),
        };
        self.at = end;
        Some(Piece { kind, start, end })
    }

    /// End of the line's text; a carriage return before its end is not part of it.
    fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |len| at + len);
        if self.text[at..end].ends_with('\r') { end - 1 } else { end }
    }

    fn comment_end(&mut self, at: usize) -> usize {
        match self.text[at + 2..].find("*/") {
            Some(len) => at + 2 + len + 2,
            None => {
                self.unclosed = Some(Piece { kind: Kind::Comment, start: at, end: at + 2 });
                self.text.len()
            }
        }
    }

    /// A literal, to its closing quote; without one, to the end of the line. A line may be long and full of
    /// literals: the end is looked for once.
    fn quoted(&self, start: usize, at: usize, kind: Kind) -> (Kind, usize) {
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        for (offset, byte) in bytes.iter().enumerate().skip(at + 1) {
            match byte {
                b'\n' => break,
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if *byte == bytes[at] => return (kind, offset + 1),
                _ => {}
            }
        }
        (Kind::Other, self.line_end(start))
    }

    fn header_end(&self, at: usize) -> Option<usize> {
        self.text[at..self.line_end(at)].find('>').map(|len| at + len + 1)
    }

    fn word_end(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        at + rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    }

    /// Letters, digits, points, and signs behind the letter of an exponent.
    fn number_end(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = at + 1;
        while let Some(byte) = bytes.get(end) {
            let signed = matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E' | b'p' | b'P');
            if !signed && !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'.') {
                break;
            }
            end += 1;
        }
        end
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}
