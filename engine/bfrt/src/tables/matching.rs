//! Match tables: entries, the default entry, and what goes with each of them.

use std::sync::Arc;

use p4cc_exec::control::{EntryAction, TableEntry};
use p4cc_ir::{ActionCall, ActionId, Bits, MatchKind, MatchValue, TableId};
use p4cc_p4runtime::errors::Failure;
use tonic::Code;

use super::shadow::Place;
use super::{Done, needs_key, parts};
use crate::fields::{GivenField, Match, Row, Value, all_ones};
use crate::schema::{Action, Key, KeyKind, Means, Table};
use crate::target::{Entry, Target, Verb, Window};

/// BF Runtime's smallest priority wins, the engine's largest: they add up to this.
const PRIORITIES: u32 = i32::MAX as u32;

/// What identifies an entry within its table. Without matches it is the default entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// One for each key.
    pub matches: Vec<MatchValue>,
    /// The engine's.
    pub priority: u32,
}

/// Positions of keys that entries match, among all keys of a table.
fn matched(target: &Target<'_>, table: TableId) -> Vec<usize> {
    let keys = target.program.tables[table.index()].keys.iter().enumerate();
    keys.filter(|(_, key)| key.kind != MatchKind::Selector).map(|(at, _)| at).collect()
}

/// The identity that a request's key gives. What it leaves out is zero where the key is exact, else anything.
fn identity(target: &Target<'_>, entry: &Entry<'_>, table: TableId) -> Result<Identity, Failure> {
    let given = entry.key.as_ref().ok_or_else(|| needs_key(entry))?;
    let declared = &target.program.tables[table.index()];
    let positions = matched(target, table);
    let mut matches = Vec::with_capacity(positions.len());
    for position in &positions {
        let key = &declared.keys[*position];
        let width = target.program.vars[key.var.index()].ty.width();
        let one = given.iter().find(|one| one.key.means == Means::Key(*position));
        matches.push(match one {
            Some(one) => match_value(entry.table, one.key, &one.value, width, key.kind)?,
            None if key.kind == MatchKind::Exact => MatchValue::Exact(Bits::zero(width)),
            None => MatchValue::Any,
        });
    }
    for (one, mask) in matches.iter_mut().zip(target.state()?.key_mask(table)) {
        // Keys that differ only in bits that do not count are one.
        if let MatchValue::Exact(value) = one {
            let words: Vec<u64> = value.words().iter().zip(mask.words()).map(|(a, b)| a & b).collect();
            *value = Bits::from_words(mask.width(), &words);
        }
    }
    let needs =
        |key: &p4cc_ir::Key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
    if !declared.keys.iter().any(needs) {
        return Ok(Identity { matches, priority: 0 });
    }
    let priority = given.iter().find(|one| one.key.means == Means::Priority);
    let priority = priority.map_or(0, |one| match &one.value {
        Match::Exact(value) => value.low_u64(),
        _ => 0,
    });
    let top = u64::from(PRIORITIES);
    let ours =
        u32::try_from(top.saturating_sub(priority)).ok().filter(|ours| *ours > 0).ok_or_else(|| {
            let name = &entry.table.name;
            Failure::invalid(format!("table {name}, $MATCH_PRIORITY: {priority} is not below {top}"))
        })?;
    Ok(Identity { matches, priority: ours })
}

/// A match as the engine has it.
pub fn match_value(
    table: &Table,
    key: &Key,
    given: &Match,
    width: u32,
    kind: MatchKind,
) -> Result<MatchValue, Failure> {
    let fit = |value: &Bits| Bits::from_words(width, value.words());
    let place = || format!("table {}, key {}", table.name, key.name);
    Ok(match (given, kind) {
        (Match::Optional(_, false), _) => MatchValue::Any,
        (Match::Exact(value) | Match::Optional(value, true), MatchKind::Ternary) => {
            MatchValue::Ternary { value: fit(value), mask: all_ones(width) }
        }
        (Match::Exact(value) | Match::Optional(value, true), _) => MatchValue::Exact(fit(value)),
        (Match::Ternary(_, mask), _) if mask.is_zero() => MatchValue::Any,
        (Match::Ternary(value, mask), MatchKind::Exact) if *mask == all_ones(mask.width()) => {
            MatchValue::Exact(fit(value))
        }
        // Parser value sets: the engine takes a mask there.
        (Match::Ternary(value, mask), MatchKind::Exact) => {
            MatchValue::Ternary { value: fit(value), mask: fit(mask) }
        }
        (Match::Ternary(value, mask), MatchKind::Ternary) => {
            MatchValue::Ternary { value: fit(value), mask: fit(mask) }
        }
        (Match::Lpm(_, 0), _) => MatchValue::Any,
        (Match::Lpm(value, len), MatchKind::Lpm) => MatchValue::Lpm { value: fit(value), len: *len },
        (Match::Range(low, high), _) if low.words().iter().rev().gt(high.words().iter().rev()) => {
            return Err(Failure::invalid(format!("{}: low {low} is above high {high}; swap them", place())));
        }
        (Match::Range(low, high), _) if low.is_zero() && *high == all_ones(high.width()) => MatchValue::Any,
        (Match::Range(low, high), MatchKind::Range) => MatchValue::Range { low: fit(low), high: fit(high) },
        _ => return Err(Failure::invalid(format!("{}: this kind of match is not the program's", place()))),
    })
}

