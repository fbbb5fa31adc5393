//! Values of constants, as far as widths and sizes need them.

use super::build::Builder;
use p4cc_syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

impl Builder {
    /// The number that an expression stands for, if names and operators tell it.
    pub(super) fn number(&self, expr: &Expr) -> Option<i128> {
        match &expr.kind {
            ExprKind::Int(literal) => i128::from_str_radix(&literal.digits, literal.base).ok(),
            ExprKind::Path(path) => self.names.def(self.find(&path.name.name, path.absolute)?).value,
            ExprKind::Cast(_, inner) | ExprKind::Unary(UnaryOp::Plus, inner) => self.number(inner),
            ExprKind::Unary(UnaryOp::Neg, inner) => self.number(inner)?.checked_neg(),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                let shift = || u32::try_from(b).ok().filter(|by| *by < 64);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::Div => a.checked_div(b),
                    BinaryOp::Mod => a.checked_rem(b),
                    BinaryOp::Shl => a.checked_mul(1i128 << shift()?),
                    BinaryOp::Shr => Some(a >> shift()?),
                    BinaryOp::BitAnd => Some(a & b),
                    BinaryOp::BitOr => Some(a | b),
                    BinaryOp::BitXor => Some(a ^ b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// As [`Self::number`], where a width or size stands.
    pub(super) fn size(&self, expr: &Expr) -> Option<u32> {
        self.number(expr).and_then(|number| u32::try_from(number).ok())
    }
}
