//! Places of expressions: static ones, and those of header stacks found at run time.

use super::Lowerer;
use super::storage::{Binding, INDEX_BITS, Rvalue, StaticStorage, Target, UnionStack};
use num_traits::ToPrimitive;
use p4cc_ir::{BinOp, Bits, Inst, Operand, StackId, VarId, VarType, core_errors};
use p4cc_syntax::Span;
use p4cc_types::hir::{Expr, ExprKind};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;
use std::rc::Rc;

/// What can be indexed.
pub enum Array {
    /// A header stack.
    Headers(StackId),
    /// A stack of header unions.
    Unions(Rc<UnionStack>),
    /// An array of other values.
    Values(Rc<[StaticStorage]>),
}

impl Lowerer<'_> {
    /// The storage of an expression, if it has storage that is known now.
    pub(super) fn static_place(&mut self, expr: &Expr) -> Option<StaticStorage> {
        match &expr.kind {
            ExprKind::Local(id) => match self.binding(*id) {
                Some(Binding::StaticStorage(place)) => Some(place.clone()),
                Some(_) => None,
                None => self.local_place(*id),
            },
            ExprKind::Field(base, at) => match self.static_place(base)? {
                StaticStorage::Struct(parts) => parts.get(*at).cloned(),
                StaticStorage::Header(header) => self.header_field(header, &base.ty, *at),
                StaticStorage::Union(union) => {
                    self.out.unions.get(union.index())?.members.get(*at).copied().map(StaticStorage::Header)
                }
                StaticStorage::Scalar(_) | StaticStorage::Stack(_) | StaticStorage::UnionStack(_) => None,
            },
            ExprKind::Index(base, index) => {
                let Ok(Some(Value::Int(at))) = self.try_const(index) else { return None };
                let at = at.to_usize()?;
                match self.static_place(base)? {
                    StaticStorage::Stack(stack) => {
                        let elements = &self.out.stacks.get(stack.index())?.elements;
                        elements.get(at).copied().map(StaticStorage::Header)
                    }
                    StaticStorage::UnionStack(stack) => {
                        stack.unions.get(at).copied().map(StaticStorage::Union)
                    }
                    // A tuple's part.
                    StaticStorage::Struct(parts) => parts.get(at).cloned(),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What an expression that can be written names.
    pub(super) fn target(&mut self, expr: &Expr) -> Option<Target> {
        if let Some(place) = self.static_place(expr) {
            return Some(Target::StaticStorage(place));
        }
        match &expr.kind {
            ExprKind::Slice(base, hi, lo) => {
                let base_width = self.width(&base.ty)?;
                let base = self.target(base)?;
                Some(Target::Slice { base: Box::new(base), base_width, lo: *lo, width: hi - lo + 1 })
            }
            ExprKind::PlusSlice(base, lo, width) => {
                let base_width = self.width(&base.ty)?;
                let base = self.target(base)?;
                let lo = self.operand(lo)?;
                let lo = self.snapshot_operand(lo)?;
                Some(Target::RunSlice { base: Box::new(base), base_width, lo, width: *width })
            }
            ExprKind::Index(base, index) if self.hir.is_array(&base.ty) => {
                self.array_target(base, index, expr.span)
            }
            ExprKind::Index(base, index) => {
                let element = self.dynamic_element(base, index, expr.span)?;
                self.element_target(element, expr.span)
            }
            ExprKind::StackNext(base) | ExprKind::StackLast(base) => {
                let last = matches!(expr.kind, ExprKind::StackLast(_));
                let element = self.stack_end(base, last)?;
                self.element_target(element, expr.span)
            }
            ExprKind::Field(inner, at) => {
                let base = self.target(inner)?;
                self.target_field(base, &inner.ty, *at, expr.span)
            }
            _ => self.shape_error(expr.span),
        }
    }

    /// An element of an array as something to write.
    fn array_target(&mut self, base: &Expr, index: &Expr, span: Span) -> Option<Target> {
        let whole = self.target(base)?;
        let Ty::Stack(_, size) = &base.ty else { return self.shape_error(span) };
        let parts: Option<Vec<Target>> =
            (0..*size as usize).map(|at| self.target_part(&whole, at, span)).collect();
        let parts = parts?;
        let at = self.operand(index)?;
        match &at {
            Operand::Const(bits) => {
                let at = bits.to_u128().and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| parts.into_iter().nth(at)).or_else(|| self.shape_error(span))
            }
            Operand::Var(_) => {
                let at = self.snapshot_operand(at)?;
                Some(Target::Choice(at, parts))
            }
        }
    }

    /// Part `at` of an array to write.
    fn target_part(&mut self, whole: &Target, at: usize, span: Span) -> Option<Target> {
        match whole {
            Target::StaticStorage(StaticStorage::Struct(parts)) => {
                parts.get(at).cloned().map(Target::StaticStorage)
            }
            Target::Parts(parts) => parts.get(at).cloned(),
            Target::Choice(index, targets) => {
                let parts: Option<Vec<Target>> =
                    targets.iter().map(|target| self.target_part(target, at, span)).collect();
                Some(Target::Choice(index.clone(), parts?))
            }
            _ => self.shape_error(span),
        }
    }

    /// A stack's element as something to write.
    fn element_target(&mut self, element: Rvalue, span: Span) -> Option<Target> {
        match element {
            Rvalue::Element(stack, index) => Some(Target::Element(stack, index)),
            Rvalue::Header(header) => Some(Target::StaticStorage(StaticStorage::Header(header))),
            Rvalue::Union(union) => Some(Target::StaticStorage(StaticStorage::Union(union))),
            Rvalue::Choice(index, values) => {
                let targets: Option<Vec<Target>> =
                    values.into_iter().map(|value| self.element_target(value, span)).collect();
                targets.map(|targets| Target::Choice(index, targets))
            }
            _ => self.shape_error(span),
        }
    }

    /// A field of something to write, whose type is `ty`.
    fn target_field(&mut self, base: Target, ty: &Ty, at: usize, span: Span) -> Option<Target> {
        match base {
            Target::Element(stack, index) => {
                let (start, field) = self.leaf_start(ty, at)?;
                self.element_part(stack, &index, &field, &mut (start as u32))
            }
            Target::Choice(index, targets) => {
                let fields: Option<Vec<Target>> =
                    targets.into_iter().map(|target| self.target_field(target, ty, at, span)).collect();
                fields.map(|fields| Target::Choice(index, fields))
            }
            Target::Parts(parts) => parts.into_iter().nth(at),
            Target::StaticStorage(StaticStorage::Header(header)) => {
                self.header_field(header, ty, at).map(Target::StaticStorage)
            }
            Target::StaticStorage(StaticStorage::Struct(parts)) => {
                parts.get(at).cloned().map(Target::StaticStorage)
            }
            Target::StaticStorage(StaticStorage::Union(union)) => {
                let member = self.out.unions.get(union.index())?.members.get(at).copied()?;
                Some(Target::StaticStorage(StaticStorage::Header(member)))
            }
            _ => self.shape_error(span),
        }
    }

    /// Variables of a stack's element as one field; `leaf` is the next of them.
    fn element_part(&self, stack: StackId, index: &Operand, ty: &Ty, leaf: &mut u32) -> Option<Target> {
        if self.var_type(ty).is_some() {
            *leaf += 1;
            return Some(Target::ElementField(stack, index.clone(), *leaf - 1));
        }
        let parts = self.parts(ty)?;
        let made: Option<Vec<Target>> =
            parts.iter().map(|(_, part)| self.element_part(stack, index, part, leaf)).collect();
        made.map(Target::Parts)
    }

    /// The stack that an expression names.
    pub(super) fn array(&mut self, expr: &Expr) -> Option<Array> {
        if let Some(place) = self.static_place(expr) {
            match place {
                StaticStorage::Stack(stack) => return Some(Array::Headers(stack)),
                StaticStorage::UnionStack(stack) => return Some(Array::Unions(stack)),
                StaticStorage::Struct(parts) => return Some(Array::Values(parts)),
                _ => {}
            }
        }
        match self.rvalue(expr)? {
            Rvalue::Stack(stack) => Some(Array::Headers(stack)),
            Rvalue::UnionStack(stack) => Some(Array::Unions(stack)),
            // A value written out, or what a function gave.
            value => match self.materialize(value, &expr.ty, expr.span)? {
                StaticStorage::Stack(stack) => Some(Array::Headers(stack)),
                StaticStorage::UnionStack(stack) => Some(Array::Unions(stack)),
                StaticStorage::Struct(parts) => Some(Array::Values(parts)),
                _ => self.shape_error(expr.span),
            },
        }
    }

    /// How many elements a stack has.
    fn array_size(&self, array: &Array) -> usize {
        match array {
            Array::Headers(stack) => self.out.stacks.get(stack.index()).map_or(0, |s| s.elements.len()),
            Array::Unions(stack) => stack.unions.len(),
            Array::Values(parts) => parts.len(),
        }
    }

    /// A stack's element by an index that is a variable nobody else writes.
    fn array_element(&self, array: &Array, index: Operand) -> Rvalue {
        match array {
            Array::Headers(stack) => Rvalue::Element(*stack, index),
            Array::Unions(stack) => {
                Rvalue::Choice(index, stack.unions.iter().copied().map(Rvalue::Union).collect())
            }
            Array::Values(parts) => Rvalue::Choice(index, parts.iter().map(StaticStorage::read).collect()),
        }
    }

    /// Reads how many elements were extracted.
    pub(super) fn next_index(&mut self, array: &Array) -> VarId {
        let dst = self.temp(VarType::Bit(INDEX_BITS));
        match array {
            Array::Headers(stack) => self.emit(Inst::StackNextIndex { dst, stack: *stack }),
            Array::Unions(stack) => self.emit(Inst::Assign { dst, src: Operand::Var(stack.next) }),
            // Only stacks have one.
            Array::Values(_) => self.emit(Inst::Assign { dst, src: Operand::Const(Bits::zero(INDEX_BITS)) }),
        }
        dst
    }

    /// `stack[index]` with an index known at run time only; the index is read now.
    pub(super) fn dynamic_element(&mut self, base: &Expr, index: &Expr, span: Span) -> Option<Rvalue> {
        let array = self.array(base)?;
        let at = self.operand(index)?;
        if let Operand::Const(bits) = &at {
            let at = bits.to_u128().and_then(|at| usize::try_from(at).ok());
            let element = at.and_then(|at| match &array {
                Array::Headers(stack) => {
                    self.out.stacks.get(stack.index())?.elements.get(at).copied().map(Rvalue::Header)
                }
                Array::Unions(stack) => stack.unions.get(at).copied().map(Rvalue::Union),
                Array::Values(parts) => parts.get(at).map(StaticStorage::read),
            });
            if element.is_none() {
                self.push(p4cc_syntax::Diagnostic::error(span, "the index is outside the array"));
            }
            return element;
        }
        let at = self.snapshot_operand(at)?;
        Some(self.array_element(&array, at))
    }

    /// `stack.last` or `stack.next`; one that does not exist sets the parser error and rejects.
    pub(super) fn stack_end(&mut self, base: &Expr, last: bool) -> Option<Rvalue> {
        let array = self.array(base)?;
        let next = self.next_index(&array);
        let number = |value: u128| Operand::Const(Bits::from_u128(INDEX_BITS, value));
        let cond = self.temp(VarType::Bool);
        let index = if last {
            self.emit(Inst::Binary { dst: cond, op: BinOp::Ne, a: Operand::Var(next), b: number(0) });
            let index = self.temp(VarType::Bit(INDEX_BITS));
            self.emit(Inst::Binary { dst: index, op: BinOp::Sub, a: Operand::Var(next), b: number(1) });
            index
        } else {
            let size = self.array_size(&array) as u128;
            let op = BinOp::Lt { signed: false };
            self.emit(Inst::Binary { dst: cond, op, a: Operand::Var(next), b: number(size) });
            next
        };
        let error = number(u128::from(core_errors::STACK_OUT_OF_BOUNDS));
        self.emit(Inst::Verify { cond: Operand::Var(cond), error });
        Some(self.array_element(&array, Operand::Var(index)))
    }

    /// `stack.lastIndex`
    pub(super) fn last_index(&mut self, base: &Expr) -> Option<Operand> {
        let array = self.array(base)?;
        let next = self.next_index(&array);
        let dst = self.temp(VarType::Bit(INDEX_BITS));
        let one = Operand::Const(Bits::from_u128(INDEX_BITS, 1));
        self.emit(Inst::Binary { dst, op: BinOp::Sub, a: Operand::Var(next), b: one });
        Some(Operand::Var(dst))
    }
}
