//! TIMELY (docs/algorithms/timely.md#timely): the rate follows the gradient of the round-trip time.
//!
//! Below `t_low` it rises, above `t_high` it falls whatever the gradient says, between them a falling or
//! level round-trip time raises it and a rising one lowers it in proportion. Equal thresholds make the
//! queue-size mode (docs/algorithms/timely.md#timely-variants).

use p4cc_units::{Span, Time};

use super::bounded::{BoundedRate, R_MIN, R_MIN_SHARE, WINDOW};
use super::control::{RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "timely",
    kind: Kind::RateControl,
    summary: "adjusts the rate by the gradient of the round-trip time, between two thresholds",
    parameters: &[
        ParamInfo {
            name: "ewma",
            unit: "ratio",
            summary: "weight of the newest RTT difference; 0.875 in HPCC's simulator",
            domain: Domain::Number { default: Some(0.02), min: 0.000_1, max: 1.0 },
            source: "docs/algorithms/timely.md#timely-parameters, #choice-timely-ewma",
        },
        ParamInfo {
            name: "beta",
            unit: "ratio",
            summary: "weight of a decrease",
            domain: Domain::Number { default: Some(0.8), min: 0.0, max: 1.0 },
            source: "docs/algorithms/timely.md#timely-parameters",
        },
        ParamInfo {
            name: "t_low_ns",
            unit: "ns",
            summary: "RTT below which the rate increases",
            domain: Domain::Number { default: Some(50e3), min: 0.0, max: 3.6e12 },
            source: "docs/algorithms/timely.md#timely-parameters",
        },
        ParamInfo {
            name: "t_high_ns",
            unit: "ns",
            summary: "RTT above which the rate decreases; equal to t_low_ns for the queue-size mode",
            domain: Domain::Number { default: Some(500e3), min: 1.0, max: 3.6e12 },
            source: "docs/algorithms/timely.md#timely-parameters, #timely-variants",
        },
        ParamInfo {
            name: "min_rtt_ns",
            unit: "ns",
            summary: "constant by which an RTT difference is divided to get a gradient",
            domain: Domain::Number { default: Some(20e3), min: 1.0, max: 3.6e12 },
            source: "docs/algorithms/timely.md#timely-parameters",
        },
        ParamInfo {
            name: "delta_mbps",
            unit: "Mbit/s",
            summary: "additive increase step, per 10 Gbit/s of line rate",
            domain: Domain::Number { default: Some(10.0), min: 0.001, max: 1e6 },
            source: "docs/algorithms/timely.md#timely-parameters",
        },
        ParamInfo {
            name: "hai_factor",
            unit: "ratio",
            summary: "hyperactive increase: number of additive steps at once",
            domain: Domain::Number { default: Some(5.0), min: 1.0, max: 1_000.0 },
            source: "docs/algorithms/timely.md#timely-parameters",
        },
        ParamInfo {
            name: "hai_trigger",
            unit: "samples",
            summary: "consecutive increases or samples that trigger hyperactive increase",
            domain: Domain::Number { default: Some(5.0), min: 1.0, max: 1e6 },
            source: "docs/algorithms/timely.md#timely-parameters",
        },
        ParamInfo {
            name: "hai_counts",
            unit: "",
            summary: "what the trigger counts: increases by 'gradient' only, negative gradients in \
                'every_branch', 'every' increase, or 'raw' decreases of the RTT",
            domain: Domain::Choice {
                default: "gradient",
                options: &["gradient", "every_branch", "every", "raw"],
            },
            source: "docs/algorithms/timely.md#choice-timely-hai, #choice-timely-hai-count; 'raw' is the authors' code",
        },
        ParamInfo {
            name: "scale_by_time",
            unit: "",
            summary: "'on' scales steps and cuts above t_high by min(1, time since the last update / \
                min_rtt_ns)",
            domain: Domain::Choice { default: "off", options: &["off", "on"] },
            source: "docs/algorithms/timely.md#timely-update, the authors' code",
        },
        ParamInfo {
            name: "max_cut",
            unit: "ratio",
            summary: "maximum fraction of the rate that one update removes; 0.5 in the authors' code",
            domain: Domain::Number { default: Some(1.0), min: 0.01, max: 1.0 },
            source: "docs/algorithms/timely.md#timely-update",
        },
        ParamInfo {
            name: "patched",
            unit: "",
            summary: "'on': between the thresholds, steps and cuts are scaled by the gradient, with t_low as \
                the reference",
            domain: Domain::Choice { default: "off", options: &["off", "on"] },
            source: "docs/algorithms/timely.md#timely-variants",
        },
        ParamInfo {
            name: "start_share",
            unit: "ratio",
            summary: "initial rate as a fraction of the line rate; 1/(n+1) with n flows on the host is \
                another reading",
            domain: Domain::Number { default: Some(1.0), min: 0.000_1, max: 1.0 },
            source: "docs/algorithms/timely.md#timely-parameters",
        },
        ParamInfo {
            name: "update",
            unit: "",
            summary: "update at each 'sample', or once per 'window' of data",
            domain: Domain::Choice { default: "sample", options: &["sample", "window"] },
            source: "docs/algorithms/timely.md#rtt-sample",
        },
        ParamInfo {
            name: "app_limit",
            unit: "ratio",
            summary: "no increase while the flow sends at most this fraction of its rate",
            domain: Domain::Number { default: Some(0.8), min: 0.0, max: 1.0 },
            source: "docs/algorithms/timely.md#timely-update",
        },
        R_MIN,
        R_MIN_SHARE,
        WINDOW,
    ],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/timely.md#timely",
    make: Make::RateControl(|params, environment| Ok(Box::new(Timely::new(params, environment)?))),
};

