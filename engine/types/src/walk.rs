//! Walks the typed tree.

use super::hir::{Builtin, Call, Callee, Expr, ExprKind, Program, Stmt, StmtKind, Transition};
use super::ty::Ty;

/// Whose body a call stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A parser.
    Parser,
    /// A control, an action or a function.
    Other,
}

/// Calls `visit` for every call of a program.
pub fn calls(program: &Program, visit: &mut dyn FnMut(Owner, &Expr, &Call)) {
    for parser in &program.parsers {
        let mut inside = |expr: &Expr, call: &Call| visit(Owner::Parser, expr, call);
        stmts(&parser.init, &mut inside);
        for state in &parser.states {
            stmts(&state.body, &mut inside);
            if let Transition::Select { keys, .. } = &state.transition {
                keys.iter().for_each(|key| exprs(key, &mut inside));
            }
        }
    }
    let mut outside = |expr: &Expr, call: &Call| visit(Owner::Other, expr, call);
    program.controls.iter().for_each(|control| stmts(&control.body, &mut outside));
    program.actions.iter().for_each(|action| stmts(&action.body, &mut outside));
    program.functions.iter().for_each(|function| stmts(&function.body, &mut outside));
    for table in &program.tables {
        table.keys.iter().for_each(|key| exprs(&key.expr, &mut outside));
    }
}

type Visit<'a> = &'a mut dyn FnMut(&Expr, &Call);

fn stmts(list: &[Stmt], visit: Visit<'_>) {
    for stmt in list {
        let (mut parts, mut bodies) = (Vec::new(), Vec::new());
        stmt_parts(stmt, &mut parts, &mut bodies);
        parts.into_iter().for_each(|part| exprs(part, visit));
        if let StmtKind::Call(made) = &stmt.kind {
            let expr = Expr { kind: ExprKind::Call(Box::new(made.clone())), ty: Ty::Void, span: stmt.span };
            exprs(&expr, visit);
        }
        bodies.into_iter().for_each(|body| stmts(body, visit));
    }
}

/// Calls `visit` for every call of some statements.
pub fn stmt_calls(list: &[Stmt], visit: &mut dyn FnMut(&Call)) {
    stmts(list, &mut |_, call| visit(call));
}

/// The expressions and bodies that a statement is directly made of, in order; of one that is a call nothing.
pub fn stmt_parts<'s>(stmt: &'s Stmt, exprs: &mut Vec<&'s Expr>, bodies: &mut Vec<&'s [Stmt]>) {
    match &stmt.kind {
        StmtKind::Declare(_, value) | StmtKind::Return(value) => exprs.extend(value),
        StmtKind::Assign(target, value) | StmtKind::Update { target, value, .. } => {
            exprs.extend([target, value]);
        }
        StmtKind::Call(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Exit => {}
        StmtKind::If(cond, then, otherwise) => {
            exprs.push(cond);
            bodies.extend([&then[..], otherwise]);
        }
        StmtKind::SwitchAction { cases, default, .. } => {
            bodies.extend(cases.iter().map(|(_, body)| &body[..]));
            bodies.push(default);
        }
        StmtKind::SwitchValue { value, cases, default } => {
            exprs.push(value);
            bodies.extend(cases.iter().map(|(_, body)| &body[..]));
            bodies.push(default);
        }
        StmtKind::For { init, cond, update, body } => {
            exprs.push(cond);
            bodies.extend([&init[..], update, body]);
        }
        StmtKind::ForEach { items, body, .. } => {
            exprs.push(items);
            bodies.push(body);
        }
        StmtKind::ForRange { low, high, body, .. } => {
            exprs.extend([low, high]);
            bodies.push(body);
        }
        StmtKind::Block(body) => bodies.push(body),
    }
}

fn exprs(expr: &Expr, visit: Visit<'_>) {
    if let ExprKind::Call(call) = &expr.kind {
        visit(expr, call);
    }
    each_part(expr, &mut |part| exprs(part, visit));
}

/// Calls `visit` for the expressions that an expression is directly made of.
pub fn each_part(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Field(a, _)
        | ExprKind::StackNext(a)
        | ExprKind::StackLast(a)
        | ExprKind::StackLastIndex(a)
        | ExprKind::Slice(a, _, _)
        | ExprKind::Unary(_, a)
        | ExprKind::Cast(a) => visit(a),
        ExprKind::PlusSlice(a, b, _)
        | ExprKind::Index(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::Mask(a, b)
        | ExprKind::Range(a, b) => {
            visit(a);
            visit(b);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| visit(part)),
        ExprKind::Aggregate(items) => items.iter().for_each(visit),
        ExprKind::AggregateInOrder(items, order) => {
            order.positions(items.len()).into_iter().filter_map(|at| items.get(at)).for_each(visit);
        }
        ExprKind::Construct(construct) => construct.args.iter().flatten().for_each(visit),
        ExprKind::Call(call) => {
            match &call.callee {
                Callee::Method { object, .. } | Callee::Apply(object) | Callee::Builtin(_, object) => {
                    visit(object);
                }
                Callee::Function(_) | Callee::Action(_) | Callee::Extern { .. } | Callee::Table(_) => {}
            }
            call.in_evaluation_order().for_each(|(_, arg)| visit(arg));
        }
        ExprKind::Poison
        | ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Instance(_)
        | ExprKind::This
        | ExprKind::InvalidHeader
        | ExprKind::Default
        | ExprKind::Hit { .. }
        | ExprKind::ActionRun(_)
        | ExprKind::Any
        | ExprKind::ValueSet(_) => {}
    }
}

/// Whether an expression holds a call with effects.
pub fn has_call(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(call) => !is_pure(call),
        ExprKind::Hit { .. } | ExprKind::ActionRun(_) => true,
        ExprKind::Field(a, _) | ExprKind::Slice(a, _, _) | ExprKind::Unary(_, a) | ExprKind::Cast(a) => {
            has_call(a)
        }
        ExprKind::StackNext(a) | ExprKind::StackLast(a) | ExprKind::StackLastIndex(a) => has_call(a),
        ExprKind::PlusSlice(a, b, _)
        | ExprKind::Index(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::Mask(a, b)
        | ExprKind::Range(a, b) => has_call(a) || has_call(b),
        ExprKind::Conditional(c, a, b) => has_call(c) || has_call(a) || has_call(b),
        ExprKind::Aggregate(items) | ExprKind::AggregateInOrder(items, _) => items.iter().any(has_call),
        _ => false,
    }
}

fn is_pure(call: &Call) -> bool {
    match &call.callee {
        Callee::Builtin(Builtin::IsValid, object) => !has_call(object),
        Callee::Method { extern_name, name, .. } => extern_name == "packet_in" && name == "length",
        _ => false,
    }
}
