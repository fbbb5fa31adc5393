//! `dualpi2.p4`: each step against the formula (docs/algorithms/prague.md#dualpi2), the shares of marks and
//! drops, the order of the queues, and a Classic queue that gets no turn.

use p4cc_switch::{Packet, QdepthUnit};

use super::bench::{Bench, OUT};
use super::frame::{Frame, ecn};

const NOT_CAPABLE: u8 = 0;
const L4S: u8 = 1;
const CLASSIC: u8 = 2;
const CE: u8 = 3;

const MS: u64 = 1_000_000;
const TARGET_NS: u64 = 15 * MS;
const INTERVAL_NS: u64 = 16 * MS;
const STEP_NS: u64 = MS;
const ALPHA_HZ: f64 = 0.16;
const BETA_HZ: f64 = 3.2;
const SIGNALS: &str = "egress.dualpi2.signals";

/// A gain for a nanosecond in units of 2^-48, as controller/dualpi2.py computes it.
fn gain(hz: f64) -> u128 {
    (hz * 1e-9 * 2f64.powi(48)).round() as u128
}

fn bench() -> Bench {
    let mut bench = Bench::new("dualpi2", QdepthUnit::Packets);
    let decay = gain(ALPHA_HZ) * u128::from(TARGET_NS) / u128::from(INTERVAL_NS);
    let args =
        [TARGET_NS.into(), INTERVAL_NS.into(), gain(ALPHA_HZ), gain(BETA_HZ), decay, STEP_NS.into(), 1];
    bench.add("egress.dualpi2.ports", &[OUT.into()], "egress.dualpi2.set_port", &args);
    bench
}

fn packet(ecn: u8) -> Packet {
    Frame { ecn, payload: 10, ..Frame::default() }.packet()
}

/// A packet that comes at `at_ns` and leaves after so long.
fn pass(bench: &mut Bench, ecn: u8, at_ns: u64, waits_ns: u64) -> Option<Packet> {
    bench.receive(at_ns, packet(ecn));
    bench.transmit(at_ns + waits_ns).map(|(packet, _)| packet)
}

/// The base probability.
fn base(bench: &Bench) -> f64 {
    bench.register("egress.dualpi2.base_probabilities", OUT) as f64 / 2f64.powi(32)
}

/// `alpha (delay - target) + beta (delay - before)`, times in milliseconds.
fn moved(delay_ms: f64, before_ms: f64) -> f64 {
    (ALPHA_HZ * (delay_ms - 15.0) + BETA_HZ * (delay_ms - before_ms)) / 1e3
}

#[test]
fn a_step_in_each_interval_by_the_formula() {
    let mut bench = bench();
    let mut want: f64 = 0.0;
    let mut before_ms = 0.0;
    for (interval, delay_ms) in (1_u64..).zip([20.0, 25.0, 18.0, 15.0, 15.0, 30.0, 1.0, 1.0]) {
        // In the middle of the interval, and at its end.
        let waits = (delay_ms * 1e6) as u64;
        for at in [interval * INTERVAL_NS + 50 * MS - INTERVAL_NS / 2, interval * INTERVAL_NS + 50 * MS] {
            pass(&mut bench, CLASSIC, at - waits, waits);
        }
        want = if interval == 1 { moved(delay_ms, 0.0) } else { want + moved(delay_ms, before_ms) };
        want = want.clamp(0.0, 0.5);
        before_ms = delay_ms;
        if interval == 1 {
            // The first packet of all ends the time since 0: the intervals before it were idle ones.
            want = base(&bench);
        }
        assert!((base(&bench) - want).abs() < 1e-6, "interval {interval}: {}, not {want}", base(&bench));
    }
}

/// The share of packets on which a signal comes is `2 p'` for L4S and `p'^2` for Classic ones.
#[test]
fn marks_and_drops_by_the_coupling() {
    const TRIALS: u32 = 20_000;
    let mut bench = bench();
    for probability in [0.02, 0.1, 0.3] {
        bench.set_register("egress.dualpi2.base_probabilities", OUT, (probability * 2f64.powi(32)) as u64);
        for (codepoint, want) in [
            (L4S, 2.0 * probability),
            (CLASSIC, probability * probability),
            (NOT_CAPABLE, probability * probability),
        ] {
            // At time 0 no interval ends.
            let signalled = (0..TRIALS).filter(|_| match pass(&mut bench, codepoint, 0, 0) {
                None => true,
                Some(left) => ecn(&left) == CE,
            });
            let share = signalled.count() as f64 / f64::from(TRIALS);
            let error = 4.5 * (want * (1.0 - want) / f64::from(TRIALS)).sqrt();
            assert!((share - want).abs() < error, "{codepoint} at {probability}: {share}, not {want}");
        }
    }
    let counted: Vec<_> = (0..4).map(|signal| bench.counter(SIGNALS, OUT * 4 + signal)).collect();
    assert!(counted[0] > 0 && counted[1] > 0 && counted[2] > 0 && counted[3] == 0, "{counted:?}");
}

#[test]
fn the_step_marks_l4s_alone() {
    let mut bench = bench();
    for (codepoint, waits_ns, left) in
        [(L4S, STEP_NS, L4S), (L4S, STEP_NS + 1, CE), (CE, 2 * STEP_NS, CE), (CLASSIC, 2 * STEP_NS, CLASSIC)]
    {
        let packet = pass(&mut bench, codepoint, 0, waits_ns).expect("it leaves");
        assert_eq!(ecn(&packet), left, "{codepoint} after {waits_ns} ns");
    }
    assert_eq!(bench.counter(SIGNALS, OUT * 4 + 3), 1, "a packet that came with CE is not counted");
}

#[test]
fn l4s_is_served_first() {
    let mut bench = bench();
    for codepoint in [CLASSIC, NOT_CAPABLE, L4S, CE] {
        bench.receive(0, packet(codepoint));
    }
    let left: Vec<_> = (0..4).map(|_| ecn(&bench.transmit(0).expect("four wait").0)).collect();
    assert_eq!(left, [L4S, CE, CLASSIC, NOT_CAPABLE]);
}

/// Classic packets that get no turn raise the probability, so that L4S gives way; an empty queue lowers it.
#[test]
fn a_classic_queue_without_a_turn_counts_and_an_empty_one_does_not() {
    let mut bench = bench();
    pass(&mut bench, CLASSIC, MS, 0);
    let start = 100 * INTERVAL_NS;
    pass(&mut bench, CLASSIC, start, 0);
    bench.receive(start + 2, packet(CLASSIC));
    let mut last = base(&bench);
    for interval in 1..=5 {
        let at = start + interval * INTERVAL_NS + 10;
        pass(&mut bench, L4S, at, 0);
        assert!(base(&bench) > last, "interval {interval}");
        last = base(&bench);
    }
    let at = start + 6 * INTERVAL_NS;
    assert!(bench.transmit(at).is_some());
    last = base(&bench);
    for interval in 1..=5 {
        pass(&mut bench, L4S, at + (interval + 1) * INTERVAL_NS, 0);
        assert!(base(&bench) < last || last == 0.0, "interval {interval}");
        last = base(&bench);
    }
}

#[test]
fn a_port_without_an_entry_neither_marks_nor_drops() {
    let mut bench = Bench::new("dualpi2", QdepthUnit::Packets);
    for (at, codepoint) in (0..).zip([NOT_CAPABLE, L4S, CLASSIC, CE]) {
        let packet = pass(&mut bench, codepoint, at * 100 * MS, 50 * MS).expect("it leaves");
        assert_eq!(ecn(&packet), codepoint);
    }
}
