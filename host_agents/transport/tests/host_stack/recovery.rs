//! The switches of the transport, one by one: SACK, limited
//! transmit, delayed ACKs, classic ECN, deadlines, backoff.

use p4cc_cc::Mark;
use p4cc_transport::{Action, Actions, Codepoint, Segment, WindowSender};
use p4cc_units::{Span, Time};
use proptest::prelude::*;

use crate::pair::{FINE, Fate, HALF, Pair, config};

const MSS: u64 = 1_436;

fn run<F: FnMut(u64, bool, u64) -> Fate>(json: &str, segments: u64, fate: F) -> Pair<F> {
    let mut pair = Pair::new(&config(json), segments * MSS, fate);
    assert!(pair.run(100_000, |_| {}));
    assert_eq!((pair.delivered_bytes, pair.completions), (segments * MSS, 1));
    pair
}

/// RFC6675 against RFC6582: NewReno repairs one hole a round trip, SACK all of them in one.
#[test]
fn sack_repairs_many_holes_in_one_round_trip() {
    let holes = |segment: u64, again: bool, _: u64| {
        if !again && [30, 32, 34, 36, 38, 40].contains(&segment) { Fate::Drop } else { FINE }
    };
    let time_us = |recovery: &str| {
        let pair = run(&format!(r#"{{"recovery":"{recovery}","ssthresh0":16}}"#), 120, holes);
        let state = pair.sender.snapshot();
        assert_eq!((state.timeouts, state.fast_retransmits), (0, 1), "{recovery}\n{}", pair.trace);
        assert_eq!(state.retransmitted_segments, 6, "{recovery}\n{}", pair.trace);
        pair.completed.as_us()
    };
    let (newreno, sack) = (time_us("newreno"), time_us("sack"));
    assert!(sack + 400 <= newreno, "SACK {sack} us, NewReno {newreno} us");
}

/// After a timeout NewReno sends everything outstanding again, SACK only what the receiver does not have.
#[test]
fn sack_keeps_what_arrived_across_a_timeout() {
    let resent =
        |recovery: &str| {
            // Segments 1 and 4 arrive: two duplicates are too few, so the timer must expire.
            let json = format!(r#"{{"recovery":"{recovery}","iw":8,"rto_init_ns":200000000}}"#);
            let pair = run(&json, 8, |segment, again, _| {
                if !again && [0, 2, 3, 5, 6, 7].contains(&segment) { Fate::Drop } else { FINE }
            });
            let state = pair.sender.snapshot();
            assert_eq!((state.timeouts, state.fast_retransmits), (1, 0), "{}", pair.trace);
            state.retransmitted_segments
        };
    assert_eq!((resent("sack"), resent("newreno")), (6, 7));
}

/// RFC3042: a window of three segments has too few duplicates
/// for a fast retransmit, unless they let new ones leave.
#[test]
fn limited_transmit_saves_small_windows_from_the_timer() {
    for (recovery, ack_every) in [("reno", 1), ("newreno", 1), ("sack", 1)] {
        for (limited, timeouts, fast) in [(false, 1, 0), (true, 0, 1)] {
            let json = format!(
                r#"{{"recovery":"{recovery}","iw":3,"ssthresh0":3,"limited_transmit":{limited},"ack_every":{ack_every}}}"#
            );
            let pair =
                run(&json, 12, |segment, again, _| if segment == 3 && !again { Fate::Drop } else { FINE });
            let state = pair.sender.snapshot();
            assert_eq!((state.timeouts, state.fast_retransmits), (timeouts, fast), "{json}\n{}", pair.trace);
        }
    }
}

/// docs/algorithms/substrate.md#packets: with m = 2 half as many ACKs, and a lone packet waits for the timer.
#[test]
fn delayed_acks_halve_the_acks() {
    let acks = |ack_every: u32| {
        let json = format!(r#"{{"iw":2,"ssthresh0":2,"ack_every":{ack_every}}}"#);
        let mut pair = Pair::new(&config(&json), 200 * MSS, |_, _, _| FINE);
        assert!(pair.run(10_000, |_| {}));
        (pair.acks_sent, pair.completed.as_us())
    };
    let ((each, _), (delayed, _)) = (acks(1), acks(2));
    assert_eq!(each, 200);
    assert!((100..=125).contains(&delayed), "{delayed} ACKs");
    let lone = run(r#"{"ack_every":2}"#, 3, |_, _, _| FINE);
    // The first segment is alone in its window: 40 ms, then two together; each round trip takes 100 us.
    assert_eq!(lone.completed.as_us(), 40_200);
}

/// RFC3168 6.1.3: marks are repeated until CWR, so a lost ACK loses none, and one mark makes one cut.
#[test]
fn classic_ecn_survives_lost_acks() {
    let json =
        r#"{"iw":8,"ssthresh0":8,"ecn_profile":"rfc3168","cc":{"congestion_avoidance":{"name":"reno_ecn"}}}"#;
    let mark = |segment: u64, again: bool, _: u64| {
        Fate::Arrive(HALF, if segment == 9 && !again { Mark::Kdc } else { Mark::None })
    };
    // The ACK of the marked packet and the next are lost.
    let mut pair = Pair::new(&config(json), 60 * MSS, mark)
        .with_ack_fate(|ack| if ack == 9 || ack == 10 { Fate::Drop } else { FINE });
    assert!(pair.run(10_000, |_| {}));
    assert_eq!(pair.trace.matches("by Mark").count(), 1, "{}", pair.trace);
    assert_eq!(pair.sender.snapshot().timeouts, 0);
}

fn sent(out: &Actions) -> Vec<Segment> {
    let segment = |action: &Action| if let Action::Send(segment) = action { Some(*segment) } else { None };
    out.actions().iter().filter_map(segment).collect()
}

/// docs/algorithms/window.md#reno-ecn: "retransmissions
/// and pure ACKs 00"; DCTCP's retransmissions are capable.
#[test]
fn classic_ecn_sends_repetitions_that_are_not_capable() {
    for (name, capable, asks) in [("reno_ecn", false, true), ("dctcp", true, false)] {
        let json =
            format!(r#"{{"ecn_profile":"rfc3168","cc":{{"congestion_avoidance":{{"name":"{name}"}}}}}}"#);
        let mut sender = WindowSender::new(&config(&json), None).expect("a valid configuration");
        let mut out = Actions::new();
        sender.start(Time::ZERO, &mut out);
        let first = sent(&out)[0];
        assert_eq!((first.ecn.bits(), first.echo_until_cwr), (0b10, asks));
        out.clear();
        sender.on_timer(Time::from_us(2_000_000), &mut out);
        let again = sent(&out)[0];
        assert!(again.retransmit && (again.ecn != Codepoint::NOT_ECT) == capable, "{name}");
    }
}

/// docs/algorithms/window.md#d2tcp: with equal marks the flow with the near deadline is done first.
#[test]
fn a_near_deadline_gets_d2tcp_there_earlier() {
    let json = r#"{"iw":8,"ssthresh0":8,"cc":{"congestion_avoidance":{"name":"d2tcp","alpha0":0.3}}}"#;
    let finish = |deadline: Option<Time>| {
        let mut pair = Pair::new(&config(json), 400 * MSS, |segment, _, _| {
            Fate::Arrive(HALF, if segment % 8 == 0 { Mark::Kdc } else { Mark::None })
        });
        if let Some(deadline) = deadline {
            pair.sender.set_deadline(deadline);
        }
        assert!(pair.run(100_000, |_| {}));
        pair.completed.as_us()
    };
    let (near, none, far) =
        (finish(Some(Time::from_us(2_000))), finish(None), finish(Some(Time::from_us(900_000))));
    assert!(near < none && none < far, "near {near} us, none {none} us, far {far} us");
}

proptest! {
    /// RFC6298 5.5: each timeout doubles the next, up to the bound, and the first ACK of new data ends it.
    #[test]
    fn the_timeout_backs_off(losses in 1_u32..12, recovery in prop::sample::select(vec!["reno", "newreno", "sack"])) {
        let json = format!(
            r#"{{"recovery":"{recovery}","rto_min_ns":1000000,"rto_init_ns":1000000,"rto_max_ns":100000000}}"#
        );
        let mut lost = 0;
        let pair = run(&json, 4, move |_, _, _| {
            lost += 1;
            if lost <= losses { Fate::Drop } else { FINE }
        });
        let expired_ms: u64 = (0..losses).map(|n| (1_u64 << n.min(20)).min(100)).sum();
        prop_assert_eq!(pair.sender.snapshot().timeouts, u64::from(losses));
        // Segment 0 alone, then 1 and 2, then 3: three round trips after the last timeout.
        prop_assert_eq!(pair.completed.as_us(), expired_ms * 1_000 + 300);
        prop_assert_eq!(pair.sender.snapshot().rto, Span::from_ms(1));
    }

    /// SACK with any single burst of losses in a large window: every missing
    /// segment is sent again once, in one recovery and without the timer.
    #[test]
    fn sack_repairs_any_burst_once(holes in prop::collection::btree_set(40_u64..60, 1..10)) {
        let lost = holes.clone();
        let pair = run(r#"{"recovery":"sack","ssthresh0":32,"rwnd":64}"#, 200, move |segment, again, _| {
            if !again && lost.contains(&segment) { Fate::Drop } else { FINE }
        });
        let state = pair.sender.snapshot();
        prop_assert_eq!((state.timeouts, state.fast_retransmits), (0, 1));
        prop_assert_eq!(state.retransmitted_segments, holes.len() as u64);
    }
}
