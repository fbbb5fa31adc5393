//! The chip's own tables, and those of externs, over the switch.
//!
//! [`rows`] keeps what clients wrote; the other files say what the switch does with it.

mod device;
mod generator;
mod mirror;
mod multicast;
mod port_metadata;
mod ports;
pub mod rows;
mod snapshot;
mod traffic_manager;

use std::collections::{BTreeMap, BTreeSet};

use p4cc_p4runtime::errors::Failure;
use tonic::Code;

use crate::fields::Row;
use crate::schema::{Chip, Object, Table};
use crate::tables::{Done, no_default};
use crate::target::{Entry, Target, Verb};
use rows::{RowKey, Rows, Rule};

/// What is kept of the chip's tables beside the switch.
#[derive(Clone, Debug, Default)]
pub struct FixedState {
    /// Entries as they were written.
    pub rows: Rows,
    /// How far a port's statistics are off the switch's own counts, by field.
    statistics: BTreeMap<u32, BTreeMap<u32, u64>>,
    /// The same of packets that were lost, by table and key.
    drop_offsets: BTreeMap<(u32, RowKey), u64>,
    /// Pipes in which a client switched deflection on or off.
    deflection_switched: BTreeSet<u8>,
}

/// A table's name without the chip's prefix.
fn name_of(table: &Table) -> &str {
    let prefixes = [Chip::Tofino1, Chip::Tofino2].map(Chip::prefix);
    let cut = |prefix: &str| table.name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
    prefixes.into_iter().find_map(cut).unwrap_or(&table.name)
}

/// The rule of a table that is kept by entries.
fn rule(table: &Table) -> Option<Rule> {
    match (table.object, name_of(table)) {
        (Object::PortMetadata(_), _) => Some(port_metadata::BY_PORT),
        (Object::Fixed, "$PORT") => Some(ports::PORT),
        (Object::Fixed, "$mirror.cfg") => Some(mirror::SESSIONS),
        (Object::Fixed, "dev.device_configuration") => Some(device::CONFIGURATION),
        (Object::Fixed, "dev.warm_init") => Some(device::WARM_INIT),
        (Object::Fixed, name) => {
            let of_chip = multicast::rule(name).or_else(|| generator::rule(name));
            of_chip.or_else(|| traffic_manager::rule(name)).or_else(|| snapshot::rule(table))
        }
        _ => None,
    }
}

/// A default entry is that of a table without key fields.
fn check_default(entry: &Entry<'_>) -> Result<(), Failure> {
    if entry.is_default && !entry.table.key.is_empty() {
        return Err(no_default(entry));
    }
    Ok(())
}

/// Applies a write.
///
/// # Errors
/// What the table refuses.
pub fn write(target: &mut Target<'_>, verb: Verb, entry: &Entry<'_>) -> Result<Done, Failure> {
    check_default(entry)?;
    match (entry.table.name.as_str(), rule(entry.table)) {
        ("$PORT_STAT", _) => ports::write_statistics(target, verb, entry).map(|()| Done::Applied),
        (name, Some(rule)) => match rows::write(target, verb, entry, rule) {
            // Removing a port that nobody added is no failure to the chip's driver.
            Err(failure) if name == "$PORT" && verb == Verb::Delete && failure.code == Code::NotFound => {
                Ok(Done::Applied)
            }
            done => done,
        },
        _ => Err(not_here(entry.table)),
    }
}

/// Reads one entry or all.
///
/// # Errors
/// What the table refuses.
pub fn read(target: &mut Target<'_>, entry: &Entry<'_>) -> Result<Vec<Row>, Failure> {
    check_default(entry)?;
    match (entry.table.name.as_str(), rule(entry.table)) {
        ("$PORT_STAT", _) => ports::read_statistics(target, entry),
        ("$PORT_HDL_INFO" | "$PORT_FP_IDX_INFO" | "$PORT_STR_INFO", _) => ports::read_name(entry),
        (_, Some(rule)) => rows::read(target, entry, rule),
        _ => snapshot::read(target, entry).unwrap_or_else(|| Err(not_here(entry.table))),
    }
}

/// How many entries a table has.
///
/// # Errors
/// The table does not count them.
pub fn usage(target: &Target<'_>, table: &Table) -> Result<u32, Failure> {
    match rule(table) {
        Some(rule) if !rule.cells => {
            Ok(u32::try_from(target.kept.fixed.rows.len(table.id)).unwrap_or(u32::MAX))
        }
        _ => Err(not_here(table)),
    }
}

fn not_here(table: &Table) -> Failure {
    Failure::unimplemented(format!("table {} has no counterpart in this switch", table.name))
}
