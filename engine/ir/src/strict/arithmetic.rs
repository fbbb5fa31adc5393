//! What an action's unit and a condition can work out in one step.

use std::collections::BTreeSet;

use num_traits::ToPrimitive;
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::{BinaryOp, Direction};

use super::{is_constant, refused};
use crate::check::walk::{each_part, stmt_parts};
use crate::types::hir::{Expr, ExprKind, FnId, LocalKind, Program, Stmt, StmtKind};
use crate::types::ty::Ty;
use crate::types::value::Value;

/// Widths for which the chip saturates.
const SATURATING: [u32; 3] = [8, 16, 32];

/// Runs the rules on all bodies but those of register actions.
pub(super) fn check(program: &Program, methods: &BTreeSet<FnId>, found: &mut Vec<Diagnostic>) {
    let mut pass = Pass { program, found, in_action: false };
    for control in &program.controls {
        pass.stmts(&control.body);
    }
    for (at, function) in program.functions.iter().enumerate() {
        if !methods.contains(&FnId::from_index(at)) {
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
        if let StmtKind::If(cond, ..) = &stmt.kind
            && self.in_action
            && !self.is_of_control_plane(cond)
        {
            self.found.push(refused(
                "action-condition",
                cond.span,
                "has no conditions on a packet's fields within an action",
                "make two actions, and choose between them in `apply` or in a table",
            ));
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
            ExprKind::Conditional(cond, ..) if self.in_action && !self.is_of_control_plane(cond) => {
                self.found.push(refused(
                    "conditional-operator",
                    expr.span,
                    "has no conditional operator on a packet's fields within an action",
                    "make two actions, and choose between them in `apply` or in a table",
                ));
            }
            ExprKind::PlusSlice(_, low, _) if !is_constant(self.program, low) => {
                self.found.push(refused(
                    "slice",
                    low.span,
                    "takes bits at places that are known when the program is compiled",
                    "give constants, or one action for each place",
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
                "orders no two values of which none is a constant",
                "subtract one from the other with saturation (`|-|`) in an action, then compare with 0 in a table or in `apply`",
            ),
            BinaryOp::Mul if !power_of_two(a) && !power_of_two(b) => (
                "multiplication",
                "multiplies by powers of two only",
                "add up shifted values, look the product up in a table, or let the controller work it out",
            ),
            BinaryOp::Div | BinaryOp::Mod if !power_of_two(b) => (
                "division",
                "divides by powers of two only",
                "shift by a constant, look the quotient up in a table, or let the controller work it out",
            ),
            BinaryOp::Shl | BinaryOp::Shr if !constant(b) => (
                "shift",
                "shifts by constants only",
                "make one action for each number of bits, and choose it by a table",
            ),
            BinaryOp::AddSat | BinaryOp::SubSat
                if width(&expr.ty).is_none_or(|bits| !SATURATING.contains(&bits)) =>
            {
                (
                    "saturation",
                    "saturates numbers of 8, 16 and 32 bits only",
                    "widen the operands to 8, 16 or 32 bits",
                )
            }
            _ => return,
        };
        self.found.push(refused(rule, expr.span, what, instead));
    }

    /// Whether a value depends on nothing but constants and action data.
    fn is_of_control_plane(&self, expr: &Expr) -> bool {
        if let ExprKind::Local(id) = &expr.kind {
            let kind = self.program.locals.get(id.index()).map(|local| local.kind);
            return matches!(kind, Some(LocalKind::Constructor | LocalKind::Param(Direction::None)));
        }
        if matches!(expr.kind, ExprKind::Call(_) | ExprKind::Hit { .. } | ExprKind::ActionRun(_)) {
            return false;
        }
        let mut all = true;
        each_part(expr, &mut |part| all &= self.is_of_control_plane(part));
        all
    }
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
