//! RECONCILE_AND_COMMIT: the state of the running program under the next one.
//!
//! Counters, meters and registers that both programs have alike are exchanged whole, in a time that does not
//! depend on how many cells they have. All else is read and written entity by entity.

use std::collections::BTreeMap;

use p4cc_ir::{CounterId, MeterId, RegisterId};
use p4cc_switch::Switch;
use tonic::Code;

use super::device::Saved;
use super::stopping::Stopping;
use crate::catalog::Catalog;
use crate::entity::Target;
use crate::entity::piece::{Cursor, Piece, Progress};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

/// Gives the next program the state of the running one, which must be thrown away afterwards.
///
/// # Errors
/// The state does not fit, or the server stops; the running program has all of its state.
pub(super) fn carry_over(
    running: &mut Target<'_>,
    next: &mut Saved,
    stopping: &Stopping,
) -> Result<(), Failure> {
    let alike = Alike::of(running.catalog, &next.installed.loaded.catalog);
    let Saved { installed, switch, digests } = next;
    let (now, catalog) = (running.now, &installed.loaded.catalog);
    let mut target = Target { catalog, switch, digests, now, is_replay: true, pipe: 0 };
    for wanted in entities().into_iter().chain(alike.others(running.catalog)) {
        let wanted = p4::Entity { entity: Some(wanted) };
        let mut cursor = Cursor::default();
        loop {
            stopping.check()?;
            let mut piece = Piece::default();
            let progress = running.read(&wanted, &mut cursor, &mut piece)?;
            piece.entities.into_iter().try_for_each(|entity| keep(&mut target, entity))?;
            if progress == Progress::Done {
                break;
            }
        }
    }
    alike.exchange(running.switch, &mut next.switch);
    Ok(())
}

/// Arrays that two programs have under one id and with the same cells.
#[derive(Default)]
struct Alike {
    counters: BTreeMap<CounterId, CounterId>,
    meters: BTreeMap<MeterId, MeterId>,
    registers: BTreeMap<RegisterId, RegisterId>,
}

impl Alike {
    fn of(running: &Catalog, next: &Catalog) -> Self {
        let mut alike = Self::default();
        // The index that a controller gives a cell may be another in each.
        if running.has_translations() || next.has_translations() {
            return alike;
        }
        let (old, new) = (&running.program, &next.program);
        for (id, counter, _) in running.counters() {
            let Ok((other, _)) = next.counter(id) else { continue };
            if old.counters[counter.index()].size == new.counters[other.index()].size {
                alike.counters.insert(counter, other);
            }
        }
        for (id, meter, _) in running.meters() {
            let Ok((other, _)) = next.meter(id) else { continue };
            let (one, another) = (&old.meters[meter.index()], &new.meters[other.index()]);
            if one.size == another.size && one.unit == another.unit {
                alike.meters.insert(meter, other);
            }
        }
        for id in running.register_ids() {
            let (Ok((register, ..)), Ok((other, ..))) = (running.register(id), next.register(id)) else {
                continue;
            };
            let (one, another) = (&old.registers[register.index()], &new.registers[other.index()]);
            if one.size == another.size && one.ty == another.ty && one.data_type == another.data_type {
                alike.registers.insert(register, other);
            }
        }
        alike
    }

    /// What reads the arrays that are not alike.
    fn others(&self, running: &Catalog) -> Vec<Of> {
        let mut wanted = Vec::new();
        for (counter_id, counter, _) in running.counters() {
            if !self.counters.contains_key(&counter) {
                wanted.push(Of::CounterEntry(p4::CounterEntry { counter_id, ..Default::default() }));
            }
        }
        for (meter_id, meter, _) in running.meters() {
            if !self.meters.contains_key(&meter) {
                wanted.push(Of::MeterEntry(p4::MeterEntry { meter_id, ..Default::default() }));
            }
        }
        for register_id in running.register_ids() {
            let Ok((register, ..)) = running.register(register_id) else { continue };
            if !self.registers.contains_key(&register) {
                wanted.push(Of::RegisterEntry(p4::RegisterEntry { register_id, ..Default::default() }));
            }
        }
        wanted
    }

    fn exchange(&self, running: &mut Switch, next: &mut Switch) {
        for pipe in 0..running.observation().pipes().min(next.observation().pipes()) {
            let (Some(from), Some(to)) =
                (running.control().state_of_mut(pipe), next.control().state_of_mut(pipe))
            else {
                continue;
            };
            self.counters.iter().for_each(|(&old, &new)| to.exchange_counter(new, from, old));
            self.meters.iter().for_each(|(&old, &new)| to.exchange_meter(new, from, old));
            self.registers.iter().for_each(|(&old, &new)| to.exchange_register(new, from, old));
        }
    }
}

/// Entities other than arrays, in an order in which each finds what it refers to.
fn entities() -> [Of; 8] {
    use p4::packet_replication_engine_entry::Type;
    let entries = p4::TableEntry {
        counter_data: Some(p4::CounterData::default()),
        meter_config: Some(p4::MeterConfig::default()),
        ..Default::default()
    };
    let default_entries = p4::TableEntry { is_default_action: true, ..entries.clone() };
    let replication =
        |of| Of::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type: Some(of) });
    [
        Of::ActionProfileMember(p4::ActionProfileMember::default()),
        Of::ActionProfileGroup(p4::ActionProfileGroup::default()),
        Of::TableEntry(default_entries),
        Of::TableEntry(entries),
        Of::ValueSetEntry(p4::ValueSetEntry::default()),
        Of::DigestEntry(p4::DigestEntry::default()),
        replication(Type::MulticastGroupEntry(p4::MulticastGroupEntry::default())),
        replication(Type::CloneSessionEntry(p4::CloneSessionEntry::default())),
    ]
}

/// Writes one entity of the running program to the next one.
fn keep(target: &mut Target<'_>, entity: p4::Entity) -> Result<(), Failure> {
    let Some(mut update) = rewrite(entity) else { return Ok(()) };
    let mut written = target.write(&update);
    // Entries that both programs come with are there already.
    if written.as_ref().is_err_and(|failure| failure.code == Code::AlreadyExists) {
        update.r#type = p4::update::Type::Modify.into();
        written = target.write(&update);
    }
    written.map_err(|failure| {
        Failure::invalid(format!("the state cannot be kept under the new program: {}", failure.message))
    })
}

/// The update that writes what was read; none for what the program itself sets.
fn rewrite(entity: p4::Entity) -> Option<p4::Update> {
    use p4::update::Type;
    let verb = match &entity.entity {
        Some(Of::TableEntry(entry)) if entry.is_const => return None,
        Some(Of::TableEntry(entry)) if entry.is_default_action => Type::Modify,
        Some(Of::CounterEntry(_) | Of::MeterEntry(_) | Of::RegisterEntry(_) | Of::ValueSetEntry(_)) => {
            Type::Modify
        }
        _ => Type::Insert,
    };
    Some(p4::Update { r#type: verb.into(), entity: Some(entity) })
}
