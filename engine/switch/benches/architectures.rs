//! A packet through the whole switch, queue included, under v1model and under TNA: `ecn_dual` of each.
//!
//! Prints nanoseconds a packet, the least of many rounds, as JSON. With native code and with the interpreter.
//! Names of results on the command line (`tna_ns`) leave out the others: for profiles.

#![allow(clippy::print_stdout, reason = "results are for whoever measures")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use p4cc_exec::control::{EntryAction, Group, GroupMember, Member, TableEntry};
use p4cc_exec::{Pipeline, State};
use p4cc_ir::{ActionCall, ActionId, Bits, MatchKind, MatchValue, ProfileId, Program, TableId};
use p4cc_switch::config::DEFAULT_DROP_PORT;
use p4cc_switch::{DEFAULT_PASS_LIMIT, ExecChoice, Packet, PortConfig, Switch, SwitchConfig, TimestampUnit};
use p4cc_syntax::{Options, Source};
use p4cc_units::{Rate, Time};

/// Rounds of which the fastest counts, and packets of each.
const ROUNDS: u32 = 200;
const PACKETS: u32 = 1_000;
const OUT: u32 = 2;

fn main() {
    let mut told = Vec::new();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg.ends_with("_ns")).collect();
    for (exec, suffix) in [(ExecChoice::Native, ""), (ExecChoice::Interp, "_interp")] {
        for architecture in ["v1model", "tna"] {
            let name = format!("{architecture}{suffix}_ns");
            if wanted.is_empty() || wanted.contains(&name) {
                told.push(format!("\"{name}\": {:.1}", measured(architecture, exec)));
            }
        }
    }
    println!("{{{}}}", told.join(", "));
}

fn measured(architecture: &str, exec: ExecChoice) -> f64 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../p4src/{architecture}/ecn_dual.p4"));
    let (source, _) = Source::load(&path, &Options::default());
    let (tree, _) = p4cc_syntax::parse(&source);
    let (program, found) = p4cc_compile::compile(&tree);
    let program = Arc::new(program.unwrap_or_else(|| panic!("{}", source.render(&found, false))));
    let port = |port| PortConfig {
        port,
        rate: Rate::from_bps(100_000_000_000),
        capacity_pkts: 4_096,
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        device_id: 1,
        ports: vec![port(1), port(OUT)],
        timestamp_unit: TimestampUnit::Ns,
        buffer: None,
        cpu_port: None,
        drop_port: DEFAULT_DROP_PORT,
        seed: 7,
        pass_limit: DEFAULT_PASS_LIMIT,
        deflect_on_drop: false,
    };
    let mut switch = Switch::new(config).expect("a right configuration");
    switch.control().set_exec(exec);
    switch
        .control()
        .set_pipeline(Arc::new(Pipeline::compile(Arc::clone(&program)).expect("a checked program")));
    fill(switch.control().state_mut().expect("a program is loaded"), &program);
    let packet = Packet::new(&frame(), 1_400);
    let mut least_ns = f64::INFINITY;
    for round in 0..ROUNDS {
        // Clones of packets are not the switch's work.
        let packets: Vec<Packet> = (0..PACKETS).map(|_| packet.clone()).collect();
        let started = Instant::now();
        let mut sent = 0;
        for (at, packet) in packets.into_iter().enumerate() {
            let now = Time::from_ns(u64::from(round * PACKETS) + at as u64);
            switch.receive(now, 1, packet);
            while let Some(port) = switch.next_ready() {
                while let Some(out) = switch.transmit(now, port) {
                    sent += 1;
                    black_box(out);
                }
            }
        }
        assert_eq!(sent, PACKETS, "the program forwards");
        least_ns = least_ns.min(started.elapsed().as_nanos() as f64 / f64::from(PACKETS));
    }
    least_ns
}

/// One route, and thresholds of the port.
fn fill(state: &mut State, program: &Program) {
    let profile = ProfileId::from_index(0);
    let action = call(program, "set_next_hop", &[OUT.into(), 0x0200_0000_0000]);
    state.member_insert(profile, Member { id: 1, action }).expect("an empty profile");
    let member = GroupMember { member_id: 1, weight: 1, watch_port: None };
    state.group_insert(profile, Group { id: 1, max_size: 0, members: vec![member] }).expect("one group");
    let everything = MatchValue::Lpm { value: Bits::from_u128(32, 0x0a00_0000), len: 8 };
    insert(state, program, "ipv4_lpm", vec![everything], EntryAction::Group(1));
    let thresholds = call(program, "set_thresholds", &[20, 60]);
    let at = MatchValue::Exact(Bits::from_u128(9, OUT.into()));
    insert(state, program, "thresholds", vec![at], EntryAction::Direct(thresholds));
}

fn call(program: &Program, name: &str, args: &[u128]) -> ActionCall {
    let at = program.actions.iter().position(|action| action.cp.name.ends_with(name)).expect("the action");
    let widths = program.actions[at].params.iter().map(|param| program.vars[param.var.index()].ty.width());
    let args = widths.zip(args).map(|(width, arg)| Bits::from_u128(width, *arg)).collect();
    ActionCall { action: ActionId::from_index(at), args }
}

fn insert(state: &mut State, program: &Program, table: &str, matches: Vec<MatchValue>, action: EntryAction) {
    let at = program.tables.iter().position(|found| found.cp.name.ends_with(table)).expect("the table");
    // Keys that choose a member are no match.
    let keys = program.tables[at].keys.iter().filter(|key| key.kind != MatchKind::Selector);
    assert_eq!(keys.count(), matches.len(), "keys of {table}");
    let entry = TableEntry {
        matches,
        priority: 0,
        action,
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: 0,
        is_const: false,
    };
    state.table_insert(TableId::from_index(at), entry).expect("the entry fits");
}

/// A UDP packet to 10.0.0.9, capable of ECN, up to its payload.
fn frame() -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let mut ip = vec![0x45, 2];
    ip.extend((1_400_u16 + 64).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 1, 0, 7, 10, 0, 0, 9]);
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = (sum >> 16) + (sum & 0xffff);
    ip[10..12].copy_from_slice(&(!((sum >> 16) + (sum & 0xffff)) as u16).to_be_bytes());
    bytes.extend(ip);
    bytes.extend([0xc0, 1, 0xcc, 0]);
    bytes.extend((1_400_u16 + 44).to_be_bytes());
    bytes.extend([0; 38]);
    bytes
}
