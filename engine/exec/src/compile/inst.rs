//! Compiles instructions: to an operation on words where all operands fit one word each, else to the slow
//! path.

use p4cc_ir::{BinOp, HeaderId, Inst, Operand, StackId, UnOp, VarId};

use super::Compiler;
use crate::frame_layout::{FrameLocation, NO_SLOT};
use crate::op::{Args, Op, SlowOp, WideKind};

/// 64 minus the width: how far the all-ones word shifts to become the mask.
fn cut(place: FrameLocation) -> u8 {
    (64 - place.width) as u8
}

impl Compiler<'_> {
    pub(super) fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Assign { dst, src } => self.assign(*dst, src),
            Inst::Unary { dst, op, src } => self.unary(*dst, *op, src),
            Inst::Binary { dst, op, a, b } => self.binary(*dst, *op, a, b),
            Inst::Resize { dst, src, signed } => {
                let (dst, src) = (self.code.layout.var(*dst), self.code.layout.operand(src));
                self.resize_places(dst, src, *signed);
            }
            Inst::Concat { dst, hi, lo } => self.concat(*dst, hi, lo),
            Inst::Slice { dst, src, lo } => self.slice(*dst, src, *lo),
            Inst::SetSlice { dst, lo, src } => self.set_slice(*dst, *lo, src),
            Inst::Extract { .. }
            | Inst::ExtractVar { .. }
            | Inst::ExtractNext { .. }
            | Inst::Lookahead { .. }
            | Inst::Advance { .. }
            | Inst::PacketLength { .. }
            | Inst::Verify { .. }
            | Inst::ValueSetMatch { .. } => self.parser_inst(inst),
            Inst::Emit { header } => self.emit(Op::Emit { header: header.0 }),
            Inst::Apply { table, hit, action } => {
                let slot = |var: &Option<VarId>| var.map_or(NO_SLOT, |var| self.code.layout.var(var).slot);
                let (hit, action) = (slot(hit), slot(action));
                self.emit(Op::Apply { table: table.0, hit, action });
            }
            Inst::CallAction { action, args } => self.call(*action, args),
            Inst::Extern(call) => self.extern_call(call),
            _ => self.header_inst(inst),
        }
    }

    fn header_inst(&mut self, inst: &Inst) {
        match inst {
            Inst::SetValid { header } => self.set_valid(*header),
            Inst::SetInvalid { header } => self.emit(Op::SetInvalid { header: header.0 }),
            Inst::IsValid { dst, header } => {
                let (dst, src) = (self.code.layout.var(*dst).slot, self.code.layout.valid(*header));
                self.emit(Op::Move { dst, src });
            }
            Inst::UnionIsValid { dst, union } => {
                let members = &self.program.unions[union.index()].members;
                let of = members.iter().map(|&header| self.code.layout.valid(header)).collect();
                let dst = self.code.layout.var(*dst).slot;
                self.emit_slow(SlowOp::AnyWord { dst, of });
            }
            Inst::CopyHeader { dst, src } => {
                let words = self.code.layout.header_words(*src);
                let (to, from) = (self.code.layout.valid(*dst), self.code.layout.valid(*src));
                self.emit_slow(SlowOp::CopyHeader { dst: to, src: from, words });
                if self.program.headers[dst.index()].union.is_some() {
                    self.emit_slow(SlowOp::ClearRivals { header: dst.0 });
                }
            }
            Inst::HeaderEq { dst, a, b } => {
                let words = self.code.layout.header_words(*a);
                let dst = self.code.layout.var(*dst).slot;
                let (a, b) = (self.code.layout.valid(*a), self.code.layout.valid(*b));
                self.emit_slow(SlowOp::HeaderEq { dst, a, b, words });
            }
            _ => self.stack_inst(inst),
        }
    }

    fn stack_inst(&mut self, inst: &Inst) {
        match inst {
            Inst::StackLoad { dst, stack, index, field } => {
                let index = self.narrow(index);
                let dst = self.code.layout.var(*dst);
                let elements = self.field_words(*stack, *field);
                self.emit_slow(SlowOp::StackLoad { dst: dst.slot, index, words: dst.words(), elements });
            }
            Inst::StackStore { stack, index, field, src } => {
                let index = self.narrow(index);
                let src = self.code.layout.operand(src);
                let elements = self.field_words(*stack, *field);
                self.emit_slow(SlowOp::StackStore { src: src.slot, index, words: src.words(), elements });
            }
            Inst::StackIsValid { dst, stack, index } => {
                let index = self.narrow(index);
                let dst = self.code.layout.var(*dst).slot;
                let elements = self.validity_words(*stack);
                self.emit_slow(SlowOp::StackIsValid { dst, index, elements });
            }
            Inst::StackSetValid { stack, index, valid } => {
                let index = self.narrow(index);
                let elements = self.program.stacks[stack.index()].elements.iter().map(|id| id.0).collect();
                self.emit_slow(SlowOp::StackSetValid { index, valid: *valid, elements });
            }
            Inst::StackPush { stack, count } => self.shift(*stack, *count, true),
            Inst::StackPop { stack, count } => self.shift(*stack, *count, false),
            Inst::StackNextIndex { dst, stack } => {
                let src = FrameLocation { slot: self.code.layout.stack(*stack), width: 64, varbit: false };
                let dst = self.code.layout.var(*dst);
                self.resize_places(dst, src, false);
            }
            Inst::StackSetNextIndex { stack, next } => {
                let dst = self.code.layout.stack(*stack);
                let src = self.code.layout.operand(next).slot;
                self.emit(Op::Move { dst, src });
            }
            _ => {}
        }
    }

    fn parser_inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Extract { header } => self.emit(Op::Extract { header: header.0 }),
            Inst::ExtractVar { header, varbit_bits } => {
                let varbit_bits = self.narrow(varbit_bits);
                self.emit_slow(SlowOp::ExtractVar { header: header.0, varbit_bits });
            }
            Inst::ExtractNext { stack, varbit_bits } => {
                let varbit_bits = varbit_bits.as_ref().map(|bits| self.narrow(bits));
                let next = self.code.layout.stack(*stack);
                let elements = self.program.stacks[stack.index()].elements.iter().map(|id| id.0).collect();
                self.emit_slow(SlowOp::ExtractNext { next, elements, varbit_bits });
            }
            Inst::Lookahead { dst } => {
                let dst = self.code.layout.var(*dst);
                if dst.is_narrow() {
                    self.emit(Op::Lookahead { width: dst.width, dst: dst.slot });
                } else {
                    self.emit_slow(SlowOp::LookaheadWide { dst });
                }
            }
            Inst::Advance { bits } => {
                let bits = self.narrow(bits);
                self.emit(Op::Advance { bits });
            }
            Inst::PacketLength { dst } => {
                let dst = self.code.layout.var(*dst);
                self.emit(Op::PacketLength { dst: dst.slot, shift: cut(dst) });
            }
            Inst::Verify { cond, error } => {
                let (cond, error) = (self.narrow(cond), self.narrow(error));
                self.emit(Op::Verify { cond, error });
            }
            Inst::ValueSetMatch { dst, set, keys } => {
                let dst = self.code.layout.var(*dst).slot;
                let keys = self.operands(keys);
                self.emit_slow(SlowOp::ValueSetMatch { dst, set: *set, keys });
            }
            _ => {}
        }
    }

    fn field_words(&self, stack: StackId, field: u32) -> Box<[u32]> {
        let elements = &self.program.stacks[stack.index()].elements;
        let field = |header: &HeaderId| self.program.headers[header.index()].fields[field as usize];
        elements.iter().map(|header| self.code.layout.var(field(header)).slot).collect()
    }

    fn validity_words(&self, stack: StackId) -> Box<[u32]> {
        let elements = &self.program.stacks[stack.index()].elements;
        elements.iter().map(|&header| self.code.layout.valid(header)).collect()
    }

    fn shift(&mut self, stack: StackId, count: u32, push: bool) {
        let elements = self.validity_words(stack);
        let first = self.program.stacks[stack.index()].elements.first();
        let words = first.map_or(0, |&header| self.code.layout.header_words(header));
        let next = self.code.layout.stack(stack);
        self.emit_slow(SlowOp::StackShift { next, words, elements, count, push });
    }

    fn set_valid(&mut self, header: HeaderId) {
        self.emit(Op::SetValid { header: header.0 });
        if self.program.headers[header.index()].union.is_some() {
            self.emit_slow(SlowOp::ClearRivals { header: header.0 });
        }
    }

    fn call(&mut self, action: p4cc_ir::ActionId, args: &[Operand]) {
        // Arguments go through temporaries first: one may read a parameter that another overwrites.
        let mut temp = self.code.layout.args;
        let sources: Vec<FrameLocation> = args.iter().map(|arg| self.code.layout.operand(arg)).collect();
        let params = &self.program.actions[action.index()].params;
        let params: Vec<FrameLocation> = params.iter().map(|param| self.code.layout.var(param.var)).collect();
        if let ([source], [param]) = (&sources[..], &params[..]) {
            self.move_words(param.slot, source.slot, param.words());
        } else {
            for source in &sources {
                self.move_words(temp, source.slot, source.words());
                temp += source.words();
            }
            temp = self.code.layout.args;
            for param in &params {
                self.move_words(param.slot, temp, param.words());
                temp += param.words();
            }
        }
        self.emit(Op::Call { action: action.0 });
    }

    fn move_words(&mut self, dst: u32, src: u32, words: u32) {
        match words {
            1 => self.emit(Op::Move { dst, src }),
            _ => self.emit(Op::CopyWords { dst, src, words }),
        }
    }

    fn assign(&mut self, dst: VarId, src: &Operand) {
        let (dst, src) = (self.code.layout.var(dst), self.code.layout.operand(src));
        self.move_words(dst.slot, src.slot, dst.words());
    }

    fn unary(&mut self, dst: VarId, op: UnOp, src: &Operand) {
        let (dst, src) = (self.code.layout.var(dst), self.code.layout.operand(src));
        let args = Args { dst: dst.slot, a: src.slot, b: src.slot };
        match (dst.is_narrow(), op) {
            (true, UnOp::Not) => self.emit(Op::Not(cut(dst), args)),
            (true, UnOp::Neg) => self.emit(Op::Neg(cut(dst), args)),
            (false, UnOp::Not) => self.emit_wide(WideKind::Not, dst, src, src),
            (false, UnOp::Neg) => self.emit_wide(WideKind::Neg, dst, src, src),
        }
    }

    fn binary(&mut self, dst: VarId, op: BinOp, a: &Operand, b: &Operand) {
        let (dst, a) = (self.code.layout.var(dst), self.code.layout.operand(a));
        let b = if matches!(op, BinOp::Shl | BinOp::Shr { .. }) {
            FrameLocation { slot: self.narrow(b), width: 64, varbit: false }
        } else {
            self.code.layout.operand(b)
        };
        if a.varbit {
            let negate = op == BinOp::Ne;
            let (dst, words) = (dst.slot, a.words());
            self.emit_slow(SlowOp::EqWords { dst, a: a.slot, b: b.slot, words, negate });
        } else if a.is_narrow() {
            let op = narrow_binary(op, cut(a), Args { dst: dst.slot, a: a.slot, b: b.slot });
            self.emit(op);
        } else {
            self.emit_wide(WideKind::Binary(op), dst, a, b);
        }
    }

    pub(super) fn resize_places(&mut self, dst: FrameLocation, src: FrameLocation, signed: bool) {
        if !dst.is_narrow() || !src.is_narrow() {
            self.emit_wide(WideKind::Resize { signed }, dst, src, src);
        } else if signed && dst.width > src.width {
            let (shift, from) = (cut(dst), cut(src));
            self.emit(Op::SignExtend { shift, from, dst: dst.slot, src: src.slot });
        } else if dst.width < src.width {
            self.emit(Op::Truncate { shift: cut(dst), dst: dst.slot, src: src.slot });
        } else {
            self.emit(Op::Move { dst: dst.slot, src: src.slot });
        }
    }

    fn concat(&mut self, dst: VarId, hi: &Operand, lo: &Operand) {
        let dst = self.code.layout.var(dst);
        let (hi, lo) = (self.code.layout.operand(hi), self.code.layout.operand(lo));
        if dst.is_narrow() {
            let args = Args { dst: dst.slot, a: hi.slot, b: lo.slot };
            self.emit(Op::Concat { low: lo.width as u8, args });
        } else {
            self.emit_wide(WideKind::Concat, dst, hi, lo);
        }
    }

    fn slice(&mut self, dst: VarId, src: &Operand, lo: u32) {
        let (dst, src) = (self.code.layout.var(dst), self.code.layout.operand(src));
        if src.is_narrow() {
            self.emit(Op::Slice { shift: cut(dst), low: lo as u8, dst: dst.slot, src: src.slot });
        } else {
            self.emit_wide(WideKind::Slice { lo }, dst, src, src);
        }
    }

    fn set_slice(&mut self, dst: VarId, lo: u32, src: &Operand) {
        let (dst, src) = (self.code.layout.var(dst), self.code.layout.operand(src));
        if dst.is_narrow() {
            self.emit(Op::SetSlice { shift: cut(src), low: lo as u8, dst: dst.slot, src: src.slot });
        } else {
            self.emit_wide(WideKind::SetSlice { lo }, dst, src, src);
        }
    }
}

