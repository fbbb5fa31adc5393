//! Commands that look at a switch, and that set its ports and queues.

use p4cc_thrift::value::{Fields, Value};

use crate::{Outcome, Session, entries};

/// BMv2's contexts: there is one.
pub(crate) const CONTEXT: Value = Value::I32(0);

pub(crate) fn call<const N: usize>(
    switch: &mut Session,
    name: &str,
    args: [Value; N],
) -> Result<Option<Value>, String> {
    let mut id = 0;
    let args = args.map(|value| {
        id += 1;
        (id, value)
    });
    switch.client.call(name, args).map_err(|error| error.to_string())
}

/// A call without a result.
pub(crate) fn done(_result: Option<Value>) -> Outcome {
    Ok(String::new())
}

/// Bytes as simple_switch_CLI shows them.
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// A setting of simple_switch's, which answers 0 if it was taken.
fn set<const N: usize>(switch: &mut Session, name: &str, args: [Value; N]) -> Outcome {
    match call(switch, name, args)? {
        None | Some(Value::I32(0)) => Ok(String::new()),
        _ => Err("there is no such port".to_owned()),
    }
}

fn int(text: &str) -> Result<i64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not a number"))
}

pub(crate) fn i32_of(text: &str) -> Result<Value, String> {
    i32::try_from(int(text)?).map(Value::I32).map_err(|_| format!("`{text}` does not fit in 32 bits"))
}

fn i64_of(text: &str) -> Result<Value, String> {
    int(text).map(Value::I64)
}

pub(crate) fn command(switch: &mut Session, words: &[&str]) -> Outcome {
    if let Some(outcome) = entries::command(switch, words) {
        return outcome;
    }
    match *words {
        ["set_queue_depth", ..] | ["set_queue_rate", ..] | ["set_queue_rate_bps", ..] => {
            queues(switch, words)
        }
        ["set_link_delay_ns", delay, port] => {
            set(switch, "p4cc:set_port_delay_ns", [i32_of(port)?, i64_of(delay)?])
        }
        ["port_counters", port] => port_counters(switch, port),
        ["show_ports"] => show_ports(switch),
        ["port_add", interface, port] => {
            let args = [Value::text(interface), i32_of(port)?, Value::text("")];
            set(switch, "standard:bm_dev_mgr_add_port", args)
        }
        ["port_remove", port] => set(switch, "standard:bm_dev_mgr_remove_port", [i32_of(port)?]),
        ["table_dump", table] => table_dump(switch, table),
        ["table_num_entries", table] => {
            let table = &table_name(switch, table)?;
            shown(call(switch, "standard:bm_mt_get_num_entries", [CONTEXT, Value::text(table)])?)
        }
        ["table_clear", table] => {
            let table = &table_name(switch, table)?;
            let args = [CONTEXT, Value::text(table), Value::Bool(false)];
            set(switch, "standard:bm_mt_clear_entries", args)
        }
        ["counter_read", name, index] => counter_read(switch, name, index),
        ["counter_reset", name] => {
            let name = switch.program()?.array("counter_arrays", name)?;
            set(switch, "standard:bm_counter_reset_all", [CONTEXT, Value::text(name)])
        }
        ["register_read", name] => {
            let name = switch.program()?.array("register_arrays", name)?;
            shown(call(switch, "standard:bm_register_read_all", [CONTEXT, Value::text(name)])?)
        }
        ["register_read", name, index] => {
            let name = switch.program()?.array("register_arrays", name)?;
            shown(call(switch, "standard:bm_register_read", [CONTEXT, Value::text(name), i32_of(index)?])?)
        }
        ["register_write", name, index, value] => {
            let name = switch.program()?.array("register_arrays", name)?;
            let args = [CONTEXT, Value::text(name), i32_of(index)?, i64_of(value)?];
            set(switch, "standard:bm_register_write", args)
        }
        ["register_reset", name] => {
            let name = switch.program()?.array("register_arrays", name)?;
            set(switch, "standard:bm_register_reset", [CONTEXT, Value::text(name)])
        }
        ["mirroring_add", id, port] => {
            let args = [i32_of(id)?, Value::structure([(1, i32_of(port)?)])];
            set(switch, "simple_switch:mirroring_session_add", args)
        }
        ["mirroring_delete", id] => set(switch, "simple_switch:mirroring_session_delete", [i32_of(id)?]),
        ["mirroring_get", id] => shown(call(switch, "simple_switch:mirroring_session_get", [i32_of(id)?])?),
        ["switch_info"] => shown(call(switch, "standard:bm_mgmt_get_info", [])?),
        ["get_time_elapsed"] => shown(call(switch, "simple_switch:get_time_elapsed_us", [])?),
        ["reset_state"] => set(switch, "standard:bm_reset_state", []),
        _ => Err("is not a command, or has the wrong arguments; see p4cc-switch-cli --help".to_owned()),
    }
}

