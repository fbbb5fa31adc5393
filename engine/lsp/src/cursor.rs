//! What stands before the cursor: half a line is no syntax tree, so its tokens are read backwards.

use crate::names::{DefId, DefKind, Names, Ty};

/// A word, a number or one character of punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// As written.
    pub text: &'t str,
    /// First byte.
    pub start: usize,
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        self.text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    }
}

/// What the cursor is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Code.
    Code,
    /// A comment or a string.
    Text,
    /// A directive of the preprocessor, from this byte on.
    Directive(usize),
}

/// Where the line of a byte begins.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The tokens before a byte, and what the byte is in.
pub fn tokens(text: &str, end: usize) -> (Vec<Token<'_>>, Place) {
    let text = text.get(..end).unwrap_or(text);
    let bytes = text.as_bytes();
    let (mut found, mut at, mut at_line_start) = (Vec::new(), 0, true);
    while at < bytes.len() {
        let rest = &text[at..];
        let len = match bytes[at] {
            b'\n' => {
                at_line_start = true;
                at += 1;
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' if at_line_start => match directive(rest) {
                Some(len) => len,
                None => return (found, Place::Directive(at)),
            },
            b'/' if rest.starts_with("//") => match rest.find('\n') {
                Some(len) => len,
                None => return (found, Place::Text),
            },
            b'/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(len) => len + 4,
                None => return (found, Place::Text),
            },
            b'"' => match string(bytes, at) {
                Some(len) => len,
                None => return (found, Place::Text),
            },
            _ => {
                let word =
                    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                let len = if word > 0 { word } else { rest.chars().next().map_or(1, char::len_utf8) };
                found.push(Token { text: &rest[..len], start: at });
                len
            }
        };
        at_line_start = false;
        at += len;
    }
    (found, Place::Code)
}

/// Bytes of a directive up to the end of its last line.
fn directive(text: &str) -> Option<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    ends.into_iter().find(|at| !text[..*at].trim_end_matches('\r').ends_with('\\'))
}

fn string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(start + 1) {
        match byte {
            b'"' if !escaped => return Some(at + 1 - start),
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// A part of `a.b[0].c(x)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'t> {
    /// `.b`
    Member(&'t str),
    /// `[0]`
    Index,
    /// `(x)`
    Call,
}

/// A name and what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain<'t> {
    /// The first name.
    pub root: &'t str,
    /// What follows.
    pub steps: Vec<Step<'t>>,
}

/// The chain that the tokens end with.
pub fn chain<'t>(tokens: &[Token<'t>]) -> Option<Chain<'t>> {
    let mut steps = Vec::new();
    let mut left = tokens;
    loop {
        let (last, before) = left.split_last()?;
        match last.text {
            "]" | ")" => {
                steps.push(if last.text == "]" { Step::Index } else { Step::Call });
                left = &before[..opening(before)?];
            }
            _ if last.is_word() => match before.split_last() {
                Some((dot, before)) if dot.text == "." && !before.is_empty() => {
                    steps.push(Step::Member(last.text));
                    left = before;
                }
                _ => {
                    steps.reverse();
                    return Some(Chain { root: last.text, steps });
                }
            },
            _ => return None,
        }
    }
}

/// Position of the bracket that the one behind the tokens closes.
fn opening(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.text {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at),
            },
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The nearest bracket that is open at the end, with its position.
pub fn open_bracket<'t>(tokens: &[Token<'t>]) -> Option<(usize, &'t str)> {
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.text {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some((at, token.text)),
            },
            _ => {}
        }
    }
    None
}

/// Commas between an open bracket and the end, those in brackets inside it left out.
pub fn commas(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0u32;
    let mut count = 0;
    for token in tokens {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => count += 1,
            _ => {}
        }
    }
    count
}

/// The type of a chain at an offset of the program.
pub fn type_of(names: &Names, chain: &Chain<'_>, offset: u32) -> Ty {
    if chain.root == "error" {
        return Ty::TypeName(Box::new(Ty::Error));
    }
    let Some(root) = names.look_up(chain.root, offset).first().copied() else { return Ty::Unknown };
    let mut steps = chain.steps.iter().peekable();
    let mut ty = match steps.next_if(|step| **step == Step::Call) {
        Some(_) if names.def(root).kind.is_type() => Ty::Named(root, Vec::new()),
        Some(_) if names.def(root).kind == DefKind::Function => names.def(root).ty.clone(),
        Some(_) => Ty::Unknown,
        None => names.value_type(root),
    };
    while let Some(step) = steps.next() {
        ty = match step {
            Step::Member(name) if steps.next_if(|step| **step == Step::Call).is_some() => {
                names.call_type(&ty, name)
            }
            Step::Member(name) => names.member_type(&ty, name),
            Step::Index => match names.target(&ty) {
                Ty::Stack(elem, _) => (**elem).clone(),
                // An array of instances, or a slice.
                Ty::Named(..) => ty,
                _ => Ty::Unknown,
            },
            Step::Call => Ty::Unknown,
        };
    }
    ty
}

/// What may be called by a chain: functions of one name, a method, a constructor, an action, an `apply`.
pub fn callees(names: &Names, chain: &Chain<'_>, offset: u32) -> Vec<DefId> {
    let Some((Step::Member(last), before)) = chain.steps.split_last() else {
        let found = names.look_up(chain.root, offset);
        let made = found.first().map(|id| names.constructors(*id)).filter(|made| !made.is_empty());
        return if chain.steps.is_empty() { made.unwrap_or(found) } else { Vec::new() };
    };
    let base = type_of(names, &Chain { root: chain.root, steps: before.to_vec() }, offset);
    if let Some(member) = names.member(&base, last) {
        return names.same_name(member);
    }
    match (*last, names.target(&base)) {
        ("apply", Ty::Named(id, _)) => vec![*id],
        ("apply", Ty::TypeName(ty)) => match names.target(ty) {
            Ty::Named(id, _) => vec![*id],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_read_backwards() {
        let cases = [
            (
                "x = hdr.vlan[f(1, 2)].id",
                Some(("hdr", vec![Step::Member("vlan"), Step::Index, Step::Member("id")])),
            ),
            ("if (t.apply()", Some(("t", vec![Step::Member("apply"), Step::Call]))),
            ("a; b", Some(("b", vec![]))),
            ("(bit<8>) + ", None),
            ("1", None),
        ];
        for (text, expected) in cases {
            let found = chain(&tokens(text, text.len()).0);
            assert_eq!(found, expected.map(|(root, steps)| Chain { root, steps }), "{text}");
        }
    }

    #[test]
    fn comments_strings_and_directives_are_no_code() {
        let cases = [
            ("a // b", Place::Text),
            ("a /* b", Place::Text),
            ("a \"b", Place::Text),
            ("a\n#include <", Place::Directive(2)),
            ("#define A \\\n b\na", Place::Code),
        ];
        for (text, place) in cases {
            assert_eq!(tokens(text, text.len()).1, place, "{text}");
        }
    }
}
