//! The entities of the protocol over a switch's state: one
//! file for each family, each with its write and its read.

mod action_set;
pub(crate) mod array;
mod digest;
pub(crate) mod digest_lists;
mod direct;
#[cfg(test)]
mod hostile;
pub(crate) mod piece;
#[cfg(test)]
mod pipes;
pub(crate) mod profile;
pub(crate) mod replication;
pub(crate) mod table;
pub(crate) mod value_set;

use p4cc_exec::State;
use p4cc_exec::control::{ControlError, CounterCell};
use p4cc_switch::{ReplicationEngine, Switch};
use p4cc_units::Time;

use crate::catalog::Catalog;
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use digest_lists::DigestConfigs;
use p4::entity::Entity as Of;
use p4::update::Type;
use piece::{Cursor, MAX_WHOLE_ENTITIES, Piece, Progress};

/// What an update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Insert,
    Modify,
    Delete,
}

/// A switch as one controller's request sees it.
pub(crate) struct Target<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) switch: &'a mut Switch,
    pub(crate) digests: &'a mut DigestConfigs,
    /// The network's time.
    pub(crate) now: Time,
    /// Whether state that was written once is written again: its ports may come later.
    pub(crate) is_replay: bool,
    /// Pipe of the chip whose state is written; reads are of the first, but for sums.
    pub(crate) pipe: usize,
}

/// Everything that writes change, to go back to.
pub(crate) struct Before {
    /// Of each pipe of the chip.
    states: Vec<State>,
    pre: ReplicationEngine,
    digests: DigestConfigs,
}

