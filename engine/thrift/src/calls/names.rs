//! Names of a program's objects, as BMv2's tools give them, to the objects.

use p4cc_ir::{
    ActionId, ControlPlaneName, CounterId, MeterId, ProfileId, Program, RegisterId, TableId, ValueSetId,
};

use crate::fault::{Fault, Outcome, array, table};

/// The position of a name: as it stands, or where only one name ends with a dot and it.
fn find<'a>(names: impl Iterator<Item = &'a ControlPlaneName> + Clone, name: &str) -> Option<usize> {
    let is_short = |full: &str| full.strip_suffix(name).is_some_and(|front| front.ends_with('.'));
    let exact = names.clone().position(|cp| cp.name == name);
    exact.or_else(|| {
        let mut ends = names.enumerate().filter(|(_, cp)| is_short(&cp.name)).map(|(at, _)| at);
        ends.next().filter(|_| ends.next().is_none())
    })
}

fn named<T>(found: Option<usize>, of: fn(usize) -> T, code: i32, what: &str, name: &str) -> Outcome<T> {
    found.map(of).ok_or_else(|| Fault::new(code, format!("the program has no {what} {name}")))
}

/// A table.
pub(crate) fn table(program: &Program, name: &str) -> Outcome<TableId> {
    let found = find(program.tables.iter().map(|one| &one.cp), name);
    named(found, TableId::from_index, table::INVALID_TABLE_NAME, "table", name)
}

/// An action that a table may run: of actions with one name, a table's own comes first.
pub(crate) fn action(program: &Program, of: TableId, name: &str) -> Outcome<ActionId> {
    let own = program.tables[of.index()].actions.iter().map(|action| action.action);
    among(program, own.collect(), name)
}

/// An action that some table of a profile may run.
pub(crate) fn profile_action(program: &Program, of: ProfileId, name: &str) -> Outcome<ActionId> {
    let tables = program.tables.iter().filter(|table| table.profile == Some(of));
    among(program, tables.flat_map(|table| table.actions.iter().map(|action| action.action)).collect(), name)
}

fn among(program: &Program, mut actions: Vec<ActionId>, name: &str) -> Outcome<ActionId> {
    actions.sort_unstable();
    actions.dedup();
    let found = find(actions.iter().map(|id| &program.actions[id.index()].cp), name);
    let found = found.map(|at| actions[at].index());
    named(found, ActionId::from_index, table::INVALID_ACTION_NAME, "such action here as", name)
}

/// An action profile.
pub(crate) fn profile(program: &Program, name: &str) -> Outcome<ProfileId> {
    let found = find(program.profiles.iter().map(|one| &one.cp), name);
    named(found, ProfileId::from_index, table::INVALID_ACTION_PROFILE_NAME, "action profile", name)
}

/// A counter array.
pub(crate) fn counter(program: &Program, name: &str) -> Outcome<CounterId> {
    let found = find(program.counters.iter().map(|one| &one.cp), name);
    named(found, CounterId::from_index, array::INVALID_NAME, "counter", name)
}

/// A meter array.
pub(crate) fn meter(program: &Program, name: &str) -> Outcome<MeterId> {
    let found = find(program.meters.iter().map(|one| &one.cp), name);
    named(found, MeterId::from_index, array::INVALID_NAME, "meter", name)
}

/// A register array.
pub(crate) fn register(program: &Program, name: &str) -> Outcome<RegisterId> {
    let found = find(program.registers.iter().map(|one| &one.cp), name);
    named(found, RegisterId::from_index, array::INVALID_NAME, "register", name)
}

/// A value set.
pub(crate) fn value_set(program: &Program, name: &str) -> Outcome<ValueSetId> {
    let found = find(program.value_sets.iter().map(|one| &one.cp), name);
    named(found, ValueSetId::from_index, array::INVALID_NAME, "value set", name)
}
