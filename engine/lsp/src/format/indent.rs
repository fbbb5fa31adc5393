//! Where a line begins.

use super::lex::{Kind, Piece};
use super::space::ends_value;

/// Columns of a level.
const STEP: usize = 4;

/// An open bracket.
#[derive(Clone, Copy, Debug)]
struct Open {
    is_brace: bool,
    /// Where the lines inside begin.
    inside: usize,
    /// Where a line that closes it begins.
    close: usize,
    /// Where the statement around it begins.
    base: usize,
}

/// What is open, line by line.
#[derive(Clone, Debug, Default)]
struct State {
    open: Vec<Open>,
    /// Where the statement began that the current line is in.
    base: usize,
    /// The statement goes on in the next line.
    continues: bool,
    /// The last token ends a value.
    value: bool,
    angles: u32,
}

/// The indentation of a text.
#[derive(Debug, Default)]
pub struct Indent {
    now: State,
    /// What was open where each `#if` that is open stands.
    conditionals: Vec<State>,
}

impl Indent {
    /// Lists of types that are open.
    pub fn in_angles(&self) -> u32 {
        self.now.angles
    }

    /// Whether the line before ends with a value that the next may go on from.
    pub fn behind_value(&self) -> bool {
        let in_brackets = self.now.open.last().is_some_and(|open| !open.is_brace);
        self.now.value && (self.now.continues || in_brackets)
    }

    /// Notes how many are open at the end of a line.
    pub fn set_angles(&mut self, angles: u32) {
        self.now.angles = angles;
    }

    /// A directive: each branch of a conditional begins where the first did.
    pub fn directive(&mut self, text: &str) {
        let word = text.trim_start_matches('#').trim_start();
        if word.starts_with("if") {
            self.conditionals.push(self.now.clone());
        } else if word.starts_with("el") {
            if let Some(before) = self.conditionals.last() {
                self.now = before.clone();
            }
        } else if word.starts_with("endif") {
            self.conditionals.pop();
        }
    }

    /// The column at which a line begins.
    pub fn before(&mut self, line: &[Piece<'_>]) -> usize {
        let closes = line.first().is_some_and(|first| matches!(first.text, ")" | "]" | "}"));
        let column = match self.now.open.last() {
            Some(open) if closes => open.close,
            Some(open) if !open.is_brace => open.inside,
            open => {
                let inside = open.map_or(0, |open| open.inside);
                let opens = line.first().is_some_and(|first| first.text == "{");
                if self.now.continues && !opens { inside + STEP } else { inside }
            }
        };
        let in_statement = self.now.open.last().is_some_and(|open| !open.is_brace) || self.now.continues;
        if !in_statement || closes {
            self.now.base = column;
        }
        if closes && let Some(open) = self.now.open.last() {
            self.now.base = open.base;
        }
        column
    }

    /// A piece that was written up to a column.
    pub fn piece(&mut self, piece: &Piece<'_>, next: Option<&Piece<'_>>, column: usize) {
        let base = self.now.base;
        match piece.text {
            "{" | "(" | "[" => {
                let in_brackets = self.now.open.last().is_some_and(|open| !open.is_brace);
                // A block is no part of an expression; a list of values is.
                let is_brace = piece.text == "{" && !in_brackets;
                let follows = next.is_some_and(|next| next.kind != Kind::LineComment && next.text != "{");
                let aligned = column + usize::from(piece.text == "{");
                let (inside, close) =
                    if follows && !is_brace { (aligned, column - 1) } else { (base + STEP, base) };
                self.now.open.push(Open { is_brace, inside, close, base });
            }
            ")" | "]" | "}" => {
                if let Some(open) = self.now.open.pop() {
                    self.now.base = open.base;
                }
            }
            _ => {}
        }
    }

    /// Whether the statement goes on behind a line.
    pub fn after(&mut self, line: &[Piece<'_>]) {
        let is_code = |piece: &&Piece<'_>| !matches!(piece.kind, Kind::LineComment | Kind::BlockComment);
        let Some(last) = line.iter().rev().find(is_code) else { return };
        let ended = matches!(last.text, ";" | "{" | "}" | "," | ":") || last.kind == Kind::Annotation;
        self.now.continues = !ended && !is_macro(line, last);
        self.now.value = ends_value(last);
    }
}

/// A macro that stands for statements: its name is in capitals, and nothing follows.
fn is_macro(line: &[Piece<'_>], last: &Piece<'_>) -> bool {
    let Some(first) = line.first() else { return false };
    let capitals = first.text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let called = line.get(1).is_some_and(|second| second.text == "(") && last.text == ")";
    capitals && first.kind == Kind::Word && (line.len() == 1 || called)
}
