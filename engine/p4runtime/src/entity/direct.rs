//! Direct counters and meters by themselves: those of entries, and of default entries.

use p4cc_exec::control::TableEntry;
use p4cc_ir::TableId;

use super::array::{counter_data, meter_config, meter_counts, only_zero, parse_counter, parse_meter};
use super::piece::{Cursor, Piece, Progress};
use super::table::{Key, any_key, default_key, key_message, parse_key, wanted};
use super::{Target, Verb, only_modify};
use crate::errors::Failure;
use crate::objects::TableInfo;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

fn direct_entry<'a>(what: &str, entry: Option<&'a p4::TableEntry>) -> Result<&'a p4::TableEntry, Failure> {
    entry.ok_or_else(|| Failure::invalid(format!("the direct {what} entry names no table entry")))
}

/// Sets the direct counter of an entry.
pub(super) fn write_counter(
    target: &mut Target<'_>,
    verb: Verb,
    given: &p4::DirectCounterEntry,
) -> Result<(), Failure> {
    only_modify(verb, "a direct counter")?;
    let entry = direct_entry("counter", given.table_entry.as_ref())?;
    let info = target.catalog.table(entry.table_id)?;
    let key = any_key(target, info, entry)?;
    let current = target.state()?.direct_counter_read(info.table, &key.matches, key.priority)?;
    let place = format!("table {}", target.catalog.table_name(info.table));
    let given = given.data.as_ref().map(|data| parse_counter(&place, data)).transpose()?;
    let value = given.map_or(current, |cell| target.share(cell));
    Ok(target.state_mut()?.direct_counter_write(info.table, &key.matches, key.priority, value)?)
}

/// Configures the direct meter of an entry; without a configuration everything is green.
pub(super) fn write_meter(
    target: &mut Target<'_>,
    verb: Verb,
    given: &p4::DirectMeterEntry,
) -> Result<(), Failure> {
    only_modify(verb, "a direct meter")?;
    let entry = direct_entry("meter", given.table_entry.as_ref())?;
    let info = target.catalog.table(entry.table_id)?;
    let key = any_key(target, info, entry)?;
    let place = format!("table {}", target.catalog.table_name(info.table));
    let config = given.config.as_ref().map(|config| parse_meter(&place, config)).transpose()?;
    only_zero(&place, given.counter_data.as_ref())?;
    let state = target.state_mut()?;
    state.direct_meter_write(info.table, &key.matches, key.priority, config)?;
    if given.counter_data.is_some() {
        state.direct_meter_reset_counts(info.table, &key.matches, key.priority)?;
    }
    Ok(())
}

/// Reads on in the entries whose direct resource a read asks for: one, all of a table, or all of the tables
/// that have it. `read` gets the table, its entry's key, and what names it.
fn read_entries(
    target: &Target<'_>,
    filter: &p4::TableEntry,
    has: impl Fn(&p4cc_ir::Table) -> bool,
    cursor: &mut Cursor,
    piece: &mut Piece,
    read: impl Fn(TableId, &Key, p4::TableEntry) -> Result<Of, Failure>,
) -> Result<Progress, Failure> {
    let state = target.state()?;
    let key_of = |entry: &TableEntry| Key { matches: entry.matches.clone(), priority: entry.priority };
    if filter.table_id != 0 && !filter.r#match.is_empty() && !filter.is_default_action {
        if piece.is_full() {
            return Ok(Progress::More);
        }
        let info = target.catalog.table(filter.table_id)?;
        let key = parse_key(target, info, filter)?;
        let entry = state.table_entry(info.table, &key.matches, key.priority)?;
        piece.push(read(info.table, &key, key_message(info, entry))?);
        return Ok(Progress::Done);
    }
    let is_wanted = |info: &&TableInfo| filter.table_id != 0 || has(target.catalog.ir_table(info.table));
    let tables: Vec<_> = wanted(target, filter.table_id)?.into_iter().filter(is_wanted).collect();
    while let Some(&info) = tables.get(cursor.object()) {
        if filter.is_default_action {
            if piece.is_full() {
                return Ok(Progress::More);
            }
            let key = any_key(target, info, filter)?;
            piece.push(read(info.table, &key, default_key(info))?);
            cursor.next_object();
            continue;
        }
        while let Some(row) = cursor.row(|| state.entry_numbers(info.table)) {
            if piece.is_full() {
                return Ok(Progress::More);
            }
            cursor.advance();
            piece.look();
            let Some(entry) = state.entry_of_number(info.table, row) else { continue };
            piece.push(read(info.table, &key_of(entry), key_message(info, entry))?);
        }
        cursor.next_object();
    }
    Ok(Progress::Done)
}

/// Reads direct counters.
pub(super) fn read_counters(
    target: &Target<'_>,
    given: &p4::DirectCounterEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let filter = direct_entry("counter", given.table_entry.as_ref())?;
    let has = |table: &p4cc_ir::Table| table.counter.is_some();
    read_entries(target, filter, has, cursor, piece, |table, key, entry| {
        let cell = target.counted(|state| state.direct_counter_read(table, &key.matches, key.priority))?;
        let (table_entry, data) = (Some(entry), Some(counter_data(cell)));
        Ok(Of::DirectCounterEntry(p4::DirectCounterEntry { table_entry, data }))
    })
}

/// Reads direct meters.
pub(super) fn read_meters(
    target: &Target<'_>,
    given: &p4::DirectMeterEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let filter = direct_entry("meter", given.table_entry.as_ref())?;
    let has = |table: &p4cc_ir::Table| table.meter.is_some();
    let state = target.state()?;
    read_entries(target, filter, has, cursor, piece, |table, key, entry| {
        let config = state.direct_meter_read(table, &key.matches, key.priority)?;
        let (table_entry, config) = (Some(entry), config.map(meter_config));
        let mut counter_data = None;
        if given.counter_data.is_some() {
            let counts = state.direct_meter_counts(table, &key.matches, key.priority)?;
            counter_data = Some(meter_counts(counts));
        }
        Ok(Of::DirectMeterEntry(p4::DirectMeterEntry { table_entry, config, counter_data }))
    })
}
