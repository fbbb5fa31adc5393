//! Commands of meters, counters, registers, value sets and hashes.

use p4cc_thrift::value::Value;

use crate::failure::Failure;
use crate::number::{bytes, hex};
use crate::program::{Kind, name_of, word};
use crate::session::{CONTEXT, Outcome, Session, at_least, exactly, field, handle, number, show, structs};

/// Runs a command of this file; none if it is not one.
pub(crate) fn command(switch: &mut Session, verb: &str, words: &[&str]) -> Option<Outcome> {
    Some(match verb {
        "meter_array_set_rates" => meter_array_set_rates(switch, words),
        "meter_set_rates" => meter_set_rates(switch, words),
        "meter_get_rates" => meter_get_rates(switch, words),
        "counter_read" => counter_read(switch, words),
        "counter_write" => counter_write(switch, words),
        "counter_reset" => counter_reset(switch, words),
        "register_read" => register_read(switch, words),
        "register_write" => register_write(switch, words),
        "register_reset" => register_reset(switch, words),
        "show_pvs" => show_value_sets(switch, words),
        "pvs_add" => change_value_set(switch, words, "standard:bm_parse_vset_add"),
        "pvs_remove" => change_value_set(switch, words, "standard:bm_parse_vset_remove"),
        "pvs_get" => get_value_set(switch, words),
        "pvs_clear" => clear_value_set(switch, words),
        "set_crc16_parameters" => set_crc(switch, words, 16),
        "set_crc32_parameters" => set_crc(switch, words, 32),
        "set_toeplitz_hash_key" => set_toeplitz_key(switch, words),
        _ => return None,
    })
}

/// A meter or a counter: its full name, and the table whose entries have it, if it is direct.
struct Array {
    name: String,
    table: Option<String>,
    rates: usize,
}

fn array(switch: &mut Session, kind: Kind, name: &str) -> Result<Array, Failure> {
    let program = switch.program()?;
    let found = program.named(kind, name)?;
    let direct = found["is_direct"].as_bool() == Some(true);
    Ok(Array {
        name: name_of(found).to_owned(),
        table: direct.then(|| word(found, "binding").to_owned()),
        rates: found["rate_count"].as_u64().or_else(|| rate_count(found)).unwrap_or(0) as usize,
    })
}

/// The number of rates of a meter of PSA: an attribute of its instance.
fn rate_count(instance: &serde_json::Value) -> Option<u64> {
    let attributes = instance["attribute_values"].as_array()?;
    attributes.iter().find(|one| name_of(one) == "rate_count")?["value"].as_u64()
}

/// `RATE:BURST` for each rate of a meter; rates are in units per microsecond.
fn rates(meter: &Array, words: &[&str]) -> Result<Value, Failure> {
    if words.len() != meter.rates {
        let (wanted, given) = (meter.rates, words.len());
        return Err(Failure::error(format!("Invalid number of rates, expected {wanted} but got {given}")));
    }
    let rate = |text: &&str| {
        let (rate, burst) = text.split_once(':')?;
        Some(Value::structure([(1, Value::Double(rate.parse().ok()?)), (2, Value::I32(burst.parse().ok()?))]))
    };
    let rates: Option<Vec<Value>> = words.iter().map(rate).collect();
    rates.map(Value::structs).ok_or_else(|| Failure::error("Error while parsing rates"))
}

fn meter_array_set_rates(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name], given) = at_least(words)?;
    let meter = array(switch, Kind::Meter, name)?;
    let rates = rates(&meter, given)?;
    switch.tell("standard:bm_meter_array_set_rates", [CONTEXT, Value::text(meter.name), rates])
}

fn meter_set_rates(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name, index], given) = at_least(words)?;
    let meter = array(switch, Kind::Meter, name)?;
    let index = handle(index, "index")?;
    let rates = rates(&meter, given)?;
    match meter.table {
        Some(table) => {
            switch.tell("standard:bm_mt_set_meter_rates", [CONTEXT, Value::text(table), index, rates])
        }
        None => switch.tell("standard:bm_meter_set_rates", [CONTEXT, Value::text(meter.name), index, rates]),
    }
}

