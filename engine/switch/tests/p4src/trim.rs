//! `p4src/v1model/trim.p4`: data that finds its queue full continues as its headers
//! (docs/algorithms/trimming.md).

use p4cc_switch::{DropCause, ExecChoice, Packet};

use super::bench::{Bench, OUT};
use super::frame::{EXTENSION, Frame, checksum, flow, forwarded, ip_bytes, number};

/// Two packets of 1064 bytes of IP, or 34 headers of 64.
const QUEUE_BYTES: u64 = 2_200;
const HEADERS: u32 = 34;
const DSCP: u8 = 11;

/// Each case runs on each back end.
fn benches() -> [Bench; 2] {
    [ExecChoice::Interp, ExecChoice::Native].map(|exec| {
        let mut bench = Bench::deflecting(program!("trim"), QUEUE_BYTES);
        bench.switch.control().set_exec(exec);
        bench
    })
}

fn frame(flow: u32) -> Frame {
    Frame { flow, ..Frame::default() }
}

fn left(bench: &mut Bench) -> Vec<Packet> {
    core::iter::from_fn(|| bench.transmit(1)).map(|(packet, _)| packet).collect()
}

/// Everything of a header that a receiver goes by.
fn assert_trimmed(packet: &Packet, sent: &Frame) {
    let bytes = packet.to_vec();
    assert_eq!(bytes.len(), EXTENSION, "all headers and no more");
    assert_eq!((bytes[15] >> 2, bytes[15] & 3), (DSCP, sent.ecn));
    let mut ip = bytes[14..34].to_vec();
    ip[10..12].fill(0);
    assert_eq!(number(&bytes[24..26]), u64::from(checksum(&ip)));
    assert_eq!((ip_bytes(packet), number(&bytes[38..40])), (64, 44), "lengths of what is left");
    assert_eq!(flow(packet), sent.flow);
    let transport = &bytes[EXTENSION - 36..];
    assert_eq!((transport[3], transport[18]), (0, 0), "no extension");
    assert_eq!(number(&transport[16..18]), u64::from(sent.payload), "what is missing");
    assert_eq!(transport[20..], [0xab; 16], "the timestamps are untouched");
}

#[test]
fn data_behind_a_full_queue_goes_on_as_its_headers_and_first() {
    for mut bench in benches() {
        let frames: Vec<Frame> = (1..=5).map(frame).collect();
        let with_extension = Frame { extension_type: 7, extension: vec![0; 4], ..frame(3) };
        for frame in [&frames[0], &frames[1], &with_extension, &frames[3], &frames[4]] {
            bench.receive(0, frame.packet());
        }
        let left = left(&mut bench);
        assert_eq!(left.iter().map(flow).collect::<Vec<u32>>(), [3, 4, 5, 1, 2]);
        for (packet, frame) in left.iter().zip(&frames[2..]) {
            assert_trimmed(packet, frame);
        }
        for (packet, frame) in left[3..].iter().zip(&frames) {
            assert_eq!(packet.to_vec(), forwarded(&frame.packet()).to_vec());
        }
        let counters = bench.counters();
        assert_eq!((counters.deflected, counters.drops.total(), counters.sent), (3, 0, 5));
        assert_eq!(bench.counter("ingress.trim.trimmed_packets", OUT), 3);
    }
}

#[test]
fn headers_have_a_bounded_queue_too() {
    for mut bench in benches() {
        for number in 0..HEADERS + 9 {
            bench.receive(0, frame(number).packet());
        }
        // 2 whole ones, 34 headers, and the rest.
        assert_eq!(bench.counters().drops.of(DropCause::TailDrop), 7);
        assert_eq!(left(&mut bench).len() as u32, HEADERS + 2);
    }
}

/// What counts is the queue's own capacity.
#[test]
fn what_the_shared_buffer_refuses_is_not_deflected() {
    for exec in [ExecChoice::Interp, ExecChoice::Native] {
        let mut bench = Bench::deflecting_with_buffer(program!("trim"), QUEUE_BYTES);
        bench.switch.control().set_exec(exec);
        for number in 0..5 {
            bench.receive(0, frame(number).packet());
        }
        let left = left(&mut bench).len() as u64;
        let counters = bench.counters();
        assert_eq!((counters.deflected, left + counters.drops.of(DropCause::SharedBuffer)), (0, 5));
        assert!((1..=2).contains(&left), "{left} found room");
    }
}

/// Control is not made shorter, others' packets are not read, and an entry refuses a codepoint.
#[test]
fn nothing_else_is_trimmed() {
    let ack = Frame { packet_type: 1, ..frame(8) };
    let foreign = Frame { port: 53, ..frame(9) };
    let refused = Frame { dscp: 5, ..frame(10) };
    let empty = Frame { payload: 0, extension_type: 7, extension: vec![0; 100], ..frame(11) };
    for mut bench in benches() {
        bench.add("ingress.trim.codepoints", &[5], "ingress.trim.refuse", &[]);
        for number in 0..HEADERS + 2 {
            bench.receive(0, frame(number).packet());
        }
        for frame in [&ack, &foreign, &refused, &empty] {
            bench.receive(0, frame.packet());
        }
        assert_eq!(bench.counters().drops.of(DropCause::TailDrop), 4);
        assert_eq!(bench.counter("ingress.trim.trimmed_packets", OUT), u64::from(HEADERS));
        left(&mut bench);
        // With room they are forwarded.
        for frame in [&ack, &foreign, &refused, &empty] {
            let packet = frame.packet();
            assert_eq!(bench.forward(2, packet.clone()), Some(forwarded(&packet)));
        }
    }
}
