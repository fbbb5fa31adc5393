//! Tofino 2's register actions on a whole word of a register's memory, and the least or greatest part of one.

use super::Lowerer;
use super::object::TnaObject;
use super::storage::Rvalue;
use p4cc_ir::{BinOp, Bits, Inst, Operand, VarType};
use p4cc_syntax::Span;
use p4cc_types::hir::{Call, Expr};
use p4cc_types::ids::FnId;
use p4cc_types::ty::Ty;

/// Bits of a word of a register's memory.
const WORD_BITS: u32 = 128;

impl Lowerer<'_> {
    /// `MinMaxAction` and its kin: register actions whose value is a word of 128 bits, whatever the cells are
    /// divided into.
    pub(super) fn word_action(
        &mut self,
        types: &[Ty],
        register: Option<&Expr>,
        methods: &[FnId],
        span: Span,
    ) -> Option<TnaObject> {
        let mut types = types.to_vec();
        *types.first_mut()? = Ty::Bit(WORD_BITS);
        let made = self.register_action(&types, register, methods, span)?;
        let TnaObject::RegisterAction(at) = made else { return self.shape_error(span) };
        let register = self.tna.actions.get(at)?.register;
        let width = self.out.registers.get(register.index())?.ty.width();
        if width != WORD_BITS {
            let message = format!("the register's cells have {width} bits, but this action processes 128");
            return self.refused(span, message, "use cells of `bit<128>` or of two halves of 64 bits");
        }
        Some(made)
    }

    /// `min8`, `max8`, `min16`, `max16`: the least or greatest of a word's parts whose bit in the mask is
    /// set, the lowest of those that are equal, and which one it is. Part 0 has the lowest bits. Where the
    /// mask names none, both are 0.
    pub(super) fn extreme_part(&mut self, name: &str, call: &Call) -> Option<Rvalue> {
        let part_bits = if name.ends_with("16") { 16 } else { 8 };
        let greatest = name.starts_with("max");
        let parts = WORD_BITS / part_bits;
        let word = self.arg_before(call, 0)?;
        let width = self.operand_width(&word)?;
        if width != WORD_BITS {
            let message = format!("`{name}` compares {WORD_BITS} bits, but this value has {width}");
            return self.refused(call.span, message, "pass a whole cell of this width");
        }
        let mask = self.arg_before(call, 1)?;
        self.fits(call, 1, &mask, &Ty::Bit(parts))?;
        if let Some(Some(postmod)) = call.args.get(3) {
            self.not_supported(postmod.span, format!("the fourth argument of `{name}` (`postmod`)"));
            return None;
        }
        let place_bits = parts.ilog2();
        let (best, place) = (self.temp(VarType::Bit(part_bits)), self.temp(VarType::Bit(place_bits)));
        let (unset, zero) = (self.temp(VarType::Bool), |width| Operand::Const(Bits::zero(width)));
        self.emit(Inst::Assign { dst: best, src: zero(part_bits) });
        self.emit(Inst::Assign { dst: place, src: zero(place_bits) });
        self.emit(Inst::Assign { dst: unset, src: Operand::Const(Bits::from_u128(1, 1)) });
        for at in 0..parts {
            let (part, bit) = (self.temp(VarType::Bit(part_bits)), self.temp(VarType::Bit(1)));
            self.emit(Inst::Slice { dst: part, src: word.clone(), lo: at * part_bits });
            self.emit(Inst::Slice { dst: bit, src: mask.clone(), lo: at });
            let named = self.equals(Operand::Var(bit), 1, 1);
            let (better, first, taken) =
                (self.temp(VarType::Bool), self.temp(VarType::Bool), self.temp(VarType::Bool));
            let (a, b) = if greatest { (best, part) } else { (part, best) };
            let less = BinOp::Lt { signed: false };
            self.emit(Inst::Binary { dst: better, op: less, a: Operand::Var(a), b: Operand::Var(b) });
            let (a, b) = (Operand::Var(better), Operand::Var(unset));
            self.emit(Inst::Binary { dst: first, op: BinOp::Or, a, b });
            let (a, b) = (Operand::Var(first), Operand::Var(named));
            self.emit(Inst::Binary { dst: taken, op: BinOp::And, a, b });
            self.if_valid(taken, |this, is_taken| {
                if is_taken {
                    this.emit(Inst::Assign { dst: best, src: Operand::Var(part) });
                    let src = Operand::Const(Bits::from_u128(place_bits, at.into()));
                    this.emit(Inst::Assign { dst: place, src });
                    this.emit(Inst::Assign { dst: unset, src: zero(1) });
                }
            });
        }
        if let Some(Some(index)) = call.args.get(2) {
            let target = self.target(index)?;
            self.assign(target, Rvalue::Scalar(Operand::Var(place)), &index.ty, call.span)?;
        }
        Some(Rvalue::Scalar(Operand::Var(best)))
    }

    /// `Register.clear(value)`: all cells at once. What reads would give while the chip is at it is never
    /// seen.
    pub(super) fn clear_register(&mut self, register: p4cc_ir::RegisterId, call: &Call) -> Option<Rvalue> {
        let mut parts = Vec::new();
        let expr = self.arg_expr(call, 0)?;
        let (ty, span) = (expr.ty.clone(), expr.span);
        let value = self.rvalue(expr)?;
        self.cell_data(value, &ty, span, &mut parts)?;
        let value = self.packed(parts)?;
        self.emit(Inst::Extern(p4cc_ir::ExternCall::RegisterClear { register, value }));
        Some(Rvalue::Struct(Vec::new()))
    }
}
