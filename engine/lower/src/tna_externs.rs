//! Calls of TNA's externs.
//!
//! They become the calls that v1model and PSA have. What the chip's deparser sends beside the packet, mirror
//! headers and what a resubmission keeps, is a variable that a field list names; the switch writes its bits
//! in front of the copy.

use super::Lowerer;
use super::object::Object;
use super::object::TnaObject;
use super::storage::{Rvalue, StaticStorage};
use super::tna_objects::HalfTypes;
use num_traits::ToPrimitive;
use p4cc_ir::limits::MAX_WIDTH;
use p4cc_ir::{
    BinOp, Bits, CloneKind, DigestId, ExternCall, FieldList, HashAlgorithm, Inst, Operand, TNA_NO_PORT,
    Terminator, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::Call;
use p4cc_types::ty::Ty;

/// Width of the ones' complement sum.
const SUM_BITS: u32 = 16;
/// Numbers of field lists from here on are not those of `@field_list`, which are 8 bits wide.
const FIRST_LIST: u32 = 1 << 8;

fn constant(width: u32, value: u128) -> Operand {
    Operand::Const(Bits::from_u128(width, value))
}

fn nothing() -> Rvalue {
    Rvalue::Struct(Vec::new())
}

impl Lowerer<'_> {
    /// A method of an object as TNA has it; `None` in the outer option if v1model's reading is the same.
    pub(super) fn tna_method(
        &mut self,
        object: Object,
        name: &str,
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        let made = match (object, name) {
            (Object::Register(_), "read") => return self.psa_method(object, name, call, ret),
            (Object::Register(register), "clear") => self.clear_register(register, call),
            (Object::Counter(counter) | Object::DirectCounter(counter), "count") => {
                self.tna_count(counter, call)
            }
            (Object::Meter(meter) | Object::DirectMeter(meter), "execute") => self.tna_meter(meter, call),
            (Object::Tna(object), _) => self.tna_object_method(object, name, call, ret),
            _ => return None,
        };
        Some(made)
    }

    fn tna_object_method(
        &mut self,
        object: TnaObject,
        name: &str,
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Rvalue> {
        match (object, name) {
            (TnaObject::RegisterAction(at), _) => self.register_action_method(at, name, call, ret),
            (TnaObject::DirectRegister(register), "read" | "write") => {
                self.direct_register_method(register, name, call, ret)
            }
            (TnaObject::DirectRegister(register), "clear") => self.clear_register(register, call),
            (TnaObject::MathUnit(at), "execute") => self.math(at, call),
            (TnaObject::Filter(filter), "execute") => self.execute_filter(filter, call),
            (TnaObject::RegisterParam(register), "read") => {
                self.note_param(register);
                let ty = self.out.registers.get(register.index())?.ty;
                let dst = self.temp(ty);
                let index = constant(32, 0);
                self.emit(Inst::Extern(ExternCall::RegisterRead { register, dst, index }));
                Some(Rvalue::Scalar(Operand::Var(dst)))
            }
            (TnaObject::Checksum(sum), _) => self.tna_checksum(sum, name, call),
            (TnaObject::ParserCounter(counter), _) => self.parser_counter(counter, name, call),
            // It says whom a congested input buffer drops first; the model has no such buffer.
            (TnaObject::ParserPriority, "set") => self.arg(call, 0).map(|_| nothing()),
            (TnaObject::Hash(hash), "get") => self.tna_hash(hash, call),
            (TnaObject::WideIdentity(width), "get") => self.wide_identity(width, call),
            (TnaObject::Random, "get") => self.tna_random(call, ret),
            (TnaObject::Mirror(number), "emit") => self.mirror(number, call),
            (TnaObject::Resubmit(number), "emit") => self.resubmit(number, call),
            (TnaObject::Pktgen, "emit") => self.start_generator(call),
            (TnaObject::Digest(digest, number), "pack") => self.tna_pack(digest, number, call),
            _ => {
                self.not_supported(call.span, format!("method `{name}` of this extern of TNA"));
                None
            }
        }
    }

    pub(super) fn resized(&mut self, src: Operand, ty: VarType) -> VarId {
        let dst = self.temp(ty);
        self.emit(Inst::Resize { dst, src, signed: false });
        dst
    }

    fn tna_random(&mut self, call: &Call, ret: Option<&Ty>) -> Option<Rvalue> {
        // A number that nobody takes is drawn nevertheless.
        let ty = ret.and_then(|ret| self.var_type(ret)).unwrap_or(VarType::Bit(32));
        let width = ty.width();
        if width > 64 {
            self.not_supported(call.span, "random numbers that are not of 1 to 64 bits");
            return None;
        }
        let dst = self.temp(ty);
        let (low, high) = (constant(width, 0), Operand::Const(super::table::ones(width)));
        self.emit(Inst::Extern(ExternCall::Random { dst, low, high }));
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    fn tna_checksum(&mut self, sum: VarId, name: &str, call: &Call) -> Option<Rvalue> {
        match name {
            "add" | "subtract" => {
                self.add_to_sum(sum, name == "subtract", call)?;
                Some(nothing())
            }
            // The sum itself: what `update` is given then adds the rest of the packet.
            "get" => {
                let dst = self.temp(VarType::Bit(SUM_BITS));
                self.emit(Inst::Assign { dst, src: Operand::Var(sum) });
                Some(Rvalue::Scalar(Operand::Var(dst)))
            }
            // The chip's flag is set where the sum is wrong, whatever the published comment says.
            "verify" => {
                let flag = self.temp(VarType::Bool);
                let (a, b) = (Operand::Var(sum), constant(SUM_BITS, 0xffff));
                self.emit(Inst::Binary { dst: flag, op: BinOp::Ne, a, b });
                Some(Rvalue::Scalar(Operand::Var(flag)))
            }
            "update" => self.update_sum(call),
            "subtract_all_and_deposit" => self.deposit(sum, call),
            _ => {
                self.not_supported(call.span, format!("method `Checksum.{name}`"));
                None
            }
        }
    }

    fn update_sum(&mut self, call: &Call) -> Option<Rvalue> {
        let mut data = self.data(call, 0)?;
        self.whole_words(&mut data, call.span)?;
        let dst = self.temp(VarType::Bit(SUM_BITS));
        let (base, max) = (constant(SUM_BITS, 0), constant(32, 1 << SUM_BITS));
        let algorithm = HashAlgorithm::Csum16;
        self.emit(Inst::Extern(ExternCall::Hash { dst, algorithm, base, data, max }));
        if let Some(Some(_)) = call.args.get(1) {
            let wanted = self.arg(call, 1)?;
            let zero = self.equals(Operand::Var(dst), SUM_BITS, 0);
            let both = self.temp(VarType::Bool);
            self.emit(Inst::Binary { dst: both, op: BinOp::And, a: Operand::Var(zero), b: wanted });
            self.if_valid(both, |this, holds| {
                if holds {
                    this.emit(Inst::Assign { dst, src: constant(SUM_BITS, 0xffff) });
                }
            });
        }
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    pub(super) fn equals(&mut self, a: Operand, width: u32, value: u128) -> VarId {
        let dst = self.temp(VarType::Bool);
        self.emit(Inst::Binary { dst, op: BinOp::Eq, a, b: constant(width, value) });
        dst
    }

    /// The half of a pipe whose deparser this is.
    fn deparsed_half(&mut self, what: &str, span: Span) -> Option<HalfTypes> {
        match self.tna.half {
            Some(half) if self.in_deparser => Some(half),
            _ => self.refused(span, format!("`{what}` cannot be called here"), "only a deparser can call it"),
        }
    }

    /// Makes code that runs if a type was written and has the number that an object is for.
    fn if_type(
        &mut self,
        var: VarId,
        number: Option<u32>,
        make: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<Rvalue> {
        let Some(flag) = self.tna.half.and_then(|half| half.is_written(var)) else {
            return self.if_number(var, number, make);
        };
        let (then, end) = (self.func.block(""), self.func.block(""));
        self.func.end(Terminator::Branch { cond: Operand::Var(flag), then, otherwise: end });
        self.func.open(then);
        let made = self.if_number(var, number, make);
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        made
    }

    /// Makes code that runs if a variable has the number that an object is for.
    fn if_number(
        &mut self,
        var: VarId,
        number: Option<u32>,
        make: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<Rvalue> {
        let Some(number) = number else { return make(self).map(|()| nothing()) };
        let width = self.out.vars.get(var.index())?.ty.width();
        let flag = self.equals(Operand::Var(var), width, u128::from(number));
        let (then, end) = (self.func.block(""), self.func.block(""));
        self.func.end(Terminator::Branch { cond: Operand::Var(flag), then, otherwise: end });
        self.func.open(then);
        let made = make(self);
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        made.map(|()| nothing())
    }

    fn mirror(&mut self, number: Option<u32>, call: &Call) -> Option<Rvalue> {
        let half = self.deparsed_half("Mirror.emit", call.span)?;
        self.if_type(half.mirror, number, |this| {
            let session = this.arg_before(call, 0)?;
            let field_list = match call.args.get(1) {
                Some(Some(_)) => Some(this.header_list(call, 1)?),
                _ => None,
            };
            let kind = if half.is_egress { CloneKind::E2E } else { CloneKind::I2E };
            this.emit(Inst::Extern(ExternCall::Clone { kind, session, field_list }));
            Some(())
        })
    }

    fn resubmit(&mut self, number: Option<u32>, call: &Call) -> Option<Rvalue> {
        let half = self.deparsed_half("Resubmit.emit", call.span)?;
        let Some(var) = half.resubmit else {
            return self.refused(
                call.span,
                "egress cannot resubmit a packet",
                "only the ingress deparser can",
            );
        };
        self.if_type(var, number, |this| {
            let field_list = match call.args.first() {
                Some(Some(_)) => this.header_list(call, 0)?,
                _ => this.list_of(Vec::new()),
            };
            this.emit(Inst::Extern(ExternCall::Resubmit { field_list }));
            Some(())
        })
    }

    /// What the packet generator puts into its packets; the switch asks `pktgen` whether it starts.
    fn start_generator(&mut self, call: &Call) -> Option<Rvalue> {
        let half = self.deparsed_half("Pktgen.emit", call.span)?;
        if half.is_egress {
            let help = "only the ingress deparser can";
            return self.refused(call.span, "egress cannot start the packet generator", help);
        }
        let field_list = self.header_list(call, 0)?;
        self.emit(Inst::Extern(ExternCall::Recirculate { field_list }));
        Some(nothing())
    }

    fn tna_pack(&mut self, digest: DigestId, number: Option<u32>, call: &Call) -> Option<Rvalue> {
        let half = self.deparsed_half("Digest.pack", call.span)?;
        let Some(var) = half.digest else {
            return self.refused(call.span, "egress cannot send a digest", "only the ingress deparser can");
        };
        self.if_type(var, number, |this| {
            let data = this.digest_data(digest, call)?;
            this.emit(Inst::Extern(ExternCall::Digest { digest, data }));
            Some(())
        })
    }

    /// Keeps a header as one number that a field list names.
    fn header_list(&mut self, call: &Call, at: usize) -> Option<Operand> {
        let span = self.arg_expr(call, at)?.span;
        let mut data = self.data(call, at)?;
        let bits = self.data_bits(&data)?;
        if bits == 0 {
            return Some(self.list_of(Vec::new()));
        }
        // The chip sends whole bytes.
        if let missing @ 1.. = bits.next_multiple_of(8) - bits {
            data.push(constant(missing, 0));
        }
        let src = self.one_number(data, span)?;
        let width = self.operand_width(&src)?;
        let name = format!("{}.sent{}", self.name, self.out.vars.len());
        let dst = self.new_var(&name, VarType::Bit(width), VarKind::Metadata);
        self.emit(Inst::Assign { dst, src });
        Some(self.list_of(vec![dst]))
    }

    /// Values one behind the other, as many bits as a variable may have.
    pub(super) fn one_number(&mut self, data: Vec<Operand>, span: Span) -> Option<Operand> {
        let bits: u64 = data.iter().filter_map(|value| self.operand_width(value)).map(u64::from).sum();
        if (1..=u64::from(MAX_WIDTH)).contains(&bits) {
            return self.packed(data);
        }
        let message = format!("the data has {bits} bits; 1 to {MAX_WIDTH} are allowed here");
        self.refused(span, message, "pass other fields")
    }

    fn list_of(&mut self, vars: Vec<VarId>) -> Operand {
        let last = self.out.field_lists.iter().map(|list| list.index).max().unwrap_or(0);
        let index = last.saturating_add(1).max(FIRST_LIST);
        self.out.field_lists.push(FieldList { index, vars });
        constant(32, u128::from(index))
    }

    /// An extern function of TNA with a result; `None` in the outer option if TNA has none of that name.
    pub(super) fn tna_function(
        &mut self,
        name: &str,
        types: &[Ty],
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        Some(match name {
            "max" | "min" => self.extreme(call, name == "max"),
            "funnel_shift_right" => self.funnel_shift(call),
            "port_metadata_unpack" => self.port_metadata(types.first().or(ret), call.span),
            "sizeInBits" | "sizeInBytes" => self.size_of(call, name == "sizeInBytes"),
            "invalidate" => self.invalidate_field(call),
            "is_validated" => {
                self.not_supported(call.span, "`is_validated`");
                None
            }
            "verify" => {
                self.push(
                    Diagnostic::warning(
                        call.span,
                        "`verify` has no effect on the chip, because p4c removes \
                        it",
                    )
                    .with_label("in p4cc it rejects the packet")
                    .with_help(
                        "use `select` without a case for it: values without a matching case are \
                            dropped",
                    ),
                );
                return None;
            }
            _ => return None,
        })
    }

    fn extreme(&mut self, call: &Call, greatest: bool) -> Option<Rvalue> {
        let ty = self.arg_expr(call, 0)?.ty.clone();
        let (a, b) = (self.arg_before(call, 0)?, self.arg(call, 1)?);
        let Some(scalar @ (VarType::Bit(_) | VarType::Int(_))) = self.var_type(&ty) else {
            return self.shape_error(call.span);
        };
        let (dst, less) = (self.temp(scalar), self.temp(VarType::Bool));
        let op = BinOp::Lt { signed: matches!(scalar, VarType::Int(_)) };
        self.emit(Inst::Binary { dst: less, op, a: a.clone(), b: b.clone() });
        self.if_valid(less, |this, less| {
            let src = if less == greatest { b.clone() } else { a.clone() };
            this.emit(Inst::Assign { dst, src });
        });
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// The low bits of two numbers, one behind the other, shifted right.
    fn funnel_shift(&mut self, call: &Call) -> Option<Rvalue> {
        let (hi, lo) = (self.arg_before(call, 1)?, self.arg(call, 2)?);
        let amount = self.arg_expr(call, 3)?;
        let (span, amount) = (amount.span, self.const_value(amount)?);
        let width = self.operand_width(&lo)?;
        if 2 * width > MAX_WIDTH {
            return self.refused(call.span, "the shifted fields are too wide", "shift by fewer bits");
        }
        let by = amount.as_int().and_then(ToPrimitive::to_u32).filter(|by| *by <= width);
        let Some(by) = by else {
            return self.refused(
                span,
                "the shift amount exceeds the width of the field",
                "shift by at most its width",
            );
        };
        let (whole, dst) = (self.temp(VarType::Bit(2 * width)), self.temp(VarType::Bit(width)));
        self.emit(Inst::Concat { dst: whole, hi, lo });
        self.emit(Inst::Slice { dst, src: Operand::Var(whole), lo: by });
        let arg = self.arg_expr(call, 0)?;
        let target = self.target(arg)?;
        self.assign(target, Rvalue::Scalar(Operand::Var(dst)), &arg.ty, call.span)?;
        Some(nothing())
    }

    /// Reads what stands in front of the packet, all of which is taken.
    fn port_metadata(&mut self, ty: Option<&Ty>, span: Span) -> Option<Rvalue> {
        if !self.flow.in_parser {
            let message = "`port_metadata_unpack` cannot be called here";
            return self.refused(span, message, "only the ingress parser can read port metadata");
        }
        let bits = 8 * self.tna.chip.port_metadata_bytes() as u32;
        let ty = ty?;
        if self.hir.width_bits(ty).is_none_or(|width| width > bits) {
            let message = format!("port metadata has {bits} bits, fewer than this type");
            return self.refused(span, message, "remove fields");
        }
        self.notes.port_metadata = self.data_type(ty);
        let fields = self.hir.fields(ty).iter();
        let fields = fields.map(|field| Some((field.name.clone(), self.hir.width_bits(&field.ty)?)));
        self.tna.port_metadata = fields.collect();
        let value = self.lookahead(ty, span)?;
        self.emit(Inst::Advance { bits: constant(32, u128::from(bits)) });
        Some(value)
    }

    fn size_of(&mut self, call: &Call, in_bytes: bool) -> Option<Rvalue> {
        let arg = self.arg_expr(call, 0)?;
        let Some(bits) = self.hir.width_bits(&arg.ty) else { return self.shape_error(call.span) };
        let size = if in_bytes { bits.div_ceil(8) } else { bits };
        Some(Rvalue::Scalar(constant(32, u128::from(size))))
    }

    /// A field that the traffic manager is not to see.
    fn invalidate_field(&mut self, call: &Call) -> Option<Rvalue> {
        let arg = self.arg_expr(call, 0)?;
        let span = arg.span;
        let place = self.static_place(arg);
        let half = self.tna.half;
        if let Some(StaticStorage::Scalar(dst)) = place {
            let name = self.out.vars.get(dst.index())?.name.clone();
            let width = self.out.vars.get(dst.index())?.ty.width();
            let value = if half.is_some_and(|half| half.unicast_port == Some(dst)) {
                Some(u128::from(TNA_NO_PORT))
            } else {
                let group = name.ends_with(".mcast_grp_a") || name.ends_with(".mcast_grp_b");
                group.then_some(0)
            };
            if let Some(value) = value {
                self.emit(Inst::Assign { dst, src: constant(width, value) });
                return Some(nothing());
            }
        }
        self.not_supported(
            span,
            "`invalidate` of other fields than the unicast port and the multicast groups",
        );
        None
    }

    /// Puts the data of a call behind those that the calls before it in one state of the parser gave to
    /// the checksum, as the chip does: a byte behind an odd number of bytes is a word's second one. The
    /// rest of the words are zeros.
    pub(super) fn place_in_sum(&mut self, sum: VarId, data: &mut Vec<Operand>, span: Span) -> Option<()> {
        let bits = self.data_bits(data)?;
        let at = self.tna.summed.iter().position(|(known, ..)| *known == sum);
        let at = at.unwrap_or_else(|| {
            self.tna.summed.push((sum, 0, span));
            self.tna.summed.len() - 1
        });
        let (_, before, last) = self.tna.summed.get_mut(at)?;
        let start = core::mem::replace(before, before.wrapping_add(bits)) % SUM_BITS;
        *last = span;
        if start > 0 {
            data.insert(0, constant(start, 0));
        }
        if let missing @ 1.. = (start + bits).next_multiple_of(SUM_BITS) - (start + bits) {
            data.push(constant(missing, 0));
        }
        Some(())
    }

    /// At the end of a parser's state: each checksum was given whole bytes.
    pub(super) fn end_sums(&mut self) -> Option<()> {
        let summed = core::mem::take(&mut self.tna.summed);
        let Some((_, bits, span)) = summed.into_iter().find(|(_, bits, _)| bits % 8 != 0) else {
            return Some(());
        };
        self.push(
            Diagnostic::error(
                span,
                format!("the state passes {bits} bits to the checksum, which takes whole bytes"),
            )
            .with_help("pass the adjacent fields, too, or zeros to fill the last byte"),
        );
        None
    }

    /// Fills the last 16-bit word with zeros.
    pub(super) fn whole_words(&mut self, data: &mut Vec<Operand>, span: Span) -> Option<()> {
        let bits = self.data_bits(data)?;
        if bits % 8 != 0 {
            self.push(
                Diagnostic::error(span, format!("the data has {bits} bits; a checksum takes whole bytes"))
                    .with_help("add zero fields to fill the last byte"),
            );
            return None;
        }
        if bits % SUM_BITS != 0 {
            data.push(constant(8, 0));
        }
        Some(())
    }
}
