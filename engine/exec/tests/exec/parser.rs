//! Selects, value sets, lookahead, errors, limits.

use p4cc_exec::testing::{ProgramBuilder, Rig, block, constant, var};
use p4cc_exec::{PacketView, Trace, Values};
use p4cc_ir::{Bits, BlockId, FuncId, Inst, Keyset, MatchKind, MatchValue, Terminator, VarType, core_errors};

fn mask(width: u32, value: u128, mask: u128) -> Keyset {
    Keyset::Mask { value: Bits::from_u128(width, value), mask: Bits::from_u128(width, mask) }
}

/// A parser that reads one key, selects, and notes the case in `out`.
fn selecting(width: u32, cases: Vec<Keyset>, default: bool) -> (Rig, p4cc_ir::VarId) {
    let mut b = ProgramBuilder::new();
    let key = b.bits("key", width);
    let out = b.bits("out", 8);
    let count = cases.len() as u32;
    let targets = cases.into_iter().zip(1..).map(|(set, to)| (vec![set], BlockId(to))).collect();
    let default = default.then_some(BlockId(count + 1));
    let select = Terminator::Select { keys: vec![var(key)], cases: targets, default };
    let mut blocks = vec![block(vec![Inst::Lookahead { dst: key }], select)];
    for case in 1..=count + 1 {
        let note = Inst::Assign { dst: out, src: constant(8, case.into()) };
        blocks.push(block(vec![note], Terminator::Accept));
    }
    b.set_blocks(b.v1model().parser, blocks);
    (Rig::new(b.compile()), out)
}

#[test]
fn the_first_case_that_matches_wins() {
    let cases = || {
        vec![
            mask(16, 0x0800, 0xffff),
            // Bits of the value outside of the mask do not count.
            mask(16, 0x12ff, 0xff00),
            Keyset::Range { low: Bits::from_u128(16, 5), high: Bits::from_u128(16, 9), signed: false },
            Keyset::Range { low: Bits::from_u128(16, 0xfff0), high: Bits::from_u128(16, 3), signed: true },
        ]
    };
    let (mut rig, out) = selecting(16, cases(), true);
    for (key, case) in
        [(0x0800u16, 1), (0x1234, 2), (5, 3), (9, 3), (10, 5), (0xfff8, 4), (0xffef, 5), (3, 4)]
    {
        rig.parse(PacketView::new(&key.to_be_bytes()));
        assert_eq!(rig.get(out), case, "{key:#x}");
    }
    let (mut rig, out) = selecting(16, cases()[..2].to_vec(), false);
    assert_eq!(rig.parse(PacketView::new(&[0x12, 0])).error, None);
    assert_eq!(rig.get(out), 2);
    assert_eq!(rig.parse(PacketView::new(&[0x13, 0])).error, Some(core_errors::NO_MATCH));
}

#[test]
fn wide_keys_select() {
    let high = 1u128 << 100;
    let (mut rig, out) = selecting(
        128,
        vec![
            mask(128, high | 7, u128::MAX),
            Keyset::Range {
                low: Bits::from_u128(128, high),
                high: Bits::from_u128(128, high + 10),
                signed: false,
            },
            Keyset::Any,
        ],
        true,
    );
    for (key, case) in [(high | 7, 1), (high | 8, 2), (high | 11, 3), (7, 3)] {
        rig.parse(PacketView::new(&key.to_be_bytes()));
        assert_eq!(rig.get(out), case, "{key:#x}");
    }
}

