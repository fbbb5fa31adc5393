//! Time for one packet through a program of twenty tables, all
//! of them filled and hit: exact, lpm and ternary in turn.

mod common;

use std::fmt::Write as _;
use std::hint::black_box;

use common::{call, insert};
use criterion::{Criterion, criterion_group, criterion_main};
use p4cc_exec::control::EntryAction;
use p4cc_exec::testing::SplitMix;
use p4cc_exec::{Effects, Env, Executor, Frame, PacketView, Pipeline, State};
use p4cc_ir::{Bits, MatchValue, Program};
use p4cc_syntax::{FileSystem, Options, Source};
use p4cc_units::Time;

const TABLES: usize = 20;
/// Entries of an exact or lpm table, and of a ternary one.
const ENTRIES: u32 = 250;
const TERNARY_ENTRIES: u32 = 16;
const KINDS: [&str; 3] = ["exact", "lpm", "ternary"];

/// A table matches the packet's word plus what the tables before it added, so that no lookup can be left out.
fn source() -> String {
    let mut tables = String::new();
    let mut apply = String::new();
    for at in 0..TABLES {
        let kind = KINDS[at % KINDS.len()];
        let _ = writeln!(
            tables,
            "    action add{at}(bit<32> n) {{ meta.sum = meta.sum + n; }}\n    table t{at} {{ \
             key = {{ h.w.word : {kind}; }} actions = {{ add{at}; NoAction; }} \
             default_action = NoAction(); size = 1024; }}"
        );
        let _ = writeln!(apply, "        t{at}.apply();");
    }
    format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header word_h {{ bit<32> word; }}\nstruct headers {{ word_h w; }}\nstruct metadata {{ bit<32> sum; }}\n\
         parser P(packet_in p, out headers h, inout metadata meta, inout standard_metadata_t sm) {{\n\
         state start {{ p.extract(h.w); transition accept; }} }}\n\
         control V(inout headers h, inout metadata meta) {{ apply {{}} }}\n\
         control I(inout headers h, inout metadata meta, inout standard_metadata_t sm) {{\n{tables}\
         apply {{\n        meta.sum = 0;\n{apply}        h.w.word = meta.sum; }} }}\n\
         control E(inout headers h, inout metadata meta, inout standard_metadata_t sm) {{ apply {{}} }}\n\
         control C(inout headers h, inout metadata meta) {{ apply {{}} }}\n\
         control D(packet_out p, in headers h) {{ apply {{ p.emit(h.w); }} }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    )
}

fn filled(program: &Program, pipeline: &Pipeline) -> State {
    let mut state = State::new(pipeline);
    for at in 0..TABLES {
        let kind = KINDS[at % KINDS.len()];
        let entries = if kind == "ternary" { TERNARY_ENTRIES } else { ENTRIES };
        for number in 0..entries {
            let value = |number| Bits::from_u128(32, u128::from(number));
            let key = match kind {
                "exact" => MatchValue::Exact(value(0x0a00_0000 + number)),
                "lpm" => MatchValue::Lpm { value: value(0x0a00_0000 + number), len: 32 },
                _ => MatchValue::Ternary { value: value(number), mask: value(TERNARY_ENTRIES - 1) },
            };
            let action = EntryAction::Direct(call(program, &format!("I.add{at}"), &[1]));
            insert(&mut state, program, &format!("I.t{at}"), key, action);
        }
    }
    state
}

fn many_tables(c: &mut Criterion) {
    let loaded = Source::from_text("tables.p4", &source(), &FileSystem, &Options::default());
    let program = common::compile(loaded);
    let pipeline = Pipeline::compile(std::sync::Arc::clone(&program)).expect("a checked program");
    let ingress = pipeline.v1model().expect("a v1model program").ingress;
    let mut state = filled(&program, &pipeline);
    let mut frame = Frame::new(&pipeline);
    let (mut effects, mut random) = (Effects::default(), SplitMix(1));
    let mut out = Vec::with_capacity(64);
    let mut next = 0_u32;
    c.bench_function("twenty_tables/packet", |b| {
        b.iter(|| {
            next = (next + 1) % ENTRIES;
            let bytes = (0x0a00_0000 + next).to_be_bytes();
            let view = PacketView { bytes: black_box(&bytes), zeros: 60 };
            frame.reset();
            effects.reset();
            let mut env = Env {
                state: &mut state,
                effects: &mut effects,
                random: &mut random,
                packet_length: 64,
                payload: PacketView::default(),
                now: Time::ZERO,
            };
            let outcome = pipeline.parse(&mut frame, view, &mut env);
            pipeline.run(ingress, &mut frame, &mut env);
            out.clear();
            pipeline.deparse(&mut frame, &mut out);
            black_box((outcome, &out));
        });
    });
    // Every table was hit. Empty when criterion passed over it.
    assert!(out.is_empty() || out == (TABLES as u32).to_be_bytes(), "{out:02x?}");
}

criterion_group!(benches, many_tables);
criterion_main!(benches);
