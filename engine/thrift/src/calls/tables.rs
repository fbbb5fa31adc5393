//! Tables: entries, default actions, direct counters and meters.

use p4cc_exec::control::{ControlError, CounterCell, EntryAction, TableEntry};
use p4cc_ir::{MatchValue, ProfileId, Program, TableId};

use super::arrays::{counter_value, meter_config, meter_rates, parse_counter};
use super::{Entry, entries, names, of_switch, profiles};
use crate::fault::{Fault, Outcome, table};
use crate::handles::Identity;
use crate::service::{Answer, Args, Context};
use crate::value::Value;

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    of_switch(
        "standard",
        [
            ("bm_mt_get_num_entries", num_entries),
            ("bm_mt_clear_entries", clear),
            ("bm_mt_add_entry", |context, args| add(context, args, direct, 6)),
            ("bm_mt_indirect_add_entry", |context, args| add(context, args, member, 5)),
            ("bm_mt_indirect_ws_add_entry", |context, args| add(context, args, group, 5)),
            ("bm_mt_modify_entry", |context, args| modify(context, args, direct)),
            ("bm_mt_indirect_modify_entry", |context, args| modify(context, args, member)),
            ("bm_mt_indirect_ws_modify_entry", |context, args| modify(context, args, group)),
            ("bm_mt_delete_entry", |context, args| delete(context, args, false)),
            ("bm_mt_indirect_delete_entry", |context, args| delete(context, args, true)),
            ("bm_mt_set_entry_ttl", set_ttl),
            ("bm_mt_indirect_set_entry_ttl", set_ttl),
            ("bm_mt_set_default_action", set_default),
            ("bm_mt_reset_default_entry", reset_default),
            ("bm_mt_indirect_reset_default_entry", reset_default),
            ("bm_mt_indirect_set_default_member", no_indirect_default),
            ("bm_mt_indirect_ws_set_default_group", no_indirect_default),
            ("bm_mt_get_entries", get_all),
            ("bm_mt_get_entry", get_one),
            ("bm_mt_get_default_entry", get_default),
            ("bm_mt_get_entry_from_key", get_from_key),
            ("bm_mt_read_counter", read_counter),
            ("bm_mt_write_counter", write_counter),
            ("bm_mt_reset_counters", reset_counters),
            ("bm_mt_set_meter_rates", set_meter),
            ("bm_mt_get_meter_rates", get_meter),
        ],
    )
}

/// What an entry is to run, from a call's arguments.
type Action = fn(&Context<'_>, TableId, &Args<'_>) -> Outcome<EntryAction>;

/// An action by its name and data, arguments 4 and 5.
fn direct(context: &Context<'_>, id: TableId, args: &Args<'_>) -> Outcome<EntryAction> {
    let program = &*context.program()?;
    let of = &program.tables[id.index()];
    if of.profile.is_some() {
        let cause = format!("table {} runs members of a profile", of.cp.name);
        return Err(Fault::new(table::WRONG_TABLE_TYPE, cause));
    }
    let action = names::action(program, id, args.text(4)?)?;
    Ok(EntryAction::Direct(entries::call(program, action, args.list(5)?)?))
}

fn profile_of(program: &Program, id: TableId) -> Outcome<ProfileId> {
    let of = &program.tables[id.index()];
    let none = || Fault::new(table::WRONG_TABLE_TYPE, format!("table {} has no action profile", of.cp.name));
    of.profile.ok_or_else(none)
}

fn member(context: &Context<'_>, id: TableId, args: &Args<'_>) -> Outcome<EntryAction> {
    let (profile, member) = (profile_of(&*context.program()?, id)?, args.u32(4)?);
    profiles::member(context, profile, member)?;
    Ok(EntryAction::Member(member))
}

fn group(context: &Context<'_>, id: TableId, args: &Args<'_>) -> Outcome<EntryAction> {
    let (profile, group) = (profile_of(&*context.program()?, id)?, args.u32(4)?);
    profiles::group(context, profile, group)?;
    Ok(EntryAction::Group(group))
}

fn table_of(context: &Context<'_>, args: &Args<'_>) -> Outcome<TableId> {
    names::table(&*context.program()?, args.text(2)?)
}

