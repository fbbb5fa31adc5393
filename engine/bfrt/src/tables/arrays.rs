//! Arrays with an index: counters, meters, registers, filters. All cells are there at all times.

use p4cc_exec::control::CounterCell;
use p4cc_ir::{Bits, FilterId, RegisterId};
use p4cc_p4runtime::errors::Failure;

use super::shadow::Place;
use super::{filters, needs_key, parts};
use crate::fields::{Match, Row, Value};
use crate::schema::{Field, Means, Object, Table};
use crate::target::{Entry, Target, Verb, no_program};

/// The cell that a key names.
fn index(entry: &Entry<'_>) -> Result<u32, Failure> {
    let key = entry.key.as_ref().ok_or_else(|| needs_key(entry))?;
    match key.iter().find(|one| one.key.means == Means::Index).map(|one| &one.value) {
        Some(Match::Exact(value)) => Ok(u32::try_from(value.low_u64()).unwrap_or(u32::MAX)),
        _ => Err(needs_key(entry)),
    }
}

/// How many cells there are.
fn size(target: &Target<'_>, object: Object) -> Result<u32, Failure> {
    let state = target.state()?;
    let size = match object {
        Object::Counter(counter) => state.counter_size(counter),
        Object::Meter(meter) => state.meter_size(meter),
        Object::Register(register) | Object::RegisterParam(register) => state.register_size(register),
        Object::Lpf(at) | Object::Wred(at) => state.filter_size(FilterId::from_index(at as usize)),
        _ => 0,
    };
    Ok(u32::try_from(size).unwrap_or(u32::MAX))
}

fn is_param(entry: &Entry<'_>) -> bool {
    matches!(entry.table.object, Object::RegisterParam(_))
}

/// Sets a cell, or with DELETE and no key all of them back to how the program begins.
pub(super) fn write(target: &mut Target<'_>, verb: Verb, entry: &Entry<'_>) -> Result<(), Failure> {
    let name = &entry.table.name;
    if entry.is_default != is_param(entry) {
        let cause = if entry.is_default { "has no default entry" } else { "has only a default entry" };
        return Err(Failure::unimplemented(format!("table {name} {cause}")));
    }
    match verb {
        Verb::Delete | Verb::Reset => {
            if entry.key.is_some() {
                return Err(Failure::unimplemented(format!(
                    "table {name}: cells are not deleted one by one; set one, or DELETE without a key"
                )));
            }
            target.kept.shadow.clear_counters(entry.table.id);
            target.kept.shadow.clear_registers(entry.table.id);
            (0..size(target, entry.table.object)?).try_for_each(|at| reset(target, entry.table.object, at))
        }
        Verb::Insert | Verb::Modify | Verb::InsertOrModify => {
            let at = if is_param(entry) { 0 } else { index(entry)? };
            set(target, entry, at)
        }
        Verb::Add | Verb::Remove => {
            Err(Failure::unimplemented(format!("table {name}: its cells have no lists")))
        }
    }
}

fn reset(target: &mut Target<'_>, object: Object, at: u32) -> Result<(), Failure> {
    let program = target.program;
    let state = target.state_mut()?;
    match object {
        Object::Counter(counter) => state.counter_write(counter, at, CounterCell::default())?,
        Object::Meter(meter) => state.meter_write(meter, at, None)?,
        Object::Register(register) | Object::RegisterParam(register) => {
            let declared = &program.registers[register.index()];
            let zero = || Bits::zero(declared.ty.width());
            state.register_write(register, at, &declared.initial.clone().unwrap_or_else(zero))?;
        }
        Object::Lpf(of) | Object::Wred(of) => {
            state.filter_write(FilterId::from_index(of as usize), at, None)?;
        }
        _ => {}
    }
    Ok(())
}

fn set(target: &mut Target<'_>, entry: &Entry<'_>, at: u32) -> Result<(), Failure> {
    let place = format!("table {}, index {at}", entry.table.name);
    match entry.table.object {
        Object::Counter(counter) => {
            let old = target.state()?.counter_read(counter, at)?;
            if let Some(cell) = parts::counts(&entry.data, old) {
                target.state_mut()?.counter_write(counter, at, cell)?;
                target.kept.shadow.set_counter(entry.table.id, Place::Index(at), cell);
            }
        }
        Object::Meter(meter) => {
            let unit = target.program.meters[meter.index()].unit;
            let old = target.state()?.meter_read(meter, at)?;
            let config = parts::MeterNumbers::given(&entry.data).over(old, unit, &place)?;
            target.state_mut()?.meter_write(meter, at, Some(config))?;
        }
        Object::Register(register) | Object::RegisterParam(register) => {
            let old = target.state()?.register_read(register, at)?;
            let cell = cell(target, register, &old, entry);
            target.state_mut()?.register_write(register, at, &cell)?;
            target.kept.shadow.set_register(entry.table.id, Place::Index(at), cell);
        }
        Object::Lpf(of) | Object::Wred(of) => {
            let id = FilterId::from_index(of as usize);
            let kind = target.program.filters[id.index()].kind;
            let config = filters::config(kind, &entry.data, target.state()?.filter_read(id, at)?);
            target.state_mut()?.filter_write(id, at, Some(config))?;
        }
        _ => {}
    }
    Ok(())
}

