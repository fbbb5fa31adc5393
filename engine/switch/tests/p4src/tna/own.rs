//! What programs do on Tofino in a way of their own: RED by steps, rates that are stamped, ECMP by masks.

use p4cc_switch::QdepthUnit;

use super::bench::{Bench, OUT};
use super::frame::{Frame, ecn, extension, ip_bytes, number};

const ECT: u8 = 2;
const CE: u8 = 3;
const MEMBERS: usize = 4;
const REQUEST: u8 = 3;
const BASE_RATE: u8 = 4;
const EPOCH_VALID: u64 = 0x8000;

#[test]
fn the_smallest_rate_of_the_path_stays_and_bytes_are_measured() {
    let mut bench = Bench::new("tna/rcp", QdepthUnit::Cells80);
    bench.add("egress.rcp.stamped", &[OUT.into()], "egress.rcp.set_rate", &[2_000_000, 24]);
    let mut sent = 0;
    for (came, wanted) in [(u32::MAX, 2_000_000), (2_000_001, 2_000_000), (1_999_999, 1_999_999), (0, 0)] {
        let frame = Frame::data(6, came.to_be_bytes().to_vec());
        let left = bench.forward(1, frame.packet()).expect("it is forwarded");
        assert_eq!(number(&extension(&left, &frame)), wanted);
        sent += u64::from(ip_bytes(&left)) + 24;
        assert_eq!(bench.register("egress.rcp.sent_bytes", OUT), sent);
    }
    for _ in 0..3 {
        bench.receive(1, Frame::default().packet());
    }
    bench.transmit(1).expect("three wait");
    let cells = u64::from(ip_bytes(&Frame::default().packet()).div_ceil(80));
    assert_eq!(bench.register("egress.rcp.last_depths", OUT), 2 * cells);
}

/// Flags, hop index, and what the first record grants and its epoch.
fn asked(bench: &mut Bench, desired_kbps: u32) -> (u8, u8, u64, u64) {
    let mut request = vec![0; 24];
    request[4..8].copy_from_slice(&desired_kbps.to_be_bytes());
    let frame = Frame::data(REQUEST, request);
    let left = bench.forward(1, frame.packet()).expect("it is forwarded");
    let bytes = extension(&left, &frame);
    (bytes[0], bytes[1], number(&bytes[16..20]), number(&bytes[22..24]))
}

#[test]
fn a_round_grants_in_the_order_of_requests_until_the_capacity_is_used() {
    let mut bench = Bench::new("tna/d3", QdepthUnit::Cells80);
    let set = "egress.allocator.set_share";
    bench.add("egress.allocator.stamped", &[OUT.into()], set, &[1_000_000, 900_000, 100_000, 1]);
    assert_eq!(asked(&mut bench, 400_000), (0, 1, 500_000, EPOCH_VALID));
    assert_eq!(asked(&mut bench, 300_000), (0, 1, 400_000, EPOCH_VALID));
    assert_eq!(asked(&mut bench, 102_400), (BASE_RATE, 1, 0, EPOCH_VALID), "100 Mb/s are left");
    assert_eq!(bench.register("egress.allocator.requests", OUT), 3);
    let desired = (400_000 >> 10) + (300_000 >> 10) + (102_400 >> 10);
    assert_eq!(bench.register("egress.allocator.demand", OUT), desired);
    bench.change("egress.allocator.stamped", &[OUT.into()], set, &[1_000_000, 900_000, 100_000, 2]);
    assert_eq!(
        asked(&mut bench, 2_000_000),
        (0, 1, 1_000_000, EPOCH_VALID),
        "a desire counts up to its bound"
    );
}

/// How many of `trials` packets are marked that leave `depth` others behind them.
fn marked(bench: &mut Bench, depth: u64, trials: u64) -> u64 {
    let packet = Frame { ecn: ECT, payload: 10, ..Frame::default() }.packet();
    while bench.transmit(0).is_some() {}
    for _ in 0..depth {
        bench.receive(0, packet.clone());
    }
    let left = (0..trials).filter(|_| {
        bench.receive(0, packet.clone());
        ecn(&bench.transmit(0).expect("one came in").0) == CE
    });
    left.count() as u64
}

