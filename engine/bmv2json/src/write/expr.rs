//! Expressions: what a pure instruction computes, in the format's integers without bounds.
//!
//! An operand is an unsigned number of its width; a signed operation reads it as two's complement, and what
//! may not fit is cut to the width of the result.

use p4cc_ir::{BinOp, Bits, Inst, Operand, UnOp, VarType};
use serde_json::{Value, json};

use super::Writer;
use super::json::{binary, bit, choice, constant, cut, holds, number, ones, signed, typed, unary};

/// Widest amount by which BMv2 may shift without first asking whether anything is left.
const SHIFT_BITS: u32 = 12;

/// What a variable or constant is in the document. Code reads fields; checksums have expressions only.
pub(super) type Read<'r, 'p> = &'r mut dyn FnMut(&mut Writer<'p>, &Operand) -> Value;

impl<'p> Writer<'p> {
    /// An operand where code stands: a field or a constant. A signed field is read without its sign.
    pub(super) fn operand(&mut self, operand: &Operand) -> Value {
        match operand {
            Operand::Var(var) => match self.program.vars[var.index()].ty {
                VarType::Int(width) => cut(self.names.field(*var), width),
                _ => self.names.field(*var),
            },
            Operand::Const(bits) => constant(bits),
        }
    }

    pub(super) fn width(&self, operand: &Operand) -> u32 {
        match operand {
            Operand::Var(var) => self.program.vars[var.index()].ty.width(),
            Operand::Const(bits) => bits.width(),
        }
    }

    /// The value that an instruction gives its variable; none if it does more than compute.
    pub(super) fn value(&mut self, inst: &Inst, read: Read<'_, 'p>) -> Option<Value> {
        Some(match inst {
            Inst::Assign { src, .. } => read(self, src),
            Inst::Unary { op: UnOp::Not, src, .. } => {
                let width = self.width(src);
                binary("^", read(self, src), ones(width))
            }
            Inst::Unary { op: UnOp::Neg, src, .. } => {
                let width = self.width(src);
                cut(binary("-", constant(&Bits::zero(width)), read(self, src)), width)
            }
            Inst::Binary { dst, op, a, b } => {
                let width = self.program.vars[dst.index()].ty.width();
                self.binary(*op, width, a, b, read)
            }
            Inst::Resize { dst, src, signed: is_signed } => {
                let (to, from) = (self.program.vars[dst.index()].ty.width(), self.width(src));
                let value = read(self, src);
                match (*is_signed, to > from) {
                    (true, true) => cut(signed(value, from), to),
                    (false, true) => value,
                    (_, false) => cut(value, to),
                }
            }
            Inst::Concat { hi, lo, .. } => {
                let width = self.width(lo);
                let high = binary("<<", read(self, hi), number(u64::from(width)));
                binary("|", high, read(self, lo))
            }
            Inst::Slice { dst, src, lo } => {
                let width = self.program.vars[dst.index()].ty.width();
                cut(binary(">>", read(self, src), number(u64::from(*lo))), width)
            }
            Inst::SetSlice { dst, lo, src } => {
                let (width, part) = (self.program.vars[dst.index()].ty.width(), self.width(src));
                let hole = hole(width, *lo, part);
                let kept = binary("&", read(self, &Operand::Var(*dst)), constant(&hole));
                binary("|", kept, binary("<<", read(self, src), number(u64::from(*lo))))
            }
            Inst::IsValid { header, .. } => bit(unary("valid", typed("header", self.names.header(*header)))),
            Inst::UnionIsValid { union, .. } => {
                bit(unary("valid_union", typed("header_union", self.names.union(*union))))
            }
            Inst::HeaderEq { a, b, .. } => {
                let [a, b] = [a, b].map(|header| typed("header", self.names.header(*header)));
                let [no_a, no_b] = [&a, &b].map(|header| unary("not", unary("valid", header.clone())));
                // BMv2 finds an invalid header different from every other one.
                bit(binary("or", binary("and", no_a, no_b), binary("==", a, b)))
            }
            Inst::StackLoad { dst, stack, index, field } => {
                let bound = self.index_bound(*stack, index);
                let index = read(self, index);
                let value = self.stack_field(*stack, index.clone(), *field);
                let width = self.program.vars[dst.index()].ty.width();
                within(bound, index, value, || constant(&Bits::zero(width)))
            }
            Inst::StackIsValid { stack, index, .. } => {
                let bound = self.index_bound(*stack, index);
                let index = read(self, index);
                let valid = bit(unary("valid", self.element(*stack, index.clone())));
                within(bound, index, valid, || number(0))
            }
            Inst::StackNextIndex { dst, stack } => {
                let width = self.program.vars[dst.index()].ty.width();
                let last = unary("last_stack_index", typed("header_stack", self.names.stack(*stack)));
                cut(binary("+", last, number(1)), width)
            }
            Inst::Lookahead { dst } => {
                let width = self.program.vars[dst.index()].ty.width();
                typed("lookahead", json!([0, width]))
            }
            _ => return None,
        })
    }

