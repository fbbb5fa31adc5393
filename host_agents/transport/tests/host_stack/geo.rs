//! The slow starts of the RFB-SS paper packet by packet, on paths as
//! long as its satellites' (docs/algorithms/reproductions.md#rfb-ss).

use p4cc_cc::{Mark, Phase};
use p4cc_units::{Span, Time};
use proptest::prelude::*;

use crate::pair::{Fate, Pair, config};

const MSS: u64 = 1_024;

/// When the window reached half the threshold of 64 segments, and the threshold, in milliseconds.
fn reached_ms(slow_start: &str, iw: u32, rtt_ms: u64) -> (u64, u64) {
    let json = format!(
        r#"{{"mss_bytes":{MSS},"iw":{iw},"ssthresh0":64,"rwnd":200,"rto_min_ns":1000000000,"rto_init_ns":3000000000,
            "cc":{{"slow_start":{slow_start}}}}}"#
    );
    let half = Span::from_us(rtt_ms * 500);
    let arrive = Fate::Arrive(half, Mark::None);
    let mut pair = Pair::new(&config(&json), 6_000 * MSS, |_, _, _| arrive).with_ack_fate(move |_| arrive);
    let (mut at_half, mut at_threshold) = (None, None);
    assert!(pair.run(100_000, |pair| {
        let state = pair.sender.snapshot();
        if state.cwnd_segments >= 32.0 {
            at_half.get_or_insert(pair.now);
        }
        if state.phase == Phase::Avoidance {
            at_threshold.get_or_insert(pair.now);
        }
    }));
    assert_eq!(pair.sender.snapshot().timeouts, 0);
    let ms = |time: Option<Time>| time.expect("it was reached").as_us() / 1_000;
    (ms(at_half), ms(at_threshold))
}

/// docs/algorithms/reproductions.md#r-34: from 32 to 64 segments in 2.8, 2.24 and 1.96 s
/// with RFB-SS, 0.56, 0.28 and 0.14 s with the standard; R-2: RFB-SS is at 32 one round
/// earlier; R-tot: all of slow start in 5.04, 3.36 and 2.52 s, 3.36, 1.68 and 0.84 s.
#[test]
fn times_of_the_paper() {
    for (rtt_ms, slow_ms, whole_ms) in [(560, 2_800, 5_040), (280, 2_240, 3_360), (140, 1_960, 2_520)] {
        let (half, threshold) = reached_ms(r#"{"name":"rfb_ss"}"#, 2, rtt_ms);
        assert_eq!((threshold - half, threshold), (slow_ms, whole_ms), "RFB-SS at {rtt_ms} ms");
        let (standard_half, standard) = reached_ms(r#"{"name":"standard"}"#, 1, rtt_ms);
        assert_eq!((standard - standard_half, standard), (rtt_ms, 6 * rtt_ms), "standard at {rtt_ms} ms");
        assert_eq!(standard_half - half, rtt_ms);
    }
}

/// docs/algorithms/slow-start.md#smooth, #p-start: P-start takes as many
/// rounds whatever the round trip, smooth start two from half the threshold.
#[test]
fn the_others_do_not_know_the_round_trip() {
    for rtt_ms in [560, 280, 140] {
        let rounds = |slow_start: &str| {
            let (half, threshold) = reached_ms(slow_start, 1, rtt_ms);
            (threshold - half) / rtt_ms
        };
        assert_eq!(rounds(r#"{"name":"p_start"}"#), 5, "{rtt_ms} ms");
        assert_eq!(rounds(r#"{"name":"smooth"}"#), 2, "{rtt_ms} ms");
        // RFC3742 with its limit at 32: 16 to 24 segments a round.
        assert_eq!(rounds(r#"{"name":"limited","max_ssthresh":32}"#), 2, "{rtt_ms} ms");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// docs/algorithms/slow-start.md#rfb-ss: of two flows the one with
    /// the longer round trip needs no more rounds in the slow part.
    #[test]
    fn a_longer_round_trip_needs_fewer_rounds(short_ms in 30_u64..560, more_ms in 0_u64..300) {
        let long_ms = (short_ms + more_ms).min(560);
        let rounds = |rtt_ms: u64| {
            let (half, threshold) = reached_ms(r#"{"name":"rfb_ss"}"#, 2, rtt_ms);
            (threshold - half).div_ceil(rtt_ms)
        };
        prop_assert!(rounds(long_ms) <= rounds(short_ms));
    }
}