fn meter_get_rates(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, index] = exactly(words)?;
    let meter = array(switch, Kind::Meter, name)?;
    let index = handle(index, "index")?;
    let rates = match meter.table {
        Some(table) => switch.ask("standard:bm_mt_get_meter_rates", [CONTEXT, Value::text(table), index])?,
        None => switch.ask("standard:bm_meter_get_rates", [CONTEXT, Value::text(meter.name), index])?,
    };
    let rates = structs(&rates);
    if rates.len() != meter.rates {
        let (wanted, given) = (meter.rates, rates.len());
        switch.say(format!("WARNING: expected {wanted} rates but only received {given}"));
    }
    for (at, rate) in rates.iter().enumerate() {
        switch.say(format!("{at}: info rate = {}, burst size = {}", field(rate, 1), field(rate, 2)));
    }
    Ok(())
}

fn counter_read(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, index] = exactly(words)?;
    let counter = array(switch, Kind::Counter, name)?;
    let at = handle(index, "index")?;
    let cell = match counter.table {
        Some(table) => {
            switch.say(format!("this is the direct counter for table {table}"));
            switch.ask("standard:bm_mt_read_counter", [CONTEXT, Value::text(table), at])?
        }
        None => switch.ask("standard:bm_counter_read", [CONTEXT, Value::text(counter.name), at])?,
    };
    if let Value::Struct(cell) = &cell {
        let (bytes, packets) = (field(cell, 1), field(cell, 2));
        switch.say(format!("{name}[{index}]= ({bytes} bytes, {packets} packets)"));
    }
    Ok(())
}

fn counter_write(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, index, packets, bytes] = exactly(words)?;
    let counter = array(switch, Kind::Counter, name)?;
    let at = handle(index, "index")?;
    let packets = number(packets, "Bad format for packets").map(Value::I64)?;
    let bytes = number(bytes, "Bad format for bytes").map(Value::I64)?;
    let cell = Value::structure([(1, bytes), (2, packets)]);
    match counter.table {
        Some(table) => {
            switch.say(format!("writing to direct counter for table {table}"));
            switch.tell("standard:bm_mt_write_counter", [CONTEXT, Value::text(table), at, cell])?;
        }
        None => switch.tell("standard:bm_counter_write", [CONTEXT, Value::text(counter.name), at, cell])?,
    }
    switch.say(format!("{name}[{index}] has been updated"));
    Ok(())
}

fn counter_reset(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let counter = array(switch, Kind::Counter, name)?;
    match counter.table {
        Some(table) => {
            switch.say(format!("this is the direct counter for table {table}"));
            switch.tell("standard:bm_mt_reset_counters", [CONTEXT, Value::text(table)])
        }
        None => switch.tell("standard:bm_counter_reset_all", [CONTEXT, Value::text(counter.name)]),
    }
}

fn register(switch: &mut Session, name: &str) -> Result<Value, Failure> {
    Ok(Value::text(name_of(switch.program()?.named(Kind::Register, name)?)))
}

fn register_read(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([name], rest) = at_least(words)?;
    let register = register(switch, name)?;
    let Some(&index) = rest.first() else {
        eprintln!("register index omitted, reading entire array");
        let cells = switch.ask("standard:bm_register_read_all", [CONTEXT, register])?;
        switch.say(format!("{name}= {}", show(&cells)));
        return Ok(());
    };
    let [_, _] = exactly(words)?;
    let cell = switch.ask("standard:bm_register_read", [CONTEXT, register, handle(index, "index")?])?;
    switch.say(format!("{name}[{index}]= {}", show(&cell)));
    Ok(())
}

fn register_write(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, index, value] = exactly(words)?;
    let register = register(switch, name)?;
    let index = handle(index, "index")?;
    let value = number(value, "Bad format for value, must be an integer").map(Value::I64)?;
    switch.tell("standard:bm_register_write", [CONTEXT, register, index, value])
}

