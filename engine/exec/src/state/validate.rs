//! Checks of control-plane requests against the program. Every refusal names the object, the value and the
//! remedy.

use p4cc_ir::{ActionCall, ActionScope, Bits, Key, MatchKind, MatchValue, Profile, Program, Table, VarType};

use super::taken::Taken;
use crate::control::{ActionSet, ControlError, EntryAction, Group, SizeSemantics, TableEntry};

fn invalid(text: String) -> ControlError {
    ControlError::InvalidArgument(text)
}

/// An index past the cells of an array.
pub(super) fn past_end(kind: &str, name: &str, index: u64, size: usize) -> ControlError {
    match size {
        0 => ControlError::OutOfRange(format!("{kind} `{name}` has no cells, so no index {index}")),
        _ => ControlError::OutOfRange(format!(
            "{kind} `{name}` has {size} cells: index {index} is past the last, {}",
            size - 1
        )),
    }
}

/// An object that the program does not have.
pub(super) fn unknown(kind: &str, id: impl core::fmt::Display) -> ControlError {
    ControlError::NotFound(format!("the program has no {kind} {id}"))
}

/// Keys that entries match: all but selector inputs.
pub(crate) fn match_keys(table: &Table) -> impl Iterator<Item = &Key> {
    table.keys.iter().filter(|key| key.kind != MatchKind::Selector)
}

/// Whether entries need a priority.
pub(crate) fn needs_priority(table: &Table) -> bool {
    table
        .keys
        .iter()
        .any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional))
}

fn value_name(value: &MatchValue) -> &'static str {
    match value {
        MatchValue::Any => "no value",
        MatchValue::Exact(_) => "an exact value",
        MatchValue::Lpm { .. } => "a prefix",
        MatchValue::Ternary { .. } => "a value and mask",
        MatchValue::Range { .. } => "a range",
    }
}

fn all_ones(bits: &Bits) -> bool {
    *bits == Bits::from_words(bits.width(), &vec![u64::MAX; bits.words().len()])
}

/// The mask of a prefix.
pub(crate) fn prefix_mask(width: u32, len: u32) -> Bits {
    let mut words = vec![u64::MAX; p4cc_ir::bits::words_for(width)];
    let low = width.saturating_sub(len);
    for (i, word) in words.iter_mut().enumerate() {
        let below = low.saturating_sub(i as u32 * 64);
        *word = if below >= 64 { 0 } else { u64::MAX << below };
    }
    Bits::from_words(width, &words)
}

/// Whether `value` has no bit outside `mask`.
fn within(value: &Bits, mask: &Bits) -> bool {
    value.words().iter().zip(mask.words()).all(|(value, mask)| value & !mask == 0)
}

/// Whether `low` is at most `high`, as numbers of a type.
fn ordered(low: &Bits, high: &Bits, ty: VarType) -> bool {
    match (is_negative(low, ty), is_negative(high, ty)) {
        (true, false) => true,
        (false, true) => false,
        _ => !high.words().iter().rev().lt(low.words().iter().rev()),
    }
}

fn is_negative(value: &Bits, ty: VarType) -> bool {
    matches!(ty, VarType::Int(width) if width > 0 && !value.slice(width - 1, 1).is_zero())
}

/// Whether a range holds all values of a type.
pub(crate) fn is_full(low: &Bits, high: &Bits, ty: VarType) -> bool {
    let width = ty.width();
    match ty {
        VarType::Int(_) => {
            let least = prefix_mask(width, 1);
            let all = prefix_mask(width, width);
            let mut ends = high.words().iter().zip(least.words()).zip(all.words());
            *low == least && ends.all(|((high, least), all)| high ^ least == *all)
        }
        _ => low.is_zero() && all_ones(high),
    }
}

/// Writes a value that means "anything" as [`MatchValue::Any`]: the source may spell it out.
pub(crate) fn canonical(value: &MatchValue, ty: VarType) -> MatchValue {
    match value {
        MatchValue::Lpm { len: 0, .. } => MatchValue::Any,
        MatchValue::Ternary { mask, .. } if mask.is_zero() => MatchValue::Any,
        MatchValue::Range { low, high } if is_full(low, high, ty) => MatchValue::Any,
        other => other.clone(),
    }
}

