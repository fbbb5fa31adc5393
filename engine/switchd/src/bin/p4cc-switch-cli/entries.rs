//! Commands that write tables, action profiles, multicast groups and meters, as simple_switch_CLI words them.

use p4cc_thrift::value::{Type, Value};
use serde_json::Value as Json;

use crate::commands::{CONTEXT, call, done, hex_of, i32_of, show};
use crate::number::bytes;
use crate::program::{Key, Program, name_of};
use crate::{Outcome, Session};

/// `BmMatchParamType`.
const EXACT: i32 = 0;
const LPM: i32 = 1;
const TERNARY: i32 = 2;
const RANGE: i32 = 4;

/// Runs a command of this module; none if it is not one.
pub(crate) fn command(switch: &mut Session, words: &[&str]) -> Option<Outcome> {
    let (verb, rest) = words.split_first()?;
    Some(match (*verb, rest) {
        ("show_tables", []) => switch.program().map(|program| program.tables()),
        ("table_add", [table, action, rest @ ..]) => table_add(switch, table, action, rest),
        ("table_set_default", [table, action, data @ ..]) => table_set_default(switch, table, action, data),
        ("table_modify", [table, action, handle, data @ ..]) => {
            table_modify(switch, (table, action), handle, data)
        }
        ("table_delete", [table, handle]) => table_delete(switch, table, handle),
        ("table_reset_default", [table]) => table_reset_default(switch, table),
        ("table_indirect_add", [table, rest @ ..]) => indirect_add(switch, table, rest, "indirect"),
        ("table_indirect_add_with_group", [table, rest @ ..]) => {
            indirect_add(switch, table, rest, "indirect_ws")
        }
        ("act_prof_create_member", [profile, action, data @ ..]) => {
            create_member(switch, profile, action, data)
        }
        ("act_prof_create_group", [profile]) => create_group(switch, profile),
        ("act_prof_add_member_to_group", [profile, member, group]) => {
            join_group(switch, profile, member, group)
        }
        _ => return groups_and_meters(switch, verb, rest),
    })
}

fn groups_and_meters(switch: &mut Session, verb: &str, rest: &[&str]) -> Option<Outcome> {
    Some(match (verb, rest) {
        ("mc_mgrp_create", [group]) => {
            multicast(switch, "bm_mc_mgrp_create", group).map(|_| format!("Creating multicast group {group}"))
        }
        ("mc_mgrp_destroy", [group]) => multicast(switch, "bm_mc_mgrp_destroy", group)
            .map(|_| format!("Destroying multicast group {group}")),
        ("mc_node_create", [rid, ports @ ..]) => node_create(switch, rid, ports),
        ("mc_node_destroy", [node]) => {
            multicast(switch, "bm_mc_node_destroy", node).map(|_| format!("Destroying node {node}"))
        }
        ("mc_node_associate" | "mc_node_dissociate", [group, node]) => associate(switch, verb, group, node),
        ("meter_set_rates", [name, index, rates @ ..]) => set_meter(switch, name, Some(index), rates),
        ("meter_array_set_rates", [name, rates @ ..]) => set_meter(switch, name, None, rates),
        _ => return None,
    })
}

/// Bytes of an action's arguments.
fn action_data(action: &str, widths: &[u32], data: &[&str]) -> Result<Vec<Vec<u8>>, String> {
    if widths.len() != data.len() {
        return Err(format!("action {action} takes {} parameters, not {}", widths.len(), data.len()));
    }
    data.iter().zip(widths).map(|(text, width)| bytes(text, *width)).collect()
}

fn strings(data: &[Vec<u8>]) -> Value {
    Value::List(Type::String, data.iter().map(|bytes| Value::String(bytes.clone())).collect())
}

fn joined(data: &[Vec<u8>]) -> String {
    data.iter().map(|bytes| hex_of(bytes)).collect::<Vec<_>>().join("\t")
}

/// A key of an entry, for the call and for the eye.
fn match_param(text: &str, key: &Key) -> Result<(Value, String), String> {
    let value = |text: &str| bytes(text, key.width);
    let param = |kind: i32, field: i16, fields: Vec<(i16, Value)>| {
        Value::structure([(1, Value::I32(kind)), (field, Value::Struct(fields.into_iter().collect()))])
    };
    let split = |by: &str| text.split_once(by).ok_or_else(|| format!("`{text}` needs `{by}`"));
    Ok(match key.kind.as_str() {
        "exact" | "valid" => {
            let value = value(text)?;
            let shown = format!("EXACT-{}", hex_of(&value));
            (param(EXACT, 2, vec![(1, Value::String(value))]), shown)
        }
        "lpm" => {
            let (prefix, length) = split("/")?;
            let prefix = value(prefix)?;
            let shown = format!("LPM-{}/{length}", hex_of(&prefix));
            (param(LPM, 3, vec![(1, Value::String(prefix)), (2, i32_of(length)?)]), shown)
        }
        "ternary" | "optional" => {
            let (of, mask) = split("&&&")?;
            let (of, mask) = (value(of)?, value(mask)?);
            let shown = format!("TERNARY-{} &&& {}", hex_of(&of), hex_of(&mask));
            (param(TERNARY, 4, vec![(1, Value::String(of)), (2, Value::String(mask))]), shown)
        }
        "range" => {
            let (low, high) = split("->")?;
            let (low, high) = (value(low)?, value(high)?);
            let shown = format!("RANGE-{} -> {}", hex_of(&low), hex_of(&high));
            (param(RANGE, 6, vec![(1, Value::String(low)), (2, Value::String(high))]), shown)
        }
        other => return Err(format!("keys of kind `{other}` are not supported")),
    })
}

