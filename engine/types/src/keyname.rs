//! Names of table keys for the control plane, as p4c derives them from the expression.

use super::Checker;
use super::hir::{self, ExprKind};
use super::scope::Symbol;
use super::value::Value;
use num_bigint::BigInt;
use p4cc_syntax::ast::{self, BinaryOp, ExprKind as Ast};

impl Checker {
    /// Name of a key; `None` for what needs an `@name`. `checked` is the same expression after checking.
    pub(super) fn key_name(&self, expr: &ast::Expr, checked: Option<&hir::Expr>) -> Option<String> {
        match &expr.kind {
            Ast::Path(path) => match self.scopes.get(&path.name.name, path.absolute).map(|e| &e.symbol) {
                Some(Symbol::Const(value)) => match &value.kind {
                    ExprKind::Const(Value::Int(number)) => Some(number.to_string()),
                    _ => None,
                },
                _ => Some(path.name.name.clone()),
            },
            Ast::Member(base, name) => {
                let (inner, own) = match checked.map(|checked| &checked.kind) {
                    Some(ExprKind::Field(inner, at)) => {
                        let field = self.hir.fields(&inner.ty).get(*at);
                        (Some(&**inner), field.and_then(|field| field.annotations.name.clone()))
                    }
                    Some(ExprKind::StackNext(inner) | ExprKind::StackLast(inner)) => (Some(&**inner), None),
                    _ => (None, None),
                };
                let own = own.unwrap_or_else(|| name.name.clone());
                match own.strip_prefix('.') {
                    Some(absolute) => Some(absolute.to_owned()),
                    None => Some(format!("{}.{own}", self.key_name(base, inner)?)),
                }
            }
            Ast::Index(base, index) => {
                let (inner, at) = match checked.map(|checked| &checked.kind) {
                    Some(ExprKind::Index(inner, at)) => (Some(&**inner), Some(&**at)),
                    _ => (None, None),
                };
                Some(format!("{}[{}]", self.key_name(base, inner)?, self.key_name(index, at)?))
            }
            Ast::Slice(base, hi, lo) => {
                let inner = match checked.map(|checked| &checked.kind) {
                    Some(ExprKind::Slice(inner, _, _)) => Some(&**inner),
                    _ => None,
                };
                let (hi, lo) = (self.key_name(hi, None)?, self.key_name(lo, None)?);
                Some(format!("{}[{hi}:{lo}]", self.key_name(base, inner)?))
            }
            Ast::Call { callee, args, .. } if args.is_empty() => match &callee.kind {
                Ast::Member(base, name) if name.name == "isValid" => {
                    let inner = match checked.map(|checked| &checked.kind) {
                        Some(ExprKind::Call(call)) => match &call.callee {
                            hir::Callee::Builtin(_, object) => Some(&**object),
                            _ => None,
                        },
                        _ => None,
                    };
                    Some(format!("{}.$valid$", self.key_name(base, inner)?))
                }
                _ => None,
            },
            Ast::Binary(BinaryOp::BitAnd, a, b) => {
                let (left, right) = match checked.map(|checked| &checked.kind) {
                    Some(ExprKind::Binary(_, left, right)) => (Some(&**left), Some(&**right)),
                    _ => (None, None),
                };
                Some(format!("{} & {}", self.key_name(a, left)?, self.key_name(b, right)?))
            }
            Ast::Tuple(items) => match items.as_slice() {
                [single] => self.key_name(single, checked),
                _ => None,
            },
            Ast::Int(literal) => {
                let number = BigInt::parse_bytes(literal.digits.as_bytes(), literal.base)?;
                Some(match literal.base {
                    16 => format!("0x{}", number.to_str_radix(16)),
                    8 => format!("0o{}", number.to_str_radix(8)),
                    2 => format!("0b{}", number.to_str_radix(2)),
                    _ => number.to_string(),
                })
            }
            _ => None,
        }
    }
}
