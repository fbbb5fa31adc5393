//! The traffic manager: rates of ports and queues, and its counters. What the switch has no counterpart of is
//! kept and read back; what would have to shape and cannot is refused.

use std::collections::BTreeSet;

use p4cc_p4runtime::errors::Failure;
use p4cc_switch::ShaperConfig;
use p4cc_units::Rate;

use super::device::chip_of;
use super::ports::rate_of;
use super::rows::{Change, ENTRIES, FixedEntry, KEPT, RowKey, Rule, id_of, key_number, unset_row};
use crate::fields::Value;
use crate::schema::{Chip, Table};
use crate::target::{ALL_PIPES, Target};

/// Queues of a port here.
const QUEUES: u32 = 8;

/// The rule of a table of the traffic manager, by its name without the chip's prefix; none of what is not
/// done.
pub fn rule(name: &str) -> Option<Rule> {
    let read_only = |live| Rule { live, ..KEPT };
    let with = |effect| Rule { effect, ..KEPT };
    Some(match name {
        "tm.port.sched_cfg" | "tm.port.sched_shaping" => with(shape_port),
        "tm.queue.sched_cfg" | "tm.queue.sched_shaping" => with(shape_queue),
        "tm.port.cfg" => read_only(port_layout),
        "tm.queue.map" => read_only(queue_layout),
        "tm.counter.eg_port" => Rule { effect: clear_counter, ..read_only(port_counter) },
        "tm.counter.queue" => Rule { effect: clear_counter, ..read_only(queue_counter) },
        "tm.cfg" => read_only(device_layout),
        "tm.ppg.cfg" => ENTRIES,
        "tm.pool.cfg"
        | "tm.pool.skid"
        | "tm.pool.app"
        | "tm.pool.color"
        | "tm.pool.app_pfc"
        | "tm.port.buffer"
        | "tm.port.flowcontrol"
        | "tm.port.group_cfg"
        | "tm.port.group"
        | "tm.port.dpg"
        | "tm.mirror.dpg"
        | "tm.queue.cfg"
        | "tm.queue.color"
        | "tm.queue.buffer"
        | "tm.pipe.cfg"
        | "tm.pipe.multicast_fifo"
        | "tm.pipe.sched_cfg"
        | "tm.l1_node.sched_cfg"
        | "tm.l1_node.sched_shaping" => KEPT,
        _ => return None,
    })
}

/// Ports of a group, which share its queues.
fn ports_of_a_group(chip: Chip) -> u32 {
    match chip {
        Chip::Tofino1 => 4,
        Chip::Tofino2 => 8,
    }
}

/// Queues that a port of the chip has of its group.
fn queues_of_a_port(chip: Chip) -> u32 {
    match chip {
        Chip::Tofino1 => 8,
        Chip::Tofino2 => 16,
    }
}

/// Bytes of a cell of the buffer.
fn cell_bytes(chip: Chip) -> u64 {
    match chip {
        Chip::Tofino1 => 80,
        Chip::Tofino2 => 176,
    }
}

/// Port and queue of a group's queue; the pipe is the target's.
fn queue_of(target: &Target<'_>, table: &Table, key: &RowKey) -> Result<(u32, u32), Failure> {
    let chip = chip_of(table);
    let (group, at) = (key_number(key, 0) as u32, key_number(key, 1) as u32);
    let (ports, queues) = (ports_of_a_group(chip), queues_of_a_port(chip));
    let pipe = if target.scope.pipe == ALL_PIPES { 0 } else { target.scope.pipe };
    let port = pipe << 7 | (group * ports + at / queues);
    if at >= ports * queues || pipe > 3 || !target.switch.has_port(port) {
        return Err(Failure::invalid(format!(
            "table {}: queue {at} of port group {group} in pipe {pipe} is of no port of the switch",
            table.name
        )));
    }
    Ok((port, at % queues))
}

/// The other table that says how a port or queue is shaped.
fn sibling<'a>(target: &Target<'a>, table: &Table, ours: &str, theirs: &str) -> Option<&'a Table> {
    let name = table.name.replace(ours, theirs);
    let schema: &'a crate::schema::Schema = target.schema;
    schema.tables.iter().find(|other| other.name == name)
}

