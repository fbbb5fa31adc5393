//! `ecn_red.p4`: the share of marked packets against the
//! curve (docs/algorithms/marking.md#red), depth by depth.

use p4cc_switch::{Packet, QdepthUnit};

use super::bench::{Bench, OUT};
use super::frame::{Frame, ecn};

const NOT_CAPABLE: u8 = 0;
const CE: u8 = 3;

/// P_max / (K_max - K_min) in units of 2^-32, as controller/red.py computes it.
fn slope(k_min: u64, k_max: u64, p_max: f64) -> u128 {
    ((p_max * 4_294_967_296.0 / (k_max - k_min) as f64) as u128).min(u32::MAX.into())
}

fn bench(k_min: u64, k_max: u64, p_max: f64) -> Bench {
    let mut bench = Bench::new("ecn_red", QdepthUnit::Packets);
    let args = [k_min.into(), k_max.into(), slope(k_min, k_max, p_max)];
    bench.add("egress.red.curves", &[OUT.into()], "egress.red.set_curve", &args);
    bench
}

/// How many of `trials` packets with codepoint `codepoint` that leave `depth` others behind them are marked.
fn marked(bench: &mut Bench, depth: u64, codepoint: u8, trials: u64) -> u64 {
    let packet: Packet = Frame { ecn: codepoint, payload: 10, ..Frame::default() }.packet();
    while bench.transmit(0).is_some() {}
    for _ in 0..depth {
        bench.receive(0, packet.clone());
    }
    let mut marked = 0;
    for _ in 0..trials {
        bench.receive(0, packet.clone());
        let (left, _) = bench.transmit(0).expect("one came in");
        marked += u64::from(ecn(&left) == CE && codepoint != CE);
        assert!(ecn(&left) == codepoint || (codepoint != NOT_CAPABLE && ecn(&left) == CE));
    }
    marked
}

/// Probability that the curve gives.
fn curve(depth: u64, k_min: u64, k_max: u64, p_max: f64) -> f64 {
    match depth {
        _ if depth <= k_min => 0.0,
        _ if depth > k_max => 1.0,
        _ => p_max * (depth - k_min) as f64 / (k_max - k_min) as f64,
    }
}

#[test]
fn the_marked_share_follows_the_curve_within_the_binomial_error() {
    const TRIALS: u64 = 20_000;
    for (k_min, k_max, p_max) in [(20, 120, 0.2), (5, 200, 0.01), (10, 60, 1.0)] {
        let mut bench = bench(k_min, k_max, p_max);
        let middle = u64::midpoint(k_min, k_max);
        let quarter = u64::midpoint(k_min, middle);
        for depth in [0, k_min, k_min + 1, quarter, middle, k_max - 1, k_max, k_max + 1, k_max + 50] {
            let p = curve(depth, k_min, k_max, p_max);
            let share = marked(&mut bench, depth, 2, TRIALS) as f64 / TRIALS as f64;
            // Four and a half standard deviations, and the 2^-15 that rounding may take.
            let error = 4.5 * (p * (1.0 - p) / TRIALS as f64).sqrt() + 1.0 / 32_768.0;
            assert!((share - p).abs() <= error, "depth {depth}: marked {share}, curve {p} +- {error}");
            assert!(p > 0.0 || share == 0.0, "nothing is marked up to K_min");
            assert!(depth <= k_max || share > 0.99999, "everything is marked above K_max");
        }
    }
}

#[test]
fn only_capable_packets_are_marked_and_each_mark_is_counted_once() {
    let mut bench = bench(0, 1, 1.0);
    assert_eq!(marked(&mut bench, 5, NOT_CAPABLE, 100), 0);
    assert_eq!(bench.counter("egress.red.marked_packets", OUT), 0);
    assert_eq!(marked(&mut bench, 5, 1, 100), 100);
    assert_eq!(marked(&mut bench, 5, CE, 100), 0, "what came marked stays marked");
    let counted = bench.counter("egress.red.marked_packets", OUT);
    // The first call drained five packets that were not capable, the second leaves five capable ones.
    assert!((100..=110).contains(&counted), "{counted}");
}

#[test]
fn a_port_without_a_curve_never_marks() {
    let mut bench = Bench::new("ecn_red", QdepthUnit::Packets);
    assert_eq!(marked(&mut bench, 200, 2, 100), 0);
}

#[test]
fn depths_in_cells_have_a_curve_of_their_own_scale() {
    // HPCC's set-up at 100 Gb/s: 400 KB and 1600 KB are 5000
    // and 20000 cells; the slope is far below 2^-16 a cell.
    let (k_min, k_max, p_max) = (5_000, 20_000, 0.2);
    let mut bench = Bench::new("ecn_red", QdepthUnit::Cells80);
    let args = [k_min.into(), k_max.into(), slope(k_min, k_max, p_max)];
    bench.add("egress.red.curves", &[OUT.into()], "egress.red.set_curve", &args);
    let packet = Frame { payload: 1_436, ..Frame::default() }.packet();
    const CELLS: u64 = 19;
    let waiting = 12_502 / CELLS;
    for _ in 0..waiting {
        bench.receive(0, packet.clone());
    }
    let trials = 20_000;
    let marked = (0..trials).filter(|_| {
        bench.receive(0, packet.clone());
        bench.transmit(0).is_some_and(|(left, _)| ecn(&left) == CE)
    });
    let share = marked.count() as f64 / f64::from(trials);
    let p = curve(waiting * CELLS, k_min, k_max, p_max);
    let error = 4.5 * (p * (1.0 - p) / f64::from(trials)).sqrt() + 1.0 / 32_768.0;
    assert!((share - p).abs() <= error, "marked {share}, curve {p} +- {error}");
}
