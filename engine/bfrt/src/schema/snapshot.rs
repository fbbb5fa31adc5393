//! Snapshots: the values of a packet in a stage, which the chip keeps when a packet meets a condition; and
//! the debug counters of tables.

use p4cc_ir::ControlView;

use super::fields::{UINT32, choices, field, id, key, table, text};
use super::{Chip, Data, Field, Key, Means, Object, Schema, Source, Table, Type};

/// Resource types of a snapshot's tables.
const CONFIGURATION: u32 = 0x91;
const TRIGGER: u32 = 0x92;
const DATA: u32 = 0x93;
const LIVENESS: u32 = 0x94;
const DEBUG_COUNTER: u32 = 0x99;
/// What the id of a value's mask has more than that of the value.
pub const MASK: u32 = 0x8000;

/// Adds the snapshots of all pipes.
pub fn add(source: &Source<'_>, schema: &mut Schema) {
    // A value has one id in all controls that know it by one name.
    let mut names: Vec<&str> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    for (name, _) in source.view.pipes.iter().flat_map(|pipe| &pipe.controls).flat_map(|of| &of.fields) {
        known.entry(name.as_str()).or_insert_with(|| {
            names.push(name);
            names.len() as u32
        });
    }
    let id_of = |name: &str| known.get(name).copied().unwrap_or(0);
    for (pipe, objects) in source.view.pipes.iter().zip(&source.objects.snapshots) {
        let prefix = format!("{}.snapshot", pipe.name);
        let name = format!("{prefix}.cfg");
        if schema.tables.iter().any(|table| table.name == name) {
            continue;
        }
        let low = |at: usize| objects.get(at).map_or(0, |object| object.id & 0x00ff_ffff);
        let triggers = (0..objects.len()).map(|at| TRIGGER << 24 | low(at)).collect();
        schema.tables.push(configuration(&name, low(0), triggers, source.chip));
        for (at, control) in pipe.controls.iter().enumerate() {
            let half = if control.is_egress { "egress" } else { "ingress" };
            let name = |what: &str| format!("{prefix}.{half}_{what}");
            schema.tables.push(trigger(name("trigger"), low(at), control, &id_of, source.chip));
            schema.tables.push(data(name("data"), low(at), control, &id_of, source.chip));
            schema.tables.push(liveness(name("liveness"), low(at)));
        }
    }
}

fn fixed_table(name: impl Into<String>, prefix: u32, low: u32, kind: &'static str, size: u32) -> Table {
    table(name, prefix << 24 | low, kind, Object::Fixed, size.into())
}

fn named(id: u32, name: &str, ty: Type) -> Field {
    field(id, name, ty, Means::Named)
}

fn flag(default: bool) -> Type {
    Type::Bool(Some(default))
}

fn configuration(name: &str, low: u32, triggers: Vec<u32>, chip: Chip) -> Table {
    let stages = chip.stages();
    let mut made = fixed_table(name, CONFIGURATION, low, "SnapshotCfg", stages);
    made.depends_on = triggers;
    let stage = |id, name, default| {
        let ty = Type::Int("uint32", Some(default));
        Key { mandatory: false, ..key(id, name, ty, Means::Named) }
    };
    made.key =
        vec![stage(id::STAGE, "start_stage", 0), stage(id::END_STAGE, "end_stage", u64::from(stages - 1))];
    let mode = choices(&["INGRESS", "GHOST", "INGRESS_GHOST", "ANY"], Some("INGRESS"));
    let thread = choices(&["INGRESS", "EGRESS", "ALL"], None);
    made.data = vec![
        named(id::TIMER_ENABLE, "timer_enable", flag(false)).optional(),
        named(id::TIMER_VALUE, "timer_value_usecs", UINT32).optional(),
        named(id::INGRESS_TRIGGER_MODE, "ingress_trigger_mode", mode).optional(),
        named(id::SNAPSHOT_THREAD, "thread", thread).mandatory(),
        named(id::INGRESS_CAPTURE, "ingress_capture", UINT32).repeated().read_only(),
        named(id::EGRESS_CAPTURE, "egress_capture", UINT32).repeated().read_only(),
        named(id::GHOST_CAPTURE, "ghost_capture", UINT32).repeated().read_only(),
    ];
    made
}

fn stage_key() -> Key {
    key(id::STAGE, "stage", Type::Int("uint32", Some(0)), Means::Named)
}