/// A match as clients see it.
pub fn match_of(value: &MatchValue, kind: KeyKind, width: u32) -> Match {
    let zero = || Bits::zero(width);
    match (value, kind) {
        (MatchValue::Exact(value), KeyKind::Ternary) => Match::Ternary(value.clone(), all_ones(width)),
        (MatchValue::Exact(value), KeyKind::Optional) => Match::Optional(value.clone(), true),
        (MatchValue::Exact(value), _) => Match::Exact(value.clone()),
        (MatchValue::Ternary { value, mask }, _) => Match::Ternary(value.clone(), mask.clone()),
        (MatchValue::Lpm { value, len }, _) => Match::Lpm(value.clone(), *len),
        (MatchValue::Range { low, high }, _) => Match::Range(low.clone(), high.clone()),
        (MatchValue::Any, KeyKind::Ternary) => Match::Ternary(zero(), zero()),
        (MatchValue::Any, KeyKind::Lpm) => Match::Lpm(zero(), 0),
        (MatchValue::Any, KeyKind::Range) => Match::Range(zero(), all_ones(width)),
        (MatchValue::Any, KeyKind::Optional) => Match::Optional(zero(), false),
        (MatchValue::Any, _) => Match::Exact(zero()),
    }
}

/// The key of an entry as clients see it.
pub fn key_values(target: &Target<'_>, of: &Table, table: TableId, entry: &TableEntry) -> Vec<(u32, Match)> {
    let positions = matched(target, table);
    let value = |key: &Key| match key.means {
        Means::Priority => {
            let theirs = PRIORITIES.saturating_sub(entry.priority);
            Some(Match::Exact(Bits::from_u128(key.ty.width(), theirs.into())))
        }
        Means::Key(at) => {
            let place = positions.iter().position(|position| *position == at)?;
            Some(match_of(entry.matches.get(place)?, key.kind, key.ty.width()))
        }
        _ => None,
    };
    of.key.iter().filter_map(|key| Some((key.id, value(key)?))).collect()
}

/// Adds, changes or removes entries, or changes the default entry.
pub(super) fn write(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &Entry<'_>,
    table: TableId,
) -> Result<Done, Failure> {
    if entry.is_default {
        return write_default(target, verb, entry, table).map(|()| Done::Applied);
    }
    match verb {
        Verb::Delete if entry.key.is_none() => clear(target, entry, table).map(|()| Done::Applied),
        Verb::Delete => {
            let at = identity(target, entry, table)?;
            let there = target.state()?.table_entry(table, &at.matches, at.priority)?;
            let key = key_values(target, entry.table, table, there);
            target.state_mut()?.table_delete(table, &at.matches, at.priority)?;
            if let Some(handles) = target.kept.handles.get_mut(&entry.table.id) {
                handles.forget(&key);
            }
            target.kept.ageing.forget(table, &at);
            target.kept.shadow.forget(entry.table.id, &Place::Entry(at));
            Ok(Done::Applied)
        }
        Verb::Insert => {
            let at = identity(target, entry, table)?;
            insert(target, entry, table, &at).map(|()| Done::Applied)
        }
        Verb::Modify => {
            let at = identity(target, entry, table)?;
            modify(target, entry, table, &at).map(|()| Done::Applied)
        }
        Verb::InsertOrModify => {
            let at = identity(target, entry, table)?;
            if target.state()?.table_entry(table, &at.matches, at.priority).is_ok() {
                return modify(target, entry, table, &at).map(|()| Done::Modified);
            }
            insert(target, entry, table, &at).map(|()| Done::Applied)
        }
        Verb::Add | Verb::Remove => Err(Failure::unimplemented(format!(
            "table {}: its entries have no lists to add to; use MODIFY",
            entry.table.name
        ))),
        Verb::Reset => Err(Failure::unimplemented(format!(
            "table {}: there is no RESET; delete the entry, or the default entry",
            entry.table.name
        ))),
    }
}

