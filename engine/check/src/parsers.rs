//! Parsers that never end.

use p4cc_syntax::Diagnostic;
use p4cc_types::hir::{Callee, Parser, Program, State, StmtKind, Target, Transition};
use p4cc_types::walk::stmt_calls;

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for parser in program.parsers.iter().filter(|parser| !ends(parser)) {
        let message = format!("no path through parser `{}` reaches accept or reject", parser.name);
        found.push(Diagnostic::error(parser.span, message).with_help(
            "add a transition to `accept` in one of its \
                states",
        ));
    }
    for state in program.parsers.iter().filter(|parser| ends(parser)).filter_map(stuck) {
        let message = "this loop extracts no bits and changes nothing, so the parser never leaves it";
        found.push(
            Diagnostic::warning(state.span, message)
                .with_name("parser-transition")
                .with_help("extract or advance in a state of the loop"),
        );
    }
}

/// A state on a loop in which nothing happens, so that each round is as the one before.
pub(crate) fn stuck(parser: &Parser) -> Option<&State> {
    loop_of(parser, |state| {
        let idle = state.body.iter().all(|stmt| match &stmt.kind {
            StmtKind::Declare(..) => true,
            StmtKind::Block(body) => body.is_empty(),
            _ => false,
        });
        idle && !takes_bits(state)
    })
}

/// Whether `accept` or `reject` can be reached from `start`.
fn ends(parser: &Parser) -> bool {
    let mut seen = vec![false; parser.states.len()];
    let mut open = vec![parser.start];
    while let Some(at) = open.pop() {
        let Some(state) = parser.states.get(at) else { continue };
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let targets: Vec<Target> = match &state.transition {
            Transition::Direct(target) => vec![*target],
            Transition::Select { cases, .. } => cases.iter().map(|case| case.target).collect(),
        };
        for target in targets {
            match target {
                Target::State(next) => open.push(next),
                Target::Accept | Target::Reject => return true,
            }
        }
    }
    false
}

/// A state on a loop whose states are all of a kind.
pub(crate) fn loop_of(parser: &Parser, of_kind: impl Fn(&State) -> bool) -> Option<&State> {
    let idle: Vec<bool> = parser.states.iter().map(of_kind).collect();
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
pub(crate) fn takes_bits(state: &State) -> bool {
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
