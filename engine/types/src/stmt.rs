//! Statements.

use super::hir::{Expr, ExprKind, Local, LocalKind, Stmt, StmtKind};
use super::ids::{ActId, TabId};
use super::scope::Symbol;
use super::ty::Ty;
use super::walk::has_call;
use super::{Checker, CodeContext};
use p4cc_syntax::ast::{self, BinaryOp, Block, ExprKind as Ast, ForRange, StmtKind as AstStmt, SwitchCase};
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    /// Checks a block in a scope of its own.
    pub(super) fn block(&mut self, block: &Block) -> Vec<Stmt> {
        self.scopes.push();
        let made = self.stmts(&block.stmts);
        self.scopes.pop();
        made
    }

    /// Checks statements in the innermost scope.
    pub(super) fn stmts(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        stmts.iter().filter_map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &ast::Stmt) -> Option<Stmt> {
        self.nested(stmt.span, |this| this.stmt_inner(stmt)).flatten()
    }

    /// A single statement in a scope of its own.
    fn body(&mut self, stmt: &ast::Stmt) -> Vec<Stmt> {
        self.scopes.push();
        let made = self.stmt(stmt).into_iter().collect();
        self.scopes.pop();
        made
    }

    fn stmt_inner(&mut self, stmt: &ast::Stmt) -> Option<Stmt> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            AstStmt::Empty => return None,
            AstStmt::Decl(decl) => return self.local_decl(decl),
            AstStmt::Assign { target, op, value } => self.assign(target, *op, value, span)?,
            AstStmt::Call(expr) => self.call_stmt(expr)?,
            AstStmt::DirectApplication { ty, args } => {
                let made = self.direct_application(ty, args, span);
                match made.kind {
                    ExprKind::Call(call) => StmtKind::Call(*call),
                    _ => return None,
                }
            }
            AstStmt::If { cond, then, otherwise } => {
                let cond = self.condition(cond);
                let then = self.body(then);
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |stmt| self.body(stmt));
                StmtKind::If(cond, then, otherwise)
            }
            AstStmt::Switch { value, cases } => self.switch(value, cases, span)?,
            AstStmt::For { init, cond, update, body, .. } => self.for_loop(init, cond, update, body),
            AstStmt::ForIn { ty, name, range, body, .. } => self.for_in(ty, name, range, body, span)?,
            AstStmt::Break | AstStmt::Continue if self.loop_depth == 0 => {
                self.error(span, "`break` and `continue` are allowed only in a loop");
                return None;
            }
            AstStmt::Break => StmtKind::Break,
            AstStmt::Continue => StmtKind::Continue,
            AstStmt::Return(value) => self.return_stmt(value.as_ref(), span)?,
            AstStmt::Exit => {
                if matches!(self.place, CodeContext::Parser | CodeContext::Function) {
                    self.error(span, "`exit` is allowed only in a control or an action");
                    return None;
                }
                StmtKind::Exit
            }
            AstStmt::Block(block) => StmtKind::Block(self.block(block)),
        };
        Some(Stmt { kind, span })
    }

    fn assign(
        &mut self,
        target: &ast::Expr,
        op: Option<BinaryOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let target = self.expr(target);
        let value = self.expr(value);
        if !self.require_writable(&target) || target.ty == Ty::Unknown {
            return None;
        }
        let value = match op {
            None => value,
            Some(op) if has_call(&target) => return self.update(target, op, value, span),
            Some(op) => self.binary_of(op, target.clone(), value, span),
        };
        let assignable = !matches!(
            target.ty,
            Ty::Void | Ty::Extern(..) | Ty::Block(_) | Ty::Package(_) | Ty::ApplyResult(_)
        );
        if !assignable {
            let shown = self.hir.show(&target.ty);
            self.error(span, format!("a value of type `{shown}` cannot be assigned"));
            return None;
        }
        let value = self.coerce(value, &target.ty.clone());
        Some(StmtKind::Assign(target, value))
    }

    /// `a op= b` whose target is found by a call: what it held has a name, so that it is found once.
    fn update(&mut self, target: Expr, op: BinaryOp, value: Expr, span: Span) -> Option<StmtKind> {
        let old = super::LocalId::from_index(self.hir.locals.len());
        self.hir.locals.push(Local {
            name: "old".to_owned(),
            ty: target.ty.clone(),
            kind: LocalKind::Variable,
            annotations: super::hir::Annotations::default(),
            span,
        });
        let held = Expr { kind: ExprKind::Local(old), ty: target.ty.clone(), span: target.span };
        let value = self.binary_of(op, held, value, span);
        let value = self.coerce(value, &target.ty.clone());
        Some(StmtKind::Update { target, old, value })
    }

    fn call_stmt(&mut self, expr: &ast::Expr) -> Option<StmtKind> {
        if !matches!(expr.kind, Ast::Call { .. }) {
            self.error(expr.span, "only a call can be a statement");
            return None;
        }
        let made = self.expr(expr);
        match made.kind {
            ExprKind::Call(call) => Some(StmtKind::Call(*call)),
            ExprKind::Poison | ExprKind::Const(_) => None,
            _ => {
                self.error(expr.span, "only a call can be a statement");
                None
            }
        }
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<StmtKind> {
        let Some(wanted) = self.return_ty.clone() else {
            self.error(span, "`return` is not allowed in a parser");
            return None;
        };
        match (value, &wanted) {
            (None, Ty::Void) => Some(StmtKind::Return(None)),
            (None, _) => {
                let shown = self.hir.show(&wanted);
                self.error(
                    span,
                    format!(
                        "the function returns a value of type `{shown}`, so `return` needs \
                    one"
                    ),
                );
                None
            }
            (Some(value), Ty::Void) => {
                self.error(value.span, "no value can be returned here");
                None
            }
            (Some(value), _) => {
                let value = self.expr(value);
                let value = self.coerce(value, &wanted);
                Some(StmtKind::Return(Some(value)))
            }
        }
    }

    fn switch(&mut self, value: &ast::Expr, cases: &[SwitchCase], span: Span) -> Option<StmtKind> {
        let value = self.expr(value);
        match value.ty.clone() {
            Ty::Unknown => {
                for case in cases {
                    if let Some(body) = &case.body {
                        self.block(body);
                    }
                }
                None
            }
            Ty::ActionRun(table) => Some(self.switch_action(table, cases)),
            ty => match self.hir.underlying(&ty) {
                Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Enum(_) | Ty::Error => {
                    Some(self.switch_value(value, &ty, cases))
                }
                _ => {
                    let shown = self.hir.show(&ty);
                    self.error(span, format!("a value of type `{shown}` cannot be used in `switch`"));
                    None
                }
            },
        }
    }

    /// Groups cases that share a body by falling through.
    fn switch_cases<T: PartialEq>(
        &mut self,
        cases: &[SwitchCase],
        mut label: impl FnMut(&mut Self, &ast::Expr) -> Option<T>,
    ) -> Cases<T> {
        let (mut made, mut default): (Vec<(Vec<T>, Vec<Stmt>)>, _) = (Vec::new(), Vec::new());
        let (mut open, mut open_default, mut default_seen) = (Vec::new(), false, false);
        for case in cases {
            match &case.label {
                None if default_seen => self.error(case.span, "the switch already has a `default`"),
                None => {
                    default_seen = true;
                    open_default = true;
                }
                Some(expr) => {
                    if let Some(value) = label(self, expr) {
                        let _ = self.charge_scan(4 * (open.len() + made.len()), expr.span);
                        let twice =
                            open.contains(&value) || made.iter().any(|(labels, _)| labels.contains(&value));
                        if twice {
                            self.error(expr.span, "the switch already has this label");
                        } else {
                            open.push(value);
                        }
                    }
                }
            }
            if let Some(body) = &case.body {
                let stmts = self.block(body);
                if std::mem::take(&mut open_default) {
                    default = stmts.clone();
                }
                let labels = std::mem::take(&mut open);
                if !labels.is_empty() {
                    made.push((labels, stmts));
                }
            }
        }
        if !open.is_empty() {
            made.push((open, Vec::new()));
        }
        (made, default)
    }

    fn switch_action(&mut self, table: TabId, cases: &[SwitchCase]) -> StmtKind {
        let actions: Vec<ActId> = self
            .hir
            .tables
            .get(table.index())
            .map_or_else(Vec::new, |table| table.actions.iter().map(|action| action.action).collect());
        let (cases, default) = self.switch_cases(cases, |this, label| {
            let Ast::Path(path) = &label.kind else {
                this.error(label.span, "the label of a switch on `action_run` must be an action");
                return None;
            };
            match this.scopes.get(&path.name.name, path.absolute).map(|entry| entry.symbol.clone()) {
                Some(Symbol::Action(id)) if actions.contains(&id) => Some(id),
                Some(_) => {
                    this.error(label.span, format!("`{}` is not an action of the table", path.name.name));
                    None
                }
                None => {
                    this.undeclared("action", &path.name);
                    None
                }
            }
        });
        StmtKind::SwitchAction { table, cases, default }
    }

    fn switch_value(&mut self, value: Expr, ty: &Ty, cases: &[SwitchCase]) -> StmtKind {
        let (cases, default) = self.switch_cases(cases, |this, label| {
            let checked = this.expr(label);
            let checked = this.coerce(checked, ty);
            match &checked.kind {
                ExprKind::Poison => None,
                ExprKind::Const(value) => Some(EqualByValue(value.clone(), checked)),
                _ => {
                    this.error(label.span, "the label of a switch must be a compile-time constant");
                    None
                }
            }
        });
        let cases = cases
            .into_iter()
            .map(|(labels, body)| (labels.into_iter().map(|label| label.1).collect(), body))
            .collect();
        StmtKind::SwitchValue { value, cases, default }
    }

    fn for_loop(
        &mut self,
        init: &[ast::Stmt],
        cond: &ast::Expr,
        update: &[ast::Stmt],
        body: &ast::Stmt,
    ) -> StmtKind {
        self.scopes.push();
        let init = self.stmts(init);
        let cond = self.condition(cond);
        let update = self.stmts(update);
        self.loop_depth += 1;
        let body = self.body(body);
        self.loop_depth -= 1;
        self.scopes.pop();
        StmtKind::For { init, cond, update, body }
    }

    fn for_in(
        &mut self,
        ty: &ast::Type,
        name: &ast::Ident,
        range: &ForRange,
        body: &ast::Stmt,
        span: Span,
    ) -> Option<StmtKind> {
        let ty = self.variable_type(ty);
        let over = match range {
            ForRange::Range(low, high) => {
                let low = self.expr(low);
                let low = self.coerce(low, &ty);
                let high = self.expr(high);
                let high = self.coerce(high, &ty);
                if !self.hir.underlying(&ty).is_fixed() && ty != Ty::Unknown {
                    let shown = self.hir.show(&ty);
                    self.error(span, format!("a range requires `bit<W>` or `int<W>`, not `{shown}`"));
                    return None;
                }
                Over::Range(low, high)
            }
            ForRange::Expr(items) => Over::Items(self.loop_items(items, &ty)?),
        };
        self.scopes.push();
        let var = self.new_local(name, ty, LocalKind::Variable, super::hir::Annotations::default());
        self.loop_depth += 1;
        let body = self.body(body);
        self.loop_depth -= 1;
        self.scopes.pop();
        Some(match over {
            Over::Range(low, high) => StmtKind::ForRange { var, low, high, body },
            Over::Items(items) => StmtKind::ForEach { var, items, body },
        })
    }

    /// What a loop runs over, as a stack or a tuple of values of the loop variable's type.
    fn loop_items(&mut self, items: &ast::Expr, ty: &Ty) -> Option<Expr> {
        let items = self.expr(items);
        match items.ty.clone() {
            Ty::Unknown => None,
            Ty::Stack(elem, _) => {
                if *elem == *ty || *ty == Ty::Unknown {
                    return Some(items);
                }
                let (elem, wanted) = (self.hir.show(&elem), self.hir.show(ty));
                self.error(
                    items.span,
                    format!(
                        "the loop variable is `{wanted}`, but the elements are \
                    `{elem}`"
                    ),
                );
                None
            }
            Ty::Tuple(types) if matches!(items.kind, ExprKind::Aggregate(_)) => {
                let wanted = Ty::Tuple(types.iter().map(|_| ty.clone()).collect());
                Some(self.coerce(items, &wanted))
            }
            Ty::List(_) if matches!(items.kind, ExprKind::Aggregate(_)) => {
                let ExprKind::Aggregate(values) = items.kind else { return None };
                let values: Vec<Expr> = values.into_iter().map(|value| self.coerce(value, ty)).collect();
                let types = values.iter().map(|value| value.ty.clone()).collect();
                Some(Expr { kind: ExprKind::Aggregate(values), ty: Ty::Tuple(types), span: items.span })
            }
            other => {
                let shown = self.hir.show(&other);
                self.push(
                    Diagnostic::error(
                        items.span,
                        format!("a loop cannot iterate over a value of type `{shown}`"),
                    )
                    .with_help("it can iterate over a range, a list or a header stack"),
                );
                None
            }
        }
    }
}

/// What a `for ... in` runs over.
enum Over {
    Range(Expr, Expr),
    Items(Expr),
}

/// Cases of a switch with their labels, and the default's body.
type Cases<T> = (Vec<(Vec<T>, Vec<Stmt>)>, Vec<Stmt>);

/// A switch label, equal to another by its value whatever its place.
struct EqualByValue(super::value::Value, Expr);

impl PartialEq for EqualByValue {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Checker {
    /// Reports a related place for a diagnostic that needs one.
    pub(super) fn error_with(&mut self, span: Span, message: String, related: Span, text: &str) {
        self.push(Diagnostic::error(span, message).with_related(related, text));
    }
}
