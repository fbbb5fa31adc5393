//! What a table without `default_action` runs: `NoAction` of core.p4, which must be there.

use p4cc_syntax::Diagnostic;
use p4cc_types::hir::Program;

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    if program.no_action.is_some() {
        return;
    }
    for table in program.tables.iter().filter(|table| table.default_action.is_none()) {
        found.push(
            Diagnostic::error(table.span, format!("table `{}` has no default action", table.name))
                .with_help("add `default_action = ...`, or include core.p4, which declares `NoAction`"),
        );
    }
}
