//! Keysets: what cases of a select and entries of a table match.

use super::Checker;
use super::hir::{Expr, ExprKind};
use super::scope::Symbol;
use super::ty::Ty;
use super::walk::has_call;
use p4cc_syntax::ast::{self, ExprKind as Ast};
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    /// Checks a keyset over several keys: `(a, b)`, a single one, or `default` for all.
    pub(super) fn keysets(&mut self, keyset: &ast::Expr, keys: &[Ty], span: Span) -> Option<Vec<Expr>> {
        match &keyset.kind {
            Ast::Default | Ast::DontCare if keys.len() != 1 => {
                Some(keys.iter().map(|ty| any(ty, keyset.span)).collect())
            }
            // Braces are another way to write a keyset of values, of a single key too.
            Ast::Tuple(items) | Ast::List(items) => {
                if items.len() != keys.len() {
                    self.error(
                        span,
                        format!("the keyset has {} parts, but there are {} keys", items.len(), keys.len()),
                    );
                    return None;
                }
                Some(items.iter().zip(keys).map(|(item, ty)| self.keyset(item, ty)).collect())
            }
            _ => match keys {
                [ty] => Some(vec![self.keyset(keyset, ty)]),
                _ => {
                    self.error(span, format!("the keyset has 1 part, but there are {} keys", keys.len()));
                    None
                }
            },
        }
    }

    /// Checks the keyset of one key.
    fn keyset(&mut self, keyset: &ast::Expr, key: &Ty) -> Expr {
        let span = keyset.span;
        match &keyset.kind {
            Ast::Default | Ast::DontCare => any(key, span),
            Ast::Tuple(items) if items.len() == 1 => match items.first() {
                Some(item) => self.keyset(item, key),
                None => Self::poison(span),
            },
            Ast::Mask(value, mask) => {
                let number = self.hir.underlying(key).clone();
                if !matches!(number, Ty::Bit(_) | Ty::Int(_) | Ty::Unknown) {
                    let shown = self.hir.show(key);
                    return self.poison_error(span, format!("a mask requires numbers, not `{shown}`"));
                }
                let value = self.keyset_value(value, key);
                let mask = self.expr(mask);
                let mask = self.without_call(mask);
                let mask = if mask.ty == *key { mask } else { self.coerce(mask, &number) };
                Expr { kind: ExprKind::Mask(Box::new(value), Box::new(mask)), ty: key.clone(), span }
            }
            Ast::Range(low, high) => {
                let low = self.keyset_value(low, key);
                let high = self.keyset_value(high, key);
                self.check_range(&low, &high, span);
                Expr { kind: ExprKind::Range(Box::new(low), Box::new(high)), ty: key.clone(), span }
            }
            _ => self.keyset_value(keyset, key),
        }
    }

    fn check_range(&mut self, low: &Expr, high: &Expr, span: Span) {
        if let (ExprKind::Const(a), ExprKind::Const(b)) = (&low.kind, &high.kind)
            && let (Some(a), Some(b)) = (a.as_int(), b.as_int())
            && a > b
        {
            self.push(
                Diagnostic::error(span, format!("the range {a} .. {b} is empty"))
                    .with_help("write the smaller number first"),
            );
        }
    }

    /// A part of a keyset: nothing happens when it is evaluated.
    fn without_call(&mut self, part: Expr) -> Expr {
        if !has_call(&part) {
            return part;
        }
        let diagnostic = Diagnostic::error(part.span, "a keyset cannot contain a function call")
            .with_help("assign the result to a variable first, and compare with that");
        self.push(diagnostic);
        Self::poison(part.span)
    }

    fn keyset_value(&mut self, value: &ast::Expr, key: &Ty) -> Expr {
        if let Ast::Path(path) = &value.kind
            && let Some(entry) = self.scopes.get(&path.name.name, path.absolute)
            && let Symbol::ValueSet(id) = entry.symbol
        {
            return Expr { kind: ExprKind::ValueSet(id), ty: key.clone(), span: value.span };
        }
        let checked = self.expr(value);
        let checked = self.without_call(checked);
        let checked = match self.hir.enum_underlying(key).cloned() {
            Some(under) if self.stands_for_member(&checked.ty, &under) => {
                let number = self.coerce(checked, &under);
                self.cast(number, key, value.span)
            }
            _ => self.coerce(checked, key),
        };
        // A select compares at run time; entries of a table are put there before.
        if self.place != super::CodeContext::Parser && !self.is_compile_time(&checked) {
            self.error(value.span, "the keyset of an entry must be known at compile time");
            return Self::poison(value.span);
        }
        checked
    }
}

impl Checker {
    /// Whether a keyset's value is one of an enum's numbers: in a select the type that the enum is stored in
    /// will do (as p4c has it), in an entry only a member will.
    fn stands_for_member(&self, ty: &Ty, under: &Ty) -> bool {
        self.place == super::CodeContext::Parser && (*ty == Ty::Integer || ty == under)
    }
}

fn any(ty: &Ty, span: Span) -> Expr {
    Expr { kind: ExprKind::Any, ty: ty.clone(), span }
}
