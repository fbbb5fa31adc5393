//! Operators of every width against big integers.

use num_bigint::{BigInt, BigUint, Sign};
use p4cc_exec::testing::{ProgramBuilder, Rig, constant, var};
use p4cc_ir::{BinOp, Bits, Inst, UnOp};
use proptest::prelude::*;

fn big(bits: &Bits) -> BigUint {
    BigUint::from_bytes_be(&bits.to_be_bytes())
}

fn bits(width: u32, value: &BigUint) -> Bits {
    Bits::from_be_bytes(width, &value.to_bytes_be())
}

fn modulus(width: u32) -> BigUint {
    BigUint::from(1u8) << width
}

fn signed(width: u32, value: &BigUint) -> BigInt {
    let negative = value.bit(u64::from(width) - 1);
    let plain = BigInt::from_biguint(Sign::Plus, value.clone());
    if negative { plain - BigInt::from(modulus(width)) } else { plain }
}

fn wrapped(width: u32, value: &BigInt) -> BigUint {
    let m = BigInt::from(modulus(width));
    let rest: BigInt = value % &m;
    let rest: BigInt = rest + &m;
    let rest: BigInt = rest % &m;
    rest.magnitude().clone()
}

/// The definition of each operator.
fn oracle(op: BinOp, width: u32, a: &BigUint, b: &BigUint, amount: u64) -> (u32, BigUint) {
    let (sa, sb) = (signed(width, a), signed(width, b));
    let (ia, ib) = (BigInt::from(a.clone()), BigInt::from(b.clone()));
    let top: BigInt = BigInt::from(modulus(width)) - 1;
    let half: BigInt = BigInt::from(modulus(width) >> 1u32);
    let clamp_signed = |value: BigInt| wrapped(width, &value.clamp(-half.clone(), half.clone() - 1));
    let clamp = |value: BigInt| wrapped(width, &value.clamp(BigInt::from(0), top.clone()));
    let flag = |value: bool| (1, BigUint::from(u8::from(value)));
    let zero = BigUint::default();
    let value = match op {
        BinOp::Add => wrapped(width, &(ia + ib)),
        BinOp::Sub => wrapped(width, &(ia - ib)),
        BinOp::Mul => wrapped(width, &(ia * ib)),
        BinOp::Div if *b == zero => zero,
        BinOp::Div => a / b,
        BinOp::Mod if *b == zero => zero,
        BinOp::Mod => a % b,
        BinOp::AddSat { signed: false } => clamp(ia + ib),
        BinOp::AddSat { signed: true } => clamp_signed(sa + sb),
        BinOp::SubSat { signed: false } => clamp(ia - ib),
        BinOp::SubSat { signed: true } => clamp_signed(sa - sb),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => wrapped(width, &(ia << amount)),
        BinOp::Shr { signed: false } => a >> amount,
        BinOp::Shr { signed: true } => wrapped(width, &(sa >> amount)),
        BinOp::Eq => return flag(a == b),
        BinOp::Ne => return flag(a != b),
        BinOp::Lt { signed: false } => return flag(a < b),
        BinOp::Lt { signed: true } => return flag(sa < sb),
        BinOp::Le { signed: false } => return flag(a <= b),
        BinOp::Le { signed: true } => return flag(sa <= sb),
    };
    (width, value)
}

const OPS: [BinOp; 21] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Mod,
    BinOp::AddSat { signed: false },
    BinOp::AddSat { signed: true },
    BinOp::SubSat { signed: false },
    BinOp::SubSat { signed: true },
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Shl,
    BinOp::Shr { signed: false },
    BinOp::Shr { signed: true },
    BinOp::Eq,
    BinOp::Ne,
    BinOp::Lt { signed: false },
    BinOp::Lt { signed: true },
    BinOp::Le { signed: false },
    BinOp::Le { signed: true },
];

/// All operators on one pair of values, in one program.
fn check_all(width: u32, a: &BigUint, b: &BigUint, amount: u64, amount_width: u32) {
    let mut builder = ProgramBuilder::new();
    let (left, right) = (builder.bits("a", width), builder.bits("b", width));
    let by = builder.bits("amount", amount_width);
    let mut insts = Vec::new();
    let mut results = Vec::new();
    for op in OPS {
        let (result_width, expected) = oracle(op, width, a, b, amount);
        let dst = builder.bits("result", result_width);
        let second = if matches!(op, BinOp::Shl | BinOp::Shr { .. }) { by } else { right };
        insts.push(Inst::Binary { dst, op, a: var(left), b: var(second) });
        results.push((op, dst, bits(result_width, &expected)));
    }
    builder.ingress(insts);
    let mut rig = Rig::new(builder.compile());
    rig.set_bits(left, &bits(width, a));
    rig.set_bits(right, &bits(width, b));
    rig.set_bits(by, &bits(amount_width, &BigUint::from(amount)));
    rig.ingress();
    for (op, dst, expected) in results {
        assert_eq!(rig.bits(dst), expected, "{op:?} of {width} bits: {a:#x}, {b:#x}, by {amount}");
    }
}

