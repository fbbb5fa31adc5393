//! A packet accesses a register once: it meets each register's memory in one stage.
//!
//! Bodies are followed along all paths. Actions of one table exclude each other, and so do branches.
//!
//! p4c's back end for the chip does not look: it refuses such a program where placement fails, and otherwise
//! gives the accesses one stage, where the register's unit runs once, or two copies of the register.

use std::collections::BTreeSet;

use p4cc_syntax::ast::UnaryOp;
use p4cc_syntax::{Diagnostic, Span};

use super::refused;
use p4cc_types::hir::{
    ActionRef, Call, Callee, Constructed, Control, Expr, ExprKind, Program, Stmt, StmtKind,
};
use p4cc_types::ids::{ActId, InstId, TabId};
use p4cc_types::walk::{each_part, stmt_parts};

/// A register: the controls around it, and its instance.
type Register = (Vec<InstId>, InstId);
/// Registers that a packet may have accessed.
type Seen = BTreeSet<Register>;

/// Externs whose methods access a register, which their constructor names.
const ACTIONS: [&str; 3] = ["RegisterAction", "DirectRegisterAction", "LearnAction"];
/// Methods of these that do not.
const READ_ONLY: [&str; 6] = ["predicate", "address", "min8", "max8", "min16", "max16"];
/// How deep calls are followed; a program without recursion ends before.
const MAX_DEPTH: u32 = 64;

/// Follows each control.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut pass = Pass { program, found: Vec::new(), told: BTreeSet::new(), path: Vec::new(), depth: 0 };
    for control in &program.controls {
        pass.control(control, Seen::new());
    }
    found.append(&mut pass.found);
}

struct Pass<'a> {
    program: &'a Program,
    found: Vec<Diagnostic>,
    /// Places that were reported.
    told: BTreeSet<(usize, usize)>,
    /// Instances of controls around what is looked at.
    path: Vec<InstId>,
    depth: u32,
}

/// What is behind a statement; none where nothing is, since it ended the path.
type After = Option<Seen>;

