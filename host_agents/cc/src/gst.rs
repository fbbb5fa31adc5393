//! GST, the gentle slow start (docs/algorithms/slow-start.md#gst-sender):
//! marks of a lower threshold K slow the growth before K_dc ends it.
//!
//! It replaces the slow start of its host protocol and nothing else. Per round
//! `cwnd += cwnd^delta`, spread over the ACKs of the round; delta falls from 1
//! (doubling) to 0 (linear) as the estimated queue goes from K to K_dc.
//!
//! Invariants: `0 <= delta <= 1`; the first K_dc echo of a slow start ends it, after a last step of growth:
//! docs/algorithms/slow-start.md#gst-sender has the growth behind the host's reaction, of every ACK.

use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::{AckSample, Event, Mark, Phase, Publisher, SlowStart, Window};

/// What the registry says about this module.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "gst",
    kind: Kind::SlowStart,
    summary: "gentle slow start: growth falls from doubling to linear as the queue grows from k to k_dc",
    parameters: &[
        ParamInfo {
            name: "k",
            unit: "packets",
            summary: "lower threshold, the same as at the switch; set by the controller's planner",
            domain: Domain::Number { default: None, min: 0.0, max: 1_000_000.0 },
            source: "docs/algorithms/slow-start.md#gst-parameters, #gst-model",
        },
        ParamInfo {
            name: "k_dc",
            unit: "packets",
            summary: "upper threshold, the same as at the switch",
            domain: Domain::Number { default: Some(65.0), min: 0.0, max: 1_000_000.0 },
            source: "docs/algorithms/slow-start.md#gst-parameters",
        },
        ParamInfo {
            name: "delta",
            unit: "",
            summary: "exponent: 'text' decreases with the queue; 'literal' is the printed formula, which \
                increases",
            domain: Domain::Choice { default: "text", options: &["text", "literal"] },
            source: "docs/algorithms/slow-start.md#gst-sender",
        },
        ParamInfo {
            name: "entry",
            unit: "",
            summary: "growth between the first K mark and the first exponent: 'hold' none until a complete \
                window is observed, 'stop' none in that window, 'per_ack' one segment, 'window_close' \
                doubling",
            domain: Domain::Choice { default: "hold", options: &["hold", "stop", "per_ack", "window_close"] },
            source: "docs/algorithms/slow-start.md#choice-gst-entry",
        },
    ],
    switch_needs: SwitchNeed::TwoEcnThresholds,
    source: "docs/algorithms/slow-start.md#gst-sender",
    make: Make::SlowStart(|params| Ok(Box::new(Gst::new(params)?))),
};

/// Direction of the exponent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Text,
    Literal,
}

/// What the first K echo does at once (docs/algorithms/slow-start.md#choice-gst-entry).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entry {
    Hold,
    Stop,
    PerAck,
    WindowClose,
}

/// State of one gentle slow start.
#[derive(Clone, Copy, Debug)]
struct Gst {
    k: f64,
    k_dc: f64,
    form: Form,
    entry: Entry,
    /// New packets acknowledged in this window, and those of them echoed with any mark
    /// (docs/algorithms/slow-start.md#gst-sender).
    w_cnt: u64,
    beta: u64,
    /// The window closes with the first ACK above this byte.
    gst_end: u64,
    delta: f64,
    /// The window's growth per acknowledged packet:
    /// `W0^(delta-1)`, or nothing while it waits for an exponent.
    growth: f64,
    /// The window in which this window of observation began.
    w0: f64,
    /// Whether the smooth phase has begun; a window without a mark ends it.
    smoothing: bool,
    /// Whether the K mark has been echoed in this slow start.
    seen_k: bool,
}

