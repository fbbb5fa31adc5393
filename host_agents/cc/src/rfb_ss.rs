//! RFB-SS, the slow start that is fair among round-trip times
//! (docs/algorithms/slow-start.md#rfb-ss): doubling up to half the threshold, then steps
//! of a share of what is missing. Flows with a long round trip take the larger share.
//!
//! [`ConcaveRise`] is the rule, with the share as its argument:
//! P-start is the same rule with a share of one half.
//!
//! Invariant: the window rises every round and never passes the threshold in the slow part.

use p4cc_units::Span;

use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::rounds::Round;
use crate::{AckSample, Phase, Publisher, SlowStart, Window};

pub(crate) const DELTA: ParamInfo = ParamInfo {
    name: "delta",
    unit: "segments",
    summary: "when the remaining distance is at most this, the window jumps to the threshold in one round",
    domain: Domain::Number { default: Some(2.0), min: 0.001, max: 1_000_000.0 },
    source: "docs/algorithms/slow-start.md#rfb-ss, #choice-rfb-ss-delta",
};

/// What the registry says about this module.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "rfb_ss",
    kind: Kind::SlowStart,
    summary: "doubles up to ssthresh/2, then adds RTT/(rtt_max+RTT) of the remaining distance per round; its \
        paper starts at iw 2",
    parameters: &[
        DELTA,
        ParamInfo {
            name: "rtt_max_ns",
            unit: "ns",
            summary: "largest round-trip time of the flows at the bottleneck",
            domain: Domain::Number { default: Some(560e6), min: 1.0, max: 3.6e12 },
            source: "docs/algorithms/slow-start.md#rfb-ss, #choice-rfb-ss-rtt-max",
        },
        ParamInfo {
            name: "rtt_ns",
            unit: "ns",
            summary: "round-trip time of the flow; 0 uses the smoothed measurement",
            domain: Domain::Number { default: Some(0.0), min: 0.0, max: 3.6e12 },
            source: "docs/algorithms/slow-start.md#rfb-ss",
        },
    ],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/slow-start.md#rfb-ss",
    make: Make::SlowStart(|params| Ok(Box::new(RfbSs::new(params)?))),
};

/// docs/algorithms/slow-start.md#rfb-ss: an RTT of rtt_max takes half
/// of what is missing; none takes more, as rtt_max is the largest.
const MAX_SHARE: f64 = 0.5;

/// The rule that RFB-SS and P-start share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConcaveRise {
    delta: f64,
    round: Round,
    is_slow: bool,
}

impl ConcaveRise {
    pub(crate) fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        Ok(Self { delta: params.number("delta")?, round: Round::before_first(0), is_slow: false })
    }

    pub(crate) fn enter(&mut self, snd_nxt: u64) {
        self.round = Round::before_first(snd_nxt);
        self.is_slow = false;
    }

    /// Takes an ACK; `share` is the part of what is missing that a round of the slow part adds.
    pub(crate) fn on_ack(&mut self, ack: &AckSample, window: &mut Window, share: f64) {
        if ack.new_segments == 0 {
            return;
        }
        let (delta, is_slow) = (self.delta, &mut self.is_slow);
        self.round.on_ack(ack, window, |window| {
            let (cwnd, ssthresh) = (window.cwnd(), window.ssthresh());
            let missing = ssthresh - cwnd;
            // docs/algorithms/slow-start.md#rfb-ss: "cwnd < ssthresh/2 … ssthresh - cwnd > delta"; at half
            // exactly the slow branch (docs/algorithms/slow-start.md#choice-rfb-ss-half).
            *is_slow = cwnd >= ssthresh / 2.0;
            match () {
                () if !*is_slow => cwnd,
                () if missing > delta => share * missing,
                () => missing,
            }
        });
    }

    pub(crate) const fn phase(&self) -> Phase {
        if self.is_slow { Phase::Smoothing } else { Phase::SlowStart }
    }
}

/// State of one RFB-SS slow start.
#[derive(Clone, Copy, Debug)]
struct RfbSs {
    rise: ConcaveRise,
    rtt_max: f64,
    /// Zero where the measured one counts.
    rtt: f64,
}

impl RfbSs {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let rise = ConcaveRise::new(params)?;
        Ok(Self { rise, rtt_max: params.number("rtt_max_ns")?, rtt: params.number("rtt_ns")? })
    }

    /// docs/algorithms/slow-start.md#rfb-ss: `k = RTT/(RTT_max + RTT)`.
    fn share(&self, srtt: Option<Span>) -> f64 {
        let rtt = match srtt {
            _ if self.rtt > 0.0 => self.rtt,
            Some(srtt) => srtt.as_ps() as f64 / 1_000.0,
            // Nothing measured yet: as the flow with the longest round trip, which the others make room for.
            None => self.rtt_max,
        };
        (rtt / (self.rtt_max + rtt)).min(MAX_SHARE)
    }
}

