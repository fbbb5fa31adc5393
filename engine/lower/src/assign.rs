//! Writing values: scalars, slices, headers with their validity, whole structs.

use super::Lowerer;
use super::storage::{Binding, INDEX_BITS, Rvalue, StaticStorage, Target, UnionStack};
use p4cc_ir::{BinOp, Bits, HeaderId, Inst, Operand, StackId, Terminator, UnOp, VarId, VarKind, VarType};
use p4cc_syntax::Span;
use p4cc_types::hir::{Expr, ExprKind};
use p4cc_types::ids::LocalId;
use p4cc_types::ty::Ty;
use p4cc_types::walk::has_call;
use std::collections::BTreeSet;

impl Lowerer<'_> {
    /// `target = value` as a statement.
    pub(super) fn assign_stmt(&mut self, target: &Expr, value: &Expr) -> Option<()> {
        // The target's place is found first, as the language orders it.
        let place = self.target(target)?;
        if let Some(()) = self.assign_into_var(&place, value) {
            return Some(());
        }
        let mut made = self.rvalue(value)?;
        if let (Target::StaticStorage(StaticStorage::Scalar(dst)), Rvalue::Scalar(src)) = (&place, &made) {
            self.assign_scalar(*dst, src.clone(), value);
            return Some(());
        }
        let written_out = matches!(value.kind, ExprKind::Aggregate(_) | ExprKind::AggregateInOrder(..));
        if written_out && self.overlaps(&place, &made) {
            made = self.snapshot(made, &target.ty, value.span)?;
        }
        self.assign(place, made, &target.ty, value.span)
    }

    /// `target op= value` whose target is found once; `old` stands for what it held.
    pub(super) fn update(&mut self, target: &Expr, old: LocalId, value: &Expr) -> Option<()> {
        let place = self.target(target)?;
        let held = self.read_target(&place, &target.ty)?;
        let held = self.settled(held, &target.ty, target.span)?;
        let held = self.kept(held, target, &[value])?;
        self.bind(old, Binding::Value(held));
        let made = self.rvalue(value)?;
        self.assign(place, made, &target.ty, value.span)
    }

    /// Reads a validity bit straight into its variable, without a temporary.
    fn assign_into_var(&mut self, target: &Target, value: &Expr) -> Option<()> {
        use p4cc_types::hir::{Builtin, Callee};
        let Target::StaticStorage(StaticStorage::Scalar(dst)) = target else { return None };
        let ExprKind::Call(call) = &value.kind else { return None };
        let Callee::Builtin(Builtin::IsValid, object) = &call.callee else { return None };
        if has_call(object) {
            return None;
        }
        let Some(StaticStorage::Header(header)) = self.static_place(object) else { return None };
        self.emit(Inst::IsValid { dst: *dst, header });
        Some(())
    }

    fn overlaps(&self, target: &Target, value: &Rvalue) -> bool {
        !self.footprint_of_target(target).is_disjoint(&self.footprint_of_value(value))
    }

    /// All that a write may change.
    pub(super) fn target_footprint(
        &self,
        target: &Target,
        vars: &mut BTreeSet<VarId>,
        headers: &mut BTreeSet<HeaderId>,
    ) {
        match target {
            Target::StaticStorage(place) => self.footprint(place, vars, headers),
            Target::Slice { base, .. } | Target::RunSlice { base, .. } => {
                self.target_footprint(base, vars, headers);
            }
            Target::Choice(_, targets) | Target::Parts(targets) => {
                targets.iter().for_each(|target| self.target_footprint(target, vars, headers));
            }
            Target::Element(stack, _) | Target::ElementField(stack, _, _) => {
                self.footprint(&StaticStorage::Stack(*stack), vars, headers);
            }
        }
    }

    /// All that a value depends on.
    pub(super) fn value_footprint(
        &self,
        value: &Rvalue,
        vars: &mut BTreeSet<VarId>,
        headers: &mut BTreeSet<HeaderId>,
    ) {
        let operand = |operand: &Operand, vars: &mut BTreeSet<VarId>| {
            if let Operand::Var(var) = operand {
                vars.insert(*var);
            }
        };
        match value {
            Rvalue::Scalar(one) => operand(one, vars),
            Rvalue::NewHeader(fields) => fields.iter().for_each(|field| operand(field, vars)),
            Rvalue::Header(header) => self.footprint(&StaticStorage::Header(*header), vars, headers),
            Rvalue::Stack(stack) => self.footprint(&StaticStorage::Stack(*stack), vars, headers),
            Rvalue::Element(stack, index) => {
                operand(index, vars);
                self.footprint(&StaticStorage::Stack(*stack), vars, headers);
            }
            Rvalue::Union(union) => self.footprint(&StaticStorage::Union(*union), vars, headers),
            Rvalue::UnionStack(stack) => {
                self.footprint(&StaticStorage::UnionStack(stack.clone()), vars, headers)
            }
            Rvalue::Choice(index, values) => {
                operand(index, vars);
                values.iter().for_each(|value| self.value_footprint(value, vars, headers));
            }
            Rvalue::Struct(parts) | Rvalue::NewStack(parts) => {
                parts.iter().for_each(|part| self.value_footprint(part, vars, headers));
            }
            Rvalue::Invalid => {}
        }
    }

    /// Writes a value.
    pub(super) fn assign(&mut self, target: Target, value: Rvalue, ty: &Ty, span: Span) -> Option<()> {
        match (target, value) {
            (Target::StaticStorage(StaticStorage::Scalar(dst)), Rvalue::Scalar(src)) => {
                if src != Operand::Var(dst) {
                    self.emit(Inst::Assign { dst, src });
                }
                Some(())
            }
            (target, value @ Rvalue::Choice(..)) => {
                let value = self.settled(value, ty, span)?;
                self.assign(target, value, ty, span)
            }
            (Target::StaticStorage(StaticStorage::Header(dst)), value) => {
                self.assign_header(dst, value, span)
            }
            (Target::StaticStorage(StaticStorage::Struct(parts)), value @ Rvalue::Struct(_)) => {
                let parts = parts.iter().cloned().map(Target::StaticStorage).collect();
                self.assign(Target::Parts(parts), value, ty, span)
            }
            (Target::Parts(parts), Rvalue::Struct(values)) => {
                let types = self.parts(ty)?;
                for ((part, value), (_, ty)) in parts.into_iter().zip(values).zip(&types) {
                    self.assign(part, value, ty, span)?;
                }
                Some(())
            }
            (Target::Choice(index, targets), value) => self.for_chosen(&index, targets.len(), |this, at| {
                this.assign(targets.get(at)?.clone(), value.clone(), ty, span)
            }),
            (Target::StaticStorage(StaticStorage::Stack(dst)), value) => self.assign_stack(dst, value, span),
            (Target::StaticStorage(StaticStorage::Union(dst)), value) => self.assign_union(dst, value, span),
            (Target::StaticStorage(StaticStorage::UnionStack(dst)), value) => {
                let Ty::Stack(elem, _) = ty else { return self.shape_error(span) };
                self.assign_union_stack(&dst, value, elem, span)
            }
            (Target::RunSlice { base, base_width, lo, .. }, Rvalue::Scalar(src)) => {
                self.assign_run_slice(*base, base_width, lo, src, span)
            }
            (Target::Slice { base, base_width, lo, .. }, Rvalue::Scalar(src)) => {
                self.assign_slice(*base, base_width, lo, src, span)
            }
            (Target::Element(stack, index), value) => self.assign_element(stack, index, value, ty, span),
            (Target::ElementField(stack, index, field), Rvalue::Scalar(src)) => {
                self.emit(Inst::StackStore { stack, index, field, src });
                Some(())
            }
            _ => self.shape_error(span),
        }
    }

    /// Writes a scalar that `expr` gave. An operator's result is a temporary of its own that nobody else
    /// knows of: its instruction can write the target itself, and the temporary is given back.
    pub(super) fn assign_scalar(&mut self, dst: VarId, src: Operand, expr: &Expr) {
        let fresh = matches!(expr.kind, ExprKind::Unary(..) | ExprKind::Binary(..));
        if src != Operand::Var(dst) && !(fresh && self.forward(&src, dst)) {
            self.emit(Inst::Assign { dst, src });
        }
    }

    fn forward(&mut self, src: &Operand, dst: VarId) -> bool {
        let Operand::Var(temp) = src else { return false };
        let newest = temp.index() + 1 == self.out.vars.len() && dst.index() < temp.index();
        let ty = |this: &Self, var: VarId| this.out.vars.get(var.index()).map(|var| (var.ty, var.kind));
        let (Some((temp_ty, VarKind::Local)), Some((dst_ty, _))) = (ty(self, *temp), ty(self, dst)) else {
            return false;
        };
        let made = match self.func.last_mut() {
            Some(Inst::Unary { dst, .. } | Inst::Binary { dst, .. } | Inst::Resize { dst, .. }) => dst,
            _ => return false,
        };
        if !newest || temp_ty != dst_ty || made != temp {
            return false;
        }
        *made = dst;
        self.out.vars.pop();
        true
    }

    fn assign_slice(
        &mut self,
        base: Target,
        base_width: u32,
        lo: u32,
        src: Operand,
        span: Span,
    ) -> Option<()> {
        match base {
            Target::StaticStorage(StaticStorage::Scalar(dst)) => {
                self.emit(Inst::SetSlice { dst, lo, src });
                Some(())
            }
            Target::Slice { base, base_width, lo: outer, .. } => {
                self.assign_slice(*base, base_width, outer + lo, src, span)
            }
            base => {
                let ty = Ty::Bit(base_width);
                let value = self.read_target(&base, &ty)?;
                let StaticStorage::Scalar(whole) = self.materialize(value, &ty, span)? else {
                    return self.shape_error(span);
                };
                self.emit(Inst::SetSlice { dst: whole, lo, src });
                self.assign(base, Rvalue::Scalar(Operand::Var(whole)), &ty, span)
            }
        }
    }

    /// Writes bits at a place that is known at run time only; bits past the number's end are lost.
    fn assign_run_slice(
        &mut self,
        base: Target,
        base_width: u32,
        lo: Operand,
        src: Operand,
        span: Span,
    ) -> Option<()> {
        let ty = VarType::Bit(base_width);
        let width = match &src {
            Operand::Var(var) => self.out.vars.get(var.index())?.ty.width(),
            Operand::Const(bits) => bits.width(),
        };
        let old = self.read_target(&base, &Ty::Bit(base_width))?;
        let Rvalue::Scalar(old) = old else { return self.shape_error(span) };
        let ones = Operand::Const(super::table::ones(width));
        let moved = |this: &mut Self, bits: Operand| {
            let whole = this.temp(ty);
            this.emit(Inst::Resize { dst: whole, src: bits, signed: false });
            this.binary_inst(ty, BinOp::Shl, Operand::Var(whole), lo.clone())
        };
        let (mask, bits) = (moved(self, ones), moved(self, src));
        let keep = self.temp(ty);
        self.emit(Inst::Unary { dst: keep, op: UnOp::Not, src: mask });
        let kept = self.binary_inst(ty, BinOp::And, old, Operand::Var(keep));
        let made = self.binary_inst(ty, BinOp::Or, kept, bits);
        self.assign(base, Rvalue::Scalar(made), &Ty::Bit(base_width), span)
    }

    fn assign_header(&mut self, dst: HeaderId, value: Rvalue, span: Span) -> Option<()> {
        match value {
            Rvalue::Header(src) if src == dst => Some(()),
            Rvalue::Header(src) => {
                self.emit(Inst::CopyHeader { dst, src });
                Some(())
            }
            Rvalue::NewHeader(fields) => {
                self.emit(Inst::SetValid { header: dst });
                for (var, src) in self.field_vars(dst).into_iter().zip(fields) {
                    if src != Operand::Var(var) {
                        self.emit(Inst::Assign { dst: var, src });
                    }
                }
                Some(())
            }
            Rvalue::Invalid => {
                self.emit(Inst::SetInvalid { header: dst });
                Some(())
            }
            Rvalue::Element(stack, index) => {
                let valid = self.temp(VarType::Bool);
                self.emit(Inst::StackIsValid { dst: valid, stack, index: index.clone() });
                let vars = self.field_vars(dst);
                self.if_valid(valid, |this, valid| {
                    if valid {
                        this.emit(Inst::SetValid { header: dst });
                        for (field, var) in vars.iter().enumerate() {
                            let index = index.clone();
                            this.emit(Inst::StackLoad { dst: *var, stack, index, field: field as u32 });
                        }
                    } else {
                        this.emit(Inst::SetInvalid { header: dst });
                    }
                });
                Some(())
            }
            _ => self.shape_error(span),
        }
    }

    /// Code for both values of a flag.
    pub(super) fn if_valid(&mut self, flag: VarId, mut code: impl FnMut(&mut Self, bool)) {
        let (then, otherwise, end) = (self.func.block(""), self.func.block(""), self.func.block(""));
        self.func.end(Terminator::Branch { cond: Operand::Var(flag), then, otherwise });
        for (block, value) in [(then, true), (otherwise, false)] {
            self.func.open(block);
            code(self, value);
            self.func.end(Terminator::Jump(end));
        }
        self.func.open(end);
    }

    fn assign_element(
        &mut self,
        stack: StackId,
        index: Operand,
        value: Rvalue,
        ty: &Ty,
        span: Span,
    ) -> Option<()> {
        match value {
            Rvalue::Invalid => {
                self.emit(Inst::StackSetValid { stack, index, valid: false });
                Some(())
            }
            Rvalue::NewHeader(fields) => {
                self.emit(Inst::StackSetValid { stack, index: index.clone(), valid: true });
                for (field, src) in fields.into_iter().enumerate() {
                    self.emit(Inst::StackStore { stack, index: index.clone(), field: field as u32, src });
                }
                Some(())
            }
            other => {
                let header = self.header_of(other, ty, span)?;
                let valid = self.temp(VarType::Bool);
                self.emit(Inst::IsValid { dst: valid, header });
                let vars = self.field_vars(header);
                self.if_valid(valid, |this, valid| {
                    this.emit(Inst::StackSetValid { stack, index: index.clone(), valid });
                    for (field, var) in vars.iter().enumerate().filter(|_| valid) {
                        let src = Operand::Var(*var);
                        this.emit(Inst::StackStore { stack, index: index.clone(), field: field as u32, src });
                    }
                });
                Some(())
            }
        }
    }

    fn assign_stack(&mut self, dst: StackId, value: Rvalue, span: Span) -> Option<()> {
        let elements = self.out.stacks.get(dst.index())?.elements.clone();
        let values: Vec<Rvalue> = match value {
            Rvalue::Stack(src) if src == dst => return Some(()),
            Rvalue::Stack(src) => {
                // The next index goes along, as in BMv2.
                let next = self.temp(VarType::Bit(INDEX_BITS));
                self.emit(Inst::StackNextIndex { dst: next, stack: src });
                self.emit(Inst::StackSetNextIndex { stack: dst, next: Operand::Var(next) });
                self.out
                    .stacks
                    .get(src.index())?
                    .elements
                    .iter()
                    .map(|header| Rvalue::Header(*header))
                    .collect()
            }
            Rvalue::NewStack(values) => values,
            Rvalue::Invalid => elements.iter().map(|_| Rvalue::Invalid).collect(),
            _ => return self.shape_error(span),
        };
        for (element, value) in elements.into_iter().zip(values) {
            self.assign_header(element, value, span)?;
        }
        Some(())
    }

    fn assign_union_stack(&mut self, dst: &UnionStack, value: Rvalue, elem: &Ty, span: Span) -> Option<()> {
        let values: Vec<Rvalue> = match value {
            Rvalue::UnionStack(src) if *src == *dst => return Some(()),
            Rvalue::UnionStack(src) => {
                self.emit(Inst::Assign { dst: dst.next, src: Operand::Var(src.next) });
                src.unions.iter().copied().map(Rvalue::Union).collect()
            }
            Rvalue::NewStack(values) => values,
            Rvalue::Invalid => dst.unions.iter().map(|_| Rvalue::Invalid).collect(),
            _ => return self.shape_error(span),
        };
        for (union, value) in dst.unions.iter().zip(values) {
            self.assign(Target::StaticStorage(StaticStorage::Union(*union)), value, elem, span)?;
        }
        Some(())
    }

    /// `push_front` and `pop_front` of a stack of unions
    /// (P4-16 8.18): elements move, what comes in is invalid.
    pub(super) fn shift_unions(
        &mut self,
        stack: &UnionStack,
        count: usize,
        push: bool,
        span: Span,
    ) -> Option<()> {
        let size = stack.unions.len();
        for step in 0..size {
            let to = if push { size - 1 - step } else { step };
            let from = if push { to.checked_sub(count) } else { Some(to + count) };
            let value = match from.and_then(|from| stack.unions.get(from)) {
                Some(union) => Rvalue::Union(*union),
                None => Rvalue::Invalid,
            };
            self.assign_union(*stack.unions.get(to)?, value, span)?;
        }
        let ty = VarType::Bit(INDEX_BITS);
        let number = |value: usize| Operand::Const(Bits::from_u128(INDEX_BITS, value as u128));
        let next = Operand::Var(stack.next);
        let moved = if push {
            // No higher than the size: `next + count` where that leaves room, the size otherwise.
            let room = self.binary_inst(ty, BinOp::SubSat { signed: false }, number(size), next);
            let short = self.binary_inst(ty, BinOp::SubSat { signed: false }, room, number(count));
            self.binary_inst(ty, BinOp::Sub, number(size), short)
        } else {
            self.binary_inst(ty, BinOp::SubSat { signed: false }, next, number(count))
        };
        self.emit(Inst::Assign { dst: stack.next, src: moved });
        Some(())
    }

    fn assign_union(&mut self, dst: p4cc_ir::UnionId, value: Rvalue, span: Span) -> Option<()> {
        let members = self.out.unions.get(dst.index())?.members.clone();
        let values: Vec<Rvalue> = match value {
            Rvalue::Union(src) if src == dst => return Some(()),
            Rvalue::Union(src) => self
                .out
                .unions
                .get(src.index())?
                .members
                .iter()
                .map(|header| Rvalue::Header(*header))
                .collect(),
            Rvalue::Struct(values) => values,
            Rvalue::Invalid => members.iter().map(|_| Rvalue::Invalid).collect(),
            _ => return self.shape_error(span),
        };
        for (member, value) in members.into_iter().zip(values) {
            self.assign_header(member, value, span)?;
        }
        Some(())
    }
}
