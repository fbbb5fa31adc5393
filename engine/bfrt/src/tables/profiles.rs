//! Action profiles and selectors: members, groups, and which member a hash value chooses.
//!
//! The switch has a group's active members only. Those that are switched off are kept here, as long as the
//! group is otherwise as BF Runtime left it.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_exec::State;
use p4cc_exec::control::{Group, GroupMember, Member};
use p4cc_ir::{Bits, ProfileId};
use p4cc_p4runtime::errors::Failure;
use tonic::Code;

use super::matching::{action_data, call};
use super::{Done, needs_key, no_default};
use crate::fields::{Match, Row, Value};
use crate::schema::{Field, Means, Object, Table};
use crate::target::{Entry, Target, Verb};

/// Members of a group in order, and whether each is active.
type Members = Vec<(u32, bool)>;

/// A member that came into a group or left it, for those who asked to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupChange {
    /// The group.
    pub group: u32,
    /// The member.
    pub member: u32,
    /// Its place in the group.
    pub place: u32,
    /// It came.
    pub is_add: bool,
}

/// Groups as BF Runtime wrote them.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    of: BTreeMap<(ProfileId, u32), Members>,
    /// Where clients wanted groups in the chip's memory: told them again, of no effect here.
    offsets: BTreeMap<(ProfileId, u32), Bits>,
}

const OFFSET: &str = "$ADT_OFFSET";

/// Groups of one selector as BF Runtime wrote them, with their places in the chip's memory.
#[derive(Clone, Debug)]
pub struct GroupsOf(Vec<(u32, Members)>, Vec<(u32, Bits)>);

impl Groups {
    /// Those of a selector.
    pub fn of_profile(&self, profile: ProfileId) -> GroupsOf {
        fn of<T: Clone>(all: &BTreeMap<(ProfileId, u32), T>, profile: ProfileId) -> Vec<(u32, T)> {
            let of = all.range((profile, 0)..=(profile, u32::MAX));
            of.map(|((_, group), value)| (*group, value.clone())).collect()
        }
        GroupsOf(of(&self.of, profile), of(&self.offsets, profile))
    }

    /// Those of a selector as they were.
    pub fn put_back(&mut self, profile: ProfileId, groups: GroupsOf) {
        let GroupsOf(members, offsets) = groups;
        self.of.retain(|(other, _), _| *other != profile);
        self.offsets.retain(|(other, _), _| *other != profile);
        self.of.extend(members.into_iter().map(|(group, members)| ((profile, group), members)));
        self.offsets.extend(offsets.into_iter().map(|(group, offset)| ((profile, group), offset)));
    }

    /// A group's members: as written here where the switch's group is still that one, else the switch's.
    fn members(&self, profile: ProfileId, group: &Group) -> Members {
        let kept = self.of.get(&(profile, group.id));
        match kept.filter(|members| active(members) == group.members) {
            Some(members) => members.clone(),
            None => group
                .members
                .iter()
                .flat_map(|one| std::iter::repeat_n((one.member_id, true), one.weight as usize))
                .collect(),
        }
    }
}

/// The members that the switch has: one that is there twice has twice the weight.
fn active(members: &Members) -> Vec<GroupMember> {
    let mut all: Vec<GroupMember> = Vec::new();
    for (member_id, _) in members.iter().filter(|(_, is_active)| *is_active) {
        match all.iter_mut().find(|one| one.member_id == *member_id) {
            Some(one) => one.weight += 1,
            None => all.push(GroupMember { member_id: *member_id, weight: 1, watch_port: None }),
        }
    }
    all
}

/// The number that a table's one key field gives.
fn number(entry: &Entry<'_>, means: Means) -> Result<u32, Failure> {
    let key = entry.key.as_ref().ok_or_else(|| needs_key(entry))?;
    let one = key.iter().find(|one| one.key.means == means).ok_or_else(|| needs_key(entry))?;
    let value = match &one.value {
        Match::Exact(value) => u32::try_from(value.low_u64()).ok(),
        _ => None,
    };
    value.ok_or_else(|| {
        Failure::invalid(format!("table {}: {} is a number of 32 bits", entry.table.name, one.key.name))
    })
}

fn key(of: &Table, means: Means, number: u32) -> Option<Vec<(u32, Match)>> {
    let key = of.key.iter().find(|key| key.means == means)?;
    Some(vec![(key.id, Match::Exact(Bits::from_u128(key.ty.width(), number.into())))])
}

