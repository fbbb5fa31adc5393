//! TNA's `Checksum.subtract_all_and_deposit`: from the call on, the parser subtracts each header that it
//! extracts, and leaves the sum in a field.
//!
//! Which extractions follow a call is known at run time only. So a flag says whether the call was made, and
//! behind each extraction of the parser stands the subtraction of its header, masked by the flag. Elements of
//! stacks whose number is known at run time only, and headers with a varbit, are not subtracted.

use super::Lowerer;
use super::storage::{Rvalue, StaticStorage};
use super::tna_objects::Deposit;
use p4cc_ir::limits::MAX_WIDTH;
use p4cc_ir::{
    BinOp, Bits, ExternCall, FuncId, HashAlgorithm, HeaderId, Inst, Operand, UnOp, VarId, VarKind, VarType,
};
use p4cc_types::hir::Call;

/// Width of the ones' complement sum.
const SUM_BITS: u32 = 16;

fn constant(width: u32, value: u128) -> Operand {
    Operand::Const(Bits::from_u128(width, value))
}

impl Lowerer<'_> {
    /// The call itself: what was summed up so far is there at once.
    pub(super) fn deposit(&mut self, sum: VarId, call: &Call) -> Option<Rvalue> {
        let arg = self.arg_expr(call, 0)?;
        let span = arg.span;
        let place = match self.static_place(arg) {
            Some(StaticStorage::Scalar(var)) => Some(var),
            _ => None,
        };
        let width = place.and_then(|var| self.out.vars.get(var.index())).map(|var| var.ty.width());
        let (Some(residual), true, Some(SUM_BITS)) = (place, self.flow.in_parser, width) else {
            let message = "only a parser can deposit a checksum, and only in a field of 16 bits";
            return self.refused(span, message, "declare a `bit<16>` field for it in the metadata");
        };
        let name = format!("{}.deposits{}", self.name, self.out.vars.len());
        let active = self.new_var(&name, VarType::Bool, VarKind::Local);
        self.emit(Inst::Assign { dst: active, src: constant(1, 1) });
        self.emit(Inst::Assign { dst: residual, src: Operand::Var(sum) });
        self.tna.deposits.push(Deposit { sum, active, residual });
        Some(Rvalue::Struct(Vec::new()))
    }

    /// Puts the subtractions into a parser that was made.
    pub(super) fn subtract_extracted(&mut self, func: FuncId) -> Option<()> {
        let deposits = std::mem::take(&mut self.tna.deposits);
        if deposits.is_empty() {
            return Some(());
        }
        let mut blocks = std::mem::take(&mut self.out.funcs.get_mut(func.index())?.blocks);
        for block in &mut blocks {
            let mut insts = Vec::with_capacity(block.insts.len());
            for inst in std::mem::take(&mut block.insts) {
                let header = if let Inst::Extract { header } = inst { Some(header) } else { None };
                insts.push(inst);
                for deposit in deposits.iter().filter(|_| header.is_some()) {
                    self.subtract_header(header?, *deposit, &mut insts);
                }
            }
            block.insts = insts;
        }
        self.out.funcs.get_mut(func.index())?.blocks = blocks;
        Some(())
    }

    /// `sum = sum - header` and `residual = sum` if the deposit is active.
    fn subtract_header(&mut self, header: HeaderId, deposit: Deposit, insts: &mut Vec<Inst>) {
        let mut whole: Option<(VarId, u32)> = None;
        for field in self.field_vars(header) {
            let Some(width) = self.out.vars.get(field.index()).map(|var| var.ty.width()) else { return };
            whole = Some(match whole {
                None => (field, width),
                Some((hi, bits)) if bits + width <= MAX_WIDTH => {
                    let dst = self.temp(VarType::Bit(bits + width));
                    insts.push(Inst::Concat { dst, hi: Operand::Var(hi), lo: Operand::Var(field) });
                    (dst, bits + width)
                }
                Some(_) => return,
            });
        }
        let Some((whole, bits)) = whole.filter(|(_, bits)| bits.is_multiple_of(8)) else { return };
        let inverse = self.temp(VarType::Bit(bits));
        insts.push(Inst::Unary { dst: inverse, op: UnOp::Not, src: Operand::Var(whole) });
        let mut data = vec![Operand::Var(deposit.sum), self.masked_by(deposit.active, inverse, bits, insts)];
        if bits % SUM_BITS != 0 {
            data.push(constant(8, 0));
        }
        let complement = self.temp(VarType::Bit(SUM_BITS));
        let (base, max) = (constant(SUM_BITS, 0), constant(32, 1 << SUM_BITS));
        let algorithm = HashAlgorithm::Csum16;
        insts.push(Inst::Extern(ExternCall::Hash { dst: complement, algorithm, base, data, max }));
        insts.push(Inst::Unary { dst: deposit.sum, op: UnOp::Not, src: Operand::Var(complement) });
        // One of both, by the flag.
        let (sum, change) = (Operand::Var(deposit.sum), self.temp(VarType::Bit(SUM_BITS)));
        let residual = Operand::Var(deposit.residual);
        insts.push(Inst::Binary { dst: change, op: BinOp::Xor, a: sum, b: residual.clone() });
        let change = self.masked_by(deposit.active, change, SUM_BITS, insts);
        insts.push(Inst::Binary { dst: deposit.residual, op: BinOp::Xor, a: residual, b: change });
    }

    /// The value, or zero if a flag is not set.
    fn masked_by(&mut self, flag: VarId, value: VarId, bits: u32, insts: &mut Vec<Inst>) -> Operand {
        let ty = VarType::Bit(bits);
        let (wide, mask, dst) = (self.temp(ty), self.temp(ty), self.temp(ty));
        insts.push(Inst::Resize { dst: wide, src: Operand::Var(flag), signed: false });
        let (a, b) = (Operand::Const(Bits::zero(bits)), Operand::Var(wide));
        insts.push(Inst::Binary { dst: mask, op: BinOp::Sub, a, b });
        let (a, b) = (Operand::Var(value), Operand::Var(mask));
        insts.push(Inst::Binary { dst, op: BinOp::And, a, b });
        Operand::Var(dst)
    }
}
