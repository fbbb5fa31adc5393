//! `p4cc-switch-cli`: looks into a running switch and sets
//! its queues, with the verbs of BMv2's simple_switch_CLI.
//!
//! One command on the command line, or one for each line of the standard
//! input. Exit code 1 if a command failed, 2 if the switch cannot be reached.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "answers are for whoever asked")]

use std::io::BufRead;
use std::process::ExitCode;

use clap::Parser;
use p4cc_thrift::Client;
use p4cc_thrift::value::{Fields, Value};

/// Looks into a running p4cc-switch and sets its queues.
#[derive(Parser)]
#[command(version, after_help = HELP)]
struct Options {
    /// Address of the switch
    #[arg(long, default_value = "127.0.0.1")]
    thrift_ip: String,
    /// The switch's --thrift-port
    #[arg(long, default_value_t = 9090)]
    thrift_port: u16,
    /// A command with its arguments; without one, commands are read from the standard input, one a line
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
}

const HELP: &str = "Commands:
  show_ports                                  ports, their interfaces
  port_counters PORT                          packets, bytes, depths, drops by cause
  set_queue_depth PACKETS [PORT [PRIORITY]]   capacity of a queue, or of all queues without a port
  set_queue_rate PPS [PORT [PRIORITY]]        packets per second; 0 for no limit
  set_queue_rate_bps BPS PORT                 rate of the port's link in bit/s; 0 for no limit
  set_link_delay_ns NS PORT                   delay of the port's link
  port_add INTERFACE PORT / port_remove PORT  attach or detach an interface
  table_dump TABLE / table_num_entries TABLE  entries of a table
  table_clear TABLE                           delete all entries
  counter_read NAME INDEX / counter_reset NAME
  register_read NAME [INDEX] / register_write NAME INDEX VALUE / register_reset NAME
  mirroring_add ID PORT / mirroring_delete ID / mirroring_get ID
  switch_info / get_time_elapsed / reset_state";

/// BMv2's contexts: there is one.
const CONTEXT: Value = Value::I32(0);

type Outcome = Result<String, String>;

fn main() -> ExitCode {
    let options = Options::parse();
    let addr = (options.thrift_ip.as_str(), options.thrift_port);
    let mut client = match Client::connect(addr) {
        Ok(client) => client,
        Err(error) => {
            let (ip, port) = addr;
            eprintln!("p4cc-switch-cli: no switch answers at {ip}:{port}: {error}; see --thrift-port");
            return ExitCode::from(2);
        }
    };
    let mut ok = true;
    let mut run = |words: &[&str]| match command(&mut client, words) {
        Ok(text) if text.is_empty() => {}
        Ok(text) => println!("{}", text.trim_end()),
        Err(cause) => {
            ok = false;
            eprintln!("p4cc-switch-cli: {}: {cause}", words.join(" "));
        }
    };
    if !options.command.is_empty() {
        let words: Vec<&str> = options.command.iter().flat_map(|word| word.split_whitespace()).collect();
        run(&words);
    } else {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            if !words.is_empty() {
                run(&words);
            }
        }
    }
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn call<const N: usize>(client: &mut Client, name: &str, args: [Value; N]) -> Result<Option<Value>, String> {
    let mut id = 0;
    let args = args.map(|value| {
        id += 1;
        (id, value)
    });
    client.call(name, args).map_err(|error| error.to_string())
}

