//! Parsers that never end.

use crate::types::hir::{Parser, Program, Target, Transition};
use p4cc_syntax::Diagnostic;

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for parser in program.parsers.iter().filter(|parser| !ends(parser)) {
        let message = format!("no way through parser `{}` leads to accept or reject", parser.name);
        found.push(
            Diagnostic::error(parser.span, message).with_help("let one of its states go on to `accept`"),
        );
    }
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
