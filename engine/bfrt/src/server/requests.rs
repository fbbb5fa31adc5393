//! Entries of requests, read by the schema, and entries of answers.

use p4cc_p4runtime::errors::Failure;

use crate::fields::{self, Row};
use crate::pipes;
use crate::proto::bfrt_proto as wire;
use crate::schema::{Object, Table};
use crate::tables::handles::DEFAULT_ENTRY;
use crate::target::{ALL_PIPES, Entry, Scope, Target, Verb};
use wire::table_entry::Value as Identifier;
use wire::table_mod_inc_flag;
use wire::update::Type;

/// What an update does to an entry.
///
/// # Errors
/// The update does not say.
pub(super) fn verb(update: i32, entry: &wire::TableEntry) -> Result<Verb, Failure> {
    let takes_away = entry.table_flags.is_some_and(|flags| flags.mod_del)
        || entry
            .table_mod_inc_flag
            .is_some_and(|flag| flag.r#type == table_mod_inc_flag::Type::ModIncDelete as i32);
    Ok(match Type::try_from(update) {
        Ok(Type::Insert) => Verb::Insert,
        Ok(Type::Modify) => Verb::Modify,
        Ok(Type::ModifyInc) if takes_away => Verb::Remove,
        Ok(Type::ModifyInc) => Verb::Add,
        Ok(Type::Delete) => Verb::Delete,
        Ok(Type::InsertOrModify) => Verb::InsertOrModify,
        Ok(Type::Reset) => Verb::Reset,
        Ok(Type::Unspecified) | Err(_) => {
            return Err(Failure::invalid(
                "the update has no type; give INSERT, MODIFY or DELETE, for instance",
            ));
        }
    })
}

/// The action that data name.
fn action<'a>(
    table: &'a Table,
    data: Option<&wire::TableData>,
) -> Result<Option<&'a crate::schema::Action>, Failure> {
    match data.map(|data| data.action_id) {
        None | Some(0) => Ok(None),
        Some(id) => table.action(id).map(Some).ok_or_else(|| {
            Failure::invalid(format!("table {}: action id {id} is none of its actions", table.name))
        }),
    }
}

/// Reads an entry that is to be written.
///
/// # Errors
/// What the schema does not have or types otherwise.
pub(super) fn to_write<'a>(table: &'a Table, given: &wire::TableEntry) -> Result<Entry<'a>, Failure> {
    let action = action(table, given.data.as_ref())?;
    let data = given.data.as_ref().map_or(&[][..], |data| &data.fields);
    let mut entry = common(table, given)?;
    entry.data = fields::parse_data(table, action, data)?;
    entry.action = action;
    Ok(entry)
}

/// Reads an entry that is to be read, and the fields of it that are wanted; all where it names none.
///
/// # Errors
/// What the schema does not have.
pub(super) fn to_read<'a>(
    table: &'a Table,
    given: &wire::TableEntry,
) -> Result<(Entry<'a>, Vec<u32>), Failure> {
    let action = action(table, given.data.as_ref())?;
    let data = given.data.as_ref().map_or(&[][..], |data| &data.fields);
    let wanted = fields::wanted_fields(table, action, data)?;
    let mut entry = common(table, given)?;
    entry.action = action;
    Ok((entry, wanted))
}

fn common<'a>(table: &'a Table, given: &wire::TableEntry) -> Result<Entry<'a>, Failure> {
    let (flags, old) = (given.table_flags.unwrap_or_default(), given.table_read_flag.unwrap_or_default());
    let (key, handle) = match &given.value {
        Some(Identifier::Key(key)) => (Some(fields::parse_key(table, key)?), None),
        Some(Identifier::HandleId(handle)) => (None, Some(*handle)),
        None => (None, None),
    };
    Ok(Entry {
        table,
        key,
        handle,
        is_default: given.is_default_entry,
        action: None,
        data: Vec::new(),
        from_hw: flags.from_hw || old.from_hw,
        key_only: flags.key_only || old.key_only,
        reset_ttl: flags.reset_ttl,
        reset_stats: flags.reset_stats,
    })
}

/// Bits of an entry's number behind those that say whose it is: 0 for all pipes together, else its pipe and
/// one.
const OWNER_SHIFT: u32 = 28;

/// An entry's number on the wire.
pub(super) fn to_wire(handle: u32, owner: u32) -> u32 {
    let tag = if owner == ALL_PIPES { 0 } else { owner + 1 };
    handle | tag << OWNER_SHIFT
}

/// Puts the key in the place of the number that a request names an entry by; whose entry it is.
///
/// # Errors
/// No entry has this number.
pub(super) fn resolve_handle(target: &mut Target<'_>, entry: &mut Entry<'_>) -> Result<Option<u32>, Failure> {
    let Some(handle) = entry.handle else { return Ok(None) };
    let table: &Table = entry.table;
    if handle == DEFAULT_ENTRY && matches!(table.object, Object::Match(_)) {
        entry.is_default = true;
        return Ok(None);
    }
    let owner = (handle >> OWNER_SHIFT).checked_sub(1);
    target.enter(owner.map_or(0, |pipe| pipe as usize).min(pipes::PIPES - 1));
    let number = handle & ((1 << OWNER_SHIFT) - 1);
    let known = target.kept.handles.get(&table.id).and_then(|handles| handles.key(number)).cloned();
    target.enter(0);
    let Some(values) = known else {
        return Err(Failure::not_found(format!("table {} has no entry with handle {handle}", table.name)));
    };
    let keys = values.iter().filter_map(|(id, value)| {
        Some(fields::GivenKey { key: entry.table.key(*id)?, value: value.clone() })
    });
    entry.key = Some(keys.collect());
    Ok(Some(owner.unwrap_or(ALL_PIPES)))
}

/// An entry of an answer.
pub(super) fn answer(entry: &Entry<'_>, wanted: &[u32], scope: Option<Scope>, row: Row) -> wire::TableEntry {
    // Who asks by a handle gets what stands there, like any entry.
    let is_default_entry = row.key.is_none() && entry.handle.is_none();
    let key = row.key.map(|key| {
        let fields = key.into_iter().map(|(id, value)| fields::key_field(id, value)).collect();
        Identifier::Key(wire::TableKey { fields })
    });
    let data = (!entry.key_only).then(|| {
        let mut fields = Vec::with_capacity(row.data.len());
        for (id, value) in row.data {
            if wanted.is_empty() || wanted.contains(&id) {
                fields::data_fields(id, value, &mut fields);
            }
        }
        wire::TableData { action_id: row.action, fields }
    });
    let table_flags = entry.key_only.then(|| wire::TableFlags { key_only: true, ..Default::default() });
    wire::TableEntry {
        table_id: entry.table.id,
        value: key,
        data,
        is_default_entry,
        entry_tgt: scope.map(Into::into),
        table_flags,
        ..Default::default()
    }
}