fn narrow_binary(op: BinOp, shift: u8, args: Args) -> Op {
    match op {
        BinOp::Add => Op::Add(shift, args),
        BinOp::Sub => Op::Sub(shift, args),
        BinOp::Mul => Op::Mul(shift, args),
        BinOp::Div => Op::Div(args),
        BinOp::Mod => Op::Mod(args),
        BinOp::AddSat { signed: false } => Op::AddSat(shift, args),
        BinOp::AddSat { signed: true } => Op::AddSatSigned(shift, args),
        BinOp::SubSat { signed: false } => Op::SubSat(args),
        BinOp::SubSat { signed: true } => Op::SubSatSigned(shift, args),
        BinOp::And => Op::And(args),
        BinOp::Or => Op::Or(args),
        BinOp::Xor => Op::Xor(args),
        BinOp::Shl => Op::Shl(shift, args),
        BinOp::Shr { signed: false } => Op::Shr(args),
        BinOp::Shr { signed: true } => Op::ShrSigned(shift, args),
        BinOp::Eq => Op::Eq(args),
        BinOp::Ne => Op::Ne(args),
        BinOp::Lt { signed: false } => Op::Lt(args),
        BinOp::Lt { signed: true } => Op::LtSigned(shift, args),
        BinOp::Le { signed: false } => Op::Le(args),
        BinOp::Le { signed: true } => Op::LeSigned(shift, args),
    }
}
