//! Time for one packet through the dual-threshold ECN program, whole and by stage.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use p4cc_exec::testing::{EcnProgram, SplitMix, ecn_program};
use p4cc_exec::{Effects, Env, Executor, Frame, PacketView};
use p4cc_units::Time;

/// Host routes installed: a fat-tree with K = 10.
const ROUTES: u32 = 250;

fn pipeline(c: &mut Criterion) {
    let program = ecn_program();
    let pipeline = &program.pipeline;
    let entry = *pipeline.v1model().expect("a v1model program");
    let meta = entry.metadata;
    let mut state = program.filled(ROUTES);
    let mut frame = Frame::new(pipeline);
    let (mut effects, mut random) = (Effects::default(), SplitMix(1));
    let packets: Vec<Vec<u8>> = (0..ROUTES as u8).map(EcnProgram::packet).collect();
    let mut out = Vec::with_capacity(128);
    let mut next = 0;
    let mut group = c.benchmark_group("ecn_dual");

    macro_rules! env {
        () => {
            Env {
                state: &mut state,
                effects: &mut effects,
                random: &mut random,
                packet_length: 1514,
                payload: PacketView::default(),
                now: Time::ZERO,
            }
        };
    }

    group.bench_function("packet", |b| {
        b.iter(|| {
            next = (next + 1) % packets.len();
            let view = PacketView { bytes: black_box(&packets[next]), zeros: 1440 };
            frame.reset();
            effects.reset();
            let mut env = env!();
            let outcome = pipeline.parse(&mut frame, view, &mut env);
            pipeline.run(entry.verify_checksum, &mut frame, &mut env);
            pipeline.run(entry.ingress, &mut frame, &mut env);
            let port = frame.get(pipeline, meta.egress_spec);
            frame.set(pipeline, meta.egress_port, port);
            frame.set(pipeline, meta.enq_qdepth, next as u64 % 80);
            pipeline.run(entry.egress, &mut frame, &mut env);
            pipeline.run(entry.compute_checksum, &mut frame, &mut env);
            out.clear();
            pipeline.deparse(&mut frame, &mut out);
            black_box((outcome, &out));
        });
    });
    group.bench_function("parse", |b| {
        b.iter(|| {
            frame.reset();
            let view = PacketView::new(black_box(&packets[0]));
            black_box(pipeline.parse(&mut frame, view, &mut env!()));
        });
    });
    for (name, func) in [
        ("verify_checksum", entry.verify_checksum),
        ("ingress", entry.ingress),
        ("egress", entry.egress),
        ("compute_checksum", entry.compute_checksum),
    ] {
        group.bench_function(name, |b| {
            frame.reset();
            pipeline.parse(&mut frame, PacketView::new(&packets[0]), &mut env!());
            let ttl = pipeline.program().headers[program.headers[1].index()].fields[8];
            b.iter(|| {
                frame.set(pipeline, ttl, 64);
                pipeline.run(func, black_box(&mut frame), &mut env!());
            });
        });
    }
    group.bench_function("deparse", |b| {
        b.iter(|| {
            out.clear();
            pipeline.deparse(black_box(&mut frame), &mut out);
            black_box(&out);
        });
    });
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
