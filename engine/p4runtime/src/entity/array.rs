//! Indirect counters, meters and registers: arrays with an index.

use p4cc_exec::{MeterConfig, MeterCounts, control::CounterCell};
use p4cc_ir::{CounterId, MeterId, RegisterId};

use super::piece::{Cursor, Piece, Progress};
use super::{Target, Verb, only_modify};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

/// The cells that a request names: one, or all when it names none.
fn cells(
    target: &Target<'_>,
    what: &str,
    id: u32,
    name: &str,
    size: u32,
    index: Option<&p4::Index>,
) -> Result<std::ops::Range<u32>, Failure> {
    let Some(p4::Index { index }) = index else { return Ok(0..size) };
    let index = &target.catalog.cell(id, *index, || format!("{what} {name}, index"))?;
    match u32::try_from(*index) {
        Ok(index) if index < size => Ok(index..index + 1),
        Err(_) if *index < 0 => Err(Failure::invalid(format!("{what} {name}: index {index} is negative"))),
        _ => Err(Failure::out_of_range(format!(
            "{what} {name}: index {index} is past the end, it has {size} cells"
        ))),
    }
}

/// The controller's index of a cell.
fn index(target: &Target<'_>, id: u32, at: u32) -> Option<p4::Index> {
    Some(p4::Index { index: target.catalog.index(id, at) })
}

/// Reads a counter's value of a request.
pub(super) fn parse_counter(place: &str, data: &p4::CounterData) -> Result<CounterCell, Failure> {
    let count = |what: &str, value: i64| {
        u64::try_from(value)
            .map_err(|_| Failure::invalid(format!("{place}: a {what} count of {value} is negative")))
    };
    Ok(CounterCell { packets: count("packet", data.packet_count)?, bytes: count("byte", data.byte_count)? })
}

/// A counter's value; the protocol counts in signed numbers.
pub(super) fn counter_data(cell: CounterCell) -> p4::CounterData {
    let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    p4::CounterData { byte_count: signed(cell.bytes), packet_count: signed(cell.packets) }
}

/// Reads a meter's rates of a request.
pub(super) fn parse_meter(place: &str, config: &p4::MeterConfig) -> Result<MeterConfig, Failure> {
    let number = |what: &str, value: i64| {
        u64::try_from(value).map_err(|_| Failure::invalid(format!("{place}: {what} of {value} is negative")))
    };
    if config.eburst != 0 {
        return Err(Failure::invalid(format!("{place}: a two-rate three-colour meter takes no eburst")));
    }
    let parsed = MeterConfig {
        cir: number("cir", config.cir)?,
        cburst: number("cburst", config.cburst)?,
        pir: number("pir", config.pir)?,
        pburst: number("pburst", config.pburst)?,
    };
    if parsed.cir > parsed.pir {
        let (cir, pir) = (parsed.cir, parsed.pir);
        return Err(Failure::invalid(format!("{place}: cir {cir} is above pir {pir}")));
    }
    Ok(parsed)
}

/// A meter's rates.
pub(super) fn meter_config(config: MeterConfig) -> p4::MeterConfig {
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    p4::MeterConfig {
        cir: signed(config.cir),
        cburst: signed(config.cburst),
        pir: signed(config.pir),
        pburst: signed(config.pburst),
        eburst: 0,
    }
}

/// Sets one counter cell, or all.
pub(super) fn write_counter(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &p4::CounterEntry,
) -> Result<(), Failure> {
    let (counter, size) = target.catalog.counter(entry.counter_id)?;
    let name = &target.catalog.program.counters[counter.index()].cp.name;
    only_modify(verb, "a counter cell")?;
    let cells = cells(target, "counter", entry.counter_id, name, size, entry.index.as_ref())?;
    let Some(data) = &entry.data else { return Ok(()) };
    let value = target.share(parse_counter(&format!("counter {name}"), data)?);
    let state = target.state_mut()?;
    for at in cells {
        state.counter_write(counter, at, value)?;
    }
    Ok(())
}

/// An array that is read: its id, what is called so, its name and size.
type Read<'a> = (u32, &'static str, &'a str, u32);

/// Reads on in the cells of some arrays: one, or all of each.
fn read_cells<'a>(
    target: &Target<'_>,
    arrays: &[Read<'a>],
    index: Option<&p4::Index>,
    cursor: &mut Cursor,
    piece: &mut Piece,
    mut read: impl FnMut(usize, u32) -> Result<Of, Failure>,
) -> Result<Progress, Failure> {
    while let Some(&(id, what, name, size)) = arrays.get(cursor.object()) {
        let wanted = cells(target, what, id, name, size, index)?;
        for at in wanted.skip(cursor.at()) {
            if piece.is_full() {
                return Ok(Progress::More);
            }
            piece.push(read(cursor.object(), at)?);
            cursor.advance();
        }
        cursor.next_object();
    }
    Ok(Progress::Done)
}

