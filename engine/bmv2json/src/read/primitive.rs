//! Primitives: what actions, parser states and deparsers do.

use serde_json::Value;

use super::Reader;
use super::json::{NOT_P4C, Res, fault, get, list, of_type, opt, parameters, text, typed};
use super::lvalue::VALID;
use super::names::named;
use super::shape::INDEX_WIDTH;
use super::term::{HeaderRef, Lvalue, Term, UnionRef, Want};
use p4cc_ir::{
    BinOp, Bits, CloneKind, ExternCall, HashAlgorithm, HeaderId, Inst, Operand, StackId, Terminator, VarId,
    VarType,
};

/// The header whose validity a field stands for.
fn validity(place: &Value) -> Option<&Value> {
    let ("field", pair) = typed(place).ok()? else { return None };
    match pair.as_array()?.as_slice() {
        [header, field] if field.as_str() == Some(VALID) => Some(header),
        _ => None,
    }
}

impl<'j> Reader<'j> {
    /// One primitive call. Jumps and `exit` are the action's own.
    pub(super) fn primitive(&mut self, call: &'j Value) -> Res<'j, ()> {
        self.b.next_statement();
        if self.b.over().is_some() {
            return Ok(());
        }
        let op = text(get(call, "op")?)?;
        match op {
            "assign" | "modify_field" => {
                let [dst, src] = parameters::<2>(call)?;
                self.assign(dst, src)
            }
            "assign_VL" => self.assign_varbit(call),
            "assign_header" | "copy_header" => {
                let [dst, src] = parameters::<2>(call)?;
                let (dst, src) = (self.header_ref(dst)?, self.header_ref(src)?);
                self.assign_header(call, &dst, &src)
            }
            "assign_union" => {
                let [dst, src] = parameters::<2>(call)?;
                let (dst, src) = (self.union_ref(dst)?, self.union_ref(src)?);
                self.assign_union(call, &dst, &src)
            }
            "assign_header_stack" | "assign_union_stack" => self.assign_stack(call),
            "push" | "pop" => self.push_or_pop(call, op == "push"),
            "add_header" | "add_header_fast" => {
                let [header] = parameters::<1>(call)?;
                let header = self.header_ref(header)?;
                self.add_header(call, &header, op == "add_header")
            }
            "remove_header" => {
                let [header] = parameters::<1>(call)?;
                let header = self.header_ref(header)?;
                self.set_validity(call, &header, false)
            }
            "no_op" => Ok(()),
            "assert" | "assume" => {
                let [cond] = parameters::<1>(call)?;
                let cond = self.condition(cond)?;
                self.extern_call(call, ExternCall::Assert { cond, place: format!("{op}{}", place_of(call)) })
            }
            "log_msg" => self.log_message(call),
            "add_to_field" | "subtract_from_field" => {
                let [dst, src] = parameters::<2>(call)?;
                let op = if op == "add_to_field" { BinOp::Add } else { BinOp::Sub };
                self.compute(dst, op, dst, src)
            }
            _ => self.old_or_extern(call, op),
        }
    }

    /// Arithmetic of the format's first version, `dst = a op b`, and v1model's externs.
    fn old_or_extern(&mut self, call: &'j Value, op: &str) -> Res<'j, ()> {
        let binary = match op {
            "add" => BinOp::Add,
            "subtract" => BinOp::Sub,
            "bit_xor" => BinOp::Xor,
            "bit_or" => BinOp::Or,
            "bit_and" => BinOp::And,
            "shift_left" => BinOp::Shl,
            "shift_right" => BinOp::Shr { signed: false },
            _ if self.in_deparser => {
                return fault(call, format!("`{op:.60}` cannot run in a deparser"), NOT_P4C);
            }
            _ => return self.extern_primitive(call, op),
        };
        let [dst, a, b] = parameters::<3>(call)?;
        self.compute(dst, binary, a, b)
    }

    fn compute(&mut self, dst: &'j Value, op: BinOp, a: &'j Value, b: &'j Value) -> Res<'j, ()> {
        let place = self.place(dst)?;
        let width = self.place_type(&place).width();
        let result = if matches!(op, BinOp::Shr { .. }) {
            let (a, b) = (self.exact(a)?, self.exact(b)?);
            let (width_a, signed) = (a.width, a.signed);
            let shifted = self.b.binary(BinOp::Shr { signed }, width_a, a.operand, b.operand);
            self.b.resize(shifted, width_a, signed, width)
        } else {
            let a = self.low(a, width)?;
            let b = if op == BinOp::Shl { self.exact(b)?.operand } else { self.low(b, width)? };
            self.b.binary(op, width, a, b)
        };
        self.write(place, result);
        Ok(())
    }

    /// `dst = src`, cut to the width of `dst`.
    pub(super) fn assign(&mut self, dst: &'j Value, src: &'j Value) -> Res<'j, ()> {
        if let Some(header) = validity(dst) {
            let header = self.header_ref(header)?;
            return self.assign_validity(dst, &header, src);
        }
        let place = self.place(dst)?;
        let ty = self.place_type(&place);
        if let (VarType::Varbit(_), Lvalue::Var(var)) = (ty, &place) {
            return self.copy_varbit(src, *var, src);
        }
        let value = self.low(src, ty.width())?;
        self.write(place, value);
        Ok(())
    }

    fn assign_varbit(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [dst, src] = parameters::<2>(call)?;
        match self.place(dst)? {
            Lvalue::Var(var) if matches!(self.b.ty(var), VarType::Varbit(_)) => {
                self.copy_varbit(call, var, src)
            }
            _ => fault(dst, "this is not a varbit", NOT_P4C),
        }
    }

    fn copy_varbit(&mut self, at: &'j Value, dst: VarId, src: &'j Value) -> Res<'j, ()> {
        match self.term(src, Want::Exact)? {
            Term::Varbit(from) if self.b.ty(from) == self.b.ty(dst) => {
                self.b.emit(Inst::Assign { dst, src: Operand::Var(from) });
                Ok(())
            }
            _ => fault(at, "a varbit is assigned from what is not a varbit of its width", NOT_P4C),
        }
    }

    pub(super) fn extern_call(&mut self, call: &'j Value, extern_call: ExternCall) -> Res<'j, ()> {
        if self.in_deparser {
            return fault(call, "an extern is called in a deparser", NOT_P4C);
        }
        self.b.emit(Inst::Extern(extern_call));
        Ok(())
    }

    fn log_message(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [format, args] = parameters::<2>(call)?;
        let format = text(of_type(format, "string")?)?.to_owned();
        let mut values = Vec::new();
        let args = of_type(args, "parameters_vector")?;
        // p4c writes an empty object for no arguments.
        if args.as_object().is_none_or(|members| !members.is_empty()) {
            for arg in list(args)? {
                values.push(self.exact(arg)?.operand);
            }
        }
        self.extern_call(call, ExternCall::LogMsg { format, args: values })
    }

    /// Makes a header valid; its fields are zero if it was not (as BMv2 does).
    fn add_header(&mut self, at: &'j Value, header: &HeaderRef<'j>, clear: bool) -> Res<'j, ()> {
        let fixed = match header {
            HeaderRef::Named(_) | HeaderRef::Fixed(_) => self.fixed_header(at, header)?,
            _ => None,
        };
        if let (Some(id), true) = (fixed, clear) {
            let valid = self.is_valid(id);
            let (zero, join) = (self.b.block(""), self.b.block(""));
            self.b.end(Terminator::Branch { cond: valid, then: join, otherwise: zero });
            self.b.go_to(zero);
            for var in self.program.headers[id.index()].fields.clone() {
                let src = match self.b.ty(var) {
                    VarType::Varbit(width) => Operand::Var(self.empty_varbit(width)),
                    ty => Operand::Const(Bits::zero(ty.width())),
                };
                self.b.emit(Inst::Assign { dst: var, src });
            }
            self.b.fall_into(join);
        }
        self.set_validity(at, header, true)
    }

    /// A varbit that is never written: its length is zero.
    fn empty_varbit(&mut self, width: u32) -> VarId {
        if let Some(&var) = self.empty_varbits.get(&width) {
            return var;
        }
        let name = format!("$empty{width}");
        let var = self.b.var(name, VarType::Varbit(width), p4cc_ir::VarKind::Local);
        self.empty_varbits.insert(width, var);
        var
    }

    /// `setValid` and `setInvalid` of a parser: p4c assigns 1 or 0 to the field `$valid$`.
    fn assign_validity(&mut self, at: &'j Value, header: &HeaderRef<'j>, src: &'j Value) -> Res<'j, ()> {
        match self.low(src, 1)? {
            Operand::Const(value) => self.set_validity(at, header, !value.is_zero()),
            valid => {
                let (then, otherwise, join) = (self.b.block(""), self.b.block(""), self.b.block(""));
                self.b.end(Terminator::Branch { cond: valid, then, otherwise });
                self.b.go_to(then);
                self.set_validity(at, header, true)?;
                self.b.end(Terminator::Jump(join));
                self.b.go_to(otherwise);
                self.set_validity(at, header, false)?;
                self.b.fall_into(join);
                Ok(())
            }
        }
    }

    fn set_validity(&mut self, at: &'j Value, header: &HeaderRef<'j>, valid: bool) -> Res<'j, ()> {
        let set = |header: HeaderId| {
            if valid { Inst::SetValid { header } } else { Inst::SetInvalid { header } }
        };
        match header {
            HeaderRef::Named(_) | HeaderRef::Fixed(_) => match self.fixed_header(at, header)? {
                Some(header) => self.b.emit(set(header)),
                None => return fault(at, "metadata are made valid or invalid", NOT_P4C),
            },
            HeaderRef::Element { stack, index } => {
                self.b.emit(Inst::StackSetValid { stack: *stack, index: index.clone(), valid });
            }
            HeaderRef::Chosen { among, index } => {
                let (among, index) = (among.clone(), index.clone());
                self.for_chosen(&among, &index, |reader, &header| reader.b.emit(set(header)));
            }
        }
        Ok(())
    }

    pub(super) fn assign_header(
        &mut self,
        at: &'j Value,
        dst: &HeaderRef<'j>,
        src: &HeaderRef<'j>,
    ) -> Res<'j, ()> {
        if self.header_type_of(at, dst)? != self.header_type_of(at, src)? {
            return fault(at, "a header is assigned from one of another type", NOT_P4C);
        }
        let is_fixed = |header: &HeaderRef<'j>| matches!(header, HeaderRef::Named(_) | HeaderRef::Fixed(_));
        if is_fixed(dst) && is_fixed(src) {
            match (self.fixed_header(at, dst)?, self.fixed_header(at, src)?) {
                (Some(dst), Some(src)) => {
                    self.copy_header(dst, src);
                    return Ok(());
                }
                (None, None) => return self.copy_metadata(at, dst, src),
                _ => return fault(at, "a header and metadata are assigned to each other", NOT_P4C),
            }
        }
        // One of them is chosen at run time: one copy for each element it may be.
        let (mut dsts, mut srcs) = (Vec::new(), Vec::new());
        let dst_index = self.candidates(at, dst, &mut dsts)?;
        let src_index = self.candidates(at, src, &mut srcs)?;
        match (dst_index, src_index) {
            (Some(index), None) => {
                let src = srcs[0];
                self.for_chosen(&dsts, &index, |reader, &dst| {
                    reader.copy_header(dst, src);
                });
            }
            (None, Some(index)) => {
                let dst = dsts[0];
                self.for_chosen(&srcs, &index, |reader, &src| {
                    reader.copy_header(dst, src);
                });
            }
            (None, None) => {}
            (Some(to), Some(from)) => {
                self.for_chosen(&dsts, &to, |reader, &dst| {
                    reader.for_chosen(&srcs, &from, |reader, &src| {
                        reader.copy_header(dst, src);
                    });
                });
            }
        }
        Ok(())
    }

