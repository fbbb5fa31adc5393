//! Parser value sets: their members are entries without data.

use p4cc_ir::{MatchKind, MatchValue, ValueSetId};
use p4cc_p4runtime::errors::Failure;
use tonic::Code;

use super::matching::{match_of, match_value};
use super::{Done, needs_key, no_default};
use crate::fields::Row;
use crate::schema::{Means, Table};
use crate::target::{Entry, Target, Verb};

fn member(target: &Target<'_>, entry: &Entry<'_>, set: ValueSetId) -> Result<Vec<MatchValue>, Failure> {
    let given = entry.key.as_ref().ok_or_else(|| needs_key(entry))?;
    let keys = target.program.value_sets[set.index()].keys.iter().enumerate();
    keys.map(|(at, (_, ty, kind))| {
        let one = given.iter().find(|one| one.key.means == Means::Key(at));
        match one {
            Some(one) => match_value(entry.table, one.key, &one.value, ty.width(), *kind),
            None if *kind == MatchKind::Exact => Ok(MatchValue::Exact(p4cc_ir::Bits::zero(ty.width()))),
            None => Ok(MatchValue::Any),
        }
    })
    .collect()
}

/// Adds or removes members.
pub(super) fn write(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &Entry<'_>,
    set: ValueSetId,
) -> Result<Done, Failure> {
    if entry.is_default {
        return Err(no_default(entry));
    }
    if verb == Verb::Delete && entry.key.is_none() {
        target.state_mut()?.value_set_write(set, Vec::new())?;
        return Ok(Done::Applied);
    }
    let member = member(target, entry, set)?;
    let mut all = target.state()?.value_set_read(set)?.to_vec();
    let at = all.iter().position(|one| *one == member);
    let name = &entry.table.name;
    match (verb, at) {
        (Verb::Insert, Some(_)) => {
            return Err(Failure::new(Code::AlreadyExists, format!("table {name} has this member already")));
        }
        (Verb::Insert | Verb::InsertOrModify, None) => all.push(member),
        // A member has no data that could be another.
        (Verb::InsertOrModify, Some(_)) => return Ok(Done::Modified),
        (Verb::Delete, Some(at)) => {
            all.remove(at);
        }
        (Verb::Delete, None) => return Err(Failure::not_found(format!("table {name} has no such member"))),
        (Verb::Modify | Verb::Add | Verb::Remove | Verb::Reset, _) => {
            return Err(Failure::unimplemented(format!("table {name}: members are inserted or deleted")));
        }
    }
    target.state_mut()?.value_set_write(set, all)?;
    Ok(Done::Applied)
}

/// Reads one member or all.
pub(super) fn read(target: &mut Target<'_>, entry: &Entry<'_>, set: ValueSetId) -> Result<Vec<Row>, Failure> {
    if entry.is_default {
        return Ok(Vec::new());
    }
    let wanted = entry.key.as_ref().map(|_| member(target, entry, set)).transpose()?;
    let all = target.window.of(target.state()?.value_set_read(set)?.iter());
    let found = all.filter(|one| wanted.as_ref().is_none_or(|wanted| *one == wanted));
    let rows: Vec<Row> = found.map(|one| row(entry.table, one)).collect();
    match (wanted, rows.first()) {
        (Some(_), None) => Err(Failure::not_found(format!("table {} has no such member", entry.table.name))),
        _ => Ok(rows),
    }
}

fn row(of: &Table, member: &[MatchValue]) -> Row {
    let value = |key: &crate::schema::Key| match key.means {
        Means::Key(at) => Some(match_of(member.get(at)?, key.kind, key.ty.width())),
        _ => None,
    };
    let key = of.key.iter().filter_map(|key| Some((key.id, value(key)?))).collect();
    Row { key: Some(key), ..Row::default() }
}
