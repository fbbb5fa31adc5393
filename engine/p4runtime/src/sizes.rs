//! Sizes that a client's P4Info gives to objects of its program, within the engine's bounds.

use std::collections::BTreeMap;

use p4cc_budget::{Budget, Overrun, Resource};
use p4cc_ir::limits::{MAX_ARRAY_CELLS, MAX_TABLE_SIZE};
use p4cc_ir::{CountUnit, Program};

use crate::errors::Failure;
use crate::proto::p4::config::v1 as p4;

/// Gives the program the sizes of a P4Info. Arrays only grow: what packets
/// do must not depend on what the controller is told. What the P4Info says
/// nothing of, by a size of 0 or no object of this name, stays as it is.
///
/// # Errors
/// The arrays take more memory than the program may have.
pub(crate) fn apply(program: &mut Program, info: &p4::P4Info, budget: &Budget) -> Result<(), Failure> {
    let before = program.state_bytes();
    resize(program, info);
    let grown = program.state_bytes().saturating_sub(before);
    let too_large =
        |overrun: Overrun| Failure::invalid(format!("with the sizes of the P4Info, {}", overrun.cause()));
    budget.charge(Resource::StateBytes, grown).map_err(too_large)
}

fn resize(program: &mut Program, info: &p4::P4Info) {
    let tables = by_name(&info.tables, |one| one.preamble.as_ref());
    for table in &mut program.tables {
        if let Some(given) = tables.get(table.cp.name.as_str()) {
            let least = u32::try_from(table.entries.len()).unwrap_or(MAX_TABLE_SIZE);
            set(&mut table.size, given.size, MAX_TABLE_SIZE);
            table.size = table.size.max(least);
        }
    }
    let profiles = by_name(&info.action_profiles, |one| one.preamble.as_ref());
    for profile in &mut program.profiles {
        if let Some(given) = profiles.get(profile.cp.name.as_str()) {
            set(&mut profile.size, given.size, MAX_TABLE_SIZE);
            profile.max_group_size = u32::try_from(given.max_group_size).unwrap_or(0);
        }
    }
    let value_sets = by_name(&info.value_sets, |one| one.preamble.as_ref());
    for value_set in &mut program.value_sets {
        if let Some(given) = value_sets.get(value_set.cp.name.as_str()) {
            set(&mut value_set.size, given.size.into(), MAX_TABLE_SIZE);
        }
    }
    resize_arrays(program, info);
}

fn resize_arrays(program: &mut Program, info: &p4::P4Info) {
    let arrays = by_name(&info.counters, |one| one.preamble.as_ref());
    let direct = by_name(&info.direct_counters, |one| one.preamble.as_ref());
    for counter in &mut program.counters {
        let name = counter.cp.name.as_str();
        let array = arrays.get(name);
        let spec = array.and_then(|one| one.spec.as_ref()).or_else(|| direct.get(name)?.spec.as_ref());
        if let Some(unit) = spec.and_then(|spec| unit(spec.unit)) {
            counter.unit = unit;
        }
        if let (Some(size), Some(given)) = (&mut counter.size, array) {
            grow(size, given.size);
        }
    }
    let meters = by_name(&info.meters, |one| one.preamble.as_ref());
    for meter in &mut program.meters {
        if let (Some(size), Some(given)) = (&mut meter.size, meters.get(meter.cp.name.as_str())) {
            grow(size, given.size);
        }
    }
    let registers = by_name(&info.registers, |one| one.preamble.as_ref());
    for register in &mut program.registers {
        if let Some(given) = registers.get(register.cp.name.as_str()) {
            grow(&mut register.size, given.size.into());
        }
    }
}

/// Objects of a P4Info by name; of equal names the first.
fn by_name<T>(all: &[T], preamble: impl Fn(&T) -> Option<&p4::Preamble>) -> BTreeMap<&str, &T> {
    let mut found = BTreeMap::new();
    for one in all {
        if let Some(preamble) = preamble(one) {
            found.entry(preamble.name.as_str()).or_insert(one);
        }
    }
    found
}

fn set(size: &mut u32, given: i64, most: u32) {
    if given > 0 {
        *size = u32::try_from(given).unwrap_or(most).min(most);
    }
}

fn grow(size: &mut u32, given: i64) {
    let mut wanted = *size;
    set(&mut wanted, given, MAX_ARRAY_CELLS);
    *size = wanted.max(*size);
}

fn unit(given: i32) -> Option<CountUnit> {
    use p4::counter_spec::Unit;
    match Unit::try_from(given) {
        Ok(Unit::Packets) => Some(CountUnit::Packets),
        Ok(Unit::Bytes) => Some(CountUnit::Bytes),
        Ok(Unit::Both) => Some(CountUnit::Both),
        Ok(Unit::Unspecified) | Err(_) => None,
    }
}
