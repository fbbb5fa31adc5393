//! Hashes, checksums, registers, counters, meters, and requests to the architecture.

use p4cc_exec::control::CounterCell;
use p4cc_exec::testing::{ProgramBuilder, Rig, constant, var};
use p4cc_exec::{CloneRequest, CrcParams, MeterConfig};
use p4cc_ir::{
    Bits, CloneKind, CountUnit, CustomCrcId, ExternCall, HashAlgorithm, HeaderField, Inst, Operand, VarId,
    VarType,
};
use p4cc_units::Time;
use proptest::prelude::*;

fn hash(b: &mut ProgramBuilder, algorithm: HashAlgorithm, data: Vec<Operand>) -> (VarId, Inst) {
    let dst = b.bits("hash", 64);
    let (base, max) = (constant(64, 0), constant(64, u128::from(u64::MAX)));
    (dst, Inst::Extern(ExternCall::Hash { dst, algorithm, base, data, max }))
}

fn digits() -> Vec<Operand> {
    (b'1'..=b'9').map(|digit| constant(8, digit.into())).collect()
}

#[test]
fn hashes_give_their_check_values() {
    for (algorithm, wanted) in [
        (HashAlgorithm::Crc16, 0xbb3d),
        (HashAlgorithm::Crc16Custom(CustomCrcId(0)), 0xbb3d),
        (HashAlgorithm::Crc32, 0xcbf4_3926),
        (HashAlgorithm::Crc32Custom(CustomCrcId(1)), 0xcbf4_3926),
        (HashAlgorithm::Identity, 0x3132_3334_3536_3738),
        (HashAlgorithm::Xor16, 0x3132 ^ 0x3334 ^ 0x3536 ^ 0x3738 ^ 0x3900),
        (HashAlgorithm::Csum16, 0xffff - (0x3132 + 0x3334 + 0x3536 + 0x3738 + 0x3900 - 0xffff)),
    ] {
        let mut b = ProgramBuilder::new();
        b.custom_crc("short", 16);
        b.custom_crc("long", 32);
        let (dst, inst) = hash(&mut b, algorithm, digits());
        b.ingress(vec![inst]);
        let mut rig = Rig::new(b.compile());
        rig.ingress();
        assert_eq!(rig.get(dst), wanted, "{algorithm:?}");
    }
}

#[test]
fn custom_checks_can_be_set() {
    let mut b = ProgramBuilder::new();
    let checks = [b.custom_crc("short", 16), b.custom_crc("long", 32), b.custom_crc("other", 32)];
    let (short, first) = hash(&mut b, HashAlgorithm::Crc16Custom(checks[0]), digits());
    let (long, second) = hash(&mut b, HashAlgorithm::Crc32Custom(checks[1]), digits());
    let (other, third) = hash(&mut b, HashAlgorithm::Crc32Custom(checks[2]), digits());
    b.ingress(vec![first, second, third]);
    let mut rig = Rig::new(b.compile());
    // CRC-16/XMODEM and CRC-32/BZIP2.
    let xmodem = CrcParams {
        polynomial: 0x1021,
        initial: 0,
        final_xor: 0,
        reflect_data: false,
        reflect_result: false,
    };
    let bzip2 = CrcParams { reflect_data: false, reflect_result: false, ..CrcParams::CRC32 };
    rig.state.set_custom_crc(checks[0], xmodem).expect("it is there");
    rig.state.set_custom_crc(checks[1], bzip2).expect("it is there");
    assert!(rig.state.set_custom_crc(CustomCrcId(3), bzip2).is_err());
    rig.ingress();
    // Each calculation has parameters of its own.
    assert_eq!((rig.get(short), rig.get(long), rig.get(other)), (0x31c3, 0xfc89_1918, 0xcbf4_3926));
}

#[test]
fn base_and_max_bound_a_hash() {
    let mut b = ProgramBuilder::new();
    let (bounded, none) = (b.bits("bounded", 16), b.bits("none", 100));
    let call = |dst, width, max| {
        let base = constant(width, 1000);
        let (algorithm, data) = (HashAlgorithm::Crc16, digits());
        Inst::Extern(ExternCall::Hash { dst, algorithm, base, data, max: constant(width, max) })
    };
    b.ingress(vec![call(bounded, 16, 10), call(none, 100, 0)]);
    let mut rig = Rig::new(b.compile());
    rig.ingress();
    assert_eq!((rig.get(bounded), rig.get(none)), (1000 + 0xbb3d % 10, 1000));
}

