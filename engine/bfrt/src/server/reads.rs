//! Read: entries, usages, attributes, numbers of entries and of names.

use std::sync::Arc;

use p4cc_p4runtime::errors::Failure;

use super::requests;
use crate::fields;
use crate::pipes;
use crate::proto::bfrt_proto as wire;
use crate::schema::{LearnFilter, Object, Table};
use crate::tables::{self, attributes, matching};
use crate::target::{Entry, Scope, Target, Window};
use wire::entity::Entity as Of;
use wire::object_id::{self, table_object};

/// A direction, or a parser, that is not named.
const ANY: u32 = 0xff;
/// Rows of a table that are read at once; further ones come in their turn.
const PART: usize = 512;

/// How far the read of one entity of a request is.
#[derive(Default)]
pub(super) struct Cursor {
    /// Place of the next cell, member or row.
    at: usize,
    /// Numbers of a match table's entries in the order of the answer.
    rows: Option<Vec<u32>>,
}

/// Appends what one entity of a request asks for, or the next part of it; whether more is to come.
///
/// # Errors
/// What is not there, or cannot be read.
pub(super) fn read(
    target: &mut Target<'_>,
    given: &wire::Entity,
    cursor: &mut Cursor,
    out: &mut Vec<wire::Entity>,
) -> Result<bool, Failure> {
    match &given.entity {
        Some(Of::TableEntry(entry)) => return read_entry(target, entry, cursor, out),
        Some(Of::TableUsage(usage)) => {
            let table = target.table(usage.table_id)?;
            let of = pipes::to_write(target, table, true)?;
            target.enter(of.first().copied().unwrap_or(0));
            let usage = tables::usage(target, table);
            target.enter(0);
            let usage = usage?;
            push(out, Of::TableUsage(wire::TableUsage { table_id: table.id, usage, ..Default::default() }));
        }
        Some(Of::TableAttribute(attribute)) => {
            let attribute = attributes::read(target, attribute)?;
            push(out, Of::TableAttribute(attribute));
        }
        Some(Of::Handle(handle)) => read_handle(target, handle, out)?,
        Some(Of::ObjectId(names)) => read_id(target, names, out)?,
        Some(Of::TableOperation(_)) => {
            return Err(Failure::unimplemented("operations are run, not read"));
        }
        None => return Err(Failure::invalid("the entity is empty; name a table entry, for instance")),
    }
    Ok(false)
}

fn push(out: &mut Vec<wire::Entity>, entity: Of) {
    out.push(wire::Entity { entity: Some(entity) });
}

fn read_entry(
    target: &mut Target<'_>,
    given: &wire::TableEntry,
    cursor: &mut Cursor,
    out: &mut Vec<wire::Entity>,
) -> Result<bool, Failure> {
    let table = target.table(given.table_id)?;
    let (mut entry, wanted) = requests::to_read(table, given)?;
    let of_request = target.scope;
    if let Some(scope) = &given.entry_tgt {
        target.scope = Scope::from(scope);
    }
    let found = requests::resolve_handle(target, &mut entry).and_then(|owner| {
        let of = match owner {
            Some(owner) => pipes::to_read_by_number(target, &entry, owner)?,
            None => pipes::to_read(target, &entry)?,
        };
        let is_more = next_part(target, &entry, of.pipes.first().copied().unwrap_or(0), cursor)?;
        let rows = pipes::read(target, &of.pipes, &entry, tables::read);
        // A part that is full may be followed by another.
        let is_part = matches!(target.window, Window::Part { .. });
        target.window = Window::All;
        let rows = rows?;
        let is_more = if is_part { rows.len() == PART } else { is_more };
        Ok((rows, of.id, is_more))
    });
    let scope = target.scope;
    target.scope = of_request;
    let (rows, id, is_more) = found?;
    // Who asks for a key by its number, or names a target, is told the target.
    let scope = match given.entry_tgt {
        Some(_) => Some(scope),
        None if entry.handle.is_some() && entry.key_only => {
            Some(Scope { pipe: id, direction: ANY, parser: ANY, ..scope })
        }
        None => None,
    };
    rows.into_iter().for_each(|row| push(out, Of::TableEntry(requests::answer(&entry, &wanted, scope, row))));
    Ok(is_more)
}

