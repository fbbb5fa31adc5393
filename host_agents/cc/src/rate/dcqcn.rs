//! DCQCN's reaction point in two forms (docs/algorithms/dcqcn.md#dcqcn-sender): as the ns-3 simulator and the
//! hardware that it follows have it, and as its paper has it.
//!
//! The simulator form: three timers decide: one smooths `alpha`, one cuts if a notification came since it
//! last fired, one raises the rate by stages: fast recovery halves the distance to the target, additive and
//! hyper increase lift the target. The published form: every notification cuts; a timer and a counter of
//! bytes both count stages.
//!
//! Invariants: `0 <= alpha <= 1`; before the first notification no timer runs.

use p4cc_units::{Bytes, Span, Time};

use super::bounded::{BoundedRate, R_MIN, R_MIN_SHARE, WINDOW};
use super::control::{RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

const fn timer(name: &'static str, summary: &'static str, default: f64) -> ParamInfo {
    let domain = Domain::Number { default: Some(default), min: 100.0, max: 3.6e12 };
    ParamInfo { name, unit: "ns", summary, domain, source: "docs/algorithms/dcqcn.md#dcqcn-sender" }
}

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "dcqcn",
    kind: Kind::RateControl,
    summary: "cuts the rate by a smoothed fraction of intervals with notifications, and recovers in timed \
        stages",
    parameters: &[
        timer("alpha_timer_ns", "update interval of alpha; 50 us in the paper's setting", 1e3),
        timer("decrease_timer_ns", "minimum interval between cuts; 50 us in the paper's setting", 4e3),
        timer("increase_timer_ns", "interval of the increase stages; 55 us in the paper's setting", 300e3),
        ParamInfo {
            name: "g",
            unit: "ratio",
            summary: "weight of the newest interval in alpha",
            domain: Domain::Number { default: Some(1.0 / 256.0), min: 0.000_01, max: 1.0 },
            source: "docs/algorithms/dcqcn.md#dcqcn-sender, #choice-dcqcn-g",
        },
        ParamInfo {
            name: "f",
            unit: "stages",
            summary: "stages of fast recovery; 5 in the paper",
            domain: Domain::Number { default: Some(1.0), min: 0.0, max: 1e6 },
            source: "docs/algorithms/dcqcn.md#dcqcn-sender",
        },
        ParamInfo {
            name: "ai_mbps",
            unit: "Mbit/s",
            summary: "additive increase step, per 25 Gbit/s of line rate",
            domain: Domain::Number { default: Some(5.0), min: 0.0, max: 1e6 },
            source: "docs/algorithms/dcqcn.md#dcqcn-sender",
        },
        ParamInfo {
            name: "hai_mbps",
            unit: "Mbit/s",
            summary: "hyper increase step, per 25 Gbit/s of line rate",
            domain: Domain::Number { default: Some(50.0), min: 0.0, max: 1e6 },
            source: "docs/algorithms/dcqcn.md#dcqcn-sender",
        },
        ParamInfo {
            name: "clamp_target",
            unit: "",
            summary: "'on' lowers the target rate at every cut, not only at the first one after an increase",
            domain: Domain::Choice { default: "off", options: &["off", "on"] },
            source: "docs/algorithms/dcqcn.md#dcqcn-sender",
        },
        ParamInfo {
            name: "form",
            unit: "",
            summary: "'hs' cuts on a timer; 'paper' cuts at every notification, and increases by timer and \
                byte counter",
            domain: Domain::Choice { default: "hs", options: &["hs", "paper"] },
            source: "docs/algorithms/dcqcn.md#dcqcn-sender",
        },
        ParamInfo {
            name: "byte_counter_bytes",
            unit: "B",
            summary: "with form 'paper': bytes sent that count as one stage, as the increase timer does",
            domain: Domain::Number { default: Some(10e6), min: 1.0, max: 1e12 },
            source: "docs/algorithms/dcqcn.md#dcqcn-published-form",
        },
        R_MIN,
        R_MIN_SHARE,
        WINDOW,
    ],
    switch_needs: SwitchNeed::RandomEcn,
    source: "docs/algorithms/dcqcn.md#dcqcn",
    make: Make::RateControl(|params, environment| Ok(Box::new(Dcqcn::new(params, environment)?))),
};

/// docs/algorithms/dcqcn.md#dcqcn-sender: steps are given for 25 Gbit/s and scale with the line rate.
const STEP_LINE_BPS: f64 = 25e9;

