//! One-shot action sets: a table entry with actions of its own in place of a group and its members.

#![expect(deprecated, reason = "the numeric watch port is honoured")]

use p4cc_exec::control::{ActionSet, PortForm, SetMember, SizeSemantics};

use super::Target;
use super::profile::{Watch, check_watch_port, parse_watch_port};
use super::replication::port_bytes;
use crate::catalog::Catalog;
use crate::entries::{Place, action, parse_action};
use crate::errors::Failure;
use crate::objects::TableInfo;
use crate::proto::p4::v1 as p4;
use p4::action_profile_action::WatchKind;
use p4::action_profile_action_set::{ActionSelectionMode as Mode, SizeSemantics as Size};

/// Reads the actions of a set. Its size may count in either
/// way; its choice is the selector's, which is by hash.
pub(super) fn parse(
    target: &Target<'_>,
    info: &TableInfo,
    given: &p4::ActionProfileActionSet,
) -> Result<ActionSet, Failure> {
    let catalog = target.catalog;
    let name = catalog.table_name(info.table);
    let by_hash = match Mode::try_from(given.action_selection_mode) {
        Ok(Mode::DefaultModeDeterminedByActionSelector) => false,
        Ok(Mode::Hash) => true,
        Ok(Mode::Random) => {
            return Err(Failure::unimplemented(format!(
                "table {name}: actions of a set are chosen by hash, not at random; give HASH or leave the mode out"
            )));
        }
        Err(_) => {
            let mode = given.action_selection_mode;
            return Err(Failure::invalid(format!("table {name}: there is no action selection mode {mode}")));
        }
    };
    let size = match Size::try_from(given.size_semantics) {
        Ok(Size::DefaultSizeDeterminedByActionSelector) => SizeSemantics::Declared,
        Ok(Size::SumOfWeights) => SizeSemantics::Weights,
        Ok(Size::SumOfMembers) => SizeSemantics::Members,
        Err(_) => {
            let size = given.size_semantics;
            return Err(Failure::invalid(format!("table {name}: there are no size semantics {size}")));
        }
    };
    let members = given.action_profile_actions.iter().map(|one| parse_one(target, info, one));
    Ok(ActionSet { members: members.collect::<Result<_, _>>()?, by_hash, size })
}

fn parse_one(
    target: &Target<'_>,
    info: &TableInfo,
    given: &p4::ActionProfileAction,
) -> Result<SetMember, Failure> {
    let catalog = target.catalog;
    let name = catalog.table_name(info.table);
    let Some(called) = &given.action else {
        return Err(Failure::invalid(format!("table {name}: an action of the set is missing")));
    };
    let weight = u32::try_from(given.weight).ok().filter(|weight| *weight > 0).ok_or_else(|| {
        Failure::invalid(format!("table {name}: weight {} in an action set is not 1 or more", given.weight))
    })?;
    let watch = || {
        given.watch_kind.as_ref().map(|kind| match kind {
            WatchKind::Watch(port) => Watch::Number(*port),
            WatchKind::WatchPort(bytes) => Watch::Bytes(bytes),
        })
    };
    let place = || format!("table {name}, action set");
    check_watch_port(target, watch(), place)?;
    let watch_port = parse_watch_port(watch(), place)?;
    Ok(SetMember { action: parse_action(catalog, info, called, Place::Entry)?, weight, watch_port })
}

/// The actions of a set as they were given.
pub(super) fn message(catalog: &Catalog, set: &ActionSet) -> p4::ActionProfileActionSet {
    let one = |member: &SetMember| p4::ActionProfileAction {
        action: Some(action(catalog, &member.action)),
        weight: i32::try_from(member.weight).unwrap_or(i32::MAX),
        watch_kind: member.watch_port.map(|watched| match watched.form {
            PortForm::Bytes => WatchKind::WatchPort(port_bytes(watched.port)),
            PortForm::Number => WatchKind::Watch(i32::try_from(watched.port).unwrap_or(i32::MAX)),
        }),
    };
    let mode = if set.by_hash { Mode::Hash } else { Mode::DefaultModeDeterminedByActionSelector };
    let size = match set.size {
        SizeSemantics::Declared => Size::DefaultSizeDeterminedByActionSelector,
        SizeSemantics::Weights => Size::SumOfWeights,
        SizeSemantics::Members => Size::SumOfMembers,
    };
    p4::ActionProfileActionSet {
        action_profile_actions: set.members.iter().map(one).collect(),
        action_selection_mode: mode.into(),
        size_semantics: size.into(),
    }
}
