//! Commands of ports, queues, mirroring and the switch as a whole.

use std::fs;
use std::path::Path;

use p4cc_thrift::value::{Fields, Value};

use crate::failure::Failure;
use crate::session::{Outcome, Session, argument, at_least, exactly, field, number, show};

/// Runs a command of this file; none if it is not one.
pub(crate) fn command(switch: &mut Session, verb: &str, words: &[&str]) -> Option<Outcome> {
    Some(match verb {
        "show_ports" => show_ports(switch, words),
        "port_add" => port_add(switch, words),
        "port_remove" => port_remove(switch, words),
        "port_counters" => port_counters(switch, words),
        "set_queue_depth" => set_queue_depth(switch, words),
        "set_queue_rate" => set_queue_rate(switch, words),
        "set_queue_rate_bps" => set_queue_rate_bps(switch, words),
        "set_link_delay_ns" => set_link_delay(switch, words),
        "mirroring_add" => mirroring_add(switch, words, ("egress_port", 1)),
        "mirroring_add_mc" => mirroring_add(switch, words, ("mgrp", 2)),
        "mirroring_delete" => mirroring_delete(switch, words),
        "mirroring_get" => mirroring_get(switch, words),
        "get_time_elapsed" => time(switch, "simple_switch:get_time_elapsed_us"),
        "get_time_since_epoch" => time(switch, "simple_switch:get_time_since_epoch_us"),
        "switch_info" => switch_info(switch, words),
        "reset_state" => reset_state(switch, words),
        "load_new_config_file" => load_config(switch, words),
        "swap_configs" => swap_configs(switch),
        "write_config_to_file" => write_answer(switch, words, "standard:bm_get_config"),
        "serialize_state" => write_answer(switch, words, "standard:bm_serialize_state"),
        _ => return None,
    })
}

fn show_ports(switch: &mut Session, words: &[&str]) -> Outcome {
    let [] = exactly(words)?;
    let ports = switch.rows("standard:bm_dev_mgr_show_ports", [])?;
    switch.say(format!("{:^10}{:^20}{:^10}extra info", "port #", "iface name", "status"));
    switch.say("=".repeat(50));
    for port in &ports {
        let status = if port.get(&3) == Some(&Value::Bool(true)) { "UP" } else { "DOWN" };
        let extra = match port.get(&4) {
            Some(Value::Map(_, _, pairs)) => {
                pairs.iter().map(|(key, value)| format!("{}={}", show(key), show(value))).collect()
            }
            _ => Vec::new(),
        };
        let (number, interface) = (field(port, 1), field(port, 2));
        switch.say(format!("{number:^10}{interface:^20}{status:^10}{}", extra.join("; ")));
    }
    Ok(())
}

const NO_PORT: &str = "Bad format for port_num, must be an integer";

fn port_add(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([interface, port], rest) = at_least(words)?;
    let port = number(port, NO_PORT).map(Value::I32)?;
    let pcap = rest.first().copied().unwrap_or_default();
    switch.tell("standard:bm_dev_mgr_add_port", [Value::text(interface), port, Value::text(pcap)])
}

fn port_remove(switch: &mut Session, words: &[&str]) -> Outcome {
    let [port] = exactly(words)?;
    switch.tell("standard:bm_dev_mgr_remove_port", [number(port, NO_PORT).map(Value::I32)?])
}

fn port_counters(switch: &mut Session, words: &[&str]) -> Outcome {
    let [port] = exactly(words)?;
    let counters = switch.ask("p4cc:get_port_counters", [argument(port, "port").map(Value::I32)?])?;
    switch.say(show(&counters).trim_end());
    Ok(())
}

/// Port and priority of a command that may name none.
fn queue(words: &[&str]) -> Result<(Option<Value>, Option<Value>), Failure> {
    let part = |at: usize, name| words.get(at).map(|word| argument(word, name).map(Value::I32)).transpose();
    Ok((part(1, "egress_port")?, part(2, "priority")?))
}

fn set_queue_depth(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([depth], _) = at_least(words)?;
    let depth = argument(depth, "nb_pkts").map(Value::I32)?;
    match queue(words)? {
        (Some(port), Some(priority)) => {
            switch.set("simple_switch:set_egress_priority_queue_depth", [port, priority, depth])
        }
        (Some(port), None) => switch.set("simple_switch:set_egress_queue_depth", [port, depth]),
        _ => switch.set("simple_switch:set_all_egress_queue_depths", [depth]),
    }
}