/// The entry of the handle in argument 3.
fn entry_of(context: &mut Context<'_>, args: &Args<'_>) -> Outcome<(TableId, Identity)> {
    let id = table_of(context, args)?;
    let handle = args.i32(3)?;
    if context.memory.handles.identity(id, handle).is_none() {
        // Entries of the program and of P4Runtime have handles too, in the order of the table.
        for identity in identities(context, id)? {
            context.memory.handles.of(id, &identity);
        }
    }
    let gone = || Fault::new(table::INVALID_HANDLE, format!("there is no entry with handle {handle}"));
    let identity = context.memory.handles.identity(id, handle).ok_or_else(gone)?;
    context.state()?.table_entry(id, &identity.0, identity.1).map_err(|_| gone())?;
    Ok((id, identity))
}

fn num_entries(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = table_of(context, args)?;
    Ok(Some(Value::I64(context.state()?.table_len(id) as i64)))
}

fn identities(context: &Context<'_>, id: TableId) -> Outcome<Vec<Identity>> {
    let entries = context.state()?.table_entries(id);
    Ok(entries.map(|entry| (entry.matches.clone(), entry.priority)).collect())
}

fn clear(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = table_of(context, args)?;
    for (matches, priority) in identities(context, id)? {
        context.state_mut()?.table_delete(id, &matches, priority).map_err(Fault::of_table)?;
    }
    context.memory.handles.retain(id, |_| false);
    if args.bool(3)? {
        context.state_mut()?.reset_default_action(id).map_err(Fault::of_table)?;
    }
    Ok(None)
}

fn add(context: &mut Context<'_>, args: &Args<'_>, action: Action, options: i16) -> Answer {
    let program = context.program()?;
    let id = names::table(&program, args.text(2)?)?;
    let (matches, priority) = entries::identity(&program, id, args.list(3)?, &args.fields(options)?)?;
    if program.tables[id.index()].keys.is_empty() {
        return Err(Fault::new(table::NO_TABLE_KEY, "the table has no key; set its default action"));
    }
    let entry = TableEntry {
        matches: matches.clone(),
        priority,
        action: action(context, id, args)?,
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: 0,
        is_const: false,
    };
    let now = context.now;
    let state = context.state_mut()?;
    state.table_insert(id, entry).map_err(Fault::of_table)?;
    state.start_timer(id, &matches, priority, now).map_err(Fault::of_table)?;
    Ok(Some(Value::I32(context.memory.handles.of(id, &(matches, priority)))))
}

/// Writes an entry again with something of it changed.
fn change(
    context: &mut Context<'_>,
    args: &Args<'_>,
    f: impl FnOnce(&mut TableEntry) -> Outcome<()>,
) -> Answer {
    let (id, (matches, priority)) = entry_of(context, args)?;
    let now = context.now;
    let state = context.state_mut()?;
    let mut entry = state.table_entry(id, &matches, priority).map_err(Fault::of_table)?.clone();
    f(&mut entry)?;
    state.table_modify(id, entry).map_err(Fault::of_table)?;
    state.start_timer(id, &matches, priority, now).map_err(Fault::of_table)?;
    Ok(None)
}

fn modify(context: &mut Context<'_>, args: &Args<'_>, action: Action) -> Answer {
    let (id, _) = entry_of(context, args)?;
    let action = action(context, id, args)?;
    change(context, args, |entry| {
        entry.action = action;
        Ok(())
    })
}

fn set_ttl(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let program = context.program()?;
    let (id, _) = entry_of(context, args)?;
    if !program.tables[id.index()].idle_timeout {
        let cause = "the table has no `support_timeout`";
        return Err(Fault::new(table::AGEING_DISABLED, cause));
    }
    let timeout_ms = args.u32(4)?;
    change(context, args, |entry| {
        entry.idle_timeout_ns = u64::from(timeout_ms) * 1_000_000;
        Ok(())
    })
}

fn delete(context: &mut Context<'_>, args: &Args<'_>, indirect: bool) -> Answer {
    let program = context.program()?;
    let of = &program.tables[table_of(context, args)?.index()];
    if of.profile.is_some() != indirect {
        let cause =
            format!("table {} {} an action profile", of.cp.name, if indirect { "has no" } else { "has" });
        return Err(Fault::new(table::WRONG_TABLE_TYPE, cause));
    }
    let (id, (matches, priority)) = entry_of(context, args)?;
    context.state_mut()?.table_delete(id, &matches, priority).map_err(Fault::of_table)?;
    context.memory.handles.forget(id, args.i32(3)?);
    Ok(None)
}

fn set_default(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let program = context.program()?;
    let id = names::table(&program, args.text(2)?)?;
    let action = names::action(&program, id, args.text(3)?)?;
    let call = entries::call(&program, action, args.list(4)?)?;
    context.state_mut()?.set_default_action(id, call).map_err(|error| match error {
        ControlError::PermissionDenied(cause) => Fault::new(table::DEFAULT_ENTRY_IS_CONST, cause),
        other => Fault::of_table(other),
    })?;
    Ok(None)
}