    fn binary(&mut self, op: BinOp, width: u32, a: &Operand, b: &Operand, read: Read<'_, 'p>) -> Value {
        let sides = self.width(a);
        let (left, right) = (read(self, a), read(self, b));
        let both = |left: Value, right: Value| (signed(left, sides), signed(right, sides));
        match op {
            BinOp::Add => cut(binary("+", left, right), width),
            BinOp::Sub => cut(binary("-", left, right), width),
            BinOp::Mul => cut(binary("*", left, right), width),
            BinOp::And => binary("&", left, right),
            BinOp::Or => binary("|", left, right),
            BinOp::Xor => binary("^", left, right),
            BinOp::Div | BinOp::Mod => {
                let op = if op == BinOp::Div { "/" } else { "%" };
                match b {
                    Operand::Const(bits) if !bits.is_zero() => binary(op, left, right),
                    // BMv2 ends at a divisor of zero.
                    _ => {
                        let zero = constant(&Bits::zero(width));
                        choice(binary("==", right.clone(), number(0)), zero, binary(op, left, right))
                    }
                }
            }
            BinOp::AddSat { signed: false } => binary("usat_cast", binary("+", left, right), size(width)),
            BinOp::SubSat { signed: false } => binary("usat_cast", binary("-", left, right), size(width)),
            BinOp::AddSat { signed: true } | BinOp::SubSat { signed: true } => {
                let op = if matches!(op, BinOp::AddSat { .. }) { "+" } else { "-" };
                let (left, right) = both(left, right);
                cut(binary("sat_cast", binary(op, left, right), size(width)), width)
            }
            BinOp::Shl => {
                let shifted = cut(binary("<<", left, right.clone()), width);
                self.bounded_shift(b, right, shifted, width)
            }
            BinOp::Shr { signed: false } => binary(">>", left, right),
            BinOp::Shr { signed: true } => cut(binary(">>", signed(left, width), right), width),
            BinOp::Eq | BinOp::Ne => bit(binary(if op == BinOp::Eq { "==" } else { "!=" }, left, right)),
            BinOp::Lt { signed } | BinOp::Le { signed } => {
                let (left, right) = if signed { both(left, right) } else { (left, right) };
                bit(binary(if matches!(op, BinOp::Lt { .. }) { "<" } else { "<=" }, left, right))
            }
        }
    }

    /// A shift to the left by an amount that may be huge: BMv2 would make the whole number first.
    fn bounded_shift(&self, amount: &Operand, right: Value, shifted: Value, width: u32) -> Value {
        match amount {
            Operand::Const(bits) if bits.to_u128().is_some_and(|by| by <= u128::from(width)) => shifted,
            Operand::Const(_) => constant(&Bits::zero(width)),
            Operand::Var(_) if self.width(amount) <= SHIFT_BITS => shifted,
            Operand::Var(_) => {
                let some_left = binary("<", right, number(u64::from(width)));
                choice(some_left, shifted, constant(&Bits::zero(width)))
            }
        }
    }

    /// A condition that decides where to go.
    pub(super) fn condition(&mut self, operand: &Operand) -> Value {
        match operand {
            Operand::Const(bits) => typed("bool", !bits.is_zero()),
            var @ Operand::Var(_) => holds(self.operand(var)),
        }
    }

    /// The number of elements, where an index may reach beyond them: BMv2 ends at such an index.
    pub(super) fn index_bound(&self, stack: p4cc_ir::StackId, index: &Operand) -> Option<u64> {
        let count = self.program.stacks[stack.index()].elements.len() as u64;
        let largest = match index {
            Operand::Const(bits) => bits.to_u128(),
            Operand::Var(_) => 1_u128.checked_shl(self.width(index)).map(|values| values - 1),
        };
        largest.is_none_or(|largest| largest >= u128::from(count)).then_some(count)
    }

    /// An element of a stack, chosen when the packet is there.
    pub(super) fn element(&self, stack: p4cc_ir::StackId, index: Value) -> Value {
        binary("dereference_header_stack", typed("header_stack", self.names.stack(stack)), index)
    }

    /// A field of such an element.
    pub(super) fn stack_field(&self, stack: p4cc_ir::StackId, index: Value, field: u32) -> Value {
        let element = self.element(stack, index);
        typed("expression", json!({ "op": "access_field", "left": element, "right": field }))
    }

    pub(super) fn is_varbit(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Var(var) if matches!(self.program.vars[var.index()].ty, VarType::Varbit(_)))
    }
}

/// A value that is read at an index, or another one where the index is not within a bound.
fn within(bound: Option<u64>, index: Value, value: Value, otherwise: impl FnOnce() -> Value) -> Value {
    match bound {
        Some(bound) => choice(binary("<", index, number(bound)), value, otherwise()),
        None => value,
    }
}

fn size(width: u32) -> Value {
    number(u64::from(width))
}

/// All bits of a width but `part` of them from `lo` on.
fn hole(width: u32, lo: u32, part: u32) -> Bits {
    let mut words = vec![u64::MAX; p4cc_ir::bits::words_for(width)];
    for at in lo..lo.saturating_add(part).min(width) {
        words[(at / 64) as usize] &= !(1 << (at % 64));
    }
    Bits::from_words(width, &words)
}
