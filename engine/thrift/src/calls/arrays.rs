//! Counters, meters, registers, value sets.

use p4cc_exec::MeterConfig;
use p4cc_exec::control::CounterCell;
use p4cc_ir::{Bits, MatchKind, MatchValue, RegisterId, ValueSetId};

use super::entries::bits;
use super::{Entry, names, of_switch};
use crate::fault::{Fault, Outcome, array};
use crate::service::{Answer, Args, Context};
use crate::value::{Type, Value};

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    of_switch(
        "standard",
        [
            ("bm_counter_read", counter_read),
            ("bm_counter_write", counter_write),
            ("bm_counter_reset_all", counter_reset),
            ("bm_meter_set_rates", meter_set),
            ("bm_meter_array_set_rates", meter_set_all),
            ("bm_meter_get_rates", meter_get),
            ("bm_register_read", register_read),
            ("bm_register_read_all", register_read_all),
            ("bm_register_write", register_write),
            ("bm_register_write_range", register_write_range),
            ("bm_register_reset", register_reset),
            ("bm_parse_vset_add", value_set_add),
            ("bm_parse_vset_remove", value_set_remove),
            ("bm_parse_vset_get", value_set_get),
            ("bm_parse_vset_clear", value_set_clear),
        ],
    )
}

/// `BmCounterValue`.
pub(super) fn counter_value(cell: CounterCell) -> Value {
    Value::structure([(1, Value::I64(cell.bytes as i64)), (2, Value::I64(cell.packets as i64))])
}

/// A `BmCounterValue` that was given.
pub(super) fn parse_counter(given: &Args<'_>) -> Outcome<CounterCell> {
    Ok(CounterCell { bytes: given.u64(1)?, packets: given.u64(2)? })
}

fn counter_read(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = names::counter(&*context.program()?, args.text(2)?)?;
    let cell = context.state()?.counter_read(id, args.u32(3)?).map_err(Fault::of_array(array::ERROR))?;
    Ok(Some(counter_value(cell)))
}

fn counter_write(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = names::counter(&*context.program()?, args.text(2)?)?;
    let cell = parse_counter(&args.fields(4)?)?;
    let state = context.state_mut()?;
    state.counter_write(id, args.u32(3)?, cell).map_err(Fault::of_array(array::ERROR))?;
    Ok(None)
}

fn counter_reset(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = names::counter(&*context.program()?, args.text(2)?)?;
    let state = context.state_mut()?;
    for index in 0..state.counter_size(id) as u32 {
        state.counter_write(id, index, CounterCell::default()).map_err(Fault::of_array(array::ERROR))?;
    }
    Ok(None)
}

/// A meter's configuration from `BmMeterRateConfig`s: committed, then peak, in units a microsecond.
///
/// Rates that are no rates have the code `code`, rates in the wrong order `unordered`.
pub(super) fn meter_config(rates: &[Value], code: i32, unordered: i32) -> Outcome<MeterConfig> {
    let rate = |given: &Value| {
        let bad = || Fault::new(code, "a rate is not a number from 0");
        let Value::Struct(given) = given else { return Err(bad()) };
        let per_us = match given.get(&1) {
            Some(Value::Double(per_us)) if per_us.is_finite() && *per_us >= 0.0 => *per_us,
            _ => return Err(bad()),
        };
        let burst = Args(given).u32(2)?;
        Ok(((per_us * 1e6).round() as u64, u64::from(burst)))
    };
    match rates {
        [committed, peak] => {
            let ((cir, cburst), (pir, pburst)) = (rate(committed)?, rate(peak)?);
            if cir > pir {
                return Err(Fault::new(unordered, "the committed rate is above the peak rate"));
            }
            Ok(MeterConfig { cir, cburst, pir, pburst })
        }
        _ => Err(Fault::new(code, format!("a meter has 2 rates, not {}", rates.len()))),
    }
}

/// `BmMeterRateConfig`s of a meter.
pub(super) fn meter_rates(config: Option<MeterConfig>) -> Value {
    let rate = |rate: u64, burst: u64| {
        let burst = i32::try_from(burst).unwrap_or(i32::MAX);
        Value::structure([(1, Value::Double(rate as f64 / 1e6)), (2, Value::I32(burst))])
    };
    let rates = config.map(|of| vec![rate(of.cir, of.cburst), rate(of.pir, of.pburst)]);
    Value::structs(rates.unwrap_or_default())
}

fn meter_set(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = names::meter(&*context.program()?, args.text(2)?)?;
    let config = meter_config(args.list(4)?, array::METER_BAD_RATES, array::METER_INVALID_RATE)?;
    let state = context.state_mut()?;
    state.meter_write(id, args.u32(3)?, Some(config)).map_err(Fault::of_array(array::METER_ERROR))?;
    Ok(None)
}

fn meter_set_all(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = names::meter(&*context.program()?, args.text(2)?)?;
    let config = meter_config(args.list(3)?, array::METER_BAD_RATES, array::METER_INVALID_RATE)?;
    let state = context.state_mut()?;
    for index in 0..state.meter_size(id) as u32 {
        state.meter_write(id, index, Some(config)).map_err(Fault::of_array(array::METER_ERROR))?;
    }
    Ok(None)
}

fn meter_get(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = names::meter(&*context.program()?, args.text(2)?)?;
    let read = context.state()?.meter_read(id, args.u32(3)?);
    Ok(Some(meter_rates(read.map_err(Fault::of_array(array::METER_ERROR))?)))
}