/// What a port or a queue sends at most.
struct GreatestRate {
    /// Whether it has such a rate at all.
    on: bool,
    /// `PPS` or `BPS`.
    unit: String,
    /// Packets, or kbit, a second.
    rate: u64,
    /// Packets, or kbit.
    burst: u64,
}

/// The greatest rate of what two tables say.
fn greatest_rate(target: &Target<'_>, change: &Change<'_>) -> Option<GreatestRate> {
    let configures = change.table.name.ends_with("sched_cfg");
    let other = match configures {
        true => sibling(target, change.table, "sched_cfg", "sched_shaping")?,
        false => sibling(target, change.table, "sched_shaping", "sched_cfg")?,
    };
    let unset = unset_row(other, None);
    let kept = target.kept.fixed.rows.get(other.id, change.key).unwrap_or(&unset);
    let own_unset = unset_row(change.table, None);
    let own = change.new.unwrap_or(&own_unset);
    let ((config, config_row), (shaping, shaping_row)) = match configures {
        true => ((change.table, own), (other, kept)),
        false => ((other, kept), (change.table, own)),
    };
    Some(GreatestRate {
        on: config_row.flag(id_of(config, "max_rate_enable")),
        unit: shaping_row.text(id_of(shaping, "unit")).to_owned(),
        rate: shaping_row.number(id_of(shaping, "max_rate")),
        burst: shaping_row.number(id_of(shaping, "max_burst_size")),
    })
}

/// The rate is in kbit/s; a port without one sends at its speed.
fn shape_port(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let port = change.number(0) as u32;
    let Some(GreatestRate { on, unit, rate, .. }) = greatest_rate(target, change) else { return Ok(()) };
    if !target.switch.has_port(port) {
        return Err(Failure::invalid(format!("table {}: the switch has no port {port}", change.table.name)));
    }
    if on && unit != "BPS" {
        return Err(Failure::unimplemented(format!(
            "table {}: port {port} is shaped in packets per second, which is not done; give unit BPS",
            change.table.name
        )));
    }
    let rate = if on { Rate::from_bps(rate.saturating_mul(1_000)) } else { speed_of(target, port) };
    if rate.as_bps() > 0 {
        target.switch.control().set_port_rate(port, rate);
    }
    Ok(())
}

/// What `$PORT` says, or what the switch was started with.
fn speed_of(target: &Target<'_>, port: u32) -> Rate {
    let table = target.schema.tables.iter().find(|table| table.name == "$PORT");
    let written = table.and_then(|table| {
        let mut rows = target.kept.fixed.rows.of(table.id);
        let (_, row) = rows.find(|(key, _)| key_number(key, 0) == u64::from(port))?;
        rate_of(row.text(id_of(table, "$SPEED")))
    });
    let started = || target.switch.config().ports.iter().find(|of| of.port == port).map(|of| of.rate);
    written.or_else(started).unwrap_or(Rate::from_bps(0))
}

fn shape_queue(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let (port, queue) = queue_of(target, change.table, change.key)?;
    let Some(most) = greatest_rate(target, change) else { return Ok(()) };
    // Queues beyond those of a port here share the last ones.
    let priority = u8::try_from(queue % QUEUES).unwrap_or(0);
    let mut control = target.switch.control();
    if most.unit == "PPS" {
        control.set_queue_rate_pps(port, Some(priority), most.on.then_some(most.rate));
        return Ok(());
    }
    // The rate is in kbit/s, the burst in kbit.
    let shaper = most.on.then(|| ShaperConfig {
        rate: Rate::from_bps(most.rate.saturating_mul(1_000)),
        burst_bytes: u32::try_from(most.burst.saturating_mul(125)).unwrap_or(u32::MAX),
    });
    control.set_queue_shaper(port, Some(priority), shaper);
    Ok(())
}