#[test]
fn value_sets_match_what_the_control_plane_wrote() {
    let mut b = ProgramBuilder::new();
    let set = b.value_set("types", 2, &[(16, MatchKind::Ternary), (80, MatchKind::Exact)]);
    let (first, second, hit) = (b.bits("a", 16), b.bits("b", 80), b.bits("hit", 1));
    b.parser(vec![
        Inst::Lookahead { dst: first },
        Inst::Resize { dst: second, src: var(first), signed: false },
        Inst::ValueSetMatch { dst: hit, set, keys: vec![var(first), var(second)] },
    ]);
    let mut rig = Rig::new(b.compile());
    let ternary = |value, mask| MatchValue::Ternary {
        value: Bits::from_u128(16, value),
        mask: Bits::from_u128(16, mask),
    };
    let exact = |value| MatchValue::Exact(Bits::from_u128(80, value));
    rig.parse(PacketView::new(&[0x12, 0x34]));
    assert_eq!(rig.get(hit), 0);
    let members = vec![vec![ternary(0x1200, 0xff00), exact(0x1234)], vec![MatchValue::Any, exact(5)]];
    assert_eq!(rig.state.value_set_write(set, members.clone()), Ok(()));
    assert_eq!(rig.state.value_set_read(set), Ok(&members[..]));
    for (bytes, wanted) in [([0x12, 0x34], 1), ([0x12, 0x35], 0), ([0, 5], 1), ([0, 6], 0)] {
        rig.parse(PacketView::new(&bytes));
        assert_eq!(rig.get(hit), wanted, "{bytes:?}");
    }
    let three = vec![members[0].clone(); 3];
    let refused = rig.state.value_set_write(set, three);
    assert!(matches!(refused, Err(p4cc_exec::control::ControlError::ResourceExhausted(_))), "{refused:?}");
    let narrow = vec![vec![MatchValue::Any, MatchValue::Exact(Bits::from_u128(8, 1))]];
    assert!(rig.state.value_set_write(set, narrow).is_err());
}

#[test]
fn a_parser_that_loops_times_out() {
    let mut b = ProgramBuilder::new();
    let parser = b.v1model().parser;
    b.set_blocks(parser, vec![block(Vec::new(), Terminator::Jump(BlockId(0)))]);
    let mut rig = Rig::new(b.compile());
    assert_eq!(rig.parse(PacketView::new(&[])).error, Some(core_errors::PARSER_TIMEOUT));
}

#[test]
fn a_control_that_loops_is_cut_off_and_told() {
    let mut b = ProgramBuilder::new();
    let ingress = b.v1model().ingress;
    b.set_blocks(ingress, vec![block(Vec::new(), Terminator::Jump(BlockId(0)))]);
    let mut rig = Rig::new(b.compile());
    rig.ingress();
    assert_eq!(rig.effects.loop_limits_hit, 1);
}

#[test]
fn advance_and_length_count_unstored_zeros() {
    let mut b = ProgramBuilder::new();
    let ty = b.header_type("t", &[("v", VarType::Bit(32))]);
    let header = b.header("h", ty);
    let (length, field) = (b.bits("length", 32), b.fields(header)[0]);
    b.parser(vec![
        Inst::PacketLength { dst: length },
        Inst::Advance { bits: constant(32, 24) },
        Inst::Extract { header },
    ]);
    let mut rig = Rig::new(b.compile());
    let outcome = rig.parse(PacketView { bytes: &[1, 2, 3, 4], zeros: 3 });
    assert_eq!((outcome.error, outcome.consumed_bits), (None, 56));
    assert_eq!((rig.get(length), rig.get(field)), (7, 0x0400_0000));
    let outcome = rig.parse(PacketView { bytes: &[1, 2, 3, 4], zeros: 2 });
    assert_eq!((outcome.error, outcome.consumed_bits), (Some(core_errors::PACKET_TOO_SHORT), 24));
}

#[derive(Default)]
struct Blocks(Vec<(u32, u32)>);

impl Trace for Blocks {
    fn block(&mut self, func: FuncId, block: BlockId, _: Values<'_>) {
        self.0.push((func.0, block.0));
    }
}

#[test]
fn a_trace_sees_the_states() {
    let mut b = ProgramBuilder::new();
    let parser = b.v1model().parser;
    let note = b.bits("note", 8);
    let one = |value| vec![Inst::Assign { dst: note, src: constant(8, value) }];
    b.set_blocks(
        parser,
        vec![
            block(one(1), Terminator::Jump(BlockId(2))),
            block(one(2), Terminator::Accept),
            block(one(3), Terminator::Jump(BlockId(1))),
        ],
    );
    let mut rig = Rig::new(b.compile());
    let mut trace = Blocks::default();
    let (mut effects, mut random) = (p4cc_exec::Effects::default(), p4cc_exec::testing::SplitMix(1));
    let mut env = p4cc_exec::Env {
        state: &mut rig.state,
        effects: &mut effects,
        random: &mut random,
        packet_length: 0,
        payload: PacketView::default(),
        now: p4cc_units::Time::ZERO,
    };
    rig.pipeline.parse_traced(parser, &mut rig.frame, PacketView::default(), &mut env, &mut trace);
    assert_eq!(trace.0, [(0, 0), (0, 2), (0, 1)]);
}
