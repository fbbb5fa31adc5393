//! A fat-tree, by default of HPCC senders on `int_hpcc.p4`: every switch hashes flows over its equal paths,
//! as the controller installs it; every host sends to one other.

use std::path::Path;

use p4cc_exec::RandomSource;
use p4cc_exec::State;
use p4cc_exec::control::{EntryAction, Group, GroupMember, Member};
use p4cc_exec::testing::SplitMix;
use p4cc_ir::{ActionCall, MatchValue, ProfileId, Program};
use p4cc_netsim::{Network, NetworkSpec};
use serde_json::{Value, json};

use crate::support::{action, bits, compile, entry, table};

const RATE_BPS: u64 = 100_000_000_000;
const DELAY_NS: u64 = 1_000;
/// docs/algorithms/pfc.md#pfc-parameters: "headroom per port: 3 rate link_delay / 8".
const HEADROOM_BYTES: u64 = 3 * RATE_BPS * DELAY_NS / 8 / 1_000_000_000;
/// Six links each way, a packet of 1,064 B and its ACK serialised at each.
const BASE_RTT_NS: u64 = 13_000;
/// Of window senders: packets of 1,064 B over UDP, as paced ones have them.
const MSS_BYTES: u64 = 1_000;
/// 100 and 400 KB, DCQCN's at 100 Gb/s (docs/algorithms/dcqcn.md), in cells of 80 B; up to a fifth is marked.
const K_MIN_CELLS: u128 = 1_250;
const K_MAX_CELLS: u128 = 5_000;
/// 300 KB, DCTCP's at 100 Gb/s (docs/algorithms/marking.md#dctcp-threshold).
const K_DC_CELLS: u128 = 3_750;

/// Who sends, and with it the program of all switches.
#[derive(Clone, Copy, Debug)]
pub enum Sender {
    Hpcc,
    Dcqcn,
    Dctcp,
    DctcpTcp,
}

impl Sender {
    fn program(self) -> &'static str {
        match self {
            Self::Hpcc => "int_hpcc.p4",
            Self::Dcqcn => "ecn_red.p4",
            Self::Dctcp | Self::DctcpTcp => "ecn_dual.p4",
        }
    }

    /// Paced flows are lossless, as those of network cards are.
    fn priority(self) -> u8 {
        match self {
            Self::Hpcc | Self::Dcqcn => 3,
            Self::Dctcp | Self::DctcpTcp => 0,
        }
    }

    /// Senders by windows.
    fn algorithms(self) -> Value {
        let over = |packets: &str, mss_bytes: u64| {
            json!({"sender": {
                "packets": packets, "mss_bytes": mss_bytes, "rto_min_ns": 1_000_000, "rto_init_ns": 1_000_000,
                "ecn_profile": "rfc3168",
                "cc": {"congestion_avoidance": {"name": "dctcp", "cwnd_min": 1}},
            }})
        };
        match self {
            Self::Hpcc | Self::Dcqcn => json!({}),
            Self::Dctcp => over("udp", MSS_BYTES),
            Self::DctcpTcp => over("tcp", MSS_BYTES),
        }
    }

    /// Paced senders.
    fn rdma(self) -> Value {
        match self {
            Self::Hpcc => json!({"sender": {
                "base_rtt_ns": BASE_RTT_NS, "cc": {"name": "hpcc"},
                "int": {"unit_shift": 2, "tick_ns": 1, "rates_bps": {"2": RATE_BPS}},
            }}),
            Self::Dcqcn => json!({"sender": {"base_rtt_ns": BASE_RTT_NS, "cc": {"name": "dcqcn"}}}),
            Self::Dctcp | Self::DctcpTcp => json!({}),
        }
    }

    /// What the program marks by, at each port.
    fn install(self, state: &mut State, program: &Program, ports: usize, switch: usize) {
        let (name, set, args) = match self {
            Self::Hpcc => {
                let shifts = [(12, switch as u128 + 1), (4, 2), (3, 2), (8, 1), (8, 0), (4, 5)];
                ("telemetry.ports", "set_port", shifts.to_vec())
            }
            Self::Dcqcn => {
                let slope = (u128::from(u32::MAX) / 5) / (K_MAX_CELLS - K_MIN_CELLS);
                ("curves", "set_curve", vec![(19, K_MIN_CELLS), (19, K_MAX_CELLS), (32, slope)])
            }
            Self::Dctcp | Self::DctcpTcp => {
                for from in [1, 2] {
                    let keys = vec![MatchValue::Exact(bits(2, 2)), MatchValue::Exact(bits(2, from))];
                    let set = ActionCall { action: action(program, "set_codepoint"), args: vec![bits(2, 3)] };
                    let map = table(program, "codepoint_map");
                    state.table_insert(map, entry(keys, EntryAction::Direct(set))).expect("room in the map");
                }
                ("thresholds", "set_thresholds", vec![(19, K_DC_CELLS), (19, K_DC_CELLS)])
            }
        };
        for port in 1..=ports as u128 {
            let args = args.iter().map(|&(width, value)| bits(width, value)).collect();
            let call = ActionCall { action: action(program, set), args };
            let key = vec![MatchValue::Exact(bits(9, port))];
            let of_ports = table(program, name);
            state.table_insert(of_ports, entry(key, EntryAction::Direct(call))).expect("room for a port");
        }
    }
}