/// Adds, changes or removes members.
pub(super) fn write_member(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &Entry<'_>,
    profile: ProfileId,
) -> Result<Done, Failure> {
    if entry.is_default {
        return Err(no_default(entry));
    }
    if verb == Verb::Delete && entry.key.is_none() {
        let ids: Vec<u32> = target.state()?.members(profile).map(|member| member.id).collect();
        for id in ids {
            target.state_mut()?.member_delete(profile, id)?;
        }
        return Ok(Done::Applied);
    }
    let id = number(entry, Means::Member)?;
    let old = target.state()?.member(profile, id).map(|one| one.action.clone());
    let is_new = match verb {
        Verb::Delete => {
            target.state_mut()?.member_delete(profile, id)?;
            return Ok(Done::Applied);
        }
        Verb::Insert => true,
        Verb::Modify => false,
        Verb::InsertOrModify => old.is_none(),
        Verb::Add | Verb::Remove | Verb::Reset => {
            let name = &entry.table.name;
            return Err(Failure::unimplemented(format!(
                "table {name}: members are inserted, modified or deleted"
            )));
        }
    };
    let Some(action) = entry.action else {
        return Err(Failure::invalid(format!(
            "table {}, member {id}: the action is missing",
            entry.table.name
        )));
    };
    let place = format!("table {}, member {id}", entry.table.name);
    let kept = old.as_ref().filter(|_| !is_new);
    let member = Member { id, action: call(target, &place, action, &entry.data, kept)? };
    let state = target.state_mut()?;
    match is_new {
        true => state.member_insert(profile, member)?,
        false => state.member_modify(profile, member)?,
    }
    Ok(if verb == Verb::InsertOrModify && !is_new { Done::Modified } else { Done::Applied })
}

/// Reads one member or all.
pub(super) fn read_members(
    target: &mut Target<'_>,
    entry: &Entry<'_>,
    profile: ProfileId,
) -> Result<Vec<Row>, Failure> {
    if entry.is_default {
        return Ok(Vec::new());
    }
    let wanted = entry.key.as_ref().map(|_| number(entry, Means::Member)).transpose()?;
    let state = target.state()?;
    let members = target.window.of(state.members(profile));
    let members = members.filter(|member| wanted.is_none_or(|id| member.id == id));
    let row = |member: &Member| {
        let (action, data) = action_data(entry.table, &member.action);
        Row { key: key(entry.table, Means::Member, member.id), action, data }
    };
    let mut rows: Vec<Row> = members.map(row).collect();
    match (wanted, rows.first()) {
        (Some(id), None) => Err(Failure::not_found(format!("table {} has no member {id}", entry.table.name))),
        _ => {
            rows.retain(|row| entry.action.is_none_or(|action| action.id == row.action));
            Ok(rows)
        }
    }
}

/// What a request says of a group; what it leaves out stays.
struct Wanted {
    members: Members,
    max_size: u32,
}

fn wanted(target: &Target<'_>, entry: &Entry<'_>, old: Option<(&Members, u32)>) -> Result<Wanted, Failure> {
    let name = &entry.table.name;
    let of = |means: Means| entry.data.iter().find(|one| one.field.means == means).map(|one| &one.value);
    let numbers = match of(Means::Member) {
        Some(Value::Numbers(numbers)) => Some(numbers.clone()),
        _ => None,
    };
    let status = match of(Means::MemberStatus) {
        Some(Value::Bools(status)) => Some(status.clone()),
        _ => None,
    };
    let members = match (numbers, status) {
        (Some(numbers), Some(status)) if numbers.len() != status.len() => {
            return Err(Failure::invalid(format!(
                "table {name}: {} members and {} states of members; give one for each",
                numbers.len(),
                status.len()
            )));
        }
        (Some(numbers), Some(status)) => numbers.into_iter().zip(status).collect(),
        (Some(numbers), None) => numbers.into_iter().map(|id| (id, true)).collect(),
        (None, Some(status)) if !status.is_empty() => {
            return Err(Failure::invalid(format!("table {name}: give $ACTION_MEMBER_ID with the states")));
        }
        (None, _) => old.map(|(members, _)| members.clone()).unwrap_or_default(),
    };
    let max_size = match of(Means::MaxGroupSize) {
        Some(Value::Number(size)) => u32::try_from(size.low_u64()).unwrap_or(u32::MAX),
        _ => match old {
            Some((_, max_size)) => max_size,
            None => default_size(target, entry),
        },
    };
    if members.len() > max_size as usize && max_size > 0 {
        return Err(Failure::exhausted(format!(
            "table {name}: {} members, and $MAX_GROUP_SIZE is {max_size}; raise it",
            members.len()
        )));
    }
    Ok(Wanted { members, max_size })
}

