//! Table entries, default entries, and their direct counters and meters.

#![expect(deprecated, reason = "deprecated fields are read, to be honoured or refused")]

use p4cc_exec::control::{EntryAction, TableEntry};
use p4cc_ir::{ActionCall, MatchValue, TableId};

use super::array::{counter_data, meter_config, meter_counts, only_zero, parse_counter, parse_meter};
use super::piece::{Cursor, Piece, Progress};
use super::{Target, Verb, action_set, only_modify};
use crate::catalog::Catalog;
use crate::entries::{Place, action, match_fields, parse_action, parse_match};
use crate::errors::Failure;
use crate::objects::TableInfo;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;
use p4::table_action::Type as ActionType;

/// What identifies an entry within its table; nothing is the default entry.
#[derive(Default)]
pub(super) struct Key {
    pub(super) matches: Vec<MatchValue>,
    pub(super) priority: u32,
}

pub(super) fn parse_key(
    target: &Target<'_>,
    info: &TableInfo,
    entry: &p4::TableEntry,
) -> Result<Key, Failure> {
    let name = target.catalog.table_name(info.table);
    let matches = parse_match(target.catalog, info, &entry.r#match)?;
    let priority = match (info.has_priority, u32::try_from(entry.priority)) {
        (true, Ok(priority)) if priority > 0 => priority,
        (true, _) => {
            let given = entry.priority;
            return Err(Failure::invalid(format!(
                "table {name}: priority {given}; it has ternary, range or optional fields, so give 1 or more"
            )));
        }
        (false, Ok(0)) => 0,
        (false, _) => {
            let given = entry.priority;
            return Err(Failure::invalid(format!(
                "table {name}: priority {given}; it has only exact and lpm fields, so give none"
            )));
        }
    };
    Ok(Key { matches, priority })
}

/// The key of an entry, or of the default entry where that is named.
pub(super) fn any_key(target: &Target<'_>, info: &TableInfo, entry: &p4::TableEntry) -> Result<Key, Failure> {
    if !entry.is_default_action {
        return parse_key(target, info, entry);
    }
    if !entry.r#match.is_empty() || entry.priority != 0 {
        let name = target.catalog.table_name(info.table);
        return Err(Failure::invalid(format!(
            "table {name}: the default entry has no match and no priority"
        )));
    }
    Ok(Key::default())
}

/// Inserts, changes or removes an entry, or changes the default entry.
pub(super) fn write(target: &mut Target<'_>, verb: Verb, entry: &p4::TableEntry) -> Result<(), Failure> {
    let catalog = target.catalog;
    let info = catalog.table(entry.table_id)?;
    let name = catalog.table_name(info.table);
    if entry.is_const {
        return Err(Failure::invalid(format!(
            "table {name}: is_const is the program's to set; leave it out"
        )));
    }
    if entry.is_default_action {
        return write_default(target, info, verb, entry);
    }
    if info.keys.iter().all(|key| key.position.is_none()) {
        return Err(Failure::invalid(format!(
            "table {name} has no key, only a default entry; set is_default_action"
        )));
    }
    let key = parse_key(target, info, entry)?;
    if verb == Verb::Delete {
        return Ok(target.state_mut()?.table_delete(info.table, &key.matches, key.priority)?);
    }
    check_fields(name, entry)?;
    let direct = Direct::parse(target, info, entry)?;
    let kept = match (verb, &entry.action) {
        // Whether there is such an entry is found out below.
        (Verb::Modify, None) => target.state()?.table_entry(info.table, &key.matches, key.priority).ok(),
        _ => None,
    };
    check_executes(target, info, entry, kept.map(|kept| &kept.action))?;
    match verb {
        Verb::Insert => {
            let Some(action) = &entry.action else {
                return Err(Failure::invalid(format!("table {name}: the action is missing")));
            };
            let new = new_entry(target, info, entry, &key, action)?;
            let now = target.now;
            let state = target.state_mut()?;
            state.table_insert(info.table, new)?;
            state.start_timer(info.table, &key.matches, key.priority, now)?;
        }
        Verb::Modify | Verb::Delete => modify(target, info, entry, &key)?,
    }
    direct.apply(target, info, &key, verb)
}

