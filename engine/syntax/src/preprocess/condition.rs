//! Integer expressions of `#if` and `#elif`, macros already expanded and `defined` answered.
//!
//! Arithmetic is C's in 64 bits, signed or unsigned; what a short circuit skips has no value but must be well
//! formed. Invariant: no overflow or division of the host's arithmetic can panic.

use super::constant::{self, Value};
use super::scan::Kind;
use super::token::Token;

/// Parentheses and operators inside one another.
const MAX_DEPTH: u32 = 200;

type Answer = Result<Value, String>;

/// Whether a condition holds, or what is wrong with it.
pub(super) fn evaluate(tokens: &[Token]) -> Result<bool, String> {
    if tokens.is_empty() {
        return Err("it has no expression".to_owned());
    }
    let mut reader = Reader { tokens, at: 0, depth: 0, skipped: 0 };
    let value = reader.comma()?;
    match tokens.get(reader.at) {
        None => Ok(value.is_true()),
        Some(extra) => Err(format!("unexpected `{}`", extra.text)),
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: u32,
    /// Operands around that have no value.
    skipped: u32,
}

/// Binary operators, the loosest first.
fn level(operator: &str) -> Option<u32> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl Reader<'_> {
    fn comma(&mut self) -> Answer {
        let mut value = self.conditional()?;
        while self.eat(",") {
            value = self.conditional()?;
        }
        Ok(value)
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err("the condition is nested too deeply".to_owned()) } else { Ok(()) }
    }

    fn skipping(&mut self, skipped: bool, read: impl FnOnce(&mut Self) -> Answer) -> Answer {
        self.skipped += u32::from(skipped);
        let value = read(self);
        self.skipped -= u32::from(skipped);
        value
    }

    fn conditional(&mut self) -> Answer {
        self.deeper()?;
        let condition = self.binary(1)?;
        let value = if self.eat("?") {
            let yes = self.skipping(!condition.is_true(), Self::comma)?;
            if !self.eat(":") {
                return Err("`:` is missing".to_owned());
            }
            let no = self.skipping(condition.is_true(), Self::conditional)?;
            let chosen = if condition.is_true() { yes } else { no };
            Value { unsigned: yes.unsigned || no.unsigned, ..chosen }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, least: u32) -> Answer {
        let mut left = self.unary()?;
        while let Some(operator) = self.tokens.get(self.at).filter(|token| token.kind == Kind::Punct)
            && let Some(level) = level(&operator.text).filter(|level| *level >= least)
        {
            self.at += 1;
            let skipped = match &*operator.text {
                "||" => left.is_true(),
                "&&" => !left.is_true(),
                _ => false,
            };
            self.deeper()?;
            let right = self.skipping(skipped, |reader| reader.binary(level + 1))?;
            self.depth -= 1;
            left = self.apply(&operator.text, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Answer {
        let Some(token) = self.tokens.get(self.at) else {
            return Err("it is incomplete".to_owned());
        };
        self.at += 1;
        self.deeper()?;
        let value = match (token.kind, &*token.text) {
            (Kind::Punct, "!") => Value::truth(!self.unary()?.is_true()),
            (Kind::Punct, "~") => {
                let value = self.unary()?;
                Value { bits: !value.bits, ..value }
            }
            (Kind::Punct, "-") => {
                let value = self.unary()?;
                Value { bits: value.bits.wrapping_neg(), ..value }
            }
            (Kind::Punct, "+") => self.unary()?,
            (Kind::Punct, "(") => {
                let value = self.comma()?;
                if !self.eat(")") {
                    return Err("`)` is missing".to_owned());
                }
                value
            }
            (Kind::Number, word) => constant::number(word)?,
            (Kind::Char, word) => constant::character(word)?,
            // A name that is not a macro counts as 0, as in C: `true` too.
            (Kind::Ident, _) => Value::signed(0),
            (_, word) => return Err(format!("unexpected `{word}`")),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| token.is(mark));
        self.at += usize::from(found);
        found
    }

    fn apply(&self, operator: &str, left: Value, right: Value) -> Answer {
        let unsigned = left.unsigned || right.unsigned;
        let (a, b) = (left.bits, right.bits);
        let (signed_a, signed_b) = (a as i64, b as i64);
        let less = if unsigned { a < b } else { signed_a < signed_b };
        let number = |bits| Value { bits, unsigned };
        Ok(match operator {
            "||" => Value::truth(left.is_true() || right.is_true()),
            "&&" => Value::truth(left.is_true() && right.is_true()),
            "|" => number(a | b),
            "^" => number(a ^ b),
            "&" => number(a & b),
            "==" => Value::truth(a == b),
            "!=" => Value::truth(a != b),
            "<" => Value::truth(less),
            ">=" => Value::truth(!less),
            ">" => Value::truth(!less && a != b),
            "<=" => Value::truth(less || a == b),
            "<<" => shifted(left, right, true),
            ">>" => shifted(left, right, false),
            "+" => number(a.wrapping_add(b)),
            "-" => number(a.wrapping_sub(b)),
            "*" => number(a.wrapping_mul(b)),
            "/" | "%" if b == 0 && self.skipped > 0 => number(0),
            "/" | "%" if b == 0 => return Err("it divides by zero".to_owned()),
            "/" if unsigned => number(a / b),
            "/" => number(signed_a.wrapping_div(signed_b) as u64),
            _ if unsigned => number(a % b),
            _ => number(signed_a.wrapping_rem(signed_b) as u64),
        })
    }
}

/// A shift by a negative number is one in the other direction; bits that leave the 64 are lost.
fn shifted(value: Value, by: Value, left: bool) -> Value {
    let negative = !by.unsigned && (by.bits as i64) < 0;
    let count = if negative { by.bits.wrapping_neg() } else { by.bits };
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let bits = if left != negative {
        value.bits.checked_shl(count).unwrap_or(0)
    } else if value.unsigned {
        value.bits.checked_shr(count).unwrap_or(0)
    } else {
        ((value.bits as i64) >> count.min(63)) as u64
    };
    Value { bits, ..value }
}
