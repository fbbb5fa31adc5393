//! Lossless fabrics of RDMA-like flows on the project's own
//! P4 programs, entries installed as the controller does.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use p4cc_exec::control::{EntryAction, Member};
use p4cc_exec::{Pipeline, State};
use p4cc_ir::{ActionCall, MatchValue, ProfileId, Program};
use p4cc_netsim::{Network, NetworkSpec};
use serde_json::{Value, json};

use crate::support::{action, bits, compile, entry, table};

/// Rate and delay of every link (docs/algorithms/reproductions.md#h-incast).
pub const RATE_BPS: u64 = 100_000_000_000;
pub const DELAY_NS: u64 = 1_000;
/// What senders are told, above that of any pair.
const BASE_RTT_NS: u64 = 9_000;
/// docs/algorithms/pfc.md#pfc-parameters: "headroom per port: 3 rate link_delay / 8".
pub const HEADROOM_BYTES: u64 = 3 * RATE_BPS * DELAY_NS / 8 / 1_000_000_000;
/// Code of 100 Gbit/s in the network's table of rates.
const RATE_CODE: u128 = 2;
const UNIT_SHIFT: u128 = 2;

/// Switches joined by trunks, each host at one of them.
pub struct Fabric<'a> {
    /// File name of the P4 program.
    pub program: &'a str,
    /// The switch of each host.
    pub hosts_at: &'a [usize],
    /// Pairs of switches.
    pub trunks: &'a [(usize, usize)],
    /// The switch after the first on the way to the second.
    pub next: fn(usize, usize) -> usize,
    pub buffer_bytes: u64,
    pub headroom_bytes: u64,
    /// `lossless_priorities` of every switch.
    pub lossless: &'a [u8],
    /// An algorithm of the rate family in JSON, and further keys of the flow's configuration.
    pub cc: &'a str,
    pub more: Value,
    /// Sender, receiver, bytes, start in ns.
    pub flows: &'a [(usize, usize, u64, u64)],
    pub record: Value,
    pub stop_ns: u64,
}

