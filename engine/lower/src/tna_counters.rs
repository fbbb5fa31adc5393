//! The parser's counter, and on Tofino 2 its stack.
//!
//! A push keeps the counter's value and loads another; a pop brings the kept value back. Four are kept, of
//! more the oldest is lost. A value that was pushed with `update_with_top` follows all sums and differences
//! until it is back. So the length of all options goes down with that of the option which is being read.

use super::Lowerer;
use super::object::{ParserCounter, STACK};
use super::storage::Rvalue;
use num_traits::ToPrimitive;
use p4cc_ir::{BinOp, Bits, Inst, Operand, TofinoChip, VarId, VarType};
use p4cc_types::hir::Call;
use p4cc_types::ty::Ty;

/// Width of the parser's counter.
const COUNTER_BITS: u32 = 8;
/// Arguments of the form that takes a field apart, without `update_with_top`.
const FIELD_ARGS: usize = 5;

fn number(value: u32) -> Operand {
    Operand::Const(Bits::from_u128(COUNTER_BITS, u128::from(value)))
}

impl Lowerer<'_> {
    pub(super) fn new_parser_counter(&mut self, name: &str) -> ParserCounter {
        let ty = VarType::Bit(COUNTER_BITS);
        let mut var = |what: &str| self.new_var(&format!("{name}.{what}"), ty, p4cc_ir::VarKind::Local);
        let value = var("counter");
        let stack = self.tna.chip == TofinoChip::Tofino2;
        let mut var = |what: &str| self.new_var(&format!("{name}.{what}"), ty, p4cc_ir::VarKind::Local);
        let kept = stack
            .then(|| core::array::from_fn(|at| (var(&format!("kept{at}")), var(&format!("follows{at}")))));
        ParserCounter { value, kept }
    }

    pub(super) fn parser_counter(&mut self, of: ParserCounter, name: &str, call: &Call) -> Option<Rvalue> {
        if !self.flow.in_parser {
            let message = format!("`ParserCounter.{name}` cannot be called here");
            return self.refused(call.span, message, "only a parser has this counter");
        }
        let counter = of.value;
        match name {
            "set" => self.load_counter(counter, call)?,
            "push" => self.push_counter(of, call)?,
            "pop" => self.pop_counter(of),
            "increment" | "decrement" => {
                let op = if name == "increment" { BinOp::Add } else { BinOp::Sub };
                let by = self.arg(call, 0)?;
                self.fits(call, 0, &by, &Ty::Bit(COUNTER_BITS))?;
                self.emit(Inst::Binary { dst: counter, op, a: Operand::Var(counter), b: by.clone() });
                self.move_kept(of, op, &by);
            }
            "is_zero" => {
                let flag = self.equals(Operand::Var(counter), COUNTER_BITS, 0);
                return Some(Rvalue::Scalar(Operand::Var(flag)));
            }
            "is_negative" => {
                let sign = self.temp(VarType::Bit(1));
                self.emit(Inst::Slice { dst: sign, src: Operand::Var(counter), lo: COUNTER_BITS - 1 });
                let flag = self.equals(Operand::Var(sign), 1, 1);
                return Some(Rvalue::Scalar(Operand::Var(flag)));
            }
            _ => return self.shape_error(call.span),
        }
        Some(Rvalue::Struct(Vec::new()))
    }

    /// Kept values that follow the counter change as it does.
    fn move_kept(&mut self, of: ParserCounter, op: BinOp, by: &Operand) {
        for (value, follows) in of.kept.into_iter().flatten() {
            let part = self.temp(VarType::Bit(COUNTER_BITS));
            self.emit(Inst::Binary { dst: part, op: BinOp::And, a: by.clone(), b: Operand::Var(follows) });
            self.emit(Inst::Binary { dst: value, op, a: Operand::Var(value), b: Operand::Var(part) });
        }
    }

    fn push_counter(&mut self, of: ParserCounter, call: &Call) -> Option<()> {
        let given = call.args.iter().flatten().count();
        // The flag stands behind the value, or behind the numbers that take a field apart.
        let flag_at = if given >= FIELD_ARGS { FIELD_ARGS } else { 1 };
        let follows = match call.args.get(flag_at) {
            Some(Some(flag)) => self.const_value(flag)? == p4cc_types::value::Value::Bool(true),
            _ => false,
        };
        let before = self.temp(VarType::Bit(COUNTER_BITS));
        self.emit(Inst::Assign { dst: before, src: Operand::Var(of.value) });
        self.load_counter(of.value, call)?;
        let Some(kept) = of.kept else { return self.shape_error(call.span) };
        for at in (1..STACK).rev() {
            self.copy_kept(kept[at - 1], kept[at]);
        }
        self.emit(Inst::Assign { dst: kept[0].0, src: Operand::Var(before) });
        self.emit(Inst::Assign { dst: kept[0].1, src: number(if follows { 0xff } else { 0 }) });
        Some(())
    }

    fn pop_counter(&mut self, of: ParserCounter) {
        let Some(kept) = of.kept else { return };
        self.emit(Inst::Assign { dst: of.value, src: Operand::Var(kept[0].0) });
        for at in 1..STACK {
            self.copy_kept(kept[at], kept[at - 1]);
        }
        self.emit(Inst::Assign { dst: kept[STACK - 1].0, src: number(0) });
        self.emit(Inst::Assign { dst: kept[STACK - 1].1, src: number(0) });
    }

    fn copy_kept(&mut self, from: (VarId, VarId), to: (VarId, VarId)) {
        self.emit(Inst::Assign { dst: to.0, src: Operand::Var(from.0) });
        self.emit(Inst::Assign { dst: to.1, src: Operand::Var(from.1) });
    }

    /// Loads a value, or takes a field apart.
    fn load_counter(&mut self, counter: VarId, call: &Call) -> Option<()> {
        if call.args.iter().flatten().count() < FIELD_ARGS {
            let src = self.arg(call, 0)?;
            self.emit(Inst::Resize { dst: counter, src, signed: false });
            return Some(());
        }
        self.load_field(counter, call)
    }

    /// `set(field, max, rotate, mask, add)`: the field's low byte rotated right, masked to `mask + 1` bits,
    /// and a number added.
    fn load_field(&mut self, counter: VarId, call: &Call) -> Option<()> {
        let mut numbers = Vec::new();
        for at in 1..5 {
            let expr = self.arg_expr(call, at)?;
            numbers.push(self.const_value(expr)?.as_int().and_then(ToPrimitive::to_u32)?);
        }
        let [max, rotate, mask, add] = numbers[..] else { return self.shape_error(call.span) };
        let field = self.arg(call, 0)?;
        let byte = self.resized(field, VarType::Bit(COUNTER_BITS));
        let within = self.temp(VarType::Bool);
        let op = BinOp::Le { signed: false };
        self.emit(Inst::Binary { dst: within, op, a: Operand::Var(byte), b: number(max) });
        let range = self.hir.errors.iter().position(|error| error == "CounterRange").unwrap_or(0);
        self.emit(Inst::Verify {
            cond: Operand::Var(within),
            error: Operand::Const(Bits::from_u128(32, range as u128)),
        });
        let turn = rotate % COUNTER_BITS;
        let (right, left) = (self.temp(VarType::Bit(COUNTER_BITS)), self.temp(VarType::Bit(COUNTER_BITS)));
        let op = BinOp::Shr { signed: false };
        self.emit(Inst::Binary { dst: right, op, a: Operand::Var(byte), b: number(turn) });
        self.emit(Inst::Binary {
            dst: left,
            op: BinOp::Shl,
            a: Operand::Var(byte),
            b: number(COUNTER_BITS - turn),
        });
        let (turned, masked) = (self.temp(VarType::Bit(COUNTER_BITS)), self.temp(VarType::Bit(COUNTER_BITS)));
        self.emit(Inst::Binary { dst: turned, op: BinOp::Or, a: Operand::Var(right), b: Operand::Var(left) });
        let kept = number((1 << (mask % COUNTER_BITS + 1)) - 1);
        self.emit(Inst::Binary { dst: masked, op: BinOp::And, a: Operand::Var(turned), b: kept });
        self.emit(Inst::Binary { dst: counter, op: BinOp::Add, a: Operand::Var(masked), b: number(add) });
        Some(())
    }
}