fn register_reset(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let register = register(switch, name)?;
    switch.tell("standard:bm_register_reset", [CONTEXT, register])
}

fn show_value_sets(switch: &mut Session, words: &[&str]) -> Outcome {
    let [] = exactly(words)?;
    for set in switch.program()?.sorted(Kind::ValueSet) {
        switch.say(format!("{:30} [compressed bitwidth:{}]", name_of(set), set["compressed_bitwidth"]));
    }
    Ok(())
}

fn value_set(switch: &mut Session, name: &str) -> Result<(Value, u32), Failure> {
    let program = switch.program()?;
    let set = program.named(Kind::ValueSet, name)?;
    let width = set["compressed_bitwidth"].as_u64().and_then(|width| u32::try_from(width).ok());
    Ok((Value::text(name_of(set)), width.unwrap_or(0)))
}

fn change_value_set(switch: &mut Session, words: &[&str], call: &str) -> Outcome {
    let [name, value] = exactly(words)?;
    let (set, width) = value_set(switch, name)?;
    let value = bytes(value, width).map_err(Failure::error)?;
    switch.tell(call, [CONTEXT, set, Value::String(value)])
}

fn get_value_set(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let (set, _) = value_set(switch, name)?;
    if let Value::List(_, members) = switch.ask("standard:bm_parse_vset_get", [CONTEXT, set])? {
        for member in members {
            switch.say(if let Value::String(bytes) = &member { hex(bytes) } else { show(&member) });
        }
    }
    Ok(())
}

fn clear_value_set(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name] = exactly(words)?;
    let (set, _) = value_set(switch, name)?;
    switch.tell("standard:bm_parse_vset_clear", [CONTEXT, set])
}

fn truth(word: &str) -> Result<Value, Failure> {
    match word {
        "true" | "True" => Ok(Value::Bool(true)),
        "false" | "False" => Ok(Value::Bool(false)),
        _ => bytes(word, 32)
            .map(|value| Value::Bool(value != [0; 4]))
            .map_err(|_| Failure::error("Invalid bool parameter")),
    }
}

/// Polynomial, initial remainder, final exclusive or, and whether data and remainder are reflected.
fn set_crc(switch: &mut Session, words: &[&str], width: u32) -> Outcome {
    let [name, polynomial, initial, last, data, remainder] = exactly(words)?;
    if !switch.program()?.has_crc(name, width) {
        return Err(Failure::error(format!("Invalid crc{width}_custom name ({name})")));
    }
    // Thrift knows signed numbers only.
    let part = |word: &str| {
        let bytes = bytes(word, width)
            .map_err(|_| Failure::error(format!("Integer cannot fit within {width} bits")))?;
        Ok(match bytes[..] {
            [a, b] => Value::I16(i16::from_be_bytes([a, b])),
            [a, b, c, d] => Value::I32(i32::from_be_bytes([a, b, c, d])),
            _ => return Err(Failure::error("Invalid number")),
        })
    };
    let config = Value::structure([
        (1, part(polynomial)?),
        (2, part(initial)?),
        (3, part(last)?),
        (4, truth(data)?),
        (5, truth(remainder)?),
    ]);
    let call = format!("standard:bm_set_crc{width}_custom_parameters");
    switch.tell(&call, [CONTEXT, Value::text(name), config])
}

fn set_toeplitz_key(switch: &mut Session, words: &[&str]) -> Outcome {
    let [name, key] = exactly(words)?;
    let digits: Option<Vec<u32>> = key.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0);
    let digits = digits.ok_or_else(|| Failure::error("Toeplitz hash key must be a hex string"))?;
    if digits.len() % 8 != 0 {
        return Err(Failure::error("Toeplitz hash key must be a multiple of 4 bytes in length"));
    }
    let key = digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect();
    switch.tell("standard:bm_set_toeplitz_hash_key", [CONTEXT, Value::text(name), Value::String(key)])
}
