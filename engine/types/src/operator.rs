//! Operators: their types, and their values where operands are constant.

use super::Checker;
use super::expr::cast_to;
use super::hir::{Expr, ExprKind};
use super::ty::Ty;
use super::value::{self, FoldError, Value};
use num_traits::{Signed, ToPrimitive};
use p4cc_ir::limits::MAX_WIDTH;
use p4cc_syntax::ast::{self, BinaryOp, UnaryOp};
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        let operand = self.expr(operand);
        let operand = if op == UnaryOp::Not { operand } else { self.plain_number(operand) };
        let fine = match (&operand.ty, op) {
            (Ty::Unknown, _) => return Self::poison(span),
            (Ty::Bool, UnaryOp::Not) | (Ty::Bit(_) | Ty::Int(_), UnaryOp::BitNot) => true,
            (ty, UnaryOp::Neg | UnaryOp::Plus) => ty.is_integral(),
            _ => false,
        };
        if !fine {
            let shown = self.hir.show(&operand.ty);
            let help = match (op, &operand.ty) {
                (UnaryOp::Not, ty) if ty.is_integral() => Some("compare with zero, or use `~`"),
                (UnaryOp::BitNot, Ty::Integer) => Some("give the number a width: `8w1`"),
                (UnaryOp::BitNot, Ty::Bool) => Some("use `!`"),
                _ => None,
            };
            return self.operator_error(
                span,
                &format!("`{}` cannot be applied to `{shown}`", op.text()),
                help,
            );
        }
        let ty = operand.ty.clone();
        if let ExprKind::Const(value) = &operand.kind {
            return self.folded(value::unary(op, value, &ty), ty, span);
        }
        if op == UnaryOp::Plus {
            return operand;
        }
        Expr { kind: ExprKind::Unary(op, Box::new(operand)), ty, span }
    }

    fn operator_error(&mut self, span: Span, message: &str, help: Option<&str>) -> Expr {
        let mut diagnostic = Diagnostic::error(span, message);
        if let Some(help) = help {
            diagnostic = diagnostic.with_help(help);
        }
        self.push(diagnostic);
        Self::poison(span)
    }

    fn folded(&mut self, result: Result<Value, FoldError>, ty: Ty, span: Span) -> Expr {
        match result {
            Ok(value) => Expr { kind: ExprKind::Const(value), ty, span },
            Err(error) => self.poison_error(span, error.message()),
        }
    }

    /// A serializable enum as its number.
    fn plain_number(&mut self, expr: Expr) -> Expr {
        match self.hir.enum_underlying(&expr.ty) {
            Some(under) => {
                let under = under.clone();
                cast_to(expr, under)
            }
            None => expr,
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        let a = self.expr(a);
        let b = self.expr(b);
        self.binary_of(op, a, b, span)
    }

    /// Applies an operator to checked operands.
    pub(super) fn binary_of(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        // A constant in error keeps its type; what is made of it is in error too.
        if [&a, &b].into_iter().any(|side| side.ty == Ty::Unknown || side.kind == ExprKind::Poison) {
            return Self::poison(span);
        }
        match op {
            BinaryOp::And | BinaryOp::Or => self.logical(op, a, b, span),
            BinaryOp::Eq | BinaryOp::Ne => self.equality(op, a, b, span),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, a, b, span),
            BinaryOp::Concat => self.concat(a, b, span),
            _ => self.arithmetic(op, a, b, span),
        }
    }

    fn mismatch(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Expr {
        let (left, right) = (self.hir.show(&a.ty), self.hir.show(&b.ty));
        let mut diagnostic =
            Diagnostic::error(span, format!("`{}` cannot be applied to `{left}` and `{right}`", op.text()))
                .with_related(a.span, format!("this is `{left}`"))
                .with_related(b.span, format!("this is `{right}`"));
        if a.ty.is_fixed() && b.ty.is_fixed() {
            diagnostic = diagnostic.with_help(format!("cast one side: `({left})`"));
        } else if let Some(named) = [&a.ty, &b.ty].into_iter().find(|ty| matches!(ty, Ty::NewType(_))) {
            // A `type` has no operators but comparison with a value of its own.
            let (named, under) = (self.hir.show(named), self.hir.show(self.hir.behind_type(named)));
            diagnostic = diagnostic.with_help(match op {
                BinaryOp::Eq | BinaryOp::Ne => format!("cast the other side: `({named})`"),
                _ => format!("cast to the underlying type: `({under})`"),
            });
        }
        self.push(diagnostic);
        Self::poison(span)
    }

    fn logical(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        if a.ty != Ty::Bool || b.ty != Ty::Bool {
            return self.mismatch(op, &a, &b, span);
        }
        match (&a.kind, &b.kind) {
            (ExprKind::Const(Value::Bool(left)), _) => {
                let decided = if op == BinaryOp::And { !*left } else { *left };
                if decided { Expr { span, ..a } } else { Expr { span, ..b } }
            }
            _ => Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty: Ty::Bool, span },
        }
    }

    /// Gives both operands one type, as the implicit casts allow.
    fn unify_operands(&mut self, a: Expr, b: Expr) -> (Expr, Expr) {
        if a.ty == b.ty {
            return (a, b);
        }
        let (a, b) =
            match (self.hir.enum_underlying(&a.ty).is_some(), self.hir.enum_underlying(&b.ty).is_some()) {
                (true, _) | (_, true) => (self.plain_number(a), self.plain_number(b)),
                _ => (a, b),
            };
        if a.ty == Ty::Integer && b.ty.is_fixed() {
            let ty = b.ty.clone();
            (self.coerce(a, &ty), b)
        } else if b.ty == Ty::Integer && a.ty.is_fixed() {
            let ty = a.ty.clone();
            (a, self.coerce(b, &ty))
        } else {
            (a, b)
        }
    }

    fn equality(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        let (mut a, mut b) = self.unify_operands(a, b);
        let open = |ty: &Ty| matches!(ty, Ty::Tuple(_) | Ty::Record(_) | Ty::InvalidHeader);
        let written = |expr: &Expr| matches!(expr.kind, ExprKind::Aggregate(_));
        let by_left = written(&b) && !written(&a) && a.ty != b.ty;
        let by_right = written(&a) && !written(&b) && a.ty != b.ty;
        if by_left || (open(&b.ty) && !open(&a.ty)) {
            let ty = a.ty.clone();
            b = self.coerce(b, &ty);
        } else if by_right || (open(&a.ty) && !open(&b.ty)) {
            let ty = b.ty.clone();
            a = self.coerce(a, &ty);
        }
        if a.ty == Ty::Unknown || b.ty == Ty::Unknown {
            return Self::poison(span);
        }
        if matches!((&a.ty, &b.ty), (Ty::Record(_), Ty::Record(_))) {
            let message = "the type of the structures in this comparison is unknown";
            return self.operator_error(span, message, Some("cast one of them: `(S){ ... }`"));
        }
        let comparable = !matches!(
            a.ty,
            Ty::Void
                | Ty::Extern(..)
                | Ty::Block(_)
                | Ty::Package(_)
                | Ty::ApplyResult(_)
                | Ty::ActionRun(_)
                | Ty::Var(_)
        );
        if a.ty != b.ty || !comparable {
            return self.mismatch(op, &a, &b, span);
        }
        if let (ExprKind::Const(left), ExprKind::Const(right)) = (&a.kind, &b.kind) {
            return self.folded(value::binary(op, left, right, &a.ty), Ty::Bool, span);
        }
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty: Ty::Bool, span }
    }

    fn arithmetic(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        let (a, b) = (self.plain_number(a), self.plain_number(b));
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Mod);
        // Before a number gets the other's type, which would take its sign away.
        if divides && (is_negative(&a) || is_negative(&b)) {
            return self.poison_error(span, "division and modulo are not defined for negative numbers");
        }
        let (a, b) = self.unify_operands(a, b);
        if a.ty == Ty::Unknown || b.ty == Ty::Unknown {
            return Self::poison(span);
        }
        if a.ty != b.ty || !a.ty.is_integral() {
            return self.mismatch(op, &a, &b, span);
        }
        let fixed_only = matches!(op, BinaryOp::AddSat | BinaryOp::SubSat);
        if a.ty == Ty::Integer && fixed_only {
            return self.operator_error(
                span,
                &format!("`{}` requires operands with a width", op.text()),
                Some("give the numbers a width: `8w1`"),
            );
        }
        if divides {
            if matches!(a.ty, Ty::Int(_)) {
                return self.operator_error(
                    span,
                    "division and modulo are not defined for `int<W>`",
                    Some("cast to `bit<W>` first"),
                );
            }
            if matches!(&b.kind, ExprKind::Const(Value::Int(value)) if *value == 0.into()) {
                return self.poison_error(span, FoldError::DivisionByZero.message());
            }
            self.warn_run_time_division(&b, span);
        }
        let compares = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
        let ty = if compares { Ty::Bool } else { a.ty.clone() };
        if let (ExprKind::Const(left), ExprKind::Const(right)) = (&a.kind, &b.kind) {
            return self.folded(value::binary(op, left, right, &a.ty), ty, span);
        }
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span }
    }

    /// The language defines division at compile time only; this engine and BMv2 divide at run time too.
    fn warn_run_time_division(&mut self, divisor: &Expr, span: Span) {
        if matches!(divisor.kind, ExprKind::Const(_)) {
            return;
        }
        self.push(
            Diagnostic::warning(span, "division by a value that is not a compile-time constant")
                .with_name("unsupported")
                .with_help("other P4 compilers reject it; divide by a constant"),
        );
    }

    fn shift(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        let (a, b) = (self.plain_number(a), self.plain_number(b));
        if !a.ty.is_integral() || !b.ty.is_integral() {
            return self.mismatch(op, &a, &b, span);
        }
        // A constant is an amount whatever its type is, if it is not negative (P4-16 8.6).
        let b = match b.kind {
            ExprKind::Const(_) => Expr { ty: Ty::Integer, ..b },
            _ => b,
        };
        if matches!(b.ty, Ty::Int(_)) {
            return self.operator_error(
                b.span,
                "the shift amount must be unsigned",
                Some("cast it to `bit<W>`"),
            );
        }
        if let ExprKind::Const(Value::Int(amount)) = &b.kind {
            if amount.is_negative() {
                return self.poison_error(b.span, FoldError::NegativeShift.message());
            }
            if let Some(width) = a.ty.fixed_width()
                && amount.to_u32().is_none_or(|amount| amount >= width)
            {
                self.warning(
                    span,
                    "overflow",
                    format!("shifting {width} bits by {amount} removes all of them"),
                );
            }
        } else if a.ty == Ty::Integer {
            return self.operator_error(
                a.span,
                "an `int` can be shifted only by a compile-time constant",
                Some("give the number a width: `8w1`"),
            );
        }
        let ty = a.ty.clone();
        if let (ExprKind::Const(left), ExprKind::Const(right)) = (&a.kind, &b.kind) {
            return self.folded(value::binary(op, left, right, &ty), ty, span);
        }
        let b = if b.ty == Ty::Integer { self.shift_amount(b) } else { b };
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span }
    }

    /// A constant amount as `bit<32>`; larger ones shift everything out all the same.
    fn shift_amount(&mut self, amount: Expr) -> Expr {
        match &amount.kind {
            ExprKind::Const(Value::Int(number)) => {
                let number = number.to_u32().unwrap_or(u32::MAX);
                Expr { kind: ExprKind::Const(Value::Int(number.into())), ty: Ty::Bit(32), span: amount.span }
            }
            _ => cast_to(amount, Ty::Bit(32)),
        }
    }

    /// Strings are joined at compile time (P4-16 8.4); a constructor parameter is known later.
    fn joined_strings(&mut self, a: Expr, b: Expr, span: Span) -> Expr {
        let (ExprKind::Const(left), ExprKind::Const(right)) = (&a.kind, &b.kind) else {
            let kind = ExprKind::Binary(BinaryOp::Concat, Box::new(a), Box::new(b));
            return Expr { kind, ty: Ty::String, span };
        };
        self.folded(value::joined(left, right), Ty::String, span)
    }

    fn concat(&mut self, a: Expr, b: Expr, span: Span) -> Expr {
        if (&a.ty, &b.ty) == (&Ty::String, &Ty::String) {
            return self.joined_strings(a, b, span);
        }
        let (a, b) = (self.plain_number(a), self.plain_number(b));
        let (Some(hi), Some(lo)) = (a.ty.fixed_width(), b.ty.fixed_width()) else {
            return self.mismatch(BinaryOp::Concat, &a, &b, span);
        };
        if hi + lo > MAX_WIDTH {
            return self.poison_error(
                span,
                format!("the result has {} bits; at most {MAX_WIDTH} are allowed", hi + lo),
            );
        }
        let ty = if matches!(a.ty, Ty::Int(_)) { Ty::Int(hi + lo) } else { Ty::Bit(hi + lo) };
        if let (ExprKind::Const(Value::Int(high)), ExprKind::Const(Value::Int(low))) = (&a.kind, &b.kind) {
            return Expr { kind: ExprKind::Const(value::concat(high, low, lo, &ty)), ty, span };
        }
        Expr { kind: ExprKind::Binary(BinaryOp::Concat, Box::new(a), Box::new(b)), ty, span }
    }

    pub(super) fn conditional(&mut self, cond: &ast::Expr, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        let cond = self.condition(cond);
        let (a, b) = (self.expr(a), self.expr(b));
        let (a, b) = self.unify_operands(a, b);
        // A number without width is a value of a `type` too, as where it is assigned.
        let (a, b) = match (&a.ty, &b.ty) {
            (Ty::NewType(_), Ty::Integer) => {
                let b = self.coerce(b, &a.ty);
                (a, b)
            }
            (Ty::Integer, Ty::NewType(_)) => (self.coerce(a, &b.ty), b),
            _ => (a, b),
        };
        if a.ty == Ty::Unknown || b.ty == Ty::Unknown || cond.ty == Ty::Unknown {
            return Self::poison(span);
        }
        if a.ty != b.ty {
            let (left, right) = (self.hir.show(&a.ty), self.hir.show(&b.ty));
            return self
                .poison_error(span, format!("the branches of `?:` have types `{left}` and `{right}`"));
        }
        if let ExprKind::Const(Value::Bool(value)) = &cond.kind {
            return if *value { a } else { b };
        }
        if a.ty == Ty::Integer {
            return self.operator_error(
                span,
                "the branches of `?:` have no width",
                Some("give one of the numbers a width: `8w1`"),
            );
        }
        let ty = a.ty.clone();
        Expr { kind: ExprKind::Conditional(Box::new(cond), Box::new(a), Box::new(b)), ty, span }
    }

    /// An expression that must be a `bool`.
    pub(super) fn condition(&mut self, cond: &ast::Expr) -> Expr {
        let checked = self.expr(cond);
        if checked.ty != Ty::Bool && checked.ty != Ty::Unknown {
            let shown = self.hir.show(&checked.ty);
            let mut diagnostic =
                Diagnostic::error(cond.span, format!("a condition must be a `bool`, not `{shown}`"));
            if checked.ty.is_fixed() {
                diagnostic = diagnostic.with_help("compare it: `x != 0`");
            }
            self.push(diagnostic);
            return Self::poison(cond.span);
        }
        checked
    }
}

fn is_negative(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Const(Value::Int(number)) if number.is_negative())
}
