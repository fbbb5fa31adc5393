//! The traffic manager: rates of ports and queues, the order of queues, where refused packets go, and its
//! counters. What the switch has no counterpart of is kept and read back; what would have to shape and cannot
//! is refused.

use std::collections::BTreeSet;

use p4cc_p4runtime::errors::Failure;
use p4cc_switch::chip::{Deflection, PIPES};
use p4cc_switch::{MAX_WEIGHT, SchedulerConfig, ShaperConfig};
use p4cc_units::Rate;

use super::device::chip_of;
use super::ports::rate_of;
use super::rows::{Change, ENTRIES, FixedEntry, KEPT, RowKey, Rule, id_of, key_number, unset_row};
use crate::fields::Value;
use crate::schema::{Chip, Table};
use crate::target::{ALL_PIPES, QUEUES, Target};

/// Ports of a pipe that have queues.
const PORTS_OF_A_PIPE: u32 = 72;

/// The rule of a table of the traffic manager, by its name without the chip's prefix; none of what is not
/// done.
pub fn rule(name: &str) -> Option<Rule> {
    let read_only = |live| Rule { live, ..KEPT };
    let with = |effect| Rule { effect, ..KEPT };
    Some(match name {
        "tm.port.sched_cfg" | "tm.port.sched_shaping" => with(shape_port),
        "tm.queue.sched_cfg" => Rule { effect: configure_queue, ..read_only(queue_order) },
        "tm.queue.sched_shaping" => with(shape_queue),
        "tm.pipe.cfg" => Rule { effect: configure_pipe, ..read_only(pipe_layout) },
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

/// Port and queue, where the switch has the queue: Tofino 2 has more for a port.
fn own_queue_of(target: &Target<'_>, table: &Table, key: &RowKey) -> Result<(u32, u8), Failure> {
    let (port, queue) = queue_of(target, table, key)?;
    match u8::try_from(queue) {
        Ok(own) if usize::from(own) < QUEUES => Ok((port, own)),
        _ => Err(Failure::unimplemented(format!(
            "table {}: queue {queue} of port {port} is not done; a port of this switch has queues 0 to {}",
            table.name,
            QUEUES - 1
        ))),
    }
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
    /// Packets, or bytes.
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

/// Level and share of a queue, then whether it has a greatest rate.
fn configure_queue(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let (port, queue) = own_queue_of(target, change.table, change.key)?;
    let before = scheduler_of(target, port);
    let mut after = before;
    let (at, usual) = (usize::from(queue), SchedulerConfig::default());
    let (priority, weight) = (id_of(change.table, "max_priority"), id_of(change.table, "dwrr_weight"));
    match change.new {
        None => (after.levels[at], after.weights[at]) = (usual.levels[at], usual.weights[at]),
        Some(new) => {
            if change.given.contains(&priority) {
                after.levels[at] = level_of(new.text(priority));
            }
            if change.given.contains(&weight) {
                after.weights[at] = weight_of(change.table, new.number(weight))?;
            }
        }
    }
    // Turns begin anew by a change, so there is none where nothing changes.
    if after != before {
        let set = target.switch.control().set_scheduler(port, after);
        set.map_err(|error| Failure::invalid(format!("table {}: {error}", change.table.name)))?;
    }
    shape_queue(target, change)
}

fn scheduler_of(target: &Target<'_>, port: u32) -> SchedulerConfig {
    let ports = &target.switch.config().ports;
    ports.iter().find(|of| of.port == port).map_or_else(SchedulerConfig::default, |of| of.scheduler)
}

/// A priority of the chip as a level; it names the lowest and the highest in two ways.
fn level_of(priority: &str) -> u8 {
    match priority {
        "LOW" => 0,
        "HIGH" => 7,
        number => number.parse().unwrap_or(0),
    }
}

fn weight_of(table: &Table, weight: u64) -> Result<u16, Failure> {
    match u16::try_from(weight) {
        Ok(0) => Err(Failure::unimplemented(format!(
            "table {}: dwrr_weight 0 takes a queue out of the turns, which is not done; give 1 to {MAX_WEIGHT}",
            table.name
        ))),
        Ok(weight) if weight <= MAX_WEIGHT => Ok(weight),
        _ => Err(Failure::invalid(format!(
            "table {}: dwrr_weight is {weight}, and the chip has 10 bits; give 1 to {MAX_WEIGHT}",
            table.name
        ))),
    }
}

fn queue_order(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let Ok((port, queue)) = own_queue_of(target, table, key) else { return };
    let (scheduler, at) = (scheduler_of(target, port), usize::from(queue));
    row.data.insert(id_of(table, "max_priority"), Value::Text(scheduler.levels[at].to_string()));
    row.set_number(table, id_of(table, "dwrr_weight"), scheduler.weights[at].into());
}

/// The pipes that a target is for.
fn pipes_of(target: &Target<'_>, table: &Table) -> Result<std::ops::Range<u8>, Failure> {
    match u8::try_from(target.scope.pipe) {
        Ok(pipe) if pipe < PIPES => Ok(pipe..pipe + 1),
        _ if target.scope.pipe == ALL_PIPES => Ok(0..PIPES),
        _ => Err(Failure::invalid(format!(
            "table {}: there is no pipe {}; give 0 to {}",
            table.name,
            target.scope.pipe,
            PIPES - 1
        ))),
    }
}

/// Where packets go whose queue is full, if their program deflects them. The port need not be one of the
/// switch: those that lead back to ingress are not.
fn configure_pipe(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let table = change.table;
    let chip = chip_of(table);
    let id = |name| Some(id_of(table, name)).filter(|id| change.given.contains(id));
    let place = match (id("mirror_drop_pg_id"), id("mirror_drop_pg_queue"), change.new) {
        (Some(group), Some(at), Some(new)) => Some((new.number(group) as u32, new.number(at) as u32)),
        (None, None, _) | (_, _, None) => None,
        _ => {
            return Err(Failure::invalid(format!(
                "table {}: give mirror_drop_pg_id and mirror_drop_pg_queue together",
                table.name
            )));
        }
    };
    let (ports, queues) = (ports_of_a_group(chip), queues_of_a_port(chip));
    if let Some((group, at)) = place
        && (group >= PORTS_OF_A_PIPE / ports || at >= ports * queues)
    {
        return Err(Failure::invalid(format!(
            "table {}: the chip has no queue {at} of port group {group}; groups are 0 to {}, queues 0 to {}",
            table.name,
            PORTS_OF_A_PIPE / ports - 1,
            ports * queues - 1
        )));
    }
    for pipe in pipes_of(target, table)? {
        let tables = target.switch.control().chip_mut();
        let Some(new) = change.new else {
            tables.set_deflection(pipe, None)?;
            target.kept.fixed.deflection_switched.remove(&pipe);
            continue;
        };
        let mut to = tables.deflection(pipe);
        if let Some((group, at)) = place {
            // On Tofino 1 a destination is all there is; Tofino 2 deflects unless a client switched it off.
            let enabled = to.enabled || !target.kept.fixed.deflection_switched.contains(&pipe);
            let port = u32::from(pipe) << 7 | (group * ports + at / queues);
            to = Deflection { port, queue: at % queues, enabled };
        }
        if let Some(enable) = id("mirror_drop_enable") {
            to.enabled = new.flag(enable);
            target.kept.fixed.deflection_switched.insert(pipe);
        }
        if place.is_some() || id("mirror_drop_enable").is_some() {
            tables.set_deflection(pipe, Some(to))?;
        }
    }
    Ok(())
}

fn pipe_layout(target: &Target<'_>, table: &Table, _: &RowKey, row: &mut FixedEntry) {
    let chip = chip_of(table);
    let Some(pipe) = pipes_of(target, table).ok().and_then(|mut pipes| pipes.next()) else { return };
    let to = target.switch.observation().chip().deflection(pipe);
    let (ports, queues) = (ports_of_a_group(chip), queues_of_a_port(chip));
    let at = to.port & 0x7f;
    for (name, number) in [
        ("mirror_drop_pg_id", at / ports),
        ("mirror_drop_pg_queue", at % ports * queues + to.queue),
        ("mirror_drop_dev_port", to.port),
        ("mirror_drop_queue_nr", to.queue),
    ] {
        row.set_number(table, id_of(table, name), number.into());
    }
    if let id @ 1.. = id_of(table, "mirror_drop_enable") {
        row.data.insert(id, Value::Bool(to.enabled));
    }
}

fn shape_queue(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let (port, queue) = own_queue_of(target, change.table, change.key)?;
    let Some(most) = greatest_rate(target, change) else { return Ok(()) };
    let mut control = target.switch.control();
    if most.unit == "PPS" {
        control.set_queue_rate_pps(port, Some(queue), most.on.then_some(most.rate));
        return Ok(());
    }
    // The rate is in kbit/s, the burst in bytes.
    let shaper = most.on.then(|| ShaperConfig {
        rate: Rate::from_bps(most.rate.saturating_mul(1_000)),
        burst_bytes: u32::try_from(most.burst).unwrap_or(u32::MAX),
    });
    control.set_queue_shaper(port, Some(queue), shaper);
    Ok(())
}

fn port_layout(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
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
    let port = key_number(key, 0) as u32;
    let to = target.switch.observation().chip().deflection((port >> 7 & 3) as u8);
    let is_destination = to.enabled && to.port == port;
    row.data.insert(id_of(table, "mirror_drop_destination"), Value::Bool(is_destination));
    if is_destination {
        let queue = own * queues + to.queue;
        row.set_number(table, id_of(table, "mirror_drop_pg_queue"), queue.into());
    }
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
