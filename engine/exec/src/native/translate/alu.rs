//! Arithmetic on words, with the interpreter's results.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::{TranslateResult, Translator};
use crate::op::{Args, Op};

impl Translator<'_, '_> {
    /// Translates an operation on words; false if it is none.
    pub(super) fn alu(&mut self, op: Op) -> TranslateResult<bool> {
        match op {
            Op::Move { dst, src } => self.copy(dst, src, 1)?,
            Op::CopyWords { dst, src, words } => self.copy(dst, src, words)?,
            Op::Not(shift, args) => self.unary(args, shift, |t, a| t.b.ins().bnot(a))?,
            Op::Neg(shift, args) => self.unary(args, shift, |t, a| t.b.ins().ineg(a))?,
            Op::Add(shift, args) => self.binary(args, shift, |t, a, b| t.b.ins().iadd(a, b))?,
            Op::Sub(shift, args) => self.binary(args, shift, |t, a, b| t.b.ins().isub(a, b))?,
            Op::Mul(shift, args) => self.binary(args, shift, |t, a, b| t.b.ins().imul(a, b))?,
            Op::And(args) => self.binary(args, 0, |t, a, b| t.b.ins().band(a, b))?,
            Op::Or(args) => self.binary(args, 0, |t, a, b| t.b.ins().bor(a, b))?,
            Op::Xor(args) => self.binary(args, 0, |t, a, b| t.b.ins().bxor(a, b))?,
            Op::Eq(args) => self.binary(args, 0, |t, a, b| t.icmp(IntCC::Equal, a, b))?,
            Op::Ne(args) => self.binary(args, 0, |t, a, b| t.icmp(IntCC::NotEqual, a, b))?,
            Op::Lt(args) => self.binary(args, 0, |t, a, b| t.icmp(IntCC::UnsignedLessThan, a, b))?,
            Op::Le(args) => self.binary(args, 0, |t, a, b| t.icmp(IntCC::UnsignedLessThanOrEqual, a, b))?,
            Op::LtSigned(shift, args) => {
                self.signed_binary(args, shift, |t, a, b| t.icmp(IntCC::SignedLessThan, a, b))?
            }
            Op::LeSigned(shift, args) => {
                self.signed_binary(args, shift, |t, a, b| t.icmp(IntCC::SignedLessThanOrEqual, a, b))?
            }
            Op::Truncate { shift, dst, src } => self.to(dst, src, |t, a| t.cut(shift, a))?,
            Op::SignExtend { shift, from, dst, src } => self.to(dst, src, |t, a| {
                let value = t.signed(from, a);
                t.cut(shift, value)
            })?,
            Op::Slice { shift, low, dst, src } => self.to(dst, src, |t, a| {
                let value = t.b.ins().ushr_imm(a, i64::from(low));
                t.cut(shift, value)
            })?,
            Op::Concat { low, args } => self.binary(args, 0, |t, a, b| {
                let high = t.b.ins().ishl_imm(a, i64::from(low));
                t.b.ins().bor(high, b)
            })?,
            Op::SetSlice { shift, low, dst, src } => {
                let (old, value) = (self.read(dst)?, self.read(src)?);
                let hole = (u64::MAX >> shift) << low;
                let kept = self.b.ins().band_imm(old, !hole as i64);
                let value = self.b.ins().ishl_imm(value, i64::from(low));
                let value = self.b.ins().bor(kept, value);
                self.write(dst, value)?;
            }
            _ => return self.rare_alu(op),
        }
        Ok(true)
    }

