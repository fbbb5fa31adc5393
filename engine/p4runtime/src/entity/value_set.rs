//! Parser value sets.

use super::piece::{Cursor, Piece, Progress};
use super::{Target, Verb, only_modify};
use crate::entries::{match_fields, parse_keys};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

/// Replaces the members of a value set.
pub(super) fn write(target: &mut Target<'_>, verb: Verb, entry: &p4::ValueSetEntry) -> Result<(), Failure> {
    let (set, keys) = target.catalog.value_set(entry.value_set_id)?;
    let declared = &target.catalog.program.value_sets[set.index()];
    only_modify(verb, "a value set")?;
    let owner = format!("value set {}", declared.cp.name);
    let members = entry.members.iter().map(|member| parse_keys(&owner, keys, &member.r#match));
    let members = members.collect::<Result<Vec<_>, _>>()?;
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        let twice = format!("{owner}: a member is given twice");
        return Err(Failure::new(tonic::Code::AlreadyExists, twice));
    }
    target.state_mut()?.value_set_write(set, members)?;
    Ok(())
}

/// Reads the members of one value set, or of all.
pub(super) fn read(
    target: &Target<'_>,
    entry: &p4::ValueSetEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let catalog = target.catalog;
    let all: Vec<_> =
        if entry.value_set_id == 0 { catalog.value_set_ids().collect() } else { vec![entry.value_set_id] };
    let state = target.state()?;
    while let Some(&value_set_id) = all.get(cursor.object()) {
        if piece.is_full() {
            return Ok(Progress::More);
        }
        let (set, keys) = catalog.value_set(value_set_id)?;
        let members = state.value_set_read(set)?.iter();
        let members =
            members.map(|member| p4::ValueSetMember { r#match: match_fields(keys, member) }).collect();
        piece.push(Of::ValueSetEntry(p4::ValueSetEntry { value_set_id, members }));
        cursor.next_object();
    }
    Ok(Progress::Done)
}
