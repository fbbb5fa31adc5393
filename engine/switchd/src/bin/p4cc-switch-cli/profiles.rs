//! Commands of action profiles and of the tables that run their members.

use p4cc_thrift::value::{Fields, Value};
use serde_json::Value as Json;

use crate::entries::{
    action_data, check_count, matches, options, say_action, strings, take_priority, values,
};
use crate::failure::Failure;
use crate::program::{Action, Kind, Program, name_of, profile_of, word};
use crate::session::{CONTEXT, Outcome, Session, at_least, exactly, field, handle, show};

/// Runs a command of this file; none if it is not one.
pub(crate) fn command(switch: &mut Session, verb: &str, words: &[&str]) -> Option<Outcome> {
    Some(match verb {
        "act_prof_create_member" => create_member(switch, words),
        "act_prof_delete_member" => delete_member(switch, words),
        "act_prof_modify_member" => modify_member(switch, words),
        "act_prof_create_group" => create_group(switch, words),
        "act_prof_delete_group" => delete_group(switch, words),
        "act_prof_add_member_to_group" => {
            membership(switch, words, "standard:bm_mt_act_prof_add_member_to_group")
        }
        "act_prof_remove_member_from_group" => {
            membership(switch, words, "standard:bm_mt_act_prof_remove_member_from_group")
        }
        "act_prof_dump" => dump(switch, words),
        "act_prof_dump_member" => dump_member(switch, words),
        "act_prof_dump_group" => dump_group(switch, words),
        "table_indirect_add" => indirect_add(switch, words, false),
        "table_indirect_add_with_group" => indirect_add(switch, words, true),
        "table_indirect_delete" => indirect_delete(switch, words),
        "table_indirect_set_default" => indirect_default(switch, words, false),
        "table_indirect_set_default_with_group" => indirect_default(switch, words, true),
        "table_indirect_reset_default" => indirect_reset_default(switch, words),
        _ => return by_table(switch, verb, words),
    })
}

/// Commands that name a table for its profile, as BMv2 once had them all.
fn by_table(switch: &mut Session, verb: &str, words: &[&str]) -> Option<Outcome> {
    let (profile_verb, is_group) = match verb {
        "table_indirect_create_member" => ("act_prof_create_member", false),
        "table_indirect_delete_member" => ("act_prof_delete_member", false),
        "table_indirect_modify_member" => ("act_prof_modify_member", false),
        "table_dump_member" => ("act_prof_dump_member", false),
        "table_dump_group" => ("act_prof_dump_group", false),
        "table_indirect_create_group" => ("act_prof_create_group", true),
        "table_indirect_delete_group" => ("act_prof_delete_group", true),
        "table_indirect_add_member_to_group" => ("act_prof_add_member_to_group", true),
        "table_indirect_remove_member_from_group" => ("act_prof_remove_member_from_group", true),
        _ => return None,
    };
    let mut profile = || -> Result<String, Failure> {
        let ([name], _) = at_least(words)?;
        let program = switch.program()?;
        let table = program.named(Kind::Table, name)?;
        check_indirect(table, is_group)?;
        Ok(profile_of(table).unwrap_or_default().to_owned())
    };
    match profile() {
        Ok(profile) => {
            let mut words = words.to_vec();
            words[0] = &profile;
            command(switch, profile_verb, &words)
        }
        Err(failure) => Some(Err(failure)),
    }
}

fn check_indirect(table: &Json, with_selector: bool) -> Outcome {
    match (word(table, "type"), with_selector) {
        ("indirect_ws", _) | ("indirect", false) => Ok(()),
        (_, false) => Err(Failure::error("Cannot run this command on non-indirect table")),
        (_, true) => Err(Failure::error(
            "Cannot run this command on non-indirect table, or on indirect table with no selector",
        )),
    }
}

fn has_selector(profile: &Json) -> bool {
    profile.get("selector").is_some()
}

fn check_selector(profile: &Json) -> Outcome {
    if has_selector(profile) {
        return Ok(());
    }
    Err(Failure::error("Cannot run this command on an action profile without selector"))
}

fn action_of(program: &Program, profile: &Json, name: &str, action: &str) -> Result<Action, Failure> {
    let found = program.action(program.users(profile), action);
    found.ok_or_else(|| Failure::error(format!("Action profile '{name}' has no action '{action}'")))
}

fn create_member(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name, action], data) = at_least(words)?;
    let program = switch.program()?;
    let profile = program.named(Kind::Profile, name)?;
    let action = action_of(&program, profile, name, action)?;
    check_count(&action, &action.name, data)?;
    let data = action_data(&action, data)?;
    let args = [CONTEXT, Value::text(name_of(profile)), Value::text(action.name), strings(&data)];
    let member = switch.ask("standard:bm_mt_act_prof_add_member", args)?;
    switch.say(format!("Member has been created with handle {}", show(&member)));
    Ok(())
}

fn delete_member(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, member] = exactly(words)?;
    let profile = Value::text(name_of(switch.program()?.named(Kind::Profile, name)?));
    let member = handle(member, "member handle")?;
    switch.tell("standard:bm_mt_act_prof_delete_member", [CONTEXT, profile, member])
}

fn modify_member(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name, action, member], data) = at_least(words)?;
    let program = switch.program()?;
    let profile = program.named(Kind::Profile, name)?;
    let action = action_of(&program, profile, name, action)?;
    let member = handle(member, "member handle")?;
    let data = data.strip_prefix(&["=>"]).unwrap_or(data);
    check_count(&action, &action.name, data)?;
    let data = action_data(&action, data)?;
    let args = [CONTEXT, Value::text(name_of(profile)), member, Value::text(action.name), strings(&data)];
    switch.tell("standard:bm_mt_act_prof_modify_member", args)
}