/// Checks one match value against a key: `place` names both.
pub(crate) fn match_value(
    place: &str,
    kind: MatchKind,
    ty: VarType,
    value: &MatchValue,
) -> Result<(), ControlError> {
    let width = ty.width();
    let check_width = |bits: &Bits| {
        if bits.width() == width {
            return Ok(());
        }
        Err(invalid(format!("{place} is {width} bits wide, but {bits} has {} bits", bits.width())))
    };
    match (kind, value) {
        (MatchKind::Exact, MatchValue::Exact(bits)) | (MatchKind::Optional, MatchValue::Exact(bits)) => {
            check_width(bits)
        }
        (MatchKind::Exact, MatchValue::Any) => {
            Err(invalid(format!("{place} is exact and needs a value; give one")))
        }
        (_, MatchValue::Any) => Ok(()),
        (MatchKind::Lpm, MatchValue::Lpm { value, len }) => {
            check_width(value)?;
            if *len == 0 || *len > width {
                return Err(invalid(format!(
                    "{place}: prefix length {len} is not between 1 and {width}; to match anything leave the key out"
                )));
            }
            if !within(value, &prefix_mask(width, *len)) {
                return Err(invalid(format!(
                    "{place}: {value} has bits past its prefix of {len}; clear them"
                )));
            }
            Ok(())
        }
        (MatchKind::Ternary, MatchValue::Ternary { value, mask }) => {
            check_width(value)?;
            check_width(mask)?;
            if mask.is_zero() {
                return Err(invalid(format!("{place}: a zero mask matches anything; leave the key out")));
            }
            if !within(value, mask) {
                return Err(invalid(format!(
                    "{place}: {value} has bits outside of its mask {mask}; clear them"
                )));
            }
            Ok(())
        }
        (MatchKind::Range, MatchValue::Range { low, high }) => {
            check_width(low)?;
            check_width(high)?;
            if !ordered(low, high, ty) {
                return Err(invalid(format!("{place}: low end {low} lies above high end {high}; swap them")));
            }
            if is_full(low, high, ty) {
                return Err(invalid(format!("{place}: a full range matches anything; leave the key out")));
            }
            Ok(())
        }
        (kind, value) => Err(invalid(format!(
            "{place} matches by {}, but the request gives {}",
            kind.name(),
            value_name(value)
        ))),
    }
}

/// Checks matches and priority: the identity of an entry.
pub(crate) fn identity(
    program: &Program,
    table: &Table,
    matches: &[MatchValue],
    priority: u32,
) -> Result<(), ControlError> {
    let name = &table.cp.name;
    let keys = match_keys(table).count();
    if keys == 0 {
        return Err(invalid(format!(
            "table `{name}` has no key, so it takes no entries; set its default action instead"
        )));
    }
    if matches.len() != keys {
        return Err(invalid(format!(
            "table `{name}` has {keys} keys, but the request gives {} match values",
            matches.len()
        )));
    }
    for (key, value) in match_keys(table).zip(matches) {
        let ty = program.vars[key.var.index()].ty;
        match_value(&format!("key `{}` of table `{name}`", key.cp.name), key.kind, ty, value)?;
    }
    match (needs_priority(table), priority) {
        (true, 0) => Err(invalid(format!(
            "table `{name}` has ternary, range or optional keys, so an entry needs a priority above 0"
        ))),
        (false, 1..) => Err(invalid(format!(
            "table `{name}` has only exact and lpm keys, so priority must be 0, not {priority}"
        ))),
        _ => Ok(()),
    }
}

/// Checks an action call: known, argument count and widths.
pub(crate) fn call(program: &Program, place: &str, call: &ActionCall) -> Result<(), ControlError> {
    let Some(action) = program.actions.get(call.action.index()) else {
        return Err(invalid(format!("{place}: the program has no {}", call.action)));
    };
    let name = &action.cp.name;
    if call.args.len() != action.params.len() {
        return Err(invalid(format!(
            "{place}: action `{name}` takes {} arguments, but the request gives {}",
            action.params.len(),
            call.args.len()
        )));
    }
    for (param, value) in action.params.iter().zip(&call.args) {
        let width = program.vars[param.var.index()].ty.width();
        if value.width() != width {
            return Err(invalid(format!(
                "{place}: parameter `{}` of action `{name}` is {width} bits wide, but {value} has {} bits",
                param.cp.name,
                value.width()
            )));
        }
    }
    Ok(())
}

/// Checks that a table lists an action, with the scope that its use needs.
pub(crate) fn table_action(
    program: &Program,
    table: &Table,
    action_call: &ActionCall,
    as_default: bool,
) -> Result<(), ControlError> {
    let name = &table.cp.name;
    call(program, &format!("table `{name}`"), action_call)?;
    let action = &program.actions[action_call.action.index()].cp.name;
    let Some(listed) = table.actions.iter().find(|listed| listed.action == action_call.action) else {
        let names: Vec<String> = table
            .actions
            .iter()
            .map(|listed| format!("`{}`", program.actions[listed.action.index()].cp.name))
            .collect();
        return Err(invalid(format!(
            "action `{action}` is not one of table `{name}`; it lists {}",
            names.join(", ")
        )));
    };
    match (listed.scope, as_default) {
        (ActionScope::TableOnly, true) => Err(ControlError::PermissionDenied(format!(
            "action `{action}` is @tableonly in table `{name}`: it cannot be the default action"
        ))),
        (ActionScope::DefaultOnly, false) => Err(ControlError::PermissionDenied(format!(
            "action `{action}` is @defaultonly in table `{name}`: it is not allowed in an entry"
        ))),
        _ => Ok(()),
    }
}