impl Gst {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let (k, k_dc) = (params.number("k")?, params.number("k_dc")?);
        if k > k_dc {
            return Err(params.error(
                "k",
                format!("k {k} is greater than k_dc {k_dc}"),
                "k is the lower threshold: set k <= k_dc".to_owned(),
            ));
        }
        let form = if params.choice("delta")? == "literal" { Form::Literal } else { Form::Text };
        let entry = match params.choice("entry")? {
            "stop" => Entry::Stop,
            "per_ack" => Entry::PerAck,
            "window_close" => Entry::WindowClose,
            _ => Entry::Hold,
        };
        Ok(Self {
            k,
            k_dc,
            form,
            entry,
            w_cnt: 0,
            beta: 0,
            gst_end: 0,
            delta: 1.0,
            growth: 1.0,
            w0: 1.0,
            smoothing: false,
            seen_k: false,
        })
    }

    /// The queue in packets that `beta` marks among `w_cnt` packets stand for
    /// (docs/algorithms/slow-start.md#gst-sender, the paper's eq. 1).
    fn queue_estimate(&self) -> Option<f64> {
        let (w, beta) = (self.w_cnt as f64, self.beta as f64);
        (0 < self.beta && self.beta < self.w_cnt).then(|| w * self.k / (w - beta))
    }

    /// The exponent for the window that closes.
    fn next_delta(&self) -> f64 {
        if self.beta == 0 {
            return 1.0;
        }
        let span = self.k_dc - self.k;
        let position = match self.queue_estimate() {
            Some(queue) if span > 0.0 => ((queue - self.k) / span).clamp(0.0, 1.0),
            // Every packet marked: the estimate is unbounded. Equal thresholds: any mark is above both.
            _ => 1.0,
        };
        match self.form {
            // docs/algorithms/slow-start.md#gst-sender: clamp((Kdc - q)/(Kdc - K), 0, 1).
            Form::Text => 1.0 - position,
            // The printed formula: (q - K)/(Kdc - K), its limit 1 where q is unbounded. The pseudo-code's
            // zero there is the text form's; with it the printed form would recover at 70 senders, which
            // docs/algorithms/reproductions.md#gst-base denies.
            Form::Literal => position,
        }
    }

    fn close_window(&mut self, ack: &AckSample, window: &Window, publisher: &mut dyn Publisher) {
        let (delta, queue_pkts) = (self.next_delta(), self.queue_estimate());
        if delta != self.delta || self.beta > 0 {
            publisher.publish(Event::DeltaUpdated { delta, queue_pkts });
        }
        self.delta = delta;
        self.smoothing = self.beta > 0;
        self.open_window(ack.snd_nxt, window);
    }

    /// The first K echo of phase A: the smooth phase begins (GST 2017, 3.1 and 3.3), without an exponent yet.
    fn begin_smoothing(&mut self, ack: &AckSample, window: &Window) {
        self.smoothing = true;
        match self.entry {
            Entry::Hold => {
                self.open_window(ack.snd_nxt, window);
                self.growth = 0.0;
            }
            Entry::Stop => self.growth = 0.0,
            Entry::PerAck => self.growth = 1.0 / self.w0,
            Entry::WindowClose => {}
        }
    }

    /// docs/algorithms/slow-start.md#gst-sender: `cwnd += n * W0^(delta-1)`.
    fn grow(&self, ack: &AckSample, window: &mut Window) {
        if ack.new_segments > 0 {
            let (cwnd, n) = (window.cwnd(), ack.new_segments as f64);
            let grown = cwnd + n * self.growth;
            // An ACK that jumps over a filled hole (n > 1) must not carry slow start past the threshold in
            // one leap; an ACK of one packet grows exactly by the law of a round.
            window.set_cwnd(grown.min(window.ssthresh().max(cwnd + self.growth)));
        }
    }

    fn open_window(&mut self, snd_nxt: u64, window: &Window) {
        (self.w_cnt, self.beta) = (0, 0);
        self.gst_end = snd_nxt;
        self.w0 = window.cwnd();
        // Computed once a window, not per ACK: W0 is the window's first value.
        self.growth = if self.delta == 1.0 { 1.0 } else { libm::pow(self.w0, self.delta - 1.0) };
    }
}

