//! Tables applied at several places with something else behind each, which BMv2 cannot hold: in its JSON a
//! table names the one that follows.

use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Call, Callee, Constructed, Expr, ExprKind, Program, Stmt, StmtKind};
use p4cc_types::ids::TabId;
use p4cc_types::walk::{each_part, stmt_parts};
use std::collections::BTreeMap;

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let main = program.main.and_then(|id| program.instances.get(id.index()));
    let package = main.map(|main| &main.construct.what);
    if !matches!(package, Some(Constructed::Package(name)) if name == "V1Switch" || name == "PSA_Switch") {
        return;
    }
    for control in &program.controls {
        let mut sites = Sites::default();
        sites.body(&control.body, None);
        for (table, places) in sites.0 {
            let [first, rest @ ..] = &places[..] else { continue };
            let Some(other) = rest.iter().find(|other| other.follows != first.follows) else { continue };
            let name = program.tables.get(table.index()).map_or("", |table| &table.name);
            found.push(
                Diagnostic::warning(
                    other.span,
                    format!(
                        "table `{name}` is applied at two places followed by different statements, which \
                        p4c's BMv2 back end rejects"
                    ),
                )
                .with_name("unsupported")
                .with_related(first.span, "applied here too")
                .with_help("apply it once, or declare one table per place"),
            );
        }
    }
}

/// One use of a table.
struct Site {
    span: Span,
    follows: Follows,
}

/// What follows a use of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Follows {
    /// The next statement.
    next: Option<Span>,
    /// The statement that looks at the result.
    reader: Option<Span>,
}

#[derive(Default)]
struct Sites(BTreeMap<TabId, Vec<Site>>);

impl Sites {
    fn body(&mut self, body: &[Stmt], after: Option<Span>) {
        for (at, stmt) in body.iter().enumerate() {
            let next = body.get(at + 1).map_or(after, |next| Some(next.span));
            self.stmt(stmt, next);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, next: Option<Span>) {
        match &stmt.kind {
            StmtKind::Call(Call { callee: Callee::Table(table), .. }) => {
                self.site(*table, stmt.span, Follows { next, reader: None })
            }
            StmtKind::SwitchAction { table, .. } => {
                self.site(*table, stmt.span, Follows { next, reader: Some(stmt.span) })
            }
            _ => {}
        }
        let (mut exprs, mut bodies) = (Vec::new(), Vec::new());
        stmt_parts(stmt, &mut exprs, &mut bodies);
        exprs.into_iter().for_each(|expr| self.expr(expr, Follows { next, reader: Some(stmt.span) }));
        bodies.into_iter().for_each(|body| self.body(body, next));
    }

    fn expr(&mut self, expr: &Expr, follows: Follows) {
        match &expr.kind {
            ExprKind::Hit { table, .. } | ExprKind::ActionRun(table) => self.site(*table, expr.span, follows),
            _ => {}
        }
        each_part(expr, &mut |part| self.expr(part, follows));
    }

    fn site(&mut self, table: TabId, span: Span, follows: Follows) {
        self.0.entry(table).or_default().push(Site { span, follows });
    }
}