fn queues(switch: &mut Session, words: &[&str]) -> Outcome {
    match *words {
        ["set_queue_depth", depth] => {
            set(switch, "simple_switch:set_all_egress_queue_depths", [i32_of(depth)?])
        }
        ["set_queue_depth", depth, port] => {
            set(switch, "simple_switch:set_egress_queue_depth", [i32_of(port)?, i32_of(depth)?])
        }
        ["set_queue_depth", depth, port, priority] => {
            let args = [i32_of(port)?, i32_of(priority)?, i32_of(depth)?];
            set(switch, "simple_switch:set_egress_priority_queue_depth", args)
        }
        ["set_queue_rate", rate] => set(switch, "simple_switch:set_all_egress_queue_rates", [i64_of(rate)?]),
        ["set_queue_rate", rate, port] => {
            set(switch, "simple_switch:set_egress_queue_rate", [i32_of(port)?, i64_of(rate)?])
        }
        ["set_queue_rate", rate, port, priority] => {
            let args = [i32_of(port)?, i32_of(priority)?, i64_of(rate)?];
            set(switch, "simple_switch:set_egress_priority_queue_rate", args)
        }
        ["set_queue_rate_bps", rate, port] => {
            set(switch, "p4cc:set_port_rate_bps", [i32_of(port)?, i64_of(rate)?])
        }
        _ => Err("has the wrong arguments; see p4cc-switch-cli --help".to_owned()),
    }
}

/// A value as text.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Byte(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::I16(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::String(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Struct(fields) => fields.values().map(show).collect::<Vec<_>>().join(" "),
        Value::Map(_, _, pairs) => {
            pairs.iter().map(|(key, value)| format!("{} {}\n", show(key), show(value))).collect()
        }
        Value::Set(_, values) | Value::List(_, values) => {
            values.iter().map(show).collect::<Vec<_>>().join(" ")
        }
    }
}

fn shown(value: Option<Value>) -> Outcome {
    Ok(value.as_ref().map(show).unwrap_or_default())
}

fn port_counters(switch: &mut Session, port: &str) -> Outcome {
    shown(call(switch, "p4cc:get_port_counters", [i32_of(port)?])?)
}

fn rows(value: Option<Value>) -> Vec<Fields> {
    let Some(Value::List(_, values)) = value else { return Vec::new() };
    let fields = |value| if let Value::Struct(fields) = value { Some(fields) } else { None };
    values.into_iter().filter_map(fields).collect()
}

fn show_ports(switch: &mut Session) -> Outcome {
    let rows = rows(call(switch, "standard:bm_dev_mgr_show_ports", [])?);
    let line = |row: &Fields| format!("{} {}\n", field(row, 1), field(row, 2));
    Ok(rows.iter().map(line).collect())
}

fn field(row: &Fields, id: i16) -> String {
    row.get(&id).map(show).unwrap_or_default()
}

fn counter_read(switch: &mut Session, name: &str, index: &str) -> Outcome {
    let name = switch.program()?.array("counter_arrays", name)?;
    let args = [CONTEXT, Value::text(name), i32_of(index)?];
    match call(switch, "standard:bm_counter_read", args)? {
        Some(Value::Struct(cell)) => Ok(format!("packets {} bytes {}", field(&cell, 2), field(&cell, 1))),
        _ => Err("the answer is not a counter".to_owned()),
    }
}

fn hex(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(bytes)) => {
            format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        Some(other) => show(other),
        None => String::new(),
    }
}

/// A key of an entry: its value, and its mask, prefix or end.
fn match_text(param: &Value) -> String {
    let Value::Struct(param) = param else { return String::new() };
    let parts = param.iter().find_map(|(id, value)| match value {
        Value::Struct(parts) if *id > 1 => Some((*id, parts)),
        _ => None,
    });
    let Some((kind, parts)) = parts else { return String::new() };
    let (first, second) = (hex(parts.get(&1)), hex(parts.get(&2)));
    match kind {
        2 => first,
        3 => format!("{first}/{second}"),
        4 => format!("{first}&&&{second}"),
        _ => format!("{first}->{second}"),
    }
}

fn action_text(action: &Value) -> String {
    let Value::Struct(action) = action else { return String::new() };
    match (action.get(&1), action.get(&3)) {
        (Some(Value::I32(2)), _) => format!("member {}", field(action, 4)),
        (Some(Value::I32(3)), _) => format!("group {}", field(action, 5)),
        (_, Some(Value::List(_, data))) => {
            let data: Vec<String> = data.iter().map(|value| hex(Some(value))).collect();
            format!("{} {}", field(action, 2), data.join(" "))
        }
        _ => "nothing".to_owned(),
    }
}

fn table_name(switch: &mut Session, table: &str) -> Outcome {
    switch.program()?.table(table).map(|found| crate::program::name_of(found).to_owned())
}

fn table_dump(switch: &mut Session, table: &str) -> Outcome {
    let table = &table_name(switch, table)?;
    let rows = rows(call(switch, "standard:bm_mt_get_entries", [CONTEXT, Value::text(table)])?);
    let mut text = String::new();
    for row in &rows {
        let keys = match row.get(&1) {
            Some(Value::List(_, keys)) => keys.iter().map(match_text).collect::<Vec<_>>().join(" "),
            _ => String::new(),
        };
        let action = row.get(&4).map(action_text).unwrap_or_default();
        text.push_str(&format!("{} {keys} => {}\n", field(row, 3), action.trim_end()));
    }
    let default = call(switch, "standard:bm_mt_get_default_entry", [CONTEXT, Value::text(table)])?;
    let default = default.as_ref().map(action_text).unwrap_or_default();
    Ok(format!("{text}default => {}", default.trim_end()))
}