    /// Copies a header; the fields stay as they are when the source is invalid (as BMv2 does).
    fn copy_header(&mut self, dst: HeaderId, src: HeaderId) {
        let valid = self.is_valid(src);
        let (copy, clear, join) = (self.b.block(""), self.b.block(""), self.b.block(""));
        self.b.end(Terminator::Branch { cond: valid, then: copy, otherwise: clear });
        self.b.go_to(copy);
        self.b.emit(Inst::CopyHeader { dst, src });
        self.b.end(Terminator::Jump(join));
        self.b.go_to(clear);
        self.b.emit(Inst::SetInvalid { header: dst });
        self.b.fall_into(join);
    }

    /// Headers that a reference may mean; an index of [`INDEX_WIDTH`] bits when it is chosen at run time.
    fn candidates(
        &mut self,
        at: &'j Value,
        header: &HeaderRef<'j>,
        among: &mut Vec<HeaderId>,
    ) -> Res<'j, Option<Operand>> {
        match header {
            HeaderRef::Element { stack, index } => {
                among.extend(&self.program.stacks[stack.index()].elements);
                let width = match index {
                    Operand::Var(var) => self.b.ty(*var).width(),
                    Operand::Const(bits) => bits.width(),
                };
                if width <= INDEX_WIDTH {
                    return Ok(Some(self.b.resize(index.clone(), width, false, INDEX_WIDTH)));
                }
                fault(at, format!("an index of {width} bits"), "use an index of at most 32 bits")
            }
            HeaderRef::Chosen { among: headers, index } => {
                among.extend(headers);
                Ok(Some(index.clone()))
            }
            fixed => match self.fixed_header(at, fixed)? {
                Some(header) => {
                    among.push(header);
                    Ok(None)
                }
                None => fault(at, "a header and metadata are assigned to each other", NOT_P4C),
            },
        }
    }

    fn copy_metadata(&mut self, at: &'j Value, dst: &HeaderRef<'j>, src: &HeaderRef<'j>) -> Res<'j, ()> {
        let (HeaderRef::Named(dst), HeaderRef::Named(src)) = (dst, src) else {
            return fault(at, "this is not metadata", NOT_P4C);
        };
        let (dst, src) = (self.shapes.slot(at, dst)?.vars, self.shapes.slot(at, src)?.vars);
        for (&dst, &src) in dst.iter().zip(src.iter()) {
            self.b.emit(Inst::Assign { dst, src: Operand::Var(src) });
        }
        Ok(())
    }

    fn assign_union(&mut self, at: &'j Value, dst: &UnionRef<'j>, src: &UnionRef<'j>) -> Res<'j, ()> {
        let (UnionRef::Fixed(dst), UnionRef::Fixed(src)) = (dst, src) else {
            return fault(at, "a union chosen at run time is assigned", "use constant indices");
        };
        let members = |union: &p4cc_ir::UnionId| self.program.unions[union.index()].members.clone();
        let (dst, src) = (members(dst), members(src));
        if dst.len() != src.len() {
            return fault(at, "a union is assigned from one of another type", NOT_P4C);
        }
        for (dst, src) in dst.into_iter().zip(src) {
            self.assign_header(at, &HeaderRef::Fixed(dst), &HeaderRef::Fixed(src))?;
        }
        Ok(())
    }

    /// Copies a stack: its elements and its next index.
    fn assign_stack(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [dst, src] = parameters::<2>(call)?;
        match (self.term(dst, Want::Exact)?, self.term(src, Want::Exact)?) {
            (Term::Stack(to), Term::Stack(from)) => {
                let elements = |stack: StackId| self.program.stacks[stack.index()].elements.clone();
                let (dsts, srcs) = (elements(to), elements(from));
                if dsts.len() != srcs.len() {
                    return fault(call, "a stack is assigned from one of another size", NOT_P4C);
                }
                if to == from {
                    return Ok(());
                }
                self.copy_next_index(to, from, dsts.len());
                for (&dst, &src) in dsts.iter().zip(&srcs) {
                    self.assign_header(call, &HeaderRef::Fixed(dst), &HeaderRef::Fixed(src))?;
                }
                Ok(())
            }
            (Term::UnionStack(to), Term::UnionStack(from)) => {
                let to = self.shapes.union_stack_named(call, to)?;
                let from = self.shapes.union_stack_named(call, from)?;
                if to.unions.len() != from.unions.len() {
                    return fault(call, "a stack is assigned from one of another size", NOT_P4C);
                }
                for (&dst, &src) in to.unions.iter().zip(&from.unions) {
                    self.assign_union(call, &UnionRef::Fixed(dst), &UnionRef::Fixed(src))?;
                }
                self.b.emit(Inst::Assign { dst: to.next, src: Operand::Var(from.next) });
                Ok(())
            }
            _ => fault(call, "these are not two stacks of one kind", NOT_P4C),
        }
    }

    /// The next index has no instruction to set it: popping everything makes it zero, pushing raises it.
    fn copy_next_index(&mut self, to: StackId, from: StackId, size: usize) {
        let next = self.b.temp(INDEX_WIDTH);
        self.b.emit(Inst::StackNextIndex { dst: next, stack: from });
        self.b.emit(Inst::StackPop { stack: to, count: size as u32 });
        let counts: Vec<u32> = (0..=size as u32).collect();
        self.for_chosen(&counts, &Operand::Var(next), |reader, &count| {
            if count > 0 {
                reader.b.emit(Inst::StackPush { stack: to, count });
            }
        });
    }

    fn push_or_pop(&mut self, call: &'j Value, push: bool) -> Res<'j, ()> {
        let [stack, count] = parameters::<2>(call)?;
        let constant = self.number(of_type(count, "hexstr")?)?.to_u32();
        let Some(count) = constant else {
            return fault(count, "the count of a push or pop is not a constant", NOT_P4C);
        };
        match self.term(stack, Want::Exact)? {
            Term::Stack(stack) => {
                let size = self.program.stacks[stack.index()].elements.len() as u32;
                let count = count.min(size);
                self.b.emit(if push {
                    Inst::StackPush { stack, count }
                } else {
                    Inst::StackPop { stack, count }
                });
                Ok(())
            }
            Term::UnionStack(name) => self.shift_unions(call, name, count, push),
            _ => fault(stack, "this is not a stack", NOT_P4C),
        }
    }

    fn shift_unions(&mut self, at: &'j Value, name: &str, count: u32, push: bool) -> Res<'j, ()> {
        let stack = self.shapes.union_stack_named(at, name)?;
        let size = stack.unions.len();
        let count = (count as usize).min(size);
        for step in 0..size {
            let to = if push { size - 1 - step } else { step };
            let from =
                if push { to.checked_sub(count) } else { Some(to + count).filter(|&from| from < size) };
            if let Some(from) = from {
                let (dst, src) = (stack.unions[to], stack.unions[from]);
                self.assign_union(at, &UnionRef::Fixed(dst), &UnionRef::Fixed(src))?;
            } else {
                for header in self.program.unions[stack.unions[to].index()].members.clone() {
                    self.b.emit(Inst::SetInvalid { header });
                }
            }
        }
        let next = Operand::Var(stack.next);
        let constant = |value: usize| super::build::constant(INDEX_WIDTH, value as u64);
        let less = BinOp::Lt { signed: false };
        let moved = if push {
            let sum = self.b.binary(BinOp::Add, INDEX_WIDTH, next, constant(count));
            let past = self.b.binary(less, INDEX_WIDTH, constant(size), sum.clone());
            self.b.select(past, INDEX_WIDTH, constant(size), sum)
        } else {
            self.b.binary(BinOp::SubSat { signed: false }, INDEX_WIDTH, next, constant(count))
        };
        self.b.emit(Inst::Assign { dst: stack.next, src: moved });
        Ok(())
    }

    /// v1model's externs.
    fn extern_primitive(&mut self, call: &'j Value, op: &str) -> Res<'j, ()> {
        match op {
            "mark_to_drop" | "drop" => self.mark_to_drop(call, op == "drop"),
            "count" => {
                let [counter, index] = parameters::<2>(call)?;
                let name = of_type(counter, "counter_array")?;
                let counter = named(name, "counter array", &self.objects.counters)?;
                if self.program.counters[counter.index()].size.is_none() {
                    return fault(name, "a direct counter counts by itself", NOT_P4C);
                }
                let index = self.index(index)?;
                self.extern_call(call, ExternCall::CounterCount { counter, index })
            }
            "execute_meter" => self.execute_meter(call),
            "register_read" => self.register_read(call),
            "register_write" => {
                let [register, index, value] = parameters::<3>(call)?;
                let register =
                    named(of_type(register, "register_array")?, "register array", &self.objects.registers)?;
                let index = self.index(index)?;
                let width = self.program.registers[register.index()].ty.width();
                let value = self.low(value, width)?;
                self.extern_call(call, ExternCall::RegisterWrite { register, index, value })
            }
            "modify_field_with_hash_based_offset" => self.hash(call),
            "modify_field_rng_uniform" => self.random(call),
            "generate_digest" => self.digest(call),
            "clone_ingress_pkt_to_egress" => self.clone_packet(call, CloneKind::I2E),
            "clone_egress_pkt_to_egress" => self.clone_packet(call, CloneKind::E2E),
            "resubmit" | "recirculate" => self.send_again(call, op == "resubmit"),
            "truncate" => {
                let [bytes] = parameters::<1>(call)?;
                let bytes = self.exact(bytes)?.operand;
                self.extern_call(call, ExternCall::Truncate { bytes })
            }
            method if self.is_psa && method.starts_with('_') => self.method(call, method),
            other => {
                let remedy = "use v1model's externs and primitives only";
                fault(call, format!("the primitive `{other:.60}` is unknown"), remedy)
            }
        }
    }

    /// The drop port belongs to the switch, so that a copy of standard metadata takes it from the original.
    fn mark_to_drop(&mut self, call: &'j Value, whole: bool) -> Res<'j, ()> {
        let target = if whole {
            None
        } else {
            let [header] = parameters::<1>(call)?;
            match self.header_ref(header)? {
                HeaderRef::Named(name) => Some(name),
                _ => return fault(header, "this is not standard metadata", NOT_P4C),
            }
        };
        let Some(copy) = target.filter(|&name| name != "standard_metadata") else {
            return self.extern_call(call, ExternCall::MarkToDrop);
        };
        let mut moves = Vec::new();
        for field in ["egress_spec", "mcast_grp"] {
            let own = self.shapes.find_field("standard_metadata", field);
            let (Some(own), Some(copied)) = (own, self.shapes.find_field(copy, field)) else {
                return fault(call, format!("`{copy}` is not standard metadata"), NOT_P4C);
            };
            if self.b.ty(own) != self.b.ty(copied) {
                return fault(call, format!("`{copy}` is not standard metadata"), NOT_P4C);
            }
            let saved = self.b.temp(self.b.ty(own).width());
            self.b.emit(Inst::Assign { dst: saved, src: Operand::Var(own) });
            moves.push((own, copied, saved));
        }
        self.extern_call(call, ExternCall::MarkToDrop)?;
        for (own, copied, saved) in moves {
            self.b.emit(Inst::Assign { dst: copied, src: Operand::Var(own) });
            self.b.emit(Inst::Assign { dst: own, src: Operand::Var(saved) });
        }
        Ok(())
    }

    fn execute_meter(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [meter, index, dst] = parameters::<3>(call)?;
        let name = of_type(meter, "meter_array")?;
        let meter = named(name, "meter array", &self.objects.meters)?;
        if self.program.meters[meter.index()].size.is_none() {
            return fault(name, "a direct meter runs by itself", NOT_P4C);
        }
        let index = self.index(index)?;
        self.store_result(
            dst,
            |width| width,
            |dst| ExternCall::MeterExecute { meter, index, color: None, dst },
        )
    }

    fn register_read(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [dst, register, index] = parameters::<3>(call)?;
        let register =
            named(of_type(register, "register_array")?, "register array", &self.objects.registers)?;
        let index = self.index(index)?;
        let cell = self.program.registers[register.index()].ty.width();
        self.store_result(dst, |_| cell, |dst| ExternCall::RegisterRead { register, dst, index })
    }

    /// Calls an extern that writes a result of some width, and puts it where it belongs.
    pub(super) fn store_result(
        &mut self,
        dst: &'j Value,
        width: impl FnOnce(u32) -> u32,
        call: impl FnOnce(VarId) -> ExternCall,
    ) -> Res<'j, ()> {
        let place = self.place(dst)?;
        let ty = self.place_type(&place);
        if matches!(ty, VarType::Varbit(_)) {
            return fault(dst, "a varbit cannot take this result", NOT_P4C);
        }
        let (target, wanted) = (ty.width(), width(ty.width()));
        if let (Lvalue::Var(var), true) = (&place, target == wanted) {
            return self.extern_call(dst, call(*var));
        }
        let result = self.b.temp(wanted);
        self.extern_call(dst, call(result))?;
        let result = self.b.resize(Operand::Var(result), wanted, false, target);
        self.write(place, result);
        Ok(())
    }

    fn hash(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [dst, base, calculation, max] = parameters::<4>(call)?;
        let name = of_type(calculation, "calculation")?;
        let calculation = named(name, "calculation", &self.objects.calculations)?;
        let (base, max) = (self.exact(base)?.operand, self.exact(max)?.operand);
        let place = self.place(dst)?;
        let ty = self.place_type(&place);
        if matches!(ty, VarType::Varbit(_)) {
            return fault(dst, "a varbit cannot take a hash", NOT_P4C);
        }
        let result = match place {
            Lvalue::Var(var) => var,
            _ => self.b.temp(ty.width()),
        };
        let algorithm: HashAlgorithm = calculation.algorithm;
        self.with_data(calculation.input, |reader, data, payload| {
            if payload {
                return fault(name, "a hash over the payload", "hash header fields and metadata only");
            }
            let call =
                ExternCall::Hash { dst: result, algorithm, base: base.clone(), data, max: max.clone() };
            reader.b.emit(Inst::Extern(call));
            Ok(())
        })?;
        if !matches!(place, Lvalue::Var(_)) {
            self.write(place, Operand::Var(result));
        }
        Ok(())
    }

    fn random(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [dst, low, high] = parameters::<3>(call)?;
        let (low, high) = (self.exact(low)?, self.exact(high)?);
        let place = self.place(dst)?;
        let target = self.place_type(&place).width();
        let width = target.max(low.width).max(high.width);
        let (low, high) = (self.fit(low, width), self.fit(high, width));
        self.store_result(dst, |_| width, |dst| ExternCall::Random { dst, low, high })
    }

    fn digest(&mut self, call: &'j Value) -> Res<'j, ()> {
        let [_, id] = parameters::<2>(call)?;
        let number = self.number(of_type(id, "hexstr")?)?.to_u32();
        let Some(&(digest, elements)) = number.and_then(|id| self.objects.learn_lists.get(&id)) else {
            return fault(id, "there is no such learn list", NOT_P4C);
        };
        let widths: Vec<VarType> =
            self.program.digests[digest.index()].fields.iter().map(|field| field.ty).collect();
        let mut data = Vec::with_capacity(elements.len());
        for (element, ty) in elements.iter().zip(widths) {
            data.push(match self.term(element, Want::Exact)? {
                Term::Varbit(var) => Operand::Var(var),
                _ => self.low(element, ty.width())?,
            });
        }
        self.extern_call(call, ExternCall::Digest { digest, data })
    }

    /// A field list by its id; `None` for 0, which means no list.
    fn field_list_id(&mut self, value: &'j Value) -> Res<'j, Option<Operand>> {
        let (ty, inner) = typed(value)?;
        if ty != "hexstr" {
            return self.low(value, 32).map(Some);
        }
        let id = self.number(inner)?.to_u32();
        let known = |id: &u32| *id == 0 || self.program.field_lists.iter().any(|list| list.index == *id);
        match id.filter(known) {
            Some(0) => Ok(None),
            Some(id) => Ok(Some(super::build::constant(32, u64::from(id)))),
            None => fault(value, "there is no such field list", NOT_P4C),
        }
    }

    fn clone_packet(&mut self, call: &'j Value, kind: CloneKind) -> Res<'j, ()> {
        let [session, list] = parameters::<2>(call)?;
        let session = self.low(session, 32)?;
        let field_list = self.field_list_id(list)?;
        self.extern_call(call, ExternCall::Clone { kind, session, field_list })
    }

    /// BMv2 takes list 0 for "do nothing".
    fn send_again(&mut self, call: &'j Value, resubmit: bool) -> Res<'j, ()> {
        let [list] = parameters::<1>(call)?;
        let Some(field_list) = self.field_list_id(list)? else { return Ok(()) };
        self.extern_call(
            call,
            if resubmit {
                ExternCall::Resubmit { field_list }
            } else {
                ExternCall::Recirculate { field_list }
            },
        )
    }
}

/// Where in the source a call stands, as ` at file:line`; nothing where the document does not say it.
fn place_of(call: &Value) -> String {
    let Some(info) = opt(call, "source_info") else { return String::new() };
    let part = |key: &str| match info.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => format!("{other:.40}"),
        None => String::new(),
    };
    format!(" at {}:{}", part("filename"), part("line"))
}