/// Checks that the action of an entry executes the direct resources that are given with it (P4Runtime 9.1.7).
/// Members and groups may come to run other actions.
fn check_executes(
    target: &Target<'_>,
    info: &TableInfo,
    entry: &p4::TableEntry,
    kept: Option<&EntryAction>,
) -> Result<(), Failure> {
    let action = match (entry.action.as_ref().and_then(|action| action.r#type.as_ref()), kept) {
        (Some(ActionType::Action(given)), _) => info.actions.get(&given.action_id).map(|(action, _)| *action),
        (None, Some(EntryAction::Direct(call))) => Some(call.action),
        _ => None,
    };
    // State that is written again was right when it was written.
    let Some(action) = action.filter(|_| !target.is_replay) else { return Ok(()) };
    let (catalog, table) = (target.catalog, target.catalog.ir_table(info.table));
    let (name, action_name) = (&table.cp.name, catalog.action_name(action));
    if entry.counter_data.is_some() && !catalog.executes.counts(table, action) {
        return Err(Failure::invalid(format!(
            "table {name}: {action_name} does not call the table's direct counter; leave counter_data out"
        )));
    }
    let of_meter = match (&entry.meter_config, &entry.meter_counter_data) {
        (Some(_), _) => "meter_config",
        (None, Some(_)) => "meter_counter_data",
        (None, None) => return Ok(()),
    };
    if catalog.executes.measures(table, action) {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "table {name}: {action_name} does not call the table's direct meter; leave {of_meter} out"
    )))
}

fn check_fields(name: &str, entry: &p4::TableEntry) -> Result<(), Failure> {
    if entry.time_since_last_hit.is_some() {
        return Err(Failure::invalid(format!("table {name}: time_since_last_hit can only be read")));
    }
    if entry.idle_timeout_ns < 0 {
        let timeout = entry.idle_timeout_ns;
        return Err(Failure::invalid(format!("table {name}: idle timeout {timeout} ns is negative")));
    }
    Ok(())
}

fn new_entry(
    target: &Target<'_>,
    info: &TableInfo,
    entry: &p4::TableEntry,
    key: &Key,
    given: &p4::TableAction,
) -> Result<TableEntry, Failure> {
    Ok(TableEntry {
        matches: key.matches.clone(),
        priority: key.priority,
        action: parse_entry_action(target, info, given)?,
        metadata: entry.metadata.clone(),
        controller_metadata: entry.controller_metadata,
        idle_timeout_ns: u64::try_from(entry.idle_timeout_ns).unwrap_or(0),
        is_const: false,
    })
}

fn parse_entry_action(
    target: &Target<'_>,
    info: &TableInfo,
    given: &p4::TableAction,
) -> Result<EntryAction, Failure> {
    let catalog = target.catalog;
    let name = catalog.table_name(info.table);
    let profile = catalog.ir_table(info.table).profile;
    let selector = profile.and_then(|profile| catalog.program.profiles[profile.index()].selector);
    match (&given.r#type, profile) {
        (None, _) => Err(Failure::invalid(format!("table {name}: the action is empty"))),
        (Some(ActionType::Action(given)), None) => {
            Ok(EntryAction::Direct(parse_action(catalog, info, given, Place::Entry)?))
        }
        (Some(ActionType::Action(_)), Some(_)) => Err(Failure::invalid(format!(
            "table {name} is implemented by an action profile; give a member or a group instead of an action"
        ))),
        (Some(ActionType::ActionProfileMemberId(id)), Some(_)) => Ok(EntryAction::Member(*id)),
        (Some(ActionType::ActionProfileGroupId(id)), Some(_)) if selector.is_some() => {
            Ok(EntryAction::Group(*id))
        }
        (Some(ActionType::ActionProfileGroupId(_)), Some(_)) => Err(Failure::invalid(format!(
            "table {name}: its action profile has no selector, so it has no groups"
        ))),
        (Some(ActionType::ActionProfileActionSet(set)), Some(_)) if selector.is_some() => {
            Ok(EntryAction::Set(action_set::parse(target, info, set)?))
        }
        (Some(_), _) => Err(Failure::invalid(format!("table {name} has no action profile; give an action"))),
    }
}