/// docs/algorithms/dcqcn.md#dcqcn-sender: the decrease timer starts
/// "1 ns later" than the alpha timer, so that alpha is updated first.
const DECREASE_AFTER: Span = Span::from_ns(1);

/// When each timer fires next; none runs before the first notification.
#[derive(Clone, Copy, Default, Debug)]
struct Timers {
    alpha: Option<Time>,
    decrease: Option<Time>,
    increase: Option<Time>,
}

impl Timers {
    fn next(&self) -> Option<Time> {
        [self.alpha, self.decrease, self.increase].into_iter().flatten().min()
    }
}

/// Moves a timer behind `now`; how often it was due till then.
fn pass(timer: &mut Option<Time>, interval: Span, now: Time) -> u64 {
    let Some(at) = timer.filter(|at| *at <= now) else { return 0 };
    let times = now.since(at).as_ps() / interval.as_ps() + 1;
    *timer = Some(at + Span::from_ps(interval.as_ps() * times));
    times
}

/// State of one DCQCN sender.
#[derive(Clone, Copy, Debug)]
struct Dcqcn {
    rate: BoundedRate,
    alpha_interval: Span,
    decrease_interval: Span,
    increase_interval: Span,
    g: f64,
    f: f64,
    ai_bps: f64,
    hai_bps: f64,
    clamp_target: bool,
    /// `R_T` of docs/algorithms/dcqcn.md#dcqcn-sender; `R_C` is the rate.
    target_bps: f64,
    alpha: f64,
    /// Increases since the last cut.
    stage: u32,
    timers: Timers,
    /// A notification came since alpha's last update, and since the last look of the decrease timer.
    cnp_for_alpha: bool,
    cnp_for_decrease: bool,
    /// With the paper's form: what counts bytes.
    counter: Option<ByteCounter>,
}

/// The paper's second source of stages.
#[derive(Clone, Copy, Debug)]
struct ByteCounter {
    every: f64,
    bytes: f64,
    stage: u32,
}

