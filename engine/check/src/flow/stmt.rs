//! Statements in the order in which they run.

use super::state::{State, Validity, join};
use super::{Flow, Loop, MAX_STEPS};
use p4cc_ir::limits::MAX_CODE_DEPTH;
use p4cc_types::hir::{Expr, Stmt, StmtKind};
use p4cc_types::ids::{ActId, LocalId};

/// Rounds of a loop until nothing changes: the state can only lose, one leaf at least in each.
const MAX_ROUNDS: u32 = 64;

impl Flow<'_> {
    pub(super) fn stmts(&mut self, list: &[Stmt]) {
        self.depth += 1;
        if self.depth > MAX_CODE_DEPTH {
            // The lowering refuses such code.
            self.steps = MAX_STEPS;
        }
        for stmt in list {
            self.steps = self.steps.saturating_add(1);
            if self.steps > MAX_STEPS {
                self.now = None;
            }
            if self.now.is_none() {
                break;
            }
            self.stmt(stmt);
        }
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(id, value) => self.declare(*id, value.as_ref()),
            StmtKind::Assign(target, value) => {
                self.read(value);
                self.write(target, Some(value));
            }
            StmtKind::Update { target, old, value } => {
                self.read(target);
                self.give_value(*old);
                self.read(value);
                self.write(target, Some(value));
            }
            StmtKind::Call(call) => self.call(call),
            StmtKind::If(cond, then, otherwise) => {
                let (yes, no) = self.condition(cond);
                self.now = yes;
                self.stmts(then);
                let first = std::mem::replace(&mut self.now, no);
                self.stmts(otherwise);
                self.now = join(first, self.now.take());
            }
            StmtKind::SwitchAction { table, cases, default } => {
                let ways = self.apply_table(*table);
                let body_of = |action: Option<ActId>| {
                    let found =
                        cases.iter().find(|(labels, _)| action.is_some_and(|one| labels.contains(&one)));
                    found.map_or(default, |(_, body)| body)
                };
                self.one_of(ways.into_iter().map(|(action, way)| (body_of(action), way)));
            }
            StmtKind::SwitchValue { value, cases, default } => {
                self.read(value);
                let before = self.now.take();
                let bodies = cases.iter().map(|(_, body)| body).chain([default]);
                self.one_of(bodies.map(|body| (body, before.clone())));
            }
            StmtKind::For { init, cond, update, body } => {
                self.stmts(init);
                self.repeat(|this| {
                    let (yes, no) = this.condition(cond);
                    this.now = yes;
                    this.stmts(body);
                    this.end_of_round();
                    this.stmts(update);
                    no
                });
            }
            StmtKind::ForEach { var, items, body } => {
                self.read(items);
                self.rounds_over(*var, body);
            }
            StmtKind::ForRange { var, low, high, body } => {
                self.read(low);
                self.read(high);
                self.rounds_over(*var, body);
            }
            StmtKind::Break | StmtKind::Continue => {
                let now = self.now.take();
                if let Some(inner) = self.loops.last_mut() {
                    let way = match stmt.kind {
                        StmtKind::Break => &mut inner.broken,
                        _ => &mut inner.continued,
                    };
                    *way = join(way.take(), now);
                }
            }
            StmtKind::Return(value) => {
                value.iter().for_each(|value| self.read(value));
                self.returned = join(self.returned.take(), self.now.take());
            }
            StmtKind::Exit => self.exited = join(self.exited.take(), self.now.take()),
            StmtKind::Block(body) => self.stmts(body),
        }
    }

    /// Bodies of which one runs, each from its own state.
    fn one_of<'s>(&mut self, bodies: impl Iterator<Item = (&'s Vec<Stmt>, Option<State>)>) {
        let mut end = None;
        for (body, way) in bodies {
            self.now = way;
            self.stmts(body);
            end = join(end, self.now.take());
        }
        self.now = end;
    }

    pub(super) fn declare(&mut self, id: LocalId, value: Option<&Expr>) {
        value.into_iter().for_each(|value| self.read(value));
        let (Some(whole), Some(now)) = (self.layouts.whole(id), &mut self.now) else { return };
        now.declare(&whole, value.is_none(), Validity::Invalid);
        if let (Some(value), Some(local)) = (value, self.program.locals.get(id.index())) {
            let target =
                Expr { kind: p4cc_types::hir::ExprKind::Local(id), ty: local.ty.clone(), span: local.span };
            self.write(&target, Some(value));
        }
    }

    /// A variable that has a value from here on.
    fn give_value(&mut self, var: LocalId) {
        if let (Some(whole), Some(now)) = (self.layouts.whole(var), &mut self.now) {
            now.declare(&whole, false, Validity::Valid);
        }
    }

    /// A loop whose variable has a value in each round.
    fn rounds_over(&mut self, var: LocalId, body: &[Stmt]) {
        self.repeat(|this| {
            let before = this.now.clone();
            this.give_value(var);
            this.stmts(body);
            this.end_of_round();
            before
        });
    }

    /// Where `continue` leads.
    fn end_of_round(&mut self) {
        let continued = self.loops.last_mut().and_then(|inner| inner.continued.take());
        self.now = join(self.now.take(), continued);
    }

    /// Goes round until nothing changes, then once more to
    /// report. A round gives the state in which the loop may end.
    fn repeat(&mut self, mut round: impl FnMut(&mut Self) -> Option<State>) {
        let mut before = self.now.take();
        self.quiet += 1;
        for _ in 0..MAX_ROUNDS {
            self.now.clone_from(&before);
            self.loops.push(Loop::default());
            let _ = round(self);
            self.loops.pop();
            let joined = join(before.clone(), self.now.take());
            if joined == before {
                break;
            }
            before = joined;
        }
        self.quiet -= 1;
        self.now = before;
        self.loops.push(Loop::default());
        let ended = round(self);
        let broken = self.loops.pop().and_then(|inner| inner.broken);
        self.now = join(ended, broken);
    }
}
