//! Sizes that a client's P4Info gives to objects of its program, within the engine's bounds.

use p4cc_ir::limits::{MAX_ARRAY_CELLS, MAX_TABLE_SIZE};
use p4cc_ir::{ControlPlaneName, CountUnit, Program};

use crate::proto::p4::config::v1 as p4;

/// Gives the program the sizes of a P4Info. Arrays only grow: what packets
/// do must not depend on what the controller is told. What the P4Info says
/// nothing of, by a size of 0 or no object of this name, stays as it is.
pub(crate) fn apply(program: &mut Program, info: &p4::P4Info) {
    for table in &mut program.tables {
        if let Some(given) = find(&info.tables, &table.cp, |one| one.preamble.as_ref()) {
            let least = u32::try_from(table.entries.len()).unwrap_or(MAX_TABLE_SIZE);
            set(&mut table.size, given.size, MAX_TABLE_SIZE);
            table.size = table.size.max(least);
        }
    }
    for profile in &mut program.profiles {
        if let Some(given) = find(&info.action_profiles, &profile.cp, |one| one.preamble.as_ref()) {
            set(&mut profile.size, given.size, MAX_TABLE_SIZE);
            profile.max_group_size = u32::try_from(given.max_group_size).unwrap_or(0);
        }
    }
    for value_set in &mut program.value_sets {
        if let Some(given) = find(&info.value_sets, &value_set.cp, |one| one.preamble.as_ref()) {
            set(&mut value_set.size, given.size.into(), MAX_TABLE_SIZE);
        }
    }
    for counter in &mut program.counters {
        let array = find(&info.counters, &counter.cp, |one| one.preamble.as_ref());
        let direct = find(&info.direct_counters, &counter.cp, |one| one.preamble.as_ref());
        let spec = array.and_then(|one| one.spec.as_ref()).or_else(|| direct?.spec.as_ref());
        if let Some(unit) = spec.and_then(|spec| unit(spec.unit)) {
            counter.unit = unit;
        }
        if let (Some(size), Some(given)) = (&mut counter.size, array) {
            grow(size, given.size);
        }
    }
    for meter in &mut program.meters {
        if let (Some(size), Some(given)) =
            (&mut meter.size, find(&info.meters, &meter.cp, |one| one.preamble.as_ref()))
        {
            grow(size, given.size);
        }
    }
    for register in &mut program.registers {
        if let Some(given) = find(&info.registers, &register.cp, |one| one.preamble.as_ref()) {
            grow(&mut register.size, given.size.into());
        }
    }
}

fn find<'a, T>(
    all: &'a [T],
    cp: &ControlPlaneName,
    preamble: impl Fn(&T) -> Option<&p4::Preamble>,
) -> Option<&'a T> {
    all.iter().find(|one| preamble(one).is_some_and(|preamble| preamble.name == cp.name))
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
