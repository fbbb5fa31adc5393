//! One-shot action sets: a table entry with actions of its own in place of a group and its members.

#![expect(deprecated, reason = "the numeric watch port is honoured")]

use p4cc_exec::control::SetMember;

use super::replication::{parse_port, port_bytes};
use crate::catalog::{Catalog, TableInfo};
use crate::entries::{Place, action, parse_action};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::action_profile_action::WatchKind;

/// Reads the actions of a set.
pub(super) fn parse(
    catalog: &Catalog,
    info: &TableInfo,
    given: &p4::ActionProfileActionSet,
) -> Result<Vec<SetMember>, Failure> {
    let name = catalog.table_name(info.table);
    if given.action_selection_mode != 0 || given.size_semantics != 0 {
        return Err(Failure::unimplemented(format!(
            "table {name}: selection mode and size semantics are those of the action selector; leave them out"
        )));
    }
    given.action_profile_actions.iter().map(|one| parse_one(catalog, info, one)).collect()
}

fn parse_one(
    catalog: &Catalog,
    info: &TableInfo,
    given: &p4::ActionProfileAction,
) -> Result<SetMember, Failure> {
    let name = catalog.table_name(info.table);
    let Some(called) = &given.action else {
        return Err(Failure::invalid(format!("table {name}: an action of the set is missing")));
    };
    let weight = u32::try_from(given.weight).ok().filter(|weight| *weight > 0).ok_or_else(|| {
        Failure::invalid(format!("table {name}: weight {} in an action set is not 1 or more", given.weight))
    })?;
    let watch_port = match &given.watch_kind {
        None => None,
        Some(WatchKind::WatchPort(bytes)) if bytes.is_empty() => None,
        Some(WatchKind::WatchPort(bytes)) => Some(parse_port(bytes, &format!("table {name}, watch port"))?),
        Some(WatchKind::Watch(port)) => Some(
            u32::try_from(*port)
                .map_err(|_| Failure::invalid(format!("table {name}: watch port {port} is negative")))?,
        ),
    };
    Ok(SetMember { action: parse_action(catalog, info, called, Place::Entry)?, weight, watch_port })
}

/// The actions of a set as they were given.
pub(super) fn message(catalog: &Catalog, members: &[SetMember]) -> p4::ActionProfileActionSet {
    let one = |member: &SetMember| p4::ActionProfileAction {
        action: Some(action(catalog, &member.action)),
        weight: i32::try_from(member.weight).unwrap_or(i32::MAX),
        watch_kind: member.watch_port.map(|port| WatchKind::WatchPort(port_bytes(port))),
    };
    p4::ActionProfileActionSet {
        action_profile_actions: members.iter().map(one).collect(),
        ..Default::default()
    }
}
