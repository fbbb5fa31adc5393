//! Snapshots: which packet's values are to be kept, and what was kept.
//!
//! `snapshot.cfg` says which stages belong together, a trigger's entry what the packet must look like, and
//! the data are read for each of these stages. The switch knows no stages: each has the values behind the
//! control. What tables did on the way is not kept.

use p4cc_ir::{Bits, ControlView};
use p4cc_p4runtime::errors::Failure;
use p4cc_switch::chip::{PIPES, SnapshotCondition, SnapshotId, SnapshotState};

use super::rows::{Change, ENTRIES, FixedEntry, RowKey, Rule, id_of, key_number, key_of, unset_row};
use crate::fields::{Match, Row, Value};
use crate::schema::{SNAPSHOT_MASK, Table, chip_of};
use crate::tables::needs_key;
use crate::target::{ALL_PIPES, Entry, Target};

const CONFIGURATION: &str = "cfg";
const TRIGGERS: [&str; 2] = ["ingress_trigger", "egress_trigger"];
const DATA: [&str; 2] = ["ingress_data", "egress_data"];
const LIVENESS: [&str; 2] = ["ingress_liveness", "egress_liveness"];

/// The pipe and the last part of a name: `pipe.snapshot.cfg`.
fn parts(table: &Table) -> Option<(&str, &str)> {
    let (pipe, what) = table.name.rsplit_once('.')?;
    Some((pipe.strip_suffix(".snapshot")?, what))
}

/// The rule of a table that is written.
pub fn rule(table: &Table) -> Option<Rule> {
    match parts(table)?.1 {
        CONFIGURATION => Some(Rule { effect: configure, live: captured, ..ENTRIES }),
        what if TRIGGERS.contains(&what) => Some(Rule { effect: arm, live: states, ..ENTRIES }),
        _ => None,
    }
}

/// Reads what was kept, or the stages that a value is seen in; none if it is no such table.
///
/// # Errors
/// No packet was kept, or there is no such value.
pub fn read(target: &Target<'_>, entry: &Entry<'_>) -> Option<Result<Vec<Row>, Failure>> {
    match parts(entry.table)?.1 {
        what if DATA.contains(&what) => Some(read_data(target, entry, what == DATA[1])),
        what if LIVENESS.contains(&what) => Some(read_liveness(target, entry, what == LIVENESS[1])),
        _ => None,
    }
}

/// A table of the same pipe.
fn sibling<'a>(target: &Target<'a>, table: &Table, what: &str) -> Option<&'a Table> {
    let schema: &'a crate::schema::Schema = target.schema;
    let name = format!("{}.snapshot.{what}", parts(table)?.0);
    schema.tables.iter().find(|table| table.name == name)
}

/// The program's pipe of a table, by its place, and the control whose values it shows.
fn control<'a>(target: &Target<'a>, table: &Table, is_egress: bool) -> Option<(u8, &'a ControlView)> {
    let program: &'a p4cc_ir::Program = target.program;
    let tna = program.architecture.tna()?;
    let name = parts(table)?.0;
    let at = tna.view.pipes.iter().position(|pipe| pipe.name == name)?;
    let control = tna.view.pipes[at].controls.iter().find(|control| control.is_egress == is_egress)?;
    Some((at as u8, control))
}

fn snapshot_id(target: &Target<'_>, table: &Table, is_egress: bool, stage: u64) -> Option<SnapshotId> {
    let (pipe, _) = control(target, table, is_egress)?;
    Some(SnapshotId { pipe, is_egress, stage: u32::try_from(stage).ok()? })
}

/// The pipes of the chip in which a snapshot has a packet.
fn full(target: &Target<'_>, id: SnapshotId) -> Vec<u32> {
    let is_full = |pipe: &u8| {
        matches!(target.switch.observation().chip().snapshots.state(id, *pipe), SnapshotState::Full(_))
    };
    (0..PIPES).filter(is_full).map(u32::from).collect()
}

/// Which halves a configuration is for: ingress, egress.
fn halves(table: &Table, row: &FixedEntry) -> [bool; 2] {
    match row.text(id_of(table, "thread")) {
        "INGRESS" => [true, false],
        "EGRESS" => [false, true],
        _ => [true, true],
    }
}

