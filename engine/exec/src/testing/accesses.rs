//! Holds the table of what operations read and write against what the interpreter does.

use std::collections::BTreeSet;

use p4cc_ir::{Bits, HeaderId, VarId};
use p4cc_units::Time;

use super::rig::SplitMix;
use crate::accesses::{Access, OpAccess, accesses};
use crate::bitplan::BitWriter;
use crate::env::NoTrace;
use crate::interpreter::Run;
use crate::op::{Code, HeaderPlan, Op};
use crate::{Effects, Env, Frame, PacketView, Pipeline, RandomSource, State, compile};

/// Bytes of the packets that operations look at.
const PACKET: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut at = 0;
    while at < 256 {
        bytes[at] = (at * 37 + 11) as u8;
        at += 1;
    }
    bytes
};

/// Runs each operation of a program by itself from random frames, and again from frames that differ in all
/// words that it should not read; the number of operations. What calls other functions is left out.
///
/// # Panics
/// If an operation reads or writes something that the table does not say.
pub fn check_accesses(pipeline: &Pipeline, seed: u64) -> usize {
    let mut code = compile::compile(pipeline.program());
    let ops = core::mem::take(&mut code.ops);
    let state = State::new(pipeline);
    let mut random = SplitMix(seed);
    let mut checked = 0;
    for op in ops {
        if matches!(op, Op::Apply { .. } | Op::Call { .. } | Op::Return) {
            continue;
        }
        let touched = Touched::by(&code, &op);
        code.ops = vec![op];
        for _ in 0..2 {
            let first = random_frame(pipeline, &mut random);
            let mut second = random_frame(pipeline, &mut random);
            touched.keep.iter().for_each(|&slot| second.slots[slot as usize] = first.slots[slot as usize]);
            check(&code, &touched, [first, second], &state, random.next_u64());
        }
        checked += 1;
    }
    checked
}

/// Words by what an operation does with them.
struct Touched {
    op: Op,
    /// Read, or of a header that the operation works with as a whole.
    keep: BTreeSet<u32>,
    /// Written in full.
    written: BTreeSet<u32>,
    /// May change.
    changes: BTreeSet<u32>,
}

impl Touched {
    fn by(code: &Code, op: &Op) -> Self {
        let own = [code.parser_error, code.layout.length_delta];
        let (mut keep, mut changes) = (BTreeSet::from(own), BTreeSet::from(own));
        let mut written = BTreeSet::new();
        accesses(code, op, &mut |access| match access {
            OpAccess::Words { first, words, access, .. } => {
                let words = first..first + words;
                if access.reads() {
                    keep.extend(words.clone());
                }
                if access == Access::Write {
                    written.extend(words.clone());
                }
                if access.writes() {
                    changes.extend(words);
                }
            }
            OpAccess::Header { header, .. } => {
                let words = words_of(&code.headers[header as usize]);
                keep.extend(words.iter().copied());
                changes.extend(words);
            }
        });
        Self { op: *op, keep, written, changes }
    }
}

fn words_of(header: &HeaderPlan) -> Vec<u32> {
    (header.valid..header.valid + header.words).chain(header.rivals.iter().copied()).collect()
}

/// A frame with any values that variables and headers may have.
fn random_frame(pipeline: &Pipeline, random: &mut SplitMix) -> Frame {
    let mut frame = Frame::new(pipeline);
    let (program, layout) = (pipeline.program(), &pipeline.code().layout);
    frame.slots[..layout.zeroed as usize].fill_with(|| random.next_u64() & 1);
    for id in (0..program.vars.len()).map(VarId::from_index) {
        let width = layout.var(id).width;
        let words: Vec<u64> = (0..width.div_ceil(64)).map(|_| random.next_u64()).collect();
        frame.set_bits(pipeline, id, &Bits::from_words(width, &words));
    }
    for id in 0..program.headers.len() {
        frame.set_valid(pipeline, HeaderId::from_index(id), random.next_u64() & 1 == 1);
    }
    frame
}

/// Runs one operation in two frames that agree in what it reads.
fn check(code: &Code, touched: &Touched, frames: [Frame; 2], state: &State, seed: u64) {
    let runs = frames.map(|mut frame| {
        let before = frame.slots.clone();
        let (mut state, mut effects, mut random) = (state.clone(), Effects::default(), SplitMix(seed));
        let mut env = Env {
            state: &mut state,
            effects: &mut effects,
            random: &mut random,
            packet_length: 100,
            payload: PacketView::new(&PACKET[..40]),
            now: Time::from_us(7),
        };
        let mut out = Vec::new();
        let Frame { slots, calls, bytes, .. } = &mut frame;
        let is_whole = Run {
            code,
            slots,
            calls,
            bytes,
            env: Some(&mut env),
            packet: PacketView::new(&PACKET),
            at: 0,
            out: BitWriter::new(&mut out),
            trace: &mut NoTrace,
        }
        .run_one();
        (before, frame.slots, is_whole, effects, out)
    });
    let op = &touched.op;
    for (before, after, ..) in &runs {
        for (slot, (before, after)) in (0..).zip(before.iter().zip(after)) {
            assert!(before == after || touched.changes.contains(&slot), "{op:?} changes word {slot}");
        }
    }
    let [(_, one, is_whole, effects, out), (_, other, also_whole, other_effects, other_out)] = runs;
    assert_eq!(is_whole, also_whole, "{op:?} ends in another way");
    assert_eq!((effects, out), (other_effects, other_out), "{op:?} has another effect");
    if is_whole {
        for &slot in touched.written.iter().chain(&touched.keep) {
            let (one, other) = (one[slot as usize], other[slot as usize]);
            assert_eq!(one, other, "word {slot} after {op:?} depends on what that does not read");
        }
    }
}
