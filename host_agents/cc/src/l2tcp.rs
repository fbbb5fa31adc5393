//! L2TCP's sender (docs/algorithms/window.md#l2tcp; the
//! literature's L2DCT): least attained service by weights on DCTCP.
//!
//! A flow that has sent little has a large weight: it grows by a whole segment a round and cuts by alpha^2.5;
//! one that has sent much grows by a twentieth of a segment and cuts by alpha^0.125, nearly half.
//!
//! Invariant: `w_min <= weight <= w_max`, never rising while the flow goes on.

use crate::alpha::{self, MarkedShare};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::reno::additive_increase;
use crate::{AckSample, CongestionAvoidance, Publisher, Reaction, Window};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "l2tcp",
    kind: Kind::CongestionAvoidance,
    summary: "DCTCP with a weight that decreases with the data sent: short flows grow faster and cut less",
    parameters: &[
        alpha::G,
        alpha::ALPHA0,
        alpha::CWND_MIN,
        alpha::ALPHA_BY,
        alpha::CWR_FREEZE,
        ParamInfo {
            name: "w_max",
            unit: "ratio",
            summary: "weight of a flow that has sent at most s1",
            domain: Domain::Number { default: Some(2.5), min: 0.001, max: 1_000.0 },
            source: "docs/algorithms/window.md#l2tcp",
        },
        ParamInfo {
            name: "w_min",
            unit: "ratio",
            summary: "weight of a flow that has sent at least s2",
            domain: Domain::Number { default: Some(0.125), min: 0.001, max: 1_000.0 },
            source: "docs/algorithms/window.md#l2tcp",
        },
        ParamInfo {
            name: "s1",
            unit: "segments",
            summary: "data sent up to which the weight is w_max; unverified: from a public implementation, \
                the paper was not available",
            domain: Domain::Number { default: Some(200.0), min: 0.0, max: 1e12 },
            source: "docs/algorithms/window.md#l2tcp, #choice-l2tcp-limits",
        },
        ParamInfo {
            name: "s2",
            unit: "segments",
            summary: "data sent from which the weight is w_min; unverified: from a public implementation, \
                the paper was not available",
            domain: Domain::Number { default: Some(1_000.0), min: 0.0, max: 1e12 },
            source: "docs/algorithms/window.md#l2tcp, #choice-l2tcp-limits",
        },
    ],
    switch_needs: SwitchNeed::OneEcnThreshold,
    source: "docs/algorithms/window.md#l2tcp",
    make: Make::CongestionAvoidance(|params| Ok(Box::new(L2tcp::new(params)?))),
};

/// docs/algorithms/window.md#l2tcp: "ssthresh = max(cwnd, 2)".
const MIN_SSTHRESH_SEGMENTS: f64 = 2.0;

/// State of one L2TCP sender.
#[derive(Clone, Copy, Debug)]
struct L2tcp {
    share: MarkedShare,
    w_max: f64,
    w_min: f64,
    s1: f64,
    s2: f64,
}

impl L2tcp {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let sender = Self {
            share: MarkedShare::new(params)?,
            w_max: params.number("w_max")?,
            w_min: params.number("w_min")?,
            s1: params.number("s1")?,
            s2: params.number("s2")?,
        };
        for (low, below, high, above) in
            [("w_min", sender.w_min, "w_max", sender.w_max), ("s1", sender.s1, "s2", sender.s2)]
        {
            if below > above {
                let cause = format!("{low} {below} is greater than {high} {above}");
                return Err(params.error(low, cause, format!("set {low} <= {high}")));
            }
        }
        Ok(sender)
    }

    /// docs/algorithms/window.md#l2tcp: `w_max` up to `s1`,
    /// falling linearly to `w_min` at `s2`, constant after.
    fn weight(&self, sent_segments: u64) -> f64 {
        let sent = sent_segments as f64;
        if sent <= self.s1 {
            self.w_max
        } else if sent >= self.s2 {
            self.w_min
        } else {
            self.w_max - (self.w_max - self.w_min) * (sent - self.s1) / (self.s2 - self.s1)
        }
    }
}