/// Empties a table, but for what the program fixes, and gives it back its first default entry.
fn clear(target: &mut Target<'_>, entry: &Entry<'_>, table: TableId) -> Result<(), Failure> {
    let declared = &target.program.tables[table.index()];
    if declared.const_entries {
        return Err(Failure::invalid(format!("table {} has constant entries", entry.table.name)));
    }
    let state = target.state_mut()?;
    let there: Vec<_> = state
        .table_entries(table)
        .filter(|one| !one.is_const)
        .map(|one| (one.matches.clone(), one.priority))
        .collect();
    for (matches, priority) in there {
        state.table_delete(table, &matches, priority)?;
    }
    state.reset_default_action(table)?;
    target.kept.handles.remove(&entry.table.id);
    target.kept.ageing.clear(table);
    target.kept.shadow.clear_counters(entry.table.id);
    target.kept.shadow.clear_registers(entry.table.id);
    Ok(())
}

fn insert(target: &mut Target<'_>, entry: &Entry<'_>, table: TableId, at: &Identity) -> Result<(), Failure> {
    let action = entry_action(target, entry, table, None)?;
    let new = TableEntry {
        matches: at.matches.clone(),
        priority: at.priority,
        action,
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: parts::ttl_ns(&entry.data).unwrap_or(0),
        is_const: false,
    };
    let now = target.now;
    let state = target.state_mut()?;
    state.table_insert(table, new)?;
    state.start_timer(table, &at.matches, at.priority, now)?;
    let key =
        key_values(target, entry.table, table, target.state()?.table_entry(table, &at.matches, at.priority)?);
    let handles = target.kept.handles.entry(entry.table.id).or_default();
    // An entry that another client deleted may have left its number behind.
    handles.forget(&key);
    handles.of(&key);
    if target.program.tables[table.index()].idle_timeout {
        target.kept.ageing.forget(table, at);
        target.kept.ageing.set(table, at, Some(parts::ttl_ns(&entry.data).unwrap_or(0)), true);
    }
    let written = parts::write(target, entry, table, at, true);
    if written.is_err() {
        // What does not fit leaves no half of an entry.
        target.state_mut()?.table_delete(table, &at.matches, at.priority)?;
        target.kept.handles.entry(entry.table.id).or_default().forget(&key);
        target.kept.ageing.forget(table, at);
    }
    written
}

fn modify(target: &mut Target<'_>, entry: &Entry<'_>, table: TableId, at: &Identity) -> Result<(), Failure> {
    let old = target.state()?.table_entry(table, &at.matches, at.priority)?.clone();
    let names_action = entry.action.is_some()
        || entry.data.iter().any(|one| matches!(one.field.means, Means::Member | Means::Group));
    let ttl_ns = parts::ttl_ns(&entry.data);
    if names_action || ttl_ns.is_some() {
        let action = match names_action {
            true => entry_action(target, entry, table, Some(&old.action))?,
            false => old.action.clone(),
        };
        let idle_timeout_ns = ttl_ns.unwrap_or(old.idle_timeout_ns);
        let (now, resets) = (target.now, entry.reset_ttl || ttl_ns.is_some());
        let state = target.state_mut()?;
        state.table_modify(table, TableEntry { action, idle_timeout_ns, ..old })?;
        if resets {
            state.start_timer(table, &at.matches, at.priority, now)?;
        }
        if target.program.tables[table.index()].idle_timeout {
            target.kept.ageing.set(table, at, ttl_ns, entry.reset_ttl);
        }
    }
    if names_action && entry.reset_stats {
        parts::reset_counter(target, entry.table.id, table, at)?;
    }
    parts::write(target, entry, table, at, false)
}

fn write_default(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &Entry<'_>,
    table: TableId,
) -> Result<(), Failure> {
    let name = &entry.table.name;
    if entry.key.as_ref().is_some_and(|key| !key.is_empty()) {
        return Err(Failure::invalid(format!("table {name}: a default entry has no key")));
    }
    match verb {
        Verb::Delete | Verb::Reset => Ok(target.state_mut()?.reset_default_action(table)?),
        Verb::Modify => {
            let at = Identity::default();
            let old = target.state()?.default_entry(table)?;
            if entry.action.is_some() || target.program.tables[table.index()].profile.is_some() {
                let run = entry_action(target, entry, table, Some(&old))?;
                target.state_mut()?.set_default_entry(table, run)?;
            }
            parts::write(target, entry, table, &at, false)
        }
        _ => Err(Failure::unimplemented(format!("table {name}: the default entry is set by MODIFY"))),
    }
}

