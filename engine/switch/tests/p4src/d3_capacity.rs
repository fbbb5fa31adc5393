//! `d3.p4`: C_e against its formula (docs/algorithms/d3-rcp.md#d3-switch),
//! its bounds, and what it does to grants; requests with few records.

use p4cc_switch::QdepthUnit;
use proptest::prelude::*;

use super::bench::{Bench, OUT, RATE_BPS};
use super::d3::{BASE, EPOCH_SHIFT, Request, ask, ask_with, counters, reciprocals};
use super::frame::{Frame, ip_bytes};

const CAPACITY_KBPS: u64 = RATE_BPS / 1000;
const BYTES_PER_NS: f64 = RATE_BPS as f64 / 8e9;
const INTERVAL_NS: u64 = 300_000;
const ALPHA: f64 = 0.1;
const BETA: f64 = 1.0;
const FLOOR_KBPS: u64 = CAPACITY_KBPS / 10;
const CELL_BYTES: u64 = 80;
const ESTIMATES: &str = "egress.allocator.estimate.estimates";

fn fixed(value: f64, bits: i32) -> u128 {
    (value * 2f64.powi(bits)).round() as u128
}

/// A switch that allocates on [`OUT`] what its estimate says.
fn bench() -> Bench {
    let mut bench = Bench::new("d3", QdepthUnit::Cells80);
    let args = [CAPACITY_KBPS.into(), BASE.into(), EPOCH_SHIFT.into()];
    bench.add("egress.allocator.ports", &[OUT.into()], "egress.allocator.set_port", &args);
    let kbps_per_byte = 8e6 / INTERVAL_NS as f64;
    let args = [
        FLOOR_KBPS.into(),
        INTERVAL_NS.into(),
        fixed(BYTES_PER_NS, 20),
        fixed(ALPHA * kbps_per_byte, 16),
        fixed(BETA * kbps_per_byte, 16),
        CELL_BYTES.into(),
        0,
    ];
    let (table, action) = ("egress.allocator.estimate.measured", "egress.allocator.estimate.set_estimate");
    bench.add(table, &[OUT.into()], action, &args);
    reciprocals(&mut bench, 20);
    bench
}

fn load(name: &str) -> String {
    format!("egress.allocator.estimate.load_meter.{name}")
}

/// `C_e + alpha (C - y/T) - beta q/T`, an interval as long as it really was.
fn formula(old: f64, elapsed_ns: u64, sent: u64, before_cells: u64, cells: u64) -> f64 {
    let queue = (cells * CELL_BYTES) as f64;
    let arrived = (sent as f64 + queue - (before_cells * CELL_BYTES) as f64).max(0.0);
    let spare = elapsed_ns.min(16 * INTERVAL_NS) as f64 * BYTES_PER_NS - arrived;
    let kbps_per_byte = 8e6 / INTERVAL_NS as f64;
    let next = old + (ALPHA * spare - BETA * queue) * kbps_per_byte;
    next.clamp(FLOOR_KBPS as f64, CAPACITY_KBPS as f64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_correction_is_the_formulas(
        old in FLOOR_KBPS..=CAPACITY_KBPS,
        elapsed in prop_oneof![INTERVAL_NS..2 * INTERVAL_NS, INTERVAL_NS..1 << 40],
        start in 0..(1_u64 << 48),
        sent in prop_oneof![0..1_000_000_u64, Just(u64::from(u32::MAX))],
        before_cells in prop_oneof![Just(0_u64), 0..2_000_u64, Just((1 << 19) - 1)],
        waiting in 0..100_usize,
    ) {
        let mut bench = bench();
        let frame = Frame { payload: 1_432, ..Frame::default() };
        let cells = u64::from(ip_bytes(&frame.packet())).div_ceil(CELL_BYTES) * waiting as u64;
        for _ in 0..=waiting {
            bench.receive(0, frame.packet());
        }
        bench.set_register(ESTIMATES, OUT, old);
        for (name, value) in [("interval_starts", start), ("sent_bytes", sent), ("start_depths", before_cells)] {
            bench.set_register(&load(name), OUT, value);
        }
        let now = start + elapsed;
        let (packet, _) = bench.transmit(now).expect("all wait");
        let expected = formula(old as f64, elapsed, sent, before_cells, cells);
        let new = bench.register(ESTIMATES, OUT);
        // The gains are rounded to 2^-17, times at most 2^32 bytes.
        let error = expected * 1e-3 + 2.0 + (sent + cells * CELL_BYTES) as f64 * 2f64.powi(-16);
        prop_assert!((new as f64 - expected).abs() <= error, "{old} became {new}, the formula gives {expected}");
        prop_assert!((FLOOR_KBPS..=CAPACITY_KBPS).contains(&new));
        prop_assert_eq!(bench.register(&load("sent_bytes"), OUT), u64::from(ip_bytes(&packet)));
    }
}

#[test]
fn it_starts_at_the_capacity_and_an_idle_port_comes_back_to_it() {
    let mut bench = bench();
    let frame = Frame::default();
    bench.forward(5, frame.packet());
    assert_eq!(bench.register(ESTIMATES, OUT), CAPACITY_KBPS);
    bench.set_register(ESTIMATES, OUT, FLOOR_KBPS);
    bench.forward(100 * INTERVAL_NS, frame.packet());
    assert_eq!(bench.register(ESTIMATES, OUT), CAPACITY_KBPS, "sixteen intervals count, alpha is a tenth");
    // Within an interval nothing changes.
    bench.set_register(ESTIMATES, OUT, FLOOR_KBPS);
    bench.forward(101 * INTERVAL_NS - 1, frame.packet());
    assert_eq!(bench.register(ESTIMATES, OUT), FLOOR_KBPS);
}

#[test]
fn a_queue_lowers_what_is_granted() {
    let mut bench = bench();
    let wants = Request { desired: u32::MAX, ..Request::default() };
    assert_eq!(u64::from(ask(&mut bench, 0, wants).granted), CAPACITY_KBPS);
    let mut bench = self::bench();
    bench.set_register(ESTIMATES, OUT, 4_000_000);
    bench.set_register(&load("interval_starts"), OUT, 1);
    assert_eq!(ask(&mut bench, 2, wants).granted, 4_000_000, "what is left is C_e's");
    // What was desired is counted up to C, which does not move with C_e.
    assert_eq!(counters(&bench).1, CAPACITY_KBPS);
    // A capacity that the controller lowered holds at once.
    bench.set_register(ESTIMATES, OUT, 2 * CAPACITY_KBPS);
    bench.forward(3, Frame::default().packet());
    assert!(u64::from(ask(&mut bench, 4, Request::default()).granted) <= CAPACITY_KBPS);
}

#[test]
fn a_port_without_an_estimate_is_not_measured() {
    let mut bench = super::d3::bench(1_000, 1, EPOCH_SHIFT);
    bench.forward(1, Frame::default().packet());
    ask(&mut bench, 2, Request::default());
    assert_eq!((bench.register(ESTIMATES, OUT), bench.register(&load("sent_bytes"), OUT)), (0, 0));
}

#[test]
fn a_request_has_room_for_as_many_hops_as_its_sender_made() {
    let mut bench = super::d3::bench(1_000_000, BASE, EPOCH_SHIFT);
    for records in 1..=6_usize {
        for hop in 0..6_usize {
            let wants = Request { desired: 10, ..Request::default() };
            let granted = ask_with(&mut bench, 1, records, hop, wants);
            assert_eq!(granted.is_some(), hop < records, "hop {hop} of {records} records");
        }
    }
}
