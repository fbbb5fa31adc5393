//! Commands of tables.

use std::iter::once;

use p4cc_thrift::value::Value;
use serde_json::Value as Json;

use crate::entries::{
    action_data, check_count, joined, matches, options, say_action_entry, say_entry, strings, take_priority,
    values,
};
use crate::failure::Failure;
use crate::profiles;
use crate::program::{Action, Kind, Program, name_of, word};
use crate::session::{CONTEXT, Outcome, Session, at_least, exactly, handle, number, show};

/// Runs a command of this file; none if it is not one.
pub(crate) fn command(switch: &mut Session, verb: &str, words: &[&str]) -> Option<Outcome> {
    Some(match verb {
        "show_tables" => show_tables(switch, words),
        "show_actions" => show_actions(switch, words),
        "table_show_actions" => table_show_actions(switch, words),
        "table_info" => table_info(switch, words),
        "table_set_default" => set_default(switch, words),
        "table_reset_default" => of_table(switch, words, "standard:bm_mt_reset_default_entry"),
        "table_num_entries" => num_entries(switch, words),
        "table_clear" => clear(switch, words),
        "table_add" => add(switch, words),
        "table_set_timeout" => set_timeout(switch, words),
        "table_modify" => modify(switch, words),
        "table_delete" => delete(switch, words),
        "table_dump" => dump(switch, words),
        "table_dump_entry" => dump_entry(switch, words),
        "table_dump_entry_from_key" => dump_entry_from_key(switch, words),
        _ => return None,
    })
}

fn show_tables(switch: &mut Session, words: &[&str]) -> Outcome {
    let [] = exactly(words)?;
    let program = switch.program()?;
    for table in program.sorted(Kind::Table) {
        switch.say(program.table_line(table));
    }
    Ok(())
}

fn show_actions(switch: &mut Session, words: &[&str]) -> Outcome {
    let [] = exactly(words)?;
    for action in switch.program()?.actions() {
        switch.say(action.line());
    }
    Ok(())
}

fn table_show_actions(switch: &mut Session, words: &[&str]) -> Outcome {
    let [table] = exactly(words)?;
    let program = switch.program()?;
    for action in program.actions_of(once(program.named(Kind::Table, table)?)) {
        switch.say(action.line());
    }
    Ok(())
}

fn table_info(switch: &mut Session, words: &[&str]) -> Outcome {
    let [table] = exactly(words)?;
    let program = switch.program()?;
    switch.say(program.table_line(program.named(Kind::Table, table)?));
    switch.say("*".repeat(80));
    table_show_actions(switch, words)
}

fn action_of(program: &Program, table: &Json, names: (&str, &str)) -> Result<Action, Failure> {
    let (table_name, action) = names;
    let found = program.action(once(table), action);
    found.ok_or_else(|| Failure::error(format!("Table {table_name} has no action {action}")))
}

fn set_default(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name, action_name], data) = at_least(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    let action = action_of(&program, table, (name, action_name))?;
    check_count(&action, action_name, data)?;
    let data = action_data(&action, data)?;
    switch.say(format!("Setting default action of {name}"));
    switch.say(format!("{:20} {action_name}", "action:"));
    switch.say(format!("{:20} {}", "runtime data:", joined(&data)));
    let args = [CONTEXT, Value::text(name_of(table)), Value::text(action.name), strings(&data)];
    switch.tell("standard:bm_mt_set_default_action", args)
}

/// A call with a table and nothing else.
fn of_table(switch: &mut Session, words: &[&str], call: &str) -> Outcome {
    let [name] = exactly(words)?;
    let table = Value::text(name_of(switch.program()?.named(Kind::Table, name)?));
    switch.tell(call, [CONTEXT, table])
}

fn num_entries(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let table = Value::text(name_of(switch.program()?.named(Kind::Table, name)?));
    let entries = switch.ask("standard:bm_mt_get_num_entries", [CONTEXT, table])?;
    switch.say(show(&entries));
    Ok(())
}

fn clear(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let table = Value::text(name_of(switch.program()?.named(Kind::Table, name)?));
    switch.tell("standard:bm_mt_clear_entries", [CONTEXT, table, Value::Bool(false)])
}