/// A setting of simple_switch's, which answers 0 if it was taken.
fn set<const N: usize>(client: &mut Client, name: &str, args: [Value; N]) -> Outcome {
    match call(client, name, args)? {
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

fn i32_of(text: &str) -> Result<Value, String> {
    i32::try_from(int(text)?).map(Value::I32).map_err(|_| format!("`{text}` does not fit in 32 bits"))
}

fn i64_of(text: &str) -> Result<Value, String> {
    int(text).map(Value::I64)
}

fn command(client: &mut Client, words: &[&str]) -> Outcome {
    match *words {
        ["set_queue_depth", ..] | ["set_queue_rate", ..] | ["set_queue_rate_bps", ..] => {
            queues(client, words)
        }
        ["set_link_delay_ns", delay, port] => {
            set(client, "p4cc:set_port_delay_ns", [i32_of(port)?, i64_of(delay)?])
        }
        ["port_counters", port] => port_counters(client, port),
        ["show_ports"] => show_ports(client),
        ["port_add", interface, port] => {
            let args = [Value::text(interface), i32_of(port)?, Value::text("")];
            set(client, "standard:bm_dev_mgr_add_port", args)
        }
        ["port_remove", port] => set(client, "standard:bm_dev_mgr_remove_port", [i32_of(port)?]),
        ["table_dump", table] => table_dump(client, table),
        ["table_num_entries", table] => {
            shown(call(client, "standard:bm_mt_get_num_entries", [CONTEXT, Value::text(table)])?)
        }
        ["table_clear", table] => {
            let args = [CONTEXT, Value::text(table), Value::Bool(false)];
            set(client, "standard:bm_mt_clear_entries", args)
        }
        ["counter_read", name, index] => counter_read(client, name, index),
        ["counter_reset", name] => set(client, "standard:bm_counter_reset_all", [CONTEXT, Value::text(name)]),
        ["register_read", name] => {
            shown(call(client, "standard:bm_register_read_all", [CONTEXT, Value::text(name)])?)
        }
        ["register_read", name, index] => {
            shown(call(client, "standard:bm_register_read", [CONTEXT, Value::text(name), i32_of(index)?])?)
        }
        ["register_write", name, index, value] => {
            let args = [CONTEXT, Value::text(name), i32_of(index)?, i64_of(value)?];
            set(client, "standard:bm_register_write", args)
        }
        ["register_reset", name] => set(client, "standard:bm_register_reset", [CONTEXT, Value::text(name)]),
        ["mirroring_add", id, port] => {
            let args = [i32_of(id)?, Value::structure([(1, i32_of(port)?)])];
            set(client, "simple_switch:mirroring_session_add", args)
        }
        ["mirroring_delete", id] => set(client, "simple_switch:mirroring_session_delete", [i32_of(id)?]),
        ["mirroring_get", id] => shown(call(client, "simple_switch:mirroring_session_get", [i32_of(id)?])?),
        ["switch_info"] => shown(call(client, "standard:bm_mgmt_get_info", [])?),
        ["get_time_elapsed"] => shown(call(client, "simple_switch:get_time_elapsed_us", [])?),
        ["reset_state"] => set(client, "standard:bm_reset_state", []),
        _ => Err("is not a command, or has the wrong arguments; see p4cc-switch-cli --help".to_owned()),
    }
}

fn queues(client: &mut Client, words: &[&str]) -> Outcome {
    match *words {
        ["set_queue_depth", depth] => {
            set(client, "simple_switch:set_all_egress_queue_depths", [i32_of(depth)?])
        }
        ["set_queue_depth", depth, port] => {
            set(client, "simple_switch:set_egress_queue_depth", [i32_of(port)?, i32_of(depth)?])
        }
        ["set_queue_depth", depth, port, priority] => {
            let args = [i32_of(port)?, i32_of(priority)?, i32_of(depth)?];
            set(client, "simple_switch:set_egress_priority_queue_depth", args)
        }
        ["set_queue_rate", rate] => set(client, "simple_switch:set_all_egress_queue_rates", [i64_of(rate)?]),
        ["set_queue_rate", rate, port] => {
            set(client, "simple_switch:set_egress_queue_rate", [i32_of(port)?, i64_of(rate)?])
        }
        ["set_queue_rate", rate, port, priority] => {
            let args = [i32_of(port)?, i32_of(priority)?, i64_of(rate)?];
            set(client, "simple_switch:set_egress_priority_queue_rate", args)
        }
        ["set_queue_rate_bps", rate, port] => {
            set(client, "p4cc:set_port_rate_bps", [i32_of(port)?, i64_of(rate)?])
        }
        _ => Err("has the wrong arguments; see p4cc-switch-cli --help".to_owned()),
    }
}

/// A value as text.
fn show(value: &Value) -> String {
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

fn port_counters(client: &mut Client, port: &str) -> Outcome {
    shown(call(client, "p4cc:get_port_counters", [i32_of(port)?])?)
}

fn rows(value: Option<Value>) -> Vec<Fields> {
    let Some(Value::List(_, values)) = value else { return Vec::new() };
    let fields = |value| if let Value::Struct(fields) = value { Some(fields) } else { None };
    values.into_iter().filter_map(fields).collect()
}

fn show_ports(client: &mut Client) -> Outcome {
    let rows = rows(call(client, "standard:bm_dev_mgr_show_ports", [])?);
    let line = |row: &Fields| format!("{} {}\n", field(row, 1), field(row, 2));
    Ok(rows.iter().map(line).collect())
}

fn field(row: &Fields, id: i16) -> String {
    row.get(&id).map(show).unwrap_or_default()
}

fn counter_read(client: &mut Client, name: &str, index: &str) -> Outcome {
    let args = [CONTEXT, Value::text(name), i32_of(index)?];
    match call(client, "standard:bm_counter_read", args)? {
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

fn table_dump(client: &mut Client, table: &str) -> Outcome {
    let rows = rows(call(client, "standard:bm_mt_get_entries", [CONTEXT, Value::text(table)])?);
    let mut text = String::new();
    for row in &rows {
        let keys = match row.get(&1) {
            Some(Value::List(_, keys)) => keys.iter().map(match_text).collect::<Vec<_>>().join(" "),
            _ => String::new(),
        };
        let action = row.get(&4).map(action_text).unwrap_or_default();
        text.push_str(&format!("{} {keys} => {}\n", field(row, 3), action.trim_end()));
    }
    let default = call(client, "standard:bm_mt_get_default_entry", [CONTEXT, Value::text(table)])?;
    let default = default.as_ref().map(action_text).unwrap_or_default();
    Ok(format!("{text}default => {}", default.trim_end()))
}
