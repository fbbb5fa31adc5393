//! Parsers end because they run out of packet: a loop has to take bits.
//!
//! p4c's back end for the chip takes loops that do not, so this is a warning.

use p4cc_syntax::ast::BinaryOp;
use p4cc_syntax::{Diagnostic, Span};

use super::{is_constant, refused};
use crate::check::walk::{each_part, stmt_calls, stmt_parts};
use crate::types::hir::{Callee, Expr, ExprKind, Parser, Program, State, Stmt, StmtKind, Target, Transition};

/// Looks for loops of states that take nothing.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for parser in &program.parsers {
        parser.states.iter().for_each(|state| expressions(program, &state.body, found));
        if let Some(state) = idle_loop(parser) {
            let text = "this loop takes no bits of the packet: Tofino's parser would not leave it (rule `parser-loop`)";
            let help = "extract or advance in a state of the loop, or leave the loop by a counter";
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
                "has no sums and conditions in states of a parser",
                "select the next state by it, or do it in the control behind the parser",
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

/// A state on a loop of which no state takes bits.
fn idle_loop(parser: &Parser) -> Option<&State> {
    let idle: Vec<bool> = parser.states.iter().map(|state| !takes_bits(state)).collect();
    let next = |at: usize| {
        let targets: Vec<&Target> = match &parser.states.get(at)?.transition {
            Transition::Direct(target) => vec![target],
            Transition::Select { cases, .. } => cases.iter().map(|case| &case.target).collect(),
        };
        let states = targets.into_iter().filter_map(|target| match target {
            Target::State(at) => Some(*at),
            Target::Accept | Target::Reject => None,
        });
        Some(states.filter(|at| idle.get(*at) == Some(&true)).collect::<Vec<usize>>())
    };
    (0..parser.states.len()).filter(|at| idle.get(*at) == Some(&true)).find_map(|from| {
        let (mut open, mut seen) = (next(from)?, vec![false; parser.states.len()]);
        while let Some(at) = open.pop() {
            if at == from {
                return parser.states.get(from);
            }
            if let Some(known) = seen.get_mut(at).filter(|known| !**known) {
                *known = true;
                open.extend(next(at).unwrap_or_default());
            }
        }
        None
    })
}

/// Whether a state extracts, advances, counts, or hands the packet on.
fn takes_bits(state: &State) -> bool {
    let mut takes = false;
    stmt_calls(&state.body, &mut |call| {
        takes |= match &call.callee {
            Callee::Method { extern_name, name, .. } => {
                let of_packet = extern_name == "packet_in" && matches!(name.as_str(), "extract" | "advance");
                of_packet || extern_name == "ParserCounter"
            }
            Callee::Extern { name, .. } => name == "port_metadata_unpack",
            Callee::Apply(_) => true,
            _ => false,
        };
    });
    takes
}