/// Reads one counter cell, all of a counter, or all.
pub(super) fn read_counters(
    target: &Target<'_>,
    entry: &p4::CounterEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let catalog = target.catalog;
    let all: Vec<_> = if entry.counter_id == 0 {
        catalog.counters().collect()
    } else {
        let (counter, size) = catalog.counter(entry.counter_id)?;
        vec![(entry.counter_id, counter, size)]
    };
    let name = |(id, counter, size): &(u32, CounterId, u32)| -> Read<'_> {
        (*id, "counter", &catalog.program.counters[counter.index()].cp.name, *size)
    };
    let arrays: Vec<_> = all.iter().map(name).collect();
    let wanted = entry.index.as_ref().filter(|_| entry.counter_id != 0);
    read_cells(target, &arrays, wanted, cursor, piece, |object, at| {
        let (counter_id, counter, _) = all[object];
        let data = Some(counter_data(target.counted(|state| state.counter_read(counter, at))?));
        let index = index(target, counter_id, at);
        Ok(Of::CounterEntry(p4::CounterEntry { counter_id, index, data }))
    })
}

/// Configures one meter cell, or all; without a configuration everything is green.
pub(super) fn write_meter(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &p4::MeterEntry,
) -> Result<(), Failure> {
    let (meter, size) = target.catalog.meter(entry.meter_id)?;
    let name = &target.catalog.program.meters[meter.index()].cp.name;
    only_modify(verb, "a meter cell")?;
    only_zero(&format!("meter {name}"), entry.counter_data.as_ref())?;
    let cells = cells(target, "meter", entry.meter_id, name, size, entry.index.as_ref())?;
    let config =
        entry.config.as_ref().map(|config| parse_meter(&format!("meter {name}"), config)).transpose()?;
    let state = target.state_mut()?;
    for at in cells {
        state.meter_write(meter, at, config)?;
        if entry.counter_data.is_some() {
            state.meter_reset_counts(meter, at)?;
        }
    }
    Ok(())
}

/// Reads one meter cell, all of a meter, or all.
pub(super) fn read_meters(
    target: &Target<'_>,
    entry: &p4::MeterEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let catalog = target.catalog;
    let all: Vec<_> = if entry.meter_id == 0 {
        catalog.meters().collect()
    } else {
        let (meter, size) = catalog.meter(entry.meter_id)?;
        vec![(entry.meter_id, meter, size)]
    };
    let name = |(id, meter, size): &(u32, MeterId, u32)| -> Read<'_> {
        (*id, "meter", &catalog.program.meters[meter.index()].cp.name, *size)
    };
    let arrays: Vec<_> = all.iter().map(name).collect();
    let wanted = entry.index.as_ref().filter(|_| entry.meter_id != 0);
    let state = target.state()?;
    read_cells(target, &arrays, wanted, cursor, piece, |object, at| {
        let (meter_id, meter, _) = all[object];
        let config = state.meter_read(meter, at)?.map(meter_config);
        let mut counter_data = None;
        if entry.counter_data.is_some() {
            counter_data = Some(meter_counts(state.meter_counts(meter, at)?));
        }
        let index = index(target, meter_id, at);
        Ok(Of::MeterEntry(p4::MeterEntry { meter_id, index, config, counter_data }))
    })
}

/// What a meter coloured.
pub(super) fn meter_counts([green, yellow, red]: MeterCounts) -> p4::MeterCounterData {
    let [green, yellow, red] = [green, yellow, red].map(|cell| Some(counter_data(cell)));
    p4::MeterCounterData { green, yellow, red }
}

/// A meter's counts can only be set to zero (P4Runtime "DirectMeterEntry").
pub(super) fn only_zero(place: &str, given: Option<&p4::MeterCounterData>) -> Result<(), Failure> {
    let counts = given.into_iter().flat_map(|data| [&data.green, &data.yellow, &data.red]).flatten();
    for count in counts {
        if count.packet_count != 0 || count.byte_count != 0 {
            return Err(Failure::invalid(format!("{place}: a meter's counts can only be set to 0")));
        }
    }
    Ok(())
}

/// Sets one register cell, or all.
pub(super) fn write_register(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &p4::RegisterEntry,
) -> Result<(), Failure> {
    let (register, info, size) = target.catalog.register(entry.register_id)?;
    let name = &target.catalog.program.registers[register.index()].cp.name;
    only_modify(verb, "a register cell")?;
    let cells = cells(target, "register", entry.register_id, name, size, entry.index.as_ref())?;
    let data = entry.data.clone().unwrap_or_default();
    let value = info.form.parse(&data, || format!("register {name}"))?;
    let state = target.state_mut()?;
    for at in cells {
        state.register_write(register, at, &value)?;
    }
    Ok(())
}

/// Reads one register cell, all of a register, or all.
pub(super) fn read_registers(
    target: &Target<'_>,
    entry: &p4::RegisterEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let catalog = target.catalog;
    let all: Vec<_> =
        if entry.register_id == 0 { catalog.register_ids().collect() } else { vec![entry.register_id] };
    let known = all.iter().map(|&id| Ok((id, catalog.register(id)?))).collect::<Result<Vec<_>, Failure>>()?;
    let name = |(id, (register, _, size)): &(u32, (RegisterId, _, u32))| -> Read<'_> {
        (*id, "register", &catalog.program.registers[register.index()].cp.name, *size)
    };
    let arrays: Vec<_> = known.iter().map(name).collect();
    let wanted = entry.index.as_ref().filter(|_| entry.register_id != 0);
    let state = target.state()?;
    read_cells(target, &arrays, wanted, cursor, piece, |object, at| {
        let (register_id, (register, info, _)) = &known[object];
        let data = Some(info.data(&state.register_read(*register, at)?));
        let index = index(target, *register_id, at);
        Ok(Of::RegisterEntry(p4::RegisterEntry { register_id: *register_id, index, data }))
    })
}