/// K pods of K/2 edge and K/2 aggregation switches, (K/2)^2 cores, K^3/4 hosts.
pub struct FatTree {
    pub k: usize,
    pub sender: Sender,
    /// Of each host's flow.
    pub size_bytes: u64,
    /// Further flows that would start after the end of the run.
    pub idle_flows: usize,
    /// What to record, in JSON.
    pub record: Value,
}

impl FatTree {
    fn half(&self) -> usize {
        self.k / 2
    }

    fn hosts(&self) -> usize {
        self.k * self.half() * self.half()
    }

    /// Edges and aggregations by pod, then cores.
    fn switches(&self) -> usize {
        self.k * self.k + self.half() * self.half()
    }

    /// The network with program and entries, ready to run or to fork.
    pub fn build(&self) -> Network {
        let spec = NetworkSpec::from_json(&self.description().to_string()).expect("the description is right");
        let mut network = Network::build(spec, 1).expect("the description is right");
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/v1model");
        let pipeline = compile(&programs.join(self.sender.program()));
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

    /// Upper ends of the links of a pod's switch from port K/2 + 1 on; ports 1 to K/2 lead down.
    fn description(&self) -> Value {
        let (k, half) = (self.k, self.half());
        let switch = |number: usize, port: usize| json!({"node": format!("s{number}"), "port": port});
        let mut links = Vec::new();
        let mut link = |a: Value, b: Value| {
            links.push(json!({"a": a, "b": b, "rate_bps": RATE_BPS, "delay_ns": DELAY_NS}));
        };
        for host in 0..self.hosts() {
            link(json!({"node": format!("h{host}")}), switch(self.edge(host), 1 + host % half));
        }
        for pod in 0..k {
            for a in 0..half {
                for b in 0..half {
                    let aggregation = pod * k + half + b;
                    link(switch(pod * k + a, 1 + half + b), switch(aggregation, 1 + a));
                    link(switch(aggregation, 1 + half + a), switch(k * k + b * half + a, 1 + pod));
                }
            }
        }
        let port = |port: usize| {
            json!({"port": port, "queue_capacity_pkts": 100_000, "qdepth_unit": "cells_80B",
                "headroom_bytes": HEADROOM_BYTES, "alpha_log2": -3})
        };
        let node = |i: usize| {
            json!({"name": format!("s{i}"), "device_id": i + 1, "timestamp_unit": "ns",
                "ports": (1..=k).map(port).collect::<Vec<_>>(),
                "buffer": {"bytes": 33_554_432, "lossless_priorities": [3]}})
        };
        json!({
            "switches": (0..self.switches()).map(node).collect::<Vec<_>>(),
            "hosts": (0..self.hosts())
                .map(|i| json!({"name": format!("h{i}"), "mac": format!("02:00:00:00:{:02x}:{:02x}", i >> 8, i & 255),
                    "ipv4": format!("10.0.{}.{}", i >> 8, i & 255)}))
                .collect::<Vec<_>>(),
            "links": links,
            "algorithms": self.sender.algorithms(),
            "rdma": self.sender.rdma(),
            "flows": self.flows(),
            "record": self.record,
            "stop_ns": 1_000_000_000,
            "limits": {"max_events": 1_000_000_000},
        })
    }

    /// A random permutation without a host that sends to itself, and flows that never start.
    fn flows(&self) -> Vec<Value> {
        let (hosts, mut random) = (self.hosts(), SplitMix(1));
        let mut to: Vec<usize> = (0..hosts).collect();
        // Sattolo's shuffle: one cycle through all hosts.
        for last in (1..hosts).rev() {
            to.swap(last, (random.next_u64() % last as u64) as usize);
        }
        let flow = |id: usize, size: Option<u64>, start_ns: u64| {
            json!({"id": id + 1, "src": format!("h{}", id % hosts), "dst": format!("h{}", to[id % hosts]),
                "size_bytes": size, "start_ns": start_ns, "algorithm": "sender",
                "priority": self.sender.priority()})
        };
        let sending = (0..hosts).map(|id| flow(id, Some(self.size_bytes), 0));
        sending.chain((0..self.idle_flows).map(|id| flow(hosts + id, None, 900_000_000))).collect()
    }

    /// The host behind a port of an edge switch; elsewhere any, as switches do not look at their own address.
    fn host_at(&self, switch: usize, port: u32) -> usize {
        let (pod, edge) = (switch / self.k, switch % self.k);
        pod * self.half() * self.half() + edge * self.half() + port as usize - 1
    }

    fn edge(&self, host: usize) -> usize {
        let half = self.half();
        host / (half * half) * self.k + host / half % half
    }

    fn install(&self, state: &mut State, program: &Program, switch: usize) {
        let half = self.half();
        let next_hop = action(program, "set_next_hop");
        for port in 1..=self.k as u32 {
            let args =
                vec![bits(9, port.into()), bits(48, 0x0200_0000_0000 + self.host_at(switch, port) as u128)];
            let member = Member { id: port, action: ActionCall { action: next_hop, args } };
            state.member_insert(ProfileId(0), member).expect("room for a member");
        }
        let is_core = switch >= self.k * self.k;
        if !is_core {
            let up = (half as u32 + 1..=self.k as u32).map(|member_id| GroupMember {
                member_id,
                weight: 1,
                watch_port: None,
            });
            let group = Group { id: 1, max_size: 0, members: up.collect() };
            state.group_insert(ProfileId(0), group).expect("room for a group");
            let factor = SplitMix(switch as u64).next_u64() as u32 | 1;
            let seed =
                ActionCall { action: action(program, "set_seed"), args: vec![bits(32, factor.into())] };
            let key = vec![MatchValue::Exact(bits(16, 0x0800))];
            let seeds = table(program, "ecmp_seeds");
            state.table_insert(seeds, entry(key, EntryAction::Direct(seed))).expect("room for a seed");
        }
        let routes = table(program, "ipv4_lpm");
        for host in 0..self.hosts() {
            let pod = host / (half * half);
            let to = match (is_core, switch / self.k == pod, switch % self.k < half) {
                (true, ..) => EntryAction::Member(pod as u32 + 1),
                (_, true, true) if self.edge(host) == switch => EntryAction::Member((host % half) as u32 + 1),
                (_, true, false) => EntryAction::Member((host / half % half) as u32 + 1),
                _ => EntryAction::Group(1),
            };
            let address = bits(32, 0x0a00_0000 + host as u128);
            let key = vec![MatchValue::Lpm { value: address, len: 32 }];
            state.table_insert(routes, entry(key, to)).expect("room for a route");
        }
        self.sender.install(state, program, self.k, switch);
    }
}