impl Dcqcn {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let rate = BoundedRate::new(params, environment)?;
        // The registry's range lies far below 2^64.
        let interval = |name| params.number(name).map(|ns| Span::from_ns(ns as u64));
        let step_bps = |name| params.number(name).map(|mbps| mbps * 1e6 * rate.line_bps() / STEP_LINE_BPS);
        Ok(Self {
            rate,
            alpha_interval: interval("alpha_timer_ns")?,
            decrease_interval: interval("decrease_timer_ns")?,
            increase_interval: interval("increase_timer_ns")?,
            g: params.number("g")?,
            f: params.number("f")?,
            ai_bps: step_bps("ai_mbps")?,
            hai_bps: step_bps("hai_mbps")?,
            clamp_target: params.choice("clamp_target")? == "on",
            target_bps: rate.bps(),
            alpha: 1.0,
            stage: 0,
            timers: Timers::default(),
            cnp_for_alpha: false,
            cnp_for_decrease: false,
            counter: (params.choice("form")? == "paper")
                .then_some(params.number("byte_counter_bytes")?)
                .map(|every| ByteCounter { every, bytes: 0.0, stage: 0 }),
        })
    }

    /// The published form: "on CNP R_T = R_C; R_C *= 1 - alpha/2;
    /// alpha = (1-g) alpha + g", and both counts of stages start anew.
    fn cut_at_once(&mut self, now: Time) {
        self.target_bps = self.rate.bps();
        self.rate.set(self.rate.bps() * (1.0 - self.alpha / 2.0));
        self.alpha = ((1.0 - self.g) * self.alpha + self.g).clamp(0.0, 1.0);
        self.stage = 0;
        if let Some(counter) = &mut self.counter {
            (counter.bytes, counter.stage) = (0.0, 0);
        }
        self.timers.alpha = Some(now + self.alpha_interval);
        self.timers.increase = Some(now + self.increase_interval);
    }

    /// The published form: "max(T, BC) < F fast recovery; min(T, BC) > F hyper with R_T += i R_HAI, i =
    /// min(T, BC) - F; else additive". The event that is counted is the newest of `T` and `BC`.
    fn increase_by_both(&mut self, by_bytes: u32) {
        let (most, least) = (f64::from(self.stage.max(by_bytes)), f64::from(self.stage.min(by_bytes)));
        let step_bps = if most < self.f {
            0.0
        } else if least > self.f {
            (least - self.f) * self.hai_bps
        } else {
            self.ai_bps
        };
        self.target_bps = (self.target_bps + step_bps).min(self.rate.line_bps());
        self.rate.set((self.rate.bps() + self.target_bps) / 2.0);
    }

    /// "Alpha timer: alpha = (1-g) alpha + g [CNP since last]."
    fn update_alpha(&mut self) {
        let seen = f64::from(u8::from(core::mem::take(&mut self.cnp_for_alpha)));
        self.alpha = ((1.0 - self.g) * self.alpha + self.g * seen).clamp(0.0, 1.0);
    }

    /// "Decrease timer: if a CNP came …" and the stages start anew.
    fn decrease(&mut self, at: Time) {
        if !core::mem::take(&mut self.cnp_for_decrease) {
            return;
        }
        if self.clamp_target || self.stage > 0 {
            self.target_bps = self.rate.bps();
        }
        self.rate.set(self.rate.bps() * (1.0 - self.alpha / 2.0));
        self.stage = 0;
        self.timers.increase = Some(at + self.increase_interval);
    }

    /// "Increase timer": fast recovery, additive, hyper; all end with the mean of rate and target.
    fn increase(&mut self) {
        if let Some(counter) = self.counter {
            self.stage = self.stage.saturating_add(1);
            return self.increase_by_both(counter.stage);
        }
        let stage = f64::from(self.stage);
        if stage >= self.f {
            let step_bps = if stage == self.f { self.ai_bps } else { self.hai_bps };
            self.target_bps = (self.target_bps + step_bps).min(self.rate.line_bps());
        }
        self.rate.set((self.rate.bps() + self.target_bps) / 2.0);
        self.stage = self.stage.saturating_add(1);
    }

    /// No increase changes rate or target any more: they are equal, and no step lifts the target.
    fn is_recovered(&self) -> bool {
        let has_no_step =
            self.target_bps == self.rate.line_bps() || (self.ai_bps == 0.0 && self.hai_bps == 0.0);
        self.rate.bps() == self.target_bps && has_no_step
    }

    /// Alpha after so many updates without a notification: to the last bit what [`Self::update_alpha`] gives,
    /// and done once rounding keeps the value.
    fn decay_alpha(&mut self, updates: u64) {
        for _ in 0..updates {
            let before = self.alpha;
            self.update_alpha();
            if self.alpha == before {
                return;
            }
        }
    }

    /// Lets the timer that is due at `at` fire; at one instant alpha's goes first, then the decrease.
    fn fire(&mut self, at: Time) {
        let timers = self.timers;
        if timers.alpha == Some(at) {
            self.timers.alpha = Some(at + self.alpha_interval);
            self.update_alpha();
        } else if timers.decrease == Some(at) {
            self.timers.decrease = Some(at + self.decrease_interval);
            self.decrease(at);
        } else {
            self.timers.increase = Some(at + self.increase_interval);
            self.increase();
        }
    }
}

