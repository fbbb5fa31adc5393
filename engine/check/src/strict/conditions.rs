//! What may depend on a condition within an action, and where the conditional operator may stand.
//!
//! An action's unit has no branches. It takes the smaller or larger of two values, and it sets a field, or
//! leaves it, by a flag among the action's data; p4c's back end makes the conditional operator of `if`.

use p4cc_syntax::ast::{BinaryOp, Direction};
use p4cc_syntax::{Diagnostic, Span};

use super::{is_constant, refused};
use p4cc_types::hir::{Callee, Expr, ExprKind, LocalKind, Program, Stmt, StmtKind};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

const INSTEAD: &str = "write two actions, and select one in `apply` or in a table";

/// A finding about `if` in an action, if it breaks a rule.
pub(super) fn of_if(program: &Program, stmt: &Stmt) -> Option<Diagnostic> {
    let StmtKind::If(cond, then, otherwise) = &stmt.kind else { return None };
    let told = |span: Span, what| Some(refused("action-condition", span, what, INSTEAD));
    if is_constant(program, cond) || is_least_or_greatest(cond, then, otherwise) {
        return None;
    }
    if !is_flag(program, cond) {
        return told(
            cond.span,
            "supports a condition in an action only on a flag in the action data: a `bool` parameter, or one \
                `!= 0`",
        );
    }
    let fits = |value: &Expr, is_set: bool| match is_set {
        true => is_given(program, value),
        false => is_place(program, value),
    };
    for (body, is_set) in [(then, true), (otherwise, false)] {
        for inner in flat(body) {
            match &inner.kind {
                StmtKind::Assign(_, value) if !fits(value, is_set) => {
                    return told(
                        value.span,
                        "can set a field by a flag only to action data or a constant, and otherwise to a \
                            field or not at all",
                    );
                }
                StmtKind::Update { .. } | StmtKind::If(..) => {
                    return told(
                        inner.span,
                        "can only set fields conditionally on a flag of the action data",
                    );
                }
                StmtKind::Call(call) if matches!(call.callee, Callee::Method { .. }) => {
                    return told(inner.span, "calls the externs of an action unconditionally");
                }
                _ => {}
            }
        }
    }
    None
}

/// A finding about `cond ? a : b`, if it breaks a rule.
pub(super) fn of_operator(program: &Program, whole: &Expr, in_action: bool) -> Option<Diagnostic> {
    let ExprKind::Conditional(cond, a, b) = &whole.kind else { return None };
    if is_constant(program, cond) || is_min_or_max(cond, a, b) {
        return None;
    }
    let what = match in_action && is_flag(program, cond) {
        true if is_given(program, a) && is_place(program, b) => return None,
        true => "takes action data or a constant if the flag is set, and a field if it is not",
        false => {
            "supports the conditional operator only for a minimum or maximum, or on a flag of the action data"
        }
    };
    Some(refused(
        "conditional-operator",
        whole.span,
        what,
        "select one of two actions in `apply` or in a table",
    ))
}

/// `a < b ? a : b`, and what else gives the smaller or larger.
pub(super) fn is_min_or_max(cond: &Expr, a: &Expr, b: &Expr) -> bool {
    let ExprKind::Binary(op, left, right) = &cond.kind else { return false };
    matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
        && (same(left, a) && same(right, b) || same(left, b) && same(right, a))
}

/// `if (a > b) { a = b; }`, and what else gives the smaller or larger.
pub(super) fn is_least_or_greatest(cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) -> bool {
    match flat(then).as_slice() {
        [Stmt { kind: StmtKind::Assign(target, value), .. }] if otherwise.is_empty() => {
            is_min_or_max(cond, value, target)
        }
        _ => false,
    }
}

/// The statements of a body without the blocks around them.
fn flat(body: &[Stmt]) -> Vec<&Stmt> {
    let mut all = Vec::new();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Block(inner) => all.extend(flat(inner)),
            _ => all.push(stmt),
        }
    }
    all
}

/// Whether two expressions are the same field, variable or constant.
fn same(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Field(a, one), ExprKind::Field(b, other)) => one == other && same(a, b),
        (ExprKind::Slice(a, high, low), ExprKind::Slice(b, top, bottom)) => {
            (high, low) == (top, bottom) && same(a, b)
        }
        (ExprKind::Cast(a), ExprKind::Cast(b)) => same(a, b),
        (ExprKind::Index(a, at), ExprKind::Index(b, place)) => same(a, b) && same(at, place),
        (ExprKind::Local(_) | ExprKind::Const(_), _) => a.kind == b.kind,
        _ => false,
    }
}

/// A parameter that the control plane gives: all that a condition of an action may be, or `!= 0` of it.
fn is_flag(program: &Program, cond: &Expr) -> bool {
    match &cond.kind {
        ExprKind::Binary(BinaryOp::Ne, value, zero) => is_data(program, value) && is_zero(zero),
        _ => cond.ty == Ty::Bool && is_data(program, cond),
    }
}

fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(Value::Int(value)) => value.bits() == 0,
        ExprKind::Cast(inner) => is_zero(inner),
        _ => false,
    }
}

fn is_data(program: &Program, expr: &Expr) -> bool {
    let ExprKind::Local(id) = &expr.kind else { return false };
    let kind = program.locals.get(id.index()).map(|local| local.kind);
    matches!(kind, Some(LocalKind::Param(Direction::None)))
}

/// A constant, or action data as they are.
fn is_given(program: &Program, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast(inner) | ExprKind::Slice(inner, ..) => is_given(program, inner),
        _ => is_constant(program, expr) || is_data(program, expr),
    }
}

/// A field or variable as it is.
fn is_place(program: &Program, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Field(..) | ExprKind::Index(..) => true,
        ExprKind::Cast(inner) | ExprKind::Slice(inner, ..) => is_place(program, inner),
        ExprKind::Local(_) => !is_given(program, expr),
        _ => false,
    }
}
