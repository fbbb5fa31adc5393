//! Time for one packet through each program of `p4src/v1model`, from parser to
//! deparser, with the work that the program is for: a record pushed, a rate
//! granted, a packet marked or not; by the interpreter and by native code.
//!
//! With `--count PROGRAM BACK_END PACKETS` it runs so many
//! packets and nothing else, for a count of instructions.

mod common;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use common::{call, insert, insert_keys};
use criterion::{BatchSize, Criterion};
use p4cc_exec::control::{EntryAction, Group, GroupMember, Member};
use p4cc_exec::testing::SplitMix;
use p4cc_exec::{
    DEFAULT_DROP_PORT, Effects, EgressEnd, EgressMetadata, EgressStart, Env, Exec, Executor, Frame,
    IngressStart, PacketView, Pipeline, State,
};
use p4cc_ir::{Bits, MatchValue, ProfileId, Program};
use p4cc_syntax::{Options, Source};
use p4cc_units::Time;

/// Host routes installed, and ports with an entry: as in the bench of `ecn_dual`.
const ROUTES: u32 = 250;
const PORTS: u32 = 64;
/// Payload of a packet, and what stands for it here.
const PAYLOAD: u16 = 1_400;

/// A program, its port entry and the packet that it is for.
struct Subject {
    name: &'static str,
    table: &'static str,
    action: &'static str,
    args: &'static [u128],
    extension_type: u8,
    extension: Vec<u8>,
}

fn subjects() -> Vec<Subject> {
    let subject = |name, table, action, args, extension_type, extension| Subject {
        name,
        table,
        action,
        args,
        extension_type,
        extension,
    };
    // Three instructions that HPCC needs: queue, egress timestamp, transmitted bytes.
    let mut int_md = vec![0x10, 3, 0, 0, 0x20, 0, 4, 5, 0x15, 0];
    int_md.extend([0; 6]);
    let mut request = vec![0; 84];
    request[4..8].copy_from_slice(&1_000_u32.to_be_bytes());
    vec![
        subject("ecn_dual", "egress.ecn.thresholds", "egress.ecn.set_thresholds", &[20, 60], 0, Vec::new()),
        subject("ack_priority", "", "", &[], 0, Vec::new()),
        subject("ecn_red", "egress.red.curves", "egress.red.set_curve", &[5, 75, 0x00c0_0000], 0, Vec::new()),
        subject(
            "int_hpcc",
            "egress.telemetry.ports",
            "egress.telemetry.set_port",
            &[7, 2, 2, 1, 0, 5],
            1,
            vec![0, 0],
        ),
        subject("int_md", "egress.telemetry.ports", "egress.telemetry.set_port", &[7, 1_600, 0], 2, int_md),
        subject(
            "d3",
            "egress.allocator.ports",
            "egress.allocator.set_port",
            &[100_000_000, 1_000, 27],
            3,
            request,
        ),
        subject(
            "rcp",
            "egress.rcp.ports",
            "egress.rcp.set_port",
            &[100_000_000, 5_000_000, 1, 50_000, 13_107_200, 351_844, 175_922, 80, 0],
            6,
            vec![0xff; 4],
        ),
    ]
}

fn compile(name: &str) -> Arc<Program> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../p4src/v1model/{name}.p4"));
    common::compile(Source::load(&path, &Options::default()))
}

