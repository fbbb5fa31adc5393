//! `rcp.p4`: the stamp, each correction against the formula
//! (docs/algorithms/d3-rcp.md#rcp), the bounds, and a closed loop.

use p4cc_switch::QdepthUnit;
use proptest::prelude::*;

use super::bench::{Bench, OUT, RATE_BPS};
use super::frame::{Frame, extension, forwarded, ip_bytes, number};

const ALPHA: f64 = 0.4;
const BETA: f64 = 0.4;
const CAPACITY_KBPS: u64 = RATE_BPS / 1000;
const BYTES_PER_NS: f64 = RATE_BPS as f64 / 8e9;
/// Interval and mean round-trip time.
const INTERVAL_NS: u64 = 50_000;
const RTT_NS: u64 = 100_000;
const LEAST_KBPS: u64 = 1_000;
const CELL_BYTES: u64 = 80;
/// Where the closed loop starts: a twentieth of the capacity, as controller/rcp.py has it.
const INITIAL_KBPS: u64 = CAPACITY_KBPS / 20;

fn fixed(value: f64, bits: i32) -> u128 {
    (value * 2f64.powi(bits)).round() as u128
}

fn bench(initial_kbps: u64) -> Bench {
    let mut bench = Bench::new("rcp", QdepthUnit::Cells80);
    let ratio = INTERVAL_NS as f64 / RTT_NS as f64;
    let interval_bytes = INTERVAL_NS as f64 * BYTES_PER_NS;
    let args = [
        CAPACITY_KBPS.into(),
        initial_kbps.into(),
        LEAST_KBPS.into(),
        INTERVAL_NS.into(),
        fixed(BYTES_PER_NS, 20),
        fixed(ALPHA * ratio / interval_bytes, 40),
        fixed(BETA * ratio * ratio / interval_bytes, 40),
        CELL_BYTES.into(),
        0,
    ];
    bench.add("egress.rcp.ports", &[OUT.into()], "egress.rcp.set_port", &args);
    bench
}

fn stamped(rate_kbps: u32, payload: u16) -> Frame {
    Frame { payload, ..Frame::data(6, rate_kbps.to_be_bytes().to_vec()) }
}

fn rate(bench: &Bench) -> u64 {
    bench.register("egress.rcp.fair_rates", OUT)
}

#[test]
fn the_smallest_rate_of_the_path_stays() {
    let mut bench = bench(2_000_000);
    for (came, left) in [(u32::MAX, 2_000_000), (2_000_001, 2_000_000), (1_999_999, 1_999_999), (0, 0)] {
        let frame = stamped(came, 100);
        let packet = bench.forward(1_000, frame.packet()).expect("it is forwarded");
        assert_eq!(number(&extension(&packet, &frame)), left);
    }
    let whole = stamped(u32::MAX, 100);
    let long = Frame { extension: vec![0xff; 8], ..whole.clone() };
    let ack = Frame { packet_type: 1, ..whole.clone() };
    let other = Frame { extension_type: 3, ..whole };
    for frame in [long, ack, other] {
        assert_eq!(bench.forward(1_000, frame.packet()), Some(forwarded(&frame.packet())));
    }
}

#[test]
fn a_port_without_an_entry_stamps_nothing() {
    let mut bench = Bench::new("rcp", QdepthUnit::Cells80);
    let packet = stamped(u32::MAX, 100).packet();
    assert_eq!(bench.forward(1, packet.clone()), Some(forwarded(&packet)));
    assert_eq!(bench.register("egress.rcp.load_meter.sent_bytes", OUT), 0);
}

#[test]
fn the_controllers_rate_is_stamped_and_bytes_are_measured_for_it() {
    let mut bench = Bench::new("rcp", QdepthUnit::Cells80);
    bench.add("egress.rcp.ports", &[OUT.into()], "egress.rcp.set_fixed_rate", &[777, 24]);
    let mut sent = 0;
    for now in (0..10).map(|i| i * 1_000_000) {
        let frame = stamped(u32::MAX, 1_000);
        let packet = bench.forward(now, frame.packet()).expect("it is forwarded");
        assert_eq!(number(&extension(&packet, &frame)), 777);
        sent += u64::from(ip_bytes(&packet)) + 24;
        assert_eq!(bench.register("egress.rcp.load_meter.sent_bytes", OUT), sent);
    }
    bench.set_register("egress.rcp.load_meter.sent_bytes", OUT, u64::from(u32::MAX) - 5);
    bench.forward(1, stamped(u32::MAX, 1_000).packet());
    assert_eq!(
        bench.register("egress.rcp.load_meter.sent_bytes", OUT),
        u64::from(u32::MAX),
        "it stops at its largest value"
    );
}

