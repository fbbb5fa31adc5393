//! D2TCP's sender (docs/algorithms/window.md#d2tcp): DCTCP whose
//! cut knows the deadline. Near deadlines cut less, far ones more.
//!
//! `p = alpha^d`, where `d` compares the time that the rest of the flow needs with the time that is left.
//! Without a deadline `d = 1`, and D2TCP is DCTCP step by step.
//!
//! Invariant: `d_min <= d <= d_max`, or `d` is `d_late`
//! after the deadline, or 1 where nothing can be compared.

use p4cc_units::Span;

use crate::alpha::{self, MarkedShare};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::reno::additive_increase;
use crate::{AckSample, CongestionAvoidance, Publisher, Reaction, Window};

/// docs/algorithms/window.md#d2tcp: the mean of a sawtooth
/// between half the window and the whole is three quarters of it.
const MEAN_WINDOW: f64 = 0.75;

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "d2tcp",
    kind: Kind::CongestionAvoidance,
    summary: "DCTCP with a cut of alpha^d, where d is the time that the flow still needs divided by the time \
        to its deadline",
    parameters: &[
        alpha::G,
        alpha::ALPHA0,
        alpha::CWND_MIN,
        alpha::ALPHA_BY,
        alpha::CWR_FREEZE,
        ParamInfo {
            name: "d_min",
            unit: "ratio",
            summary: "lower bound of the exponent, for far deadlines",
            domain: Domain::Number { default: Some(0.5), min: 0.01, max: 1.0 },
            source: "docs/algorithms/window.md#d2tcp",
        },
        ParamInfo {
            name: "d_max",
            unit: "ratio",
            summary: "upper bound of the exponent, for near deadlines",
            domain: Domain::Number { default: Some(2.0), min: 1.0, max: 100.0 },
            source: "docs/algorithms/window.md#d2tcp",
        },
        ParamInfo {
            name: "d_late",
            unit: "ratio",
            summary: "exponent after the deadline has passed; public implementations use 1 or 2",
            domain: Domain::Number { default: Some(1.0), min: 0.01, max: 100.0 },
            source: "docs/algorithms/window.md#d2tcp, #choice-d2tcp-missed",
        },
        ParamInfo {
            name: "d_step",
            unit: "ratio",
            summary: "step to which exponents are rounded down; 0 keeps real numbers, a kernel \
                implementation uses 1/128",
            domain: Domain::Number { default: Some(0.0), min: 0.0, max: 0.5 },
            source: "docs/algorithms/window.md#d2tcp",
        },
    ],
    switch_needs: SwitchNeed::OneEcnThreshold,
    source: "docs/algorithms/window.md#d2tcp",
    make: Make::CongestionAvoidance(|params| Ok(Box::new(D2tcp::new(params)?))),
};

/// State of one D2TCP sender.
#[derive(Clone, Copy, Debug)]
struct D2tcp {
    share: MarkedShare,
    d_min: f64,
    d_max: f64,
    d_late: f64,
    d_step: f64,
}

impl D2tcp {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            share: MarkedShare::new(params)?,
            d_min: params.number("d_min")?,
            d_max: params.number("d_max")?,
            d_late: params.number("d_late")?,
            d_step: params.number("d_step")?,
        })
    }

    /// The exponent `d` for a window of `cwnd_segments`.
    fn exponent(&self, ack: &AckSample, cwnd_segments: f64) -> f64 {
        let Some(deadline) = ack.flow.deadline else { return 1.0 };
        let left = deadline.since(ack.now);
        if left == Span::ZERO {
            return self.d_late;
        }
        let Some(segments_left) = ack.flow.segments_left else { return 1.0 };
        if segments_left <= 0.0 {
            // docs/algorithms/window.md#d2tcp: "bytes_left <= 0 -> 0.5".
            return self.d_min;
        }
        let Some(srtt) = ack.srtt else { return 1.0 };
        // docs/algorithms/window.md#d2tcp: "T_c = bytes_left * RTT / (0.75
        // * cwnd_bytes), D = deadline - now, d = clamp(T_c/D, 0.5, 2.0)".
        let needed_ps = segments_left * srtt.as_ps() as f64 / (MEAN_WINDOW * cwnd_segments);
        let exponent = (needed_ps / left.as_ps() as f64).clamp(self.d_min, self.d_max);
        if self.d_step > 0.0 {
            return (libm::floor(exponent / self.d_step) * self.d_step).max(self.d_min);
        }
        exponent
    }
}

impl CongestionAvoidance for D2tcp {
    fn start(&mut self, snd_nxt: u64) {
        self.share.start(snd_nxt);
    }

    fn observe(&mut self, ack: &AckSample, _window: &Window, publisher: &mut dyn Publisher) {
        self.share.observe(ack, publisher);
    }

