//! `int_hpcc.p4`: records against the switch's own counts, the bound, and packets that must stay as they are.

use p4cc_switch::{Packet, QdepthUnit};

use super::bench::{Bench, OUT};
use super::frame::{Frame, extension, forwarded, ip_bytes, number};

const TX_BYTES: &str = "egress.telemetry.tx_bytes";
const CELL_BYTES: u32 = 80;

/// The table entry of a port.
#[derive(Clone, Copy)]
struct Port {
    id: u128,
    rate: u128,
    shift: u128,
    cells: u128,
    framing: u128,
    hops: u128,
}

/// 10 Gb/s in a network without a multiplier, a queue in cells, the default bound.
const PORT: Port = Port { id: 0x5a5, rate: 3, shift: 0, cells: 1, framing: 0, hops: 5 };

fn bench(port: Port, unit: QdepthUnit) -> Bench {
    let mut bench = Bench::new(super::program!("int_hpcc"), unit);
    let args = [port.id, port.rate, port.shift, port.cells, port.framing, port.hops];
    bench.add("egress.telemetry.ports", &[OUT.into()], "egress.telemetry.set_port", &args);
    bench
}

/// A record as the host reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    rate: u64,
    time: u64,
    tx: u64,
    queue: u64,
}

/// Hop count, path id and records, the last switch's first.
fn read(extension: &[u8]) -> (u64, u64, Vec<Record>) {
    let shim = number(&extension[..2]);
    let record = |bytes: &[u8]| {
        let bits = number(bytes);
        Record {
            rate: bits >> 60,
            time: bits >> 36 & 0xff_ffff,
            tx: bits >> 16 & 0xf_ffff,
            queue: bits & 0xffff,
        }
    };
    (shim >> 12, shim & 0xfff, extension[2..].chunks(8).map(record).collect())
}

/// A data packet that came through `records` switches before.
fn telemetry(records: u8) -> Frame {
    let mut bytes = vec![records << 4, 0];
    bytes.extend((0..usize::from(records) * 8).map(|at| 0x10 + at as u8));
    Frame::data(1, bytes)
}

#[test]
fn two_hops_record_exactly_what_the_switches_counted() {
    let mut first = bench(PORT, QdepthUnit::Cells80);
    let mut second = bench(Port { id: 0x00f, shift: 2, rate: 9, ..PORT }, QdepthUnit::Cells80);
    // Different sizes, a packet without telemetry among them: it counts all the same.
    let frames: Vec<Frame> = (0..40)
        .map(|i| {
            let payload = 100 + 31 * i;
            if i % 5 == 3 { Frame { payload, ..Frame::default() } } else { Frame { payload, ..telemetry(0) } }
        })
        .collect();
    let cells = |packet: &Packet| ip_bytes(packet).div_ceil(CELL_BYTES);
    let mut waiting: Vec<u32> = frames.iter().map(|frame| cells(&frame.packet())).collect();
    for frame in &frames {
        first.receive(0, frame.packet());
    }
    let (mut now, mut sent_by_first, mut sent_by_second) = (1_000_000_000_u64, 0, 0);
    for frame in &frames {
        let (packet, duration) = first.transmit(now).expect("all wait");
        waiting.remove(0);
        let still: u32 = waiting.iter().sum();
        let at_first = (now, sent_by_first, still);
        sent_by_first += ip_bytes(&packet);
        now += duration.as_ns();
        let arrived = cells(&packet);
        // The second switch has one packet of the same size behind this one.
        second.receive(now, packet.clone());
        second.receive(now, packet.clone());
        let (twice, _) = second.transmit(now + 77).expect("two wait");
        let at_second = (now + 77, sent_by_second, arrived);
        sent_by_second += ip_bytes(&twice);
        let (spare, _) = second.transmit(now + 99).expect("one waits");
        sent_by_second += ip_bytes(&spare);
        if frame.extension_type == 0 {
            assert_eq!(packet, forwarded(&frame.packet()));
            continue;
        }
        let bytes = extension_after(&twice, frame, 2);
        let (hops, path, records) = read(&bytes);
        assert_eq!((hops, path, records.len()), (2, 0x5a5 ^ 0x00f, 2));
        assert_eq!(records[1], record(3, at_first, 0));
        assert_eq!(records[0], record(9, at_second, 2));
    }
    assert!(first.transmit(now).is_none());
    for (bench, sent) in [(&first, sent_by_first), (&second, sent_by_second)] {
        assert_eq!(bench.register(TX_BYTES, OUT), u64::from(sent));
        let counters = bench.switch.observation().port_counters(OUT).expect("the port");
        // The switch's own counter has Ethernet headers in it.
        assert_eq!(counters.tx_bytes - 14 * counters.tx_pkts, u64::from(sent));
    }
}

/// The extension of a packet that was forwarded `hops` times.
fn extension_after(packet: &Packet, frame: &Frame, hops: u8) -> Vec<u8> {
    let mut packet = packet.clone();
    // `extension` expects one hop: undo the others' part of the TTL and of the checksum.
    let ttl = 14 + 8;
    let checksum = 14 + 10;
    for _ in 1..hops {
        packet.head[ttl] += 1;
        let sum = number(&packet.head[checksum..checksum + 2]) as u32 + 0xffff - 0x0100;
        let folded = (sum & 0xffff) + (sum >> 16);
        packet.head[checksum..checksum + 2].copy_from_slice(&(folded as u16).to_be_bytes());
    }
    extension(&packet, frame)
}

