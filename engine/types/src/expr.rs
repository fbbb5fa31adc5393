//! Expressions: literals, names, indexes, slices.

use super::Checker;
use super::hir::{Expr, ExprKind, LocalKind};
use super::scope::Symbol;
use super::ty::Ty;
use super::value::{self, Value};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use p4cc_ir::limits::{MAX_INT_BITS, MAX_WIDTH};
use p4cc_syntax::ast::{self, Direction, ExprKind as Ast, IntLiteral, Path};
use p4cc_syntax::{Diagnostic, Span};
use std::rc::Rc;

impl Checker {
    /// Checks an expression; what it needs of its surroundings is settled later by [`Checker::coerce`].
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        self.nested(expr.span, |this| this.expr_inner(expr)).unwrap_or_else(|| Self::poison(expr.span))
    }

    fn expr_inner(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        let make = |kind, ty| Expr { kind, ty, span };
        match &expr.kind {
            Ast::Bool(value) => make(ExprKind::Const(Value::Bool(*value)), Ty::Bool),
            Ast::Int(literal) => self.int_literal(literal, span),
            Ast::String(text) => make(ExprKind::Const(Value::String(text.clone())), Ty::String),
            Ast::Path(path) => self.path(path, span),
            Ast::This if self.this.is_some() => {
                make(ExprKind::This, self.this.clone().unwrap_or(Ty::Unknown))
            }
            Ast::This => {
                self.not_supported(span, "`this`");
                Self::poison(span)
            }
            Ast::Dots => make(ExprKind::Default, Ty::Dots),
            Ast::InvalidHeader => make(ExprKind::InvalidHeader, Ty::InvalidHeader),
            Ast::DontCare => self.poison_error(span, "`_` is allowed only in keysets and for out arguments"),
            Ast::Default => self.poison_error(span, "`default` is allowed only in keysets"),
            Ast::List(items) => self.list(items, span),
            Ast::Struct { fields, dots } => self.struct_expr(fields, *dots, span),
            Ast::Tuple(items) => match items.as_slice() {
                [single] => self.expr(single),
                _ => self.poison_error(span, "`(a, b)` is allowed only in keysets; write a list as `{a, b}`"),
            },
            Ast::Mask(..) | Ast::Range(..) => {
                self.poison_error(span, "`&&&` and `..` are allowed only in keysets and loops")
            }
            Ast::Unary(op, operand) => self.unary(*op, operand, span),
            Ast::Binary(op, a, b) => self.binary(*op, a, b, span),
            Ast::Conditional(cond, a, b) => self.conditional(cond, a, b, span),
            Ast::Cast(ty, operand) => {
                let ty = self.resolve_type(ty);
                let operand = self.expr(operand);
                self.cast(operand, &ty, span)
            }
            Ast::Index(base, index) => self.index(base, index, span),
            Ast::Slice(base, hi, lo) => self.slice(base, hi, lo, span),
            Ast::PlusSlice(base, lo, width) => self.plus_slice(base, lo, width, span),
            Ast::Member(base, name) => self.member(base, name, span),
            Ast::TypeMember(ty, name) => self.type_member(ty, name, span),
            Ast::Call { callee, type_args, args } => self.call(callee, type_args, args, span),
            Ast::Construct { ty, args } => self.construct_unnamed(ty, args, span),
        }
    }

    fn int_literal(&mut self, literal: &IntLiteral, span: Span) -> Expr {
        // A digit of the smallest base is a bit.
        if literal.digits.len() as u64 > MAX_INT_BITS {
            let message = format!("a number has at most {MAX_INT_BITS} digits, not {}", literal.digits.len());
            return self.poison_error(span, message);
        }
        let Some(number) = BigInt::parse_bytes(literal.digits.as_bytes(), literal.base) else {
            return self.poison_error(
                span,
                format!("`{}` is not a number in base {}", literal.digits, literal.base),
            );
        };
        if number.bits() > MAX_INT_BITS {
            return self.poison_error(span, value::FoldError::TooLarge(number.bits()).message());
        }
        let ty = match literal.width {
            None => Ty::Integer,
            Some((width, signed)) => {
                let least = if signed { 1 } else { 0 };
                if !(least..=MAX_WIDTH).contains(&width) {
                    return self
                        .poison_error(span, format!("the width {width} must lie in {least} to {MAX_WIDTH}"));
                }
                if signed { Ty::Int(width) } else { Ty::Bit(width) }
            }
        };
        let number = self.fit_literal(number, &ty, span);
        Expr { kind: ExprKind::Const(Value::Int(number)), ty, span }
    }

    /// Brings a number into a type's range, with a warning when it changes.
    pub(super) fn fit_literal(&mut self, number: BigInt, ty: &Ty, span: Span) -> BigInt {
        if value::fits(&number, ty) {
            return number;
        }
        let shown = self.hir.show(ty);
        let wrapped = value::wrap(&number, ty);
        self.push(
            Diagnostic::warning(span, format!("{number} does not fit in `{shown}`"))
                .with_name("mismatch")
                .with_label(format!("becomes {wrapped}")),
        );
        wrapped
    }

    fn path(&mut self, path: &Path, span: Span) -> Expr {
        let name = &path.name.name;
        let Some(entry) = self.scopes.get(name, path.absolute) else {
            self.undeclared("name", &path.name);
            return Self::poison(span);
        };
        let declared = entry.span;
        let wrong = |what: &str, help: &str| {
            Diagnostic::error(span, format!("`{name}` is {what}, not a value"))
                .with_related(declared, "declared here")
                .with_help(help)
        };
        match entry.symbol.clone() {
            Symbol::Const(expr) => self.constant(&expr, span),
            Symbol::Local(id) => {
                self.used_locals.insert(id);
                let ty = self.hir.locals.get(id.index()).map_or(Ty::Unknown, |local| local.ty.clone());
                Expr { kind: ExprKind::Local(id), ty, span }
            }
            Symbol::Instance(id) => {
                let ty = self.instance_type(id);
                // Handed on as an argument, it can be applied at any number of places.
                if let Some(instance) = self.hir.instances.get_mut(id.index()) {
                    instance.apply_sites = instance.apply_sites.saturating_add(2);
                }
                Expr { kind: ExprKind::Instance(id), ty, span }
            }
            Symbol::ValueSet(_) => {
                self.push(wrong("a value set", "a value set can be used only in a case of `select`"));
                Self::poison(span)
            }
            Symbol::Type(_) => {
                self.push(wrong("a type", "construct a value of it, or name one of its members"));
                Self::poison(span)
            }
            Symbol::Action(_) => {
                self.push(wrong("an action", "call it or list it in a table"));
                Self::poison(span)
            }
            Symbol::Functions(_) => {
                self.push(wrong("a function", "call it"));
                Self::poison(span)
            }
            Symbol::Table(_) => {
                self.push(wrong("a table", "apply it: `table.apply()`"));
                Self::poison(span)
            }
        }
    }

    fn list(&mut self, items: &[ast::Expr], span: Span) -> Expr {
        let items: Vec<Expr> = items.iter().map(|item| self.expr(item)).collect();
        let types: Rc<[Ty]> = items.iter().map(|item| item.ty.clone()).collect();
        Expr { kind: ExprKind::Aggregate(items), ty: Ty::Tuple(types), span }
    }

    fn struct_expr(&mut self, fields: &[(ast::Ident, ast::Expr)], dots: bool, span: Span) -> Expr {
        let (mut names, mut values): (Vec<(String, Ty)>, Vec<Expr>) = (Vec::new(), Vec::new());
        for (name, value) in fields {
            if self.charge_scan(names.len(), name.span).is_none() {
                return Self::poison(span);
            }
            if names.iter().any(|(old, _)| *old == name.name) {
                self.error(name.span, format!("field `{}` is given twice", name.name));
                continue;
            }
            let value = self.expr(value);
            names.push((name.name.clone(), value.ty.clone()));
            values.push(value);
        }
        if dots {
            names.push(("...".to_owned(), Ty::Dots));
            values.push(Expr { kind: ExprKind::Default, ty: Ty::Dots, span });
        }
        Expr { kind: ExprKind::Aggregate(values), ty: Ty::Record(names.into()), span }
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let base = self.expr(base);
        let index = self.expr(index);
        match &base.ty {
            Ty::Unknown => Self::poison(span),
            Ty::Stack(elem, size) => {
                let (elem, size) = ((**elem).clone(), *size);
                let what = if self.hir.is_stack(&base.ty) { "the stack of" } else { "the array of" };
                let Some(index) = self.stack_index(index, size, what) else { return Self::poison(span) };
                if let (ExprKind::Aggregate(items), ExprKind::Const(Value::Int(at))) =
                    (&base.kind, &index.kind)
                    && let Some(item) = at.to_usize().and_then(|at| items.get(at))
                    && matches!(item.kind, ExprKind::Const(_))
                {
                    return Expr { span, ..item.clone() };
                }
                Expr { kind: ExprKind::Index(Box::new(base), Box::new(index)), ty: elem, span }
            }
            Ty::Tuple(items) => {
                let items = items.clone();
                let most = (items.len() as u32).saturating_sub(1);
                let Some(at) = self.number_of(&index, "index of a tuple", 0, most) else {
                    return Self::poison(span);
                };
                let ty = items.get(at as usize).cloned().unwrap_or(Ty::Unknown);
                fold_field(base, at as usize, ty, span)
            }
            other => {
                let shown = self.hir.show(other);
                self.poison_error(span, format!("a value of type `{shown}` cannot be indexed"))
            }
        }
    }

    fn stack_index(&mut self, index: Expr, size: u32, what: &str) -> Option<Expr> {
        match &index.kind {
            ExprKind::Poison => return None,
            ExprKind::Const(Value::Int(value)) => {
                let value = value.clone();
                if value.to_u32().is_none_or(|at| at >= size) {
                    self.error(index.span, format!("index {value} is outside {what} {size}"));
                    return None;
                }
                return Some(Expr { ty: Ty::Bit(32), ..index });
            }
            _ => {}
        }
        let under = self.hir.underlying(&index.ty).clone();
        if !matches!(under, Ty::Bit(_) | Ty::Int(_) | Ty::Integer) {
            let shown = self.hir.show(&index.ty);
            self.error(index.span, format!("an index must be a number, not `{shown}`"));
            return None;
        }
        let index = if under == index.ty { index } else { cast_to(index, under.clone()) };
        let Ty::Int(width) = under else { return Some(index) };
        // A negative index becomes one far past the end of any stack.
        let width = width.max(32);
        Some(cast_to(cast_to(index, Ty::Int(width)), Ty::Bit(width)))
    }

    fn slice(&mut self, base: &ast::Expr, hi: &ast::Expr, lo: &ast::Expr, span: Span) -> Expr {
        let base = self.expr(base);
        let lo = self.number(lo, "low end of a slice", 0, MAX_WIDTH);
        let hi = self.number(hi, "high end of a slice", 0, MAX_WIDTH);
        match (hi, lo) {
            (Some(hi), Some(lo)) => self.make_slice(base, hi, lo, span),
            _ => Self::poison(span),
        }
    }

    fn plus_slice(&mut self, base: &ast::Expr, lo: &ast::Expr, width: &ast::Expr, span: Span) -> Expr {
        let base = self.expr(base);
        let width = self.number(width, "width of a slice", 1, MAX_WIDTH);
        let lo = self.expr(lo);
        if !matches!(lo.kind, ExprKind::Const(_) | ExprKind::Poison) {
            return match width {
                Some(width) => self.run_slice(base, lo, width, span),
                None => Self::poison(span),
            };
        }
        let lo = self.number_of(&lo, "low end of a slice", 0, MAX_WIDTH);
        match (lo, width) {
            (Some(lo), Some(width)) => self.make_slice(base, lo + width - 1, lo, span),
            _ => Self::poison(span),
        }
    }

    /// A slice whose place is known at run time only (P4-16 8.6).
    fn run_slice(&mut self, base: Expr, lo: Expr, width: u32, span: Span) -> Expr {
        // The base is checked as for the widest place the slice can have.
        if matches!(self.make_slice(base.clone(), width - 1, 0, span).kind, ExprKind::Poison) {
            return Self::poison(span);
        }
        let under = self.hir.underlying(&lo.ty).clone();
        if !matches!(under, Ty::Bit(_)) {
            let shown = self.hir.show(&lo.ty);
            return self
                .poison_error(lo.span, format!("the index of a slice must be `bit<W>`, not `{shown}`"));
        }
        let lo = if under == lo.ty { lo } else { cast_to(lo, under) };
        Expr { kind: ExprKind::PlusSlice(Box::new(base), Box::new(lo), width), ty: Ty::Bit(width), span }
    }

    fn make_slice(&mut self, base: Expr, hi: u32, lo: u32, span: Span) -> Expr {
        let under = self.hir.underlying(&base.ty).clone();
        let width = match under {
            Ty::Unknown => return Self::poison(span),
            Ty::Bit(width) | Ty::Int(width) => width,
            Ty::Integer => {
                return self.poison_error(span, "`int` has no width; a slice needs `bit<W>` or `int<W>`");
            }
            _ => {
                let shown = self.hir.show(&base.ty);
                return self.poison_error(span, format!("a value of type `{shown}` cannot be sliced"));
            }
        };
        if hi < lo {
            return self.poison_error(
                span,
                format!("the high index of slice [{hi}:{lo}] is less than its low index"),
            );
        }
        if hi >= width {
            return self.poison_error(
                span,
                format!("bit {hi} of the slice is outside the {width} bits of the value"),
            );
        }
        let ty = Ty::Bit(hi - lo + 1);
        if let ExprKind::Const(Value::Int(number)) = &base.kind {
            return Expr { kind: ExprKind::Const(value::slice(number, hi, lo)), ty, span };
        }
        Expr { kind: ExprKind::Slice(Box::new(base), hi, lo), ty, span }
    }

    /// Why an expression cannot be written, if it cannot.
    pub(super) fn not_writable(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Poison => None,
            ExprKind::Local(id) => {
                let local = self.hir.locals.get(id.index())?;
                match local.kind {
                    LocalKind::Variable | LocalKind::Param(Direction::Out | Direction::InOut) => None,
                    LocalKind::Param(Direction::In) => {
                        Some(format!("`{}` is an `in` parameter and read-only", local.name))
                    }
                    LocalKind::Param(Direction::None) => {
                        Some(format!("`{}` is a parameter without direction and read-only", local.name))
                    }
                    LocalKind::Constructor => Some(format!("`{}` is a constructor parameter", local.name)),
                }
            }
            ExprKind::Field(base, _)
            | ExprKind::Index(base, _)
            | ExprKind::Slice(base, _, _)
            | ExprKind::PlusSlice(base, _, _) => self.not_writable(base),
            ExprKind::StackNext(base) | ExprKind::StackLast(base) => self.not_writable(base),
            ExprKind::Const(_) => Some("a constant cannot be assigned".to_owned()),
            _ => Some("the expression is not an lvalue".to_owned()),
        }
    }

    /// Reports an expression that cannot be written.
    pub(super) fn require_writable(&mut self, expr: &Expr) -> bool {
        match self.not_writable(expr) {
            None => true,
            Some(why) => {
                self.push(Diagnostic::error(expr.span, why).with_label("cannot be assigned"));
                false
            }
        }
    }
}

/// A cast node, folded if its operand is constant.
pub(super) fn cast_to(expr: Expr, ty: Ty) -> Expr {
    let span = expr.span;
    if let ExprKind::Const(Value::Int(number)) = &expr.kind
        && ty.is_integral()
    {
        return Expr { kind: ExprKind::Const(Value::Int(value::wrap(number, &ty))), ty, span };
    }
    Expr { kind: ExprKind::Cast(Box::new(expr)), ty, span }
}

/// A field of a value, taken apart at once if the value is written out.
pub(super) fn fold_field(base: Expr, at: usize, ty: Ty, span: Span) -> Expr {
    if let ExprKind::Aggregate(items) = &base.kind
        && items.iter().all(|item| matches!(item.kind, ExprKind::Const(_)))
        && let Some(item) = items.get(at)
    {
        return Expr { span, ..item.clone() };
    }
    Expr { kind: ExprKind::Field(Box::new(base), at), ty, span }
}
