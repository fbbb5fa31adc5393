//! Preprocessed text to tokens.
//!
//! Invariants: the last token is [`Tok::Eof`]; tokens do not overlap and are in order; `>` is always a token
//! of its own (two of them close two type-argument lists, so the parser joins `>>` where it wants a shift);
//! the words `actions`, `apply`, `entries`, `key`, `list`, `priority`, `state` and `type` are identifiers,
//! since the grammar reserves them by place only.

use crate::diag::Diagnostic;
use crate::span::Span;
use p4cc_budget::{Budget, Resource};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) span: Span,
    /// A line ended since the token before (a `@pragma` ends there).
    pub(crate) new_line: bool,
}

macro_rules! tokens {
    (words { $($word:ident $wtext:literal,)* } marks { $($mark:ident $mtext:literal,)* }) => {
        /// Kinds of token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Tok {
            /// Name, of a type or not.
            Ident,
            /// Integer literal.
            Int,
            /// String literal.
            Str,
            /// A character that starts no token.
            Unknown,
            /// End of input.
            Eof,
            $(#[doc = $wtext] $word,)*
            $(#[doc = $mtext] $mark,)*
        }

        impl Tok {
            /// How diagnostics call it.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    Tok::Ident => "a name",
                    Tok::Int => "an integer",
                    Tok::Str => "a string",
                    Tok::Unknown => "an unknown character",
                    Tok::Eof => "the end of the program",
                    $(Tok::$word => concat!("`", $wtext, "`"),)*
                    $(Tok::$mark => concat!("`", $mtext, "`"),)*
                }
            }

            /// It is a reserved word.
            pub(crate) fn is_keyword(self) -> bool {
                matches!(self, $(Tok::$word)|*)
            }
        }

        fn keyword(word: &str) -> Option<Tok> {
            match word {
                $($wtext => Some(Tok::$word),)*
                _ => None,
            }
        }

        /// Marks, a longer one before those that it starts with.
        const MARKS: &[(&str, Tok)] = &[$(($mtext, Tok::$mark),)*];
    };
}

tokens! {
    words {
        Abstract "abstract", Action "action", Bit "bit", Bool "bool", Break "break", Const "const",
        Continue "continue", Control "control", Default "default", Else "else", Enum "enum", Error "error",
        Exit "exit", Extern "extern", False "false", For "for", Header "header", HeaderUnion "header_union",
        If "if", In "in", InOut "inout", IntType "int", MatchKind "match_kind", Out "out", Package "package",
        Parser "parser", Return "return", Select "select", StringType "string", Struct "struct",
        Switch "switch", Table "table", This "this", Transition "transition", True "true", Tuple "tuple",
        Typedef "typedef", ValueSet "value_set", Varbit "varbit", Void "void", DontCare "_",
    }
    marks {
        AddSatAssign "|+|=", SubSatAssign "|-|=",
        AddSat "|+|", SubSat "|-|", Mask "&&&", Dots "...", InvalidHeader "{#}", ShlAssign "<<=",
        AndAnd "&&", OrOr "||", EqEq "==", NotEq "!=", Le "<=", Ge ">=", PlusPlus "++", Shl "<<",
        PlusAssign "+=", MinusAssign "-=", StarAssign "*=", SlashAssign "/=", PercentAssign "%=",
        AndAssign "&=", OrAssign "|=", XorAssign "^=", DotDot "..", PlusColon "+:",
        Plus "+", Minus "-", Star "*", Slash "/", Percent "%", And "&", Or "|", Xor "^", Tilde "~", Not "!",
        Lt "<", Gt ">", Assign "=", LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
        Colon ":", Comma ",", Question "?", Dot ".", Semi ";", At "@",
    }
}

/// Cuts `text` into tokens, each of which is charged: a tree takes some hundred bytes for it.
pub(crate) fn lex(text: &str, budget: &Budget) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), diags: Vec::new(), budget };
    lexer.run();
    (lexer.tokens, lexer.diags)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    diags: Vec<Diagnostic>,
    budget: &'t Budget,
}

