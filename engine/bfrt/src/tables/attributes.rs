//! Attributes and operations of tables.

use std::collections::BTreeMap;

use p4cc_p4runtime::errors::Failure;

use crate::proto::bfrt_proto as wire;
use crate::schema::{Object, Table};
use crate::target::Target;
use wire::mode::{PredefinedMode, Scope as ModeScope};
use wire::table_attribute::Attribute;

/// Time to live that is looked at so often unless a client says otherwise, in milliseconds.
const DEFAULT_QUERY_INTERVAL_MS: u32 = 5_000;

/// Attributes that clients have set, by table.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    idle: BTreeMap<u32, wire::IdleTable>,
    scopes: BTreeMap<u32, wire::EntryScope>,
    byte_counts: BTreeMap<u32, i32>,
    notified: BTreeMap<u32, bool>,
    intervals_ms: BTreeMap<u32, u32>,
}

impl Attributes {
    /// Whether a table tells of entries that fall idle.
    pub fn notifies_idle(&self, table: u32) -> bool {
        let notify = wire::idle_table::IdleTableMode::IdleTableNotifyMode as i32;
        self.idle.get(&table).is_some_and(|idle| idle.enable && idle.idle_table_mode == notify)
    }

    /// Whether a client is told of changes of a table: ports that go up or down, selectors.
    pub fn notifies_changes(&self, table: u32) -> bool {
        self.notified.get(&table).copied().unwrap_or(false)
    }
}

fn name_of(attribute: &Attribute) -> &'static str {
    match attribute {
        Attribute::IdleTable(_) => "IdleTimeout",
        Attribute::EntryScope(_) => "EntryScope",
        Attribute::DynKeyMask(_) => "DynamicKeyMask",
        Attribute::DynHashing(_) => "DynamicHashing",
        Attribute::ByteCountAdj(_) => "MeterByteCountAdjust",
        Attribute::PortStatusNotify(_) => "port_status_notif_cb",
        Attribute::IntvlMs(_) => "poll_intvl_ms",
        Attribute::PreDeviceConfig(_) => "pre_device_config",
        Attribute::SelectorUpdateNotify(_) => "selector_update_cb",
    }
}

fn supported(table: &Table, attribute: &Attribute) -> Result<(), Failure> {
    let name = name_of(attribute);
    if table.attributes.contains(&name) {
        return Ok(());
    }
    let all = table.attributes.join(", ");
    Err(Failure::unimplemented(format!("table {} has no attribute {name}; it has: {all}", table.name)))
}

/// Sets an attribute.
///
/// # Errors
/// The table does not have it, or the value does not do.
pub fn write(target: &mut Target<'_>, given: &wire::TableAttribute) -> Result<(), Failure> {
    let table = target.table(given.table_id)?;
    let Some(attribute) = &given.attribute else {
        return Err(Failure::invalid(format!("table {}: no attribute is given", table.name)));
    };
    supported(table, attribute)?;
    let id = table.id;
    match attribute {
        Attribute::IdleTable(idle) => {
            let idle = checked_idle(table, *idle)?;
            target.kept.attributes.idle.insert(id, idle);
        }
        Attribute::EntryScope(scope) => {
            check_scope(target, table, scope)?;
            target.kept.attributes.scopes.insert(id, *scope);
        }
        Attribute::ByteCountAdj(adjust) => {
            target.kept.attributes.byte_counts.insert(id, adjust.byte_count_adjust);
        }
        Attribute::PortStatusNotify(notify) => {
            target.kept.attributes.notified.insert(id, notify.enable);
        }
        Attribute::SelectorUpdateNotify(notify) => {
            target.kept.attributes.notified.insert(id, notify.enable);
        }
        Attribute::IntvlMs(interval) => {
            target.kept.attributes.intervals_ms.insert(id, interval.intvl_val);
        }
        Attribute::DynKeyMask(_) | Attribute::DynHashing(_) | Attribute::PreDeviceConfig(_) => {
            return Err(Failure::unimplemented(format!(
                "table {}: attribute {} has no counterpart in this switch",
                table.name,
                name_of(attribute)
            )));
        }
    }
    Ok(())
}