impl CongestionAvoidance for L2tcp {
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
        // docs/algorithms/window.md#l2tcp: "b = alpha^{w_c}, cwnd =
        // max(cwnd (1 - b/2), cwnd_min), ssthresh = max(cwnd, 2)".
        let penalty = libm::pow(self.share.alpha(), self.weight(ack.flow.sent_segments));
        self.share.cut(penalty, ack, window, publisher);
        window.set_ssthresh(window.cwnd().max(MIN_SSTHRESH_SEGMENTS));
        Reaction::Cut
    }

    fn grow(&mut self, ack: &AckSample, window: &mut Window) {
        // docs/algorithms/window.md#l2tcp: "cwnd += (w_c/w_max)/cwnd per ACK".
        if !self.share.is_frozen(ack) {
            additive_increase(window, self.weight(ack.flow.sent_segments) / self.w_max);
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
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{ack, avoidance, params_of};
    use crate::{FlowProgress, Mark};

    fn l2tcp() -> L2tcp {
        L2tcp::new(&params_of(&INFO, r#"{"name":"l2tcp"}"#).params()).expect("valid parameters")
    }

    fn ack_after(sent_segments: u64, mark: Mark) -> AckSample {
        AckSample { flow: FlowProgress { sent_segments, ..FlowProgress::default() }, ..ack(1, 10, 100, mark) }
    }

    /// docs/algorithms/README.md#properties: the weights at 200, 600 and 1000 segments.
    #[test]
    fn weights_of_the_spec() {
        let sender = l2tcp();
        for (sent, want) in
            [(0, 2.5), (200, 2.5), (600, 1.3125), (1_000, 0.125), (1_000_000, 0.125), (u64::MAX, 0.125)]
        {
            assert_eq!(sender.weight(sent), want, "{sent} segments sent");
        }
    }

    /// Equal bounds are a step: the larger weight up to it, the smaller one beyond.
    #[test]
    fn equal_bounds_make_a_step() {
        let given = params_of(&INFO, r#"{"name":"l2tcp","s1":400,"s2":400}"#);
        let sender = L2tcp::new(&given.params()).expect("s1 <= s2");
        assert_eq!([399, 400, 401].map(|sent| sender.weight(sent)), [2.5, 2.5, 0.125]);
        let given = params_of(&INFO, r#"{"name":"l2tcp","w_min":2.5}"#);
        let sender = L2tcp::new(&given.params()).expect("w_min <= w_max");
        assert_eq!([0, 600, 2_000].map(|sent| sender.weight(sent)), [2.5; 3]);
    }

    #[test]
    fn what_was_sent_decides_growth_and_cut() {
        for (sent, grown, cut) in [
            (200, 10.0 + 0.1, 10.0 * (1.0 - libm::pow(0.5, 2.5) / 2.0)),
            (600, 10.0 + 0.0525, 10.0 * (1.0 - libm::pow(0.5, 1.3125) / 2.0)),
            (1_000, 10.0 + 0.005, 10.0 * (1.0 - libm::pow(0.5, 0.125) / 2.0)),
        ] {
            let mut sender = avoidance(r#"{"name":"l2tcp","alpha0":0.5}"#);
            sender.start(0);
            let mut window = Window::new(10.0, 5.0);
            sender.grow(&ack_after(sent, Mark::None), &mut window);
            assert!((window.cwnd() - grown).abs() < 1e-12, "{sent}: {}", window.cwnd());
            window.set_cwnd(10.0);
            sender.react(&ack_after(sent, Mark::Kdc), &mut window, &mut Vec::new());
            assert!((window.cwnd() - cut).abs() < 1e-12, "{sent}: {}", window.cwnd());
        }
    }

    #[test]
    fn the_threshold_has_its_own_floor() {
        let mut sender = avoidance(r#"{"name":"l2tcp","cwnd_min":1}"#);
        sender.start(0);
        let mut window = Window::new(2.0, 1e9);
        sender.react(&ack_after(0, Mark::Kdc), &mut window, &mut Vec::new());
        assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
    }

    #[test]
    fn bounds_in_the_wrong_order_are_refused() {
        for (json, want) in [
            (
                r#"{"name":"l2tcp","w_min":3}"#,
                "congestion_avoidance.w_min: w_min 3 is greater than w_max 2.5; set w_min <= w_max",
            ),
            (
                r#"{"name":"l2tcp","s2":100}"#,
                "congestion_avoidance.s1: s1 200 is greater than s2 100; set s1 <= s2",
            ),
        ] {
            let error = L2tcp::new(&params_of(&INFO, json).params()).expect_err("refused");
            assert_eq!(error.to_string(), want);
        }
    }

    proptest! {
        /// docs/algorithms/window.md#l2tcp: the weight stays within
        /// its bounds and never rises; more sent, deeper cut.
        #[test]
        fn the_weight_is_bounded_and_falls(sent in 0_u64..5_000, more in 0_u64..5_000, alpha0 in 0.0_f64..=1.0) {
            let sender = l2tcp();
            let (before, after) = (sender.weight(sent), sender.weight(sent + more));
            prop_assert!((0.125..=2.5).contains(&before) && after <= before);
            let cut = |sent| {
                let mut sender = avoidance(&format!(r#"{{"name":"l2tcp","alpha0":{alpha0}}}"#));
                sender.start(0);
                let mut window = Window::new(100.0, 1e9);
                sender.react(&ack_after(sent, Mark::Kdc), &mut window, &mut Vec::new());
                window.cwnd()
            };
            prop_assert!((50.0..=100.0).contains(&cut(sent)));
            prop_assert!(cut(sent + more) <= cut(sent));
        }
    }
}