impl Pass<'_> {
    fn control(&mut self, control: &Control, seen: Seen) -> Seen {
        let before = seen.clone();
        // What `return` cuts short has accessed no more than the whole body does.
        self.stmts(&control.body, seen).unwrap_or(before)
    }

    fn stmts(&mut self, list: &[Stmt], mut seen: Seen) -> After {
        for stmt in list {
            seen = self.stmt(stmt, seen)?;
        }
        Some(seen)
    }

    fn stmt(&mut self, stmt: &Stmt, seen: Seen) -> After {
        match &stmt.kind {
            StmtKind::Return(_) | StmtKind::Exit => {
                let _ = self.parts(stmt, seen);
                None
            }
            StmtKind::If(cond, then, otherwise) => {
                let (hit, miss) = self.branches(cond, seen);
                let (then, otherwise) = (self.stmts(then, hit), self.stmts(otherwise, miss));
                joined([then, otherwise])
            }
            StmtKind::SwitchAction { table, cases, default } => {
                let of_table = self.table(*table, &seen);
                let named: Vec<ActId> =
                    cases.iter().flat_map(|(actions, _)| actions.iter().copied()).collect();
                let behind = |wanted: &dyn Fn(ActId) -> bool| {
                    let fitting = of_table.iter().filter(|(action, _)| wanted(*action));
                    fitting.fold(seen.clone(), |all, (_, of)| &all | of)
                };
                let mut ends: Vec<After> = Vec::new();
                for (actions, body) in cases {
                    let start = behind(&|action| actions.contains(&action));
                    ends.push(self.stmts(body, start));
                }
                let start = behind(&|action| !named.contains(&action));
                ends.push(self.stmts(default, start));
                joined(ends)
            }
            StmtKind::SwitchValue { value, cases, default } => {
                let seen = self.expr(value, seen);
                let mut ends: Vec<After> = Vec::new();
                for (_, body) in cases {
                    ends.push(self.stmts(body, seen.clone()));
                }
                ends.push(self.stmts(default, seen));
                joined(ends)
            }
            _ => self.parts(stmt, seen),
        }
    }

    /// Expressions and bodies of a statement one after the other.
    fn parts(&mut self, stmt: &Stmt, mut seen: Seen) -> After {
        if let StmtKind::Call(call) = &stmt.kind {
            return Some(self.call(call, stmt.span, seen));
        }
        let (mut exprs, mut bodies) = (Vec::new(), Vec::new());
        stmt_parts(stmt, &mut exprs, &mut bodies);
        for expr in exprs {
            seen = self.expr(expr, seen);
        }
        for body in bodies {
            seen = self.stmts(body, seen)?;
        }
        Some(seen)
    }

    /// What is accessed before either branch of a condition.
    fn branches(&mut self, cond: &Expr, seen: Seen) -> (Seen, Seen) {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &cond.kind {
            let (hit, miss) = self.branches(inner, seen);
            return (miss, hit);
        }
        let ExprKind::Hit { table, negated } = &cond.kind else {
            let seen = self.expr(cond, seen);
            return (seen.clone(), seen);
        };
        let of_table = self.table(*table, &seen);
        let default = self.program.tables.get(table.index()).and_then(|table| table.default_action.as_ref());
        let default = default.map(|action| action.action);
        let all = |wanted: &dyn Fn(ActId) -> bool| {
            let fitting = of_table.iter().filter(|(action, _)| wanted(*action));
            fitting.fold(seen.clone(), |all, (_, of)| &all | of)
        };
        let (hit, miss) = (all(&|_| true), all(&|action| Some(action) == default));
        if *negated { (miss, hit) } else { (hit, miss) }
    }

    fn expr(&mut self, expr: &Expr, mut seen: Seen) -> Seen {
        match &expr.kind {
            ExprKind::Call(call) => self.call(call, expr.span, seen),
            ExprKind::Hit { table, .. } | ExprKind::ActionRun(table) => {
                let of_table = self.table(*table, &seen);
                of_table.into_iter().fold(seen, |all, (_, of)| &all | &of)
            }
            ExprKind::Conditional(cond, a, b) => {
                let seen = self.expr(cond, seen);
                let (a, b) = (self.expr(a, seen.clone()), self.expr(b, seen));
                &a | &b
            }
            _ => {
                let mut parts: Vec<Expr> = Vec::new();
                each_part(expr, &mut |part| parts.push(part.clone()));
                for part in &parts {
                    seen = self.expr(part, seen);
                }
                seen
            }
        }
    }

    fn call(&mut self, call: &Call, span: Span, mut seen: Seen) -> Seen {
        for arg in call.args.iter().flatten() {
            seen = self.expr(arg, seen);
        }
        if self.depth >= MAX_DEPTH {
            return seen;
        }
        self.depth += 1;
        let program = self.program;
        let seen = match &call.callee {
            Callee::Function(id) => match program.functions.get(id.index()) {
                Some(function) => self.stmts(&function.body, seen.clone()).unwrap_or(seen),
                None => seen,
            },
            Callee::Action(id) => self.action(*id, seen),
            Callee::Table(table) => {
                let of_table = self.table(*table, &seen);
                of_table.into_iter().fold(seen, |all, (_, of)| &all | &of)
            }
            Callee::Apply(object) => self.apply(object, seen),
            Callee::Method { object, extern_name, name, .. } => {
                match self.register_of(object, extern_name, name) {
                    Some(register) => self.access(register, span, seen),
                    None => seen,
                }
            }
            Callee::Extern { .. } | Callee::Builtin(..) => seen,
        };
        self.depth -= 1;
        seen
    }

    fn action(&mut self, id: ActId, seen: Seen) -> Seen {
        let program = self.program;
        match program.actions.get(id.index()) {
            Some(action) => self.stmts(&action.body, seen.clone()).unwrap_or(seen),
            None => seen,
        }
    }

    /// What a packet may have accessed behind a table, by the action that it ran.
    fn table(&mut self, table: TabId, seen: &Seen) -> Vec<(ActId, Seen)> {
        let program = self.program;
        let Some(table) = program.tables.get(table.index()) else { return Vec::new() };
        let actions: BTreeSet<ActId> = table
            .actions
            .iter()
            .chain(&table.default_action)
            .map(|action: &ActionRef| action.action)
            .collect();
        actions.into_iter().map(|action| (action, self.action(action, seen.clone()))).collect()
    }

    fn apply(&mut self, object: &Expr, seen: Seen) -> Seen {
        let program = self.program;
        let (construct, instance) = match &object.kind {
            ExprKind::Instance(id) => {
                (program.instances.get(id.index()).map(|instance| &instance.construct), Some(*id))
            }
            ExprKind::Construct(construct) => (Some(&**construct), None),
            _ => (None, None),
        };
        let Some(Constructed::Control(id)) = construct.map(|construct| &construct.what) else { return seen };
        let Some(control) = program.controls.get(id.index()) else { return seen };
        self.path.extend(instance);
        let seen = self.control(control, seen);
        if instance.is_some() {
            self.path.pop();
        }
        seen
    }

    /// The register that a method accesses, if any.
    fn register_of(&self, object: &Expr, extern_name: &str, method: &str) -> Option<Register> {
        let ExprKind::Instance(id) = &object.kind else { return None };
        let register = if ACTIONS.iter().any(|action| extern_name.starts_with(action)) {
            if READ_ONLY.contains(&method) {
                return None;
            }
            let instance = self.program.instances.get(id.index())?;
            match &instance.construct.args.first()?.as_ref()?.kind {
                ExprKind::Instance(register) => *register,
                _ => return None,
            }
        } else if matches!(extern_name, "Register" | "DirectRegister") {
            *id
        } else {
            return None;
        };
        let is_global = self.program.global_instances.contains(&register);
        Some((if is_global { Vec::new() } else { self.path.clone() }, register))
    }

    fn access(&mut self, register: Register, span: Span, mut seen: Seen) -> Seen {
        let name = self.program.instances.get(register.1.index()).map(|instance| instance.name.clone());
        if !seen.insert(register) && self.told.insert((span.start as usize, span.end as usize)) {
            let what = format!(
                "allows one access to a register per packet, and this may be the second one to `{}`",
                name.unwrap_or_default()
            );
            self.found.push(refused(
                "register-access",
                span,
                &what,
                "read and write in one `RegisterAction`, or use two registers",
            ));
        }
        seen
    }
}

/// All that may be accessed behind several ways; none if all of them end.
fn joined(ends: impl IntoIterator<Item = After>) -> After {
    ends.into_iter().flatten().reduce(|all, one| &all | &one)
}
