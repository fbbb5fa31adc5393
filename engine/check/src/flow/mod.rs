//! Values read before they are written, fields of invalid headers, out parameters without a value.
//!
//! Each parser, control and function is gone through once in the order of execution, with what is known of
//! each variable: which of its leaves may have no value yet, which of its headers are valid. Actions see
//! their control's variables and are gone through at each call. Where two ways meet, a leaf has a value only
//! if both ways give it one; loops and parser states are repeated until nothing changes, without a word, and
//! then once more to report.
//!
//! Everything here is a warning: the engine reads zero where nothing was written, and so does BMv2, but the
//! language leaves the value open. Where a place is not known at compile time the pass keeps silent.

mod call;
mod expr;
mod layout;
mod report;
mod state;
mod stmt;

use layout::Layouts;
use p4cc_syntax::ast::Direction;
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{LocalKind, Parser, Program, Target, Transition};
use p4cc_types::ids::LocalId;
use state::{State, Validity, join};
use std::collections::BTreeSet;

/// Statements gone through in all, repetitions and inlined
/// actions included. Past it the pass ends with what it found.
const MAX_STEPS: u32 = 200_000;

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut flow = Flow {
        program,
        layouts: Layouts::new(program),
        found,
        told: BTreeSet::new(),
        quiet: 0,
        steps: 0,
        depth: 0,
        now: None,
        returned: None,
        exited: None,
        loops: Vec::new(),
    };
    for function in &program.functions {
        flow.enter(&function.params);
        flow.stmts(&function.body);
        flow.leave(&function.name, &function.params);
    }
    for control in &program.controls {
        flow.enter(&control.params);
        flow.stmts(&control.body);
        flow.leave(&control.name, &control.params);
    }
    for parser in &program.parsers {
        flow.parser(parser);
    }
}

/// Ways out of the innermost loop.
#[derive(Default)]
struct Loop {
    broken: Option<State>,
    continued: Option<State>,
}

struct Flow<'a> {
    program: &'a Program,
    layouts: Layouts<'a>,
    found: &'a mut Vec<Diagnostic>,
    /// A line gone through more than once is told once.
    told: BTreeSet<(Span, String)>,
    /// Above 0 nothing is reported.
    quiet: u32,
    steps: u32,
    /// Bodies around, those of actions that are called among them.
    depth: u32,
    /// `None` where nothing comes by.
    now: Option<State>,
    /// Joined over the `return`s of the body.
    returned: Option<State>,
    /// Joined over the `exit`s.
    exited: Option<State>,
    loops: Vec<Loop>,
}

impl Flow<'_> {
    /// Starts a body with its parameters.
    fn enter(&mut self, params: &[LocalId]) {
        self.now = Some(State::default());
        self.returned = None;
        self.exited = None;
        self.loops.clear();
        params.iter().for_each(|param| self.declare_param(*param));
    }

    fn declare_param(&mut self, param: LocalId) {
        let Some(local) = self.program.locals.get(param.index()) else { return };
        let out = local.kind == LocalKind::Param(Direction::Out);
        let Some(whole) = self.layouts.whole(param) else { return };
        let valid = if out { Validity::Invalid } else { Validity::Valid };
        if let Some(now) = &mut self.now {
            now.declare(&whole, out, valid);
        }
    }

    /// Ends a body: what its out parameters hold is what its caller gets.
    fn leave(&mut self, name: &str, params: &[LocalId]) {
        let end = join(join(self.now.take(), self.returned.take()), self.exited.take());
        let Some(end) = end else { return };
        for param in params {
            self.report_out_param(&end, *param, name);
        }
    }

    fn parser(&mut self, parser: &Parser) {
        self.enter(&parser.params);
        self.stmts(&parser.init);
        let mut before: Vec<Option<State>> = vec![None; parser.states.len()];
        if let Some(start) = before.get_mut(parser.start) {
            *start = self.now.take();
        }
        self.quiet += 1;
        let mut open: BTreeSet<usize> = BTreeSet::from([parser.start]);
        while let Some(at) = open.pop_first() {
            let after = self.state(parser, at, &before);
            for next in successors(parser, at) {
                let Some(slot) = before.get_mut(next) else { continue };
                let joined = join(slot.clone(), after.clone());
                if joined != *slot {
                    *slot = joined;
                    open.insert(next);
                }
            }
        }
        self.quiet -= 1;
        let mut accepted = None;
        for at in 0..parser.states.len() {
            let after = self.state(parser, at, &before);
            if accepts(parser, at) {
                accepted = join(accepted, after);
            }
        }
        self.now = accepted;
        self.leave(&parser.name, &parser.params);
    }

    /// Goes through one state; gives what holds behind it.
    fn state(&mut self, parser: &Parser, at: usize, before: &[Option<State>]) -> Option<State> {
        let state = parser.states.get(at)?;
        self.now = before.get(at).cloned().flatten();
        self.stmts(&state.body);
        if let Transition::Select { keys, .. } = &state.transition {
            keys.iter().for_each(|key| self.read(key));
        }
        self.now.take()
    }
}

fn targets(parser: &Parser, at: usize) -> Vec<Target> {
    match parser.states.get(at).map(|state| &state.transition) {
        Some(Transition::Direct(target)) => vec![*target],
        Some(Transition::Select { cases, .. }) => cases.iter().map(|case| case.target).collect(),
        None => Vec::new(),
    }
}

fn successors(parser: &Parser, at: usize) -> BTreeSet<usize> {
    let next = targets(parser, at).into_iter().filter_map(|target| match target {
        Target::State(next) => Some(next),
        Target::Accept | Target::Reject => None,
    });
    next.collect()
}

fn accepts(parser: &Parser, at: usize) -> bool {
    targets(parser, at).contains(&Target::Accept)
}
