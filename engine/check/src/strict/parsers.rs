//! Parsers end because they run out of packet: a loop has to take bits.
//!
//! p4c's back end for the chip takes loops that do not, so this is a warning.

use p4cc_syntax::ast::BinaryOp;
use p4cc_syntax::{Diagnostic, Span};

use super::{is_constant, refused};
use crate::parsers::{loop_of, stuck, takes_bits};
use p4cc_types::hir::{Expr, ExprKind, Program, Stmt, StmtKind};
use p4cc_types::walk::{each_part, stmt_parts};

/// Looks for loops of states that take nothing.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for parser in &program.parsers {
        parser.states.iter().for_each(|state| expressions(program, &state.body, found));
        // A loop that changes nothing either is a warning for every target.
        let idle = loop_of(parser, |state| !takes_bits(state)).filter(|_| stuck(parser).is_none());
        if let Some(state) = idle {
            let text =
                "this loop extracts no bits: Tofino's parser would never leave it (rule `parser-loop`)";
            let help = "extract or advance in a state of the loop, or end the loop with a counter";
            found.push(Diagnostic::warning(state.span, text).with_help(help));
        }
    }
}

/// Looks for what a parser cannot work out: it moves bits of the packet and constants.
fn expressions(program: &Program, body: &[Stmt], found: &mut Vec<Diagnostic>) {
    for stmt in body {
        let bad = match &stmt.kind {
            StmtKind::Assign(_, value) | StmtKind::Update { value, .. } => sum(program, value),
            StmtKind::If(cond, ..) if !is_constant(program, cond) => Some(cond.span),
            _ => None,
        };
        if let Some(span) = bad {
            found.push(refused(
                "parser-expression",
                span,
                "does not support arithmetic and conditions in parser states",
                "use it in `select`, or move it to the control after the parser",
            ));
        }
        let (mut exprs, mut bodies) = (Vec::new(), Vec::new());
        stmt_parts(stmt, &mut exprs, &mut bodies);
        bodies.into_iter().for_each(|body| expressions(program, body, found));
    }
}

/// Where a value adds, subtracts or multiplies, if it does.
fn sum(program: &Program, value: &Expr) -> Option<Span> {
    use BinaryOp::{Add, AddSat, Mul, Sub, SubSat};
    let is_sum = matches!(&value.kind, ExprKind::Binary(Add | Sub | Mul | AddSat | SubSat, ..));
    if is_sum && !is_constant(program, value) {
        return Some(value.span);
    }
    let mut found = None;
    if !matches!(value.kind, ExprKind::Call(_)) {
        each_part(value, &mut |part| found = found.or_else(|| sum(program, part)));
    }
    found
}
