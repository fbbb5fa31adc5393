//! What an action's unit and a condition can work out in one step.

use std::collections::BTreeSet;

use num_traits::ToPrimitive;
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::BinaryOp;

use super::{conditions, is_constant, refused};
use p4cc_types::hir::{Callee, Expr, ExprKind, Program, Stmt, StmtKind};
use p4cc_types::ids::FnId;
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;
use p4cc_types::walk::{calls, each_part, stmt_parts};

/// Widths of the containers that hold fields.
const SATURATING: [u32; 3] = [8, 16, 32];
/// Bits of the widest.
const WIDEST: u32 = 32;

/// Bits that a condition compares with the ends of a range.
const RANGE_BITS: u32 = 12;

/// Runs the rules on all bodies but those of register actions.
pub(super) fn check(program: &Program, methods: &BTreeSet<FnId>, found: &mut Vec<Diagnostic>) {
    let mut pass = Pass { program, found, in_action: false };
    for control in &program.controls {
        pass.stmts(&control.body);
    }
    // What nobody calls is not in the chip's program.
    let mut called: BTreeSet<FnId> = BTreeSet::new();
    calls(program, &mut |_, _, call| {
        if let Callee::Function(id) = &call.callee {
            called.insert(*id);
        }
    });
    for (at, function) in program.functions.iter().enumerate() {
        let id = FnId::from_index(at);
        if called.contains(&id) && !methods.contains(&id) {
            pass.stmts(&function.body);
        }
    }
    for table in &program.tables {
        table.keys.iter().for_each(|key| pass.expr(&key.expr));
    }
    for parser in &program.parsers {
        pass.stmts(&parser.init);
        parser.states.iter().for_each(|state| pass.stmts(&state.body));
    }
    pass.in_action = true;
    for action in &program.actions {
        pass.stmts(&action.body);
    }
}

struct Pass<'a> {
    program: &'a Program,
    found: &'a mut Vec<Diagnostic>,
    in_action: bool,
}

impl Pass<'_> {
    fn stmts(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if self.in_action {
            self.found.extend(conditions::of_if(self.program, stmt));
        }
        if let StmtKind::If(cond, then, otherwise) = &stmt.kind
            && self.in_action
            && conditions::is_least_or_greatest(cond, then, otherwise)
        {
            return;
        }
        if let StmtKind::Call(call) = &stmt.kind {
            call.args.iter().flatten().for_each(|arg| self.expr(arg));
        }
        let mut bodies: Vec<&[Stmt]> = Vec::new();
        let mut exprs: Vec<&Expr> = Vec::new();
        stmt_parts(stmt, &mut exprs, &mut bodies);
        exprs.into_iter().for_each(|expr| self.expr(expr));
        bodies.into_iter().for_each(|body| self.stmts(body));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, a, b),
            ExprKind::Conditional(cond, a, b) => {
                self.found.extend(conditions::of_operator(self.program, expr, self.in_action));
                if conditions::is_min_or_max(cond, a, b) {
                    return;
                }
            }
            ExprKind::PlusSlice(_, low, _) if !is_constant(self.program, low) => {
                self.found.push(refused(
                    "slice",
                    low.span,
                    "accesses bits only at positions known at compile time",
                    "use constants, or one action per position",
                ));
            }
            _ => {}
        }
        each_part(expr, &mut |part| self.expr(part));
    }

    fn binary(&mut self, expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr) {
        let constant = |side: &Expr| is_constant(self.program, side);
        let power_of_two = |side: &Expr| is_constant(self.program, side) && is_power_of_two(side);
        if constant(a) && constant(b) {
            return;
        }
        let (rule, what, instead) = match op {
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge if !constant(a) && !constant(b) => (
                "comparison",
                "cannot order two values if neither is a constant",
                "subtract with saturation (`|-|`) in an action, then compare with 0 in a table or in `apply`",
            ),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge if is_wide_range(op, a, b) => (
                "comparison",
                "orders numbers of at most 12 bits by any constant, and wider ones only by powers of two",
                "compare with a power of two or a slice of 12 bits, or match a range in a table",
            ),
            BinaryOp::Mul if !power_of_two(a) && !power_of_two(b) => (
                "multiplication",
                "multiplies only by powers of two",
                "add shifted values, look the product up in a table, or compute it in the controller",
            ),
            BinaryOp::Div | BinaryOp::Mod if !power_of_two(b) => (
                "division",
                "divides only by powers of two",
                "shift by a constant, look the quotient up in a table, or compute it in the controller",
            ),
            BinaryOp::Shl | BinaryOp::Shr if !constant(b) => (
                "shift",
                "shifts only by constants",
                "write one action per shift amount, and select it with a table",
            ),
            BinaryOp::AddSat | BinaryOp::SubSat if !self.saturates(&expr.ty, [a, b]) => (
                "saturation",
                "saturates numbers of at most 32 bits, and in header fields only those of 8, 16 or 32 bits",
                "widen the operands to 8, 16 or 32 bits, or use metadata",
            ),
            _ => return,
        };
        self.found.push(refused(rule, expr.span, what, instead));
    }

    /// A container of the header vector saturates as a whole: metadata may have one of their own.
    fn saturates(&self, ty: &Ty, operands: [&Expr; 2]) -> bool {
        let Some(bits) = width(self.program.underlying(ty)) else { return false };
        let in_header = operands.iter().any(|operand| is_of_header(self.program, operand));
        bits <= WIDEST && (!in_header || SATURATING.contains(&bits))
    }
}

/// Whether a comparison of unsigned numbers, one a constant, takes more bits of a range than a condition has.
fn is_wide_range(op: BinaryOp, a: &Expr, b: &Expr) -> bool {
    let (value, bound, with_bound) = match (&a.kind, &b.kind) {
        (_, ExprKind::Const(Value::Int(bound))) => (a, bound, matches!(op, BinaryOp::Le | BinaryOp::Gt)),
        (ExprKind::Const(Value::Int(bound)), _) => (b, bound, matches!(op, BinaryOp::Lt | BinaryOp::Ge)),
        _ => return false,
    };
    let (Ty::Bit(width), Some(bound)) = (&value.ty, bound.to_u128()) else { return false };
    // `x <= 7` is `x < 8`.
    let bound = bound.saturating_add(u128::from(with_bound));
    bound != 0 && !bound.is_power_of_two() && width.saturating_sub(bound.trailing_zeros()) > RANGE_BITS
}

/// Whether an expression is a header's field as it is.
fn is_of_header(program: &Program, expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Field(of, _) if program.is_header(&of.ty))
}

fn width(ty: &Ty) -> Option<u32> {
    match ty {
        Ty::Bit(width) | Ty::Int(width) => Some(*width),
        _ => None,
    }
}

/// Whether a constant is 0, 1, 2, 4 and so on; one that only the instance knows may be.
fn is_power_of_two(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(Value::Int(value)) => {
            value.to_u128().is_some_and(|value| value == 0 || value.is_power_of_two())
        }
        ExprKind::Cast(inner) => is_power_of_two(inner),
        _ => true,
    }
}
