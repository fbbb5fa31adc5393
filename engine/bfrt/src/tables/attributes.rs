//! Attributes and operations of tables.

use std::collections::BTreeMap;

use p4cc_ir::{Bits, MatchKind, TableId};
use p4cc_p4runtime::errors::Failure;

use super::{arrays, parts};
use crate::fields::all_ones;
use crate::pipes;
use crate::proto::bfrt_proto as wire;
use crate::schema::{Means, Object, Table};
use crate::target::{Target, no_program};
use p4cc_units::Span;
use wire::idle_table::IdleTableMode;
use wire::mode::{PredefinedMode, Scope as ModeScope};
use wire::table_attribute::Attribute;

/// Time to live that is looked at so often unless a client says otherwise, in milliseconds.
const DEFAULT_QUERY_INTERVAL_MS: u32 = 5_000;
const NS_PER_MS: u64 = 1_000_000;

/// Attributes that clients have set, by table.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    idle: BTreeMap<u32, wire::IdleTable>,
    scopes: BTreeMap<u32, wire::EntryScope>,
    /// By table and pipe.
    byte_counts: BTreeMap<(u32, usize), i32>,
    notified: BTreeMap<u32, bool>,
    intervals_ms: BTreeMap<u32, u32>,
    multicast: wire::PreDeviceConfig,
}

impl Attributes {
    /// Which pipes have the same entries of a table; none for all.
    pub fn pipe_scope(&self, table: u32) -> Option<wire::Mode> {
        self.scopes.get(&table).and_then(|scope| scope.pipe_scope)
    }

    /// Whether clients are told of some table's changes.
    pub fn notifies_any(&self) -> bool {
        self.notified.values().any(|enabled| *enabled)
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
    // bf-rt.json does not list what all selectors and all arrays have.
    let is_unlisted = match (attribute, table.object) {
        (Attribute::SelectorUpdateNotify(_), Object::Groups(_)) => true,
        (Attribute::EntryScope(_), of) => matches!(
            of,
            Object::Register(_) | Object::Counter(_) | Object::Meter(_) | Object::Lpf(_) | Object::Wred(_)
        ),
        _ => false,
    };
    if is_unlisted || table.attributes.contains(&name) {
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
            let is_swept = idle.enable && idle.idle_table_mode() == IdleTableMode::IdleTableNotifyMode;
            let interval = Span::from_ns(u64::from(idle.ttl_query_interval) * NS_PER_MS);
            if let Object::Match(of) = table.object {
                for pipe in pipes::named_or_all(target)? {
                    target.enter(pipe);
                    target.kept.ageing.configure(of, is_swept.then_some(interval), target.now);
                }
                target.enter(0);
            }
            target.kept.attributes.idle.insert(id, idle);
        }
        Attribute::EntryScope(scope) => {
            check_scope(target, table, scope)?;
            target.kept.attributes.scopes.insert(id, *scope);
        }
        Attribute::ByteCountAdj(adjust) => {
            let meter = match table.object {
                Object::Meter(meter) => Some(meter),
                Object::Match(of) => target.program.tables[of.index()].meter,
                _ => None,
            };
            for pipe in pipes::named_or_all(target)? {
                target.kept.attributes.byte_counts.insert((id, pipe), adjust.byte_count_adjust);
                let state = target.switch.control().state_of_mut(pipe).ok_or_else(no_program)?;
                if let Some(meter) = meter {
                    state.set_meter_adjust(meter, adjust.byte_count_adjust)?;
                }
            }
        }
        Attribute::DynKeyMask(mask) => set_key_mask(target, table, mask)?,
        Attribute::PortStatusNotify(notify) => {
            target.kept.attributes.notified.insert(id, notify.enable);
        }
        Attribute::SelectorUpdateNotify(notify) => {
            target.kept.attributes.notified.insert(id, notify.enable);
        }
        Attribute::IntvlMs(interval) => {
            target.kept.attributes.intervals_ms.insert(id, interval.intvl_val);
        }
        Attribute::PreDeviceConfig(given) => configure_multicast(target, given)?,
        Attribute::DynHashing(_) => return Err(no_counterpart(table, attribute)),
    }
    Ok(())
}