fn filled(subject: &Subject, program: &Program, pipeline: &Pipeline) -> State {
    let mut state = State::new(pipeline);
    let profile = ProfileId::from_index(0);
    for port in 0..PORTS {
        let action = call(program, "ingress.forward.set_next_hop", &[port.into(), 0x0200_0000_0000]);
        state.member_insert(profile, Member { id: port + 1, action }).expect("an empty profile");
        if !subject.table.is_empty() {
            let action = EntryAction::Direct(call(program, subject.action, subject.args));
            let key = MatchValue::Exact(Bits::from_u128(9, port.into()));
            insert(&mut state, program, subject.table, key, action);
        }
    }
    for group in 0..16 {
        let member = |i| GroupMember { member_id: group * 4 + i + 1, weight: 1, watch_port: None };
        let group = Group { id: group + 1, max_size: 0, members: (0..4).map(member).collect() };
        state.group_insert(profile, group).expect("an empty selector");
    }
    for route in 0..ROUTES {
        let key = MatchValue::Lpm { value: Bits::from_u128(32, u128::from(0x0a00_0000 + route)), len: 32 };
        insert(&mut state, program, "ingress.forward.ipv4_lpm", key, EntryAction::Group(route % 16 + 1));
    }
    if subject.name == "ecn_dual" {
        for (level, ecn, to) in [(1, 2, 1), (1, 1, 1), (2, 2, 3), (2, 1, 3), (1, 3, 3), (2, 3, 3)] {
            let action = EntryAction::Direct(call(program, "egress.ecn.set_codepoint", &[to]));
            let key = |value| MatchValue::Exact(Bits::from_u128(2, value));
            insert_keys(&mut state, program, "egress.ecn.codepoint_map", vec![key(level), key(ecn)], action);
        }
    }
    if subject.name == "d3" {
        for flows in 1..=4095_u32 {
            let args = [u128::from(u32::MAX / flows)];
            let action = EntryAction::Direct(call(program, "egress.allocator.rule.set_reciprocal", &args));
            let key = MatchValue::Exact(Bits::from_u128(16, flows.into()));
            insert(&mut state, program, "egress.allocator.rule.reciprocals", key, action);
        }
    }
    state
}

/// A data packet to 10.0.0.`host` up to its payload, capable of ECN.
fn packet(subject: &Subject, host: u8) -> Vec<u8> {
    let udp_len = 44 + subject.extension.len() as u16 + PAYLOAD;
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let mut ip = vec![0x45, 2];
    ip.extend((udp_len + 20).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 1, 0, 7, 10, 0, 0, host]);
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = (sum >> 16) + (sum & 0xffff);
    ip[10..12].copy_from_slice(&(!((sum >> 16) + (sum & 0xffff)) as u16).to_be_bytes());
    bytes.extend(ip);
    bytes.extend([0xc0, host, 0xcc, 0x00]);
    bytes.extend(udp_len.to_be_bytes());
    bytes.extend([0, 0, 0x10, 0, 0, subject.extension_type, 0, 0, 0, host, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(PAYLOAD.to_be_bytes());
    bytes.extend([subject.extension.len() as u8, 0]);
    bytes.extend([0; 16]);
    bytes.extend(&subject.extension);
    bytes
}

/// Everything that packets of a program need.
struct Bench {
    pipeline: Pipeline,
    state: State,
    frame: Frame,
    effects: Effects,
    random: SplitMix,
    packets: Vec<Vec<u8>>,
    /// What waits between ingress and egress.
    saved: Vec<u8>,
    next: usize,
    /// The packet that comes next, by its place.
    at: usize,
}

impl Bench {
    fn new(subject: &Subject) -> Self {
        let program = compile(subject.name);
        let pipeline = Pipeline::compile(Arc::clone(&program)).expect("a checked program");
        Self {
            state: filled(subject, &program, &pipeline),
            frame: Frame::new(&pipeline),
            effects: Effects::default(),
            random: SplitMix(1),
            packets: (0..ROUTES as u8).map(|host| packet(subject, host)).collect(),
            saved: Vec::with_capacity(256),
            next: 0,
            at: 0,
            pipeline,
        }
    }

    /// One packet from parser to deparser.
    #[inline]
    fn packet(&mut self, exec: Exec) {
        let pipeline = &self.pipeline;
        let executor: &dyn Executor = match exec {
            Exec::Interp => pipeline,
            Exec::Native => pipeline.native().expect("native code for this processor"),
        };
        let v1_pipelines = pipeline.v1_pipelines().expect("a v1model program");
        let frame = &mut self.frame;
        self.next += 1;
        self.at = if self.at + 1 < self.packets.len() { self.at + 1 } else { 0 };
        let bytes = black_box(&self.packets[self.at]);
        self.effects.reset();
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut self.random,
            packet_length: bytes.len() as u32 + u32::from(PAYLOAD),
            payload: PacketView::default(),
            now: Time::ZERO,
        };
        let start = IngressStart {
            packet: PacketView { bytes, zeros: PAYLOAD.into() },
            outside: Some((1, 0)),
            instance_type: 0,
            drop_port: DEFAULT_DROP_PORT,
        };
        let outcome = executor.ingress(frame, start, &mut env);
        let port = u64::from(v1_pipelines.verdict(frame).egress_spec);
        self.saved.clear();
        self.saved.extend_from_slice(frame.front());
        let metadata = EgressMetadata {
            egress_spec: u64::from(DEFAULT_DROP_PORT) + 1,
            egress_port: port,
            packet_length: env.packet_length.into(),
            enq_qdepth: self.next as u64 % 80,
            deq_qdepth: self.next as u64 % 80,
            egress_global_timestamp: self.next as u64 * 120,
            ..EgressMetadata::default()
        };
        let (saved, payload) = (&self.saved[..], PacketView { bytes: &[], zeros: PAYLOAD.into() });
        env.payload = payload;
        let start = EgressStart { saved, metadata, drop_port: DEFAULT_DROP_PORT };
        let end = executor.egress(frame, start, &mut env);
        assert_eq!(end, EgressEnd::Deparsed, "{} bytes", outcome.consumed_bits / 8);
        black_box((outcome, self.frame.front()));
    }
}

