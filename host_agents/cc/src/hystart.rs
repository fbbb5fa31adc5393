//! HyStart++ (docs/algorithms/slow-start.md#hystart; RFC9406): slow start that a rise of the round-trip time
//! turns into a slower one, which ends it some rounds later, or ends itself where the rise was none.
//!
//! Invariant: the conservative phase lasts `css_rounds` rounds at most.

use p4cc_units::Span;

use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::{AckSample, Phase, Publisher, SlowStart, Window};

const SOURCE: &str = "docs/algorithms/slow-start.md#hystart, RFC9406";

/// What the registry says about this module.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "hystart",
    kind: Kind::SlowStart,
    summary: "HyStart++: an increase of the round-trip time slows growth, and ends slow start a few rounds \
        later",
    parameters: &[
        ParamInfo {
            name: "min_rtt_thresh_ns",
            unit: "ns",
            summary: "smallest RTT increase that counts; 4 ms for the Internet, a fraction of the base RTT \
                in a data centre",
            domain: Domain::Number { default: Some(4e6), min: 0.0, max: 3.6e12 },
            source: SOURCE,
        },
        ParamInfo {
            name: "max_rtt_thresh_ns",
            unit: "ns",
            summary: "upper bound of the RTT increase that triggers",
            domain: Domain::Number { default: Some(16e6), min: 0.0, max: 3.6e12 },
            source: SOURCE,
        },
        ParamInfo {
            name: "min_rtt_divisor",
            unit: "",
            summary: "divisor: between the bounds, the trigger is the last round's minimum RTT divided by \
                this",
            domain: Domain::Number { default: Some(8.0), min: 1.0, max: 1_000.0 },
            source: SOURCE,
        },
        ParamInfo {
            name: "n_rtt_sample",
            unit: "samples",
            summary: "RTT samples needed in a round",
            domain: Domain::Number { default: Some(8.0), min: 1.0, max: 1e6 },
            source: SOURCE,
        },
        ParamInfo {
            name: "css_growth_divisor",
            unit: "",
            summary: "divisor of slow start's growth in the conservative phase",
            domain: Domain::Number { default: Some(4.0), min: 1.0, max: 1_000.0 },
            source: SOURCE,
        },
        ParamInfo {
            name: "css_rounds",
            unit: "rounds",
            summary: "rounds of the conservative phase before slow start ends",
            domain: Domain::Number { default: Some(5.0), min: 1.0, max: 1_000.0 },
            source: SOURCE,
        },
        ParamInfo {
            name: "limit",
            unit: "segments",
            summary: "upper bound on the segments that one ACK counts for; 8 without pacing in the RFC",
            domain: Domain::Number { default: Some(8.0), min: 1.0, max: 1e6 },
            source: SOURCE,
        },
    ],
    switch_needs: SwitchNeed::None,
    source: SOURCE,
    make: Make::SlowStart(|params| Ok(Box::new(HyStart::new(params)?))),
};

/// State of one slow start.
#[derive(Clone, Copy, Debug)]
struct HyStart {
    min_thresh: Span,
    max_thresh: Span,
    divisor: f64,
    samples_wanted: u64,
    growth_divisor: f64,
    css_rounds: u64,
    limit: f64,
    /// The round is over with the first ACK above this byte.
    window_end: u64,
    last_round_min: Option<Span>,
    this_round_min: Option<Span>,
    samples: u64,
    /// The least RTT at which the conservative phase began, while it lasts.
    css_baseline: Option<Span>,
    /// Rounds of it that are over.
    css_rounds_done: u64,
}

