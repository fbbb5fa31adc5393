//! Window traces of short scripted flows, one line per change; a change in any rule shows as a diff.

use p4cc_cc::Mark;
use p4cc_units::Time;

use crate::pair::{FINE, Fate, HALF, Pair, config};

const MSS: u64 = 1_436;

fn marked(mark: Mark) -> Fate {
    Fate::Arrive(HALF, mark)
}

fn trace(json: &str, segments: u64, fate: impl FnMut(u64, bool, u64) -> Fate) -> String {
    let mut pair = Pair::new(&config(json), segments * MSS, fate);
    assert!(pair.run(10_000, |_| {}));
    assert_eq!((pair.delivered_bytes, pair.completions), (segments * MSS, 1));
    pair.trace
}

/// docs/algorithms/window.md#reno-rules: doubling per round up to the threshold, then one segment a round.
#[test]
fn slow_start() {
    insta::assert_snapshot!(trace(r#"{"ssthresh0":8}"#, 40, |_, _, _| FINE));
}

/// docs/algorithms/window.md#reno-rules and RFC6582: two holes in
/// one window, repaired by a fast retransmit and a partial ACK.
#[test]
fn newreno_recovery() {
    insta::assert_snapshot!(trace(r#"{"ssthresh0":8}"#, 40, |segment, again, _| {
        if !again && (segment == 15 || segment == 18) { Fate::Drop } else { FINE }
    }));
}

/// docs/algorithms/window.md#reno-rules, "Reno mode": the first new ACK ends recovery.
#[test]
fn reno_recovery() {
    insta::assert_snapshot!(trace(r#"{"ssthresh0":8,"recovery":"reno"}"#, 30, |segment, again, _| {
        if !again && segment == 15 { Fate::Drop } else { FINE }
    }));
}

/// docs/algorithms/window.md#reno-rules, "Timeout": a whole window is lost, and the first repetition too.
#[test]
fn timeout() {
    let mut lost = 0;
    insta::assert_snapshot!(trace(r#"{"rto_init_ns":200000000}"#, 20, move |segment, again, _| {
        let drop = if again { segment == 7 && lost < 1 } else { (7..15).contains(&segment) };
        lost += u32::from(again && drop);
        if drop { Fate::Drop } else { FINE }
    }));
}

/// docs/algorithms/slow-start.md#gst-sender: K marks slow
/// the doubling; the first K_dc mark hands over to DCTCP.
#[test]
fn gst_over_dctcp() {
    let json =
        r#"{"cc":{"congestion_avoidance":{"name":"dctcp","cwnd_min":1},"slow_start":{"name":"gst","k":25}}}"#;
    insta::assert_snapshot!(trace(json, 80, |segment, _, _| match segment {
        // Half of one round, then most of the next, then the strong mark.
        11..15 => marked(Mark::K),
        20..25 => marked(Mark::K),
        45 => marked(Mark::Kdc),
        _ => FINE,
    }));
}

/// docs/algorithms/window.md#dctcp-sender: without GST the
/// same marks of the lower level are nothing to DCTCP.
#[test]
fn dctcp_ignores_the_lower_level() {
    let json = |slow_start: &str| {
        format!(r#"{{"cc":{{"congestion_avoidance":{{"name":"dctcp"}},"slow_start":{slow_start}}}}}"#)
    };
    let plain = json(r#"{"name":"standard"}"#);
    let with_k = trace(&plain, 60, |segment, _, _| if segment > 10 { marked(Mark::K) } else { FINE });
    assert_eq!(with_k, trace(&plain, 60, |_, _, _| FINE));
    let gst = json(r#"{"name":"gst","k":8}"#);
    assert_ne!(with_k, trace(&gst, 60, |segment, _, _| if segment > 10 { marked(Mark::K) } else { FINE }));
}

/// Without a profile DCTCP is not capable of ECN and behaves as
/// Reno (docs/algorithms/window.md#dctcp-sender, "No ECN agreed").
#[test]
fn dctcp_without_ecn_is_reno() {
    let lossy = |segment: u64, again: bool, _| {
        if segment == 15 && !again { Fate::Drop } else { marked(Mark::Kdc) }
    };
    let dctcp = r#"{"ecn_profile":null,"cc":{"congestion_avoidance":{"name":"dctcp"}}}"#;
    let without_alpha = |trace: String| -> Vec<String> {
        let kept = |line: &str| {
            let parts: Vec<_> =
                line.split('|').map(str::trim).filter(|part| !part.starts_with("alpha")).collect();
            parts.join(" | ")
        };
        trace.lines().map(kept).collect()
    };
    assert_eq!(without_alpha(trace(dctcp, 60, lossy)), without_alpha(trace("{}", 60, lossy)));
}

/// The three-valued echo decides, not the bits that carry it
/// (docs/algorithms/marking.md#dual-thresholds: "all tests must pass in both").
#[test]
fn gst_and_sce_profiles_give_one_trace() {
    let json = |profile: &str| {
        format!(
            r#"{{"ecn_profile":"{profile}","cc":{{"congestion_avoidance":{{"name":"dctcp"}},
               "slow_start":{{"name":"gst","k":8}}}}}}"#
        )
    };
    let fate = |segment: u64, _: bool, _: u64| match segment % 37 {
        5..9 => marked(Mark::K),
        35 => marked(Mark::Kdc),
        _ => FINE,
    };
    assert_eq!(trace(&json("gst"), 200, fate), trace(&json("sce"), 200, fate));
}

