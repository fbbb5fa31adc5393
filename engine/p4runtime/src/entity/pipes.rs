//! A device whose chip has a state for each pipe: what a controller writes reaches all, and counters are
//! sums.

use p4cc_ir::TableId;
use p4cc_switch::config::DEFAULT_DROP_PORT;
use p4cc_switch::{DEFAULT_PASS_LIMIT, Packet, PortConfig, Switch, SwitchConfig, TimestampUnit};
use p4cc_units::{Rate, Time};
use std::sync::Arc;

use super::digest_lists::DigestConfigs;
use super::{Of, Target, Type};
use crate::device_config;
use crate::proto::p4::v1 as p4;
use crate::server::work::Cancel;

/// One profile for all pipes; [`FORWARD`] sends by the first byte, every packet is counted in cell 0.
const PROGRAM: &str = include_str!("../../../switch/tests/replication/pipes.p4");
/// Ports of pipes 0 and 1.
const PORTS: [u32; 2] = [1, 129];

fn switch(pipeline: &Arc<p4cc_exec::Pipeline>) -> Switch {
    let rate = Rate::from_bps(8_000_000_000);
    let port = |port| PortConfig { port, rate, capacity_pkts: 4, ..PortConfig::default() };
    let config = SwitchConfig {
        device_id: 1,
        ports: PORTS.map(port).to_vec(),
        timestamp_unit: TimestampUnit::Us,
        buffer: None,
        cpu_port: None,
        drop_port: DEFAULT_DROP_PORT,
        seed: 1,
        pass_limit: DEFAULT_PASS_LIMIT,
        deflect_on_drop: false,
    };
    let mut switch = Switch::new(config).expect("a right configuration");
    switch.control().split_pipes(4);
    switch.control().set_pipeline(Arc::clone(pipeline));
    switch
}

fn update(verb: Type, entity: Of) -> p4::Update {
    p4::Update { r#type: verb as i32, entity: Some(p4::Entity { entity: Some(entity) }) }
}

fn counter(target: &Target<'_>, entry: &p4::CounterEntry) -> i64 {
    let asked = p4::Entity { entity: Some(Of::CounterEntry(*entry)) };
    let found = target.read_all(&asked).expect("the counter is there");
    match found.first().and_then(|entity| entity.entity.as_ref()) {
        Some(Of::CounterEntry(p4::CounterEntry { data: Some(data), .. })) => data.packet_count,
        other => panic!("{other:?} is no counter"),
    }
}

#[test]
fn writes_reach_every_pipe_and_counters_are_sums() {
    let loaded =
        device_config::load(PROGRAM.as_bytes(), None, &Cancel::default()).expect("the program compiles");
    let (mut switch, mut digests) = (switch(&loaded.pipeline), DigestConfigs::default());
    let catalog = &loaded.catalog;
    let now = Time::ZERO;
    let table_id = loaded.p4info.tables[0].preamble.as_ref().expect("ids are given").id;
    let send = loaded.p4info.actions.iter().find_map(|action| {
        let preamble = action.preamble.as_ref()?;
        preamble.name.ends_with("send").then_some(preamble.id)
    });
    let counter_id = loaded.p4info.counters.iter().find_map(|counter| {
        let preamble = counter.preamble.as_ref()?;
        preamble.name.ends_with("seen").then_some(preamble.id)
    });
    let cell = p4::CounterEntry {
        counter_id: counter_id.expect("it is in the program"),
        index: Some(p4::Index { index: 0 }),
        data: Some(p4::CounterData { byte_count: 0, packet_count: 100 }),
    };
    let exact = p4::field_match::Exact { value: vec![5] };
    let param = p4::action::Param { param_id: 1, value: vec![129] };
    let action = p4::Action { action_id: send.expect("it is in the program"), params: vec![param] };
    let entry = p4::TableEntry {
        table_id,
        r#match: vec![p4::FieldMatch {
            field_id: 1,
            field_match_type: Some(p4::field_match::FieldMatchType::Exact(exact)),
        }],
        action: Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(action)) }),
        ..Default::default()
    };

    let mut target =
        Target { catalog, switch: &mut switch, digests: &mut digests, now, is_replay: false, pipe: 0 };
    let before = target.before();
    target.write(&update(Type::Insert, Of::TableEntry(entry.clone()))).expect("a right entry");
    target.write(&update(Type::Modify, Of::CounterEntry(cell))).expect("a right cell");
    assert_eq!(counter(&target, &cell), 100);
    for pipe in 0..4 {
        let state = target.switch.observation().state_of(pipe).expect("there are four");
        assert_eq!(state.table_len(TableId::from_index(0)), 1, "pipe {pipe}");
    }
    for port in PORTS {
        target.switch.receive(now, port, Packet::new(&[5, 0], 62));
    }
    assert_eq!(counter(&target, &cell), 102);
    assert_eq!(target.switch.observation().waiting(), 2, "both pipes have the entry");

    let again = target.write(&update(Type::Insert, Of::TableEntry(entry))).expect_err("it is there");
    assert_eq!(again.code, tonic::Code::AlreadyExists, "{}", again.message);
    target.restore(before);
    for pipe in 0..4 {
        let state = target.switch.observation().state_of(pipe).expect("there are four");
        assert_eq!(state.table_len(TableId::from_index(0)), 0, "pipe {pipe}");
    }
    assert_eq!(counter(&target, &cell), 0);
}
