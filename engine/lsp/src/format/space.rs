//! Blanks between two tokens of a line.
//!
//! Without a syntax tree a cast is told from a condition in parentheses, and a list of types from a
//! comparison, by what stands around; where that does not tell, the author's blank stays.

use super::lex::{Kind, Piece};

/// Words before a parenthesis that are no calls.
const BEFORE_PARENTHESIS: [&str; 8] = ["if", "for", "switch", "while", "return", "else", "in", "transition"];
/// Words before `<` that begin a type.
const TYPES: [&str; 6] = ["bit", "int", "varbit", "tuple", "list", "value_set"];
/// Words after which an operator has one side only.
const BEFORE_UNARY: [&str; 4] = ["return", "in", "else", "transition"];

/// What the tokens of a line up to here tell of those behind.
pub struct Spaces<'l, 't> {
    line: &'l [Piece<'t>],
    /// Lists of types that are open.
    angles: u32,
    /// Of each token so far, whether it is the `<` or `>` of a list of types.
    is_angle: Vec<bool>,
    /// Of each open bracket its character, and how many `?` wait for their `:`.
    open: Vec<(char, u32)>,
    /// The last `:` belongs to a `?`.
    ternary: bool,
    behind_value: bool,
}

impl<'l, 't> Spaces<'l, 't> {
    /// At the first token of a line, inside so many lists of types; `behind_value` tells whether the line
    /// before ends with a value that this one may continue.
    pub fn new(line: &'l [Piece<'t>], angles: u32, behind_value: bool) -> Self {
        let open = vec![('\n', 0)];
        let mut spaces = Self { line, angles, is_angle: Vec::new(), open, ternary: false, behind_value };
        spaces.pass(0);
        spaces
    }

    /// Lists of types that are open at the end.
    pub fn angles(&self) -> u32 {
        self.angles
    }

    /// Whether a blank belongs before the token at a position, which is not the first. Tokens are asked about
    /// in order.
    pub fn between(&mut self, at: usize) -> bool {
        let space = self.wanted(at);
        self.pass(at);
        space
    }

    fn wanted(&self, at: usize) -> bool {
        let (before, this) = (&self.line[at - 1], &self.line[at]);
        if matches!(this.kind, Kind::LineComment | Kind::BlockComment | Kind::Annotation) {
            return !matches!(before.text, "(" | "[");
        }
        if matches!(before.kind, Kind::BlockComment | Kind::Annotation) {
            return !matches!(this.text, ")" | "]" | ";" | ",");
        }
        match (before.text, this.text) {
            (_, ";" | "," | ")" | "]") | ("(" | "[" | "{#", _) | ("{", "}") => false,
            (_, "{" | "}") | ("{" | "}" | ";" | ",", _) => true,
            (".", _) => false,
            (_, "." | "[") => !self.ends_value(at - 1),
            (_, "<") if self.opens_types(at) => false,
            ("<", _) if self.is_angle[at - 1] => false,
            (_, ">") if self.angles > 0 => false,
            (">", next) if self.is_angle[at - 1] => !matches!(next, "(" | ">"),
            // `>>` and `>>=` are two tokens here.
            (">", ">" | ">=") => this.blank,
            (_, ":") => self.waits_for_colon(),
            (":", _) => self.ternary || self.open.last().is_none_or(|(open, _)| *open != '['),
            (_, "+:") | ("+:", _) => false,
            (_, "(") => self.before_parenthesis(at),
            (")", _) if this.kind != Kind::Punct => this.blank,
            (")", "-" | "+" | "~" | "!") => this.blank,
            ("-" | "+", _) if at >= 2 && self.line[at - 2].text == ")" => this.blank,
            _ => !self.is_unary(at - 1),
        }
    }

    fn before_parenthesis(&self, at: usize) -> bool {
        let (before, this) = (&self.line[at - 1], &self.line[at]);
        match before.kind {
            Kind::Word => BEFORE_PARENTHESIS.contains(&before.text),
            _ if matches!(before.text, ")" | "]") => this.blank,
            _ => !self.is_unary(at - 1),
        }
    }

    /// Notes what a token opens and closes.
    fn pass(&mut self, at: usize) {
        let text = self.line[at].text;
        let angle = match text {
            "<" => self.opens_types(at),
            ">" => self.angles > 0,
            _ => false,
        };
        self.is_angle.push(angle);
        match text {
            "<" if angle => self.angles += 1,
            ">" if angle => self.angles -= 1,
            ";" => self.angles = 0,
            "(" | "[" | "{" => self.open.push((text.chars().next().unwrap_or('('), 0)),
            ")" | "]" | "}" if self.open.len() > 1 => drop(self.open.pop()),
            _ => {}
        }
        self.ternary = text == ":" && self.waits_for_colon();
        if let Some((_, waiting)) = self.open.last_mut() {
            match text {
                "?" => *waiting += 1,
                ":" => *waiting = waiting.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn waits_for_colon(&self) -> bool {
        self.open.last().is_some_and(|(_, waiting)| *waiting > 0)
    }

    /// Whether the `<` at a position begins a list of types.
    fn opens_types(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| &self.line[before]) else { return false };
        if self.line[at].text != "<" || before.kind != Kind::Word {
            return false;
        }
        let is_name = before.text.starts_with(|first: char| first.is_alphabetic() || first == '_');
        TYPES.contains(&before.text) || (is_name && !self.line[at].blank && self.types_follow(at))
    }

    /// Whether nothing but types stands up to the `>` that closes the `<` at a position.
    fn types_follow(&self, at: usize) -> bool {
        let mut depth = 0u32;
        for piece in &self.line[at..] {
            match piece.text {
                "<" => depth += 1,
                ">" => {
                    depth -= 1;
                    if depth == 0 {
                        return true;
                    }
                }
                "," | "." | "[" | "]" => {}
                _ if piece.kind == Kind::Word => {}
                _ => return false,
            }
        }
        false
    }

    /// Whether the token at a position ends a value.
    fn ends_value(&self, at: usize) -> bool {
        ends_value(&self.line[at]) || self.is_angle[at]
    }

    /// Whether the operator at a position stands before its only side.
    fn is_unary(&self, at: usize) -> bool {
        let behind_value = if at > 0 { self.ends_value(at - 1) } else { self.behind_value };
        matches!(self.line[at].text, "-" | "+" | "!" | "~") && !behind_value
    }
}

/// Whether a token ends a value, wherever it stands.
pub fn ends_value(piece: &Piece<'_>) -> bool {
    let is_word = piece.kind == Kind::Word && !BEFORE_UNARY.contains(&piece.text);
    is_word || piece.kind == Kind::Str || matches!(piece.text, ")" | "]" | "}")
}
