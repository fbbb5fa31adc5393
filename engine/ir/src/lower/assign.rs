//! Writing values: scalars, slices, headers with their validity, whole structs.

use super::Lowerer;
use super::place::{Place, Rvalue, Target};
use crate::types::hir::{Expr, ExprKind};
use crate::types::stmt::has_call;
use crate::types::ty::Ty;
use crate::{HeaderId, Inst, Operand, StackId, Terminator, VarId, VarKind, VarType};
use p4cc_syntax::Span;
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
        if let (Target::Place(Place::Scalar(dst)), Rvalue::Scalar(src)) = (&place, &made) {
            self.assign_scalar(*dst, src.clone(), value);
            return Some(());
        }
        if matches!(value.kind, ExprKind::Aggregate(_)) && self.overlaps(&place, &made) {
            made = self.snapshot(made, &target.ty, value.span)?;
        }
        self.assign(place, made, &target.ty, value.span)
    }

    /// Reads a validity bit straight into its variable, without a temporary.
    fn assign_into_var(&mut self, target: &Target, value: &Expr) -> Option<()> {
        use crate::types::hir::{Builtin, Callee};
        let Target::Place(Place::Scalar(dst)) = target else { return None };
        let ExprKind::Call(call) = &value.kind else { return None };
        let Callee::Builtin(Builtin::IsValid, object) = &call.callee else { return None };
        if has_call(object) {
            return None;
        }
        let Some(Place::Header(header)) = self.static_place(object) else { return None };
        self.emit(Inst::IsValid { dst: *dst, header });
        Some(())
    }

    fn overlaps(&self, target: &Target, value: &Rvalue) -> bool {
        let (mut vars, mut headers) = (BTreeSet::new(), BTreeSet::new());
        self.target_footprint(target, &mut vars, &mut headers);
        let (mut read_vars, mut read_headers) = (BTreeSet::new(), BTreeSet::new());
        self.value_footprint(value, &mut read_vars, &mut read_headers);
        !vars.is_disjoint(&read_vars) || !headers.is_disjoint(&read_headers)
    }

    /// All that a write may change.
    pub(super) fn target_footprint(
        &self,
        target: &Target,
        vars: &mut BTreeSet<VarId>,
        headers: &mut BTreeSet<HeaderId>,
    ) {
        match target {
            Target::Place(place) => self.footprint(place, vars, headers),
            Target::Slice { base, .. } => self.target_footprint(base, vars, headers),
            Target::Element(stack, _) | Target::ElementField(stack, _, _) => {
                self.footprint(&Place::Stack(*stack), vars, headers);
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
            Rvalue::Header(header) => self.footprint(&Place::Header(*header), vars, headers),
            Rvalue::Stack(stack) => self.footprint(&Place::Stack(*stack), vars, headers),
            Rvalue::Element(stack, index) => {
                operand(index, vars);
                self.footprint(&Place::Stack(*stack), vars, headers);
            }
            Rvalue::Union(union) => self.footprint(&Place::Union(*union), vars, headers),
            Rvalue::Struct(parts) | Rvalue::NewStack(parts) => {
                parts.iter().for_each(|part| self.value_footprint(part, vars, headers));
            }
            Rvalue::Invalid => {}
        }
    }

    /// Writes a value.
    pub(super) fn assign(&mut self, target: Target, value: Rvalue, ty: &Ty, span: Span) -> Option<()> {
        match (target, value) {
            (Target::Place(Place::Scalar(dst)), Rvalue::Scalar(src)) => {
                if src != Operand::Var(dst) {
                    self.emit(Inst::Assign { dst, src });
                }
                Some(())
            }
            (Target::Place(Place::Header(dst)), value) => self.assign_header(dst, value, span),
            (Target::Place(Place::Struct(parts)), Rvalue::Struct(values)) => {
                let types: Vec<Ty> = match ty {
                    Ty::Tuple(items) => items.to_vec(),
                    _ => self.hir.fields(ty).iter().map(|field| field.ty.clone()).collect(),
                };
                for ((part, value), ty) in parts.iter().zip(values).zip(&types) {
                    self.assign(Target::Place(part.clone()), value, ty, span)?;
                }
                Some(())
            }
            (Target::Place(Place::Stack(dst)), value) => self.assign_stack(dst, value, span),
            (Target::Place(Place::Union(dst)), value) => self.assign_union(dst, value, span),
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

    /// Writes a scalar that `expr` gave. An operator's result is a temporary of its own that nobody else knows of: its
    /// instruction can write the target itself, and the temporary is given back.
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
            Target::Place(Place::Scalar(dst)) => {
                self.emit(Inst::SetSlice { dst, lo, src });
                Some(())
            }
            Target::Slice { base, base_width, lo: outer, .. } => {
                self.assign_slice(*base, base_width, outer + lo, src, span)
            }
            Target::ElementField(stack, index, field) => {
                let whole = self.temp(VarType::Bit(base_width));
                self.emit(Inst::StackLoad { dst: whole, stack, index: index.clone(), field });
                self.emit(Inst::SetSlice { dst: whole, lo, src });
                self.emit(Inst::StackStore { stack, index, field, src: Operand::Var(whole) });
                Some(())
            }
            _ => self.shape_error(span),
        }
    }

    fn assign_header(&mut self, dst: HeaderId, value: Rvalue, span: Span) -> Option<()> {
        match value {
            Rvalue::Header(src) if src == dst => Some(()),
            Rvalue::Header(src) => {
                if self.out.headers.get(dst.index())?.union.is_none() {
                    self.emit(Inst::CopyHeader { dst, src });
                    return Some(());
                }
                // A member of a union made valid makes the others invalid.
                let valid = self.temp(VarType::Bool);
                self.emit(Inst::IsValid { dst: valid, header: src });
                self.if_valid(valid, |this, valid| {
                    if valid {
                        this.emit(Inst::SetValid { header: dst });
                        this.emit(Inst::CopyHeader { dst, src });
                    } else {
                        this.emit(Inst::SetInvalid { header: dst });
                    }
                });
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
    fn if_valid(&mut self, flag: VarId, mut code: impl FnMut(&mut Self, bool)) {
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
                if self.flow.in_parser {
                    self.not_supported(span, "copies of header stacks in a parser");
                    return None;
                }
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

    fn assign_union(&mut self, dst: crate::UnionId, value: Rvalue, span: Span) -> Option<()> {
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
            Rvalue::Invalid => members.iter().map(|_| Rvalue::Invalid).collect(),
            _ => return self.shape_error(span),
        };
        for member in &members {
            self.emit(Inst::SetInvalid { header: *member });
        }
        for (member, value) in members.into_iter().zip(values) {
            // The others are invalid already; only a valid source changes anything.
            let Rvalue::Header(src) = value else { continue };
            let valid = self.temp(VarType::Bool);
            self.emit(Inst::IsValid { dst: valid, header: src });
            self.if_valid(valid, |this, valid| {
                if valid {
                    this.emit(Inst::SetValid { header: member });
                    this.emit(Inst::CopyHeader { dst: member, src });
                }
            });
        }
        Some(())
    }
}
