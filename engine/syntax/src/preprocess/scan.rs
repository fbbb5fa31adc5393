//! Preprocessing tokens of one file, whose continued lines are joined already.
//!
//! Invariant: the tokens tile the text: each starts where the one before ended, on character boundaries.

/// What a preprocessing token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Blanks and comments.
    Space,
    /// End of line.
    Newline,
    /// Identifier or keyword.
    Ident,
    /// Digit followed by letters, digits and underscores.
    Number,
    /// String literal with its quotes.
    Str,
    /// One other character, or `##`.
    Punct,
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
    /// A string had no end. Then no later one has, since an end of the
    /// later would have been one of the earlier; so none is searched again.
    open_string: bool,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, unclosed: None, open_string: false }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes on at an offset that was passed already.
    pub(super) fn return_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn text(&self, piece: Piece) -> &'t str {
        &self.text[piece.start..piece.end]
    }

    /// Next piece. Without `strings` (in a skipped group, where an
    /// apostrophe or lone quote is ordinary text) a quote is one character.
    pub(super) fn next(&mut self, strings: bool) -> Option<Piece> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let first = *bytes.get(start)?;
        let (kind, end) = match first {
            b'\n' => (Kind::Newline, start + 1),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => (Kind::Space, start + 1),
            b'/' if bytes.get(start + 1) == Some(&b'/') => (Kind::Space, self.line_end(start)),
            b'/' if bytes.get(start + 1) == Some(&b'*') => (Kind::Space, self.comment_end(start)),
            b'"' if strings => (Kind::Str, self.string_end(start)),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => (Kind::Ident, self.word_end(start)),
            b'0'..=b'9' => (Kind::Number, self.word_end(start)),
            b'#' if bytes.get(start + 1) == Some(&b'#') => (Kind::Punct, start + 2),
            _ => (Kind::Punct, start + self.text[start..].chars().next().map_or(1, char::len_utf8)),
        };
        self.at = end;
        Some(Piece { kind, start, end })
    }

    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |len| at + len)
    }

    fn comment_end(&mut self, at: usize) -> usize {
        match self.text[at + 2..].find("*/") {
            Some(len) => at + 2 + len + 2,
            None => {
                self.unclosed = Some(Piece { kind: Kind::Space, start: at, end: at + 2 });
                self.text.len()
            }
        }
    }

    /// A string without an end, which the lexer reports, is taken to end with its line.
    fn string_end(&mut self, at: usize) -> usize {
        let mut escaped = false;
        for (offset, byte) in self.text.bytes().enumerate().skip(at + 1).take_while(|_| !self.open_string) {
            match byte {
                b'"' if !escaped => return offset + 1,
                b'\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        self.open_string = true;
        self.line_end(at)
    }

    fn word_end(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        at + rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    }
}
