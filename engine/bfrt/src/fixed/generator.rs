//! `pktgen.*`: applications of the packet generator, its buffer and its ports.

use p4cc_ir::Bits;
use p4cc_p4runtime::errors::Failure;
use p4cc_switch::chip::{App, GeneratorPort, PIPES, Trigger};

use super::rows::{Change, FixedEntry, KEPT, RowKey, Rule, id_of, key_number};
use crate::fields::Value;
use crate::schema::Table;
use crate::target::{ALL_PIPES, Target};

/// Bytes of a pattern.
const PATTERN_BYTES: usize = 16;

/// The rule of a table, by its name without the chip's prefix.
pub fn rule(name: &str) -> Option<Rule> {
    Some(match name {
        "pktgen.app_cfg" => Rule { effect: set_app, live: app_state, ..KEPT },
        "pktgen.pkt_buffer" => Rule { effect: write_buffer, ..KEPT },
        "pktgen.port_cfg" => Rule { effect: set_port, ..KEPT },
        "pktgen.port_mask" => Rule { effect: set_mask, ..KEPT },
        "pktgen.port_down_replay" => KEPT,
        _ => return None,
    })
}

/// The pipes that a request is for.
fn pipes(target: &Target<'_>) -> Result<Vec<u8>, Failure> {
    match target.scope.pipe {
        ALL_PIPES => Ok((0..PIPES).collect()),
        pipe => match u8::try_from(pipe) {
            Ok(pipe) if pipe < PIPES => Ok(vec![pipe]),
            _ => Err(Failure::invalid(format!("there is no pipe {pipe}; the chip has 0 to {}", PIPES - 1))),
        },
    }
}

fn number_of<T: TryFrom<u64>>(table: &Table, row: &FixedEntry, name: &str) -> Result<T, Failure> {
    let value = row.number(id_of(table, name));
    T::try_from(value)
        .map_err(|_| Failure::invalid(format!("table {}: {name} is {value}, which is too large", table.name)))
}

fn set_app(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let table = change.table;
    let number = change.number(0);
    // The generator's header has as many bits for it as the chip has applications.
    let id = u8::try_from(number).ok().filter(|_| number < table.size).ok_or_else(|| {
        let last = table.size.saturating_sub(1);
        Failure::invalid(format!("table {}: there is no application {number}, only 0 to {last}", table.name))
    })?;
    let now = target.now;
    for pipe in pipes(target)? {
        let old = target.switch.observation().chip().generator.app(pipe, id).cloned().unwrap_or_default();
        let app = match change.new {
            Some(new) => app(table, new, change.given, &old)?,
            None => App::default(),
        };
        target.switch.control().chip_mut().generator.set_app(now, pipe, id, app)?;
    }
    Ok(())
}

fn app(table: &Table, row: &FixedEntry, given: &[u32], old: &App) -> Result<App, Failure> {
    let flag = |name: &str| row.flag(id_of(table, name));
    let has = |name: &str| given.contains(&id_of(table, name));
    let source = id_of(table, "pipe_local_source_port");
    let source_port = match given.contains(&source) {
        true => Some(number_of::<u8>(table, row, "pipe_local_source_port")?),
        false => old.source_port,
    };
    // Counts go on unless they are written.
    let count = |name: &str, old: u64| if has(name) { row.number(id_of(table, name)) } else { old };
    Ok(App {
        trigger: trigger(table, row)?,
        enabled: flag("app_enable"),
        length_bytes: number_of(table, row, "pkt_len")?,
        offset_bytes: number_of(table, row, "pkt_buffer_offset")?,
        source_port,
        increments_source_port: flag("increment_source_port"),
        last_batch: number_of(table, row, "batch_count_cfg")?,
        last_packet: number_of(table, row, "packets_per_batch_cfg")?,
        batch_gap_ns: number_of(table, row, "ibg")?,
        batch_jitter_ns: number_of(table, row, "ibg_jitter")?,
        packet_gap_ns: number_of(table, row, "ipg")?,
        packet_jitter_ns: number_of(table, row, "ipg_jitter")?,
        channel: number_of(table, row, "assigned_chnl_id")?,
        triggers: count("trigger_counter", old.triggers),
        batches: count("batch_counter", old.batches),
        packets: count("pkt_counter", old.packets),
    })
}