/// Keys, data and priority of `KEY... => DATA... [PRIORITY]`.
struct Row<'w> {
    matches: Vec<Value>,
    shown: Vec<String>,
    data: &'w [&'w str],
    priority: Option<Value>,
}

fn row<'w>(program: &Program, table: &Json, words: &'w [&'w str]) -> Result<Row<'w>, String> {
    let keys = program.keys(table);
    let at = words.iter().position(|word| *word == "=>").ok_or("give `=>` between keys and action data")?;
    let (given, mut data) = (&words[..at], &words[at + 1..]);
    if given.len() != keys.len() {
        return Err(format!("table {} has {} keys, not {}", name_of(table), keys.len(), given.len()));
    }
    let mut priority = None;
    if keys.iter().any(|key| matches!(key.kind.as_str(), "ternary" | "range" | "optional")) {
        let (last, rest) = data.split_last().ok_or("give a priority at the end")?;
        (data, priority) = (rest, Some(i32_of(last)?));
    }
    let (mut matches, mut shown) = (Vec::new(), Vec::new());
    for (text, key) in given.iter().zip(&keys) {
        let (value, text) = match_param(text, key)?;
        matches.push(value);
        shown.push(text);
    }
    Ok(Row { matches, shown, data, priority })
}

fn options(priority: Option<Value>) -> Value {
    Value::Struct(priority.into_iter().map(|priority| (1, priority)).collect())
}

fn table_add(switch: &mut Session, table: &str, action: &str, words: &[&str]) -> Outcome {
    let program = switch.program()?;
    let table = program.table(table)?;
    let (name, (action, widths)) = (name_of(table), program.action(action)?);
    let row = row(&program, table, words)?;
    let data = action_data(&action, &widths, row.data)?;
    let args = [
        CONTEXT,
        Value::text(name),
        Value::structs(row.matches),
        Value::text(&action),
        strings(&data),
        options(row.priority),
    ];
    let handle = call(switch, "standard:bm_mt_add_entry", args)?.as_ref().map(show).unwrap_or_default();
    Ok(format!(
        "Adding entry to {} match table {name}\nmatch key:           {}\naction:              {action}\nruntime data:        {}\nEntry has been added with handle {handle}",
        table["match_type"].as_str().unwrap_or_default(),
        row.shown.join("\t"),
        joined(&data),
    ))
}

fn table_set_default(switch: &mut Session, table: &str, action: &str, data: &[&str]) -> Outcome {
    let program = switch.program()?;
    let name = name_of(program.table(table)?);
    let (action, widths) = program.action(action)?;
    let data = action_data(&action, &widths, data)?;
    let args = [CONTEXT, Value::text(name), Value::text(&action), strings(&data)];
    call(switch, "standard:bm_mt_set_default_action", args)?;
    Ok(format!(
        "Setting default action of {name}\naction:              {action}\nruntime data:        {}",
        joined(&data)
    ))
}

fn table_modify(switch: &mut Session, (table, action): (&str, &str), handle: &str, data: &[&str]) -> Outcome {
    let program = switch.program()?;
    let name = name_of(program.table(table)?);
    let (action, widths) = program.action(action)?;
    // BMv2 takes the arrow, and does without it.
    let data = data.strip_prefix(&["=>"]).unwrap_or(data);
    let data = action_data(&action, &widths, data)?;
    let args = [CONTEXT, Value::text(name), i32_of(handle)?, Value::text(&action), strings(&data)];
    call(switch, "standard:bm_mt_modify_entry", args)?;
    Ok(format!("Modifying entry {handle} for table {name}"))
}

fn table_delete(switch: &mut Session, table: &str, handle: &str) -> Outcome {
    let program = switch.program()?;
    let name = name_of(program.table(table)?);
    call(switch, "standard:bm_mt_delete_entry", [CONTEXT, Value::text(name), i32_of(handle)?])?;
    Ok(format!("Deleting entry {handle} from {name}"))
}

fn table_reset_default(switch: &mut Session, table: &str) -> Outcome {
    let program = switch.program()?;
    let name = name_of(program.table(table)?);
    done(call(switch, "standard:bm_mt_reset_default_entry", [CONTEXT, Value::text(name)])?)
}

fn indirect_add(switch: &mut Session, table: &str, words: &[&str], kind: &str) -> Outcome {
    let program = switch.program()?;
    let table = program.table(table)?;
    let row = row(&program, table, words)?;
    let [target] = *row.data else { return Err("give one member or group after `=>`".to_owned()) };
    let args = [
        CONTEXT,
        Value::text(name_of(table)),
        Value::structs(row.matches),
        i32_of(target)?,
        options(row.priority),
    ];
    let call_name = format!("standard:bm_mt_{kind}_add_entry");
    let handle = call(switch, &call_name, args)?.as_ref().map(show).unwrap_or_default();
    Ok(format!(
        "Adding entry to indirect match table {}\nEntry has been added with handle {handle}",
        name_of(table)
    ))
}

fn create_member(switch: &mut Session, profile: &str, action: &str, data: &[&str]) -> Outcome {
    let program = switch.program()?;
    let name = name_of(program.profile(profile)?);
    let (action, widths) = program.action(action)?;
    let data = action_data(&action, &widths, data)?;
    let args = [CONTEXT, Value::text(name), Value::text(&action), strings(&data)];
    let handle = call(switch, "standard:bm_mt_act_prof_add_member", args)?;
    Ok(format!("Member has been created with handle {}", handle.as_ref().map(show).unwrap_or_default()))
}

fn create_group(switch: &mut Session, profile: &str) -> Outcome {
    let program = switch.program()?;
    let name = name_of(program.profile(profile)?);
    let handle = call(switch, "standard:bm_mt_act_prof_create_group", [CONTEXT, Value::text(name)])?;
    Ok(format!("Group has been created with handle {}", handle.as_ref().map(show).unwrap_or_default()))
}

fn join_group(switch: &mut Session, profile: &str, member: &str, group: &str) -> Outcome {
    let program = switch.program()?;
    let name = name_of(program.profile(profile)?);
    let args = [CONTEXT, Value::text(name), i32_of(member)?, i32_of(group)?];
    done(call(switch, "standard:bm_mt_act_prof_add_member_to_group", args)?)
}

fn multicast(switch: &mut Session, name: &str, id: &str) -> Result<Option<Value>, String> {
    call(switch, &format!("simple_pre_lag:{name}"), [CONTEXT, i32_of(id)?])
}

/// Zeros and ones for numbers, the last for number 0.
fn map_of(numbers: &[&str]) -> Outcome {
    let numbers: Result<Vec<usize>, _> = numbers.iter().map(|number| number.parse()).collect();
    let numbers = numbers.map_err(|_| "ports are numbers".to_owned())?;
    let most = numbers.iter().max().copied().map_or(0, |most| most + 1);
    if most > 512 {
        return Err("there are 512 ports".to_owned());
    }
    Ok((0..most).rev().map(|number| if numbers.contains(&number) { '1' } else { '0' }).collect())
}

fn node_create(switch: &mut Session, rid: &str, words: &[&str]) -> Outcome {
    let mut sides = words.split(|word| *word == "|");
    let (ports, lags) = (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
    let (ports, lags) = (map_of(ports)?, map_of(lags)?);
    let args = [CONTEXT, i32_of(rid)?, Value::text(&ports), Value::text(&lags)];
    let handle = call(switch, "simple_pre_lag:bm_mc_node_create", args)?;
    Ok(format!(
        "Creating node with rid {rid} , port map {ports} and lag map {lags}\nnode was created with handle {}",
        handle.as_ref().map(show).unwrap_or_default()
    ))
}

fn associate(switch: &mut Session, verb: &str, group: &str, node: &str) -> Outcome {
    let args = [CONTEXT, i32_of(group)?, i32_of(node)?];
    call(switch, &format!("simple_pre_lag:bm_{verb}"), args)?;
    let (doing, word) =
        if verb == "mc_node_associate" { ("Associating", "to") } else { ("Dissociating", "from") };
    Ok(format!("{doing} node {node} {word} multicast group {group}"))
}

/// `RATE:BURST` for each rate of a meter; rates are in units per microsecond.
fn set_meter(switch: &mut Session, name: &str, index: Option<&str>, rates: &[&str]) -> Outcome {
    let name = switch.program()?.array("meter_arrays", name)?;
    let rate = |text: &&str| {
        let (rate, burst) = text.split_once(':').ok_or_else(|| format!("`{text}` is not RATE:BURST"))?;
        let rate: f64 = rate.parse().map_err(|_| format!("`{rate}` is not a rate"))?;
        Ok::<_, String>(Value::structure([(1, Value::Double(rate)), (2, i32_of(burst)?)]))
    };
    let rates = Value::structs(rates.iter().map(rate).collect::<Result<_, _>>()?);
    match index {
        Some(index) => {
            let args = [CONTEXT, Value::text(name), i32_of(index)?, rates];
            done(call(switch, "standard:bm_meter_set_rates", args)?)
        }
        None => done(call(switch, "standard:bm_meter_array_set_rates", [CONTEXT, Value::text(name), rates])?),
    }
}
