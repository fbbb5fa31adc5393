//! Places of expressions: static ones, and those of header stacks found at run time.

use super::Lowerer;
use super::place::{Binding, Place, Rvalue, Target};
use crate::types::hir::{Expr, ExprKind};
use crate::types::value::Value;
use crate::{BinOp, Bits, Inst, Operand, StackId, VarType, core_errors};
use num_traits::ToPrimitive;
use p4cc_syntax::Span;

impl Lowerer<'_> {
    /// The storage of an expression, if it has storage that is known now.
    pub(super) fn static_place(&mut self, expr: &Expr) -> Option<Place> {
        match &expr.kind {
            ExprKind::Local(id) => match self.binding(*id) {
                Some(Binding::Place(place)) => Some(place.clone()),
                Some(_) => None,
                None => self.local_place(*id),
            },
            ExprKind::Field(base, at) => match self.static_place(base)? {
                Place::Struct(parts) => parts.get(*at).cloned(),
                Place::Header(header) => self.field_vars(header).get(*at).copied().map(Place::Scalar),
                Place::Union(union) => {
                    self.out.unions.get(union.index())?.members.get(*at).copied().map(Place::Header)
                }
                Place::Scalar(_) | Place::Stack(_) => None,
            },
            ExprKind::Index(base, index) => {
                let Ok(Some(Value::Int(at))) = self.try_const(index) else { return None };
                let Place::Stack(stack) = self.static_place(base)? else { return None };
                let elements = &self.out.stacks.get(stack.index())?.elements;
                elements.get(at.to_usize()?).copied().map(Place::Header)
            }
            _ => None,
        }
    }

    /// What an expression that can be written names.
    pub(super) fn target(&mut self, expr: &Expr) -> Option<Target> {
        if let Some(place) = self.static_place(expr) {
            return Some(Target::Place(place));
        }
        match &expr.kind {
            ExprKind::Slice(base, hi, lo) => {
                let base_width = self.width(&base.ty)?;
                let base = self.target(base)?;
                Some(Target::Slice { base: Box::new(base), base_width, lo: *lo, width: hi - lo + 1 })
            }
            ExprKind::Index(base, index) => match self.dynamic_element(base, index, expr.span)? {
                Rvalue::Element(stack, index) => Some(Target::Element(stack, index)),
                _ => self.shape_error(expr.span),
            },
            ExprKind::StackNext(base) | ExprKind::StackLast(base) => {
                let last = matches!(expr.kind, ExprKind::StackLast(_));
                let (stack, index) = self.stack_end(base, last, expr.span)?;
                Some(Target::Element(stack, index))
            }
            ExprKind::Field(base, at) => match self.target(base)? {
                Target::Element(stack, index) => Some(Target::ElementField(stack, index, *at as u32)),
                _ => self.shape_error(expr.span),
            },
            _ => self.shape_error(expr.span),
        }
    }

    /// The header stack that an expression names.
    pub(super) fn stack(&mut self, expr: &Expr) -> Option<StackId> {
        match self.static_place(expr) {
            Some(Place::Stack(stack)) => Some(stack),
            _ => match self.rvalue(expr)? {
                Rvalue::Stack(stack) => Some(stack),
                _ => {
                    self.not_supported(expr.span, "this use of a header stack");
                    None
                }
            },
        }
    }

    /// `stack[index]` with an index known at run time only; the index is read now.
    pub(super) fn dynamic_element(&mut self, base: &Expr, index: &Expr, span: Span) -> Option<Rvalue> {
        let stack = self.stack(base)?;
        let at = self.operand(index)?;
        if let Operand::Const(bits) = &at {
            let elements = &self.out.stacks.get(stack.index())?.elements;
            if let Some(header) = bits.to_u128().and_then(|at| elements.get(usize::try_from(at).ok()?)) {
                return Some(Rvalue::Header(*header));
            }
            self.push(p4cc_syntax::Diagnostic::error(span, "the index is outside the stack"));
            return None;
        }
        let at = self.snapshot_operand(at)?;
        Some(Rvalue::Element(stack, at))
    }

    /// `stack.last` or `stack.next`; one that does not exist sets the parser error and rejects.
    pub(super) fn stack_end(&mut self, base: &Expr, last: bool, _: Span) -> Option<(StackId, Operand)> {
        let stack = self.stack(base)?;
        let next = self.temp(VarType::Bit(32));
        self.emit(Inst::StackNextIndex { dst: next, stack });
        let bits32 = |value: u128| Operand::Const(Bits::from_u128(32, value));
        let cond = self.temp(VarType::Bool);
        let index = if last {
            self.emit(Inst::Binary { dst: cond, op: BinOp::Ne, a: Operand::Var(next), b: bits32(0) });
            let index = self.temp(VarType::Bit(32));
            self.emit(Inst::Binary { dst: index, op: BinOp::Sub, a: Operand::Var(next), b: bits32(1) });
            index
        } else {
            let size = self.out.stacks.get(stack.index())?.elements.len() as u128;
            let op = BinOp::Lt { signed: false };
            self.emit(Inst::Binary { dst: cond, op, a: Operand::Var(next), b: bits32(size) });
            next
        };
        let error = bits32(u128::from(core_errors::STACK_OUT_OF_BOUNDS));
        self.emit(Inst::Verify { cond: Operand::Var(cond), error });
        Some((stack, Operand::Var(index)))
    }

    /// `stack.lastIndex`
    pub(super) fn last_index(&mut self, base: &Expr) -> Option<Operand> {
        let stack = self.stack(base)?;
        let next = self.temp(VarType::Bit(32));
        self.emit(Inst::StackNextIndex { dst: next, stack });
        let dst = self.temp(VarType::Bit(32));
        let one = Operand::Const(Bits::from_u128(32, 1));
        self.emit(Inst::Binary { dst, op: BinOp::Sub, a: Operand::Var(next), b: one });
        Some(Operand::Var(dst))
    }
}