    fn rare_alu(&mut self, op: Op) -> TranslateResult<bool> {
        match op {
            Op::Div(args) => self.divide(args, |t, a, b| t.b.ins().udiv(a, b))?,
            Op::Mod(args) => self.divide(args, |t, a, b| t.b.ins().urem(a, b))?,
            Op::AddSat(shift, args) => self.binary(args, 0, |t, a, b| t.add_saturating(shift, a, b))?,
            Op::SubSat(args) => self.binary(args, 0, |t, a, b| {
                let (difference, zero) = (t.b.ins().isub(a, b), t.iconst(0));
                let below = t.b.ins().icmp(IntCC::UnsignedLessThan, a, b);
                t.b.ins().select(below, zero, difference)
            })?,
            Op::AddSatSigned(shift, args) => self.signed_binary(args, shift, |t, a, b| {
                let sum = t.b.ins().iadd(a, b);
                // The sum overflows when both operands have the sign that it has not.
                let (x, y) = (t.b.ins().bxor(a, sum), t.b.ins().bxor(b, sum));
                let overflow = t.b.ins().band(x, y);
                t.clamp(shift, sum, overflow)
            })?,
            Op::SubSatSigned(shift, args) => self.signed_binary(args, shift, |t, a, b| {
                let difference = t.b.ins().isub(a, b);
                // It overflows when the operands' signs differ and the difference has that of the second.
                let (x, y) = (t.b.ins().bxor(a, b), t.b.ins().bxor(a, difference));
                let overflow = t.b.ins().band(x, y);
                t.clamp(shift, difference, overflow)
            })?,
            Op::Shl(shift, args) => self.shift(args, shift, |t, a, b| t.b.ins().ishl(a, b))?,
            Op::Shr(args) => self.shift(args, 0, |t, a, b| t.b.ins().ushr(a, b))?,
            Op::ShrSigned(shift, args) => {
                let (a, amount) = (self.read(args.a)?, self.read(args.b)?);
                let (a, most) = (self.signed(shift, a), self.iconst(63));
                let amount = self.b.ins().umin(amount, most);
                let value = self.b.ins().sshr(a, amount);
                let value = self.cut(shift, value);
                self.write(args.dst, value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Copies words as if all were read before any is written.
    pub(super) fn copy(&mut self, dst: u32, src: u32, words: u32) -> TranslateResult {
        let values =
            (src..src + words).map(|slot| self.read(slot)).collect::<TranslateResult<Vec<Value>>>()?;
        (dst..).zip(values).try_for_each(|(slot, value)| self.write(slot, value))
    }

    fn to(&mut self, dst: u32, src: u32, f: impl FnOnce(&mut Self, Value) -> Value) -> TranslateResult {
        let value = self.read(src)?;
        let value = f(self, value);
        self.write(dst, value)
    }

    fn unary(&mut self, args: Args, shift: u8, f: impl FnOnce(&mut Self, Value) -> Value) -> TranslateResult {
        self.to(args.dst, args.a, |t, a| {
            let value = f(t, a);
            t.cut(shift, value)
        })
    }

    fn binary(
        &mut self,
        args: Args,
        shift: u8,
        f: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> TranslateResult {
        let (a, b) = (self.read(args.a)?, self.read(args.b)?);
        let value = f(self, a, b);
        let value = self.cut(shift, value);
        self.write(args.dst, value)
    }

    /// Operands as two's complement values of 64 minus `shift` bits.
    fn signed_binary(
        &mut self,
        args: Args,
        shift: u8,
        f: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> TranslateResult {
        self.binary(args, 0, |t, a, b| {
            let (a, b) = (t.signed(shift, a), t.signed(shift, b));
            f(t, a, b)
        })
    }

    fn signed(&mut self, shift: u8, value: Value) -> Value {
        if shift == 0 {
            return value;
        }
        let high = self.b.ins().ishl_imm(value, i64::from(shift));
        self.b.ins().sshr_imm(high, i64::from(shift))
    }

    /// Zero where the divisor is.
    fn divide(&mut self, args: Args, f: impl FnOnce(&mut Self, Value, Value) -> Value) -> TranslateResult {
        let known = self.known(args.b);
        self.binary(args, 0, |t, a, b| {
            if known.is_some_and(|divisor| divisor != 0) {
                return f(t, a, b);
            }
            let (zero, one) = (t.iconst(0), t.iconst(1));
            let is_zero = t.b.ins().icmp(IntCC::Equal, b, zero);
            let divisor = t.b.ins().select(is_zero, one, b);
            let quotient = f(t, a, divisor);
            t.b.ins().select(is_zero, zero, quotient)
        })
    }

    fn add_saturating(&mut self, shift: u8, a: Value, b: Value) -> Value {
        let (sum, most) = (self.b.ins().iadd(a, b), self.iconst(u64::MAX >> shift));
        if shift > 0 {
            return self.b.ins().umin(sum, most);
        }
        let carry = self.b.ins().icmp(IntCC::UnsignedLessThan, sum, a);
        self.b.ins().select(carry, most, sum)
    }

    /// The sum or difference of two values of 64 minus `shift` bits, clamped to their range; `overflow` is
    /// negative where it wrapped, which it can only at 64 bits.
    fn clamp(&mut self, shift: u8, value: Value, overflow: Value) -> Value {
        let max = i64::MAX >> shift;
        let clamped = if shift > 0 {
            let (low, high) = (self.iconst((-max - 1) as u64), self.iconst(max as u64));
            let value = self.b.ins().smin(value, high);
            self.b.ins().smax(value, low)
        } else {
            // What wrapped to a negative value was above the range, and the other way round.
            let sign = self.b.ins().sshr_imm(value, 63);
            let end = self.b.ins().bxor_imm(sign, i64::MIN);
            let zero = self.iconst(0);
            let wrapped = self.b.ins().icmp(IntCC::SignedLessThan, overflow, zero);
            self.b.ins().select(wrapped, end, value)
        };
        self.cut(shift, clamped)
    }

    /// Zero where the amount reaches past the word.
    fn shift(
        &mut self,
        args: Args,
        shift: u8,
        f: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> TranslateResult {
        let known = self.known(args.b);
        self.binary(args, shift, |t, a, amount| {
            let shifted = f(t, a, amount);
            let zero = t.iconst(0);
            match known {
                Some(0..=63) => shifted,
                Some(_) => zero,
                None => {
                    let word = t.b.ins().iconst(types::I64, 64);
                    let fits = t.b.ins().icmp(IntCC::UnsignedLessThan, amount, word);
                    t.b.ins().select(fits, shifted, zero)
                }
            }
        })
    }
}
