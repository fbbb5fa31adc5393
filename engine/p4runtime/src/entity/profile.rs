//! Members and groups of action profiles and selectors.

#![expect(deprecated, reason = "deprecated fields are read, to be honoured or refused")]

use p4cc_exec::control::{Group, GroupMember, Member};
use p4cc_ir::ProfileId;

use super::replication::{parse_port, port_bytes};
use super::{Target, Verb, push};
use crate::entries::{Place, action, parse_action};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::action_profile_group::member::WatchKind;
use p4::entity::Entity as Of;

/// Inserts, changes or removes a member.
pub(super) fn write_member(
    target: &mut Target<'_>,
    verb: Verb,
    given: &p4::ActionProfileMember,
) -> Result<(), Failure> {
    let profile = target.catalog.profile(given.action_profile_id)?;
    if given.member_id == 0 {
        let name = &target.catalog.program.profiles[profile.index()].cp.name;
        return Err(Failure::invalid(format!(
            "{name}: member id 0 is not allowed; members are numbered from 1"
        )));
    }
    put_member(target, verb, given)
}

/// The same for any id: BMv2's calls count from 0.
pub(crate) fn put_member(
    target: &mut Target<'_>,
    verb: Verb,
    given: &p4::ActionProfileMember,
) -> Result<(), Failure> {
    let catalog = target.catalog;
    let profile = catalog.profile(given.action_profile_id)?;
    let name = &catalog.program.profiles[profile.index()].cp.name;
    let id = given.member_id;
    if verb == Verb::Delete {
        return Ok(target.state_mut()?.member_delete(profile, id)?);
    }
    let Some(given) = &given.action else {
        return Err(Failure::invalid(format!("{name}, member {id}: the action is missing")));
    };
    let Some(table) = catalog.table_of_profile(profile) else {
        return Err(Failure::invalid(format!("{name}: no table uses this profile, so it takes no members")));
    };
    let member = Member { id, action: parse_action(catalog, table, given, Place::Entry)? };
    let state = target.state_mut()?;
    Ok(if verb == Verb::Insert {
        state.member_insert(profile, member)
    } else {
        state.member_modify(profile, member)
    }?)
}

/// Inserts, changes or removes a group.
pub(super) fn write_group(
    target: &mut Target<'_>,
    verb: Verb,
    given: &p4::ActionProfileGroup,
) -> Result<(), Failure> {
    let profile = target.catalog.profile(given.action_profile_id)?;
    let declared = &target.catalog.program.profiles[profile.index()];
    if given.group_id == 0 && declared.selector.is_some() {
        return Err(Failure::invalid(format!(
            "{}, group 0: group id 0 is not allowed; groups are numbered from 1",
            declared.cp.name
        )));
    }
    put_group(target, verb, given)
}

/// The same for any id: BMv2's calls count from 0.
pub(crate) fn put_group(
    target: &mut Target<'_>,
    verb: Verb,
    given: &p4::ActionProfileGroup,
) -> Result<(), Failure> {
    let catalog = target.catalog;
    let profile = catalog.profile(given.action_profile_id)?;
    let declared = &catalog.program.profiles[profile.index()];
    let what = format!("{}, group {}", declared.cp.name, given.group_id);
    if declared.selector.is_none() {
        let name = &declared.cp.name;
        return Err(Failure::invalid(format!(
            "{name} is an action profile without selector, it has no groups"
        )));
    }
    if verb == Verb::Delete {
        return Ok(target.state_mut()?.group_delete(profile, given.group_id)?);
    }
    let max_size = u32::try_from(given.max_size)
        .map_err(|_| Failure::invalid(format!("{what}: max_size {} is negative", given.max_size)))?;
    let members = given.members.iter().map(|member| parse_group_member(&what, member));
    let group = Group { id: given.group_id, max_size, members: members.collect::<Result<_, _>>()? };
    let state = target.state_mut()?;
    Ok(if verb == Verb::Insert {
        state.group_insert(profile, group)
    } else {
        state.group_modify(profile, group)
    }?)
}

fn parse_group_member(what: &str, given: &p4::action_profile_group::Member) -> Result<GroupMember, Failure> {
    let member_id = given.member_id;
    let weight = u32::try_from(given.weight).ok().filter(|weight| *weight > 0).ok_or_else(|| {
        Failure::invalid(format!("{what}, member {member_id}: weight {} is not 1 or more", given.weight))
    })?;
    let watch_port = match &given.watch_kind {
        None => None,
        Some(WatchKind::WatchPort(bytes)) if bytes.is_empty() => None,
        Some(WatchKind::WatchPort(bytes)) => {
            Some(parse_port(bytes, &format!("{what}, member {member_id}, watch port"))?)
        }
        Some(WatchKind::Watch(port)) => Some(u32::try_from(*port).map_err(|_| {
            Failure::invalid(format!("{what}, member {member_id}: watch port {port} is negative"))
        })?),
    };
    Ok(GroupMember { member_id, weight, watch_port })
}

fn wanted(target: &Target<'_>, id: u32) -> Result<Vec<(u32, ProfileId)>, Failure> {
    if id == 0 {
        return Ok(target.catalog.profiles().collect());
    }
    Ok(vec![(id, target.catalog.profile(id)?)])
}

/// Reads one member, all of a profile, or all.
pub(super) fn read_members(
    target: &Target<'_>,
    given: &p4::ActionProfileMember,
    out: &mut Vec<p4::Entity>,
) -> Result<(), Failure> {
    let state = target.state()?;
    for (action_profile_id, profile) in wanted(target, given.action_profile_id)? {
        for member in
            state.members(profile).filter(|member| given.member_id == 0 || member.id == given.member_id)
        {
            let action = Some(action(target.catalog, &member.action));
            push(
                out,
                Of::ActionProfileMember(p4::ActionProfileMember {
                    action_profile_id,
                    member_id: member.id,
                    action,
                }),
            )?;
        }
    }
    Ok(())
}

/// Reads one group, all of a selector, or all.
pub(super) fn read_groups(
    target: &Target<'_>,
    given: &p4::ActionProfileGroup,
    out: &mut Vec<p4::Entity>,
) -> Result<(), Failure> {
    let state = target.state()?;
    for (action_profile_id, profile) in wanted(target, given.action_profile_id)? {
        for group in state.groups(profile).filter(|group| given.group_id == 0 || group.id == given.group_id) {
            let members = group.members.iter().map(|member| p4::action_profile_group::Member {
                member_id: member.member_id,
                weight: i32::try_from(member.weight).unwrap_or(i32::MAX),
                watch_kind: member.watch_port.map(|port| WatchKind::WatchPort(port_bytes(port))),
            });
            push(
                out,
                Of::ActionProfileGroup(p4::ActionProfileGroup {
                    action_profile_id,
                    group_id: group.id,
                    members: members.collect(),
                    max_size: i32::try_from(group.max_size).unwrap_or(i32::MAX),
                }),
            )?;
        }
    }
    Ok(())
}