fn record(rate: u64, (now, sent, cells): (u64, u32, u32), shift: u32) -> Record {
    Record {
        rate,
        time: now & 0xff_ffff,
        tx: u64::from(sent >> 7 >> shift) & 0xf_ffff,
        queue: u64::from(cells >> shift),
    }
}

#[test]
fn the_stack_is_bounded_and_hops_are_counted_beyond() {
    for (hops, bound) in [(5, 5), (1, 1), (0, 0), (8, 8), (15, 8)] {
        let mut bench = bench(Port { hops, ..PORT }, QdepthUnit::Cells80);
        for records in 0..=12 {
            let frame = telemetry(records);
            let left = bench.forward(5, frame.packet()).expect("it is forwarded");
            let bytes = extension(&left, &frame);
            let (count, _, read) = read(&bytes);
            let expected = if records < bound { records + 1 } else { records };
            assert_eq!(read.len(), usize::from(expected), "bound {hops}, {records} records came");
            assert_eq!(count, u64::from(records) + 1, "hops are counted with and without room");
            let kept = usize::from(records) * 8;
            assert_eq!(
                bytes[bytes.len() - kept..],
                frame.extension[2..],
                "the older records follow untouched"
            );
        }
    }
    let mut bench = bench(PORT, QdepthUnit::Cells80);
    let mut frame = telemetry(5);
    frame.extension[0] = 0xf0;
    let left = bench.forward(5, frame.packet()).expect("it is forwarded");
    assert_eq!(read(&extension(&left, &frame)).0, 15, "the hop count stops at 15");
}

#[test]
fn packets_that_carry_no_telemetry_pass_as_they_came() {
    let mut bench = bench(PORT, QdepthUnit::Cells80);
    let whole = telemetry(1);
    let with_length = |length: usize| {
        let mut frame = whole.clone();
        frame.extension.resize(length, 7);
        frame
    };
    let frames = [
        Frame::default(),
        Frame { packet_type: 1, ..whole.clone() },
        Frame { packet_type: 2, ..whole.clone() },
        Frame { version: 2, ..whole.clone() },
        Frame { extension_type: 2, ..whole.clone() },
        Frame { port: 52225, ..whole.clone() },
        Frame { protocol: 6, ..whole.clone() },
        Frame { udp_checksum: 0xbeef, ..whole.clone() },
        // A later fragment: what stands at the place of UDP is payload.
        Frame { fragment: 0x2001, ..whole.clone() },
        Frame { udp_excess: 1, ..whole.clone() },
        Frame { payload: 65_100 - 64, ..whole.clone() },
        with_length(1),
        with_length(9),
        with_length(11),
    ];
    let mut sent = 0;
    for frame in frames {
        let left = bench.forward(1, frame.packet());
        assert_eq!(left, Some(forwarded(&frame.packet())), "{frame:?}");
        sent += u64::from(ip_bytes(&frame.packet()));
        assert_eq!(bench.register(TX_BYTES, OUT), sent, "it counts as transmitted");
    }
}

#[test]
fn a_port_without_an_entry_neither_counts_nor_stamps() {
    let mut bench = Bench::new(super::program!("int_hpcc"), QdepthUnit::Cells80);
    let packet = telemetry(1).packet();
    assert_eq!(bench.forward(1, packet.clone()), Some(forwarded(&packet)));
    assert_eq!(bench.register(TX_BYTES, OUT), 0);
}

#[test]
fn transmitted_units_go_on_across_the_wrap_of_the_register() {
    for shift in 0..=5_u32 {
        let mut bench = bench(Port { shift: shift.into(), framing: 24, ..PORT }, QdepthUnit::Cells80);
        // The true count goes beyond 2^32; the register holds its low half.
        let mut sent = (1_u64 << 32) - 20_000;
        bench.set_register(TX_BYTES, OUT, sent);
        for _ in 0..40 {
            let frame = telemetry(0);
            let left = bench.forward(1, frame.packet()).expect("it is forwarded");
            let (_, _, records) = read(&extension(&left, &frame));
            assert_eq!(records[0].tx, (sent / (128 << shift)) % (1 << 20), "shift {shift}, {sent} bytes");
            sent += u64::from(ip_bytes(&left)) + 24;
            assert_eq!(bench.register(TX_BYTES, OUT), sent & 0xffff_ffff);
        }
        assert!(sent > 1 << 32, "the register wrapped");
    }
}

#[test]
fn a_queue_beyond_the_field_reads_as_its_largest_value() {
    let mut bench = bench(Port { shift: 1, ..PORT }, QdepthUnit::Cells80);
    let frame = Frame { payload: 20_000, ..telemetry(0) };
    let cells = u64::from(ip_bytes(&frame.packet()).div_ceil(CELL_BYTES));
    for _ in 0..600 {
        bench.receive(0, frame.packet());
    }
    for still in (0..600_u64).rev() {
        let (left, _) = bench.transmit(1).expect("all wait");
        let (_, _, records) = read(&extension(&left, &frame));
        assert_eq!(records[0].queue, ((still * cells) >> 1).min(0xffff));
    }
}