/// An entry keeps its action when none is given; on constant entries only direct resources can be changed.
fn modify(
    target: &mut Target<'_>,
    info: &TableInfo,
    entry: &p4::TableEntry,
    key: &Key,
) -> Result<(), Failure> {
    let old = target.state()?.table_entry(info.table, &key.matches, key.priority)?.clone();
    let idle_timeout_ns = u64::try_from(entry.idle_timeout_ns).unwrap_or(0);
    let only_direct = entry.action.is_none()
        && entry.metadata == old.metadata
        && entry.controller_metadata == old.controller_metadata
        && idle_timeout_ns == old.idle_timeout_ns;
    if only_direct {
        return Ok(());
    }
    if old.is_const {
        let name = target.catalog.table_name(info.table);
        return Err(Failure::denied(format!(
            "table {name}: the entry is constant; only its direct counter and meter can be given"
        )));
    }
    let Some(given) = &entry.action else {
        let metadata = entry.metadata.clone();
        let controller_metadata = entry.controller_metadata;
        let new = TableEntry { metadata, controller_metadata, idle_timeout_ns, ..old };
        return Ok(target.state_mut()?.table_modify(info.table, new)?);
    };
    let new = new_entry(target, info, entry, key, given)?;
    Ok(target.state_mut()?.table_modify(info.table, new)?)
}

fn write_default(
    target: &mut Target<'_>,
    info: &TableInfo,
    verb: Verb,
    entry: &p4::TableEntry,
) -> Result<(), Failure> {
    let catalog = target.catalog;
    let name = catalog.table_name(info.table);
    only_modify(verb, &format!("table {name}: the default entry"))?;
    let key = any_key(target, info, entry)?;
    if entry.idle_timeout_ns != 0 || entry.time_since_last_hit.is_some() {
        return Err(Failure::invalid(format!("table {name}: the default entry has no idle timeout")));
    }
    if catalog.ir_table(info.table).const_default {
        return Err(Failure::denied(format!("table {name}: the default entry is constant")));
    }
    let direct = Direct::parse(target, info, entry)?;
    check_executes(target, info, entry, None)?;
    match entry.action.as_ref().map(|action| &action.r#type) {
        None => target.state_mut()?.reset_default_action(info.table)?,
        Some(Some(ActionType::Action(given))) => {
            let call = parse_action(catalog, info, given, Place::Default)?;
            target.state_mut()?.set_default_action(info.table, call)?;
        }
        Some(_) => {
            return Err(Failure::invalid(format!("table {name}: the default entry needs an action")));
        }
    }
    let (metadata, controller_metadata) = (entry.metadata.clone(), entry.controller_metadata);
    target.state_mut()?.set_default_metadata(info.table, metadata, controller_metadata)?;
    direct.apply(target, info, &key, Verb::Modify)
}

/// Direct resources given with an entry.
struct Direct {
    counter: Option<p4cc_exec::control::CounterCell>,
    meter: Option<p4cc_exec::MeterConfig>,
    reset_meter_counts: bool,
}

impl Direct {
    fn parse(target: &Target<'_>, info: &TableInfo, entry: &p4::TableEntry) -> Result<Self, Failure> {
        let table = target.catalog.ir_table(info.table);
        let name = &table.cp.name;
        if entry.counter_data.is_some() && table.counter.is_none() {
            return Err(Failure::invalid(format!(
                "table {name} has no direct counter; leave counter_data out"
            )));
        }
        if entry.meter_config.is_some() && table.meter.is_none() {
            return Err(Failure::invalid(format!(
                "table {name} has no direct meter; leave meter_config out"
            )));
        }
        if entry.meter_counter_data.is_some() && table.meter.is_none() {
            return Err(Failure::invalid(format!(
                "table {name} has no direct meter; leave meter_counter_data out"
            )));
        }
        let place = format!("table {name}");
        only_zero(&place, entry.meter_counter_data.as_ref())?;
        Ok(Self {
            reset_meter_counts: entry.meter_counter_data.is_some(),
            counter: entry
                .counter_data
                .as_ref()
                .map(|data| parse_counter(&place, data).map(|cell| target.share(cell)))
                .transpose()?,
            meter: entry.meter_config.as_ref().map(|config| parse_meter(&place, config)).transpose()?,
        })
    }

