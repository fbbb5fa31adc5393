//! Go-back-0: a loss costs all of its message (docs/algorithms/substrate.md#go-back-0).

use p4cc_units::Time;
use proptest::prelude::*;

use crate::rdma::{CLEAN, Fates, LINE, Log, config, run};

fn sent_from(log: &Log) -> Vec<u64> {
    log.sent.iter().map(|(_, segment)| segment.seq).collect()
}

/// The sixth of eight packets is lost, in the second message of four: that one leaves again, the first does
/// not. A packet of 1,064 B takes 851.2 ns, so all eight leave in the round trip before the NACK.
#[test]
fn the_message_that_misses_a_packet_is_sent_again() {
    let json = |recovery: &str| {
        config(&format!(
            r#"{{{recovery},"base_rtt_ns":10000,"nack_interval_ns":500000,"cc":{{"name":"fixed"}}}}"#
        ))
    };
    let lost_data: Vec<bool> = (0..8).map(|packet| packet == 5).collect();
    let fates = Fates { lost_data: &lost_data, ..CLEAN };
    for (recovery, back_to) in [
        (r#""recovery":"go_back_n""#, 5),
        (r#""recovery":"go_back_0","message_bytes":4000"#, 4),
        (r#""recovery":"go_back_0""#, 0),
    ] {
        let log = run(&json(recovery), 8_000, &fates, Time::from_ms(10));
        let expected: Vec<u64> = (0..8).chain(back_to..8).map(|packet| packet * 1_000).collect();
        assert_eq!(sent_from(&log), expected, "{recovery}");
        assert_eq!((log.delivered_bytes, log.completions, log.end.is_some()), (8_000, 1, true), "{recovery}");
        let nacks: Vec<u32> =
            log.answers.iter().filter(|answer| answer.nack).map(|answer| answer.ack).collect();
        assert_eq!(nacks, [back_to as u32 * 1_000], "one for the gap: {recovery}");
    }
}

/// Packets are cut at the ends of messages, so that what leaves again is what left before.
#[test]
fn a_packet_is_of_one_message() {
    let config =
        config(r#"{"recovery":"go_back_0","message_bytes":2500,"base_rtt_ns":10000,"cc":{"name":"fixed"}}"#);
    let lost_data = [false, false, false, false, true];
    let log = run(&config, 6_000, &Fates { lost_data: &lost_data, ..CLEAN }, Time::from_ms(10));
    let first: [(u64, u32); 7] = [
        (0, 1_000),
        (1_000, 1_000),
        (2_000, 500),
        (2_500, 1_000),
        (3_500, 1_000),
        (4_500, 500),
        (5_000, 1_000),
    ];
    let sent: Vec<_> = log.sent.iter().map(|(_, segment)| (segment.seq, segment.len)).collect();
    assert_eq!(sent, [&first[..], &first[3..]].concat());
    let again: Vec<_> = log.sent.iter().map(|(_, segment)| segment.retransmit).collect();
    assert_eq!(again, [[false; 7].as_slice(), &[true; 4]].concat());
    assert_eq!((log.delivered_bytes, log.end.is_some()), (6_000, true));
}

/// Guo et al., "RDMA over Commodity Ethernet at Scale" (SIGCOMM 2016), 4.1: with one packet in 256 dropped,
/// messages of 4 MB never end over go-back-0 while the link is full; over go-back-N they do.
#[test]
fn one_loss_in_256_stops_messages_of_4_mb() {
    let lost_data: Vec<bool> = (1..=100_000).map(|packet| packet % 256 == 0).collect();
    let fates = Fates { lost_data: &lost_data, ..CLEAN };
    let of = |recovery: &str| {
        let config =
            config(&format!(r#"{{"recovery":"{recovery}","base_rtt_ns":10000,"cc":{{"name":"fixed"}}}}"#));
        run(&config, 4_000_000, &fates, Time::from_ms(40))
    };
    let stopped = of("go_back_0");
    assert_eq!((stopped.completions, stopped.end), (0, None));
    let full = 40e-3 * 10e9 / 8.0 / 1_064.0;
    assert!(stopped.sent.len() as f64 > 0.98 * full, "{} of {full}", stopped.sent.len());
    let ended = of("go_back_n");
    assert_eq!((ended.completions, ended.delivered_bytes), (1, 4_000_000));
    // 16 losses, each with what left in a round trip.
    assert!((4_016..4_300).contains(&ended.sent.len()), "{}", ended.sent.len());
}

/// A flow without messages of its own goes back to a multiple of 2^30 bytes, which 32 bits of a sequence
/// number tell apart wherever the flow is: losses near the end of the second such message, behind byte 2^31
/// and behind byte 2^32.
#[test]
fn a_long_flow_goes_back_at_most_a_gibibyte() {
    const GIBI: u64 = 1 << 30;
    const MSS: u64 = 65_000;
    // The last packet of each message is short.
    let per_message = GIBI.div_ceil(MSS);
    let config = config(
        r#"{"recovery":"go_back_0","mss_bytes":65000,"base_rtt_ns":10000,"nack_interval_ns":500000,
            "cc":{"name":"fixed"}}"#,
    );
    let round_trip = 10_000 * 10 / 8 / MSS + 2;
    for (message, packet) in [(1, per_message - 3), (2, 2), (4, 2)] {
        let lost_data: Vec<bool> =
            (0..=message * per_message + packet).map(|one| one == message * per_message + packet).collect();
        let flow_bytes = 4 * GIBI + 5 * MSS;
        let log = run(&config, flow_bytes, &Fates { lost_data: &lost_data, ..CLEAN }, Time::from_ms(20_000));
        assert_eq!((log.delivered_bytes, log.completions, log.end.is_some()), (flow_bytes, 1, true));
        let back: Vec<(u64, u64)> = sent_from(&log)
            .windows(2)
            .filter(|pair| pair[1] <= pair[0])
            .map(|pair| (pair[0] - message * GIBI, pair[1]))
            .collect();
        let [(left, to)] = back[..] else { panic!("once: {back:?}") };
        assert_eq!(to, message * GIBI);
        assert!(left <= (packet + round_trip) * MSS, "{left}");
    }
}

/// What the options need, and what they exclude.
#[test]
fn what_has_no_effect_is_refused() {
    let refused = |json: &str| {
        let json = format!(r#"{{{json},"base_rtt_ns":10000}}"#);
        config(&json).validate(LINE).expect_err("refused").to_string()
    };
    for (json, words) in [
        (r#""message_bytes":4000,"cc":{"name":"timely"}"#, "message_bytes: nothing goes back"),
        (
            r#""recovery":"go_back_0","reordering_bytes":4000,"cc":{"name":"timely"}"#,
            "reordering_bytes: the receiver takes nothing out of order",
        ),
        (r#""recovery":"go_back_0","segment_bytes":4000,"cc":{"name":"timely"}"#, "recovery: segments count"),
        (r#""recovery":"go_back_0","cc":{"name":"d3"}"#, "recovery: rate requests count"),
        (r#""cnp_scope":"port","cc":{"name":"dcqcn"}"#, "cnp_scope: marks come back in ACKs"),
        (r#""cnp_processing_ns":1,"cc":{"name":"dcqcn"}"#, "cnp_processing_ns: marks come back in ACKs"),
        (r#""entropy_values":64,"cc":{"name":"timely"}"#, "entropy_values: all packets of a flow"),
        (
            r#""reads":true,"segment_bytes":16000,"ack_bytes":4000,"cc":{"name":"timely"}"#,
            "ack_bytes: a reader sends no ACKs",
        ),
        (
            r#""reads":true,"segment_bytes":16000,"ack_processing_ns":4000,"cc":{"name":"timely"}"#,
            "ack_processing_ns: a reader sends no ACKs",
        ),
    ] {
        let error = refused(json);
        assert!(error.starts_with(words), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is lost or late in either direction, each byte counts once and the flow ends.
    #[test]
    fn every_byte_counts_once(
        algorithm in prop::sample::select(vec![
            r#"{"name":"timely"}"#, r#"{"name":"dcqcn","window":"vwin"}"#, r#"{"name":"fixed"}"#,
        ]),
        message in prop::sample::select(vec!["", r#""message_bytes":4000,"#, r#""message_bytes":1500,"#]),
        acks in prop::sample::select(vec!["", r#""ack_every":4,"#, r#""ack_bytes":2500,"#]),
        mss_bytes in 300_u32..2_000,
        flow_bytes in 1_u64..30_000,
        lost_data in prop::collection::vec(prop::bool::weighted(0.2), 0..100),
        late_us in prop::collection::vec(0_u64..12, 0..100),
        lost_answers in prop::collection::vec(prop::bool::weighted(0.2), 0..100),
        marked in prop::collection::vec(any::<bool>(), 0..100),
    ) {
        let config = config(&format!(
            r#"{{{message}{acks}"recovery":"go_back_0","mss_bytes":{mss_bytes},"rto_ns":50000,
                "nack_interval_ns":20000,"base_rtt_ns":10000,"cc":{algorithm}}}"#
        ));
        let fates =
            Fates { lost_data: &lost_data, late_us: &late_us, lost_answers: &lost_answers, marked: &marked };
        let log = run(&config, flow_bytes, &fates, Time::from_ms(1_000));
        prop_assert_eq!(log.delivered_bytes, flow_bytes);
        prop_assert_eq!(log.completions, 1);
        prop_assert!(log.end.is_some());
    }
}
