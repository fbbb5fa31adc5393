//! Compile-time values of typed expressions, constructor parameters filled in.

use super::Lowerer;
use super::storage::{Binding, Rvalue};
use p4cc_ir::Operand;
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::BinaryOp;
use p4cc_types::hir::{Expr, ExprKind};
use p4cc_types::ty::Ty;
use p4cc_types::value::{self, Value};

impl Lowerer<'_> {
    /// The value of an expression that must be known at compile time; reports if it is not.
    pub(super) fn const_value(&mut self, expr: &Expr) -> Option<Value> {
        match self.try_const(expr) {
            Ok(Some(value)) => Some(value),
            Ok(None) => {
                self.push(Diagnostic::error(expr.span, "the value must be known at compile time"));
                None
            }
            Err(error) => {
                self.push(Diagnostic::error(expr.span, error.message()));
                None
            }
        }
    }

    /// The value of an expression if it is known at compile time.
    pub(super) fn try_const(&self, expr: &Expr) -> Result<Option<Value>, value::FoldError> {
        Ok(match &expr.kind {
            ExprKind::Const(value) => Some(value.clone()),
            ExprKind::Local(id) => match self.binding(*id) {
                Some(Binding::Const(value)) => Some(value.clone()),
                _ => None,
            },
            ExprKind::Unary(op, a) => match self.try_const(a)? {
                Some(a) => Some(value::unary(*op, &a, &expr.ty)?),
                None => None,
            },
            ExprKind::Binary(op, a, b) => match (self.try_const(a)?, self.try_const(b)?) {
                (Some(x), Some(y)) => Some(self.const_binary(*op, &x, &a.ty, &y, &b.ty, &expr.ty)?),
                _ => None,
            },
            ExprKind::Cast(a) => self.try_const(a)?.map(|value| self.const_cast(value, &a.ty, &expr.ty)),
            ExprKind::Slice(a, hi, lo) => match self.try_const(a)? {
                Some(Value::Int(number)) => Some(value::slice(&number, *hi, *lo)),
                _ => None,
            },
            ExprKind::Field(..) => self.const_part(expr).and_then(|part| match part {
                Rvalue::Scalar(Operand::Const(bits)) => Some(self.value_of_bits(&bits, &expr.ty)),
                _ => None,
            }),
            ExprKind::Conditional(cond, a, b) => match self.try_const(cond)? {
                Some(Value::Bool(true)) => self.try_const(a)?,
                Some(Value::Bool(false)) => self.try_const(b)?,
                _ => None,
            },
            _ => None,
        })
    }

    /// A part of a struct that is a constructor parameter.
    fn const_part(&self, expr: &Expr) -> Option<Rvalue> {
        match &expr.kind {
            ExprKind::Local(id) => match self.binding(*id)? {
                Binding::Value(value) => Some(value.clone()),
                _ => None,
            },
            ExprKind::Field(base, at) => match self.const_part(base)? {
                Rvalue::Struct(parts) => parts.into_iter().nth(*at),
                Rvalue::NewHeader(fields) => fields.into_iter().nth(*at).map(Rvalue::Scalar),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value that bits of a type stand for.
    fn value_of_bits(&self, bits: &p4cc_ir::Bits, ty: &Ty) -> Value {
        match self.hir.underlying(ty) {
            Ty::Bool => Value::Bool(!bits.is_zero()),
            Ty::Enum(_) => Value::Enum(bits.low_u64() as u32),
            Ty::Error => Value::Error(bits.low_u64() as u32),
            other => Value::Int(value::bits_to_int(bits, matches!(other, Ty::Int(_)))),
        }
    }

    fn const_binary(
        &self,
        op: BinaryOp,
        a: &Value,
        a_ty: &Ty,
        b: &Value,
        b_ty: &Ty,
        ty: &Ty,
    ) -> Result<Value, value::FoldError> {
        if op == BinaryOp::Concat && matches!(a, Value::String(_)) {
            return value::joined(a, b);
        }
        if op == BinaryOp::Concat {
            return match (a, b, self.width(b_ty)) {
                (Value::Int(hi), Value::Int(lo), Some(width)) => Ok(value::concat(hi, lo, width, ty)),
                _ => Err(value::FoldError::WrongType),
            };
        }
        value::binary(op, a, b, self.hir.underlying(a_ty))
    }

    fn const_cast(&self, value: Value, from: &Ty, to: &Ty) -> Value {
        let to = self.hir.underlying(to);
        match (&value, self.hir.underlying(from), to) {
            (Value::Int(number), _, Ty::Bool) => Value::Bool(*number != 0.into()),
            (Value::Bool(bit), _, Ty::Bit(_)) => Value::Int(u8::from(*bit).into()),
            (Value::Int(number), _, _) => Value::Int(value::wrap(number, to)),
            _ => value,
        }
    }
}