/// The size of a group that does not say it: what bf-rt.json gives.
fn default_size(target: &Target<'_>, entry: &Entry<'_>) -> u32 {
    let mut fields = entry.table.data.iter().flat_map(|data| &data.fields);
    let of = fields.find(|field| field.means == Means::MaxGroupSize).map(|field| &field.ty);
    match (of, entry.table.object) {
        (Some(crate::schema::Type::Int(_, Some(size))), _) => u32::try_from(*size).unwrap_or(0),
        (_, Object::Groups(profile)) => target.program.profiles[profile.index()].max_group_size,
        _ => 0,
    }
}

/// Adds, changes or removes groups.
pub(super) fn write_group(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &Entry<'_>,
    profile: ProfileId,
) -> Result<Done, Failure> {
    if entry.is_default {
        return Err(no_default(entry));
    }
    if verb == Verb::Delete && entry.key.is_none() {
        let ids: Vec<u32> = target.state()?.groups(profile).map(|group| group.id).collect();
        for id in ids {
            delete_group(target, profile, id)?;
        }
        return Ok(Done::Applied);
    }
    let id = number(entry, Means::Group)?;
    if verb == Verb::Delete {
        delete_group(target, profile, id)?;
        return Ok(Done::Applied);
    }
    let there = target.state()?.group(profile, id);
    let old = there.map(|group| (target.kept.groups.members(profile, group), group.max_size));
    let is_new = match verb {
        Verb::Insert => true,
        Verb::InsertOrModify => old.is_none(),
        _ => false,
    };
    let mut wanted = wanted(target, entry, old.as_ref().filter(|_| !is_new).map(|(all, size)| (all, *size)))?;
    match (verb, &old) {
        (Verb::Add | Verb::Remove, Some((members, size))) => {
            wanted = changed(entry, members, *size, wanted.members, verb == Verb::Remove)?;
        }
        (Verb::Reset, _) => {
            let name = &entry.table.name;
            return Err(Failure::unimplemented(format!("table {name}: groups are modified or deleted")));
        }
        _ => {}
    }
    let group = Group { id, max_size: wanted.max_size, members: active(&wanted.members) };
    check_group(target, entry, profile, &group, &wanted.members)?;
    let tells = target.kept.attributes.notifies_changes(entry.table.id);
    let state = target.state_mut()?;
    let places = |state: &State| {
        if tells { state.group_places(profile, id).into_iter().collect() } else { BTreeSet::new() }
    };
    let before = places(state);
    match is_new {
        true => state.group_insert(profile, group)?,
        false => state.group_modify(profile, group)?,
    }
    let changed = changes(id, &before, &places(state));
    target.kept.changes.extend(changed);
    target.kept.groups.of.insert((profile, id), wanted.members);
    let offset = entry.data.iter().find(|one| one.field.name == OFFSET);
    if let Some(Value::Number(offset)) = offset.map(|one| &one.value) {
        target.kept.groups.offsets.insert((profile, id), offset.clone());
    }
    Ok(if verb == Verb::InsertOrModify && !is_new { Done::Modified } else { Done::Applied })
}

/// Places of the selector's memory that have another active member than before.
fn changes(group: u32, before: &BTreeSet<(u32, u32)>, after: &BTreeSet<(u32, u32)>) -> Vec<GroupChange> {
    let change = |(place, member), is_add| GroupChange { group, member, place, is_add };
    let gone = before.difference(after).map(|&one| change(one, false));
    let mut all: Vec<_> = gone.chain(after.difference(before).map(|&one| change(one, true))).collect();
    all.sort_by_key(|change| (change.place, change.is_add));
    all
}

/// A group with members more or fewer.
fn changed(
    entry: &Entry<'_>,
    old: &Members,
    max_size: u32,
    given: Members,
    takes_away: bool,
) -> Result<Wanted, Failure> {
    let mut members = old.clone();
    if !takes_away {
        members.extend(given);
    } else {
        for (id, _) in given {
            let Some(at) = members.iter().position(|(member, _)| *member == id) else {
                let name = &entry.table.name;
                return Err(Failure::not_found(format!("table {name}: member {id} is not in the group")));
            };
            members.remove(at);
        }
    }
    if members.len() > max_size as usize && max_size > 0 {
        return Err(Failure::exhausted(format!(
            "table {}: {} members, and $MAX_GROUP_SIZE is {max_size}; raise it",
            entry.table.name,
            members.len()
        )));
    }
    Ok(Wanted { members, max_size })
}