impl Target<'_> {
    pub(crate) fn state(&self) -> Result<&State, Failure> {
        self.switch.observation().state_of(self.pipe).ok_or_else(no_pipeline)
    }

    pub(crate) fn state_mut(&mut self) -> Result<&mut State, Failure> {
        self.switch.control().state_of_mut(self.pipe).ok_or_else(no_pipeline)
    }

    /// A counter over all pipes of the chip.
    pub(crate) fn counted(
        &self,
        read: impl Fn(&State) -> Result<CounterCell, ControlError>,
    ) -> Result<CounterCell, Failure> {
        let mut sum = read(self.state()?)?;
        for state in (0..self.switch.observation().pipes()).filter(|pipe| *pipe != self.pipe) {
            let Some(state) = self.switch.observation().state_of(state) else { continue };
            // An entry that BF Runtime wrote to some pipes counts nothing in the others.
            let cell = read(state).unwrap_or_default();
            sum.packets = sum.packets.wrapping_add(cell.packets);
            sum.bytes = sum.bytes.wrapping_add(cell.bytes);
        }
        Ok(sum)
    }

    /// What is written into a counter of the pipe in question: the value into the first and zeros into the
    /// others, so that the sum is the value.
    pub(crate) fn share(&self, cell: CounterCell) -> CounterCell {
        if self.pipe == 0 { cell } else { CounterCell::default() }
    }

    /// What stands before a batch that is applied as a whole or not at all.
    pub(crate) fn before(&self) -> Before {
        Before {
            states: (0..self.switch.observation().pipes())
                .filter_map(|pipe| self.switch.observation().state_of(pipe).cloned())
                .collect(),
            pre: self.switch.observation().pre().clone(),
            digests: self.digests.clone(),
        }
    }

    /// Goes back to what stood before.
    pub(crate) fn restore(&mut self, before: Before) {
        for (pipe, old) in before.states.into_iter().enumerate() {
            if let Some(state) = self.switch.control().state_of_mut(pipe) {
                *state = old;
            }
        }
        *self.switch.control().pre_mut() = before.pre;
        *self.digests = before.digests;
    }

    /// Applies one update, in each pipe of the chip that has a state of its own.
    pub(crate) fn write(&mut self, update: &p4::Update) -> Result<(), Failure> {
        let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
        let once = matches!(entity, Some(Of::PacketReplicationEngineEntry(_) | Of::DigestEntry(_)));
        let pipes = if once { 1 } else { self.switch.observation().pipes() };
        let done = (0..pipes).try_for_each(|pipe| {
            self.pipe = pipe;
            self.write_pipe(update)
        });
        self.pipe = 0;
        done
    }

    /// Applies one update to the pipe in question.
    fn write_pipe(&mut self, update: &p4::Update) -> Result<(), Failure> {
        let verb = match Type::try_from(update.r#type) {
            Ok(Type::Insert) => Verb::Insert,
            Ok(Type::Modify) => Verb::Modify,
            Ok(Type::Delete) => Verb::Delete,
            Ok(Type::Unspecified) | Err(_) => {
                return Err(Failure::invalid("the update has no type; give INSERT, MODIFY or DELETE"));
            }
        };
        let Some(entity) = update.entity.as_ref().and_then(|entity| entity.entity.as_ref()) else {
            return Err(Failure::invalid("the update has no entity"));
        };
        match entity {
            Of::TableEntry(entry) => table::write(self, verb, entry),
            Of::ActionProfileMember(member) => profile::write_member(self, verb, member),
            Of::ActionProfileGroup(group) => profile::write_group(self, verb, group),
            Of::CounterEntry(entry) => array::write_counter(self, verb, entry),
            Of::DirectCounterEntry(entry) => direct::write_counter(self, verb, entry),
            Of::MeterEntry(entry) => array::write_meter(self, verb, entry),
            Of::DirectMeterEntry(entry) => direct::write_meter(self, verb, entry),
            Of::RegisterEntry(entry) => array::write_register(self, verb, entry),
            Of::PacketReplicationEngineEntry(entry) => replication::write(self, verb, entry),
            Of::ValueSetEntry(entry) => value_set::write(self, verb, entry),
            Of::DigestEntry(entry) => digest::write(self, verb, entry),
            Of::ExternEntry(_) => Err(no_externs()),
        }
    }

    /// Reads on in what one entity of a request asks for, until the piece is full.
    pub(crate) fn read(
        &self,
        entity: &p4::Entity,
        cursor: &mut Cursor,
        piece: &mut Piece,
    ) -> Result<Progress, Failure> {
        let Some(entity) = &entity.entity else {
            return Err(Failure::invalid("the entity is empty; name a kind of entity to read"));
        };
        match entity {
            Of::TableEntry(entry) => table::read(self, entry, cursor, piece),
            Of::ActionProfileMember(member) => profile::read_members(self, member, cursor, piece),
            Of::ActionProfileGroup(group) => profile::read_groups(self, group, cursor, piece),
            Of::CounterEntry(entry) => array::read_counters(self, entry, cursor, piece),
            Of::DirectCounterEntry(entry) => direct::read_counters(self, entry, cursor, piece),
            Of::MeterEntry(entry) => array::read_meters(self, entry, cursor, piece),
            Of::DirectMeterEntry(entry) => direct::read_meters(self, entry, cursor, piece),
            Of::RegisterEntry(entry) => array::read_registers(self, entry, cursor, piece),
            Of::PacketReplicationEngineEntry(entry) => replication::read(self, entry, cursor, piece),
            Of::ValueSetEntry(entry) => value_set::read(self, entry, cursor, piece),
            Of::DigestEntry(entry) => digest::read(self, entry, cursor, piece),
            Of::ExternEntry(entry) => read_externs(entry).map(|()| Progress::Done),
        }
    }

    /// All that one entity asks for, for those who hold it all.
    pub(crate) fn read_all(&self, entity: &p4::Entity) -> Result<Vec<p4::Entity>, Failure> {
        let mut piece = Piece::whole();
        match self.read(entity, &mut Cursor::default(), &mut piece)? {
            Progress::Done => Ok(piece.entities),
            Progress::More => Err(Failure::exhausted(format!(
                "there are more than {MAX_WHOLE_ENTITIES} entities of a kind, too many at once"
            ))),
        }
    }
}

fn no_pipeline() -> Failure {
    Failure::precondition(
        "the device has no forwarding pipeline config; call SetForwardingPipelineConfig first",
    )
}

fn no_externs() -> Failure {
    Failure::unimplemented(
        "v1model has no externs of its own in P4Runtime, so there are no ExternEntry entities",
    )
}

/// There are none: a read of all finds nothing, one that names some is refused.
fn read_externs(entry: &p4::ExternEntry) -> Result<(), Failure> {
    if entry.extern_type_id == 0 && entry.extern_id == 0 { Ok(()) } else { Err(no_externs()) }
}

/// For entities that exist as long as the program does.
pub(crate) fn only_modify(verb: Verb, what: &str) -> Result<(), Failure> {
    match verb {
        Verb::Modify => Ok(()),
        Verb::Insert | Verb::Delete => {
            Err(Failure::invalid(format!("{what} can only be modified, not inserted or deleted")))
        }
    }
}