/// Sets which bits of exact keys count. Fields that a request leaves out count whole.
fn set_key_mask(target: &mut Target<'_>, table: &Table, given: &wire::DynKeyMask) -> Result<(), Failure> {
    let Object::Match(id) = table.object else { return Ok(()) };
    let mut masks = Vec::new();
    for (at, width) in key_widths(target, id) {
        let key = table.key.iter().find(|key| key.means == Means::Key(at));
        let mask = key.and_then(|key| given.fields.iter().find(|field| field.field_id == key.id));
        masks.push(match mask {
            Some(field) if field.mask.len() == width.div_ceil(8) as usize => {
                Bits::from_be_bytes(width, &field.mask)
            }
            Some(field) => {
                let len = field.mask.len();
                return Err(Failure::invalid(format!(
                    "table {}: a mask has {len} bytes, the field's {width} bits take {}",
                    table.name,
                    width.div_ceil(8)
                )));
            }
            None => all_ones(width),
        });
    }
    if let Some(field) = given.fields.iter().find(|field| table.key(field.field_id).is_none()) {
        let (name, id) = (&table.name, field.field_id);
        return Err(Failure::invalid(format!("table {name} has no key field with id {id}")));
    }
    for pipe in pipes::named_or_all(target)? {
        let state = target.switch.control().state_of_mut(pipe).ok_or_else(no_program)?;
        state.set_key_mask(id, masks.clone())?;
    }
    Ok(())
}

/// Positions and widths of the keys that entries match.
fn key_widths(target: &Target<'_>, id: TableId) -> Vec<(usize, u32)> {
    let keys = target.program.tables[id.index()].keys.iter().enumerate();
    let matched = keys.filter(|(_, key)| key.kind != MatchKind::Selector);
    matched.map(|(at, key)| (at, target.program.vars[key.var.index()].ty.width())).collect()
}

/// Which bits of exact keys count.
fn key_mask(target: &Target<'_>, table: &Table) -> Result<wire::DynKeyMask, Failure> {
    let Object::Match(id) = table.object else { return Ok(wire::DynKeyMask::default()) };
    let masks = target.state()?.key_mask(id);
    let field = |(place, (at, width)): (usize, (usize, u32))| {
        let key = table.key.iter().find(|key| key.means == Means::Key(at))?;
        let mask = masks.get(place).cloned().unwrap_or_else(|| all_ones(width));
        Some(wire::KeyFieldMask { field_id: key.id, mask: mask.to_be_bytes() })
    };
    let fields = key_widths(target, id).into_iter().enumerate().filter_map(field);
    Ok(wire::DynKeyMask { fields: fields.collect() })
}

fn no_counterpart(table: &Table, attribute: &Attribute) -> Failure {
    let name = name_of(attribute);
    Failure::unimplemented(format!(
        "table {}: attribute {name} has no counterpart in this switch",
        table.name
    ))
}

/// What a client says of the replication engine as a whole; what it leaves out stays. The limits of its work
/// change nothing here and are given back.
fn configure_multicast(target: &mut Target<'_>, given: &wire::PreDeviceConfig) -> Result<(), Failure> {
    let mut config = target.switch.observation().chip().multicast.config;
    if let Some(given) = &given.pre_global_rid {
        config.global_rid = u16::try_from(given.global_rid)
            .map_err(|_| Failure::invalid(format!("global_rid {} is above 65535", given.global_rid)))?;
    }
    if let Some(given) = &given.pre_port_protection {
        config.port_protection = given.enable;
    }
    if let Some(given) = &given.pre_fast_failover {
        config.fast_failover = given.enable;
    }
    target.switch.control().chip_mut().multicast.config = config;
    let kept = &mut target.kept.attributes.multicast;
    *kept = wire::PreDeviceConfig {
        pre_global_rid: given.pre_global_rid.or(kept.pre_global_rid),
        pre_port_protection: given.pre_port_protection.or(kept.pre_port_protection),
        pre_fast_failover: given.pre_fast_failover.or(kept.pre_fast_failover),
        pre_max_nodes_before_yield: given.pre_max_nodes_before_yield.or(kept.pre_max_nodes_before_yield),
        pre_max_node_threshold: given.pre_max_node_threshold.or(kept.pre_max_node_threshold),
    };
    Ok(())
}

/// Idle timeouts as they are kept: polls have no times, and without an interval there is the chip's.
fn checked_idle(table: &Table, given: wire::IdleTable) -> Result<wire::IdleTable, Failure> {
    match IdleTableMode::try_from(given.idle_table_mode) {
        Ok(IdleTableMode::IdleTablePollMode) => {
            return Ok(wire::IdleTable { enable: given.enable, ..wire::IdleTable::default() });
        }
        Ok(IdleTableMode::IdleTableNotifyMode) => {}
        Err(_) => {
            let mode = given.idle_table_mode;
            return Err(Failure::invalid(format!(
                "table {}: there is no mode {mode} of idle timeouts",
                table.name
            )));
        }
    }
    let is_default = given.ttl_query_interval == 0 || !given.enable;
    let ttl_query_interval = if is_default { DEFAULT_QUERY_INTERVAL_MS } else { given.ttl_query_interval };
    if given.max_ttl != 0 && given.min_ttl > given.max_ttl {
        return Err(Failure::invalid(format!(
            "table {}: min_ttl {} is above max_ttl {}",
            table.name, given.min_ttl, given.max_ttl
        )));
    }
    Ok(wire::IdleTable { ttl_query_interval, ..given })
}