fn set_queue_rate(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([rate], _) = at_least(words)?;
    let rate = argument(rate, "rate_pps").map(Value::I64)?;
    match queue(words)? {
        (Some(port), Some(priority)) => {
            switch.set("simple_switch:set_egress_priority_queue_rate", [port, priority, rate])
        }
        (Some(port), None) => switch.set("simple_switch:set_egress_queue_rate", [port, rate]),
        _ => switch.set("simple_switch:set_all_egress_queue_rates", [rate]),
    }
}

fn set_queue_rate_bps(switch: &mut Session, words: &[&str]) -> Outcome {
    let [rate, port] = exactly(words)?;
    let args = [argument(port, "port").map(Value::I32)?, argument(rate, "rate_bps").map(Value::I64)?];
    switch.set("p4cc:set_port_rate_bps", args)
}

fn set_link_delay(switch: &mut Session, words: &[&str]) -> Outcome {
    let [delay, port] = exactly(words)?;
    let args = [argument(port, "port").map(Value::I32)?, argument(delay, "delay_ns").map(Value::I64)?];
    switch.set("p4cc:set_port_delay_ns", args)
}

/// A session to a port or to a multicast group: the name of the argument, and its field of the session.
fn mirroring_add(switch: &mut Session, words: &[&str], target: (&str, i16)) -> Outcome {
    let [id, to] = exactly(words)?;
    let (name, at) = target;
    let id = argument(id, "mirror_id").map(Value::I32)?;
    let to = argument(to, name).map(Value::I32)?;
    switch.tell("simple_switch:mirroring_session_add", [id, Value::structure([(at, to)])])
}

fn mirroring_delete(switch: &mut Session, words: &[&str]) -> Outcome {
    let [id] = exactly(words)?;
    let id = argument(id, "mirror_id").map(Value::I32)?;
    switch.tell("simple_switch:mirroring_session_delete", [id])
}

/// A field as Python shows it.
fn or_none(fields: &Fields, id: i16) -> String {
    fields.get(&id).map_or_else(|| "None".to_owned(), show)
}

fn mirroring_get(switch: &mut Session, words: &[&str]) -> Outcome {
    let [id] = exactly(words)?;
    let id = argument(id, "mirror_id").map(Value::I32)?;
    if let Value::Struct(session) = switch.ask("simple_switch:mirroring_session_get", [id])? {
        let (port, group) = (or_none(&session, 1), or_none(&session, 2));
        switch.say(format!("MirroringSessionConfig(port={port}, mgid={group})"));
    }
    Ok(())
}

fn time(switch: &mut Session, call: &str) -> Outcome {
    let time = switch.ask(call, [])?;
    switch.say(show(&time));
    Ok(())
}

fn switch_info(switch: &mut Session, words: &[&str]) -> Outcome {
    let [] = exactly(words)?;
    if let Value::Struct(info) = switch.ask("standard:bm_mgmt_get_info", [])? {
        let names = ["device_id", "thrift_port", "notifications_socket", "elogger_socket", "debugger_socket"];
        for (id, name) in (1..).zip(names) {
            switch.say(format!("{name:25}: {}", or_none(&info, id)));
        }
    }
    Ok(())
}

fn reset_state(switch: &mut Session, words: &[&str]) -> Outcome {
    let [] = exactly(words)?;
    switch.tell("standard:bm_reset_state", [])
}

fn load_config(switch: &mut Session, words: &[&str]) -> Outcome {
    let [path] = exactly(words)?;
    if !Path::new(path).is_file() {
        return Err(Failure::error("Not a valid filename"));
    }
    switch.say("Loading new Json config");
    let text = fs::read_to_string(path).map_err(|error| Failure::error(format!("{path}: {error}")))?;
    let program = serde_json::from_str::<serde_json::Value>(&text);
    program.map_err(|_| Failure::error("Not a valid JSON file"))?;
    switch.tell("standard:bm_load_new_config", [Value::text(text.clone())])?;
    switch.follow(&text).map(|_| ())
}

fn swap_configs(switch: &mut Session) -> Outcome {
    switch.say("Swapping configs");
    switch.tell("standard:bm_swap_configs", [])
}

/// Writes what a call gives to a file.
fn write_answer(switch: &mut Session, words: &[&str], call: &str) -> Outcome {
    let [path] = exactly(words)?;
    let text = show(&switch.ask(call, [])?);
    fs::write(path, text).map_err(|error| Failure::error(format!("{path}: {error}")))
}