/// Checks what an entry runs against the table's implementation;
/// members and groups are looked up by the caller.
pub(crate) fn entry_action(program: &Program, table: &Table, entry: &TableEntry) -> Result<(), ControlError> {
    let name = &table.cp.name;
    let profile = table.profile.map(|profile| &program.profiles[profile.index()]);
    match (&entry.action, profile) {
        (EntryAction::Direct(action), None) => table_action(program, table, action, false),
        (EntryAction::Direct(_), Some(profile)) => Err(invalid(format!(
            "table `{name}` is implemented by `{}`: give a member or group of it, not an action",
            profile.cp.name
        ))),
        (EntryAction::Member(id) | EntryAction::Group(id), None) => Err(invalid(format!(
            "table `{name}` has no action profile, so it cannot use member or group {id}; give an action"
        ))),
        (EntryAction::Set(_), None) => Err(invalid(format!(
            "table `{name}` has no action selector, so it cannot use an action set; give an action"
        ))),
        (EntryAction::Set(set), Some(_)) => {
            set.members.iter().try_for_each(|member| table_action(program, table, &member.action, false))
        }
        (EntryAction::Group(id), Some(profile)) if profile.selector.is_none() => Err(invalid(format!(
            "table `{name}` is implemented by action profile `{}`, which has no selector and so no group {id}; \
             give a member",
            profile.cp.name
        ))),
        _ => Ok(()),
    }
}

/// Checks a group on its own: selector, sizes, weights, distinct members.
pub(crate) fn group(profile: &Profile, group: &Group) -> Result<(), ControlError> {
    let name = &profile.cp.name;
    if profile.selector.is_none() {
        return Err(invalid(format!("action profile `{name}` has no selector, so it takes no groups")));
    }
    if profile.max_group_size > 0 && group.max_size > profile.max_group_size {
        return Err(invalid(format!(
            "group {} of `{name}` requests a size of {} at most, but the selector allows {}",
            group.id, group.max_size, profile.max_group_size
        )));
    }
    if group.max_size > profile.size {
        return Err(ControlError::ResourceExhausted(format!(
            "group {} of `{name}` requests a size of {} at most, but the selector has {} for all its groups",
            group.id, group.max_size, profile.size
        )));
    }
    let limit = if group.max_size > 0 { group.max_size } else { profile.max_group_size };
    let size = Taken::of_group(profile, group).size;
    if limit > 0 && size > u64::from(limit) {
        let what = if profile.member_weight_limit().is_some() { "members" } else { "sum of weights" };
        return Err(ControlError::ResourceExhausted(format!(
            "group {} of `{name}` holds {limit} at most ({what}), but the request gives {size}",
            group.id
        )));
    }
    let mut seen = std::collections::BTreeSet::new();
    for member in &group.members {
        let place = || format!("member {} in group {} of `{name}`", member.member_id, group.id);
        weight(profile, SizeSemantics::Declared, member.weight, place)?;
        if !seen.insert(member.member_id) {
            return Err(invalid(format!(
                "member {} is twice in group {} of `{name}`; give it once with a larger weight",
                member.member_id, group.id
            )));
        }
    }
    Ok(())
}

/// Checks the weight of one member.
fn weight(
    profile: &Profile,
    semantics: SizeSemantics,
    given: u32,
    place: impl Fn() -> String,
) -> Result<(), ControlError> {
    if given == 0 {
        return Err(invalid(format!("{} has weight 0; the least is 1", place())));
    }
    let limit = profile.member_weight_limit().filter(|_| semantics != SizeSemantics::Weights);
    match limit {
        Some(most) if most > 0 && u64::from(given) > most => {
            Err(invalid(format!("{} has weight {given}; @max_member_weight is {most}", place())))
        }
        _ => Ok(()),
    }
}

/// Checks an action set on its own: selector, size, weights.
pub(crate) fn set(profile: &Profile, set: &ActionSet) -> Result<(), ControlError> {
    let name = &profile.cp.name;
    if profile.selector.is_none() {
        return Err(invalid(format!("action profile `{name}` has no selector, so it takes no action sets")));
    }
    for member in &set.members {
        weight(profile, set.size, member.weight, || format!("an action in a set of `{name}`"))?;
    }
    let size = Taken::of_set(profile, set).size;
    if profile.max_group_size > 0 && size > u64::from(profile.max_group_size) {
        return Err(invalid(format!(
            "an action set of `{name}` has a size of {} at most, but the request gives {size}",
            profile.max_group_size
        )));
    }
    Ok(())
}

/// Checks one member of a value set.
pub(crate) fn value_set_member(
    name: &str,
    keys: &[(p4cc_ir::ControlPlaneName, VarType, MatchKind)],
    member: &[MatchValue],
    masks: bool,
) -> Result<(), ControlError> {
    if member.len() != keys.len() {
        return Err(invalid(format!(
            "value set `{name}` has {} keys, but a member gives {} values",
            keys.len(),
            member.len()
        )));
    }
    for ((key, ty, kind), value) in keys.iter().zip(member) {
        let is_masked = masks && *kind == MatchKind::Exact && !matches!(value, MatchValue::Exact(_));
        let kind = if is_masked { MatchKind::Ternary } else { *kind };
        match_value(&format!("key `{}` of value set `{name}`", key.name), kind, *ty, value)?;
    }
    Ok(())
}
