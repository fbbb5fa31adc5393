//! Headers in and out of packets, stacks, unions, copies.

use p4cc_exec::PacketView;
use p4cc_exec::testing::{ProgramBuilder, Rig, constant, var};
use p4cc_ir::{Inst, VarType};
use proptest::prelude::*;

/// Field widths that fill whole bytes.
fn layout() -> impl Strategy<Value = Vec<u32>> {
    let width = prop_oneof![1u32..20, Just(8), Just(16), Just(32), Just(48), Just(64), 60u32..200];
    proptest::collection::vec(width, 1..14).prop_map(|mut widths| {
        let rest = widths.iter().sum::<u32>() % 8;
        if rest > 0 {
            widths.push(8 - rest);
        }
        widths
    })
}

/// A field read from bytes, by definition.
fn field(bytes: &[u8], from: u32, width: u32) -> p4cc_ir::Bits {
    let bit = |i: u32| bytes[(i / 8) as usize] >> (7 - i % 8) & 1;
    let mut words = vec![0u64; width.div_ceil(64) as usize];
    for i in 0..width {
        let place = width - 1 - i;
        words[(place / 64) as usize] |= u64::from(bit(from + i)) << (place % 64);
    }
    p4cc_ir::Bits::from_words(width, &words)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn extract_then_emit_is_identity(widths in layout(), seed in any::<u64>(), cut in 0usize..8, skip in 0u32..2) {
        let mut b = ProgramBuilder::new();
        let names: Vec<String> = (0..widths.len()).map(|i| format!("f{i}")).collect();
        let fields: Vec<(&str, VarType)> =
            names.iter().zip(&widths).map(|(name, &width)| (name.as_str(), VarType::Bit(width))).collect();
        let ty = b.header_type("t", &fields);
        let header = b.header("h", ty);
        let vars = b.fields(header);
        b.parser(vec![
            Inst::Advance { bits: constant(32, u128::from(skip) * 4) },
            Inst::Extract { header },
        ]);
        b.deparser(&[header]);
        let mut rig = Rig::new(b.compile());
        let bits: u32 = widths.iter().sum();
        let length = (bits / 8 + skip) as usize;
        let mut random = p4cc_exec::testing::SplitMix(seed);
        let bytes: Vec<u8> =
            (0..length + 3).map(|_| p4cc_exec::RandomSource::next_u64(&mut random) as u8).collect();
        // The tail may be zeros that are not stored.
        let stored = &bytes[..length.saturating_sub(cut)];
        let mut whole = stored.to_vec();
        whole.resize(length, 0);
        let outcome = rig.parse(PacketView { bytes: stored, zeros: cut as u32 });
        prop_assert_eq!(outcome.error, None);
        prop_assert_eq!(outcome.consumed_bits, bits + skip * 4);
        let mut at = skip * 4;
        for (&var, &width) in vars.iter().zip(&widths) {
            prop_assert_eq!(rig.bits(var), field(&whole, at, width));
            at += width;
        }
        let out = rig.deparse();
        prop_assert_eq!(out.len() as u32 * 8, bits);
        if skip == 0 {
            prop_assert_eq!(out, whole);
        }
    }
}

#[test]
fn odd_headers_are_emitted_side_by_side() {
    let mut b = ProgramBuilder::new();
    let ty = b.header_type("t", &[("a", VarType::Bit(3)), ("b", VarType::Bit(9))]);
    let (first, second) = (b.header("x", ty), b.header("y", ty));
    b.parser(vec![Inst::Extract { header: first }, Inst::Extract { header: second }]);
    b.deparser(&[first, second]);
    let mut rig = Rig::new(b.compile());
    rig.parse(PacketView::new(&[0xab, 0xcd, 0xef]));
    assert_eq!(rig.deparse(), [0xab, 0xcd, 0xef]);
}

#[test]
fn varbit_headers_keep_their_length() {
    let mut b = ProgramBuilder::new();
    let fields = [("len", VarType::Bit(8)), ("options", VarType::Varbit(320)), ("end", VarType::Bit(16))];
    let ty = b.header_type("t", &fields);
    let (header, copy) = (b.header("h", ty), b.header("copy", ty));
    let (bits, equal) = (b.bits("bits", 32), b.bits("equal", 1));
    let fields = b.fields(header);
    b.parser(vec![
        Inst::Lookahead { dst: bits },
        Inst::Binary {
            dst: bits,
            op: p4cc_ir::BinOp::Shr { signed: false },
            a: var(bits),
            b: constant(8, 24),
        },
        Inst::ExtractVar { header, varbit_bits: var(bits) },
        Inst::CopyHeader { dst: copy, src: header },
        Inst::HeaderEq { dst: equal, a: copy, b: header },
    ]);
    b.deparser(&[copy]);
    let mut rig = Rig::new(b.compile());
    let packet = |bits: u8, length: usize| {
        let mut packet = vec![bits];
        packet.extend((1..length).map(|i| i as u8));
        packet
    };
    for bits in [0u8, 8, 72, 248] {
        let packet = packet(bits, 3 + bits as usize / 8 + 2);
        let outcome = rig.parse(PacketView::new(&packet));
        assert_eq!(outcome.error, None);
        assert_eq!(rig.deparse(), packet[..3 + bits as usize / 8]);
        assert_eq!(rig.bits(fields[1]).width(), u32::from(bits));
        assert_eq!(rig.get(equal), 1);
    }
    use p4cc_ir::core_errors as errors;
    assert_eq!(rig.parse(PacketView::new(&packet(12, 60))).error, Some(errors::PARSER_INVALID_ARGUMENT));
    assert_eq!(rig.parse(PacketView::new(&packet(248, 20))).error, Some(errors::PACKET_TOO_SHORT));
}