/// The Internet checksum by its definition (RFC 1071), over bits padded to whole words.
fn reference(bits: &[bool]) -> u64 {
    let mut sum = 0u64;
    for word in bits.chunks(16) {
        let value = word.iter().enumerate().map(|(i, &bit)| u64::from(bit) << (15 - i)).sum::<u64>();
        sum += value;
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !sum & 0xffff
}

/// CRC-16/ARC by its definition, bit by bit, over bits padded to whole bytes.
fn crc16(bits: &[bool]) -> u64 {
    let bytes = bits.chunks(8).flat_map(|byte| (0..8).rev().map(|i| byte.get(i).copied().unwrap_or(false)));
    bytes.fold(0, |register, bit| {
        let out = (register & 1) ^ u64::from(bit);
        (register >> 1) ^ (out * 0xa001)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn crc16_agrees_with_its_definition(
        fields in proptest::collection::vec(
            (prop_oneof![(1u32..9).prop_map(|bytes| bytes * 8), 1u32..70], any::<u128>()), 1..10,
        ),
    ) {
        let mut b = ProgramBuilder::new();
        let (mut bits, mut values) = (Vec::new(), Vec::new());
        for (width, value) in fields {
            let value = Bits::from_u128(width, value);
            bits.extend((0..width).rev().map(|i| value.words()[(i / 64) as usize] >> (i % 64) & 1 == 1));
            values.push((b.bits("field", width), value));
        }
        let data = values.iter().map(|&(field, _)| var(field)).collect();
        let (dst, inst) = hash(&mut b, HashAlgorithm::Crc16, data);
        b.ingress(vec![inst]);
        let mut rig = Rig::new(b.compile());
        for (field, value) in &values {
            rig.set_bits(*field, value);
        }
        rig.ingress();
        prop_assert_eq!(rig.get(dst), crc16(&bits));
    }

    #[test]
    fn csum16_agrees_with_its_definition(
        fields in proptest::collection::vec((1u32..150, any::<u128>()), 1..20),
        varbit in proptest::option::of(0u32..40),
        payload in any::<bool>(),
    ) {
        let mut b = ProgramBuilder::new();
        let mut bits = Vec::new();
        let mut data = Vec::new();
        let mut values = Vec::new();
        let mut widths = fields.clone();
        // With a payload the data are whole bytes.
        let rest = fields.iter().map(|field| field.0).sum::<u32>() % 8;
        if payload && rest > 0 {
            widths.push((8 - rest, 0x55));
        }
        for (width, value) in widths {
            let value = Bits::from_u128(width, value);
            let field = b.bits("field", width);
            bits.extend((0..width).rev().map(|i| value.words()[(i / 64) as usize] >> (i % 64) & 1 == 1));
            values.push((field, value));
            data.push(var(field));
        }
        if let Some(bytes) = varbit {
            let field = b.var("options", VarType::Varbit(320));
            let value = Bits::from_words(bytes * 8, &[0x0123_4567_89ab_cdef, 5, 6, 7, 8]);
            bits.extend((0..bytes * 8).rev().map(|i| value.words()[(i / 64) as usize] >> (i % 64) & 1 == 1));
            values.push((field, value));
            data.push(var(field));
        }
        let checksum = b.bits("checksum", 16);
        let meta = b.meta();
        let (cond, algorithm) = (constant(1, 1), HashAlgorithm::Csum16);
        let call = ExternCall::UpdateChecksum {
            cond: cond.clone(), data: data.clone(), checksum, algorithm, with_payload: payload,
        };
        let verify = ExternCall::VerifyChecksum {
            cond, data, checksum: var(checksum), algorithm, with_payload: payload,
        };
        b.ingress(vec![Inst::Extern(call)]);
        let egress = b.v1model().egress;
        b.set_blocks(egress, vec![p4cc_exec::testing::block(
            vec![Inst::Extern(verify)], p4cc_ir::Terminator::Return,
        )]);
        let mut rig = Rig::new(b.compile());
        rig.payload_zeros = 77;
        for (field, value) in &values {
            rig.set_bits(*field, value);
        }
        rig.ingress();
        prop_assert_eq!(rig.get(checksum), reference(&bits));
        rig.run(egress);
        prop_assert_eq!(rig.get(meta.checksum_error), 0);
        rig.set(checksum, reference(&bits) ^ 0x10);
        rig.run(egress);
        prop_assert_eq!(rig.get(meta.checksum_error), 1);
    }
}

#[test]
fn unstored_zeros_of_a_payload_count_in_a_crc() {
    let mut b = ProgramBuilder::new();
    let (checksum, plain) = (b.bits("checksum", 32), b.bits("plain", 32));
    let update = |checksum, data: Vec<Operand>, with_payload| {
        let (cond, algorithm) = (constant(1, 1), HashAlgorithm::Crc32);
        Inst::Extern(ExternCall::UpdateChecksum { cond, data, checksum, algorithm, with_payload })
    };
    let mut zeros = digits();
    zeros.push(constant(8 * 5, 0));
    b.ingress(vec![update(checksum, digits(), true), update(plain, zeros, false)]);
    let mut rig = Rig::new(b.compile());
    rig.payload_zeros = 5;
    rig.ingress();
    assert_eq!(rig.get(checksum), rig.get(plain));
}

#[test]
fn registers_hold_their_width_and_know_their_end() {
    let mut b = ProgramBuilder::new();
    let register = b.register("r", 100, 4);
    let (index, value, read) = (b.bits("index", 32), b.bits("value", 100), b.bits("read", 100));
    b.ingress(vec![
        Inst::Extern(ExternCall::RegisterWrite { register, index: var(index), value: var(value) }),
        Inst::Extern(ExternCall::RegisterRead { register, dst: read, index: var(index) }),
    ]);
    let mut rig = Rig::new(b.compile());
    let wide = Bits::from_u128(100, 1 << 99 | 3);
    for (at, wanted) in [(3, wide.clone()), (4, Bits::zero(100)), (0xffff_ffff, Bits::zero(100))] {
        rig.set(index, at);
        rig.set_bits(value, &wide);
        rig.set_bits(read, &Bits::from_u128(100, 9));
        rig.ingress();
        assert_eq!(rig.bits(read), wanted);
    }
    assert_eq!(rig.state.register_read(register, 3), Ok(wide.clone()));
    assert_eq!(rig.state.register_write(register, 0, &wide), Ok(()));
    assert!(rig.state.register_write(register, 0, &Bits::zero(99)).is_err());
    assert!(rig.state.register_read(register, 4).is_err());
}

#[test]
fn counters_count_packets_and_bytes() {
    let mut b = ProgramBuilder::new();
    let counter = b.counter("c", Some(2));
    let index = b.bits("index", 80);
    b.ingress(vec![Inst::Extern(ExternCall::CounterCount { counter, index: var(index) })]);
    let mut rig = Rig::new(b.compile());
    for at in [1u128, 1, 2, 1 << 64 | 1] {
        rig.set_bits(index, &Bits::from_u128(80, at));
        rig.ingress();
    }
    assert_eq!(rig.state.counter_read(counter, 1), Ok(CounterCell { packets: 2, bytes: 200 }));
    assert_eq!(rig.state.counter_write(counter, 1, CounterCell::default()), Ok(()));
    assert_eq!(rig.state.counter_read(counter, 1), Ok(CounterCell::default()));
    assert!(rig.state.counter_read(counter, 2).is_err());
}

#[test]
fn meters_colour_by_two_rates() {
    let mut b = ProgramBuilder::new();
    let meter = b.meter("m", CountUnit::Bytes, Some(1));
    let color = b.bits("color", 2);
    let index = constant(32, 0);
    b.ingress(vec![Inst::Extern(ExternCall::MeterExecute { meter, index, color: None, dst: color })]);
    let mut rig = Rig::new(b.compile());
    let send = |rig: &mut Rig, ns| {
        rig.now = Time::from_ns(ns);
        rig.ingress();
        rig.get(color)
    };
    assert_eq!(send(&mut rig, 0), 0);
    // 100 B per microsecond committed with 200 B of burst, 200 B per microsecond at the peak with 300 B.
    let config = MeterConfig { cir: 100_000_000, cburst: 200, pir: 200_000_000, pburst: 300 };
    assert_eq!(rig.state.meter_write(meter, 0, Some(config)), Ok(()));
    assert_eq!(rig.state.meter_read(meter, 0), Ok(Some(config)));
    let colors: Vec<u64> = [0, 0, 0, 0, 499, 500, 500, 999, 1500].map(|ns| send(&mut rig, ns)).to_vec();
    // 200 B committed, 300 B peak; at 500 ns the peak has 100 B again but the committed bucket only 50 B; at
    // 999 ns the peak has 99.8 B; at 1500 ns both have at least 100 B.
    assert_eq!(colors, [0, 0, 1, 2, 2, 1, 2, 2, 0]);
    // The packet before the configuration counts too.
    let packets = |rig: &Rig| rig.state.meter_counts(meter, 0).map(|counts| counts.map(|cell| cell.packets));
    assert_eq!(packets(&rig), Ok([4, 2, 4]));
    assert_eq!(rig.state.meter_reset_counts(meter, 0), Ok(()));
    assert_eq!(packets(&rig), Ok([0, 0, 0]));
}

#[test]
fn requests_reach_the_architecture_and_are_forgotten() {
    let mut b = ProgramBuilder::new();
    let meta = b.meta();
    let value = b.bits("value", 48);
    let random = b.bits("random", 8);
    let never = b.bits("never", 8);
    b.program.digests.push(p4cc_ir::Digest {
        cp: Default::default(),
        fields: vec![HeaderField { name: "mac".to_owned(), ty: VarType::Bit(48) }],
        type_name: "learn_t".to_owned(),
        data_type: p4cc_ir::DataType::Struct("learn_t".to_owned()),
    });
    let digest = p4cc_ir::DigestId(0);
    let calls = vec![
        ExternCall::Digest { digest, data: vec![var(value)] },
        ExternCall::Clone {
            kind: CloneKind::I2E,
            session: constant(32, 5),
            field_list: Some(constant(8, 2)),
        },
        ExternCall::Resubmit { field_list: constant(8, 1) },
        ExternCall::Recirculate { field_list: constant(8, 3) },
        ExternCall::Truncate { bytes: constant(32, 64) },
        ExternCall::LogMsg { format: "a={} b={} {}".to_owned(), args: vec![var(value), constant(8, 2)] },
        ExternCall::Assert { cond: constant(1, 1), place: "p.p4:1".to_owned() },
        ExternCall::Assert { cond: constant(1, 0), place: "p.p4:2".to_owned() },
        ExternCall::Random { dst: random, low: constant(8, 10), high: constant(8, 12) },
        ExternCall::Random { dst: never, low: constant(8, 10), high: constant(8, 9) },
        ExternCall::MarkToDrop,
    ];
    b.ingress(calls.into_iter().map(Inst::Extern).collect());
    let mut rig = Rig::new(b.compile());
    rig.effects.keep_logs = true;
    rig.set(value, 77);
    rig.set(meta.mcast_grp, 4);
    rig.ingress();
    let effects = &rig.effects;
    assert_eq!(effects.digests[0].values, [Bits::from_u128(48, 77)]);
    assert_eq!(effects.clones[0], CloneRequest { kind: CloneKind::I2E, session: 5, field_list: Some(2) });
    assert_eq!((effects.resubmit, effects.recirculate, effects.truncate), (Some(1), Some(3), Some(64)));
    assert_eq!(effects.logs, ["a=77 b=2 {}"]);
    assert_eq!(effects.assertion_failures, ["p.p4:2"]);
    assert_eq!((rig.get(meta.egress_spec), rig.get(meta.mcast_grp)), (511, 0));
    assert!((10..=12).contains(&rig.get(random)));
    assert_eq!(rig.get(never), 10);
    rig.effects.reset();
    assert!(rig.effects.is_empty());
}

#[test]
fn random_numbers_follow_the_stream_at_every_width() {
    for width in [1, 2, 16, 33, 63, 64, 65, 100, 128] {
        let most = u128::MAX >> (128 - width);
        for (low, high) in [(0, most), (0, 0), (most, most), (most / 3, most / 2), (most, 0), (0, most - 1)] {
            let mut b = ProgramBuilder::new();
            let value = b.bits("value", width);
            let bounds = (constant(width, low), constant(width, high));
            b.ingress(vec![Inst::Extern(ExternCall::Random { dst: value, low: bounds.0, high: bounds.1 })]);
            let mut rig = Rig::new(b.compile());
            let mut stream = p4cc_exec::testing::SplitMix(rig.random.0);
            for _ in 0..20 {
                let mut next = || u128::from(p4cc_exec::RandomSource::next_u64(&mut stream));
                let drawn = next() | if width > 64 { next() << 64 } else { 0 };
                let offset = match (high.wrapping_sub(low)).wrapping_add(1) & most {
                    _ if high < low => 0,
                    0 => drawn & most,
                    count => (drawn & most) % count,
                };
                rig.ingress();
                let got = rig.bits(value).to_u128();
                assert_eq!(got, Some((low + offset) & most), "{width} bits, {low} to {high}");
            }
        }
    }
}