fn register_of(context: &Context<'_>, args: &Args<'_>) -> Outcome<(RegisterId, u32)> {
    let program = context.program()?;
    let id = names::register(&program, args.text(2)?)?;
    Ok((id, program.registers[id.index()].ty.width()))
}

/// A cell as BMv2 gives it: the low 64 bits.
fn cell(value: &Bits) -> Value {
    Value::I64(value.low_u64() as i64)
}

fn register_read(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, _) = register_of(context, args)?;
    let value = context.state()?.register_read(id, args.u32(3)?);
    Ok(Some(cell(&value.map_err(Fault::of_array(array::ERROR))?)))
}

fn register_read_all(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, _) = register_of(context, args)?;
    let state = context.state()?;
    let size = state.register_size(id) as u32;
    let cells: Result<Vec<Value>, _> =
        (0..size).map(|index| state.register_read(id, index).map(|value| cell(&value))).collect();
    Ok(Some(Value::List(Type::I64, cells.map_err(Fault::of_array(array::ERROR))?)))
}

/// Writes cells from `start` up to and without `end`.
fn write_range(context: &mut Context<'_>, args: &Args<'_>, start: u32, end: u32, value: i16) -> Answer {
    let (id, width) = register_of(context, args)?;
    let value = bits(&args.i64(value)?.to_be_bytes(), width, array::ERROR, "the value")?;
    let state = context.state_mut()?;
    if end as usize > state.register_size(id) {
        return Err(Fault::new(array::INVALID_INDEX, format!("there is no cell {}", end - 1)));
    }
    for index in start..end {
        state.register_write(id, index, &value).map_err(Fault::of_array(array::ERROR))?;
    }
    Ok(None)
}

fn register_write(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let index = args.u32(3)?;
    write_range(context, args, index, index.saturating_add(1), 4)
}

fn register_write_range(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    write_range(context, args, args.u32(3)?, args.u32(4)?, 5)
}

fn register_reset(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, width) = register_of(context, args)?;
    let zero = Bits::zero(width);
    let initial = context.program()?.registers[id.index()].initial.clone().unwrap_or(zero);
    let state = context.state_mut()?;
    for index in 0..state.register_size(id) as u32 {
        state.register_write(id, index, &initial).map_err(Fault::of_array(array::ERROR))?;
    }
    Ok(None)
}

/// A value set, and the widths of its keys, which BMv2 packs into one number, the first in the highest bits.
fn value_set_of(context: &Context<'_>, args: &Args<'_>) -> Outcome<(ValueSetId, Vec<u32>)> {
    let program = context.program()?;
    let id = names::value_set(&program, args.text(2)?)?;
    let keys = &program.value_sets[id.index()].keys;
    if keys.iter().any(|(_, _, kind)| *kind != MatchKind::Exact) {
        let cause = "the value set has keys that are not exact; use P4Runtime";
        return Err(Fault::new(array::VALUE_SET_ERROR, cause));
    }
    Ok((id, keys.iter().map(|(_, ty, _)| ty.width()).collect()))
}

fn unpack(packed: &[u8], widths: &[u32]) -> Outcome<Vec<MatchValue>> {
    let total: u32 = widths.iter().sum();
    let packed = bits(packed, total, array::VALUE_SET_ERROR, "the value")?;
    let mut below = total;
    let keys = widths.iter().map(|&width| {
        below -= width;
        MatchValue::Exact(packed.slice(below, width))
    });
    Ok(keys.collect())
}

fn pack(member: &[MatchValue]) -> Value {
    let packed = member.iter().fold(None, |packed: Option<Bits>, key| match (packed, key) {
        (None, MatchValue::Exact(value)) => Some(value.clone()),
        (Some(packed), MatchValue::Exact(value)) => Some(packed.concat(value)),
        (packed, _) => packed,
    });
    Value::String(packed.map(|packed| packed.to_be_bytes()).unwrap_or_default())
}

fn change_value_set(
    context: &mut Context<'_>,
    id: ValueSetId,
    f: impl FnOnce(&mut Vec<Vec<MatchValue>>) -> Outcome<()>,
) -> Answer {
    let failed = Fault::of_array(array::VALUE_SET_ERROR);
    let state = context.state_mut()?;
    let mut members = state.value_set_read(id).map_err(&failed)?.to_vec();
    f(&mut members)?;
    state.value_set_write(id, members).map_err(failed)?;
    Ok(None)
}

fn value_set_add(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, widths) = value_set_of(context, args)?;
    let member = unpack(args.bytes(3)?, &widths)?;
    change_value_set(context, id, |members| {
        if !members.contains(&member) {
            members.push(member);
        }
        Ok(())
    })
}

fn value_set_remove(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, widths) = value_set_of(context, args)?;
    let member = unpack(args.bytes(3)?, &widths)?;
    change_value_set(context, id, |members| {
        members.retain(|other| *other != member);
        Ok(())
    })
}

fn value_set_get(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, _) = value_set_of(context, args)?;
    let members = context.state()?.value_set_read(id).map_err(Fault::of_array(array::VALUE_SET_ERROR))?;
    Ok(Some(Value::List(Type::String, members.iter().map(|member| pack(member)).collect())))
}

fn value_set_clear(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, _) = value_set_of(context, args)?;
    change_value_set(context, id, |members| {
        members.clear();
        Ok(())
    })
}