    /// A counter that is not given is left alone; a meter
    /// that is not given is reset when the entry is modified.
    fn apply(self, target: &mut Target<'_>, info: &TableInfo, key: &Key, verb: Verb) -> Result<(), Failure> {
        let has_meter = target.catalog.ir_table(info.table).meter.is_some();
        let state = target.state_mut()?;
        if let Some(counter) = self.counter {
            state.direct_counter_write(info.table, &key.matches, key.priority, counter)?;
        }
        if has_meter && (self.meter.is_some() || verb == Verb::Modify) {
            state.direct_meter_write(info.table, &key.matches, key.priority, self.meter)?;
        }
        if self.reset_meter_counts {
            state.direct_meter_reset_counts(info.table, &key.matches, key.priority)?;
        }
        Ok(())
    }
}

/// Reads entries by filter: one table or all, one match, one
/// action, one priority, one cookie; or default entries.
pub(super) fn read(
    target: &Target<'_>,
    filter: &p4::TableEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let tables = wanted(target, filter.table_id)?;
    while let Some(&info) = tables.get(cursor.object()) {
        check_filter(target, info, filter)?;
        if filter.is_default_action {
            if piece.is_full() {
                return Ok(Progress::More);
            }
            let default = default_entry(target, info, filter)?;
            if !filtered_out(filter, &default) {
                piece.push(Of::TableEntry(default));
            }
            cursor.next_object();
            continue;
        }
        let key = match filter.r#match.is_empty() {
            true => None,
            false => Some(parse_match(target.catalog, info, &filter.r#match)?),
        };
        let state = target.state()?;
        while let Some(row) = cursor.row(|| state.entry_numbers(info.table)) {
            if piece.is_full() {
                return Ok(Progress::More);
            }
            cursor.advance();
            piece.look();
            let entry = state.entry_of_number(info.table, row);
            let Some(entry) = entry.filter(|entry| key.as_ref().is_none_or(|key| *key == entry.matches))
            else {
                continue;
            };
            let message = entry_message(target, info, entry, filter)?;
            if !filtered_out(filter, &message) {
                piece.push(Of::TableEntry(message));
            }
        }
        cursor.next_object();
    }
    Ok(Progress::Done)
}

fn check_filter(target: &Target<'_>, info: &TableInfo, filter: &p4::TableEntry) -> Result<(), Failure> {
    let table = target.catalog.ir_table(info.table);
    let timed = filter.time_since_last_hit.is_some() || filter.idle_timeout_ns != 0;
    if timed && filter.table_id != 0 && (filter.is_default_action || !table.idle_timeout) {
        return Err(Failure::invalid(format!(
            "table {}: no idle time is kept; leave idle_timeout_ns and time_since_last_hit out",
            table.cp.name
        )));
    }
    Ok(())
}

pub(super) fn wanted<'a>(target: &Target<'a>, table_id: u32) -> Result<Vec<&'a TableInfo>, Failure> {
    if table_id == 0 {
        return Ok(target.catalog.tables().collect());
    }
    Ok(vec![target.catalog.table(table_id)?])
}

fn filtered_out(filter: &p4::TableEntry, entry: &p4::TableEntry) -> bool {
    let action_id =
        |entry: &p4::TableEntry| match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            Some(ActionType::Action(action)) => Some(action.action_id),
            _ => None,
        };
    filter.priority != 0 && filter.priority != entry.priority
        || !filter.metadata.is_empty() && filter.metadata != entry.metadata
        || filter.controller_metadata != 0 && filter.controller_metadata != entry.controller_metadata
        || action_id(filter).is_some_and(|wanted| action_id(entry) != Some(wanted))
}