fn port_layout(_: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let chip = chip_of(table);
    let (ports, queues) = (ports_of_a_group(chip), queues_of_a_port(chip));
    let at = key_number(key, 0) as u32 & 0x7f;
    let own = at % ports;
    for (name, number) in [("pg_id", at / ports), ("pg_port_nr", own), ("port_queues_count", queues)] {
        row.set_number(table, id_of(table, name), number.into());
    }
    row.data.insert(id_of(table, "ingress_qid_map"), Value::Numbers((0..queues).collect()));
    let of_group = (own * queues..(own + 1) * queues).collect();
    row.data.insert(id_of(table, "egress_qid_queues"), Value::Numbers(of_group));
}

fn queue_layout(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let Ok((port, queue)) = queue_of(target, table, key) else { return };
    let last = queues_of_a_port(chip_of(table)) - 1;
    for (name, number) in
        [("dev_port", port), ("queue_nr", queue), ("ingress_qid_max", last), ("ingress_qid_count", 1)]
    {
        row.set_number(table, id_of(table, name), number.into());
    }
    row.data.insert(id_of(table, "ingress_qid_list"), Value::Numbers(vec![queue]));
}

fn device_layout(target: &Target<'_>, table: &Table, _: &RowKey, row: &mut FixedEntry) {
    let cell = cell_bytes(chip_of(table));
    row.set_number(table, id_of(table, "cell_size_bytes"), cell);
    let buffer = target.switch.config().buffer.map_or(0, |buffer| buffer.bytes);
    row.set_number(table, id_of(table, "total_cells"), buffer / cell);
}

/// What was counted when a counter was last set, is taken off; only 0 can be written where the chip allows
/// no more.
fn clear_counter(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let known: BTreeSet<u32> = change.given.iter().copied().collect();
    let Some(new) = change.new else { return Ok(()) };
    let drops = id_of(change.table, "drop_count_packets");
    if known.iter().any(|id| *id != drops && new.number(*id) != 0) {
        return Err(Failure::invalid(format!(
            "table {}: only 0 can be written to a watermark",
            change.table.name
        )));
    }
    let live = match change.table.name.ends_with("queue") {
        true => {
            let (port, queue) = queue_of(target, change.table, change.key)?;
            drops_of(target, port, Some(queue))
        }
        false => drops_of(target, change.number(0) as u32, None),
    };
    if known.contains(&drops) {
        let offset = new.number(drops).wrapping_sub(live);
        target.kept.fixed.drop_offsets.insert((change.table.id, change.key.clone()), offset);
    }
    Ok(())
}

fn drops_of(target: &Target<'_>, port: u32, queue: Option<u32>) -> u64 {
    let counters = target.switch.observation().port_counters(port).unwrap_or_default();
    match queue {
        None => counters.dropped(),
        Some(queue) => counters.queues.get(queue as usize).map_or(0, |queue| queue.dropped.total()),
    }
}

fn show_drops(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry, live: u64) {
    let offset = target.kept.fixed.drop_offsets.get(&(table.id, key.clone())).copied().unwrap_or(0);
    row.set_number(table, id_of(table, "drop_count_packets"), live.wrapping_add(offset));
}

fn port_counter(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let port = key_number(key, 0) as u32;
    let cell = cell_bytes(chip_of(table));
    show_drops(target, table, key, row, drops_of(target, port, None));
    row.set_number(
        table,
        id_of(table, "usage_cells"),
        target.switch.observation().port_depth_bytes(port).div_ceil(cell),
    );
    let counters = target.switch.observation().port_counters(port).unwrap_or_default();
    let peak = counters.queues.iter().map(|queue| queue.peak_depth_bytes).max().unwrap_or(0);
    row.set_number(table, id_of(table, "watermark_cells"), peak.div_ceil(cell));
}

fn queue_counter(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let Ok((port, queue)) = queue_of(target, table, key) else { return };
    let cell = cell_bytes(chip_of(table));
    show_drops(target, table, key, row, drops_of(target, port, Some(queue)));
    let counters = target.switch.observation().port_counters(port).unwrap_or_default();
    let peak = counters.queues.get(queue as usize).map_or(0, |queue| queue.peak_depth_bytes);
    row.set_number(table, id_of(table, "watermark_cells"), peak.div_ceil(cell));
}