fn add(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name, action_name, _], _) = at_least(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    let action = action_of(&program, table, (name, action_name))?;
    let (rest, priority) = take_priority(table, words.get(2..).unwrap_or_default())?;
    let arrow = rest.iter().position(|word| *word == "=>").unwrap_or(rest.len().saturating_sub(1));
    let (given, data) = (&rest[..arrow], rest.get(arrow + 1..).unwrap_or_default());
    let wanted = program.keys(table).len();
    if given.len() != wanted {
        return Err(Failure::error(format!("Table {name} needs {wanted} key fields")));
    }
    check_count(&action, &action.name, data)?;
    let data = action_data(&action, data)?;
    let given = matches(&program, table, name, given)?;
    switch.say(format!("Adding entry to {} match table {name}", word(table, "match_type")));
    let shown: Vec<&str> = given.iter().map(|one| one.shown.as_str()).collect();
    switch.say(format!("{:20} {}", "match key:", shown.join("\t")));
    switch.say(format!("{:20} {action_name}", "action:"));
    switch.say(format!("{:20} {}", "runtime data:", joined(&data)));
    let args = [
        CONTEXT,
        Value::text(name_of(table)),
        values(&given),
        Value::text(action.name),
        strings(&data),
        options(priority),
    ];
    let handle = switch.ask("standard:bm_mt_add_entry", args)?;
    switch.say(format!("Entry has been added with handle {}", show(&handle)));
    Ok(())
}

fn set_timeout(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, entry, timeout] = exactly(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    if table["support_timeout"].as_bool() != Some(true) {
        return Err(Failure::error(format!("Table {name} does not support entry timeouts")));
    }
    let entry_handle = handle(entry, "entry handle")?;
    let timeout: i32 = number(timeout, "Bad format for timeout")?;
    switch.say(format!("Setting a {timeout} ms timeout for entry {entry}"));
    let args = [CONTEXT, Value::text(name_of(table)), entry_handle, Value::I32(timeout)];
    switch.tell("standard:bm_mt_set_entry_ttl", args)
}

fn modify(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name, action_name, entry], data) = at_least(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    let action = action_of(&program, table, (name, action_name))?;
    let entry_handle = handle(entry, "entry handle")?;
    // BMv2 takes the arrow, and does without it.
    let data = data.strip_prefix(&["=>"]).unwrap_or(data);
    check_count(&action, &action.name, data)?;
    let data = action_data(&action, data)?;
    switch.say(format!("Modifying entry {entry} for {} match table {name}", word(table, "match_type")));
    let args = [CONTEXT, Value::text(name_of(table)), entry_handle, Value::text(action.name), strings(&data)];
    switch.tell("standard:bm_mt_modify_entry", args)
}

fn delete(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, entry] = exactly(words)?;
    let program = switch.program()?;
    let table = Value::text(name_of(program.named(Kind::Table, name)?));
    let entry_handle = handle(entry, "entry handle")?;
    switch.say(format!("Deleting entry {entry} from {name}"));
    switch.tell("standard:bm_mt_delete_entry", [CONTEXT, table, entry_handle])
}

fn dump(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    let full = || Value::text(name_of(table));
    let entries = switch.rows("standard:bm_mt_get_entries", [CONTEXT, full()])?;
    let keys = program.keys(table);
    switch.say("==========\nTABLE ENTRIES");
    for entry in &entries {
        switch.say("**********");
        say_entry(switch, &keys, entry);
    }
    profiles::dump_of_table(switch, &program, table)?;
    let default = switch.ask("standard:bm_mt_get_default_entry", [CONTEXT, full()])?;
    switch.say("==========\nDumping default entry");
    if let Value::Struct(action) = &default {
        say_action_entry(switch, action);
    }
    switch.say("==========");
    Ok(())
}

fn dump_entry(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, entry] = exactly(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    let args = [CONTEXT, Value::text(name_of(table)), handle(entry, "entry handle")?];
    let entry = switch.ask("standard:bm_mt_get_entry", args)?;
    if let Value::Struct(entry) = &entry {
        say_entry(switch, &program.keys(table), entry);
    }
    Ok(())
}

fn dump_entry_from_key(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name], rest) = at_least(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    let (given, priority) = take_priority(table, rest)?;
    let given = matches(&program, table, name, given)?;
    let args = [CONTEXT, Value::text(name_of(table)), values(&given), options(priority)];
    let entry = switch.ask("standard:bm_mt_get_entry_from_key", args)?;
    if let Value::Struct(entry) = &entry {
        say_entry(switch, &program.keys(table), entry);
    }
    Ok(())
}