impl SlowStart for Gst {
    fn enter(&mut self, snd_nxt: u64, window: &Window) {
        // docs/algorithms/slow-start.md#gst-sender: "After an RTO: phase A again"; phase A is delta = 1.
        self.delta = 1.0;
        (self.smoothing, self.seen_k) = (false, false);
        self.open_window(snd_nxt, window);
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> bool {
        if ack.mark == Mark::Kdc {
            // docs/algorithms/slow-start.md#gst-sender: the first K_dc echo ends slow start, also where the
            // host has already cut in this window.
            self.grow(ack, window);
            return false;
        }
        if ack.mark == Mark::K && !self.smoothing {
            self.begin_smoothing(ack, window);
        }
        self.w_cnt += ack.new_segments;
        if ack.mark == Mark::K {
            self.beta += ack.new_segments;
            if !self.seen_k {
                self.seen_k = true;
                publisher.publish(Event::FirstMark { mark: Mark::K });
            }
        }
        self.grow(ack, window);
        if ack.ack > self.gst_end {
            self.close_window(ack, window, publisher);
        }
        true
    }

    fn grow_after_cut(&self, ack: &AckSample, window: &mut Window) -> bool {
        // docs/algorithms/slow-start.md#gst-sender: "if e == KDC: host reaction (section 3.3), leave slow
        // start", then "cwnd += n * W0^(delta-1)".
        self.grow(ack, window);
        true
    }

    fn phase(&self) -> Phase {
        if self.smoothing { Phase::Smoothing } else { Phase::SlowStart }
    }

    fn delta(&self) -> Option<f64> {
        Some(self.delta)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{ack, params_of};

    fn gst(json: &str) -> Gst {
        Gst::new(&params_of(&INFO, json).params()).expect("valid parameters")
    }

    fn delta(json: &str, w_cnt: u64, beta: u64) -> f64 {
        let mut module = gst(json);
        (module.w_cnt, module.beta) = (w_cnt, beta);
        module.next_delta()
    }

    /// docs/algorithms/slow-start.md#gst-sender, "Values for K=25, K_dc=65 with f = beta/w".
    #[test]
    fn delta_by_the_marked_share() {
        let k25 = r#"{"name":"gst","k":25,"k_dc":65}"#;
        for (w, beta, queue, want) in [
            (20, 0, None, 1.0),
            (20, 5, Some(33.333), 0.792),
            (20, 8, Some(41.667), 0.583),
            (20, 10, Some(50.0), 0.375),
            (20, 12, Some(62.5), 0.0625),
            (1_000, 616, Some(65.104), 0.0),
            (20, 20, None, 0.0),
        ] {
            assert!((delta(k25, w, beta) - want).abs() < 5e-4, "beta {beta}: {}", delta(k25, w, beta));
            let mut module = gst(k25);
            (module.w_cnt, module.beta) = (w, beta);
            match (module.queue_estimate(), queue) {
                (Some(got), Some(want)) => assert!((got - want).abs() < 1e-3, "beta {beta}: {got}"),
                (got, want) => assert_eq!(got, want, "beta {beta}"),
            }
        }
    }

    #[test]
    fn the_literal_form_runs_the_other_way() {
        let literal = r#"{"name":"gst","k":25,"k_dc":65,"delta":"literal"}"#;
        for (beta, want) in [(0, 1.0), (5, 0.208), (10, 0.625), (12, 0.9375), (20, 1.0)] {
            assert!((delta(literal, 20, beta) - want).abs() < 5e-4, "beta {beta}");
        }
    }

    #[test]
    fn equal_thresholds_divide_nothing_by_zero() {
        assert_eq!(delta(r#"{"name":"gst","k":65}"#, 10, 3), 0.0);
        assert_eq!(delta(r#"{"name":"gst","k":65}"#, 10, 0), 1.0);
        assert_eq!(delta(r#"{"name":"gst","k":0}"#, 10, 3), 1.0);
        assert_eq!(delta(r#"{"name":"gst","k":0,"k_dc":0}"#, 10, 3), 0.0);
    }

    #[test]
    fn a_round_adds_w0_to_the_power_delta() {
        let mut module = gst(r#"{"name":"gst","k":25}"#);
        let mut window = Window::new(16.0, 1_000.0);
        module.enter(160, &window);
        module.delta = 0.375;
        module.open_window(160, &window);
        for i in 1..=16 {
            assert!(module.on_ack(&ack(1, i * 10, 320, Mark::None), &mut window, &mut Vec::new()));
        }
        assert!((window.cwnd() - (16.0 + libm::pow(16.0, 0.375))).abs() < 1e-9);
    }

    /// docs/algorithms/slow-start.md#gst-sender: the first K_dc echo ends slow start and grows by the law of
    /// the window once more; a K echo does not end it, and the first one is reported.
    #[test]
    fn the_first_k_dc_echo_ends_it() {
        let mut module = gst(r#"{"name":"gst","k":25}"#);
        let (mut window, mut events) = (Window::new(16.0, 1_000.0), Vec::new());
        module.enter(100, &window);
        for mark in [Mark::K, Mark::K, Mark::None] {
            assert!(module.on_ack(&ack(1, 10, 200, mark), &mut window, &mut events));
        }
        assert_eq!(events, [Event::FirstMark { mark: Mark::K }]);
        module.enter(100, &window);
        assert!(!module.on_ack(&ack(2, 12, 200, Mark::Kdc), &mut window, &mut events));
        assert_eq!((window.cwnd(), events.len()), (18.0, 1));
        assert!(module.grow_after_cut(&ack(1, 13, 200, Mark::Kdc), &mut window));
        assert_eq!(window.cwnd(), 19.0);
    }

    /// A window's end is reported if it had a mark, or if the exponent changed by having none.
    #[test]
    fn exponents_are_reported_where_there_was_a_mark_before() {
        let mut module = gst(r#"{"name":"gst","k":25,"k_dc":65,"entry":"window_close"}"#);
        let (mut window, mut events) = (Window::new(2.0, 1_000.0), Vec::new());
        module.enter(0, &window);
        let mut reported = Vec::new();
        for (at, mark) in [(1, Mark::None), (2, Mark::K), (3, Mark::K), (4, Mark::None), (5, Mark::None)] {
            events.clear();
            // Each ACK is beyond the window before, so it closes one of its own.
            module.on_ack(&ack(1, at, at, mark), &mut window, &mut events);
            let delta = events.iter().find_map(|event| match event {
                Event::DeltaUpdated { delta, .. } => Some(*delta),
                _ => None,
            });
            reported.push(delta);
        }
        assert_eq!(reported, [None, Some(0.0), Some(0.0), Some(1.0), None]);
    }

    /// An ACK that fills a hole stops at the threshold; one of a single packet grows by the law beyond it.
    #[test]
    fn a_leap_stops_at_the_threshold() {
        for (cwnd, new_segments, want) in [(16.0, 3, 18.0), (16.0, 1, 17.0), (17.5, 1, 18.5), (14.0, 3, 17.0)]
        {
            let mut module = gst(r#"{"name":"gst","k":25}"#);
            let mut window = Window::new(cwnd, 18.0);
            module.enter(100, &window);
            module.on_ack(&ack(new_segments, 10, 200, Mark::None), &mut window, &mut Vec::new());
            assert_eq!(window.cwnd(), want, "{new_segments} at {cwnd}");
        }
    }

    /// Ten packets of phase A, the fourth with the first K
    /// mark; then the window that `hold` opens, half marked.
    #[test]
    fn what_the_first_mark_does_at_once() {
        for (entry, first, second) in [
            // Three doubling steps, then nothing until ACK 20 closes the window that the mark opened.
            ("hold", 19.0, 19.0),
            ("stop", 19.0, 19.0),
            ("per_ack", 19.0 + 7.0 / 16.0, 19.0 + 7.0 / 16.0),
            ("window_close", 26.0, 26.0),
        ] {
            let mut module = gst(&format!(r#"{{"name":"gst","k":25,"entry":"{entry}"}}"#));
            let mut window = Window::new(16.0, 1_000.0);
            module.enter(10, &window);
            let mut feed = |acks: std::ops::RangeInclusive<u64>, marked: u64, window: &mut Window| {
                for i in acks {
                    let mark = if i == 4 || (i > 10 && i % marked == 0) { Mark::K } else { Mark::None };
                    assert!(module.on_ack(&ack(1, i, 20, mark), window, &mut Vec::new()));
                }
                (module.phase(), module.delta)
            };
            let (phase, _) = feed(1..=10, 2, &mut window);
            assert_eq!(phase, Phase::Smoothing, "{entry}");
            assert!((window.cwnd() - first).abs() < 1e-9, "{entry}: {}", window.cwnd());
            if entry == "hold" {
                // 18 ACKs, 4 to 21, of which 6 are marked: q = 18 * 25 / 12, delta = (65 - q)/40.
                let (_, delta) = feed(11..=20, 2, &mut window);
                assert!((window.cwnd() - second).abs() < 1e-9, "held to the end of its window");
                assert_eq!(delta, 1.0, "no exponent before ACK 21 is beyond gst_end 20");
                let (_, delta) = feed(21..=21, 2, &mut window);
                assert!((delta - (65.0 - 18.0 * 25.0 / 12.0) / 40.0).abs() < 1e-9, "{delta}");
            }
        }
    }

    /// A window without a mark ends the smooth phase; the next mark begins it anew.
    #[test]
    fn a_window_without_marks_goes_back_to_doubling() {
        let mut module = gst(r#"{"name":"gst","k":25}"#);
        let mut window = Window::new(4.0, 1_000.0);
        module.enter(0, &window);
        module.on_ack(&ack(1, 1, 5, Mark::K), &mut window, &mut Vec::new());
        assert_eq!((window.cwnd(), module.phase()), (4.0, Phase::Smoothing));
        for i in 2..=11 {
            module.on_ack(&ack(1, i, 11, Mark::None), &mut window, &mut Vec::new());
        }
        // ACK 6 closes the held window (one of six marked), 7 to 11 grow by its exponent, all unmarked.
        assert_eq!(module.phase(), Phase::Smoothing);
        module.on_ack(&ack(1, 12, 20, Mark::None), &mut window, &mut Vec::new());
        assert_eq!((module.phase(), module.delta), (Phase::SlowStart, 1.0));
        let before = window.cwnd();
        module.on_ack(&ack(1, 13, 20, Mark::K), &mut window, &mut Vec::new());
        assert_eq!((window.cwnd(), module.phase()), (before, Phase::Smoothing));
    }

    proptest! {
        /// docs/algorithms/slow-start.md#gst-sender at its limits: the estimate is K
        /// without marks' weight and has no bound when all are marked, and the exponent
        /// falls from 1 to 0 (text) or rises from 0 to 1 (literal) with the marked share.
        #[test]
        fn estimate_and_exponent_follow_the_marks(
            k in 0_u64..64,
            span in 1_u64..100,
            w_cnt in 1_u64..5_000,
            share in 0.0_f64..=1.0,
        ) {
            let beta = (w_cnt as f64 * share) as u64;
            let k_dc = k + span;
            let json = |form: &str| format!(r#"{{"name":"gst","k":{k},"k_dc":{k_dc},"delta":"{form}"}}"#);
            let at = |form: &str, beta: u64| delta(&json(form), w_cnt, beta);
            let text = at("text", beta);
            prop_assert!((0.0..=1.0).contains(&text));
            prop_assert_eq!(at("text", 0), 1.0);
            prop_assert_eq!(at("text", w_cnt), 0.0);
            prop_assert_eq!(at("literal", w_cnt), 1.0);
            if beta < w_cnt {
                prop_assert!(at("text", beta + 1) <= text);
                let mut module = gst(&json("text"));
                (module.w_cnt, module.beta) = (w_cnt, beta);
                match module.queue_estimate() {
                    None => prop_assert_eq!(beta, 0),
                    Some(queue) => {
                        // K/q = (w - beta)/w: marked packets met a queue above K.
                        prop_assert!(queue >= k as f64);
                        prop_assert!((queue * (w_cnt - beta) as f64 - (w_cnt * k) as f64).abs() < 1e-6 * (1.0 + (w_cnt * k) as f64));
                        prop_assert!((text + at("literal", beta) - 1.0).abs() < 1e-12);
                        prop_assert!(queue < k_dc as f64 || text == 0.0);
                    }
                }
            }
        }

        /// A round never grows the window by less than one segment nor by more than it was
        /// (docs/algorithms/slow-start.md#gst-sender: "between exponential and linear").
        #[test]
        fn growth_lies_between_linear_and_doubling(w0 in 1_u64..500, beta_share in 0.0_f64..=1.0) {
            let mut module = gst(r#"{"name":"gst","k":25}"#);
            let mut window = Window::new(w0 as f64, 1e9);
            module.enter(0, &window);
            (module.w_cnt, module.beta) = (w0, (w0 as f64 * beta_share) as u64);
            module.delta = module.next_delta();
            module.open_window(w0, &window);
            for i in 1..=w0 {
                module.on_ack(&ack(1, i, 2 * w0, Mark::None), &mut window, &mut Vec::new());
            }
            let grown = window.cwnd() - w0 as f64;
            prop_assert!(grown >= 1.0 - 1e-9 && grown <= w0 as f64 + 1e-9, "{grown} from {w0}");
        }
    }
}