    fn react(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> Reaction {
        if !self.share.cut_is_due(ack) {
            return Reaction::None;
        }
        // docs/algorithms/window.md#d2tcp: "p = alpha^d; marks seen -> cwnd = cwnd (1 - p/2)".
        let exponent = self.exponent(ack, window.cwnd());
        let alpha = self.share.alpha();
        let penalty = if exponent == 1.0 { alpha } else { libm::pow(alpha, exponent) };
        self.share.cut(penalty, ack, window, publisher);
        Reaction::Cut
    }

    fn grow(&mut self, ack: &AckSample, window: &mut Window) {
        // docs/algorithms/window.md#d2tcp: "else cwnd + 1" per window, as DCTCP.
        if !self.share.is_frozen(ack) {
            additive_increase(window, 1.0);
        }
    }

    fn reads_progress(&self) -> bool {
        true
    }

    fn grows_after_cut(&self, ack: &AckSample) -> bool {
        self.share.grows_after_cut(ack)
    }

    fn alpha(&self) -> Option<f64> {
        Some(self.share.alpha())
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Time;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{ack, avoidance, mark, params_of};
    use crate::{FlowProgress, Mark};

    fn d2tcp(json: &str) -> D2tcp {
        D2tcp::new(&params_of(&INFO, json).params()).expect("valid parameters")
    }

    /// An ACK at 1 ms of a flow with so many segments left and a deadline so many microseconds later.
    fn ack_with(segments_left: f64, srtt_us: u64, left_us: u64) -> AckSample {
        let now = Time::from_us(1_000);
        let deadline = Some(now + Span::from_us(left_us));
        let flow = FlowProgress { segments_left: Some(segments_left), deadline, ..FlowProgress::default() };
        AckSample { now, srtt: Some(Span::from_us(srtt_us)), flow, ..ack(1, 10, 100, Mark::Kdc) }
    }

    /// docs/algorithms/window.md#d2tcp by hand: 30 segments at a
    /// mean window of 0.75 * 20 = 15 take 2 round trips of 100 us.
    #[test]
    fn the_exponent_is_time_needed_over_time_left() {
        let sender = d2tcp(r#"{"name":"d2tcp"}"#);
        for (left_us, want) in [(200, 1.0), (160, 1.25), (100, 2.0), (10, 2.0), (400, 0.5), (9_000, 0.5)] {
            let got = sender.exponent(&ack_with(30.0, 100, left_us), 20.0);
            assert!((got - want).abs() < 1e-12, "{left_us} us left: {got}");
        }
        assert_eq!(sender.exponent(&ack_with(0.0, 100, 10), 20.0), 0.5);
        assert_eq!(sender.exponent(&ack_with(30.0, 100, 0), 20.0), 1.0);
        assert_eq!(d2tcp(r#"{"name":"d2tcp","d_late":2}"#).exponent(&ack_with(30.0, 100, 0), 20.0), 2.0);
        let unlimited = AckSample { flow: FlowProgress::default(), ..ack_with(1.0, 100, 10) };
        assert_eq!(sender.exponent(&unlimited, 20.0), 1.0);
        let unmeasured = AckSample { srtt: None, ..ack_with(30.0, 100, 10) };
        assert_eq!(sender.exponent(&unmeasured, 20.0), 1.0);
    }

    #[test]
    fn the_exponent_in_steps_of_a_kernel() {
        let sender = d2tcp(r#"{"name":"d2tcp","d_step":0.0078125}"#);
        let got = sender.exponent(&ack_with(30.0, 100, 190), 20.0);
        // 200/190 = 1.0526 is 134.7 steps of 1/128.
        assert_eq!(got, 134.0 / 128.0);
    }

    /// Equal marks, nearer deadline: the near flow keeps
    /// more of its window (docs/algorithms/window.md#d2tcp).
    #[test]
    fn a_near_deadline_cuts_less() {
        let after = |left_us| {
            let mut sender = avoidance(r#"{"name":"d2tcp","alpha0":0.25}"#);
            let mut window = Window::new(20.0, Window::MAX_SEGMENTS);
            sender.start(0);
            sender.react(&ack_with(30.0, 100, left_us), &mut window, &mut Vec::new());
            window.cwnd()
        };
        // alpha = 1/4: p = 1/16, 1/4 and 1/2.
        assert_eq!((after(50), after(200), after(5_000)), (19.375, 17.5, 15.0));
    }

    proptest! {
        /// docs/algorithms/window.md#d2tcp: the correction stays
        /// within its bounds and grows with the rest of the flow.
        #[test]
        fn the_correction_is_bounded_and_monotone(
            segments_left in 0.0_f64..1e9,
            more in 0.0_f64..1e6,
            srtt_us in 1_u64..1_000_000,
            left_us in 1_u64..100_000_000,
            cwnd in 1.0_f64..1e5,
        ) {
            let sender = d2tcp(r#"{"name":"d2tcp"}"#);
            let d = sender.exponent(&ack_with(segments_left, srtt_us, left_us), cwnd);
            prop_assert!((0.5..=2.0).contains(&d));
            prop_assert!(sender.exponent(&ack_with(segments_left + more, srtt_us, left_us), cwnd) >= d);
            prop_assert!(sender.exponent(&ack_with(segments_left, srtt_us, left_us * 2), cwnd) <= d);
        }

        /// docs/algorithms/window.md#d2tcp, docs/algorithms/README.md#properties:
        /// without deadlines D2TCP equals DCTCP step by step.
        #[test]
        fn without_a_deadline_it_is_dctcp(
            acks in prop::collection::vec((0_u64..4, mark()), 0..200),
            alpha0 in 0.0_f64..1.0,
        ) {
            let both = ["d2tcp", "dctcp"].map(|name| {
                let mut sender = avoidance(&format!(r#"{{"name":"{name}","alpha0":{alpha0}}}"#));
                let (mut window, mut una, mut events) = (Window::new(30.0, 1e9), 0, Vec::new());
                sender.start(0);
                for (n, mark) in &acks {
                    una += n;
                    let sample = AckSample { srtt: Some(Span::from_us(100)), ..ack(*n, una, una + 25, *mark) };
                    sender.observe(&sample, &window, &mut events);
                    if sender.react(&sample, &mut window, &mut events) == Reaction::None && *n > 0 {
                        sender.grow(&sample, &mut window);
                    }
                }
                (window, sender.alpha(), events)
            });
            prop_assert_eq!(&both[0], &both[1]);
        }
    }
}
