//! Parsers end because they run out of packet: a loop has to take bits.

use p4cc_syntax::Diagnostic;

use super::refused;
use crate::check::walk::stmt_calls;
use crate::types::hir::{Callee, Parser, Program, State, Target, Transition};

/// Looks for loops of states that take nothing.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for parser in &program.parsers {
        if let Some(state) = idle_loop(parser) {
            found.push(refused(
                "parser-loop",
                state.span,
                "has no parser loops that take no bits of the packet",
                "extract or advance in a state of the loop, or leave the loop by a counter",
            ));
        }
    }
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