fn configure(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let (table, stages) = (change.table, u64::from(chip_of(target.program).stages()));
    let (start, end) = (change.number(0), change.number(1));
    for what in TRIGGERS {
        let Some(triggers) = sibling(target, table, what) else { continue };
        let mut keys = target.kept.fixed.rows.of(triggers.id).map(|(key, _)| key_number(key, 0));
        if change.new.is_none() && keys.any(|stage| stage == start) {
            return Err(Failure::precondition(format!(
                "table {}: stage {start} has a trigger; delete it in {} first",
                table.name, triggers.name
            )));
        }
    }
    let Some(new) = change.new else { return Ok(()) };
    if start > end || end >= stages {
        return Err(Failure::invalid(format!(
            "table {}: stages {start} to {end} are none of the chip's 0 to {}",
            table.name,
            stages - 1
        )));
    }
    let others = target.kept.fixed.rows.of(table.id).filter(|(key, _)| *key != change.key);
    for (key, other) in others {
        let shares = halves(table, other).iter().zip(halves(table, new)).any(|(a, b)| *a && b);
        if shares && key_number(key, 0) <= end && start <= key_number(key, 1) {
            return Err(Failure::invalid(format!(
                "table {}: stages {start} to {end} are partly those of another snapshot; delete that first",
                table.name
            )));
        }
    }
    if new.flag(id_of(table, "timer_enable")) {
        return Err(Failure::unimplemented(format!("table {}: snapshots by a timer", table.name)));
    }
    if matches!(new.text(id_of(table, "ingress_trigger_mode")), "GHOST" | "INGRESS_GHOST") {
        return Err(Failure::unimplemented(format!("table {}: snapshots of the ghost thread", table.name)));
    }
    Ok(())
}

/// Pipes in which the snapshot has a packet, where there are some.
fn captured(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    row.data.remove(&id_of(table, "ghost_capture"));
    for (is_egress, name) in [(false, "ingress_capture"), (true, "egress_capture")] {
        let pipes = match snapshot_id(target, table, is_egress, key_number(key, 0)) {
            Some(id) if halves(table, row)[usize::from(is_egress)] => full(target, id),
            _ => Vec::new(),
        };
        if pipes.is_empty() {
            row.data.remove(&id_of(table, name));
        } else {
            row.data.insert(id_of(table, name), Value::Numbers(pipes));
        }
    }
}

fn is_of_egress(table: &Table) -> bool {
    parts(table).is_some_and(|(_, what)| what.starts_with("egress"))
}

/// The configuration whose stages hold one, or begin with it.
fn configuration(target: &Target<'_>, table: &Table, fits: impl Fn(u64, u64) -> bool) -> Option<u64> {
    let configurations = sibling(target, table, CONFIGURATION)?;
    let half = usize::from(is_of_egress(table));
    let mut rows = target.kept.fixed.rows.of(configurations.id);
    let found = rows
        .find(|(key, row)| halves(configurations, row)[half] && fits(key_number(key, 0), key_number(key, 1)));
    found.map(|(key, _)| key_number(key, 0))
}

fn arm(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let (table, stage) = (change.table, change.number(0));
    let is_egress = is_of_egress(table);
    let no_control = || Failure::not_found(format!("table {}: the program has no such control", table.name));
    let (_, view) = control(target, table, is_egress).ok_or_else(no_control)?;
    let id = snapshot_id(target, table, is_egress, stage).ok_or_else(no_control)?;
    let Some(new) = change.new else {
        target.switch.control().chip_mut().snapshots.disarm(id);
        return Ok(());
    };
    if configuration(target, table, |start, _| start == stage).is_none() {
        return Err(Failure::not_found(format!(
            "table {}: no snapshot of this thread begins with stage {stage}; add it to snapshot.cfg first",
            table.name
        )));
    }
    if !new.flag(id_of(table, "enable")) {
        target.switch.control().chip_mut().snapshots.disarm(id);
        return Ok(());
    }
    let mut conditions = Vec::new();
    for field in table.data.iter().flat_map(|data| &data.fields) {
        let name = field.name.strip_prefix("trig.");
        let at = name.and_then(|name| view.fields.iter().position(|(known, _)| known == name));
        let Some(place) = at.and_then(|at| view.places.get(at)) else { continue };
        let number = |id: u32| match new.data.get(&id) {
            Some(Value::Number(value)) => Some(value.clone()),
            _ => None,
        };
        if let (Some(value), Some(mask)) = (number(field.id), number(field.id + SNAPSHOT_MASK))
            && !mask.is_zero()
        {
            conditions.push(SnapshotCondition { place: *place, value, mask });
        }
    }
    let wanted = target.scope.pipe;
    let snapshots = &mut target.switch.control().chip_mut().snapshots;
    snapshots
        .arm(id, conditions, view.places.clone(), |pipe| wanted == ALL_PIPES || u32::from(pipe) == wanted);
    Ok(())
}