/// Has a read of a whole table give its next part only; for a match table whether another follows.
fn next_part(
    target: &mut Target<'_>,
    entry: &Entry<'_>,
    pipe: usize,
    cursor: &mut Cursor,
) -> Result<bool, Failure> {
    if entry.key.is_some() || entry.is_default {
        return Ok(false);
    }
    let from = cursor.at;
    cursor.at += PART;
    match entry.table.object {
        Object::Match(table) => {
            if cursor.rows.is_none() {
                target.enter(pipe);
                let ordered = matching::ordered(target, entry.table, table);
                target.enter(0);
                cursor.rows = Some(ordered?);
            }
            let rows = cursor.rows.as_deref().unwrap_or_default();
            target.enter(pipe);
            let part = rows.iter().skip(from).take(PART);
            let entries = part.filter_map(|number| matching::state_entry(target, table, *number)).collect();
            target.enter(0);
            let is_last = cursor.at >= rows.len();
            target.window = Window::Entries { entries: Arc::new(entries), is_last };
            Ok(!is_last)
        }
        Object::Counter(_)
        | Object::Meter(_)
        | Object::Register(_)
        | Object::Lpf(_)
        | Object::Wred(_)
        | Object::Members(_)
        | Object::Groups(_)
        | Object::ValueSet(_) => {
            target.window = Window::Part { from, most: PART };
            Ok(false)
        }
        Object::GetMember(_)
        | Object::RegisterParam(_)
        | Object::HashAlgorithm(_)
        | Object::HashConfigure(_)
        | Object::HashCompute(_)
        | Object::PortMetadata(_)
        | Object::Fixed => Ok(false),
    }
}

fn read_handle(
    target: &mut Target<'_>,
    given: &wire::HandleId,
    out: &mut Vec<wire::Entity>,
) -> Result<(), Failure> {
    let table = target.table(given.table_id)?;
    let Some(wire::handle_id::Value::Key(key)) = &given.value else {
        return Err(Failure::invalid(format!("table {}: give the key of the entry", table.name)));
    };
    let entry = Entry {
        table,
        key: Some(fields::parse_key(table, key)?),
        handle: None,
        is_default: false,
        action: None,
        data: Vec::new(),
        from_hw: false,
        key_only: true,
        reset_ttl: false,
        reset_stats: false,
    };
    let of = pipes::to_read(target, &entry)?;
    let mut rows = pipes::read(target, &of.pipes, &entry, tables::read)?;
    let Some(key) = rows.pop().and_then(|row| row.key) else {
        return Err(Failure::not_found(format!("table {} has no such entry", table.name)));
    };
    let owner = pipes::owner(target, table);
    target.enter(of.pipes.first().copied().unwrap_or(0));
    let handle = target.kept.handles.entry(table.id).or_default().of(&key);
    target.enter(0);
    let value = Some(wire::handle_id::Value::HandleId(requests::to_wire(handle, owner)));
    push(out, Of::Handle(wire::HandleId { table_id: table.id, value }));
    Ok(())
}

fn read_id(target: &Target<'_>, given: &wire::ObjectId, out: &mut Vec<wire::Entity>) -> Result<(), Failure> {
    let id = match &given.object {
        Some(object_id::Object::TableObject(names)) => {
            let found = target.schema.tables.iter().find(|table| table.name == names.table_name);
            let table = found.ok_or_else(|| {
                Failure::not_found(format!("there is no table `{:.128}`", names.table_name))
            })?;
            id_in_table(table, names.names.as_ref())?
        }
        Some(object_id::Object::LearnObject(names)) => {
            let found = target.schema.learn_filters.iter().find(|filter| filter.name == names.learn_name);
            let filter = found.ok_or_else(|| {
                Failure::not_found(format!("there is no digest `{:.128}`", names.learn_name))
            })?;
            id_in_digest(filter, names.data_field_name.as_ref())?
        }
        None => return Err(Failure::invalid("give the names of a table or of a digest")),
    };
    push(out, Of::ObjectId(wire::ObjectId { object: None, id }));
    Ok(())
}

fn id_in_table(table: &Table, names: Option<&table_object::Names>) -> Result<u32, Failure> {
    let action = |name: &str| table.actions.iter().find(|action| action.name == name);
    let (what, found) = match names {
        None => return Ok(table.id),
        Some(table_object::Names::ActionName(name)) => {
            (&name.action, action(&name.action).map(|action| action.id))
        }
        Some(table_object::Names::KeyFieldName(name)) => {
            (&name.field, table.key.iter().find(|key| key.name == name.field).map(|key| key.id))
        }
        Some(table_object::Names::DataFieldName(name)) => {
            let data = action(&name.action).into_iter().flat_map(|action| &action.data).chain(&table.data);
            let mut fields = data.flat_map(|data| &data.fields);
            (&name.field, fields.find(|field| field.name == name.field).map(|field| field.id))
        }
    };
    found.ok_or_else(|| Failure::not_found(format!("table {} has no `{what:.128}`", table.name)))
}

fn id_in_digest(filter: &LearnFilter, name: Option<&object_id::DataFieldName>) -> Result<u32, Failure> {
    let Some(name) = name else { return Ok(filter.id) };
    if !name.action.is_empty() {
        return Err(Failure::invalid(format!("digest {}: a digest has no actions", filter.name)));
    }
    let found = filter.fields.iter().find(|field| field.name == name.field);
    found.map(|field| field.id).ok_or_else(|| {
        Failure::not_found(format!("digest {} has no field `{:.128}`", filter.name, name.field))
    })
}