/// What a request's entry runs. Parameters that it leaves out stay where the action does.
fn entry_action(
    target: &Target<'_>,
    entry: &Entry<'_>,
    table: TableId,
    old: Option<&EntryAction>,
) -> Result<EntryAction, Failure> {
    let name = &entry.table.name;
    if let Some(profile) = target.program.tables[table.index()].profile {
        let number = |means: Means| {
            let one = entry.data.iter().find(|one| one.field.means == means)?;
            match &one.value {
                Value::Number(value) => u32::try_from(value.low_u64()).ok(),
                _ => None,
            }
        };
        return match (number(Means::Member), number(Means::Group)) {
            (Some(member), None) => Ok(EntryAction::Member(member)),
            (None, Some(group)) => match target.state()?.group(profile, group) {
                Some(of) if of.members.is_empty() => Err(Failure::invalid(format!(
                    "table {name}: group {group} has no active member; switch one on first"
                ))),
                _ => Ok(EntryAction::Group(group)),
            },
            (None, None) => {
                Err(Failure::invalid(format!("table {name}: give $ACTION_MEMBER_ID or $SELECTOR_GROUP_ID")))
            }
            (Some(_), Some(_)) => Err(Failure::invalid(format!(
                "table {name}: give one of $ACTION_MEMBER_ID and $SELECTOR_GROUP_ID, not both"
            ))),
        };
    }
    let Some(action) = entry.action else {
        return Err(Failure::invalid(format!("table {name}: the action is missing")));
    };
    let old = match old {
        Some(EntryAction::Direct(call)) => Some(call),
        _ => None,
    };
    call(target, &format!("table {name}"), action, &entry.data, old).map(EntryAction::Direct)
}