#[test]
fn each_step_marks_its_share_and_marks_are_counted() {
    let mut bench = Bench::new("tna/ecn_red", QdepthUnit::Packets);
    let (table, set) = ("egress.red.steps", "egress.red.set_probability");
    bench.add_range(table, OUT.into(), [5, 9], set, &[0x4000]);
    bench.add_range(table, OUT.into(), [10, 14], set, &[0xc000]);
    bench.add_range(table, OUT.into(), [15, 0x7_ffff], "egress.red.set_always", &[]);
    assert_eq!([marked(&mut bench, 0, 100), marked(&mut bench, 4, 100)], [0, 0]);
    let trials = 4_000;
    for (depth, share) in [(5, 0.25), (9, 0.25), (10, 0.75), (14, 0.75)] {
        let before = bench.counter("egress.red.marked_packets", OUT);
        let seen = marked(&mut bench, depth, trials) as f64;
        let spread = (trials as f64 * share * (1.0 - share)).sqrt();
        assert!((seen - trials as f64 * share).abs() < 4.0 * spread, "{seen} of {trials} at {depth}");
        assert!(bench.counter("egress.red.marked_packets", OUT) - before >= seen as u64);
    }
    assert_eq!(marked(&mut bench, 15, 100), 100);
}

fn seeded(mask: u32) -> Bench {
    let mut bench = Bench::new("tna/ack_priority", QdepthUnit::Packets);
    bench.spread(&(1..=MEMBERS as u64).collect::<Vec<_>>());
    bench.add("ingress.forward.ecmp_seeds", &[0x0800], "ingress.forward.set_seed", &[mask.into()]);
    bench
}

fn chosen(bench: &mut Bench, flow: u32) -> usize {
    let packet = bench.forward(0, Frame { flow, ..Frame::default() }.packet()).expect("it is forwarded");
    number(&packet.head[..6]) as usize - 1
}

#[test]
fn a_second_switch_with_another_seed_chooses_anew() {
    let (mut first, mut second) = (seeded(0x1234_5679), seeded(0x8765_4321));
    let arrived: Vec<u32> = (0..2_000).filter(|&flow| chosen(&mut first, flow) == 0).collect();
    let mut counts = [0_usize; MEMBERS];
    for &flow in &arrived {
        counts[chosen(&mut second, flow)] += 1;
    }
    // Four standard deviations of a binomial with p = 1/4.
    let (mean, spread) = (arrived.len() as f64 / 4.0, (arrived.len() as f64 * 3.0 / 16.0).sqrt());
    assert!(counts.iter().all(|&count| (count as f64 - mean).abs() < 4.0 * spread), "{counts:?}");
    assert!(arrived.iter().all(|&flow| chosen(&mut first, flow) == 0));
}

#[test]
fn the_chips_own_filter_marks_along_its_curve() {
    let mut bench = Bench::new("tna/ecn_wred", QdepthUnit::Packets);
    assert_eq!(marked(&mut bench, 40, 100), 0, "a port without a curve never marks");
    bench.set_wred("egress.red", OUT, [10, 30], 0.5);
    let trials = 4_000;
    for (depth, share) in [(10, 0.0), (15, 0.125), (20, 0.25), (28, 0.45)] {
        let seen = marked(&mut bench, depth, trials) as f64;
        let spread = (trials as f64 * share * (1.0 - share)).sqrt();
        assert!((seen - trials as f64 * share).abs() <= 4.0 * spread, "{seen} of {trials} at {depth}");
    }
    let before = bench.counter("egress.marked_packets", OUT);
    assert_eq!(marked(&mut bench, 31, 100), 100);
    assert!(bench.counter("egress.marked_packets", OUT) >= before + 100);
}
