//! Action profiles: members and groups.

use p4cc_exec::control::{ControlError, Group, GroupMember, Member};
use p4cc_ir::{ProfileId, Program};

use super::entries::{action_data, call};
use super::{Entry, names, of_switch};
use crate::fault::{Fault, Outcome, table};
use crate::service::{Answer, Args, Context};
use crate::value::{Type, Value};

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    of_switch(
        "standard",
        [
            ("bm_mt_act_prof_add_member", add_member),
            ("bm_mt_act_prof_delete_member", delete_member),
            ("bm_mt_act_prof_modify_member", modify_member),
            ("bm_mt_act_prof_get_members", get_members),
            ("bm_mt_act_prof_get_member", get_member),
            ("bm_mt_act_prof_create_group", create_group),
            ("bm_mt_act_prof_delete_group", delete_group),
            ("bm_mt_act_prof_add_member_to_group", add_to_group),
            ("bm_mt_act_prof_remove_member_from_group", remove_from_group),
            ("bm_mt_act_prof_get_groups", get_groups),
            ("bm_mt_act_prof_get_group", get_group),
        ],
    )
}

fn profile_of(context: &Context<'_>, args: &Args<'_>) -> Outcome<ProfileId> {
    names::profile(&*context.program()?, args.text(2)?)
}

fn no_member(id: u32) -> Fault {
    Fault::new(table::INVALID_MBR_HANDLE, format!("there is no member {id}"))
}

fn no_group(id: u32) -> Fault {
    Fault::new(table::INVALID_GRP_HANDLE, format!("there is no group {id}"))
}

/// A refusal to delete what groups or entries use, with its code.
fn still_used(code: i32) -> impl Fn(ControlError) -> Fault {
    move |error| match error {
        ControlError::FailedPrecondition(cause) => Fault::new(code, cause),
        other => Fault::of_table(other),
    }
}

/// The lowest number that nobody has.
fn free_id(mut used: Vec<u32>) -> u32 {
    used.sort_unstable();
    (0..).zip(&used).find(|(free, used)| free != *used).map_or(used.len() as u32, |(free, _)| free)
}

fn add_member(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let program = context.program()?;
    let profile = profile_of(context, args)?;
    let action = names::profile_action(&program, profile, args.text(3)?)?;
    let action = call(&program, action, args.list(4)?)?;
    let state = context.state_mut()?;
    let id = free_id(state.members(profile).map(|member| member.id).collect());
    state.member_insert(profile, Member { id, action }).map_err(Fault::of_table)?;
    Ok(Some(Value::I32(id as i32)))
}

fn modify_member(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let program = context.program()?;
    let (profile, id) = (profile_of(context, args)?, args.u32(3)?);
    let action = names::profile_action(&program, profile, args.text(4)?)?;
    let action = call(&program, action, args.list(5)?)?;
    member(context, profile, id)?;
    context.state_mut()?.member_modify(profile, Member { id, action }).map_err(Fault::of_table)?;
    Ok(None)
}

pub(super) fn member(context: &Context<'_>, profile: ProfileId, id: u32) -> Outcome<Member> {
    let found = context.state()?.members(profile).find(|member| member.id == id).cloned();
    found.ok_or_else(|| no_member(id))
}

pub(super) fn group(context: &Context<'_>, profile: ProfileId, id: u32) -> Outcome<Group> {
    let found = context.state()?.groups(profile).find(|group| group.id == id).cloned();
    found.ok_or_else(|| no_group(id))
}

fn delete_member(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (profile, id) = (profile_of(context, args)?, args.u32(3)?);
    member(context, profile, id)?;
    let deleted = context.state_mut()?.member_delete(profile, id);
    deleted.map_err(still_used(table::MBR_STILL_USED))?;
    Ok(None)
}

fn member_value(program: &Program, member: &Member) -> Value {
    let name = &program.actions[member.action.action.index()].cp.name;
    let handle = Value::I32(member.id as i32);
    Value::structure([(1, handle), (2, Value::text(name)), (3, action_data(&member.action))])
}

fn get_members(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let program = context.program()?;
    let profile = profile_of(context, args)?;
    let members = context.state()?.members(profile).map(|member| member_value(&program, member));
    Ok(Some(Value::structs(members.collect())))
}

fn get_member(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let program = context.program()?;
    let profile = profile_of(context, args)?;
    Ok(Some(member_value(&program, &member(context, profile, args.u32(3)?)?)))
}

fn create_group(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let profile = profile_of(context, args)?;
    let state = context.state_mut()?;
    let id = free_id(state.groups(profile).map(|group| group.id).collect());
    let group = Group { id, max_size: 0, members: Vec::new() };
    state.group_insert(profile, group).map_err(Fault::of_table)?;
    Ok(Some(Value::I32(id as i32)))
}

fn delete_group(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (profile, id) = (profile_of(context, args)?, args.u32(3)?);
    group(context, profile, id)?;
    let deleted = context.state_mut()?.group_delete(profile, id);
    deleted.map_err(still_used(table::GRP_STILL_USED))?;
    Ok(None)
}

fn add_to_group(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (profile, member_id) = (profile_of(context, args)?, args.u32(3)?);
    let mut group = group(context, profile, args.u32(4)?)?;
    member(context, profile, member_id)?;
    if group.members.iter().any(|member| member.member_id == member_id) {
        let cause = format!("member {member_id} is in group {} already", group.id);
        return Err(Fault::new(table::MBR_ALREADY_IN_GRP, cause));
    }
    group.members.push(GroupMember { member_id, weight: 1, watch_port: None });
    context.state_mut()?.group_modify(profile, group).map_err(Fault::of_table)?;
    Ok(None)
}

fn remove_from_group(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (profile, member_id) = (profile_of(context, args)?, args.u32(3)?);
    let mut group = group(context, profile, args.u32(4)?)?;
    let before = group.members.len();
    group.members.retain(|member| member.member_id != member_id);
    if group.members.len() == before {
        let cause = format!("member {member_id} is not in group {}", group.id);
        return Err(Fault::new(table::MBR_NOT_IN_GRP, cause));
    }
    context.state_mut()?.group_modify(profile, group).map_err(Fault::of_table)?;
    Ok(None)
}

fn group_value(group: &Group) -> Value {
    let members = group.members.iter().map(|member| Value::I32(member.member_id as i32)).collect();
    Value::structure([(1, Value::I32(group.id as i32)), (2, Value::List(Type::I32, members))])
}

fn get_groups(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let profile = profile_of(context, args)?;
    Ok(Some(Value::structs(context.state()?.groups(profile).map(group_value).collect())))
}

fn get_group(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let profile = profile_of(context, args)?;
    Ok(Some(group_value(&group(context, profile, args.u32(3)?)?)))
}