fn direct_action(target: &Target<'_>, call: &ActionCall) -> Option<p4::TableAction> {
    Some(p4::TableAction { r#type: Some(ActionType::Action(action(target.catalog, call))) })
}

fn default_entry(
    target: &Target<'_>,
    info: &TableInfo,
    filter: &p4::TableEntry,
) -> Result<p4::TableEntry, Failure> {
    let state = target.state()?;
    let (metadata, controller_metadata) = state.default_metadata(info.table)?;
    let mut message = p4::TableEntry {
        action: direct_action(target, state.default_action(info.table)?),
        metadata: metadata.to_vec(),
        controller_metadata,
        is_const: target.catalog.ir_table(info.table).const_default,
        ..default_key(info)
    };
    add_direct(target, info, &[], 0, filter, &mut message)?;
    Ok(message)
}

/// What names the default entry.
pub(super) fn default_key(info: &TableInfo) -> p4::TableEntry {
    p4::TableEntry { table_id: info.id, is_default_action: true, ..Default::default() }
}

/// Adds the direct resources that a read asks for, where the table has them.
fn add_direct(
    target: &Target<'_>,
    info: &TableInfo,
    matches: &[MatchValue],
    priority: u32,
    filter: &p4::TableEntry,
    message: &mut p4::TableEntry,
) -> Result<(), Failure> {
    let (table, state) = (target.catalog.ir_table(info.table), target.state()?);
    if filter.counter_data.is_some() && table.counter.is_some() {
        let cell = target.counted(|state| state.direct_counter_read(info.table, matches, priority))?;
        message.counter_data = Some(counter_data(cell));
    }
    if filter.meter_config.is_some() && table.meter.is_some() {
        message.meter_config = state.direct_meter_read(info.table, matches, priority)?.map(meter_config);
    }
    if filter.meter_counter_data.is_some() && table.meter.is_some() {
        let counts = state.direct_meter_counts(info.table, matches, priority)?;
        message.meter_counter_data = Some(meter_counts(counts));
    }
    Ok(())
}

/// The key of an entry as the controller gave it.
pub(super) fn key_message(info: &TableInfo, entry: &TableEntry) -> p4::TableEntry {
    p4::TableEntry {
        table_id: info.id,
        r#match: match_fields(&info.keys, &entry.matches),
        priority: i32::try_from(entry.priority).unwrap_or(i32::MAX),
        ..Default::default()
    }
}

fn entry_message(
    target: &Target<'_>,
    info: &TableInfo,
    entry: &TableEntry,
    filter: &p4::TableEntry,
) -> Result<p4::TableEntry, Failure> {
    let table = target.catalog.ir_table(info.table);
    let action = match &entry.action {
        EntryAction::Direct(call) => direct_action(target, call),
        EntryAction::Member(id) => Some(table_action(ActionType::ActionProfileMemberId(*id))),
        EntryAction::Group(id) => Some(table_action(ActionType::ActionProfileGroupId(*id))),
        EntryAction::Set(set) => {
            let set = action_set::message(target.catalog, set);
            Some(table_action(ActionType::ActionProfileActionSet(set)))
        }
    };
    let mut message = p4::TableEntry {
        action,
        metadata: entry.metadata.clone(),
        controller_metadata: entry.controller_metadata,
        idle_timeout_ns: i64::try_from(entry.idle_timeout_ns).unwrap_or(i64::MAX),
        is_const: entry.is_const,
        ..key_message(info, entry)
    };
    add_direct(target, info, &entry.matches, entry.priority, filter, &mut message)?;
    if filter.time_since_last_hit.is_some() && table.idle_timeout {
        let idle = target.state()?.idle_time(info.table, &entry.matches, entry.priority, target.now)?;
        let elapsed_ns = i64::try_from(idle.as_ns()).unwrap_or(i64::MAX);
        message.time_since_last_hit = Some(p4::table_entry::IdleTimeout { elapsed_ns });
    }
    Ok(message)
}

/// The entries that were not hit for as long as their timeout.
pub(crate) fn take_idle(target: &mut Target<'_>) -> Result<Vec<(TableId, TableEntry)>, Failure> {
    let now = target.now;
    Ok(target.state_mut()?.take_idle(now))
}

/// Entries as notifications name them.
pub(crate) fn idle_messages(catalog: &Catalog, idle: &[(TableId, TableEntry)]) -> Vec<p4::TableEntry> {
    let message = |(table, entry): &(TableId, TableEntry)| {
        let info = catalog.tables().find(|info| info.table == *table)?;
        let idle_timeout_ns = i64::try_from(entry.idle_timeout_ns).unwrap_or(i64::MAX);
        let key = key_message(info, entry);
        let (metadata, controller_metadata) = (entry.metadata.clone(), entry.controller_metadata);
        Some(p4::TableEntry { metadata, controller_metadata, idle_timeout_ns, ..key })
    };
    idle.iter().filter_map(message).collect()
}

fn table_action(of: ActionType) -> p4::TableAction {
    p4::TableAction { r#type: Some(of) }
}
