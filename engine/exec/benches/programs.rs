//! Time for one packet through each program of `p4src/v1model`, from parser to deparser, with the work that the program
//! is for: a record pushed, a rate granted, a packet marked or not.

mod common;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use common::{call, insert};
use criterion::{Criterion, criterion_group, criterion_main};
use p4cc_exec::control::{EntryAction, Group, GroupMember, Member};
use p4cc_exec::testing::SplitMix;
use p4cc_exec::{Effects, Env, Executor, Frame, PacketView, Pipeline, State};
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

fn measure(c: &mut Criterion, subject: &Subject) {
    let program = compile(subject.name);
    let pipeline = Pipeline::compile(Arc::clone(&program)).expect("a checked program");
    let entry = *pipeline.v1model().expect("a v1model program");
    let meta = entry.metadata;
    let mut state = filled(subject, &program, &pipeline);
    let mut frame = Frame::new(&pipeline);
    let (mut effects, mut random) = (Effects::default(), SplitMix(1));
    let packets: Vec<Vec<u8>> = (0..ROUTES as u8).map(|host| packet(subject, host)).collect();
    let mut out = Vec::with_capacity(256);
    let mut next = 0_usize;
    c.bench_function(&format!("{}/packet", subject.name), |b| {
        b.iter(|| {
            next += 1;
            let bytes = black_box(&packets[next % packets.len()]);
            let view = PacketView { bytes, zeros: PAYLOAD.into() };
            frame.reset();
            effects.reset();
            let mut env = Env {
                state: &mut state,
                effects: &mut effects,
                random: &mut random,
                packet_length: bytes.len() as u32 + u32::from(PAYLOAD),
                payload: PacketView::default(),
                now: Time::ZERO,
            };
            let outcome = pipeline.parse(&mut frame, view, &mut env);
            pipeline.run(entry.verify_checksum, &mut frame, &mut env);
            pipeline.run(entry.ingress, &mut frame, &mut env);
            let port = frame.get(&pipeline, meta.egress_spec);
            frame.set(&pipeline, meta.egress_port, port);
            frame.set(&pipeline, meta.deq_qdepth, next as u64 % 80);
            frame.set(&pipeline, meta.egress_global_timestamp, next as u64 * 120);
            pipeline.run(entry.egress, &mut frame, &mut env);
            pipeline.run(entry.compute_checksum, &mut frame, &mut env);
            out.clear();
            pipeline.deparse(&mut frame, &mut out);
            black_box((outcome, &out));
        });
    });
    check(subject, &out);
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

criterion_group!(benches, programs);
criterion_main!(benches);
