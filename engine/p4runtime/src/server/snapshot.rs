//! A device's state as bytes: what reads of every kind of entity give,
//! and the same written into a device that runs the same program.
//!
//! The bytes are a `ReadResponse` of P4Runtime's. Entries and defaults that the program fixes are left out.

use p4::entity::Entity as Of;
use p4::packet_replication_engine_entry::Type as Replication;
use prost::Message;

use crate::entity::piece::MAX_WHOLE_ENTITIES;
use crate::entity::{Target, Verb, profile};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;

fn entity(of: Of) -> p4::Entity {
    p4::Entity { entity: Some(of) }
}

fn replication(of: Replication) -> p4::Entity {
    entity(Of::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type: Some(of) }))
}

/// Reads that together give all state, in an order in which it can be written.
fn reads(target: &Target<'_>) -> Vec<p4::Entity> {
    let whole = p4::TableEntry {
        counter_data: Some(p4::CounterData::default()),
        meter_config: Some(p4::MeterConfig::default()),
        ..Default::default()
    };
    let tables = &target.catalog.program.tables;
    let defaults = target.catalog.tables().filter(|info| {
        let table = &tables[info.table.index()];
        !table.const_default && table.profile.is_none()
    });
    let defaults = defaults.map(|info| {
        entity(Of::TableEntry(p4::TableEntry { table_id: info.id, is_default_action: true, ..whole.clone() }))
    });
    let all = [
        entity(Of::ActionProfileMember(p4::ActionProfileMember::default())),
        entity(Of::ActionProfileGroup(p4::ActionProfileGroup::default())),
        entity(Of::TableEntry(whole.clone())),
        entity(Of::CounterEntry(p4::CounterEntry::default())),
        entity(Of::MeterEntry(p4::MeterEntry::default())),
        entity(Of::RegisterEntry(p4::RegisterEntry::default())),
        entity(Of::ValueSetEntry(p4::ValueSetEntry::default())),
        entity(Of::DigestEntry(p4::DigestEntry::default())),
        replication(Replication::MulticastGroupEntry(p4::MulticastGroupEntry::default())),
        replication(Replication::CloneSessionEntry(p4::CloneSessionEntry::default())),
    ];
    all.into_iter().chain(defaults).collect()
}

fn is_const(entity: &p4::Entity) -> bool {
    matches!(&entity.entity, Some(Of::TableEntry(entry)) if entry.is_const)
}

/// All state.
pub(super) fn save(target: &Target<'_>) -> Result<Vec<u8>, Failure> {
    let mut entities = Vec::new();
    for read in reads(target) {
        entities.extend(target.read_all(&read)?);
        if entities.len() > MAX_WHOLE_ENTITIES {
            return Err(Failure::exhausted(format!("the state has more than {MAX_WHOLE_ENTITIES} entities")));
        }
    }
    entities.retain(|entity| !is_const(entity));
    Ok(p4::ReadResponse { entities }.encode_to_vec())
}

/// Writes state that [`save`] gave; all of it or nothing.
pub(super) fn load(target: &mut Target<'_>, bytes: &[u8]) -> Result<(), Failure> {
    let saved = p4::ReadResponse::decode(bytes)
        .map_err(|error| Failure::invalid(format!("the state is not a ReadResponse: {error}")))?;
    let before = target.before();
    target.is_replay = true;
    let written = replace(target, saved.entities);
    target.is_replay = false;
    if written.is_err() {
        target.restore(before);
    }
    written
}

fn replace(target: &mut Target<'_>, saved: Vec<p4::Entity>) -> Result<(), Failure> {
    use p4::update::Type;
    let write = |target: &mut Target<'_>, verb: Type, entity: p4::Entity| {
        target.write(&p4::Update { r#type: verb.into(), entity: Some(entity) })
    };
    // The program's own entries, where it lets them be changed, may have been changed or deleted.
    let there = target.read_all(&entity(Of::TableEntry(p4::TableEntry::default())))?;
    for own in there.into_iter().filter(|entity| !is_const(entity)) {
        write(target, Type::Delete, own)?;
    }
    for one in saved {
        let verb = match &one.entity {
            Some(Of::ActionProfileMember(member)) => {
                profile::put_member(target, Verb::Insert, member)?;
                continue;
            }
            Some(Of::ActionProfileGroup(group)) => {
                profile::put_group(target, Verb::Insert, group)?;
                continue;
            }
            Some(Of::TableEntry(entry)) if entry.is_default_action => Type::Modify,
            Some(Of::CounterEntry(_) | Of::MeterEntry(_) | Of::RegisterEntry(_) | Of::ValueSetEntry(_)) => {
                Type::Modify
            }
            _ => Type::Insert,
        };
        write(target, verb, one)?;
    }
    Ok(())
}