/// Idle timeouts as they are kept: where they are off nothing else counts.
fn checked_idle(table: &Table, given: wire::IdleTable) -> Result<wire::IdleTable, Failure> {
    let off = wire::IdleTable { ttl_query_interval: DEFAULT_QUERY_INTERVAL_MS, ..wire::IdleTable::default() };
    if !given.enable {
        return Ok(off);
    }
    if given.max_ttl != 0 && given.min_ttl > given.max_ttl {
        return Err(Failure::invalid(format!(
            "table {}: min_ttl {} is above max_ttl {}",
            table.name, given.min_ttl, given.max_ttl
        )));
    }
    Ok(given)
}

/// Entries for one pipe alone need tables for each pipe.
fn check_scope(target: &Target<'_>, table: &Table, given: &wire::EntryScope) -> Result<(), Failure> {
    if let Object::Match(id) = table.object
        && target.state()?.table_len(id) > 0
    {
        return Err(Failure::invalid(format!(
            "table {}: the scope can be changed while the table is empty; delete its entries",
            table.name
        )));
    }
    let all = |mode: &Option<wire::Mode>| {
        mode.is_none_or(|mode| mode.scope.is_none_or(|scope| scope == ModeScope::Predef(PredefinedMode::All as i32)))
    };
    if all(&given.gress_scope) && all(&given.pipe_scope) && all(&given.prsr_scope) {
        return Ok(());
    }
    Err(Failure::unimplemented(format!(
        "table {}: all pipes of this switch have the same entries; use the scope ALL",
        table.name
    )))
}

/// Reads an attribute.
///
/// # Errors
/// The table does not have it.
pub fn read(target: &Target<'_>, given: &wire::TableAttribute) -> Result<wire::TableAttribute, Failure> {
    let table = target.table(given.table_id)?;
    let Some(attribute) = &given.attribute else {
        return Err(Failure::invalid(format!("table {}: no attribute is named", table.name)));
    };
    supported(table, attribute)?;
    let (id, kept) = (table.id, &target.kept.attributes);
    let attribute = match attribute {
        Attribute::IdleTable(_) => {
            let off =
                wire::IdleTable { ttl_query_interval: DEFAULT_QUERY_INTERVAL_MS, ..wire::IdleTable::default() };
            Attribute::IdleTable(kept.idle.get(&id).copied().unwrap_or(off))
        }
        Attribute::EntryScope(_) => {
            let all = Some(wire::Mode { scope: Some(ModeScope::Predef(PredefinedMode::All as i32)), args: 0 });
            let scope = kept.scopes.get(&id).copied().unwrap_or_default();
            Attribute::EntryScope(wire::EntryScope {
                gress_scope: scope.gress_scope.or(all),
                pipe_scope: scope.pipe_scope.or(all),
                prsr_scope: scope.prsr_scope.or(all),
            })
        }
        Attribute::ByteCountAdj(_) => {
            let byte_count_adjust = kept.byte_counts.get(&id).copied().unwrap_or(0);
            Attribute::ByteCountAdj(wire::ByteCountAdj { byte_count_adjust })
        }
        Attribute::PortStatusNotify(_) => {
            Attribute::PortStatusNotify(wire::PortStatusChg { enable: kept.notifies_changes(id) })
        }
        Attribute::SelectorUpdateNotify(_) => {
            Attribute::SelectorUpdateNotify(wire::SelectorUpdateCb { enable: kept.notifies_changes(id) })
        }
        Attribute::IntvlMs(_) => {
            let intvl_val = kept.intervals_ms.get(&id).copied().unwrap_or(0);
            Attribute::IntvlMs(wire::StatePullIntvl { intvl_val })
        }
        Attribute::DynKeyMask(_) | Attribute::DynHashing(_) | Attribute::PreDeviceConfig(_) => {
            return Err(Failure::unimplemented(format!(
                "table {}: attribute {} has no counterpart in this switch",
                table.name,
                name_of(attribute)
            )));
        }
    };
    Ok(wire::TableAttribute { table_id: id, attribute: Some(attribute) })
}

/// Runs an operation of a table.
///
/// # Errors
/// The table does not have it.
pub fn run(target: &Target<'_>, given: &wire::TableOperation) -> Result<(), Failure> {
    let table = target.table(given.table_id)?;
    let name = given.table_operations_type.as_str();
    if !table.operations.contains(&name) {
        return Err(Failure::unimplemented(format!(
            "table {} has no operation `{name:.64}`; it has: {}",
            table.name,
            table.operations.join(", ")
        )));
    }
    // Counters and registers are read from where packets change them: there is no copy to bring up to date.
    Ok(())
}