impl RateControl for Dcqcn {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        if ack.cnp {
            self.on_cnp(ack.now);
        }
    }

    fn on_cnp(&mut self, now: Time) {
        if self.counter.is_some() {
            return self.cut_at_once(now);
        }
        if self.timers.alpha.is_none() {
            // "First CNP: alpha = 1, R_T = R_C (no cut yet),
            // start alpha timer and (1 ns later) decrease timer."
            self.alpha = 1.0;
            self.target_bps = self.rate.bps();
            self.timers.alpha = Some(now + self.alpha_interval);
            self.timers.decrease = Some(now + self.decrease_interval + DECREASE_AFTER);
        }
        self.cnp_for_alpha = true;
        self.cnp_for_decrease = true;
    }

    fn on_sent(&mut self, _now: Time, size: Bytes) {
        // No stage counts before the first cut: there is nothing to recover from.
        let Some(counter) = self.counter.as_mut().filter(|_| self.timers.increase.is_some()) else { return };
        counter.bytes += size.0 as f64;
        if counter.bytes >= counter.every {
            counter.bytes -= counter.every;
            counter.stage = counter.stage.saturating_add(1);
            let by_bytes = counter.stage;
            self.increase_by_both(by_bytes);
        }
    }

    fn cuts_with_each_notification(&self) -> bool {
        self.counter.is_some()
    }

    fn next_timer(&self) -> Option<Time> {
        self.timers.next()
    }

    fn on_timer(&mut self, now: Time) {
        // Intervals are at least 100 ns, so a late call makes up for its lateness in bounded time; a caller
        // that keeps to `next_timer` fires what is due at that instant only.
        while let Some(at) = self.timers.next().filter(|at| *at <= now) {
            self.fire(at);
        }
    }

    fn skip_timers(&mut self, now: Time) {
        // Without a notification that waits, the timers do not read what each other writes.
        if self.cnp_for_alpha || self.cnp_for_decrease {
            return;
        }
        let alpha_updates = pass(&mut self.timers.alpha, self.alpha_interval, now);
        self.decay_alpha(alpha_updates);
        pass(&mut self.timers.decrease, self.decrease_interval, now);
        if self.is_recovered() {
            let stages = pass(&mut self.timers.increase, self.increase_interval, now);
            self.stage = self.stage.saturating_add(u32::try_from(stages).unwrap_or(u32::MAX));
        }
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
    use proptest::prelude::*;

    use super::super::tests::environment;
    use super::*;
    use crate::{AlgorithmSpec, registry};

    fn dcqcn(json: &str) -> Dcqcn {
        let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
        let info = registry().iter().find(|row| row.name == "dcqcn").expect("registered");
        let params = info.params("rate_control", &spec).expect("known parameters");
        Dcqcn::new(&params, &environment(100, 13)).expect("valid parameters")
    }

    /// docs/algorithms/dcqcn.md#dcqcn-sender: the first notification
    /// cuts nothing; the decrease timer does, by half while alpha is 1.
    #[test]
    fn the_first_cut_comes_with_the_decrease_timer() {
        let mut sender = dcqcn(r#"{"name":"dcqcn","g":0.5}"#);
        assert_eq!(sender.next_timer(), None);
        sender.on_cnp(Time::from_us(10));
        assert_eq!((sender.rate_bps(), sender.next_timer()), (100e9, Some(Time::from_us(11))));
        // Alpha's timer fires at 11 to 14 us: 1 with the notification, then halved three times.
        sender.on_timer(Time::from_us(14));
        assert_eq!((sender.alpha, sender.rate_bps()), (0.125, 100e9));
        assert_eq!(sender.next_timer(), Some(Time::from_ns(14_001)));
        sender.on_timer(Time::from_ns(14_001));
        assert_eq!(sender.rate_bps(), 100e9 * (1.0 - 0.125 / 2.0));
        // The target stays: no increase since.
        assert_eq!((sender.target_bps, sender.stage), (100e9, 0));
    }

    fn cut(json: &str) -> Dcqcn {
        let mut sender = dcqcn(json);
        (sender.alpha, sender.timers.alpha) = (1.0, Some(Time::MAX));
        sender.timers.decrease = Some(Time::MAX);
        sender.cnp_for_decrease = true;
        sender.decrease(Time::ZERO);
        assert_eq!((sender.rate_bps(), sender.target_bps), (50e9, 100e9));
        sender
    }

    /// docs/algorithms/README.md#properties: "DCQCN stage sequence FR, AI, HAI
    /// with F = 1 and 5", from half the line rate with a target of 80 Gbit/s.
    #[test]
    fn stages_of_the_increase() {
        for f in [1, 5] {
            let mut sender = cut(&format!(r#"{{"name":"dcqcn","f":{f}}}"#));
            sender.target_bps = 80e9;
            let (mut rate, mut target) = (50e9, 80e9);
            for stage in 0..f + 3 {
                // 20 and 200 Mbit/s at 100 Gbit/s.
                target += if stage < f {
                    0.0
                } else if stage == f {
                    20e6
                } else {
                    200e6
                };
                rate = (rate + target) / 2.0;
                let at = sender.next_timer().expect("the increase timer runs");
                assert_eq!(at, Time::from_us(300 * (stage + 1)));
                sender.on_timer(at);
                assert!((sender.rate_bps() - rate).abs() < 1.0, "F {f}, stage {stage}");
                assert!((sender.target_bps - target).abs() < 1.0, "F {f}, stage {stage}");
            }
        }
    }

    /// docs/algorithms/dcqcn.md#dcqcn-sender: "R_T = R_C unless (clamp off and stage = 0)".
    #[test]
    fn the_target_falls_with_a_cut_after_an_increase_only() {
        for (clamp, increases, target) in [("off", 0, 100e9), ("off", 1, 75e9), ("on", 0, 50e9)] {
            let mut sender = dcqcn(&format!(r#"{{"name":"dcqcn","clamp_target":"{clamp}"}}"#));
            sender.rate.set(50e9);
            (0..increases).for_each(|_| sender.increase());
            sender.cnp_for_decrease = true;
            sender.decrease(Time::ZERO);
            assert_eq!(sender.target_bps, target, "clamp {clamp}, {increases} increases");
        }
    }

    /// docs/algorithms/dcqcn.md#dcqcn-receiver, `ack_flag`: many marked ACKs within one interval are one cut.
    #[test]
    fn the_decrease_interval_thins_notifications() {
        let mut sender = dcqcn(r#"{"name":"dcqcn"}"#);
        for us in 0..4 {
            let ack = RateAck { now: Time::from_us(us), cnp: true, ..RateAck::default() };
            sender.on_ack(&ack);
            sender.on_timer(ack.now);
        }
        sender.on_timer(Time::from_ns(4_001));
        let once = sender.rate_bps();
        assert!((50e9..51e9).contains(&once), "{once}");
        sender.on_timer(Time::from_us(100));
        assert_eq!(sender.rate_bps(), once, "no notification, no cut");
    }

    /// docs/algorithms/dcqcn.md#dcqcn-sender, the published form, by hand, with steps of 40 and 400 Mbit/s at
    /// 100 Gbit/s: cut by half at once, alpha stays 1 while notifications come, falls without them; the timer
    /// alone stays additive, with the bytes it turns hyper.
    #[test]
    fn the_paper_cuts_at_once_and_counts_time_and_bytes() {
        let mut sender = dcqcn(
            r#"{"name":"dcqcn","form":"paper","f":2,"ai_mbps":10,"hai_mbps":100,"alpha_timer_ns":55000,
                "increase_timer_ns":55000,"byte_counter_bytes":1000000}"#,
        );
        sender.on_sent(Time::ZERO, Bytes(10_000_000));
        assert_eq!(sender.rate_bps(), 100e9, "nothing to recover from");
        sender.on_cnp(Time::ZERO);
        assert_eq!((sender.rate_bps(), sender.target_bps, sender.alpha), (50e9, 100e9, 1.0));
        sender.on_cnp(Time::from_us(50));
        assert_eq!((sender.rate_bps(), sender.target_bps), (25e9, 50e9));
        // 55 us later alpha decays and the first stage is fast
        // recovery; from the second on the target moves too.
        sender.on_timer(Time::from_us(105));
        assert_eq!((sender.rate_bps(), sender.alpha), (37.5e9, 1.0 - 1.0 / 256.0));
        sender.on_timer(Time::from_us(160));
        assert_eq!((sender.target_bps, sender.rate_bps()), (50.04e9, 43.77e9));
        // Bytes count to 3 and the timer to 3: min is above F = 2 by one.
        (0..3).for_each(|_| sender.on_sent(Time::from_us(161), Bytes(1_000_000)));
        let target_bps = sender.target_bps;
        sender.on_timer(Time::from_us(215));
        assert_eq!(sender.target_bps - target_bps, 400e6);
        sender.on_cnp(Time::from_us(216));
        assert_eq!((sender.stage, sender.counter.map(|counter| counter.stage)), (0, Some(0)));
    }

    /// docs/algorithms/dcqcn.md#dcqcn-sender, the published form: "max(T, BC) < F fast recovery; min(T, BC)
    /// > F hyper; else additive", where bytes beyond a stage count for the next; a cut moves alpha by g.
    #[test]
    fn the_papers_stages_follow_both_counts() {
        let mut sender = dcqcn(
            r#"{"name":"dcqcn","form":"paper","f":2,"ai_mbps":10,"hai_mbps":100,"alpha_timer_ns":55000,
                "increase_timer_ns":55000,"byte_counter_bytes":1000}"#,
        );
        assert!(sender.cuts_with_each_notification());
        assert!(!dcqcn(r#"{"name":"dcqcn"}"#).cuts_with_each_notification());
        sender.on_cnp(Time::ZERO);
        sender.on_cnp(Time::from_us(50));
        // 600 B at a time, 1000 B a stage: recovery at BC = 1, then steps of 40 Mbit/s, since T is 0.
        let by_bytes: Vec<_> = (0..5)
            .map(|_| {
                sender.on_sent(Time::from_us(60), Bytes(600));
                (sender.counter.map(|counter| counter.stage), sender.target_bps)
            })
            .collect();
        let wanted = [(0, 50e9), (1, 50e9), (1, 50e9), (2, 50.04e9), (3, 50.08e9)];
        assert_eq!(by_bytes, wanted.map(|(stage, target_bps)| (Some(stage), target_bps)));
        // T = 1 and 2 are not above F, T = 3 is by one.
        for (us, step_bps) in [(105, 40e6), (160, 40e6), (215, 400e6)] {
            let before_bps = sender.target_bps;
            sender.on_timer(Time::from_us(us));
            assert_eq!(sender.target_bps - before_bps, step_bps, "{us} us");
        }
        let (alpha, g) = (sender.alpha, 1.0 / 256.0);
        assert!(alpha < 1.0);
        sender.on_cnp(Time::from_us(216));
        assert_eq!(sender.alpha, (1.0 - g) * alpha + g);
    }

    /// An hour behind one notification: some 3.6 billion updates of alpha were due.
    #[test]
    fn an_hour_of_silence_takes_few_calls() {
        let mut sender = dcqcn(r#"{"name":"dcqcn"}"#);
        sender.on_cnp(Time::ZERO);
        let now = Time::from_ns(3_600_000_000_000);
        let mut calls = 0;
        loop {
            sender.skip_timers(now);
            let Some(at) = sender.next_timer().filter(|at| *at <= now) else { break };
            sender.on_timer(at);
            calls += 1;
        }
        assert!(calls < 1000, "{calls} calls");
        assert_eq!((sender.rate_bps(), sender.target_bps), (100e9, 100e9));
        assert!(sender.next_timer().is_some_and(|at| at > now));
    }

    #[test]
    fn plus_win_has_a_window() {
        let sender = cut(r#"{"name":"dcqcn","window":"vwin"}"#);
        assert_eq!(sender.cwnd_bytes(), Some(81_250.0));
    }

    proptest! {
        /// To the last bit, whether each timer fires or those that change no rate are let pass.
        #[test]
        fn timers_that_pass_leave_what_their_firing_leaves(
            form in prop::sample::select(vec!["hs", "paper"]),
            steps in prop::sample::select(vec![(5, 50), (0, 0), (500, 5_000)]),
            g in prop::sample::select(vec![0.004, 0.5]),
            cnps in prop::collection::vec((any::<bool>(), 1_u64..3_000_000), 1..12),
        ) {
            let (ai, hai) = steps;
            let json = format!(
                r#"{{"name":"dcqcn","form":"{form}","ai_mbps":{ai},"hai_mbps":{hai},"g":{g},
                    "increase_timer_ns":3000,"decrease_timer_ns":700,"alpha_timer_ns":300}}"#
            );
            let run = |skips: bool| {
                let mut sender = dcqcn(&json);
                let (mut now, mut rates) = (Time::ZERO, Vec::new());
                for (is_marked, silence_ns) in &cnps {
                    if *is_marked {
                        sender.on_cnp(now);
                    }
                    now += Span::from_ns(*silence_ns);
                    loop {
                        if skips {
                            sender.skip_timers(now);
                        }
                        let Some(at) = sender.next_timer().filter(|at| *at <= now) else { break };
                        let before_bps = sender.rate_bps();
                        sender.on_timer(at);
                        // What a pacer is told: when which rate began.
                        if sender.rate_bps() != before_bps {
                            rates.push((at, sender.rate_bps().to_bits()));
                        }
                    }
                }
                (format!("{sender:?}"), sender.alpha.to_bits(), rates)
            };
            prop_assert_eq!(run(true), run(false));
        }

        /// More notifications never leave a higher rate.
        #[test]
        fn notifications_do_not_raise_the_rate(cnps in prop::collection::vec(any::<bool>(), 1..100)) {
            let run = |notify: bool| {
                let mut sender = dcqcn(r#"{"name":"dcqcn"}"#);
                sender.on_cnp(Time::ZERO);
                for (us, cnp) in (1..).zip(&cnps) {
                    let now = Time::from_us(us * 5);
                    if notify && *cnp {
                        sender.on_cnp(now);
                    }
                    sender.on_timer(now);
                    assert!((0.0..=1.0).contains(&sender.alpha));
                }
                sender.rate_bps()
            };
            prop_assert!(run(true) <= run(false));
        }
    }
}
