//! Receivers that answer several packets at once never let a flow wait for an answer that does not come
//! (docs/algorithms/substrate.md#rare-acks, docs/algorithms/window.md#delayed-acks).

use p4cc_cc::{Kind, SwitchNeed, registry};
use p4cc_transport::SenderConfig;
use p4cc_transport::rdma::{RdmaConfig, RdmaData, RdmaReceiver};
use p4cc_transport::wire::{Extension, ExtensionType};
use p4cc_units::{Span, Time};
use proptest::prelude::*;

use crate::pair::{FINE, Pair, config as window_config};
use crate::rdma::{CLEAN, Fates, LINE, config, run};

/// From 1 to 1024, small ones as often as large ones.
fn ack_every() -> impl Strategy<Value = u32> {
    prop_oneof![1_u32..8, 8_u32..65, 65_u32..=1_024]
}

/// Each rate control of the registry, with and without the window that some have as an option.
fn paced() -> impl Strategy<Value = (String, SwitchNeed)> {
    let rows: Vec<(String, SwitchNeed)> = registry()
        .iter()
        .filter(|row| row.kind == Kind::RateControl)
        .flat_map(|row| {
            let windowed = row.parameters.iter().any(|param| param.name == "window");
            let least = row.parameters.iter().any(|param| param.name == "r_min_mbps");
            let least = if least { r#","r_min_mbps":10"# } else { "" };
            let plain = format!(r#"{{"name":"{}"{least}}}"#, row.name);
            let with = windowed.then(|| format!(r#"{{"name":"{}"{least},"window":"vwin"}}"#, row.name));
            [Some(plain), with].into_iter().flatten().map(|json| (json, row.switch_needs))
        })
        .collect();
    prop::sample::select(rows)
}

/// A configuration for which the retransmission timer of a sender would be an error.
fn paced_config(
    (cc, needs): &(String, SwitchNeed),
    (ack_every, ack_bytes): (u32, Option<u32>),
    recovery: &str,
    (mss_bytes, base_rtt_ns): (u32, u64),
) -> RdmaConfig {
    let recovery = if *needs == SwitchNeed::RateAllocation { "go_back_n" } else { recovery };
    let ack_bytes = ack_bytes.map_or_else(String::new, |bytes| format!(r#""ack_bytes":{bytes},"#));
    config(&format!(
        r#"{{{ack_bytes}"ack_every":{ack_every},"recovery":"{recovery}","mss_bytes":{mss_bytes},
            "base_rtt_ns":{base_rtt_ns},"int":{{"unit_shift":0,"tick_ns":1,"rates_bps":{{}}}},
            "pint":{{"log_base":1.05}},"cc":{cc}}}"#
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// A base round-trip time of 1 us at 10 Gbit/s is a window of one packet and less.
    #[test]
    fn every_paced_flow_ends_without_a_timeout(
        cc in paced(),
        acks in (ack_every(), prop::option::of(prop_oneof![1_u32..10_000, 10_000_u32..2_000_000])),
        recovery in prop::sample::select(vec!["go_back_n", "go_back_0", "selective_repeat"]),
        mss_bytes in 256_u32..9_000,
        base_rtt_us in prop_oneof![Just(1_u64), 2_u64..200],
        flow_bytes in prop_oneof![0_u64..5_000, 5_000_u64..400_000],
        late_us in 0_u64..300,
        marked in prop::collection::vec(any::<bool>(), 0..64),
    ) {
        let config = paced_config(&cc, acks, recovery, (mss_bytes, base_rtt_us * 1_000));
        prop_assert_eq!(config.rto_ns, None);
        let late_us = vec![late_us; 4_000];
        let marked: Vec<bool> = marked.iter().cycle().take(4_000 * marked.len().min(1)).copied().collect();
        let fates = Fates { late_us: &late_us, marked: &marked, ..CLEAN };
        let log = run(&config, flow_bytes, &fates, Time::from_ms(20_000));
        prop_assert_eq!(log.delivered_bytes, flow_bytes);
        prop_assert!(flow_bytes == 0 || log.end.is_some(), "{} of {}", log.answers.len(), log.sent.len());
        prop_assert!(log.sent.iter().all(|(_, segment)| !segment.retransmit));
    }

    #[test]
    fn every_window_flow_ends_without_a_timeout(
        row in prop::sample::select(registry().iter().filter(|row| !matches!(row.kind, Kind::RateControl | Kind::Receiver)).collect::<Vec<_>>()),
        recovery in prop::sample::select(vec!["reno", "newreno", "sack"]),
        ack_every in ack_every(),
        (mss_bytes, iw, rwnd) in (256_u32..9_000, 1_u32..40, 1_u32..200),
        rto_min_us in prop_oneof![Just(200_000_u64), 1_000_u64..20_000],
        segments in 0_u64..400,
    ) {
        let k = if row.name == "gst" { r#","k":8"# } else { "" };
        let with = |profile: &str| {
            window_config(&format!(
                r#"{{"recovery":"{recovery}","mss_bytes":{mss_bytes},"iw":{iw},"rwnd":{rwnd},
                    "rto_min_ns":{0},"rto_init_ns":{0},"ack_every":{ack_every},"ecn_profile":"{profile}",
                    "cc":{{"{1}":{{"name":"{2}"{k}}}}}}}"#,
                rto_min_us * 1_000, row.kind.key(), row.name
            ))
        };
        let fits = |config: &SenderConfig| config.validate().is_ok();
        let config = ["gst", "sce", "rfc3168"].map(with).into_iter().find(fits).expect("a profile");
        let flow_bytes = segments * u64::from(mss_bytes);
        let mut pair = Pair::new(&config, flow_bytes, |_, _, _| FINE);
        prop_assert!(pair.run(100_000, |_| {}), "the flow never ends");
        prop_assert_eq!((pair.delivered_bytes, pair.completions), (flow_bytes, 1));
        prop_assert_eq!(pair.sender.snapshot().timeouts, 0);
    }
}

/// The receiver answers what waits after its time: it echoes the newest packet, without the waiting in it.
#[test]
fn what_waits_is_answered_in_time_and_echoes_the_newest_packet() {
    for (recovery, answered) in [("go_back_n", None), ("selective_repeat", Some(1_000))] {
        let config = config(&format!(
            r#"{{"ack_every":10,"recovery":"{recovery}","base_rtt_ns":8000,"cc":{{"name":"timely"}}}}"#
        ));
        let mut receiver = RdmaReceiver::new(&config);
        assert_eq!(receiver.deadline(), None);
        for (at_us, seq, bytes) in [(5, 0, [1; 6]), (7, 1_000, [2; 6])] {
            let extension = Extension { kind: ExtensionType::INT_HPCC, bytes: &bytes };
            let timestamp_ns = 1_000 * at_us - 4_000;
            let data = RdmaData { seq, len: 1_000, timestamp_ns, extension, ..RdmaData::default() };
            assert_eq!(receiver.on_data(Time::from_us(at_us), &data).ack, None);
        }
        assert_eq!(receiver.deadline(), Some(Time::from_us(13)), "a base round-trip time after the first");
        assert_eq!(receiver.on_timer(Time::from_ps(12_999_999)), None);
        let due = receiver.on_timer(Time::from_us(13)).expect("due");
        assert_eq!((due.ack.ack, due.ack.timestamp_echo_ns), (2_000, 9_000));
        assert_eq!((due.ack.answered, due.extension().bytes), (answered, &[2; 6][..]));
        assert_eq!((receiver.deadline(), receiver.on_timer(Time::MAX)), (None, None));
        // An ACK that leaves for another reason leaves nothing to wait for.
        let data = |seq, ack_request| RdmaData { seq, len: 1_000, ack_request, ..RdmaData::default() };
        receiver.on_data(Time::from_us(20), &data(2_000, false));
        assert!(receiver.deadline().is_some());
        assert!(receiver.on_data(Time::from_us(21), &data(3_000, true)).ack.is_some());
        assert_eq!(receiver.deadline(), None);
        let given = RdmaConfig { ack_delay_ns: Some(2_000), ..config.clone() };
        let mut receiver = RdmaReceiver::new(&given);
        receiver.on_data(Time::from_us(1), &data(0, false));
        assert_eq!(receiver.deadline(), Some(Time::ZERO + Span::from_us(3)));
    }
}

/// Bytes count as packets do, and with both whichever comes first.
#[test]
fn acks_count_bytes_or_packets() {
    let answered = |json: &str| {
        let config = config(&format!(r#"{{{json}"base_rtt_ns":8000,"cc":{{"name":"timely"}}}}"#));
        let mut receiver = RdmaReceiver::new(&config);
        let answers = (0..8).filter(|packet| {
            let data = RdmaData { seq: packet * 1_000, len: 1_000, ..RdmaData::default() };
            receiver.on_data(Time::from_us(5), &data).ack.is_some()
        });
        answers.collect::<Vec<u32>>()
    };
    assert_eq!(answered(""), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(answered(r#""ack_bytes":2500,"#), [2, 5]);
    assert_eq!(answered(r#""ack_bytes":2500,"ack_every":2,"#), [1, 3, 5, 7]);
    assert_eq!(answered(r#""ack_bytes":2000,"ack_every":3,"#), [1, 3, 5, 7]);
}

/// What fills the window asks for its ACK, with either recovery; where each packet is answered none asks.
#[test]
fn what_fills_the_window_asks_for_an_ack() {
    for recovery in ["go_back_n", "selective_repeat"] {
        for (ack_every, requests) in [(1, 0), (64, 2)] {
            let config = config(&format!(
                r#"{{"ack_every":{ack_every},"recovery":"{recovery}","base_rtt_ns":10000,
                    "cc":{{"name":"dcqcn","window":"vwin"}}}}"#
            ));
            // A window of thirteen packets, and an end.
            let log = run(&config, 20_000, &CLEAN, Time::from_ms(10));
            let asked = log.sent.iter().filter(|(_, segment)| segment.ack_request).count();
            assert_eq!((asked, log.end.is_some()), (requests, true), "{recovery} {ack_every}");
        }
    }
}

/// docs/algorithms/dcqcn.md#dcqcn-published-form: every notification cuts, so a mark in each ACK is none.
#[test]
fn the_published_dcqcn_wants_notifications_of_their_own() {
    let json = |mode: &str, form: &str| {
        format!(r#"{{"notification":"{mode}","base_rtt_ns":10000,"cc":{{"name":"dcqcn","form":"{form}"}}}}"#)
    };
    for (mode, form) in [("packet", "paper"), ("packet", "hs"), ("ack_flag", "hs")] {
        assert_eq!(config(&json(mode, form)).validate(LINE), Ok(()), "{mode} {form}");
    }
    let error = config(&json("ack_flag", "paper")).validate(LINE).expect_err("refused").to_string();
    assert_eq!(
        error,
        "notification: dcqcn in this form cuts with every notification, and each marked ACK is one; \
         give packet: at most one comes in cnp_interval_ns"
    );
}