/// The formula, with the bounds of one step.
fn formula(rate: f64, elapsed_ns: u64, sent: u64, before_cells: u64, cells: u64) -> f64 {
    let ratio = INTERVAL_NS as f64 / RTT_NS as f64;
    let interval_bytes = INTERVAL_NS as f64 * BYTES_PER_NS;
    let queue = (cells * CELL_BYTES) as f64;
    let arrived = (sent as f64 + queue - (before_cells * CELL_BYTES) as f64).max(0.0);
    let spare = elapsed_ns.min(2 * INTERVAL_NS) as f64 * BYTES_PER_NS - arrived;
    let change = ratio * (ALPHA * spare - BETA * ratio * queue) / interval_bytes;
    (rate * (1.0 + change.clamp(-0.5, 1.0))).clamp(LEAST_KBPS as f64, CAPACITY_KBPS as f64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_correction_is_the_formulas(
        old in LEAST_KBPS..=CAPACITY_KBPS,
        elapsed in prop_oneof![INTERVAL_NS..2 * INTERVAL_NS, INTERVAL_NS..1 << 40],
        start in 0..(1_u64 << 48),
        sent in prop_oneof![0..200_000_u64, Just(u64::from(u32::MAX))],
        before_cells in prop_oneof![Just(0_u64), 0..2_000_u64, Just((1 << 19) - 1)],
        waiting in 0..100_usize,
    ) {
        let mut bench = bench(1);
        let frame = stamped(u32::MAX, 1_432);
        let cells = u64::from(ip_bytes(&frame.packet())).div_ceil(CELL_BYTES) * waiting as u64;
        for _ in 0..=waiting {
            bench.receive(0, frame.packet());
        }
        for (name, value) in
            [("fair_rates", old), ("load_meter.interval_starts", start), ("load_meter.sent_bytes", sent), ("load_meter.start_depths", before_cells)]
        {
            bench.set_register(&format!("egress.rcp.{name}"), OUT, value);
        }
        // Time goes on across the wrap of its 48 bits.
        let now = start + elapsed;
        let (packet, _) = bench.transmit(now).expect("all wait");
        let expected = formula(old as f64, elapsed, sent, before_cells, cells);
        let new = rate(&bench);
        let error = expected * 1e-3 + 2.0;
        prop_assert!((new as f64 - expected).abs() <= error, "{old} became {new}, the formula gives {expected}");
        prop_assert_eq!(number(&extension(&packet, &frame)), new, "the new rate is stamped");
        prop_assert_eq!(bench.register("egress.rcp.load_meter.interval_starts", OUT), now & 0xffff_ffff_ffff);
        prop_assert_eq!(bench.register("egress.rcp.load_meter.start_depths", OUT), cells);
        prop_assert_eq!(bench.register("egress.rcp.load_meter.sent_bytes", OUT), u64::from(ip_bytes(&packet)));
    }
}

#[test]
fn nothing_changes_within_an_interval() {
    let mut bench = bench(5_000_000);
    let frame = stamped(u32::MAX, 1_432);
    let mut sent = 0;
    for now in (0..INTERVAL_NS).step_by(5_000) {
        sent += u64::from(ip_bytes(&bench.forward(now, frame.packet()).expect("forwarded")));
        assert_eq!(
            (rate(&bench), bench.register("egress.rcp.load_meter.sent_bytes", OUT)),
            (5_000_000, sent)
        );
    }
    bench.forward(INTERVAL_NS, frame.packet());
    assert!(rate(&bench) > 5_000_000, "the port was nearly idle");
}

/// Flows that send at the rate they heard half a round-trip time ago.
/// Gives the rate and the queue in packets over the second half.
fn closed_loop(flows: u64, rounds: u64) -> (f64, u32, u64) {
    let mut bench = bench(INITIAL_KBPS);
    let frame = stamped(u32::MAX, 1_432);
    let bits = u64::from(ip_bytes(&frame.packet())) * 8;
    let end = rounds * RTT_NS;
    let mut next: Vec<u64> = (0..flows).map(|flow| flow * 997).collect();
    let mut heard: std::collections::VecDeque<(u64, u64)> = [(0, INITIAL_KBPS)].into();
    let (mut free_at, mut sum, mut samples, mut deepest, mut sent) = (0, 0.0, 0, 0, 0_u64);
    loop {
        let flow = (0..next.len()).min_by_key(|flow| next[*flow]).expect("there are flows");
        let arrival = next[flow];
        // The link is served up to the next arrival.
        while free_at <= arrival && bench.switch.observation().waiting() > 0 {
            let (packet, duration) = bench.transmit(free_at).expect("one waits");
            heard.push_back((free_at + RTT_NS, number(&extension(&packet, &frame))));
            if free_at > end / 2 {
                sum += rate(&bench) as f64;
                samples += 1;
                sent += bits;
            }
            free_at += duration.as_ns();
        }
        if arrival > end {
            return (sum / f64::from(samples), deepest, sent * 2 / end);
        }
        while heard.len() > 1 && heard[1].0 <= arrival {
            heard.pop_front();
        }
        free_at = free_at.max(arrival);
        bench.receive(arrival, frame.packet());
        if arrival > end / 2 {
            deepest = deepest.max(bench.switch.observation().port_depth_pkts(OUT));
        }
        next[flow] = arrival + bits * 1_000_000 / heard[0].1;
    }
}

#[test]
fn flows_settle_at_their_share_of_the_link() {
    for flows in [1, 2, 5, 20] {
        let (mean_kbps, deepest, carried_gbps) = closed_loop(flows, 300);
        let share = CAPACITY_KBPS as f64 / flows as f64;
        assert!((mean_kbps / share - 1.0).abs() < 0.05, "{flows} flows: {mean_kbps} kbit/s, share {share}");
        assert!(deepest < 100, "{flows} flows: {deepest} packets waited");
        assert!((9..=10).contains(&carried_gbps), "{flows} flows: {carried_gbps} Gbit/s");
    }
}