/// Brings the copies of an array's cells up to date.
pub fn sync(target: &mut Target<'_>, of: &Table) -> Result<(), Failure> {
    let size = size(target, of.object)?;
    let state = target.switch.observation().state_of(target.pipe()).ok_or_else(no_program)?;
    let shadow = &mut target.kept.shadow;
    shadow.clear_counters(of.id);
    shadow.clear_registers(of.id);
    for at in 0..size {
        match of.object {
            Object::Counter(counter) => {
                shadow.set_counter(of.id, Place::Index(at), state.counter_read(counter, at)?);
            }
            Object::Register(register) => {
                shadow.set_register(of.id, Place::Index(at), state.register_read(register, at)?);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where the fields of a register's cell stand: lowest bit and width, the first field highest.
pub fn halves(target: &Target<'_>, register: RegisterId) -> Vec<(u32, u32)> {
    let declared = &target.program.registers[register.index()];
    let widths: Vec<u32> = match &declared.composite {
        Some(composite) => composite.fields.iter().map(|field| field.ty.width()).collect(),
        None => vec![declared.ty.width()],
    };
    let mut low = widths.iter().sum::<u32>();
    let place = |width: u32| {
        low -= width;
        (low, width)
    };
    widths.into_iter().map(place).collect()
}

/// A register's cell with the fields that a request gives.
pub(super) fn cell(target: &Target<'_>, register: RegisterId, old: &Bits, entry: &Entry<'_>) -> Bits {
    let mut cell = Bits::zero(0);
    for (at, (low, width)) in halves(target, register).into_iter().enumerate() {
        let given = entry.data.iter().find(|one| one.field.means == Means::Cell(register, at));
        let part = match given.map(|one| &one.value) {
            Some(Value::Number(value)) => Bits::from_words(width, value.words()),
            Some(Value::Bool(value)) => Bits::from_u128(width, (*value).into()),
            _ => old.slice(low, width),
        };
        cell = cell.concat(&part);
    }
    Bits::from_words(old.width(), cell.words())
}

/// Reads a cell, or all.
pub(super) fn read(target: &mut Target<'_>, entry: &Entry<'_>) -> Result<Vec<Row>, Failure> {
    let object = entry.table.object;
    if is_param(entry) {
        let data = data(target, entry.table, 0, true)?;
        return Ok(vec![Row { key: None, action: 0, data }]);
    }
    if entry.is_default {
        return Ok(Vec::new());
    }
    if entry.key.is_some() {
        let at = index(entry)?;
        return Ok(vec![row(target, entry.table, at, entry.from_hw)?]);
    }
    let size = size(target, object)?;
    let window = target.window.clone();
    window.of(0..size).map(|at| row(target, entry.table, at, entry.from_hw)).collect()
}

fn row(target: &Target<'_>, of: &Table, at: u32, looks: bool) -> Result<Row, Failure> {
    let key = of.key.iter().find(|key| key.means == Means::Index);
    let key = key.map(|key| vec![(key.id, Match::Exact(Bits::from_u128(key.ty.width(), at.into())))]);
    Ok(Row { key, action: 0, data: data(target, of, at, looks)? })
}

fn data(target: &Target<'_>, of: &Table, at: u32, looks: bool) -> Result<Vec<(u32, Value)>, Failure> {
    let state = target.state()?;
    let fields = of.data.iter().flat_map(|data| &data.fields);
    let mut data = Vec::new();
    for field in fields {
        let value = match (of.object, field.means) {
            (Object::Counter(counter), _) => {
                let there = state.counter_read(counter, at)?;
                let cell = if looks { there } else { target.kept.shadow.counter(of.id, &Place::Index(at)) };
                parts::count(cell, field)
            }
            (Object::Meter(meter), Means::Meter(part)) => {
                let unit = target.program.meters[meter.index()].unit;
                Some(parts::meter_number(state.meter_read(meter, at)?, unit, part, field))
            }
            (Object::Lpf(filter) | Object::Wred(filter), _) => {
                let id = FilterId::from_index(filter as usize);
                filters::value(target.program.filters[id.index()].kind, state.filter_read(id, at)?, field)
            }
            (Object::Register(register), Means::Cell(_, place)) => {
                let there = state.register_read(register, at)?;
                let kept = || target.kept.shadow.register(of.id, &Place::Index(at)).cloned();
                let cell = if looks { there } else { kept().unwrap_or_else(|| initial(target, register)) };
                Some(register_field(target, register, (&cell, place), field))
            }
            (Object::RegisterParam(register), Means::Cell(_, place)) => {
                let cell = state.register_read(register, at)?;
                Some(register_field(target, register, (&cell, place), field))
            }
            _ => None,
        };
        data.extend(value.map(|value| (field.id, value)));
    }
    Ok(data)
}

/// What a register's cells hold at the start.
pub(super) fn initial(target: &Target<'_>, register: RegisterId) -> Bits {
    let declared = &target.program.registers[register.index()];
    declared.initial.clone().unwrap_or_else(|| Bits::zero(declared.ty.width()))
}

/// A field of a register's cell. Where a request is for several pipes, `pipes` puts theirs beside it.
pub(super) fn register_field(
    target: &Target<'_>,
    register: RegisterId,
    (cell, place): (&Bits, usize),
    field: &Field,
) -> Value {
    let (low, width) = halves(target, register).get(place).copied().unwrap_or((0, cell.width()));
    Value::Number(Bits::from_words(field.ty.width(), cell.slice(low, width).words()))
}
