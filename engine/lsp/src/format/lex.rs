//! A text in pieces: every token, comment and directive, and where lines end.

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, a number, a reserved word.
    Word,
    /// A string.
    Str,
    /// An operator, a bracket, a separator.
    Punct,
    /// `// ...`
    LineComment,
    /// `/* ... */`
    BlockComment,
    /// `@name(...)` with its parentheses: its text may reach the control plane.
    Annotation,
    /// `#...` with its continued lines.
    Directive,
    /// The end of a line.
    Newline,
}

/// A piece.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'t> {
    /// What it is.
    pub kind: Kind,
    /// As written.
    pub text: &'t str,
    /// Blanks stand before it.
    pub blank: bool,
}

/// Operators of more than one character, a longer one first. `>>` is two, since lists of types may end so.
const OPERATORS: [&str; 26] = [
    "|+|=", "|-|=", "<<=", "&&&", "|+|", "|-|", "...", "&&", "||", "==", "!=", "<=", ">=", "<<", "++", "..",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+:", "{#",
];

/// What some editors put before the first character; a directive behind it is not seen as one.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Longest text that is formatted.
const MAX_BYTES: usize = 16 << 20;

/// Takes a text apart.
///
/// # Errors
/// What cannot be told, with its line.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the text has more than {MAX_BYTES} bytes"));
    }
    if text.starts_with(BYTE_ORDER_MARK) {
        return Err("line 1: the file begins with a byte order mark; save it without one".to_owned());
    }
    let (mut found, mut at) = (Vec::new(), 0);
    let (mut blank, mut line_start) = (false, true);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let failed = |why: &str| Err(format!("line {}: {why}", text[..at].matches('\n').count() + 1));
        let (kind, len) = match rest.as_bytes()[0] {
            b'\n' => (Kind::Newline, 1),
            byte if byte.is_ascii_whitespace() => {
                blank = true;
                at += 1;
                continue;
            }
            b'#' if line_start => (Kind::Directive, directive(rest)),
            b'\\' => return failed("a line that is continued by a backslash is left as it is"),
            b'"' => match string(rest) {
                Some(len) => (Kind::Str, len),
                None => return failed("this string has no end"),
            },
            b'/' if rest.starts_with("//") => (Kind::LineComment, rest.find('\n').unwrap_or(rest.len())),
            b'/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(len) => (Kind::BlockComment, len + 4),
                None => return failed("this comment has no end"),
            },
            b'@' => (Kind::Annotation, annotation(rest)),
            _ => token(rest),
        };
        // What a directive continues to may be an empty line.
        let is_trimmed = matches!(kind, Kind::LineComment | Kind::Word);
        let piece = if is_trimmed { rest[..len].trim_end() } else { &rest[..len] };
        found.push(Piece { kind, text: piece, blank });
        line_start = kind == Kind::Newline;
        blank = false;
        at += len;
    }
    Ok(found)
}

fn token(rest: &str) -> (Kind, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    if word > 0 {
        return (Kind::Word, word);
    }
    let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
    (
        Kind::Punct,
        operator.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |operator| operator.len()),
    )
}

/// Up to the end of its last line, which stays outside. A comment that begins in it belongs to it as a whole.
fn directive(text: &str) -> usize {
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let line = rest.find('\n').unwrap_or(rest.len());
        at += match first {
            '\n' if !text[..at].trim_end_matches('\r').ends_with('\\') => return at,
            '"' => string(rest).filter(|len| *len <= line).unwrap_or(1),
            '/' if rest.starts_with("//") => line,
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |len| len + 4),
            other => other.len_utf8(),
        };
    }
    text.len()
}

fn string(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return Some(at + 1),
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// `@name` with the brackets that follow.
fn annotation(text: &str) -> usize {
    let name = 1 + text[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let open = name + text[name..].len() - text[name..].trim_start_matches([' ', '\t']).len();
    if !text[open..].starts_with(['(', '[']) {
        return name;
    }
    let (mut at, mut depth) = (open, 0u32);
    while at < text.len() {
        match text.as_bytes()[at] {
            b'"' => match string(&text[at..]) {
                Some(len) => {
                    at += len;
                    continue;
                }
                None => return name,
            },
            b'(' | b'[' => depth += 1,
            b')' | b']' if depth <= 1 => return at + 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    name
}
