//! `int_md.p4`: metadata by instruction bit, the E and M bits, and packets that must stay as they are.

use p4cc_switch::{Packet, QdepthUnit};

use super::bench::{Bench, IN, OUT};
use super::frame::{Frame, extension, forwarded, ip_bytes, number};

const E: u8 = 0x04;
const M: u8 = 0x02;

fn bench(mtu: u128) -> Bench {
    let mut bench = Bench::new(super::program!("int_md"), QdepthUnit::Packets);
    bench.add("egress.telemetry.ports", &[OUT.into()], "egress.telemetry.set_port", &[0xcafe_f00d, mtu, 0]);
    bench
}

/// Words that a hop adds.
fn words(instructions: u16) -> u8 {
    (instructions.count_ones() + (instructions & 0x0e00).count_ones()) as u8
}

/// Extension 2 with `stack` behind the metadata header.
fn telemetry(instructions: u16, remaining: u8, stack: &[u8]) -> Frame {
    let mut bytes = vec![0x10, 3 + (stack.len() / 4) as u8, 0, 0];
    bytes.extend([0x20, 0, words(instructions), remaining]);
    bytes.extend(instructions.to_be_bytes());
    bytes.extend([0; 6]);
    bytes.extend(stack);
    Frame::data(2, bytes)
}

fn forward(bench: &mut Bench, frame: &Frame) -> Vec<u8> {
    let left = bench.forward(9, frame.packet()).expect("it is forwarded");
    extension(&left, frame)
}

#[test]
fn each_instruction_adds_its_metadata_in_the_order_of_the_bits() {
    let mut bench = bench(1600);
    let old = [0x55; 8];
    let frame = telemetry(0xffff, 5, &old);
    let before = Frame::default().packet();
    bench.receive(1_000, before.clone());
    bench.receive(1_500, frame.packet());
    bench.receive(1_600, before.clone());
    bench.receive(1_600, before.clone());
    bench.transmit(2_000).expect("the first");
    let (left, _) = bench.transmit(3_700).expect("the second");
    let bytes = extension(&left, &frame);
    assert_eq!(bytes[..4], [0x10, 3 + 2 + 19, 0, 0], "the shim counts old and new words");
    assert_eq!(bytes[4..8], [0x20, 0, 19, 4], "one hop fewer remains");
    assert_eq!(bytes[8..16], frame.extension[8..16]);
    let metadata = &bytes[16..16 + 4 * 19];
    let field = |at: usize, length: usize| number(&metadata[at..at + length]);
    assert_eq!(field(0, 4), 0xcafe_f00d);
    assert_eq!((field(4, 2), field(6, 2)), (IN.into(), OUT.into()));
    assert_eq!(field(8, 4), 2_200, "latency");
    assert_eq!((field(12, 1), field(13, 3)), (0, 2), "queue, and two still in it");
    assert_eq!((field(16, 8), field(24, 8)), (1_500, 3_700));
    assert_eq!(field(32, 8), u64::MAX, "level 2 ports are not known");
    assert_eq!(field(40, 4), u64::from(ip_bytes(&before)), "bytes sent before");
    assert_eq!(metadata[44..], [0xff; 32], "buffer, reserved bits and checksum complement are not known");
    assert_eq!(bytes[16 + 4 * 19..], old, "older metadata follows");
}

#[test]
fn any_subset_of_instructions_adds_as_many_words_as_it_says() {
    let mut bench = bench(1600);
    for instructions in (0..=u16::MAX).step_by(257).chain((0..16).map(|bit| 1 << bit)) {
        let frame = telemetry(instructions, 1, &[]);
        let bytes = forward(&mut bench, &frame);
        assert_eq!(bytes.len(), 16 + 4 * usize::from(words(instructions)), "{instructions:04x}");
        assert_eq!((bytes[1], bytes[7]), (3 + words(instructions), 0));
    }
}

#[test]
fn without_remaining_hops_the_e_bit_is_set_and_nothing_added() {
    let mut bench = bench(1600);
    let frame = telemetry(0x8000, 1, &[]);
    let bytes = forward(&mut bench, &frame);
    assert_eq!((bytes[4], bytes[7], bytes.len()), (0x20, 0, 20));
    let frame = telemetry(0x8000, 0, &bytes[16..]);
    let bytes = forward(&mut bench, &frame);
    let mut expected = frame.extension.clone();
    expected[4] |= E;
    assert_eq!(bytes, expected);
}

#[test]
fn without_room_the_m_bit_is_set_and_nothing_added() {
    let frame = telemetry(0xff00, 9, &[]);
    let length = u128::from(ip_bytes(&frame.packet()));
    let growth = u128::from(words(0xff00)) * 4;
    let mut room = bench(length + growth);
    assert_eq!(forward(&mut room, &frame).len(), 16 + 44);
    let mut expected = frame.extension.clone();
    expected[4] |= M;
    let mut tight = bench(length + growth - 1);
    assert_eq!(forward(&mut tight, &frame), expected);
    // 16 + 4 * 59 = 252 bytes of extension leave no word; 4 * 58 leave one.
    let mut wide = bench(9000);
    for (old, length, flag) in [(58, 252, 0), (59, 252, M)] {
        let frame = telemetry(0x8000, 9, &vec![1; 4 * old]);
        let bytes = forward(&mut wide, &frame);
        assert_eq!((bytes.len(), bytes[4] & M), (length, flag));
    }
}

#[test]
fn what_is_not_sound_passes_as_it_came() {
    let mut bench = bench(1600);
    let good = telemetry(0xf000, 5, &[1; 16]);
    let with = |at: usize, value: u8| {
        let mut frame = good.clone();
        frame.extension[at] = value;
        frame
    };
    let short = Frame { extension: good.extension[..12].to_vec(), ..good.clone() };
    let frames = [
        with(0, 0x30),
        with(1, 6),
        with(1, 8),
        with(1, 2),
        with(4, 0x10),
        // More words than the bitmap asks for: the domain's own instructions, which are not known here.
        with(6, 5),
        with(6, 3),
        with(8, 0xf8),
        short,
        Frame { packet_type: 1, ..good.clone() },
        Frame { udp_excess: 4, ..good.clone() },
        Frame { udp_checksum: 1, ..good.clone() },
        Frame { extension_type: 1, ..good.clone() },
    ];
    let forwarded_as_is = |bench: &mut Bench, packet: Packet| {
        assert_eq!(bench.forward(1, packet.clone()), Some(forwarded(&packet)));
    };
    for frame in frames {
        forwarded_as_is(&mut bench, frame.packet());
    }
    assert_ne!(forward(&mut bench, &good), good.extension);
    let mut silent = Bench::new(super::program!("int_md"), QdepthUnit::Packets);
    forwarded_as_is(&mut silent, good.packet());
}

#[test]
fn transmitted_bytes_wrap() {
    let mut bench = bench(1600);
    bench.set_register("egress.telemetry.tx_bytes", OUT, u64::from(u32::MAX) - 9);
    let frame = telemetry(0x0100, 5, &[]);
    let bytes = forward(&mut bench, &frame);
    assert_eq!(number(&bytes[16..20]), u64::from(u32::MAX) - 9);
    let sent = u64::from(ip_bytes(&frame.packet())) + 4;
    let bytes = forward(&mut bench, &frame);
    assert_eq!(number(&bytes[16..20]), sent - 10);
}