fn reset_default(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = table_of(context, args)?;
    context.state_mut()?.reset_default_action(id).map_err(Fault::of_table)?;
    Ok(None)
}

/// P4Runtime, and so the engine, gives a table with a profile no default but the program's.
fn no_indirect_default(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let name = &context.program()?.tables[table_of(context, args)?.index()].cp.name.clone();
    let cause = format!("the default action of table {name} is the program's, not a member or group");
    Err(Fault::new(table::ERROR, cause))
}

fn get_all(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = table_of(context, args)?;
    let found: Vec<TableEntry> = context.state()?.table_entries(id).cloned().collect();
    let there: std::collections::BTreeSet<Identity> =
        found.iter().map(|entry| (entry.matches.clone(), entry.priority)).collect();
    context.memory.handles.retain(id, |identity| there.contains(identity));
    let entries: Outcome<Vec<Value>> = found.iter().map(|entry| entries::entry(context, id, entry)).collect();
    Ok(Some(Value::structs(entries?)))
}

fn get(context: &mut Context<'_>, id: TableId, (matches, priority): &(Vec<MatchValue>, u32)) -> Answer {
    let entry = context.state()?.table_entry(id, matches, *priority).map_err(Fault::of_table)?.clone();
    entries::entry(context, id, &entry).map(Some)
}

fn get_one(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, identity) = entry_of(context, args)?;
    get(context, id, &identity)
}

fn get_from_key(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let program = context.program()?;
    let id = names::table(&program, args.text(2)?)?;
    let identity = entries::identity(&program, id, args.list(3)?, &args.fields(4)?)?;
    get(context, id, &identity).map_err(|fault| match fault {
        Fault::Declared(table::INVALID_HANDLE, cause) => Fault::new(table::BAD_MATCH_KEY, cause),
        other => other,
    })
}

fn get_default(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = table_of(context, args)?;
    let program = context.program()?;
    if program.tables[id.index()].profile.is_some() {
        return Ok(Some(entries::no_action()));
    }
    let call = context.state()?.default_action(id).map_err(Fault::of_table)?;
    Ok(Some(entries::action_entry(&program, call)))
}

/// The table has a direct counter.
fn with_counter(context: &Context<'_>, id: TableId) -> Outcome<()> {
    let has = context.program()?.tables[id.index()].counter.is_some();
    let none = || Fault::new(table::COUNTERS_DISABLED, "the table has no direct counter");
    has.then_some(()).ok_or_else(none)
}

fn read_counter(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, (matches, priority)) = entry_of(context, args)?;
    with_counter(context, id)?;
    let cell = context.state()?.direct_counter_read(id, &matches, priority).map_err(Fault::of_table)?;
    Ok(Some(counter_value(cell)))
}

fn write_counter(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, (matches, priority)) = entry_of(context, args)?;
    with_counter(context, id)?;
    let cell = parse_counter(&args.fields(4)?)?;
    let state = context.state_mut()?;
    state.direct_counter_write(id, &matches, priority, cell).map_err(Fault::of_table)?;
    Ok(None)
}

fn reset_counters(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = table_of(context, args)?;
    with_counter(context, id)?;
    for (matches, priority) in identities(context, id)? {
        let state = context.state_mut()?;
        state
            .direct_counter_write(id, &matches, priority, CounterCell::default())
            .map_err(Fault::of_table)?;
    }
    Ok(None)
}

/// The table has a direct meter.
fn with_meter(context: &Context<'_>, id: TableId) -> Outcome<()> {
    let has = context.program()?.tables[id.index()].meter.is_some();
    let none = || Fault::new(table::METERS_DISABLED, "the table has no direct meter");
    has.then_some(()).ok_or_else(none)
}

fn set_meter(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, (matches, priority)) = entry_of(context, args)?;
    with_meter(context, id)?;
    let code = table::INVALID_METER_OPERATION;
    let config = meter_config(args.list(4)?, code, code)?;
    let state = context.state_mut()?;
    state.direct_meter_write(id, &matches, priority, Some(config)).map_err(Fault::of_table)?;
    Ok(None)
}

fn get_meter(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, (matches, priority)) = entry_of(context, args)?;
    with_meter(context, id)?;
    let config = context.state()?.direct_meter_read(id, &matches, priority).map_err(Fault::of_table)?;
    Ok(Some(meter_rates(config)))
}