/// Members must be there, those that are switched off too; a group that entries use must lead somewhere.
fn check_group(
    target: &Target<'_>,
    entry: &Entry<'_>,
    profile: ProfileId,
    group: &Group,
    members: &Members,
) -> Result<(), Failure> {
    let (state, name) = (target.state()?, &entry.table.name);
    if let Some((id, _)) = members.iter().find(|(id, _)| state.member(profile, *id).is_none()) {
        return Err(Failure::not_found(format!("table {name}: there is no member {id}; add it first")));
    }
    if group.members.is_empty() && is_used(target, profile, group.id)? {
        let id = group.id;
        return Err(Failure::new(
            Code::InvalidArgument,
            format!("table {name}: group {id} would have no active member, and entries use it"),
        ));
    }
    Ok(())
}

fn is_used(target: &Target<'_>, profile: ProfileId, group: u32) -> Result<bool, Failure> {
    let state = target.state()?;
    let tables = target.program.tables.iter().enumerate().filter(|(_, table)| table.profile == Some(profile));
    let uses = |entry: &p4cc_exec::control::TableEntry| matches!(entry.action, p4cc_exec::control::EntryAction::Group(id) if id == group);
    Ok(tables.into_iter().any(|(at, _)| state.table_entries(p4cc_ir::TableId::from_index(at)).any(uses)))
}

fn delete_group(target: &mut Target<'_>, profile: ProfileId, id: u32) -> Result<(), Failure> {
    target.state_mut()?.group_delete(profile, id)?;
    target.kept.groups.of.remove(&(profile, id));
    target.kept.groups.offsets.remove(&(profile, id));
    Ok(())
}

/// Reads one group or all.
pub(super) fn read_groups(
    target: &mut Target<'_>,
    entry: &Entry<'_>,
    profile: ProfileId,
) -> Result<Vec<Row>, Failure> {
    if entry.is_default {
        return Ok(Vec::new());
    }
    let wanted = entry.key.as_ref().map(|_| number(entry, Means::Group)).transpose()?;
    let groups = target.window.of(target.state()?.groups(profile));
    let groups = groups.filter(|group| wanted.is_none_or(|id| group.id == id));
    let row = |group: &Group| {
        let members = target.kept.groups.members(profile, group);
        let value = |field: &Field| match field.means {
            Means::Member => Some(Value::Numbers(members.iter().map(|(id, _)| *id).collect())),
            Means::MemberStatus => Some(Value::Bools(members.iter().map(|(_, active)| *active).collect())),
            Means::MaxGroupSize => {
                Some(Value::Number(Bits::from_u128(field.ty.width(), group.max_size.into())))
            }
            _ if field.name == OFFSET => {
                target.kept.groups.offsets.get(&(profile, group.id)).cloned().map(Value::Number)
            }
            _ => None,
        };
        let fields = entry.table.data.iter().flat_map(|data| &data.fields);
        let data = fields.filter_map(|field| Some((field.id, value(field)?))).collect();
        Row { key: key(entry.table, Means::Group, group.id), action: 0, data }
    };
    let rows: Vec<Row> = groups.map(row).collect();
    match (wanted, rows.first()) {
        (Some(id), None) => Err(Failure::not_found(format!("table {} has no group {id}", entry.table.name))),
        _ => Ok(rows),
    }
}

/// Reads which member of a group a hash value chooses.
pub(super) fn read_chosen(
    target: &mut Target<'_>,
    entry: &Entry<'_>,
    profile: ProfileId,
) -> Result<Vec<Row>, Failure> {
    let name = &entry.table.name;
    let Some(given) = &entry.key else { return Ok(Vec::new()) };
    let id = number(entry, Means::Group)?;
    let hash = given.iter().find(|one| one.key.means != Means::Group).map(|one| &one.value);
    let hash = match hash {
        Some(Match::Exact(value)) => value.low_u64(),
        _ => 0,
    };
    let group = target.state()?.group(profile, id);
    let Some(group) = group else {
        return Err(Failure::not_found(format!("table {name}: there is no group {id}")));
    };
    // In the order in which packets choose among them.
    let mut members: Vec<_> = group.members.iter().collect();
    members.sort_by_key(|member| member.member_id);
    let slots: u64 = members.iter().map(|member| u64::from(member.weight)).sum();
    if slots == 0 {
        return Err(Failure::not_found(format!("table {name}: group {id} has no active member")));
    }
    let mut slot = hash % slots;
    let chosen = members.into_iter().find(|member| {
        let is_here = slot < u64::from(member.weight);
        slot = slot.saturating_sub(u64::from(member.weight));
        is_here
    });
    let fields = entry.table.data.iter().flat_map(|data| &data.fields);
    let value = |field: &Field| {
        Some((field.id, Value::Number(Bits::from_u128(field.ty.width(), chosen?.member_id.into()))))
    };
    let data = fields.filter_map(value).collect();
    let key = given.iter().map(|one| (one.key.id, one.value.clone())).collect();
    Ok(vec![Row { key: Some(key), action: 0, data }])
}
