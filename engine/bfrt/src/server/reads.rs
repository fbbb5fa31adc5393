//! Read: entries, usages, attributes, numbers of entries and of names.

use p4cc_p4runtime::errors::Failure;

use super::requests;
use crate::fields;
use crate::pipes;
use crate::proto::bfrt_proto as wire;
use crate::schema::{LearnFilter, Table};
use crate::tables::{self, attributes};
use crate::target::{Entry, Scope, Target};
use wire::entity::Entity as Of;
use wire::object_id::{self, table_object};

/// A direction, or a parser, that is not named.
const ANY: u32 = 0xff;
/// Most entities of one answer.
const MAX_ENTITIES: usize = 1 << 20;

/// Appends what one entity of a request asks for.
///
/// # Errors
/// What is not there, or cannot be read.
pub(super) fn read(
    target: &mut Target<'_>,
    given: &wire::Entity,
    out: &mut Vec<wire::Entity>,
) -> Result<(), Failure> {
    match &given.entity {
        Some(Of::TableEntry(entry)) => read_entry(target, entry, out),
        Some(Of::TableUsage(usage)) => {
            let table = target.table(usage.table_id)?;
            let of = pipes::to_write(target, table, true)?;
            target.enter(of.first().copied().unwrap_or(0));
            let usage = tables::usage(target, table);
            target.enter(0);
            let usage = usage?;
            push(out, Of::TableUsage(wire::TableUsage { table_id: table.id, usage, ..Default::default() }))
        }
        Some(Of::TableAttribute(attribute)) => {
            let attribute = attributes::read(target, attribute)?;
            push(out, Of::TableAttribute(attribute))
        }
        Some(Of::Handle(handle)) => read_handle(target, handle, out),
        Some(Of::ObjectId(names)) => read_id(target, names, out),
        Some(Of::TableOperation(_)) => Err(Failure::unimplemented("operations are run, not read")),
        None => Err(Failure::invalid("the entity is empty; name a table entry, for instance")),
    }
}

fn push(out: &mut Vec<wire::Entity>, entity: Of) -> Result<(), Failure> {
    if out.len() >= MAX_ENTITIES {
        return Err(Failure::exhausted(format!("the answer has more than {MAX_ENTITIES} entities")));
    }
    out.push(wire::Entity { entity: Some(entity) });
    Ok(())
}

fn read_entry(
    target: &mut Target<'_>,
    given: &wire::TableEntry,
    out: &mut Vec<wire::Entity>,
) -> Result<(), Failure> {
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
        Ok((pipes::read(target, &of.pipes, &entry, tables::read)?, of.id))
    });
    let scope = target.scope;
    target.scope = of_request;
    let (rows, id) = found?;
    // Who asks for a key by its number, or names a target, is told the target.
    let scope = match given.entry_tgt {
        Some(_) => Some(scope),
        None if entry.handle.is_some() && entry.key_only => {
            Some(Scope { pipe: id, direction: ANY, parser: ANY, ..scope })
        }
        None => None,
    };
    rows.into_iter()
        .try_for_each(|row| push(out, Of::TableEntry(requests::answer(&entry, &wanted, scope, row))))
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
    push(out, Of::Handle(wire::HandleId { table_id: table.id, value }))
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
    push(out, Of::ObjectId(wire::ObjectId { object: None, id }))
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