fn create_group(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let program = switch.program()?;
    let profile = program.named(Kind::Profile, name)?;
    check_selector(profile)?;
    let group =
        switch.ask("standard:bm_mt_act_prof_create_group", [CONTEXT, Value::text(name_of(profile))])?;
    switch.say(format!("Group has been created with handle {}", show(&group)));
    Ok(())
}

fn delete_group(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, group] = exactly(words)?;
    let program = switch.program()?;
    let profile = program.named(Kind::Profile, name)?;
    check_selector(profile)?;
    let args = [CONTEXT, Value::text(name_of(profile)), handle(group, "group handle")?];
    switch.tell("standard:bm_mt_act_prof_delete_group", args)
}

fn membership(switch: &mut Session, words: &[&str], call: &str) -> Outcome {
    let [name, member, group] = exactly(words)?;
    let program = switch.program()?;
    let profile = program.named(Kind::Profile, name)?;
    check_selector(profile)?;
    let member = handle(member, "member handle")?;
    switch.tell(call, [CONTEXT, Value::text(name_of(profile)), member, handle(group, "group handle")?])
}

fn say_member(switch: &mut Session, member: &Fields) {
    switch.say(format!("Dumping member {}", field(member, 1)));
    say_action(switch, &field(member, 2), member.get(&3));
}

fn say_group(switch: &mut Session, group: &Fields) {
    switch.say(format!("Dumping group {}", field(group, 1)));
    switch.say(format!("Members: [{}]", field(group, 2)));
}

fn dump_profile(switch: &mut Session, profile: &Json) -> Outcome {
    let name = || Value::text(name_of(profile));
    let members = switch.rows("standard:bm_mt_act_prof_get_members", [CONTEXT, name()])?;
    switch.say("==========\nMEMBERS");
    for member in &members {
        switch.say("**********");
        say_member(switch, member);
    }
    if has_selector(profile) {
        let groups = switch.rows("standard:bm_mt_act_prof_get_groups", [CONTEXT, name()])?;
        switch.say("==========\nGROUPS");
        for group in &groups {
            switch.say("**********");
            say_group(switch, group);
        }
    }
    Ok(())
}

/// The members and groups behind a table, if it has a profile.
pub(crate) fn dump_of_table(switch: &mut Session, program: &Program, table: &Json) -> Outcome {
    let Some(profile) = profile_of(table) else { return Ok(()) };
    dump_profile(switch, program.named(Kind::Profile, profile)?)
}

fn dump(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let program = switch.program()?;
    dump_profile(switch, program.named(Kind::Profile, name)?)
}

fn dump_member(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, member] = exactly(words)?;
    let profile = Value::text(name_of(switch.program()?.named(Kind::Profile, name)?));
    let member = handle(member, "member handle")?;
    if let Value::Struct(member) =
        switch.ask("standard:bm_mt_act_prof_get_member", [CONTEXT, profile, member])?
    {
        say_member(switch, &member);
    }
    Ok(())
}

fn dump_group(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, group] = exactly(words)?;
    let profile = Value::text(name_of(switch.program()?.named(Kind::Profile, name)?));
    let group = handle(group, "group handle")?;
    if let Value::Struct(group) =
        switch.ask("standard:bm_mt_act_prof_get_group", [CONTEXT, profile, group])?
    {
        say_group(switch, &group);
    }
    Ok(())
}

fn indirect_add(switch: &mut Session, words: &[&str], with_group: bool) -> Outcome {
    let ([name, _], _) = at_least(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    check_indirect(table, with_group)?;
    let (rest, priority) = take_priority(table, &words[1..])?;
    let sides = rest.iter().position(|word| *word == "=>").map(|at| (&rest[..at], &rest[at + 1..]));
    let Some((given, &[target])) = sides else {
        return Err(Failure::error("Invalid arguments, could not find handle"));
    };
    let target = handle(target, "handle")?;
    let given = matches(&program, table, name, given)?;
    switch.say(format!("Adding entry to indirect match table {}", name_of(table)));
    let call = if with_group { "bm_mt_indirect_ws_add_entry" } else { "bm_mt_indirect_add_entry" };
    let args = [CONTEXT, Value::text(name_of(table)), values(&given), target, options(priority)];
    let entry = switch.ask(&format!("standard:{call}"), args)?;
    switch.say(format!("Entry has been added with handle {}", show(&entry)));
    Ok(())
}

fn indirect_delete(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, entry] = exactly(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    check_indirect(table, false)?;
    let entry_handle = handle(entry, "entry handle")?;
    switch.say(format!("Deleting entry {entry} from {name}"));
    switch.tell("standard:bm_mt_indirect_delete_entry", [CONTEXT, Value::text(name_of(table)), entry_handle])
}

fn indirect_default(switch: &mut Session, words: &[&str], with_group: bool) -> Outcome {
    let [name, target] = exactly(words)?;
    let program = switch.program()?;
    let table = program.named(Kind::Table, name)?;
    check_indirect(table, with_group)?;
    let call =
        if with_group { "bm_mt_indirect_ws_set_default_group" } else { "bm_mt_indirect_set_default_member" };
    let args = [CONTEXT, Value::text(name_of(table)), handle(target, "handle")?];
    switch.tell(&format!("standard:{call}"), args)
}

fn indirect_reset_default(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let table = Value::text(name_of(switch.program()?.named(Kind::Table, name)?));
    switch.tell("standard:bm_mt_indirect_reset_default_entry", [CONTEXT, table])
}