/// docs/algorithms/timely.md#timely-parameters: steps are
/// given for a line rate of 10 Gbit/s and scale with it.
const STEP_LINE_BPS: f64 = 10e9;

/// docs/algorithms/timely.md#timely-variants, patched TIMELY: the weight of the error in a cut.
const PATCHED_BETA: f64 = 0.008;

/// What counts towards hyperactive increase (docs/algorithms/timely.md#timely-update, #choice-timely-hai).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HaiCounts {
    /// Increases by the gradient; anything else starts the count anew.
    Gradient,
    /// Samples with a gradient of 0 or less, in whichever branch they fall.
    EveryBranch,
    /// Increases of any kind.
    Every,
    /// Samples below the one before, whatever the rate does.
    Raw,
}

impl HaiCounts {
    /// Whether samples count, by themselves; else increases of the rate do.
    fn by_sample(self) -> bool {
        matches!(self, Self::EveryBranch | Self::Raw)
    }

    /// Whether an increase of this kind can be hyperactive.
    fn applies(self, by_gradient: bool) -> bool {
        by_gradient || matches!(self, Self::EveryBranch | Self::Every)
    }
}

/// State of one TIMELY sender.
#[derive(Clone, Copy, Debug)]
struct Timely {
    rate: BoundedRate,
    ewma: f64,
    beta: f64,
    t_low_ns: f64,
    t_high_ns: f64,
    min_rtt_ns: f64,
    delta_bps: f64,
    hai_factor: f64,
    hai_trigger: f64,
    hai_counts: HaiCounts,
    scales_by_time: bool,
    max_cut: f64,
    is_patched: bool,
    once_per_window: bool,
    app_limit: f64,
    prev_rtt_ns: Option<f64>,
    rtt_diff_ns: f64,
    /// When that sample came.
    updated: Time,
    /// Increases or samples in a row, of the counted kind.
    in_a_row: u32,
    /// With one update per window: the next comes with the first ACK above this byte.
    window_end: u64,
}