fn value(width: u32) -> impl Strategy<Value = BigUint> {
    let random = proptest::collection::vec(any::<u8>(), width.div_ceil(8) as usize);
    let random = random.prop_map(move |bytes| BigUint::from_bytes_be(&bytes) % modulus(width));
    let edges = (0u32..3).prop_map(move |edge| match edge {
        0 => BigUint::default(),
        1 => modulus(width) - 1u8,
        _ => modulus(width) >> 1,
    });
    prop_oneof![4 => random, 1 => edges]
}

fn pair() -> impl Strategy<Value = (u32, BigUint, BigUint)> {
    (1u32..200).prop_flat_map(|width| (Just(width), value(width), value(width)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn operators_agree_with_big_integers((width, a, b) in pair(), amount in 0u64..256, wide in any::<bool>()) {
        check_all(width, &a, &b, amount, if wide { 90 } else { 9 });
    }

    #[test]
    fn reshaping_agrees_with_big_integers(
        (width, a, b) in pair(),
        other in 1u32..200,
        lo_seed in any::<u32>(),
        part_seed in any::<u32>(),
    ) {
        let lo = lo_seed % width;
        let part = part_seed % (width - lo) + 1;
        let mut builder = ProgramBuilder::new();
        let (left, right) = (builder.bits("a", width), builder.bits("b", width));
        let (zext, sext) = (builder.bits("zext", other), builder.bits("sext", other));
        let joined = builder.bits("joined", 2 * width);
        let slice = builder.bits("slice", part);
        let patched = builder.bits("patched", width);
        let (not, neg) = (builder.bits("not", width), builder.bits("neg", width));
        builder.ingress(vec![
            Inst::Resize { dst: zext, src: var(left), signed: false },
            Inst::Resize { dst: sext, src: var(left), signed: true },
            Inst::Concat { dst: joined, hi: var(left), lo: var(right) },
            Inst::Slice { dst: slice, src: var(left), lo },
            Inst::Assign { dst: patched, src: var(right) },
            Inst::SetSlice { dst: patched, lo, src: var(slice) },
            Inst::Unary { dst: not, op: UnOp::Not, src: var(left) },
            Inst::Unary { dst: neg, op: UnOp::Neg, src: var(left) },
        ]);
        let mut rig = Rig::new(builder.compile());
        rig.set_bits(left, &bits(width, &a));
        rig.set_bits(right, &bits(width, &b));
        rig.ingress();
        let sliced = (&a >> lo) % modulus(part);
        let hole = (modulus(part) - 1u8) << lo;
        let outside = &b - (&b & &hole);
        let ones = modulus(width) - 1u8;
        prop_assert_eq!(big(&rig.bits(zext)), &a % modulus(other));
        prop_assert_eq!(big(&rig.bits(sext)), wrapped(other, &signed(width, &a)));
        prop_assert_eq!(big(&rig.bits(joined)), (&a << width) + &b);
        prop_assert_eq!(big(&rig.bits(slice)), sliced.clone());
        prop_assert_eq!(big(&rig.bits(patched)), outside + (sliced << lo));
        prop_assert_eq!(big(&rig.bits(not)), &ones - &a);
        prop_assert_eq!(big(&rig.bits(neg)), (modulus(width) - &a) % modulus(width));
    }
}

#[test]
fn widest_values_work() {
    let width = 2048;
    let a = modulus(width) - 3u8;
    let b = (modulus(width) >> 1) + 12_345u32;
    check_all(width, &a, &b, 1000, 11);
}

#[test]
fn constants_survive_a_reset() {
    let mut builder = ProgramBuilder::new();
    let dst = builder.bits("dst", 100);
    builder.ingress(vec![Inst::Assign { dst, src: constant(100, 1 << 90 | 7) }]);
    let mut rig = Rig::new(builder.compile());
    for _ in 0..2 {
        rig.frame.reset();
        assert!(rig.bits(dst).is_zero());
        rig.ingress();
        assert_eq!(rig.bits(dst).to_u128(), Some(1 << 90 | 7));
    }
}