/// What each pipe does.
fn states(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let id = snapshot_id(target, table, is_of_egress(table), key_number(key, 0));
    let state = |pipe: u8| {
        let state = id.map(|id| target.switch.observation().chip().snapshots.state(id, pipe));
        match state {
            Some(SnapshotState::Armed) => "ARMED",
            Some(SnapshotState::Full(_)) => "FULL",
            Some(SnapshotState::Passive) | None => "PASSIVE",
        }
    };
    let all = (0..PIPES).map(|pipe| state(pipe).to_owned()).collect();
    row.data.insert(id_of(table, "trigger_state"), Value::Texts(all));
}

/// The values that a pipe kept, of a stage.
fn read_data(target: &Target<'_>, entry: &Entry<'_>, is_egress: bool) -> Result<Vec<Row>, Failure> {
    let table = entry.table;
    if entry.key.is_none() {
        return Err(needs_key(entry));
    }
    let key = key_of(entry)?;
    let stage = key_number(&key, 0);
    let nothing = || {
        Failure::not_found(format!(
            "table {}: no packet was kept in stage {stage} of this pipe; ask its trigger's state",
            table.name
        ))
    };
    let start =
        configuration(target, table, |start, end| (start..=end).contains(&stage)).ok_or_else(nothing)?;
    let (_, view) = control(target, table, is_egress).ok_or_else(nothing)?;
    let id = snapshot_id(target, table, is_egress, start).ok_or_else(nothing)?;
    let pipe = match target.scope.pipe {
        ALL_PIPES => full(target, id).first().copied().ok_or_else(nothing)?,
        pipe => pipe,
    };
    let pipe = u8::try_from(pipe).map_err(|_| nothing())?;
    let SnapshotState::Full(values) = target.switch.observation().chip().snapshots.state(id, pipe) else {
        return Err(nothing());
    };
    let mut row = unset_row(table, None);
    for field in table.data.iter().flat_map(|data| &data.fields) {
        let at = view.fields.iter().position(|(known, _)| *known == field.name);
        if let Some(value) = at.and_then(|at| values.get(at)) {
            let value = Bits::from_words(field.ty.width(), value.words());
            row.data.insert(field.id, Value::Number(value));
        }
    }
    row.data.insert(id_of(table, "local_stage_trigger"), Value::Bool(stage == start));
    row.data.insert(id_of(table, "prev_stage_trigger"), Value::Bool(stage != start));
    let key = table.key.iter().map(|field| field.id).zip(key).collect();
    Ok(vec![Row { key: Some(key), action: 0, data: row.data.into_iter().collect() }])
}

/// Each value is seen in all stages.
fn read_liveness(target: &Target<'_>, entry: &Entry<'_>, is_egress: bool) -> Result<Vec<Row>, Failure> {
    let table = entry.table;
    if entry.key.is_none() {
        return Err(needs_key(entry));
    }
    let key = key_of(entry)?;
    let name = match key.first() {
        Some(Match::Text(name)) => name.as_str(),
        _ => "",
    };
    let known = control(target, table, is_egress);
    if !known.is_some_and(|(_, view)| view.fields.iter().any(|(field, _)| field == name)) {
        return Err(Failure::not_found(format!("table {}: the control has no value `{name}`", table.name)));
    }
    let stages = (0..chip_of(target.program).stages()).collect();
    let data = vec![(id_of(table, "valid_stages"), Value::Numbers(stages))];
    let key = table.key.iter().map(|field| field.id).zip(key.clone()).collect();
    Ok(vec![Row { key: Some(key), action: 0, data }])
}
