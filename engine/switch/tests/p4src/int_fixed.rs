//! `int_fixed.p4`: the same records as `int_hpcc.p4`, in room that the sender reserved; no length changes.

use p4cc_switch::{Packet, QdepthUnit};

use super::bench::{Bench, OUT};
use super::frame::{EXTENSION, Frame, extension, forwarded, ip_bytes, number};

const RECORDS: usize = 5;
const RESERVED: usize = 2 + 8 * RECORDS;
const EXTENSION_INT_HPCC: u8 = 1;
const EXTENSION_INT_FIXED: u8 = 7;

fn bench(program: &str, id: u128) -> Bench {
    let mut bench = Bench::new(program, QdepthUnit::Cells80);
    // Identity, rate code, no multiplier, queues in cells, no framing, the default bound.
    bench.add("egress.telemetry.ports", &[OUT.into()], "egress.telemetry.set_port", &[id, 3, 0, 1, 0, 5]);
    bench
}

fn reserved() -> Frame {
    Frame::data(EXTENSION_INT_FIXED, vec![0; RESERVED])
}

#[test]
fn records_move_back_and_the_packet_keeps_its_length() {
    let frame = reserved();
    let mut packet = frame.packet();
    let length = ip_bytes(&packet);
    let mut seen: Vec<u64> = Vec::new();
    for hop in 1..=7_u64 {
        // Every switch sent another number of packets before, so that no two records are alike.
        let mut bench = bench(super::program!("int_fixed"), hop.into());
        for _ in 0..hop {
            bench.forward(0, Frame::default().packet()).expect("it is forwarded");
        }
        packet = bench.forward(1_000 * hop, packet).expect("it is forwarded");
        assert_eq!(ip_bytes(&packet), length);
        let sent = hop * 1_064 + u64::from(length);
        assert_eq!(bench.register("egress.telemetry.tx_bytes", OUT), sent, "no byte more for a record");
        let bytes = &packet.head[EXTENSION..];
        assert_eq!(bytes.len(), RESERVED);
        assert_eq!(number(&bytes[..2]) >> 12, hop, "every hop counts");
        let records: Vec<u64> = bytes[2..].chunks(8).map(number).collect();
        if hop <= RECORDS as u64 {
            assert_eq!(records[0] >> 36 & 0xff_ffff, 1_000 * hop, "the time of dequeue");
            assert_eq!(records[0] >> 16 & 0xf_ffff, hop * 1_064 / 128, "what went before");
            seen.insert(0, records[0]);
        }
        let empty = vec![0; RECORDS - seen.len()];
        assert_eq!(records, [seen.clone(), empty].concat(), "hop {hop}");
    }
}

/// What a switch writes is what it writes by `push`, but for the bytes that the packet itself has more.
#[test]
fn the_record_is_that_of_push() {
    let mut fixed = bench(super::program!("int_fixed"), 9);
    let mut pushed = bench(super::program!("int_hpcc"), 9);
    let by_push = Frame::data(EXTENSION_INT_HPCC, vec![0, 0]);
    let first = fixed.forward(4_321, reserved().packet()).expect("it is forwarded");
    let second = pushed.forward(4_321, by_push.packet()).expect("it is forwarded");
    let record = |packet: &Packet| packet.head[EXTENSION..EXTENSION + 10].to_vec();
    assert_eq!(record(&first), record(&second));
    assert_eq!(extension(&first, &reserved()).len(), RESERVED);
}

#[test]
fn other_room_is_no_telemetry() {
    let mut bench = bench(super::program!("int_fixed"), 9);
    for bytes in [2, RESERVED - 8, RESERVED + 8] {
        let frame = Frame::data(EXTENSION_INT_FIXED, vec![0; bytes]);
        assert_eq!(bench.forward(0, frame.packet()), Some(forwarded(&frame.packet())), "{bytes} bytes");
    }
    let other = Frame::data(EXTENSION_INT_HPCC, vec![0; RESERVED]);
    assert_eq!(bench.forward(0, other.packet()), Some(forwarded(&other.packet())));
}