impl SlowStart for RfbSs {
    fn enter(&mut self, snd_nxt: u64, _window: &Window) {
        self.rise.enter(snd_nxt);
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, _publisher: &mut dyn Publisher) -> bool {
        let share = self.share(ack.srtt);
        self.rise.on_ack(ack, window, share);
        true
    }

    fn phase(&self) -> Phase {
        self.rise.phase()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{params_of, windows_by_round};

    const RFB_SS: &str = r#"{"name":"rfb_ss"}"#;

    /// docs/algorithms/reproductions.md#r-2: rounds from 32 to 64 with ssthresh 64 and delta 2, and the
    /// windows of docs/algorithms/slow-start.md#number-rfb-ss-rounds.
    #[test]
    fn rounds_of_the_paper() {
        for (rtt_ms, slow_rounds, slow_ms, all_ms) in
            [(560, 5, 2_800, 5_040), (280, 8, 2_240, 3_360), (140, 14, 1_960, 2_520)]
        {
            let windows = windows_by_round(RFB_SS, 2.0, 64.0, Span::from_ms(rtt_ms), 40);
            assert_eq!(windows[..5], [2.0, 4.0, 8.0, 16.0, 32.0], "{rtt_ms} ms");
            assert_eq!(windows.last(), Some(&64.0));
            let slow = windows.len() as u64 - 5;
            assert_eq!((slow, slow * rtt_ms), (slow_rounds, slow_ms), "{rtt_ms} ms: {windows:?}");
            assert_eq!((windows.len() as u64 - 1) * rtt_ms, all_ms);
        }
        let geo = windows_by_round(RFB_SS, 2.0, 64.0, Span::from_ms(560), 40);
        assert_eq!(geo[4..], [32.0, 48.0, 56.0, 60.0, 62.0, 64.0]);
    }

    /// docs/algorithms/slow-start.md#number-rfb-ss-rounds: other
    /// step limits give other counts, so the paper's is 2.
    #[test]
    fn only_a_step_limit_of_two_gives_the_paper_s_rounds() {
        for (delta, want) in [(1, [6, 10, 17]), (4, [4, 7, 11])] {
            let json = format!(r#"{{"name":"rfb_ss","delta":{delta}}}"#);
            let rounds = [560, 280, 140]
                .map(|rtt_ms| windows_by_round(&json, 2.0, 64.0, Span::from_ms(rtt_ms), 60).len() - 5);
            assert_eq!(rounds, want, "delta {delta}");
        }
    }

    /// docs/algorithms/slow-start.md#rfb-ss: with RTT = RTT_max and delta = ssthresh/8 there are N+2 rounds
    /// against the standard's N+1; the standard starts at 1 segment and RFB-SS at 2.
    #[test]
    fn one_round_more_than_the_standard_at_the_longest_round_trip() {
        let json = r#"{"name":"rfb_ss","delta":8}"#;
        let ours = windows_by_round(json, 2.0, 64.0, Span::from_ms(560), 40).len() - 1;
        let standard =
            windows_by_round(r#"{"name":"standard"}"#, 1.0, 64.0, Span::from_ms(560), 40).len() - 1;
        assert_eq!((ours, standard), (7, 6));
        let windows = windows_by_round(json, 2.0, 64.0, Span::from_ms(560), 40);
        assert_eq!(windows[4..], [32.0, 48.0, 56.0, 64.0]);
    }

    #[test]
    fn shares_of_the_spec() {
        let module = RfbSs::new(&params_of(&INFO, RFB_SS).params()).expect("valid parameters");
        for (rtt_ms, want) in [(560, 1.0 / 2.0), (280, 1.0 / 3.0), (140, 1.0 / 5.0), (700, 0.5)] {
            assert!((module.share(Some(Span::from_ms(rtt_ms))) - want).abs() < 1e-12, "{rtt_ms} ms");
        }
        assert_eq!(module.share(None), 0.5);
        let fixed = params_of(&INFO, r#"{"name":"rfb_ss","rtt_ns":280e6}"#);
        let fixed = RfbSs::new(&fixed.params()).expect("valid parameters");
        assert_eq!(fixed.share(Some(Span::from_ms(560))), fixed.share(None));
    }

    proptest! {
        /// The window rises every round, reaches the threshold, and a longer round trip needs no more rounds.
        #[test]
        fn it_rises_to_the_threshold(ssthresh in 2_u32..500, rtt_ms in 20_u64..560, delta in 1_u32..5) {
            let json = format!(r#"{{"name":"rfb_ss","delta":{delta}}}"#);
            let rounds = |rtt_ms| windows_by_round(&json, 1.0, f64::from(ssthresh), Span::from_ms(rtt_ms), 1_000);
            let windows = rounds(rtt_ms);
            prop_assert!(windows.windows(2).all(|pair| pair[1] > pair[0]), "{windows:?}");
            prop_assert_eq!(windows.last().copied(), Some(f64::from(ssthresh)));
            prop_assert!(rounds(560).len() <= windows.len());
        }
    }
}