fn measure(c: &mut Criterion, subject: &Subject) {
    for exec in Exec::ALL {
        let mut bench = Bench::new(subject);
        c.bench_function(&format!("{}/{}", subject.name, exec.name()), |b| b.iter(|| bench.packet(exec)));
        check(subject, bench.frame.front());
    }
}

/// What making native code costs, and what compiling for the interpreter does.
fn compilation(c: &mut Criterion) {
    for subject in subjects() {
        let program = compile(subject.name);
        c.bench_function(&format!("{}/compile interp", subject.name), |b| {
            b.iter(|| Pipeline::compile(Arc::clone(&program)).expect("a checked program"));
        });
        c.bench_function(&format!("{}/compile native", subject.name), |b| {
            b.iter_batched(
                || Pipeline::compile(Arc::clone(&program)).expect("a checked program"),
                |pipeline| black_box(pipeline.native().is_ok()),
                BatchSize::PerIteration,
            );
        });
    }
}

/// The program did its work: a bench of a packet that passes by would measure nothing.
fn check(subject: &Subject, out: &[u8]) {
    // Criterion passed over it.
    let Some(extension) = out.get(78..) else { return };
    let worked = match subject.extension_type {
        1 => extension.len() == 10,
        2 => extension.len() == 16 + 16,
        3 => extension[1] == 1,
        6 => extension != [0xff; 4],
        _ => extension.is_empty(),
    };
    assert!(worked, "{}: {extension:02x?}", subject.name);
}

fn programs(c: &mut Criterion) {
    for subject in subjects() {
        measure(c, &subject);
    }
}

/// Runs packets of one program, for a count of instructions.
fn count(args: &[String]) {
    let [name, exec, packets] = args else { panic!("--count PROGRAM BACK_END PACKETS") };
    let subjects = subjects();
    let subject = subjects.iter().find(|subject| subject.name == name).expect("a program of the bench");
    let exec: Exec = exec.parse().expect("a back end");
    let packets: u64 = packets.parse().expect("a number of packets");
    let mut bench = Bench::new(subject);
    (0..packets).for_each(|_| bench.packet(exec));
    if packets > 0 {
        check(subject, bench.frame.front());
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|arg| arg == "--count") {
        return count(&args[at + 1..]);
    }
    let mut criterion = Criterion::default().configure_from_args();
    programs(&mut criterion);
    compilation(&mut criterion);
    criterion.final_summary();
}