impl Lexer<'_> {
    fn run(&mut self) {
        let mut new_line = true;
        while let Some(first) = self.text.as_bytes().get(self.at).copied() {
            let start = self.at;
            if first.is_ascii_whitespace() || first == 0x0b {
                new_line |= first == b'\n';
                self.at += 1;
                continue;
            }
            if let Err(overrun) = self.budget.charge(Resource::Tokens, 1) {
                let length = self.text[start..].chars().next().map_or(1, char::len_utf8);
                self.diags
                    .push(Diagnostic::over_budget(Span::new(start as u32, (start + length) as u32), overrun));
                // What half a program would be told hides this.
                self.tokens.clear();
                break;
            }
            let tok = match first {
                b'"' => self.string(),
                b'0'..=b'9' => self.number(),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                    self.at += self.word_len(self.at);
                    keyword(&self.text[start..self.at]).unwrap_or(Tok::Ident)
                }
                _ => self.mark(),
            };
            let span = Span::new(start as u32, self.at as u32);
            self.tokens.push(Token { tok, span, new_line });
            new_line = false;
        }
        let end = self.text.len() as u32;
        self.tokens.push(Token { tok: Tok::Eof, span: Span::new(end, end), new_line: true });
    }

    fn word_len(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    }

    fn error(&mut self, start: usize, message: impl Into<String>, help: &str) {
        let span = Span::new(start as u32, self.at as u32);
        self.diags.push(Diagnostic::error(span, message).with_help(help));
    }

    fn mark(&mut self) -> Tok {
        let rest = &self.text[self.at..];
        let first = rest.as_bytes().first();
        let fits = |text: &str| text.as_bytes().first() == first && rest.starts_with(text);
        if let Some((text, tok)) = MARKS.iter().find(|(text, _)| fits(text)) {
            self.at += text.len();
            return *tok;
        }
        // The parser reports it: inside an annotation it is welcome.
        self.at += rest.chars().next().map_or(1, char::len_utf8);
        Tok::Unknown
    }

    /// A string runs to the first quote after an even number of backslashes,
    /// over line ends if need be (spec of the language, 6.4.3.3).
    fn string(&mut self) -> Tok {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.text.bytes().enumerate().skip(start + 1) {
            match byte {
                b'"' if !escaped => {
                    self.at = offset + 1;
                    return Tok::Str;
                }
                b'\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        self.at = start + 1;
        self.error(start, "unterminated string", "add `\"`");
        self.at = self.text.len();
        Tok::Str
    }

    fn number(&mut self) -> Tok {
        let start = self.at;
        self.at += self.word_len(start);
        let digits = self.text.as_bytes()[start..self.at].iter().all(u8::is_ascii_digit);
        let rest = &self.text.as_bytes()[self.at..];
        if digits && rest.first() == Some(&b'.') && rest.get(1).is_some_and(u8::is_ascii_digit) {
            self.at += 1 + self.word_len(self.at + 1);
            let message = format!(
                "`{}` is a floating-point number, which P4 does not support",
                &self.text[start..self.at]
            );
            self.error(start, message, "use integers: count in a smaller unit, or multiply before dividing");
            return Tok::Int;
        }
        if let Err(cause) = split_number(&self.text[start..self.at]) {
            let help = "write 255, 0xFF, 0o377, 0b1111_1111, 8w255 or 8s0x7F";
            self.error(start, format!("`{}` is not an integer: {cause}", &self.text[start..self.at]), help);
        }
        Tok::Int
    }
}

/// Parts of an integer literal: digits without underscores, base, width and signedness.
pub(crate) type NumberParts = (String, u32, Option<(u32, bool)>);

/// Takes an integer literal apart.
pub(crate) fn split_number(word: &str) -> Result<NumberParts, &'static str> {
    let prefix = word.bytes().take_while(u8::is_ascii_digit).count();
    let (width, rest) = match word.as_bytes().get(prefix) {
        Some(sign @ (b'w' | b's')) => {
            let width: u32 = word[..prefix].parse().map_err(|_| "the width is too large")?;
            (Some((width, *sign == b's')), &word[prefix + 1..])
        }
        _ => (None, word),
    };
    let bytes = rest.as_bytes();
    let (base, digits) = match (bytes.first(), bytes.get(1).map(u8::to_ascii_lowercase)) {
        (Some(b'0'), Some(b'x')) => (16, &rest[2..]),
        (Some(b'0'), Some(b'o')) => (8, &rest[2..]),
        (Some(b'0'), Some(b'd')) => (10, &rest[2..]),
        (Some(b'0'), Some(b'b')) => (2, &rest[2..]),
        (Some(b'_'), _) => return Err("it starts with an underscore"),
        _ => (10, rest),
    };
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    if digits.is_empty() {
        return Err("it has no digits");
    }
    if !digits.chars().all(|c| c.is_digit(base)) {
        return Err("it has characters that are not digits of its base");
    }
    Ok((digits, base, width))
}

/// The tokens of a preprocessed text as written, for comparisons with other preprocessors.
pub fn tokens(text: &str) -> Vec<&str> {
    let (tokens, _) = lex(text, &Budget::default());
    tokens
        .iter()
        .filter(|token| token.tok != Tok::Eof)
        .filter_map(|token| text.get(token.span.start as usize..token.span.end as usize))
        .collect()
}