impl HyStart {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let span = |name| params.number(name).map(|ns| Span::from_ps((ns * 1e3) as u64));
        let (min_thresh, max_thresh) = (span("min_rtt_thresh_ns")?, span("max_rtt_thresh_ns")?);
        if min_thresh > max_thresh {
            let cause = format!("{} ns is greater than max_rtt_thresh_ns", min_thresh.as_ns());
            return Err(params.error("min_rtt_thresh_ns", cause, "reduce it".to_owned()));
        }
        Ok(Self {
            min_thresh,
            max_thresh,
            divisor: params.number("min_rtt_divisor")?,
            samples_wanted: params.number("n_rtt_sample")? as u64,
            growth_divisor: params.number("css_growth_divisor")?,
            css_rounds: params.number("css_rounds")? as u64,
            limit: params.number("limit")?,
            window_end: 0,
            last_round_min: None,
            this_round_min: None,
            samples: 0,
            css_baseline: None,
            css_rounds_done: 0,
        })
    }

    /// RFC9406 4.2: a round begins.
    fn open_round(&mut self, snd_nxt: u64) {
        self.window_end = snd_nxt;
        self.last_round_min = self.this_round_min.take();
        self.samples = 0;
    }

    fn sample(&mut self, rtt: Span) {
        self.this_round_min = Some(self.this_round_min.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    /// RFC9406 4.2: `clamp(lastRoundMinRTT / MIN_RTT_DIVISOR, MIN_RTT_THRESH, MAX_RTT_THRESH)`.
    fn threshold(&self, last: Span) -> Span {
        let share = Span::from_ps((last.as_ps() as f64 / self.divisor) as u64);
        share.clamp(self.min_thresh, self.max_thresh)
    }

    /// Enters the conservative phase, or leaves it for slow start.
    fn judge(&mut self) {
        let Some(this) = self.this_round_min.filter(|_| self.samples >= self.samples_wanted) else { return };
        match (self.css_baseline, self.last_round_min) {
            (Some(baseline), _) if this < baseline => self.css_baseline = None,
            (None, Some(last)) if this >= last + self.threshold(last) => {
                (self.css_baseline, self.css_rounds_done) = (Some(this), 0);
            }
            _ => {}
        }
    }
}

impl SlowStart for HyStart {
    fn enter(&mut self, snd_nxt: u64, _window: &Window) {
        (self.last_round_min, self.this_round_min, self.css_baseline) = (None, None, None);
        self.open_round(snd_nxt);
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, _publisher: &mut dyn Publisher) -> bool {
        if ack.ack > self.window_end {
            // RFC9406 4.2: the round in which the conservative phase began counts as a whole one.
            self.css_rounds_done += u64::from(self.css_baseline.is_some());
            if self.css_baseline.is_some() && self.css_rounds_done >= self.css_rounds {
                return false;
            }
            self.open_round(ack.snd_nxt);
        }
        let grown = (ack.new_segments as f64).min(self.limit);
        let divisor = if self.css_baseline.is_some() { self.growth_divisor } else { 1.0 };
        window.set_cwnd(window.cwnd() + grown / divisor);
        if let Some(rtt) = ack.rtt {
            self.sample(rtt);
            self.judge();
        }
        true
    }

    fn phase(&self) -> Phase {
        if self.css_baseline.is_some() { Phase::Smoothing } else { Phase::SlowStart }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mark;
    use crate::testing::{ack, slow_start};

    const DATA_CENTRE: &str = r#"{"name":"hystart","min_rtt_thresh_ns":4000,"max_rtt_thresh_ns":16000}"#;

    /// Rounds of ten ACKs each, whose round-trip times are given in us: window and phase after each round.
    fn rounds(json: &str, rtts_us: &[u64]) -> Vec<(f64, Phase, bool)> {
        let mut module = slow_start(json);
        let mut window = Window::new(10.0, 1e9);
        let mut at = 0;
        module.enter(0, &window);
        rtts_us
            .iter()
            .map(|&rtt_us| {
                let end = at + 10;
                let mut goes_on = true;
                while at < end && goes_on {
                    at += 1;
                    let sample =
                        AckSample { rtt: Some(Span::from_us(rtt_us)), ..ack(1, at, end, Mark::None) };
                    goes_on = module.on_ack(&sample, &mut window, &mut Vec::new());
                }
                (window.cwnd(), module.phase(), goes_on)
            })
            .collect()
    }

    /// RFC9406 4.2: 100 us and a rise by an eighth, 12.5 us; then a quarter of the growth.
    #[test]
    fn a_rise_slows_the_growth() {
        let found = rounds(DATA_CENTRE, &[100, 112, 113, 130]);
        assert_eq!(found[1], (30.0, Phase::SlowStart, true));
        // 113 us against 112: no rise; 130 against 113: one, seen at the eighth sample.
        assert_eq!(found[2].1, Phase::SlowStart);
        assert_eq!(found[3], (48.0 + 2.0 / 4.0, Phase::Smoothing, true));
    }

    /// RFC9406 4.2: an eighth of 100 us is a rise of 12.5 us, between bounds that may be equal; the least
    /// round-trip time of a round is compared.
    #[test]
    fn the_rise_is_that_of_the_least_sample() {
        let phase = |json: &str, rtts_us: &[u64]| rounds(json, rtts_us).last().expect("some rounds").1;
        assert_eq!(phase(DATA_CENTRE, &[100, 112]), Phase::SlowStart);
        assert_eq!(phase(DATA_CENTRE, &[100, 113]), Phase::Smoothing);
        let fixed = r#"{"name":"hystart","min_rtt_thresh_ns":4000,"max_rtt_thresh_ns":4000}"#;
        assert_eq!(phase(fixed, &[100, 103]), Phase::SlowStart);
        assert_eq!(phase(fixed, &[100, 104]), Phase::Smoothing);
        let mut module = slow_start(DATA_CENTRE);
        let mut window = Window::new(10.0, 1e9);
        module.enter(0, &window);
        for at in 1..=20 {
            // From the second round on, one sample of ten has waited for nobody.
            let rtt_us = if at <= 10 || at == 11 { 100 } else { 200 };
            let sample = AckSample {
                rtt: Some(Span::from_us(rtt_us)),
                ..ack(1, at, if at <= 10 { 10 } else { 20 }, Mark::None)
            };
            module.on_ack(&sample, &mut window, &mut Vec::new());
        }
        assert_eq!(module.phase(), Phase::SlowStart);
    }

    #[test]
    fn slow_start_ends_some_rounds_later() {
        let found = rounds(DATA_CENTRE, &[100, 120, 120, 120, 120, 120, 120]);
        let phases: Vec<bool> = found.iter().map(|(_, phase, _)| *phase == Phase::Smoothing).collect();
        assert_eq!(phases[..6], [false, true, true, true, true, true]);
        let ends = found.iter().position(|(_, _, goes_on)| !goes_on);
        // The round that saw the rise is the first of five; the ACK behind them ends it.
        assert_eq!(ends, Some(6));
    }

    #[test]
    fn a_rise_that_was_none_is_taken_back() {
        let found = rounds(DATA_CENTRE, &[100, 120, 110, 110]);
        assert_eq!(found[1].1, Phase::Smoothing);
        assert_eq!(found[2].1, Phase::SlowStart);
        // Ten more at full speed.
        assert_eq!(found[3].0, found[2].0 + 10.0);
    }

    #[test]
    fn few_samples_decide_nothing() {
        let found = rounds(r#"{"name":"hystart","min_rtt_thresh_ns":0,"n_rtt_sample":11}"#, &[100, 200, 400]);
        assert!(found.iter().all(|(_, phase, _)| *phase == Phase::SlowStart), "{found:?}");
    }

    #[test]
    fn an_ack_of_many_counts_for_eight() {
        let mut module = slow_start(DATA_CENTRE);
        let mut window = Window::new(10.0, 1e9);
        module.enter(0, &window);
        module.on_ack(&ack(30, 30, 40, Mark::None), &mut window, &mut Vec::new());
        assert_eq!(window.cwnd(), 18.0);
    }
}
