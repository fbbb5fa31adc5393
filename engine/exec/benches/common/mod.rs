//! What the benches of compiled programs share.

use std::sync::Arc;

use p4cc_exec::State;
use p4cc_exec::control::{EntryAction, TableEntry};
use p4cc_ir::{ActionCall, ActionId, Bits, MatchValue, Program, TableId};
use p4cc_syntax::{Diagnostic, Severity, Source};

/// Compiles what was loaded.
///
/// # Panics
/// The program has an error: a bench is no place for one.
pub fn compile((source, mut found): (Source, Vec<Diagnostic>)) -> Arc<Program> {
    let (tree, syntax) = p4cc_syntax::parse(&source);
    let (program, checks) = p4cc_compile::compile(&tree);
    found.extend(syntax.into_iter().chain(checks));
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    Arc::new(program.unwrap_or_else(|| panic!("{}", source.render(&found, false))))
}

/// An action with its arguments, by its full name.
pub fn call(program: &Program, name: &str, args: &[u128]) -> ActionCall {
    let at = program.actions.iter().position(|action| action.cp.name == name).expect("the action is there");
    let widths = program.actions[at].params.iter().map(|param| program.vars[param.var.index()].ty.width());
    let args = widths.zip(args).map(|(width, arg)| Bits::from_u128(width, *arg)).collect();
    ActionCall { action: ActionId::from_index(at), args }
}

/// An entry of a table with one key, by the table's full name.
pub fn insert(state: &mut State, program: &Program, table: &str, key: MatchValue, action: EntryAction) {
    insert_keys(state, program, table, vec![key], action);
}

/// An entry of a table with several keys, none of which needs a priority unless it is the only one.
pub fn insert_keys(
    state: &mut State,
    program: &Program,
    table: &str,
    matches: Vec<MatchValue>,
    action: EntryAction,
) {
    let priority = u32::from(matches!(matches[..], [MatchValue::Ternary { .. }]));
    let at = program.tables.iter().position(|found| found.cp.name == table).expect("the table is there");
    let entry = TableEntry {
        matches,
        priority,
        action,
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: 0,
        is_const: false,
    };
    state.table_insert(TableId::from_index(at), entry).expect("the entry fits");
}
