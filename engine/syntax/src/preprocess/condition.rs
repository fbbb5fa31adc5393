//! Integer expressions of `#if` and `#elif`, macros already expanded.

use super::macros::Token;
use super::scan::Kind;

/// Parentheses and operators inside one another.
const MAX_DEPTH: u32 = 100;

/// Value of a condition, or what is wrong with it.
pub(super) fn evaluate(tokens: &[Token]) -> Result<i128, String> {
    let mut reader = Reader { tokens: split_operators(tokens), at: 0, depth: 0 };
    let value = reader.conditional()?;
    match reader.tokens.get(reader.at) {
        None => Ok(value),
        Some(extra) => Err(format!("`{extra}` was not expected here")),
    }
}

/// Two-character operators, joined from the one-character pieces of the scanner.
fn split_operators(tokens: &[Token]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut glue = false;
    for token in tokens {
        if glue
            && !token.space
            && let Some(last) = words.last_mut()
            && matches!(
                (last.as_str(), &*token.text),
                ("&", "&") | ("|", "|") | ("=" | "!" | "<" | ">", "=") | ("<", "<") | (">", ">")
            )
        {
            last.push_str(&token.text);
            glue = false;
            continue;
        }
        words.push(token.text.to_string());
        glue = token.kind == Kind::Punct;
    }
    words
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
    depth: u32,
}

/// Binary operators from the loosest to the tightest.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader {
    fn conditional(&mut self) -> Result<i128, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the condition is nested too deeply".to_owned());
        }
        let cond = self.binary(0)?;
        let value = if self.eat("?") {
            let yes = self.conditional()?;
            if !self.eat(":") {
                return Err("`:` is missing".to_owned());
            }
            let no = self.conditional()?;
            if cond != 0 { yes } else { no }
        } else {
            cond
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, level: usize) -> Result<i128, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(op) = self.tokens.get(self.at).filter(|op| operators.contains(&op.as_str())).cloned() {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = apply(&op, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i128, String> {
        let Some(word) = self.tokens.get(self.at).cloned() else {
            return Err("the condition ends too early".to_owned());
        };
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the condition is nested too deeply".to_owned());
        }
        let value = match word.as_str() {
            "!" => i128::from(self.unary()? == 0),
            "~" => !self.unary()?,
            "-" => self.unary()?.checked_neg().ok_or("the value is too large")?,
            "+" => self.unary()?,
            "(" => {
                let value = self.conditional()?;
                if !self.eat(")") {
                    return Err("`)` is missing".to_owned());
                }
                value
            }
            "true" => 1,
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => number(&word)?,
            // A name that is no macro counts as 0, as in C.
            _ if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => 0,
            _ => return Err(format!("`{word}` was not expected here")),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| token == word);
        self.at += usize::from(found);
        found
    }
}

fn apply(op: &str, a: i128, b: i128) -> Result<i128, String> {
    let shift = || u32::try_from(b).ok().filter(|bits| *bits < 64);
    let value = match op {
        "||" => Some(i128::from(a != 0 || b != 0)),
        "&&" => Some(i128::from(a != 0 && b != 0)),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "==" => Some(i128::from(a == b)),
        "!=" => Some(i128::from(a != b)),
        "<" => Some(i128::from(a < b)),
        ">" => Some(i128::from(a > b)),
        "<=" => Some(i128::from(a <= b)),
        ">=" => Some(i128::from(a >= b)),
        "<<" => shift().and_then(|bits| a.checked_shl(bits)),
        ">>" => shift().and_then(|bits| a.checked_shr(bits)),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        _ => None,
    };
    value.ok_or_else(|| format!("`{a} {op} {b}` has no value"))
}

fn number(word: &str) -> Result<i128, String> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    let parsed = if let Some(hex) = lower.strip_prefix("0x") {
        i128::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        i128::from_str_radix(binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        i128::from_str_radix(&lower, 8)
    } else {
        lower.parse()
    };
    parsed.map_err(|_| format!("`{word}` is not an integer"))
}