fn trigger(name: String, low: u32, of: &ControlView, id_of: &dyn Fn(&str) -> u32, chip: Chip) -> Table {
    let mut made = fixed_table(name, TRIGGER, low, "SnapshotTrigger", chip.stages());
    made.key.push(stage_key());
    let states = choices(&["PASSIVE", "ARMED", "FULL"], None);
    made.data = vec![
        named(id::SNAPSHOT_ENABLE, "enable", flag(false)).optional(),
        named(id::TRIGGER_STATE, "trigger_state", states).repeated().read_only(),
    ];
    for (name, width, id) in by_id(of, id_of) {
        let ty = || Type::Bytes(width, None);
        made.data.push(named(id, &format!("trig.{name}"), ty()).optional());
        made.data.push(named(id + MASK, &format!("trig.{name}_mask"), ty()).optional());
    }
    made
}

/// Values in the order of their ids.
fn by_id<'a>(of: &'a ControlView, id_of: &dyn Fn(&str) -> u32) -> Vec<(&'a str, u32, u32)> {
    let mut all: Vec<_> =
        of.fields.iter().map(|(name, width)| (name.as_str(), *width, id_of(name))).collect();
    all.sort_by_key(|(.., id)| *id);
    all.dedup_by_key(|(.., id)| *id);
    all
}

fn data(name: String, low: u32, of: &ControlView, id_of: &dyn Fn(&str) -> u32, chip: Chip) -> Table {
    let mut made = fixed_table(name, DATA, low, "SnapshotData", chip.stages());
    made.key.push(stage_key());
    let tables = vec![
        named(id::TABLE_NAME, "table_name", text()).read_only(),
        named(id::MATCH_HIT_HANDLE, "match_hit_handle", UINT32).read_only(),
        named(id::TABLE_HIT, "table_hit", Type::Bool(None)).read_only(),
        named(id::TABLE_INHIBITED, "table_inhibited", Type::Bool(None)).read_only(),
        named(id::TABLE_EXECUTED, "table_executed", Type::Bool(None)).read_only(),
    ];
    made.data = vec![
        named(id::PREVIOUS_STAGE_TRIGGER, "prev_stage_trigger", flag(false)).read_only(),
        named(id::TIMER_TRIGGER, "timer_trigger", flag(false)).read_only(),
        named(id::LOCAL_STAGE_TRIGGER, "local_stage_trigger", flag(false)).read_only(),
        named(id::NEXT_TABLE_NAME, "next_table_name", text()).read_only(),
        named(id::TABLE_INFO, "table_info", Type::Container(tables)).repeated().read_only(),
    ];
    if chip == Chip::Tofino2 {
        made.data.extend(later_data());
    }
    for (name, width, id) in by_id(of, id_of) {
        made.data.push(named(id, name, Type::Bytes(width, None)).read_only());
    }
    made
}

/// What Tofino 2 tells beside.
fn later_data() -> Vec<Data> {
    const LISTS: [&str; 5] = [
        "enabled_next_tables",
        "global_execute_tables",
        "enabled_global_execute_tables",
        "long_branch_tables",
        "enabled_long_branch_tables",
    ];
    let lists = (id::ENABLED_NEXT_TABLES..).zip(LISTS);
    let mut made: Vec<Data> =
        lists.map(|(id, name)| named(id, name, text()).repeated().read_only()).collect();
    made.push(named(id::DEPARSER_ERROR, "deparser_error", Type::Bool(None)).read_only());
    let units = vec![
        named(id::METER_TABLE_NAME, "table_name", text()).read_only(),
        named(id::METER_ALU_OPERATION, "meter_alu_operation_type", text()).read_only(),
    ];
    made.push(named(id::METER_ALU_INFO, "meter_alu_info", Type::Container(units)).repeated().read_only());
    made
}

fn liveness(name: String, low: u32) -> Table {
    let mut made = fixed_table(name, LIVENESS, low, "SnapshotLiveness", 0);
    made.key.push(key(id::LIVENESS_FIELD, "field_name", text(), Means::Named));
    made.data.push(named(id::LIVENESS_STAGES, "valid_stages", UINT32).repeated().read_only());
    made
}

/// Counters that count one event of each table.
pub fn debug_counters(chip: Chip) -> Table {
    let size = chip.stages() * chip.tables_per_stage();
    let mut made = fixed_table("tbl_dbg_counter", DEBUG_COUNTER, 0, "TblDbgCnt", size);
    made.key.push(key(id::DEBUG_TABLE_NAME, "tbl_name", text(), Means::Named));
    let events = ["DISABLED", "TBL_MISS", "TBL_HIT", "GW_TBL_MISS", "GW_TBL_HIT", "GW_TBL_INHIBIT"];
    made.data = vec![
        named(id::DEBUG_TYPE, "type", choices(&events, Some("TBL_HIT"))).optional(),
        named(id::DEBUG_VALUE, "value", Type::Int("uint64", Some(0))).optional(),
    ];
    made
}
