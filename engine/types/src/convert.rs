//! Conversions: the implicit casts of P4 and the explicit ones.

use super::Checker;
use super::expr::cast_to;
use super::hir::{Expr, ExprKind};
use super::order::Order;
use super::ty::Ty;
use super::value::Value;
use super::walk::has_call;
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    /// Gives an expression the type that its surroundings want, by implicit casts only.
    pub(super) fn coerce(&mut self, expr: Expr, to: &Ty) -> Expr {
        if expr.ty == Ty::Unknown || *to == Ty::Unknown {
            // One side is in error already; the type wanted keeps what follows quiet and whole.
            return Expr { ty: if *to == Ty::Unknown { expr.ty } else { to.clone() }, ..expr };
        }
        if expr.ty == *to {
            return expr;
        }
        let span = expr.span;
        match (&expr.ty, to) {
            (Ty::Integer, Ty::Bit(_) | Ty::Int(_)) => self.number_to(expr, to),
            (Ty::Integer, Ty::NewType(_)) if self.hir.behind_type(to).is_fixed() => {
                let made = self.number_to(expr, &self.hir.behind_type(to).clone());
                relabel(made, to.clone())
            }
            // What is known has a number, whatever its width (as p4c has it).
            (Ty::Bit(_) | Ty::Int(_), Ty::Integer) if self.is_directionless(&expr) => {
                relabel(expr, Ty::Integer)
            }
            (Ty::Enum(_), _) if self.hir.enum_underlying(&expr.ty).is_some_and(|under| under == to) => {
                cast_to(expr, to.clone())
            }
            (Ty::Enum(_), Ty::Bit(_) | Ty::Int(_)) if self.hir.enum_underlying(&expr.ty).is_some() => {
                self.coerce_error(&expr, to)
            }
            (Ty::Tuple(_) | Ty::Record(_), _) if matches!(expr.kind, ExprKind::Aggregate(_)) => {
                self.aggregate_to(expr, to)
            }
            (Ty::Tuple(_) | Ty::Record(_), Ty::Aggregate(_) | Ty::Stack(..) | Ty::Tuple(_))
                if is_choice(&expr) =>
            {
                self.choice_to(expr, to)
            }
            (Ty::InvalidHeader, _) if self.hir.is_header(to) || self.hir.is_union(to) => {
                Expr { ty: to.clone(), ..expr }
            }
            (Ty::Dots, _) if self.has_default(to) => Expr { kind: ExprKind::Default, ty: to.clone(), span },
            _ => self.coerce_error(&expr, to),
        }
    }

    /// `c ? {1, 2} : {3, 4}` as a value of a type with parts: each side is one.
    fn choice_to(&mut self, expr: Expr, to: &Ty) -> Expr {
        let Expr { kind: ExprKind::Conditional(cond, a, b), span, .. } = expr else { return expr };
        let (a, b) = (self.coerce(*a, to), self.coerce(*b, to));
        let kind = ExprKind::Conditional(cond, Box::new(a), Box::new(b));
        Expr { kind, ty: to.clone(), span }
    }

    fn has_default(&self, ty: &Ty) -> bool {
        !matches!(
            ty,
            Ty::Void
                | Ty::Extern(..)
                | Ty::Block(_)
                | Ty::Package(_)
                | Ty::String
                | Ty::MatchKind
                | Ty::List(_)
                | Ty::Var(_)
        )
    }

    fn coerce_error(&mut self, expr: &Expr, to: &Ty) -> Expr {
        let (from, wanted) = (self.hir.show(&expr.ty), self.hir.show(to));
        let mut diagnostic = Diagnostic::error(expr.span, format!("expected `{wanted}`, found `{from}`"));
        if self.castable(&expr.ty, to) {
            diagnostic = diagnostic.with_help(format!("cast it: `({wanted})`"));
        }
        self.push(diagnostic);
        Expr { kind: ExprKind::Poison, ty: to.clone(), span: expr.span }
    }

    fn number_to(&mut self, expr: Expr, to: &Ty) -> Expr {
        if let ExprKind::Const(Value::Int(number)) = &expr.kind {
            let number = self.fit_literal(number.clone(), to, expr.span);
            return Expr { kind: ExprKind::Const(Value::Int(number)), ty: to.clone(), span: expr.span };
        }
        cast_to(expr, to.clone())
    }

    /// A written-out list or structure as a value of a type with parts.
    fn aggregate_to(&mut self, expr: Expr, to: &Ty) -> Expr {
        let span = expr.span;
        let parts: Vec<(String, Ty)> = match to {
            Ty::Aggregate(_) if self.hir.is_union(to) => {
                self.not_supported(span, "structure expressions for header unions");
                return Expr { kind: ExprKind::Poison, ty: to.clone(), span };
            }
            Ty::Aggregate(_) => {
                self.hir.fields(to).iter().map(|field| (field.name.clone(), field.ty.clone())).collect()
            }
            Ty::Tuple(items) => items.iter().map(|item| (String::new(), item.clone())).collect(),
            Ty::Stack(elem, size) => (0..*size).map(|_| (String::new(), (**elem).clone())).collect(),
            Ty::List(elem) => {
                let count = match &expr.kind {
                    ExprKind::Aggregate(items) => items.len(),
                    _ => 0,
                };
                (0..count).map(|_| (String::new(), (**elem).clone())).collect()
            }
            _ => return self.coerce_error(&expr, to),
        };
        let Expr { kind: ExprKind::Aggregate(items), ty, .. } = expr else { return expr };
        let made = match &ty {
            Ty::Record(names) => self.by_name(items, names, &parts, to, span),
            _ => self.by_position(items, &parts, to, span).map(ExprKind::Aggregate),
        };
        match made {
            Some(kind) => Expr { kind, ty: to.clone(), span },
            None => Expr { kind: ExprKind::Poison, ty: to.clone(), span },
        }
    }

    fn by_position(
        &mut self,
        mut items: Vec<Expr>,
        parts: &[(String, Ty)],
        to: &Ty,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let open = items.last().is_some_and(|item| item.ty == Ty::Dots);
        if open {
            items.pop();
        }
        if items.len() > parts.len() || (!open && items.len() < parts.len()) {
            let shown = self.hir.show(to);
            self.error(span, format!("`{shown}` has {} members, but {} are given", parts.len(), items.len()));
            return None;
        }
        let given = items.len();
        let mut made = Vec::with_capacity(parts.len());
        for (item, (_, ty)) in items.into_iter().zip(parts) {
            made.push(self.coerce(item, ty));
        }
        for (_, ty) in parts.iter().skip(given) {
            made.push(Expr { kind: ExprKind::Default, ty: ty.clone(), span });
        }
        Some(made)
    }

    fn by_name(
        &mut self,
        items: Vec<Expr>,
        names: &[(String, Ty)],
        parts: &[(String, Ty)],
        to: &Ty,
        span: Span,
    ) -> Option<ExprKind> {
        if matches!(to, Ty::Stack(..) | Ty::Tuple(_) | Ty::List(_)) {
            let shown = self.hir.show(to);
            self.error(span, format!("`{shown}` has no named members; write `{{a, b}}`"));
            return None;
        }
        let open = names.iter().any(|(name, _)| name == "...");
        let mut made: Vec<Option<Expr>> = vec![None; parts.len()];
        let mut written = Vec::with_capacity(items.len());
        for (item, (name, _)) in items.into_iter().zip(names) {
            if name == "..." {
                continue;
            }
            self.charge_scan(parts.len(), span)?;
            match parts.iter().position(|(part, _)| part == name) {
                Some(at) => {
                    let ty = parts.get(at).map_or(Ty::Unknown, |(_, ty)| ty.clone());
                    let item = self.coerce(item, &ty);
                    if let Some(slot) = made.get_mut(at) {
                        *slot = Some(item);
                        written.push(at);
                    }
                }
                None => {
                    let shown = self.hir.show(to);
                    let near = p4cc_syntax::closest(name, parts.iter().map(|(part, _)| part.as_str()));
                    let mut diagnostic =
                        Diagnostic::error(item.span, format!("`{shown}` has no field `{name}`"));
                    if let Some(near) = near {
                        diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
                    }
                    self.push(diagnostic);
                    return None;
                }
            }
        }
        let mut out = Vec::with_capacity(parts.len());
        for (item, (name, ty)) in made.into_iter().zip(parts) {
            match item {
                Some(item) => out.push(item),
                None if open => out.push(Expr { kind: ExprKind::Default, ty: ty.clone(), span }),
                None => {
                    let shown = self.hir.show(to);
                    self.push(
                        Diagnostic::error(span, format!("field `{name}` of `{shown}` has no value"))
                            .with_help("give it a value, or end with `...` for default values"),
                    );
                    return None;
                }
            }
        }
        // Parts without effects have the same values in any order.
        let order = Order::new(written);
        Some(if order.is_plain() || !out.iter().any(has_call) {
            ExprKind::Aggregate(out)
        } else {
            ExprKind::AggregateInOrder(out, order)
        })
    }

    /// An explicit cast.
    pub(super) fn cast(&mut self, expr: Expr, to: &Ty, span: Span) -> Expr {
        if expr.ty == Ty::Unknown || *to == Ty::Unknown {
            return Expr { kind: ExprKind::Poison, ty: to.clone(), span };
        }
        if expr.ty == *to {
            return Expr { span, ..expr };
        }
        let written_out = matches!(expr.kind, ExprKind::Aggregate(_));
        if written_out || matches!(expr.ty, Ty::InvalidHeader | Ty::Dots) {
            return self.coerce(expr, to);
        }
        if *to == Ty::Integer && self.hir.underlying(&expr.ty).is_fixed() {
            return self.cast_to_integer(expr, span);
        }
        if !self.castable(&expr.ty, to) {
            let (from, wanted) = (self.hir.show(&expr.ty), self.hir.show(to));
            let mut diagnostic = Diagnostic::error(span, format!("cannot cast `{from}` to `{wanted}`"));
            let stands_for =
                |ty: &Ty| matches!(ty, Ty::NewType(_)).then(|| self.hir.show(self.hir.behind_type(ty)));
            if let Some(under) = stands_for(&expr.ty).or_else(|| stands_for(to)) {
                diagnostic = diagnostic.with_help(format!("cast to the underlying type first: `({under})`"));
            } else if expr.ty.is_fixed() && to.is_fixed() {
                diagnostic = diagnostic.with_help("change the width and the sign in two casts");
            }
            self.push(diagnostic);
            return Expr { kind: ExprKind::Poison, ty: to.clone(), span };
        }
        let made = self.cast_through(expr, to);
        Expr { span, ..made }
    }

    /// A value that is known at compile time as a number without width.
    fn cast_to_integer(&mut self, expr: Expr, span: Span) -> Expr {
        if !self.is_compile_time(&expr) {
            let from = self.hir.show(&expr.ty);
            self.push(
                Diagnostic::error(
                    span,
                    format!("a `{from}` that is known only at run time cannot be cast to `int`"),
                )
                .with_help("`int` has no width: cast to `bit<W>` or `int<W>`"),
            );
            return Expr { kind: ExprKind::Poison, ty: Ty::Integer, span };
        }
        let made = relabel(expr, Ty::Integer);
        Expr { span, ..made }
    }

    /// Casts between the underlying types, then names the result.
    fn cast_through(&mut self, expr: Expr, to: &Ty) -> Expr {
        let from = self.hir.underlying(&expr.ty).clone();
        let under = self.hir.underlying(to).clone();
        let expr = if from == expr.ty { expr } else { relabel(expr, from.clone()) };
        let made = match (&from, &under) {
            _ if from == under => expr,
            (Ty::Integer, Ty::Bit(_) | Ty::Int(_)) => self.number_to(expr, &under),
            (Ty::Integer, Ty::Bool) => match &expr.kind {
                ExprKind::Const(Value::Int(number)) => {
                    if *number != 0.into() && *number != 1.into() {
                        let message = format!("{number} cannot be cast to `bool`; only 0 and 1 can");
                        return self.poison_error(expr.span, message);
                    }
                    let bit = *number == 1.into();
                    Expr { kind: ExprKind::Const(Value::Bool(bit)), ty: Ty::Bool, span: expr.span }
                }
                _ => cast_to(expr, Ty::Bool),
            },
            (Ty::Bit(_), Ty::Bool) => match &expr.kind {
                ExprKind::Const(Value::Int(number)) => {
                    let bit = *number != 0.into();
                    Expr { kind: ExprKind::Const(Value::Bool(bit)), ty: Ty::Bool, span: expr.span }
                }
                _ => cast_to(expr, Ty::Bool),
            },
            (Ty::Bool, _) => match &expr.kind {
                ExprKind::Const(Value::Bool(bit)) => {
                    let number = u8::from(*bit).into();
                    Expr { kind: ExprKind::Const(Value::Int(number)), ty: under.clone(), span: expr.span }
                }
                _ => cast_to(expr, under.clone()),
            },
            _ => cast_to(expr, under.clone()),
        };
        if under == *to { made } else { relabel(made, to.clone()) }
    }

    /// Whether an explicit cast exists.
    fn castable(&self, from: &Ty, to: &Ty) -> bool {
        if from == to {
            return true;
        }
        let (a, b) = (self.hir.underlying(from), self.hir.underlying(to));
        if a == b {
            return true;
        }
        // What `type` declares is cast to and from the type
        // that it stands for, and nothing else (P4-16 8.12.1).
        if matches!(from, Ty::NewType(_)) || (matches!(to, Ty::NewType(_)) && *from != Ty::Integer) {
            return false;
        }
        match (a, b) {
            (Ty::Bit(_), Ty::Bit(_)) | (Ty::Int(_), Ty::Int(_)) => true,
            (Ty::Bit(x), Ty::Int(y)) | (Ty::Int(x), Ty::Bit(y)) => x == y,
            (Ty::Bit(1), Ty::Bool) | (Ty::Bool, Ty::Bit(1)) => true,
            (Ty::Integer, Ty::Bit(_) | Ty::Int(_)) => true,
            (Ty::Integer, Ty::Bool) => true,
            _ => false,
        }
    }
}

/// Whether this is `c ? a : b` of written-out values.
fn is_choice(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Conditional(_, a, b) => [a, b].into_iter().all(|side| is_choice(side)),
        ExprKind::Aggregate(_) => true,
        _ => false,
    }
}

/// The same bits under another type.
fn relabel(expr: Expr, ty: Ty) -> Expr {
    let span = expr.span;
    match expr.kind {
        ExprKind::Const(value) => Expr { kind: ExprKind::Const(value), ty, span },
        _ => Expr { kind: ExprKind::Cast(Box::new(expr)), ty, span },
    }
}
