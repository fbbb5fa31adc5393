//! The incast of docs/algorithms/topologies.md#topologies on the
//! project's own P4 program, entries installed as the controller does.
//!
//! Shared by tests, bench and example.

use std::path::Path;
use std::sync::Arc;

use p4cc_exec::control::{EntryAction, Member, TableEntry};
use p4cc_exec::{Pipeline, State};
use p4cc_ir::{ActionCall, ActionId, Bits, MatchValue, ProfileId, Program, TableId};
use p4cc_netsim::{Network, NetworkSpec};
use p4cc_syntax::{Options, Source};
use serde_json::{Value, json};

/// `senders` hosts send `size_bytes` each to one host through one switch.
pub struct Incast<'a> {
    pub senders: u32,
    pub size_bytes: u64,
    pub start_jitter_ns: u64,
    pub buffer_pkts: u32,
    /// Thresholds of every port.
    pub k: u64,
    pub k_dc: u64,
    /// A sender configuration in JSON.
    pub algorithm: &'a str,
    /// What to record, in JSON.
    pub record: &'a str,
}

/// A row of the codepoint map for the `gst` profile: level, incoming codepoint, outgoing codepoint.
const GST_PROFILE: [(u128, u128, u128); 5] = [(1, 3, 2), (1, 2, 2), (2, 3, 1), (2, 2, 1), (2, 1, 1)];

/// The network with program and entries, ready to run or to fork.
pub fn incast(incast: &Incast<'_>) -> Network {
    incast_with(incast, |_| {})
}

/// The same with changes to its description.
pub fn incast_with(incast: &Incast<'_>, change: impl FnOnce(&mut Value)) -> Network {
    let mut description = description(incast);
    change(&mut description);
    let spec = NetworkSpec::from_json(&description.to_string()).expect("the description is right");
    let mut network = Network::build(spec, 1).expect("the description is right");
    let switch = network.switch_mut(1).expect("the switch above");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/v1model/ecn_dual.p4");
    let pipeline = compile(&path);
    switch.control().set_pipeline(pipeline.clone());
    install(switch.control().state_mut().expect("a program is loaded"), pipeline.program(), incast);
    network
}

fn description(incast: &Incast<'_>) -> Value {
    let nodes = 0..=incast.senders;
    let address = |i: u32| format!("10.0.{}.{}", i / 250, i % 250 + 1);
    let mac = |i: u32| format!("02:00:00:00:{:02x}:{:02x}", i / 256, i % 256);
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    json!({
        "switches": [{
            "name": "s1",
            "device_id": 1,
            "ports": nodes.clone()
                .map(|i| json!({"port": i + 1, "queue_capacity_pkts": incast.buffer_pkts}))
                .collect::<Vec<_>>(),
        }],
        "hosts": nodes.clone()
            .map(|i| json!({"name": format!("h{i}"), "mac": mac(i), "ipv4": address(i)}))
            .collect::<Vec<_>>(),
        // Four crossings of a link make the round trip of 100 us.
        "links": nodes.clone()
            .map(|i| json!({
                "a": {"node": format!("h{i}")}, "b": {"node": "s1", "port": i + 1},
                "rate_bps": 10_000_000_000_u64, "delay_ns": 25_000,
            }))
            .collect::<Vec<_>>(),
        "algorithms": {"sender": parse(incast.algorithm)},
        "flows": nodes.skip(1)
            .map(|i| json!({
                "id": i, "src": format!("h{i}"), "dst": "h0", "size_bytes": incast.size_bytes,
                "start_jitter_ns": incast.start_jitter_ns, "algorithm": "sender", "class": "incast",
            }))
            .collect::<Vec<_>>(),
        "record": parse(incast.record),
        "stop_ns": 10_000_000_000_u64,
        "limits": {"max_events": 200_000_000},
    })
}

pub fn compile(path: &Path) -> Arc<Pipeline> {
    let (source, mut found) = Source::load(path, &Options::default());
    let (tree, more) = p4cc_syntax::parse(&source);
    found.extend(more);
    let (program, more) = p4cc_compile::compile(&tree);
    found.extend(more);
    let program = program.unwrap_or_else(|| panic!("{}", source.render(&found, false)));
    Arc::new(Pipeline::compile(Arc::new(program)).expect("a checked program compiles"))
}

fn install(state: &mut State, program: &Program, incast: &Incast<'_>) {
    let (routes, thresholds) = (table(program, "ipv4_lpm"), table(program, "thresholds"));
    let (map, selector) = (table(program, "codepoint_map"), ProfileId(0));
    let next_hop = action(program, "set_next_hop");
    for i in 0..=incast.senders {
        let (port, mac) =
            (u128::from(i + 1), 0x0200_0000_0000 + (u128::from(i / 256) << 8) + u128::from(i % 256));
        let call = ActionCall { action: next_hop, args: vec![bits(9, port), bits(48, mac)] };
        state.member_insert(selector, Member { id: i + 1, action: call }).expect("room for a member");
        let address = bits(32, 0x0a00_0000 + u128::from(i / 250) * 256 + u128::from(i % 250) + 1);
        let route = vec![MatchValue::Lpm { value: address, len: 32 }];
        state.table_insert(routes, entry(route, EntryAction::Member(i + 1))).expect("room for a route");
        let set = ActionCall {
            action: action(program, "set_thresholds"),
            args: vec![bits(19, incast.k.into()), bits(19, incast.k_dc.into())],
        };
        let port = vec![MatchValue::Exact(bits(9, port))];
        state.table_insert(thresholds, entry(port, EntryAction::Direct(set))).expect("room for a port");
    }
    for (level, from, to) in GST_PROFILE {
        let keys = vec![MatchValue::Exact(bits(2, level)), MatchValue::Exact(bits(2, from))];
        let set = ActionCall { action: action(program, "set_codepoint"), args: vec![bits(2, to)] };
        state.table_insert(map, entry(keys, EntryAction::Direct(set))).expect("room in the map");
    }
}

pub fn bits(width: u32, value: u128) -> Bits {
    Bits::from_u128(width, value)
}

pub fn entry(matches: Vec<MatchValue>, action: EntryAction) -> TableEntry {
    TableEntry {
        matches,
        priority: 0,
        action,
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: 0,
        is_const: false,
    }
}

pub fn table(program: &Program, name: &str) -> TableId {
    let place = program.tables.iter().position(|table| table.cp.name.ends_with(name));
    TableId::from_index(place.unwrap_or_else(|| panic!("no table {name}")))
}

pub fn action(program: &Program, name: &str) -> ActionId {
    let place = program.actions.iter().position(|action| action.cp.name.ends_with(name));
    ActionId::from_index(place.unwrap_or_else(|| panic!("no action {name}")))
}
