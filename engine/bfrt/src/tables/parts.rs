//! What goes with an entry beside its action: counter, meter, time to live, hit state, register.

use p4cc_exec::MeterConfig;
use p4cc_exec::control::CounterCell;
use p4cc_ir::{Bits, CountUnit, TableId};
use p4cc_p4runtime::errors::Failure;

use super::matching::Identity;
use super::shadow::Place;
use super::{arrays, filters};
use crate::fields::{GivenField, Value};
use crate::schema::{Action, Field, Means, MeterPart, Table, Type};
use crate::target::{Entry, Target, no_program};

const NS_PER_MS: u64 = 1_000_000;
/// What `$ENTRY_HIT_STATE` may be.
pub const ACTIVE: &str = "ENTRY_ACTIVE";
const IDLE: &str = "ENTRY_IDLE";
/// Bytes per second of a kilobit per second, and bytes of a kilobit.
const BYTES_PER_KBIT: u64 = 125;
/// The highest rates (kbit/s or packets/s) and bursts (kbit or packets) of the chip's meters: what a meter
/// has that nobody configured.
const MAX_RATE: u64 = 5_195_848_221;
const MAX_BURST: u64 = 4_380_866_642;

/// A number as the field's type shows it.
pub fn number(field: &Field, value: &Bits) -> Value {
    match &field.ty {
        Type::Bool(_) => Value::Bool(!value.is_zero()),
        ty => Value::Number(Bits::from_words(ty.width(), value.words())),
    }
}

/// A value in the width of its field.
pub fn widened(field: &Field, value: &Bits) -> Bits {
    Bits::from_words(field.ty.width().max(1), value.words())
}

fn low(value: &Value) -> Option<u64> {
    match value {
        Value::Number(bits) => Some(bits.low_u64()),
        _ => None,
    }
}