impl Timely {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let mut sender = Self {
            rate: BoundedRate::new(params, environment)?,
            ewma: params.number("ewma")?,
            beta: params.number("beta")?,
            t_low_ns: params.number("t_low_ns")?,
            t_high_ns: params.number("t_high_ns")?,
            min_rtt_ns: params.number("min_rtt_ns")?,
            delta_bps: params.number("delta_mbps")? * 1e6 * environment.line_bps() / STEP_LINE_BPS,
            hai_factor: params.number("hai_factor")?,
            hai_trigger: params.number("hai_trigger")?,
            hai_counts: match params.choice("hai_counts")? {
                "every" => HaiCounts::Every,
                "every_branch" => HaiCounts::EveryBranch,
                "raw" => HaiCounts::Raw,
                _ => HaiCounts::Gradient,
            },
            scales_by_time: params.choice("scale_by_time")? == "on",
            max_cut: params.number("max_cut")?,
            is_patched: params.choice("patched")? == "on",
            once_per_window: params.choice("update")? == "window",
            app_limit: params.number("app_limit")?,
            prev_rtt_ns: None,
            rtt_diff_ns: 0.0,
            updated: Time::ZERO,
            in_a_row: 0,
            window_end: 0,
        };
        sender.rate.set(sender.rate.line_bps() * params.number("start_share")?);
        if sender.t_low_ns > sender.t_high_ns {
            let cause =
                format!("t_low_ns {} is greater than t_high_ns {}", sender.t_low_ns, sender.t_high_ns);
            return Err(params.error("t_low_ns", cause, "set t_low_ns <= t_high_ns".to_owned()));
        }
        Ok(sender)
    }

    /// docs/algorithms/timely.md#timely-update.
    fn update(&mut self, now: Time, rtt: Span, sent_bps: Option<f64>) {
        let rtt_ns = rtt.as_ps() as f64 / 1_000.0;
        let weight = self.weight_of_time(now);
        // "First sample only sets prev_rtt."
        let Some(prev_rtt_ns) = self.prev_rtt_ns.replace(rtt_ns) else { return };
        self.rtt_diff_ns = (1.0 - self.ewma) * self.rtt_diff_ns + self.ewma * (rtt_ns - prev_rtt_ns);
        let gradient = self.rtt_diff_ns / self.min_rtt_ns;
        if self.hai_counts.by_sample() {
            let counts = match self.hai_counts {
                HaiCounts::Raw => rtt_ns < prev_rtt_ns,
                // Queue-size mode knows no gradient.
                _ => gradient <= 0.0 && self.t_low_ns < self.t_high_ns,
            };
            self.count(counts);
        }
        if rtt_ns < self.t_low_ns {
            self.increase(false, weight, sent_bps);
        } else if rtt_ns > self.t_high_ns || self.t_low_ns == self.t_high_ns {
            // "Uses the raw sample, not the smoothed one."
            self.decrease(1.0 - weight * self.beta * (1.0 - self.t_high_ns / rtt_ns));
        } else if self.is_patched {
            self.follow_patched(rtt_ns, gradient, weight, sent_bps);
        } else if gradient <= 0.0 {
            self.increase(true, weight, sent_bps);
        } else {
            self.decrease((1.0 - self.beta * gradient).max(0.0));
        }
    }

    /// docs/algorithms/timely.md#timely-update, the authors' code: `min(1, time since last update / minRTT)`.
    fn weight_of_time(&mut self, now: Time) -> f64 {
        let elapsed_ns = now.since(core::mem::replace(&mut self.updated, now)).as_ps() as f64 / 1e3;
        if self.scales_by_time { (elapsed_ns / self.min_rtt_ns).min(1.0) } else { 1.0 }
    }

    /// "Raise R only if the measured send rate exceeds 80 % of R."
    fn is_application_limited(&self, sent_bps: Option<f64>) -> bool {
        sent_bps.is_some_and(|sent| sent <= self.app_limit * self.rate.bps())
    }

    /// Goes on with the row that starts hyperactive increase, or ends it.
    fn count(&mut self, goes_on: bool) {
        self.in_a_row = if goes_on { self.in_a_row.saturating_add(1) } else { 0 };
    }

    fn increase(&mut self, by_gradient: bool, weight: f64, sent_bps: Option<f64>) {
        let can_be_hyper = self.hai_counts.applies(by_gradient);
        if !self.hai_counts.by_sample() {
            self.count(can_be_hyper);
        }
        if self.is_application_limited(sent_bps) {
            return;
        }
        let is_hyper = can_be_hyper && f64::from(self.in_a_row) >= self.hai_trigger;
        let steps = if is_hyper { self.hai_factor } else { 1.0 };
        self.rate.set(self.rate.bps() + steps * weight * self.delta_bps);
    }

    fn decrease(&mut self, factor: f64) {
        if !self.hai_counts.by_sample() {
            self.count(false);
        }
        self.rate.set(self.rate.bps() * factor.max(1.0 - self.max_cut));
    }

    /// docs/algorithms/timely.md#timely-variants, patched TIMELY: `w = clamp(2 grad + 1/2, 0, 1)`, `err =
    /// (rtt - T_low)/T_low`, `R = delta (1 - w) + R (1 - 0.008 w err)`.
    fn follow_patched(&mut self, rtt_ns: f64, gradient: f64, weight: f64, sent_bps: Option<f64>) {
        let w = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
        let error = if self.t_low_ns > 0.0 { (rtt_ns - self.t_low_ns) / self.t_low_ns } else { 0.0 };
        self.count(false);
        let step_bps =
            if self.is_application_limited(sent_bps) { 0.0 } else { weight * self.delta_bps * (1.0 - w) };
        let kept = (1.0 - PATCHED_BETA * w * error).max(1.0 - self.max_cut);
        self.rate.set(step_bps + self.rate.bps() * kept);
    }
}

