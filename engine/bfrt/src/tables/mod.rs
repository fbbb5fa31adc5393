//! The program's tables: each file one kind, with its writes and its reads.

pub mod ageing;
pub mod arrays;
pub mod attributes;
pub mod filters;
pub mod handles;
pub mod hashes;
pub mod matching;
pub mod parts;
pub mod profiles;
pub mod sets;
pub mod shadow;

use p4cc_p4runtime::errors::Failure;

use crate::fields::Row;
use crate::fixed;
use crate::schema::Object;
use crate::target::{Entry, Target, Verb};

/// What became of an entry that was to be inserted or else modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It is as asked for.
    Applied,
    /// It was there, and was modified.
    Modified,
}

/// Applies a write to one entry, or to a table as a whole.
///
/// # Errors
/// What the table refuses.
pub fn write(target: &mut Target<'_>, verb: Verb, entry: &Entry<'_>) -> Result<Done, Failure> {
    match entry.table.object {
        Object::Match(table) => matching::write(target, verb, entry, table),
        Object::Members(profile) => profiles::write_member(target, verb, entry, profile),
        Object::Groups(profile) => profiles::write_group(target, verb, entry, profile),
        Object::GetMember(_) => Err(only_read(entry)),
        Object::Counter(_)
        | Object::Meter(_)
        | Object::Register(_)
        | Object::RegisterParam(_)
        | Object::Lpf(_)
        | Object::Wred(_) => arrays::write(target, verb, entry).map(|()| Done::Applied),
        Object::HashAlgorithm(_) | Object::HashConfigure(_) | Object::HashCompute(_) => {
            hashes::write(target, verb, entry).map(|()| Done::Applied)
        }
        Object::ValueSet(set) => sets::write(target, verb, entry, set),
        Object::PortMetadata(_) | Object::Fixed => fixed::write(target, verb, entry),
    }
}

/// Reads one entry, or all of a table where no key is given.
///
/// # Errors
/// What the table refuses, or an entry that is not there.
pub fn read(target: &mut Target<'_>, entry: &Entry<'_>) -> Result<Vec<Row>, Failure> {
    match entry.table.object {
        Object::Match(table) => matching::read(target, entry, table),
        Object::Members(profile) => profiles::read_members(target, entry, profile),
        Object::Groups(profile) => profiles::read_groups(target, entry, profile),
        Object::GetMember(profile) => profiles::read_chosen(target, entry, profile),
        Object::Counter(_)
        | Object::Meter(_)
        | Object::Register(_)
        | Object::RegisterParam(_)
        | Object::Lpf(_)
        | Object::Wred(_) => arrays::read(target, entry),
        Object::HashAlgorithm(_) | Object::HashConfigure(_) | Object::HashCompute(_) => {
            hashes::read(target, entry)
        }
        Object::ValueSet(set) => sets::read(target, entry, set),
        Object::PortMetadata(_) | Object::Fixed => fixed::read(target, entry),
    }
}

/// How many entries a table has.
///
/// # Errors
/// The table does not count them.
pub fn usage(target: &Target<'_>, table: &crate::schema::Table) -> Result<u32, Failure> {
    let count = match table.object {
        Object::Match(id) => target.state()?.table_len(id),
        Object::Members(profile) => target.state()?.members(profile).count(),
        Object::Groups(profile) => target.state()?.groups(profile).count(),
        Object::ValueSet(set) => target.state()?.value_set_read(set)?.len(),
        Object::Fixed => return fixed::usage(target, table),
        _ => {
            return Err(Failure::unimplemented(format!(
                "table {} has all its cells at all times, so it has no usage",
                table.name
            )));
        }
    };
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The one refusal of tables that only answer.
pub fn only_read(entry: &Entry<'_>) -> Failure {
    Failure::unimplemented(format!("table {} can only be read", entry.table.name))
}

/// An entry must be named by a key here.
pub fn needs_key(entry: &Entry<'_>) -> Failure {
    Failure::invalid(format!("table {}: the key is missing", entry.table.name))
}

/// Default entries are for match tables.
pub fn no_default(entry: &Entry<'_>) -> Failure {
    Failure::unimplemented(format!("table {} has no default entry", entry.table.name))
}