fn trigger(table: &Table, row: &FixedEntry) -> Result<Trigger, Failure> {
    let Some(action) = table.action(row.action) else { return Ok(Trigger::None) };
    let timer_ns = number_of(table, row, "timer_nanosec")?;
    let pattern = |name: &str| pattern(table, row, name);
    Ok(match action.name.as_str() {
        "trigger_timer_one_shot" => Trigger::OneShot { timer_ns },
        "trigger_timer_periodic" => Trigger::Periodic { timer_ns },
        "trigger_port_down" => Trigger::PortDown { mask: number_of(table, row, "port_mask_sel")? },
        "trigger_recirc_pattern" => {
            Trigger::Recirculation { value: pattern("pattern_value"), mask: pattern("pattern_mask") }
        }
        "trigger_dprsr" => {
            Trigger::Deparser { value: pattern("pattern_value"), mask: pattern("pattern_mask") }
        }
        other => {
            return Err(Failure::unimplemented(format!(
                "table {}: {other} is not done; the model has timers, ports that go down and patterns",
                table.name
            )));
        }
    })
}

/// The first bytes of a packet, as the number is written.
fn pattern(table: &Table, row: &FixedEntry, name: &str) -> [u8; PATTERN_BYTES] {
    let mut out = [0; PATTERN_BYTES];
    if let Some(Value::Number(value)) = row.data.get(&id_of(table, name)) {
        let bytes = value.to_be_bytes();
        let length = bytes.len().min(PATTERN_BYTES);
        out[..length].copy_from_slice(&bytes[..length]);
    }
    out
}

/// Counts of the pipes that are asked for, added up.
fn app_state(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let (Ok(pipes), Ok(id)) = (pipes(target), u8::try_from(key_number(key, 0))) else { return };
    let apps = || pipes.iter().filter_map(|pipe| target.switch.observation().chip().generator.app(*pipe, id));
    // Clients write them as they like; they go round like each of them.
    let all = |count: fn(&App) -> u64| apps().map(count).fold(0, u64::wrapping_add);
    for (name, count) in [
        ("trigger_counter", all(|app| app.triggers)),
        ("batch_counter", all(|app| app.batches)),
        ("pkt_counter", all(|app| app.packets)),
    ] {
        row.data.insert(id_of(table, name), Value::Number(Bits::from_u128(64, count.into())));
    }
}

fn write_buffer(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let table = change.table;
    let (offset, size) = (change.number(0), change.number(1));
    let Some(new) = change.new else { return Ok(()) };
    let bytes = new.numbers(id_of(table, "buffer"));
    if bytes.len() as u64 != size {
        return Err(Failure::invalid(format!(
            "table {}: pkt_buffer_size is {size}, but buffer has {} bytes",
            table.name,
            bytes.len()
        )));
    }
    let bytes: Result<Vec<u8>, _> = bytes.iter().map(|byte| u8::try_from(*byte)).collect();
    let bytes = bytes
        .map_err(|_| Failure::invalid(format!("table {}: buffer holds numbers above 255", table.name)))?;
    let offset = usize::try_from(offset).unwrap_or(usize::MAX / 2);
    for pipe in pipes(target)? {
        target.switch.control().chip_mut().generator.write_buffer(pipe, offset, &bytes)?;
    }
    Ok(())
}

fn set_port(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let port = u32::try_from(change.number(0)).unwrap_or(u32::MAX);
    let flag = |name| change.new.is_some_and(|new| new.flag(id_of(change.table, name)));
    let known = GeneratorPort {
        generates: flag("pktgen_enable"),
        matches_pattern: flag("pattern_matching_enable"),
        recirculates: flag("recirculation_enable"),
    };
    let generator = &mut target.switch.control().chip_mut().generator;
    if flag("clear_port_down_enable") {
        generator.clear_port_down(port);
    }
    Ok(generator.set_port(port, known)?)
}

fn set_mask(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let mask = u8::try_from(change.number(0)).unwrap_or(u8::MAX);
    let bits = match change.new.and_then(|new| new.data.get(&id_of(change.table, "mask"))) {
        Some(Value::Number(bits)) => bits.clone(),
        _ => Bits::zero(72),
    };
    let ports = (0..bits.width()).filter(|at| !bits.slice(*at, 1).is_zero()).collect();
    Ok(target.switch.control().chip_mut().generator.set_port_mask(mask, ports)?)
}
