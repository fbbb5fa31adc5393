//! Tokens during expansion, and the blanks between them in the text that they become.
//!
//! Spacing follows GNU cpp ("The GNU C Preprocessor Internals", Token Spacing): a blank is written where one
//! was, at the place of a macro or an argument, or where two tokens would be read as one.

use super::scan::{Kind, Piece, Scanner};
use std::rc::Rc;

/// No place in the file that is read.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A token during expansion.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: Rc<str>,
    /// White space is before it.
    pub(super) space: bool,
    /// The name of a macro that was read inside that macro: it stays as it is for ever.
    pub(super) settled: bool,
    /// Offset in the file of the token, or of the macro that it came out of.
    pub(super) at: u32,
}

impl Token {
    pub(super) fn new(kind: Kind, text: &str, space: bool) -> Self {
        Self { kind, text: Rc::from(text), space, settled: false, at: NOWHERE }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.kind == Kind::Punct && &*self.text == text
    }

    pub(super) fn is_name(&self, text: &str) -> bool {
        self.kind == Kind::Ident && &*self.text == text
    }

    pub(super) fn is_pad(&self) -> bool {
        matches!(self.kind, Kind::Pad(_))
    }
}

/// Tokens of a text without its white space and comments.
pub(super) fn tokens_of(text: &str) -> Vec<Token> {
    let mut scanner = Scanner::new(text);
    let mut tokens = Vec::new();
    let mut space = false;
    while let Some(piece) = scanner.next() {
        match piece.kind {
            Kind::Blank | Kind::Comment | Kind::Newline => space = true,
            kind => {
                tokens.push(Token::new(kind, scanner.text(piece), space));
                space = false;
            }
        }
    }
    tokens
}

/// As much of a token as decides whether the next one would grow together with it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Edge {
    kind: Option<Kind>,
    mark: [u8; 3],
}

impl Edge {
    pub(super) fn of(kind: Kind, text: &str) -> Self {
        let mut mark = [0; 3];
        if matches!(kind, Kind::Punct | Kind::Other) {
            for (to, from) in mark.iter_mut().zip(text.bytes()) {
                *to = from;
            }
        }
        Self { kind: Some(kind), mark }
    }

    fn mark(&self) -> &[u8] {
        let len = self.mark.iter().position(|byte| *byte == 0).unwrap_or(self.mark.len());
        &self.mark[..len]
    }

    /// Whether C would read the two as one token, or as the beginning of another.
    fn grows_with(&self, kind: Kind, text: &str) -> bool {
        let Some(before) = self.kind else { return false };
        let first = if kind == Kind::Punct { text.bytes().next().unwrap_or_default() } else { 0 };
        match before {
            Kind::Ident => {
                matches!(kind, Kind::Ident | Kind::Char | Kind::Str)
                    || (kind == Kind::Number && text.bytes().all(continues_name))
            }
            Kind::Number => {
                matches!(kind, Kind::Number | Kind::Ident | Kind::Char) || matches!(first, b'.' | b'+' | b'-')
            }
            Kind::Other => self.mark[0] == b'\\' && kind == Kind::Ident,
            Kind::Punct => match self.mark() {
                b"=" | b"!" | b"*" | b"^" | b"<<" | b">>" => first == b'=',
                b">" | b"&" | b"|" | b"+" => first == b'=' || first == self.mark[0],
                b"<" => matches!(first, b'=' | b'<' | b'%' | b':'),
                b"-" => matches!(first, b'=' | b'-' | b'>'),
                b"/" => matches!(first, b'=' | b'/' | b'*'),
                b"%" => matches!(first, b'=' | b':' | b'%'),
                b":" => matches!(first, b':' | b'>'),
                b"->" => first == b'*',
                b"." => matches!(first, b'.' | b'%') || kind == Kind::Number,
                b"#" => matches!(first, b'#' | b'%'),
                b"<=" => first == b'>',
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether a byte of a number may be one of a name.
fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// Decides on blanks between the tokens of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spacing {
    /// The next token needs a blank if it would grow together with the last one.
    padded: bool,
    /// White space before the macro or argument that the next token comes from.
    source: Option<bool>,
    last: Edge,
}

impl Spacing {
    /// A place that may need a blank.
    pub(super) fn pad(&mut self, source: Option<bool>) {
        self.padded = true;
        if self.source.is_none() || (self.source == Some(false) && source.is_none()) {
            self.source = source;
        }
    }

    /// Takes the next token; true if a blank is before it.
    pub(super) fn next(&mut self, kind: Kind, text: &str, space: bool) -> bool {
        let blank = if self.padded {
            self.source.unwrap_or(space) || self.last.grows_with(kind, text)
        } else {
            space
        };
        *self = Self { padded: false, source: None, last: Edge::of(kind, text) };
        blank
    }
}

/// Text of tokens with the white space that was before each.
pub(super) fn spelled(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && token.space {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

/// The token that two make, or `None` if they are not one token.
pub(super) fn pasted(left: &Token, right: &Token) -> Option<Token> {
    let text = format!("{}{}", left.text, right.text);
    let mut scanner = Scanner::new(&text);
    let Piece { kind, end, .. } = scanner.next()?;
    let one = end == text.len() && !matches!(kind, Kind::Blank | Kind::Newline | Kind::Comment);
    one.then(|| Token { at: left.at, ..Token::new(kind, &text, left.space) })
}

/// The string that `#` makes of an argument.
pub(super) fn stringized(arg: &[Token], space: bool) -> Token {
    let mut text = String::from("\"");
    let mut source: Option<bool> = None;
    let mut backslashes = 0;
    for token in arg {
        if let Kind::Pad(of) = token.kind {
            if source.is_none() || (source == Some(false) && of.is_none()) {
                source = of;
            }
            continue;
        }
        if text.len() > 1 && source.unwrap_or(token.space) {
            text.push(' ');
        }
        source = None;
        if matches!(token.kind, Kind::Str | Kind::Char) {
            text.push_str(&token.text.replace('\\', "\\\\").replace('"', "\\\""));
        } else {
            text.push_str(&token.text);
        }
        backslashes = if token.kind == Kind::Other && &*token.text == "\\" { backslashes + 1 } else { 0 };
    }
    if backslashes % 2 == 1 {
        // It would hide the closing quote.
        text.pop();
    }
    text.push('"');
    Token::new(Kind::Str, &text, space)
}
