//! What a deparser sends of a packet is told by its headers' validity alone.

use p4cc_syntax::Diagnostic;

use super::refused;
use p4cc_types::hir::{Callee, Program, Stmt, StmtKind};
use p4cc_types::walk::{stmt_calls, stmt_parts};

/// Looks for headers that are emitted on a condition.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    program.controls.iter().for_each(|control| outside(&control.body, found));
}

/// Statements that no condition stands over.
fn outside(body: &[Stmt], found: &mut Vec<Diagnostic>) {
    for stmt in body {
        if let StmtKind::Block(inner) = &stmt.kind {
            outside(inner, found);
            continue;
        }
        let (mut exprs, mut bodies) = (Vec::new(), Vec::new());
        stmt_parts(stmt, &mut exprs, &mut bodies);
        for inner in bodies {
            stmt_calls(inner, &mut |call| {
                let Callee::Method { extern_name, name, .. } = &call.callee else { return };
                if extern_name == "packet_out" && name == "emit" {
                    let instead = "emit the header unconditionally, and invalidate it in the control when it must not \
                            be sent";
                    found.push(refused(
                        "conditional-emit",
                        call.span,
                        "emits headers regardless of conditions around `emit`",
                        instead,
                    ));
                }
            });
        }
    }
}