#[test]
fn a_varbit_above_its_size_is_an_error() {
    let mut b = ProgramBuilder::new();
    let ty = b.header_type("t", &[("options", VarType::Varbit(40))]);
    let header = b.header("h", ty);
    b.parser(vec![Inst::ExtractVar { header, varbit_bits: constant(32, 48) }]);
    let mut rig = Rig::new(b.compile());
    let outcome = rig.parse(PacketView::new(&[0; 30]));
    assert_eq!(outcome.error, Some(p4cc_ir::core_errors::HEADER_TOO_SHORT));
    assert_eq!(rig.parse(PacketView::new(&[0; 3])).error, Some(p4cc_ir::core_errors::PACKET_TOO_SHORT));
}

#[test]
fn stacks_shift_and_index() {
    let mut b = ProgramBuilder::new();
    let ty = b.header_type("t", &[("v", VarType::Bit(8))]);
    let (stack, elements) = b.stack("s", ty, 3);
    let (next, loaded, past) = (b.bits("next", 32), b.bits("loaded", 8), b.bits("past", 8));
    let (valid, index) = (b.bits("valid", 1), b.bits("index", 4));
    let extract = Inst::ExtractNext { stack, varbit_bits: None };
    b.parser(vec![extract.clone(), extract.clone(), Inst::StackNextIndex { dst: next, stack }]);
    b.ingress(vec![
        Inst::StackLoad { dst: loaded, stack, index: var(index), field: 0 },
        Inst::StackLoad { dst: past, stack, index: constant(8, 3), field: 0 },
        Inst::StackStore { stack, index: constant(100, 1 << 80), field: 0, src: constant(8, 1) },
        Inst::StackStore { stack, index: constant(8, 1), field: 0, src: constant(8, 0x77) },
        Inst::StackIsValid { dst: valid, stack, index: constant(8, 2) },
        Inst::StackPush { stack, count: 1 },
        Inst::StackSetValid { stack, index: constant(8, 0), valid: true },
    ]);
    b.deparser(&elements);
    let mut rig = Rig::new(b.compile());
    let outcome = rig.parse(PacketView::new(&[10, 11, 12]));
    assert_eq!((outcome.consumed_bits, rig.get(next)), (16, 2));
    rig.set(index, 1);
    rig.set(past, 9);
    rig.ingress();
    assert_eq!((rig.get(loaded), rig.get(past), rig.get(valid)), (11, 0, 0));
    // The new first element keeps its old bytes, which nobody may rely on, but it is valid again.
    assert_eq!(rig.deparse()[1..], [10, 0x77]);
}

#[test]
fn popping_makes_the_last_elements_invalid() {
    let mut b = ProgramBuilder::new();
    let ty = b.header_type("t", &[("v", VarType::Bit(8))]);
    let (stack, elements) = b.stack("s", ty, 3);
    let next = b.bits("next", 32);
    let extract = Inst::ExtractNext { stack, varbit_bits: None };
    b.parser(vec![extract.clone(), extract.clone(), extract.clone()]);
    b.ingress(vec![Inst::StackPop { stack, count: 2 }, Inst::StackNextIndex { dst: next, stack }]);
    b.deparser(&elements);
    let mut rig = Rig::new(b.compile());
    rig.parse(PacketView::new(&[10, 11, 12]));
    rig.ingress();
    assert_eq!((rig.deparse(), rig.get(next)), (vec![12], 1));
}

#[test]
fn a_full_stack_refuses_more() {
    let mut b = ProgramBuilder::new();
    let ty = b.header_type("t", &[("v", VarType::Bit(8))]);
    let (stack, _) = b.stack("s", ty, 1);
    let extract = Inst::ExtractNext { stack, varbit_bits: None };
    b.parser(vec![extract.clone(), extract]);
    let mut rig = Rig::new(b.compile());
    let outcome = rig.parse(PacketView::new(&[1, 2, 3]));
    assert_eq!(outcome.error, Some(p4cc_ir::core_errors::STACK_OUT_OF_BOUNDS));
    assert_eq!(outcome.consumed_bits, 8);
}

#[test]
fn one_member_of_a_union_is_valid_at_a_time() {
    let mut b = ProgramBuilder::new();
    let ty = b.header_type("t", &[("v", VarType::Bit(8))]);
    let (union, members) = b.union("u", &[ty, ty]);
    let other = b.header("other", ty);
    let (any, first) = (b.bits("any", 1), b.bits("first", 1));
    b.parser(vec![Inst::Extract { header: members[0] }]);
    b.ingress(vec![
        Inst::SetValid { header: members[1] },
        Inst::IsValid { dst: first, header: members[0] },
        Inst::UnionIsValid { dst: any, union },
        Inst::CopyHeader { dst: members[0], src: other },
    ]);
    b.deparser(&members);
    let mut rig = Rig::new(b.compile());
    rig.parse(PacketView::new(&[5]));
    assert_eq!(rig.deparse(), [5]);
    rig.ingress();
    assert_eq!((rig.get(any), rig.get(first)), (1, 0));
    // Copying an invalid header in leaves the valid member alone.
    assert_eq!(rig.deparse(), [0]);
}
