//! Members and groups of action profiles and selectors.

#![expect(deprecated, reason = "deprecated fields are read, to be honoured or refused")]

use p4cc_exec::control::{Group, GroupMember, Member, PortForm, WatchPort};
use p4cc_ir::ProfileId;

use super::piece::{Cursor, Piece, Progress};
use super::replication::{parse_port, port_bytes};
use super::{Target, Verb};
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
    if verb != Verb::Delete && declared.selector.is_some() {
        check_max_size(target, verb, given, declared.max_group_size)?;
        let watched = given.members.iter().map(|member| (member.member_id, &member.watch_kind));
        for (member, kind) in watched {
            let what = || format!("{}, group {}, member {member}", declared.cp.name, given.group_id);
            check_watch_port(target, kind.as_ref().map(watch_of), what)?;
        }
    }
    put_group(target, verb, given)
}

/// A group's size is bounded where the program bounds it, and stays
/// as it was inserted (P4Runtime "Rules on Setting `max_size`").
fn check_max_size(
    target: &Target<'_>,
    verb: Verb,
    given: &p4::ActionProfileGroup,
    max_group_size: u32,
) -> Result<(), Failure> {
    let (id, max_size) = (given.group_id, given.max_size);
    let profile = target.catalog.profile(given.action_profile_id)?;
    let name = &target.catalog.program.profiles[profile.index()].cp.name;
    if max_group_size > 0 && max_size == 0 {
        return Err(Failure::invalid(format!(
            "{name}, group {id}: max_size is 0; the program's max_group_size is {max_group_size}, so give 1 to \
             {max_group_size}"
        )));
    }
    let old = target.state()?.groups(profile).find(|group| group.id == id);
    match old.filter(|_| verb == Verb::Modify).map(|group| group.max_size) {
        Some(old) if i64::from(old) != i64::from(max_size) => Err(Failure::invalid(format!(
            "{name}, group {id}: max_size {max_size} is not that of the group's insertion, {old}, which stays"
        ))),
        _ => Ok(()),
    }
}

/// A port to watch, as either message gives it.
pub(super) enum Watch<'a> {
    Number(i32),
    Bytes(&'a [u8]),
}

fn watch_of(kind: &WatchKind) -> Watch<'_> {
    match kind {
        WatchKind::Watch(port) => Watch::Number(*port),
        WatchKind::WatchPort(bytes) => Watch::Bytes(bytes),
    }
}

/// Reads a port to watch; none where its byte string is empty.
pub(super) fn parse_watch_port(
    watch: Option<Watch<'_>>,
    what: impl Fn() -> String,
) -> Result<Option<WatchPort>, Failure> {
    Ok(match watch {
        None | Some(Watch::Bytes([])) => None,
        Some(Watch::Bytes(bytes)) => Some(WatchPort {
            port: parse_port(bytes, &format!("{}, watch port", what()))?,
            form: PortForm::Bytes,
        }),
        Some(Watch::Number(number)) => {
            let port = u32::try_from(number)
                .map_err(|_| Failure::invalid(format!("{}: watch port {number} is negative", what())))?;
            Some(WatchPort { port, form: PortForm::Number })
        }
    })
}

/// Checks that a port to watch is one of the device.
pub(super) fn check_watch_port(
    target: &Target<'_>,
    watch: Option<Watch<'_>>,
    what: impl Fn() -> String,
) -> Result<(), Failure> {
    match parse_watch_port(watch, &what)? {
        Some(WatchPort { port, .. }) if !target.is_replay && !target.switch.has_port(port) => {
            Err(Failure::invalid(format!(
                "{}: watch port {port} is not a port of the device; name one that is, or omit it",
                what()
            )))
        }
        _ => Ok(()),
    }
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
    let watch = given.watch_kind.as_ref().map(watch_of);
    let watch_port = parse_watch_port(watch, || format!("{what}, member {member_id}"))?;
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
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let state = target.state()?;
    let all = wanted(target, given.action_profile_id)?;
    while let Some(&(action_profile_id, profile)) = all.get(cursor.object()) {
        for member in state.members(profile).skip(cursor.at()) {
            if piece.is_full() {
                return Ok(Progress::More);
            }
            cursor.advance();
            piece.look();
            if given.member_id == 0 || member.id == given.member_id {
                let action = Some(action(target.catalog, &member.action));
                let member_id = member.id;
                piece.push(Of::ActionProfileMember(p4::ActionProfileMember {
                    action_profile_id,
                    member_id,
                    action,
                }));
            }
        }
        cursor.next_object();
    }
    Ok(Progress::Done)
}

/// Reads one group, all of a selector, or all.
pub(super) fn read_groups(
    target: &Target<'_>,
    given: &p4::ActionProfileGroup,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let state = target.state()?;
    let all = wanted(target, given.action_profile_id)?;
    while let Some(&(action_profile_id, profile)) = all.get(cursor.object()) {
        for group in state.groups(profile).skip(cursor.at()) {
            if piece.is_full() {
                return Ok(Progress::More);
            }
            cursor.advance();
            piece.look();
            if given.group_id == 0 || group.id == given.group_id {
                piece.push(Of::ActionProfileGroup(group_message(action_profile_id, group)));
            }
        }
        cursor.next_object();
    }
    Ok(Progress::Done)
}

fn group_message(action_profile_id: u32, group: &Group) -> p4::ActionProfileGroup {
    let members = group.members.iter().map(|member| p4::action_profile_group::Member {
        member_id: member.member_id,
        weight: i32::try_from(member.weight).unwrap_or(i32::MAX),
        watch_kind: member.watch_port.map(|watched| match watched.form {
            PortForm::Bytes => WatchKind::WatchPort(port_bytes(watched.port)),
            PortForm::Number => WatchKind::Watch(i32::try_from(watched.port).unwrap_or(i32::MAX)),
        }),
    });
    p4::ActionProfileGroup {
        action_profile_id,
        group_id: group.id,
        members: members.collect(),
        max_size: i32::try_from(group.max_size).unwrap_or(i32::MAX),
    }
}
