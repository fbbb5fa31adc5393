//! Write: the updates of a batch, one after the other.

use p4cc_p4runtime::errors::Failure;
use p4cc_p4runtime::server::stopping::Stopping;
use prost::Message;
use tonic::Code;

use super::requests;
use crate::journal::Journal;
use crate::pipes;
use crate::proto::bfrt_proto as wire;
use crate::tables::{self, Done, attributes};
use crate::target::{Scope, Target, Verb};
use wire::entity::Entity as Of;
use wire::write_request::Atomicity;

/// What became of one update.
pub(super) type Outcome = Result<Done, Failure>;

/// Encoded bytes of all errors of an answer, which clients take together with the rest; their texts yield.
const MAX_TOLD_BYTES: usize = 3 << 20;

/// What became of the members of a request, as an answer tells it.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) list: Vec<wire::Error>,
    bytes: usize,
}

impl Told {
    /// Adds what became of a member; without its text, if there is too much text already.
    pub(super) fn push(&mut self, mut error: wire::Error) {
        if self.bytes + error.encoded_len() > MAX_TOLD_BYTES {
            error.message.clear();
        }
        self.bytes += error.encoded_len();
        self.list.push(error);
    }
}

/// How a batch is to be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    /// All or nothing.
    pub(super) is_whole: bool,
    /// Deleting what is not there is no failure.
    pub(super) ignores_missing: bool,
}

impl Manner {
    /// # Errors
    /// There is no such atomicity.
    pub(super) fn new(atomicity: i32, ignores_missing: bool) -> Result<Self, Failure> {
        let is_whole = match Atomicity::try_from(atomicity) {
            Ok(Atomicity::ContinueOnError) => false,
            // No packet passes between two updates, so that going back is atomic for the data plane too.
            Ok(Atomicity::RollbackOnError | Atomicity::DataplaneAtomic) => true,
            Err(_) => return Err(Failure::invalid(format!("there is no atomicity {atomicity}"))),
        };
        Ok(Self { is_whole, ignores_missing })
    }
}

/// Applies updates. A batch that is a whole ends with its first failure, and leaves everything as it was.
pub(super) fn apply<'u>(
    target: &mut Target<'_>,
    updates: impl Iterator<Item = &'u wire::Update>,
    (manner, stopping): (Manner, &Stopping),
) -> Vec<Outcome> {
    if !manner.is_whole {
        let mut apply = |update| stopping.check().and_then(|()| apply_one(target, update, None));
        return updates.map(&mut apply).collect();
    }
    let mut journal = Journal::new(target);
    let mut outcomes = Vec::new();
    for update in updates {
        let outcome = stopping.check().and_then(|()| apply_one(target, update, Some(&mut journal)));
        let failed = outcome.as_ref().is_err_and(|failure| !is_ignored(update, failure, manner));
        outcomes.push(outcome);
        if failed {
            journal.undo(target);
            break;
        }
    }
    outcomes
}

/// Whether a failure counts as none: what was to be deleted is not there.
pub(super) fn is_ignored(update: &wire::Update, failure: &Failure, manner: Manner) -> bool {
    manner.ignores_missing
        && failure.code == Code::NotFound
        && update.r#type == wire::update::Type::Delete as i32
}

fn apply_one(target: &mut Target<'_>, update: &wire::Update, mut journal: Option<&mut Journal>) -> Outcome {
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    if let (Some(Of::TableAttribute(_) | Of::TableOperation(_)), Some(journal)) = (entity, &mut journal) {
        journal.keep_all(target);
    }
    match entity {
        Some(Of::TableEntry(given)) => apply_entry(target, update.r#type, given, journal),
        Some(Of::TableAttribute(given)) => attributes::write(target, given).map(|()| Done::Applied),
        Some(Of::TableOperation(given)) => attributes::run(target, given).map(|()| Done::Applied),
        Some(Of::TableUsage(_) | Of::ObjectId(_) | Of::Handle(_)) => {
            Err(Failure::unimplemented("this kind of entity can only be read"))
        }
        None => Err(Failure::invalid("the update has no entity; give a table entry, for instance")),
    }
}

fn apply_entry(
    target: &mut Target<'_>,
    update: i32,
    given: &wire::TableEntry,
    journal: Option<&mut Journal>,
) -> Outcome {
    let table = target.table(given.table_id)?;
    let verb = requests::verb(update, given)?;
    let mut entry = requests::to_write(table, given)?;
    let of_request = target.scope;
    if let Some(scope) = &given.entry_tgt {
        target.scope = Scope::from(scope);
    }
    let applied = requests::resolve_handle(target, &mut entry).and_then(|_| {
        if entry.key.is_none() && !entry.is_default && !matches!(verb, Verb::Delete | Verb::Reset) {
            return Err(tables::needs_key(&entry));
        }
        let empties = verb == Verb::Delete && entry.key.is_none() && !entry.is_default;
        let of = pipes::to_write(target, table, empties)?;
        if let Some(journal) = journal {
            journal.keep(target, &entry, &of);
        }
        pipes::write(target, &of, &entry, |target, entry| tables::write(target, verb, entry))
    });
    target.scope = of_request;
    applied
}