/// The scope of a table that has entries stays as it is, and a pipe belongs to one set.
fn check_scope(target: &Target<'_>, table: &Table, given: &wire::EntryScope) -> Result<(), Failure> {
    let lens = |id| {
        (0..target.switch.observation().pipes())
            .filter_map(move |pipe| Some(target.switch.observation().state_of(pipe)?.table_len(id)))
    };
    if let Object::Match(id) = table.object
        && lens(id).any(|len| len > 0)
    {
        return Err(Failure::invalid(format!(
            "table {}: the scope can be changed while the table is empty; delete its entries",
            table.name
        )));
    }
    let Some(ModeScope::UserDefined(sets)) = given.pipe_scope.and_then(|mode| mode.scope) else {
        return Ok(());
    };
    let sets = sets.to_le_bytes();
    let count: u32 = sets.iter().map(|set| set.count_ones()).sum();
    let joined = sets.iter().fold(0, |all, set| all | set);
    if joined.count_ones() < count {
        return Err(Failure::invalid(format!(
            "table {}: a pipe is in two sets of the scope; each byte is one set, with a bit for each pipe",
            table.name
        )));
    }
    Ok(())
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
            let off = wire::IdleTable {
                ttl_query_interval: DEFAULT_QUERY_INTERVAL_MS,
                ..wire::IdleTable::default()
            };
            Attribute::IdleTable(kept.idle.get(&id).copied().unwrap_or(off))
        }
        Attribute::EntryScope(_) => {
            let all =
                Some(wire::Mode { scope: Some(ModeScope::Predef(PredefinedMode::All as i32)), args: 0 });
            let scope = kept.scopes.get(&id).copied().unwrap_or_default();
            Attribute::EntryScope(wire::EntryScope {
                gress_scope: scope.gress_scope.or(all),
                pipe_scope: scope.pipe_scope.or(all),
                prsr_scope: scope.prsr_scope.or(all),
            })
        }
        Attribute::ByteCountAdj(_) => {
            let pipe = pipes::named_or_all(target)?.first().copied().unwrap_or(0);
            let byte_count_adjust = kept.byte_counts.get(&(id, pipe)).copied().unwrap_or(0);
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
        Attribute::PreDeviceConfig(_) => {
            let all = &kept.multicast;
            Attribute::PreDeviceConfig(wire::PreDeviceConfig {
                pre_global_rid: all.pre_global_rid.or(Some(wire::PreGlobalRid::default())),
                pre_port_protection: all.pre_port_protection.or(Some(wire::PrePortProtection::default())),
                pre_fast_failover: all.pre_fast_failover.or(Some(wire::PreFastFailover::default())),
                pre_max_nodes_before_yield: all
                    .pre_max_nodes_before_yield
                    .or(Some(wire::PreMaxNodesBeforeYield::default())),
                pre_max_node_threshold: all
                    .pre_max_node_threshold
                    .or(Some(wire::PreMaxNodeThreshold::default())),
            })
        }
        Attribute::DynKeyMask(_) => Attribute::DynKeyMask(key_mask(target, table)?),
        Attribute::DynHashing(_) => return Err(no_counterpart(table, attribute)),
    };
    Ok(wire::TableAttribute { table_id: id, attribute: Some(attribute) })
}

/// Runs an operation of a table.
///
/// # Errors
/// The table does not have it.
pub fn run(target: &mut Target<'_>, given: &wire::TableOperation) -> Result<(), Failure> {
    let table = target.table(given.table_id)?;
    let name = given.table_operations_type.as_str();
    if !table.operations.contains(&name) {
        return Err(Failure::unimplemented(format!(
            "table {} has no operation `{name:.64}`; it has: {}",
            table.name,
            table.operations.join(", ")
        )));
    }
    // An operation is of the whole table, whichever pipe the request names.
    let done = (0..target.switch.observation().pipes()).try_for_each(|pipe| {
        target.enter(pipe);
        run_pipe(target, table, name)
    });
    target.enter(0);
    done
}

/// Runs an operation in the pipe in question.
fn run_pipe(target: &mut Target<'_>, table: &Table, name: &str) -> Result<(), Failure> {
    match table.object {
        Object::Match(of) if name == "UpdateHitState" => {
            let now = target.now;
            let state = target.switch.observation().state_of(target.pipe()).ok_or_else(no_program)?;
            target.kept.ageing.poll(state, of, now);
        }
        Object::Match(of) if name == "SyncRegisters" => parts::sync_registers(target, table, of)?,
        Object::Match(of) => parts::sync_counters(target, table, of)?,
        _ => arrays::sync(target, table)?,
    }
    Ok(())
}