/// `$ENTRY_TTL`, which is in milliseconds.
pub fn ttl_ns(data: &[GivenField<'_>]) -> Option<u64> {
    let one = data.iter().find(|one| one.field.means == Means::Ttl)?;
    Some(low(&one.value)?.saturating_mul(NS_PER_MS))
}

/// Numbers of a meter cell in the units of BF Runtime, any of which may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterNumbers([Option<u64>; 4]);

impl MeterNumbers {
    /// Those that a request gives.
    pub fn given(data: &[GivenField<'_>]) -> Self {
        let mut numbers = [None; 4];
        for one in data {
            if let Means::Meter(part) = one.field.means {
                numbers[part as usize] = low(&one.value);
            }
        }
        Self(numbers)
    }

    /// Whether none is given.
    pub fn is_empty(self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The cell's configuration, with what is not given as it was.
    ///
    /// # Errors
    /// The committed rate is above the peak rate.
    pub fn over(
        self,
        old: Option<MeterConfig>,
        unit: CountUnit,
        place: &str,
    ) -> Result<MeterConfig, Failure> {
        let old = shown(old, unit);
        let of = |part: MeterPart, most: u64| self.0[part as usize].unwrap_or(old[part as usize]).min(most);
        let (cir, pir) = (of(MeterPart::Cir, MAX_RATE), of(MeterPart::Pir, MAX_RATE));
        if cir > pir {
            return Err(Failure::invalid(format!(
                "{place}: the committed rate {cir} is above the peak rate {pir}"
            )));
        }
        let scale = scale(unit);
        Ok(MeterConfig {
            cir: cir * scale,
            pir: pir * scale,
            cburst: of(MeterPart::Cbs, MAX_BURST) * scale,
            pburst: of(MeterPart::Pbs, MAX_BURST) * scale,
        })
    }
}

fn scale(unit: CountUnit) -> u64 {
    if unit == CountUnit::Packets { 1 } else { BYTES_PER_KBIT }
}

/// A meter cell in the units of BF Runtime, in the order of [`MeterPart`].
fn shown(config: Option<MeterConfig>, unit: CountUnit) -> [u64; 4] {
    let Some(config) = config else { return [MAX_RATE, MAX_RATE, MAX_BURST, MAX_BURST] };
    [config.cir, config.pir, config.cburst, config.pburst].map(|number| number / scale(unit))
}

/// A number of a meter cell.
pub fn meter_number(config: Option<MeterConfig>, unit: CountUnit, part: MeterPart, field: &Field) -> Value {
    Value::Number(Bits::from_u128(field.ty.width(), shown(config, unit)[part as usize].into()))
}

/// Counts that a request gives; what it leaves out stays as it was.
pub fn counts(data: &[GivenField<'_>], old: CounterCell) -> Option<CounterCell> {
    let of = |means: Means| data.iter().find(|one| one.field.means == means).and_then(|one| low(&one.value));
    let (bytes, packets) = (of(Means::CounterBytes), of(Means::CounterPackets));
    (bytes.is_some() || packets.is_some())
        .then(|| CounterCell { bytes: bytes.unwrap_or(old.bytes), packets: packets.unwrap_or(old.packets) })
}

/// A count as its field shows it.
pub fn count(cell: CounterCell, field: &Field) -> Option<Value> {
    let number = match field.means {
        Means::CounterBytes => cell.bytes,
        Means::CounterPackets => cell.packets,
        _ => return None,
    };
    Some(Value::Number(Bits::from_u128(field.ty.width(), number.into())))
}

/// Sets an entry's counter to zero, if it has one.
pub fn reset_counter(target: &mut Target<'_>, of: u32, table: TableId, at: &Identity) -> Result<(), Failure> {
    if target.program.tables[table.index()].counter.is_some() {
        let state = target.state_mut()?;
        state.direct_counter_write(table, &at.matches, at.priority, CounterCell::default())?;
        target.kept.shadow.forget(of, &Place::Entry(at.clone()));
    }
    Ok(())
}

/// Writes what a request gives of an entry's counter and meter.
pub fn write(
    target: &mut Target<'_>,
    entry: &Entry<'_>,
    table: TableId,
    at: &Identity,
    is_new: bool,
) -> Result<(), Failure> {
    let declared = &target.program.tables[table.index()];
    let place = format!("table {}", entry.table.name);
    if declared.counter.is_some() {
        let old = target.state()?.direct_counter_read(table, &at.matches, at.priority)?;
        if let Some(cell) = counts(&entry.data, old) {
            target.state_mut()?.direct_counter_write(table, &at.matches, at.priority, cell)?;
            target.kept.shadow.set_counter(entry.table.id, Place::Entry(at.clone()), cell);
        }
    }
    let state = entry.data.iter().find(|one| one.field.means == Means::HitState).map(|one| &one.value);
    if let Some(Value::Text(state)) = state {
        target.kept.ageing.set_hit(table, at, state == ACTIVE);
    }
    let numbers = MeterNumbers::given(&entry.data);
    if let Some(meter) = declared.meter.filter(|_| !numbers.is_empty()) {
        let unit = target.program.meters[meter.index()].unit;
        let old = match is_new {
            true => None,
            false => target.state()?.direct_meter_read(table, &at.matches, at.priority)?,
        };
        let config = numbers.over(old, unit, &place)?;
        target.state_mut()?.direct_meter_write(table, &at.matches, at.priority, Some(config))?;
    }
    write_register_and_filter(target, entry, table, at, is_new)
}

fn write_register_and_filter(
    target: &mut Target<'_>,
    entry: &Entry<'_>,
    table: TableId,
    at: &Identity,
    is_new: bool,
) -> Result<(), Failure> {
    let declared = &target.program.tables[table.index()];
    let gives_cell = entry.data.iter().any(|one| matches!(one.field.means, Means::Cell(..)));
    if let Some(register) = declared.register.filter(|_| gives_cell) {
        let old = target.state()?.direct_register_read(table, &at.matches, at.priority)?;
        let cell = arrays::cell(target, register, &old, entry);
        target.state_mut()?.direct_register_write(table, &at.matches, at.priority, &cell)?;
        target.kept.shadow.set_register(entry.table.id, Place::Entry(at.clone()), cell);
    }
    if let Some(filter) = declared.filter.filter(|_| filters::is_given(&entry.data)) {
        let kind = target.program.filters[filter.index()].kind;
        let old = match is_new {
            true => None,
            false => target.state()?.direct_filter_read(table, &at.matches, at.priority)?,
        };
        let config = filters::config(kind, &entry.data, old);
        target.state_mut()?.direct_filter_write(table, &at.matches, at.priority, Some(config))?;
    }
    Ok(())
}

/// Fields of an entry's counter, meter and times.
pub fn read(
    target: &Target<'_>,
    (of, action): (&Table, Option<&Action>),
    table: TableId,
    at: &Identity,
    looks: bool,
) -> Result<Vec<(u32, Value)>, Failure> {
    let (state, declared) = (target.state()?, &target.program.tables[table.index()]);
    let fields = action.into_iter().flat_map(|action| &action.data).chain(&of.data);
    let (mut data, is_entry) = (Vec::new(), !at.matches.is_empty());
    for field in fields.flat_map(|data| &data.fields) {
        let value = match field.means {
            Means::CounterBytes | Means::CounterPackets if declared.counter.is_some() => {
                let cell = match looks {
                    true => state.direct_counter_read(table, &at.matches, at.priority)?,
                    false => target.kept.shadow.counter(of.id, &Place::Entry(at.clone())),
                };
                count(cell, field)
            }
            Means::Meter(part) => match declared.meter {
                Some(meter) => {
                    let config = state.direct_meter_read(table, &at.matches, at.priority)?;
                    let unit = target.program.meters[meter.index()].unit;
                    Some(meter_number(config, unit, part, field))
                }
                None => None,
            },
            Means::Lpf(_) | Means::Wred(_) => match declared.filter {
                Some(filter) => {
                    let config = state.direct_filter_read(table, &at.matches, at.priority)?;
                    filters::value(target.program.filters[filter.index()].kind, config, field)
                }
                None => None,
            },
            Means::Cell(register, place) if declared.register == Some(register) => {
                let kept = || target.kept.shadow.register(of.id, &Place::Entry(at.clone())).cloned();
                let cell = match looks {
                    true => state.direct_register_read(table, &at.matches, at.priority)?,
                    false => kept().unwrap_or_else(|| arrays::initial(target, register)),
                };
                Some(arrays::register_field(target, register, (&cell, place), field))
            }
            Means::Ttl if is_entry => {
                let left_ms = target.kept.ageing.left_ms(table, at);
                Some(Value::Number(Bits::from_u128(field.ty.width(), left_ms.into())))
            }
            Means::HitState if is_entry => {
                let was_hit = target.kept.ageing.was_hit(state, table, at, looks);
                Some(Value::Text(if was_hit { ACTIVE } else { IDLE }.to_owned()))
            }
            _ => None,
        };
        data.extend(value.map(|value| (field.id, value)));
    }
    Ok(data)
}

/// Brings the copies of the registers of all entries up to date.
pub fn sync_registers(target: &mut Target<'_>, of: &Table, table: TableId) -> Result<(), Failure> {
    if target.program.tables[table.index()].register.is_none() {
        return Ok(());
    }
    let state = target.switch.observation().state_of(target.pipe()).ok_or_else(no_program)?;
    target.kept.shadow.clear_registers(of.id);
    for entry in state.table_entries(table) {
        let cell = state.direct_register_read(table, &entry.matches, entry.priority)?;
        let at = Identity { matches: entry.matches.clone(), priority: entry.priority };
        target.kept.shadow.set_register(of.id, Place::Entry(at), cell);
    }
    Ok(())
}

/// Brings the copies of the counters of all entries up to date.
pub fn sync_counters(target: &mut Target<'_>, of: &Table, table: TableId) -> Result<(), Failure> {
    if target.program.tables[table.index()].counter.is_none() {
        return Ok(());
    }
    let state = target.switch.observation().state_of(target.pipe()).ok_or_else(no_program)?;
    target.kept.shadow.clear_counters(of.id);
    let identities = state
        .table_entries(table)
        .map(|entry| Identity { matches: entry.matches.clone(), priority: entry.priority });
    for at in identities.chain([Identity::default()]) {
        let cell = state.direct_counter_read(table, &at.matches, at.priority)?;
        target.kept.shadow.set_counter(of.id, Place::Entry(at), cell);
    }
    Ok(())
}