impl RateControl for Timely {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let Some(rtt) = ack.rtt else { return };
        if self.once_per_window {
            if ack.ack <= self.window_end {
                return;
            }
            self.window_end = ack.snd_nxt;
        }
        self.update(ack.now, rtt, ack.sent_bps);
    }

    fn rate_bps(&self) -> f64 {
        self.rate.bps()
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        self.rate.cwnd_bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::tests::{environment, made};
    use super::*;

    const PAPER: &str = r#"{"name":"timely","r_min_mbps":10,"ewma":0.875}"#;

    fn feed(control: &mut dyn RateControl, rtts_us: &[f64]) -> f64 {
        for rtt_us in rtts_us {
            let rtt = Some(Span::from_ps((rtt_us * 1e6) as u64));
            control.on_ack(&RateAck { rtt, ..RateAck::default() });
        }
        control.rate_bps()
    }

    /// A sender at 10 Gbit/s brought down to 5 by one sample at the high threshold's double.
    fn slowed(json: &str) -> Box<dyn RateControl> {
        let mut control = made(json, &environment(10, 20));
        // 1 - 0.8 (1 - 500/800) = 0.7, then 1 - 0.8 (1 - 500/777.77…) = 0.714…: half the line rate.
        let rate = feed(&mut *control, &[100.0, 800.0, 500.0 / (1.0 - 0.285_714_285_714 / 0.8)]);
        assert!((rate - 5e9).abs() < 1e4, "{rate}");
        control
    }

    /// docs/algorithms/timely.md#timely-update, the four branches by hand at 10 Gbit/s.
    #[test]
    fn the_four_branches() {
        // Below t_low: one step of 10 Mbit/s.
        assert!((feed(&mut *slowed(PAPER), &[40.0]) - 5.01e9).abs() < 1e4);
        // Above t_high: 1 - 0.8 (1 - 500/1000) = 0.6.
        assert!((feed(&mut *slowed(PAPER), &[1_000.0]) - 3e9).abs() < 1e4);
        // Between, falling: one step.
        assert!((feed(&mut *slowed(PAPER), &[400.0]) - 5.01e9).abs() < 1e4);
        // Between, rising: three level samples let the smoothed difference decay, then 2 us more: the
        // gradient is about 0.875 * 2/20 = 0.0875, the factor 1 - 0.8 * 0.0875 = 0.93.
        let mut control = slowed(PAPER);
        let before = feed(&mut *control, &[100.0; 30]);
        let after = feed(&mut *control, &[102.0]);
        assert!((after / before - 0.93).abs() < 1e-6, "{}", after / before);
    }

    /// docs/algorithms/timely.md#timely-update: "below" and "above" the thresholds; a sample that equals one
    /// is between them, where the gradient decides.
    #[test]
    fn a_sample_at_a_threshold_follows_the_gradient() {
        // Falling to t_high: one step, where the cut above t_high would take nothing.
        assert!((feed(&mut *slowed(PAPER), &[500.0]) - 5.01e9).abs() < 1e4);
        // Rising to t_low: the difference of 10 us over a minRTT of 20 us cuts by 0.8 * 0.5.
        let json = r#"{"name":"timely","r_min_mbps":10,"ewma":1}"#;
        let mut control = slowed(json);
        let before = feed(&mut *control, &[40.0]);
        assert!((feed(&mut *control, &[50.0]) / before - 0.6).abs() < 1e-6);
        // The gradient's own threshold: a level sample raises the rate.
        let before = control.rate_bps();
        assert!((feed(&mut *control, &[50.0]) - before - 1e7).abs() < 1e4);
    }

    /// docs/algorithms/timely.md#timely-update, #number-timely-rates: the
    /// fifth increase in a row is five steps; from 200 Mbit/s to 1.5 Gbit/s
    /// at 20 Gbit/s it takes as many samples as the model of the spec has.
    #[test]
    fn hyperactive_increase_begins_with_the_fifth() {
        let mut control = slowed(PAPER);
        let rates: Vec<f64> = (0..7).map(|_| feed(&mut *control, &[100.0]) / 1e6).collect();
        let steps: Vec<i64> = rates.windows(2).map(|pair| (pair[1] - pair[0]).round() as i64).collect();
        assert_eq!(steps, [10, 10, 10, 50, 50, 50]);
        // A sample below t_low ends the row of increases by gradient and continues the others.
        for (counts, want) in [("gradient", 10), ("every_branch", 50), ("every", 50)] {
            let mut control =
                slowed(&format!(r#"{{"name":"timely","r_min_mbps":10,"hai_counts":"{counts}"}}"#));
            feed(&mut *control, &[100.0, 100.0, 100.0, 100.0, 40.0]);
            let before = control.rate_bps();
            let step = (feed(&mut *control, &[39.0]) - before) / 1e6;
            assert_eq!(step.round() as i64, want, "{counts}");
        }
    }

    /// docs/algorithms/timely.md#choice-timely-hai-count: a sample counts by its gradient, not by its branch.
    /// A falling one above t_high continues the row although it cuts the rate, a rising one below t_low ends
    /// it although it raises the rate.
    #[test]
    fn every_branch_counts_negative_gradients() {
        for (samples, counts, want) in [
            ([700.0, 600.0, 400.0, 390.0, 380.0], "every_branch", 50),
            ([700.0, 600.0, 400.0, 390.0, 380.0], "gradient", 10),
            ([45.0, 44.0, 43.0, 47.0, 46.0], "every_branch", 10),
            ([45.0, 44.0, 43.0, 47.0, 46.0], "every", 50),
        ] {
            let mut control =
                slowed(&format!(r#"{{"name":"timely","r_min_mbps":10,"ewma":1,"hai_counts":"{counts}"}}"#));
            feed(&mut *control, &samples[..4]);
            let before = control.rate_bps();
            let step = (feed(&mut *control, &samples[4..]) - before) / 1e6;
            assert_eq!(step.round() as i64, want, "{counts} {samples:?}");
        }
    }

    /// docs/algorithms/timely.md#timely-update, TIMELY 2015: a flow
    /// that sends no more than 80 % of its rate does not raise it.
    #[test]
    fn an_application_limited_flow_does_not_rise() {
        for (share, rises) in [(0.79, false), (0.8, false), (0.81, true)] {
            let mut control = slowed(PAPER);
            let before = control.rate_bps();
            let sent_bps = Some(before * share);
            control.on_ack(&RateAck { rtt: Some(Span::from_us(40)), sent_bps, ..RateAck::default() });
            assert_eq!(control.rate_bps() > before, rises, "{share}");
        }
    }

    /// docs/algorithms/timely.md#timely-update, the authors' code: five raw falls in a row start hyperactive
    /// increase, a step and the cut above t_high weigh by time, and no update takes more than half.
    #[test]
    fn the_reference_form() {
        let json = r#"{"name":"timely","r_min_mbps":10,"t_high_ns":1000000,"hai_counts":"raw",
            "scale_by_time":"on","max_cut":0.5,"start_share":0.5}"#;
        let mut control = made(json, &environment(10, 20));
        let mut now = Time::ZERO;
        let mut feed = |rtt_us: f64, later_us: u64| {
            now += Span::from_us(later_us);
            let before = control.rate_bps();
            let rtt = Some(Span::from_ps((rtt_us * 1e6) as u64));
            control.on_ack(&RateAck { now, rtt, ..RateAck::default() });
            (control.rate_bps() - before, control.rate_bps() / before)
        };
        assert_eq!(feed(600.0, 1_000).0, 0.0);
        // Falling samples, 5 us apart: a quarter of minRTT,
        // so a quarter of a step; the fifth is five quarters.
        let steps: Vec<f64> =
            (1..6).map(|fall| (feed(600.0 - 10.0 * f64::from(fall), 5).0 / 1e5).round() / 10.0).collect();
        assert_eq!(steps, [2.5, 2.5, 2.5, 2.5, 12.5]);
        // 4 ms: 1 - 0.8 (1 - 1/4) = 0.4 is more than half; a tenth of the time takes a tenth of it.
        assert!((feed(4_000.0, 100).1 - 0.5).abs() < 1e-9);
        assert!((feed(4_000.0, 2).1 - 0.94).abs() < 1e-9);
    }

    /// docs/algorithms/timely.md#timely-variants, patched, by hand: a
    /// level RTT of 100 us with t_low 50 us has w = 1/2 and err = 1.
    #[test]
    fn the_patched_form() {
        let mut control = slowed(r#"{"name":"timely","r_min_mbps":10,"ewma":0.875,"patched":"on"}"#);
        feed(&mut *control, &[100.0; 60]);
        let before = control.rate_bps();
        let after = feed(&mut *control, &[100.0]);
        let want = 5e6 + before * (1.0 - 0.008 * 0.5);
        assert!((after - want).abs() < 1e3, "{after} {want}");
        // It has a fixed point, R = delta (1 - w)/(0.008 w
        // err): 1.25 Gbit/s here; the gradient alone has none.
        let rest = feed(&mut *control, &[100.0; 5_000]);
        assert!((rest / 1.25e9 - 1.0).abs() < 1e-3, "{rest}");
    }

    /// docs/algorithms/timely.md#number-timely-rates: the pure increase model of the HAI row. 100 connections
    /// share 20 Gbit/s, so each starts at 200 Mbit/s; one completion of a segment comes each `segment/R`.
    /// Steps of the server's NIC of 10 Gbit/s are 10 Mbit/s.
    #[test]
    fn time_of_a_pure_increase() {
        let time_to = |target_bps: f64, segment_bytes: f64, hai_trigger: u32| {
            let json = format!(
                r#"{{"name":"timely","r_min_mbps":10,"start_share":0.02,"hai_trigger":{hai_trigger}}}"#
            );
            let mut control = made(&json, &environment(10, 20));
            let mut seconds = 0.0;
            while control.rate_bps() < target_bps {
                seconds += 8.0 * segment_bytes / control.rate_bps();
                let rtt = Some(Span::from_us(100));
                control.on_ack(&RateAck { rtt, ..RateAck::default() });
            }
            1e3 * seconds
        };
        let never = 1_000_000;
        for (target_bps, kib, trigger, want_ms) in [
            (1.5e9, 64.0, never, 107.0),
            (2e9, 64.0, never, 122.0),
            (1.5e9, 32.0, never, 53.0),
            (1.5e9, 16.0, never, 27.0),
            // Five steps from the first increase on, as the spec's 22, 25, 11 and 5.6 ms.
            (1.5e9, 64.0, 1, 22.0),
            (2e9, 64.0, 1, 25.0),
            (1.5e9, 32.0, 1, 11.0),
            (1.5e9, 16.0, 1, 5.6),
        ] {
            let found = time_to(target_bps, kib * 1_024.0, trigger);
            // Its first sample sets prev_rtt only: one segment at 200 Mbit/s more than the model.
            let first = 8.0 * kib * 1_024.0 / 200e6 * 1e3;
            assert!(
                (found - first - want_ms).abs() < 0.03 * want_ms,
                "{kib} KiB: {found} - {first}, {want_ms}"
            );
        }
    }

    /// docs/algorithms/timely.md#timely-variants: queue-size mode knows no gradient.
    #[test]
    fn equal_thresholds_make_the_queue_size_mode() {
        let json = r#"{"name":"timely","r_min_mbps":10,"t_low_ns":500000,"t_high_ns":500000}"#;
        let mut control = slowed(json);
        let before = control.rate_bps();
        assert_eq!(feed(&mut *control, &[500.0]), before);
        assert!(feed(&mut *control, &[499.0]) > before);
        // Nor does hyperactive increase find one to count.
        let every = json.replace('}', r#","ewma":1,"hai_counts":"every_branch"}"#);
        let mut control = slowed(&every);
        let before = control.rate_bps();
        let rate = feed(&mut *control, &[490.0, 480.0, 470.0, 460.0, 450.0, 440.0]);
        assert_eq!(((rate - before) / 1e6).round() as i64, 60);
    }

    /// docs/algorithms/timely.md#choice-timely-hai-count: a level sample has a gradient of 0 and counts; by
    /// the authors' code, which counts falls of the raw round-trip time, it ends the row.
    #[test]
    fn level_samples_count_by_their_gradient_alone() {
        for (counts, want) in [("every_branch", 50), ("raw", 10)] {
            let mut control =
                slowed(&format!(r#"{{"name":"timely","r_min_mbps":10,"ewma":1,"hai_counts":"{counts}"}}"#));
            let before = feed(&mut *control, &[104.0, 103.0, 102.0, 102.0, 102.0]);
            let step = (feed(&mut *control, &[101.0]) - before) / 1e6;
            assert_eq!(step.round() as i64, want, "{counts}");
        }
    }

    /// docs/algorithms/timely.md#timely-variants: the error is relative to t_low; without one it is none, and
    /// nothing is cut.
    #[test]
    fn the_patched_form_without_a_lower_threshold() {
        let mut control = slowed(r#"{"name":"timely","r_min_mbps":10,"ewma":1,"patched":"on","t_low_ns":0}"#);
        feed(&mut *control, &[100.0, 100.0]);
        let before = control.rate_bps();
        // A level sample has w = 1/2: half a step.
        assert!((feed(&mut *control, &[100.0]) - before - 5e6).abs() < 1e-3);
    }

    /// docs/algorithms/timely.md#rtt-sample: with one update per window, ACKs within it change nothing.
    #[test]
    fn once_per_window() {
        let mut control = made(r#"{"name":"timely","update":"window"}"#, &environment(10, 20));
        let mut rate = |ack, rtt_us| {
            let rtt = Some(Span::from_us(rtt_us));
            control.on_ack(&RateAck { ack, snd_nxt: ack + 10_000, rtt, ..RateAck::default() });
            control.rate_bps()
        };
        assert_eq!((rate(1, 100), rate(5_000, 1_000)), (10e9, 10e9));
        // The window of the first ends with byte 10001.
        assert_eq!(rate(10_001, 1_000), 10e9);
        assert!(rate(10_002, 1_000) < 10e9);
    }

    /// docs/algorithms/timely.md#timely-variants: `W = W_max R/R_max`.
    #[test]
    fn the_window_follows_the_rate() {
        let mut control = made(r#"{"name":"timely","window":"vwin"}"#, &environment(100, 13));
        assert_eq!(control.cwnd_bytes(), Some(162_500.0));
        feed(&mut *control, &[100.0, 1_000.0]);
        assert!((control.cwnd_bytes().expect("a window") - 0.6 * 162_500.0).abs() < 1e-6);
        assert_eq!(made(PAPER, &environment(10, 20)).cwnd_bytes(), None);
    }

    proptest! {
        /// A longer round-trip time never leads to a higher rate.
        #[test]
        fn the_rate_falls_with_the_sample(rtt_us in 1.0_f64..2_000.0, longer in 0.0_f64..500.0) {
            let after = |rtt_us| feed(&mut *slowed(PAPER), &[100.0, 100.0, rtt_us]);
            prop_assume!(rtt_us >= 50.0 && (rtt_us + longer <= 500.0 || rtt_us > 500.0));
            prop_assert!(after(rtt_us + longer) <= after(rtt_us));
        }

        /// Whatever `gradient` counts, `every_branch` counts too.
        #[test]
        fn with_every_branch_no_rate_is_lower(rtts_us in vec(20.0_f64..700.0, 2..40)) {
            let rates = |counts: &str| {
                let mut control = made(
                    &format!(r#"{{"name":"timely","r_min_mbps":10,"start_share":0.001,"hai_counts":"{counts}"}}"#),
                    &environment(10, 20),
                );
                rtts_us.iter().map(|rtt_us| feed(&mut *control, &[*rtt_us])).collect::<Vec<_>>()
            };
            let by_gradient = rates("gradient");
            for (broad, narrow) in rates("every_branch").iter().zip(&by_gradient) {
                prop_assert!(broad >= narrow, "{broad} {narrow}");
            }
        }
    }
}