/// RFC6675: three holes in one window are repaired in one round
/// trip, lowest first, and the window stays as it was set.
#[test]
fn sack_recovery() {
    insta::assert_snapshot!(trace(r#"{"recovery":"sack","ssthresh0":8}"#, 60, |segment, again, _| {
        if !again && [15, 18, 20].contains(&segment) { Fate::Drop } else { FINE }
    }));
}

/// RFC6675 5.1 and RFC2018 8: after a timeout what was reported
/// stays, and the rest goes out by the slow start's window.
#[test]
fn sack_timeout() {
    insta::assert_snapshot!(trace(
        r#"{"recovery":"sack","iw":8,"rto_init_ns":200000000}"#,
        16,
        |segment, again, _| if !again && [0, 2, 3, 5, 6, 7].contains(&segment) { Fate::Drop } else { FINE }
    ));
}

/// RFC3042: the first two duplicates let segments 6 and 7 leave, whose ACKs make the third.
#[test]
fn limited_transmit() {
    insta::assert_snapshot!(trace(
        r#"{"limited_transmit":true,"iw":3,"ssthresh0":3}"#,
        12,
        |segment, again, _| if segment == 3 && !again { Fate::Drop } else { FINE }
    ));
}

/// docs/algorithms/window.md#d2tcp: marks in every window; the depth
/// of a cut follows alpha and the time needed over the time left.
#[test]
fn d2tcp_near_its_deadline() {
    let json = r#"{"iw":16,"ssthresh0":16,"cc":{"congestion_avoidance":{"name":"d2tcp","alpha0":0.5}}}"#;
    let mut pair =
        Pair::new(
            &config(json),
            100 * MSS,
            |segment, _, _| {
                if segment % 8 == 0 { marked(Mark::Kdc) } else { FINE }
            },
        );
    pair.sender.set_deadline(Time::from_us(900));
    assert!(pair.run(10_000, |_| {}));
    insta::assert_snapshot!(pair.trace);
}

/// docs/algorithms/window.md#l2tcp: the same marks, and a weight
/// that falls from 2.5 at segment 20 to 0.125 at segment 60.
#[test]
fn l2tcp_while_its_weight_falls() {
    let json = r#"{"iw":16,"ssthresh0":16,
        "cc":{"congestion_avoidance":{"name":"l2tcp","alpha0":0.5,"s1":20,"s2":60}}}"#;
    let cuts = trace(json, 140, |segment, _, _| if segment % 16 == 0 { marked(Mark::Kdc) } else { FINE });
    let cuts: Vec<_> = cuts.lines().filter(|line| line.contains("cut")).collect();
    insta::assert_snapshot!(cuts.join("\n"));
}

/// docs/algorithms/slow-start.md#slow-start-family: the four slow starts on
/// one path, from 2 segments to a threshold of 24; one line per round trip.
#[test]
fn slow_starts_side_by_side() {
    let rounds = |slow_start: &str| {
        let json = format!(r#"{{"iw":2,"ssthresh0":24,"rwnd":64,"cc":{{"slow_start":{slow_start}}}}}"#);
        let trace = trace(&json, 200, |_, _, _| FINE);
        let (mut windows, mut last) = (Vec::new(), String::new());
        for line in trace.lines() {
            let at = line.split("us").next().unwrap_or_default().trim().to_owned();
            let window = line.split("cwnd").nth(1).and_then(|rest| rest.split_whitespace().next());
            let phase = line.split("ssthresh").nth(1).and_then(|rest| rest.split_whitespace().nth(1));
            let entry = format!("{} {}", window.unwrap_or_default(), phase.unwrap_or_default());
            if at == last {
                windows.pop();
            }
            windows.push(entry);
            last = at;
        }
        windows.truncate(12);
        format!("{slow_start}\n  {}", windows.join("\n  "))
    };
    let all = [
        r#"{"name":"standard"}"#,
        r#"{"name":"limited","max_ssthresh":12}"#,
        r#"{"name":"smooth"}"#,
        r#"{"name":"p_start"}"#,
        r#"{"name":"rfb_ss","rtt_max_ns":200000}"#,
    ]
    .map(rounds);
    insta::assert_snapshot!(all.join("\n"));
}

/// docs/algorithms/substrate.md#packets: with delayed ACKs the
/// first segment waits 40 ms, then two are acknowledged together.
#[test]
fn delayed_acks() {
    insta::assert_snapshot!(trace(r#"{"ssthresh0":4,"ack_every":2}"#, 20, |_, _, _| FINE));
}