/// An action with its arguments.
pub fn call(
    target: &Target<'_>,
    place: &str,
    action: &Action,
    data: &[GivenField<'_>],
    old: Option<&ActionCall>,
) -> Result<ActionCall, Failure> {
    let Some(id) = action.action else {
        return Err(Failure::invalid(format!("{place}: {} is not an action of the program", action.name)));
    };
    let params = &target.program.actions[id.index()].params;
    let mut args = Vec::with_capacity(params.len());
    for (at, param) in params.iter().enumerate() {
        let width = target.program.vars[param.var.index()].ty.width();
        let given = data.iter().find(|one| one.field.means == Means::Param(at));
        let kept = || old.filter(|old| old.action == id).and_then(|old| old.args.get(at).cloned());
        args.push(match given.map(|one| &one.value) {
            Some(Value::Number(value)) => Bits::from_words(width, value.words()),
            Some(Value::Bool(value)) => Bits::from_u128(width, (*value).into()),
            Some(_) => {
                let (action, param) = (&action.name, &param.cp.name);
                return Err(Failure::invalid(format!("{place}, action {action}: {param} is not a number")));
            }
            // The driver's data begin as zeros.
            None => kept().unwrap_or_else(|| Bits::zero(width)),
        });
    }
    Ok(ActionCall { action: id, args })
}

/// Reads one entry, the default entry, or all.
pub(super) fn read(target: &mut Target<'_>, entry: &Entry<'_>, table: TableId) -> Result<Vec<Row>, Failure> {
    if entry.is_default {
        return Ok(default_row(target, entry, table)?.into_iter().collect());
    }
    if entry.key.is_some() {
        let at = identity(target, entry, table)?;
        let found = target.state()?.table_entry(table, &at.matches, at.priority)?;
        let row = row(target, entry.table, table, found, entry.from_hw)?;
        if let Some(wanted) = entry.action.filter(|wanted| wanted.id != row.action) {
            return Err(Failure::new(
                Code::InvalidArgument,
                format!("table {}: the entry does not run {}", entry.table.name, wanted.name),
            ));
        }
        return Ok(vec![row]);
    }
    let (entries, is_last) = match &target.window {
        Window::Entries { entries, is_last } => (Arc::clone(entries), *is_last),
        Window::All | Window::Part { .. } => {
            let all = ordered(target, entry.table, table)?.into_iter();
            let found = all.filter_map(|number| state_entry(target, table, number));
            (Arc::new(found.collect()), true)
        }
    };
    let mut rows = Vec::with_capacity(entries.len());
    for at in entries.iter() {
        // Another pipe may lack what the first has.
        let Ok(found) = target.state()?.table_entry(table, &at.matches, at.priority) else { continue };
        rows.push(row(target, entry.table, table, found, entry.from_hw)?);
    }
    if let Some(wanted) = entry.action {
        rows.retain(|row| row.action == wanted.id);
    }
    if is_last {
        rows.extend(default_row(target, entry, table)?);
    }
    Ok(rows)
}

/// Numbers of all entries of the pipe, in the order in which they were added.
///
/// # Errors
/// The device runs no program.
pub fn ordered(target: &mut Target<'_>, of: &Table, table: TableId) -> Result<Vec<u32>, Failure> {
    let mut handles = target.kept.handles.remove(&of.id).unwrap_or_default();
    let state = target.state()?;
    let numbers = state.entry_numbers(table).into_iter();
    let handle = |number| {
        let entry = state.entry_of_number(table, number)?;
        Some((handles.of(&key_values(target, of, table, entry)), number))
    };
    let mut order: Vec<(u32, u32)> = numbers.filter_map(handle).collect();
    order.sort_unstable();
    handles.keep(&order.iter().map(|(handle, _)| *handle).collect());
    target.kept.handles.insert(of.id, handles);
    Ok(order.into_iter().map(|(_, number)| number).collect())
}

/// What identifies the entry of a number, if there still is one.
pub fn state_entry(target: &Target<'_>, table: TableId, number: u32) -> Option<Identity> {
    let entry = target.state().ok()?.entry_of_number(table, number)?;
    Some(Identity { matches: entry.matches.clone(), priority: entry.priority })
}

/// An entry as clients see it; `looks` at the switch where a copy is kept beside it.
pub fn row(
    target: &Target<'_>,
    of: &Table,
    table: TableId,
    found: &TableEntry,
    looks: bool,
) -> Result<Row, Failure> {
    let at = Identity { matches: found.matches.clone(), priority: found.priority };
    let key = Some(key_values(target, of, table, found));
    let (action, mut data) = match &found.action {
        EntryAction::Direct(call) => action_data(of, call),
        EntryAction::Member(member) => (0, number_data(of, Means::Member, *member)),
        EntryAction::Group(group) => (0, number_data(of, Means::Group, *group)),
        // Only P4Runtime knows entries with members of their own.
        EntryAction::Set(_) => (0, Vec::new()),
    };
    data.extend(parts::read(target, (of, of.action(action)), table, &at, looks)?);
    Ok(Row { key, action, data })
}

fn default_row(target: &Target<'_>, entry: &Entry<'_>, table: TableId) -> Result<Option<Row>, Failure> {
    let of = entry.table;
    let (action, mut data) = match target.state()?.default_entry(table)? {
        EntryAction::Direct(call) => action_data(of, &call),
        EntryAction::Member(member) => (0, number_data(of, Means::Member, member)),
        EntryAction::Group(group) => (0, number_data(of, Means::Group, group)),
        EntryAction::Set(_) => return Ok(None),
    };
    if !data.is_empty() && target.program.tables[table.index()].profile.is_some() {
        return Ok(Some(Row { key: None, action, data }));
    }
    if action == 0 || entry.action.is_some_and(|wanted| wanted.id != action) {
        return Ok(None);
    }
    data.extend(parts::read(target, (of, of.action(action)), table, &Identity::default(), entry.from_hw)?);
    Ok(Some(Row { key: None, action, data }))
}

/// An action's number and its parameters.
pub fn action_data(of: &Table, call: &ActionCall) -> (u32, Vec<(u32, Value)>) {
    let runs = |action: ActionId| of.actions.iter().find(|one| one.action == Some(action));
    let Some(action) = runs(call.action) else { return (0, Vec::new()) };
    let fields = action.data.iter().flat_map(|data| &data.fields);
    let data = fields.filter_map(|field| match field.means {
        Means::Param(at) => Some((field.id, parts::number(field, call.args.get(at)?))),
        _ => None,
    });
    (action.id, data.collect())
}

fn number_data(of: &Table, means: Means, number: u32) -> Vec<(u32, Value)> {
    let mut fields = of.data.iter().flat_map(|data| &data.fields);
    let field = fields.find(|field| field.means == means);
    let value = |width| Value::Number(Bits::from_u128(width, number.into()));
    field.map(|field| (field.id, value(field.ty.width()))).into_iter().collect()
}