impl Fabric<'_> {
    /// The network with program and entries, ready to run or to fork.
    pub fn build(&self) -> Network {
        self.build_with(|_| {})
    }

    /// The same with changes to its description.
    pub fn build_with(&self, change: impl FnOnce(&mut Value)) -> Network {
        let mut description = self.description();
        change(&mut description);
        let spec = NetworkSpec::from_json(&description.to_string()).expect("the description is right");
        let mut network = Network::build(spec, 1).expect("the description is right");
        let pipeline = program(self.program);
        for switch in 0..self.switches() {
            let node = network.switch_mut(switch as u64 + 1).expect("a switch of the description");
            node.control().set_pipeline(pipeline.clone());
            self.install(
                node.control().state_mut().expect("a program is loaded"),
                pipeline.program(),
                switch,
            );
        }
        network
    }

    fn switches(&self) -> usize {
        let trunks = self.trunks.iter().flat_map(|&(a, b)| [a, b]);
        self.hosts_at.iter().copied().chain(trunks).max().map_or(0, |last| last + 1)
    }

    /// What each port of a switch leads to, from port 1 on: hosts, then trunks.
    fn ports(&self, switch: usize) -> Vec<String> {
        let hosts = self.hosts_at.iter().enumerate().filter(|(_, at)| **at == switch);
        let trunks = self.trunks.iter().filter_map(|&(a, b)| match switch {
            one if one == a => Some(format!("s{b}")),
            one if one == b => Some(format!("s{a}")),
            _ => None,
        });
        hosts.map(|(host, _)| format!("h{host}")).chain(trunks).collect()
    }

    fn port_to(&self, switch: usize, peer: &str) -> usize {
        1 + self.ports(switch).iter().position(|one| one == peer).expect("a neighbour")
    }

    fn description(&self) -> Value {
        let end =
            |node: usize, peer: &str| json!({"node": format!("s{node}"), "port": self.port_to(node, peer)});
        let link = |a: Value, b: Value| json!({"a": a, "b": b, "rate_bps": RATE_BPS, "delay_ns": DELAY_NS});
        let hosts = self.hosts_at.iter().enumerate();
        let host_links =
            hosts.clone().map(|(i, &at)| link(json!({"node": format!("h{i}")}), end(at, &format!("h{i}"))));
        let trunks =
            self.trunks.iter().map(|&(a, b)| link(end(a, &format!("s{b}")), end(b, &format!("s{a}"))));
        let port = |port: usize| {
            json!({"port": port, "queue_capacity_pkts": 100_000, "qdepth_unit": "cells_80B",
                "headroom_bytes": self.headroom_bytes, "alpha_log2": -3})
        };
        let switch = |i: usize| {
            json!({
                "name": format!("s{i}"), "device_id": i + 1, "timestamp_unit": "ns",
                "ports": (1..=self.ports(i).len()).map(port).collect::<Vec<_>>(),
                "buffer": {"bytes": self.buffer_bytes, "lossless_priorities": self.lossless},
            })
        };
        let mut sender = json!({
            "base_rtt_ns": BASE_RTT_NS, "cc": serde_json::from_str::<Value>(self.cc).expect("JSON"),
            "int": {"unit_shift": UNIT_SHIFT as u64, "tick_ns": 1, "rates_bps": {"2": RATE_BPS}},
        });
        for (key, value) in self.more.as_object().into_iter().flatten() {
            sender[key] = value.clone();
        }
        json!({
            "switches": (0..self.switches()).map(switch).collect::<Vec<_>>(),
            "hosts": hosts
                .map(|(i, _)| json!({"name": format!("h{i}"), "mac": format!("02:00:00:00:00:{i:02x}"),
                    "ipv4": format!("10.0.0.{}", i + 1)}))
                .collect::<Vec<_>>(),
            "links": host_links.chain(trunks).collect::<Vec<_>>(),
            "rdma": {"sender": sender},
            "flows": self.flows.iter().zip(1..)
                .map(|(&(src, dst, size_bytes, start_ns), id)| json!({
                    "id": id, "src": format!("h{src}"), "dst": format!("h{dst}"), "size_bytes": size_bytes,
                    "start_ns": start_ns, "algorithm": "sender", "priority": 3,
                }))
                .collect::<Vec<_>>(),
            "record": self.record,
            "stop_ns": self.stop_ns,
            "limits": {"max_events": 50_000_000},
        })
    }

    fn install(&self, state: &mut State, program: &Program, switch: usize) {
        let routes = table(program, "ipv4_lpm");
        let next_hop = action(program, "set_next_hop");
        for (host, &at) in self.hosts_at.iter().enumerate() {
            let peer =
                if at == switch { format!("h{host}") } else { format!("s{}", (self.next)(switch, at)) };
            let port = self.port_to(switch, &peer) as u128;
            let mac = 0x0200_0000_0000 + host as u128;
            let call = ActionCall { action: next_hop, args: vec![bits(9, port), bits(48, mac)] };
            let id = host as u32 + 1;
            state.member_insert(ProfileId(0), Member { id, action: call }).expect("room for a member");
            let address = bits(32, 0x0a00_0001 + host as u128);
            let route = vec![MatchValue::Lpm { value: address, len: 32 }];
            state.table_insert(routes, entry(route, EntryAction::Member(id))).expect("room for a route");
        }
        match self.program {
            "int_hpcc.p4" => self.install_telemetry(state, program, switch),
            "d3.p4" => self.install_allocator(state, program, switch),
            _ => {}
        }
    }

    /// Every port allots its whole rate, an epoch is 2^20 ns. Base rate and reciprocals are as the controller
    /// has them (`controller/d3.py`): a header of 64 B each base round trip, and a share for as many flows as
    /// get more than that. Lost requests stay counted, so there are many times more than the flows of a test.
    fn install_allocator(&self, state: &mut State, program: &Program, switch: usize) {
        let mut add = |name: &str, key: (u32, u128), set: &str, args: &[(u32, u128)]| {
            let args = args.iter().map(|(width, value)| bits(*width, *value)).collect();
            let call = ActionCall { action: action(program, set), args };
            let keys = vec![MatchValue::Exact(bits(key.0, key.1))];
            let added = state.table_insert(table(program, name), entry(keys, EntryAction::Direct(call)));
            added.expect("room in the table");
        };
        let (capacity_kbps, base_kbps) = (RATE_BPS / 1_000, 64 * 8 * 1_000_000 / BASE_RTT_NS);
        for port in 1..=self.ports(switch).len() as u128 {
            let args = [(32, capacity_kbps.into()), (32, base_kbps.into()), (6, 20)];
            add("allocator.ports", (9, port), "allocator.set_port", &args);
        }
        for flows in 1..=u128::from(capacity_kbps / base_kbps) {
            let value = u128::from(u32::MAX) / flows;
            add("rule.reciprocals", (16, flows), "rule.set_reciprocal", &[(32, value)]);
        }
    }

    fn install_telemetry(&self, state: &mut State, program: &Program, switch: usize) {
        for port in 1..=self.ports(switch).len() as u128 {
            let id = switch as u128 + 1;
            let args = [(12, id), (4, RATE_CODE), (3, UNIT_SHIFT), (8, 1), (8, 0), (4, 5)];
            let call = ActionCall {
                action: action(program, "set_port"),
                args: args.map(|(width, value)| bits(width, value)).to_vec(),
            };
            let key = vec![MatchValue::Exact(bits(9, port))];
            let ports = table(program, "telemetry.ports");
            state.table_insert(ports, entry(key, EntryAction::Direct(call))).expect("room for a port");
        }
    }
}

/// A program, compiled once for all tests.
fn program(name: &str) -> Arc<Pipeline> {
    static COMPILED: Mutex<BTreeMap<String, Arc<Pipeline>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().expect("no test panics while it compiles");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/v1model").join(name);
    compiled.entry(name.to_owned()).or_insert_with(|| compile(&path)).clone()
}
