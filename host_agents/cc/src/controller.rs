//! The controller of one flow: its window, and which of its two algorithms decides about it.
//!
//! ```text
//!            cwnd >= ssthresh, cut, or the module ends it
//! SlowStart ─────────────────────────────────────────────► Avoidance
//!     ▲ ▲                                                    │   ▲
//!     │ └───────────────────── timeout ──────────────────────┤   │ recover acknowledged
//!     │                                         3 duplicates ▼   │
//!     └──────────────────────── timeout ───────────────── Recovery
//! ```
//!
//! The transport finds losses; every change of the window
//! is made here (docs/algorithms/window.md#reno-rules).

use p4cc_units::{Span, Time};

use crate::error::ConfigError;
use crate::info::Make;
use crate::kind::{Kind, SwitchNeed};
use crate::registry::find;
use crate::validation::{AfterIdle, Validation, Verdict};
use crate::{
    AckSample, AlgorithmConfig, AlgorithmSpec, CongestionAvoidance, CutCause, Echo, Event, HeaderField, Loss,
    Phase, Publisher, Reaction, SlowStart, Window, WindowValidation,
};

/// The window of a new flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InitialWindow {
    /// First congestion window, in segments (docs/algorithms/window.md#reno-parameters, `iw`).
    pub cwnd_segments: f64,
    /// First slow-start threshold, in segments (docs/algorithms/window.md#reno-parameters, `ssthresh0`).
    pub ssthresh_segments: f64,
    /// Beyond it the congestion window does not grow, in segments.
    pub ceiling_segments: f64,
    /// What becomes of a window that the sender does not use.
    pub validation: WindowValidation,
}

impl InitialWindow {
    /// As a window.
    fn window(self) -> Window {
        Window::new(self.cwnd_segments, self.ssthresh_segments).up_to(self.ceiling_segments)
    }
}

impl Default for InitialWindow {
    fn default() -> Self {
        Self {
            cwnd_segments: 1.0,
            ssthresh_segments: Window::MAX_SEGMENTS,
            ceiling_segments: Window::MAX_SEGMENTS,
            validation: WindowValidation::None,
        }
    }
}

/// Which rules govern the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    SlowStart,
    Avoidance,
    Recovery,
}

/// Congestion control of one flow.
#[derive(Debug)]
pub struct Controller {
    initial: InitialWindow,
    window: Window,
    mode: Mode,
    slow_start: Box<dyn SlowStart>,
    avoidance: Box<dyn CongestionAvoidance>,
    needs: SwitchNeed,
    reads_progress: bool,
    validation: Validation,
    /// First unacknowledged byte at the last timeout.
    timed_out: Option<u64>,
}

/// Makes the controller that a configuration names.
///
/// # Errors
/// An unknown algorithm or parameter, a value out of range, or values that contradict each other.
pub fn build(config: &AlgorithmConfig, initial: InitialWindow) -> Result<Controller, ConfigError> {
    let (slow_start, slow_needs) = make_slow_start(&config.slow_start)?;
    let (avoidance, needs) = make_avoidance(&config.congestion_avoidance)?;
    let mut controller = Controller {
        initial,
        window: initial.window(),
        mode: Mode::SlowStart,
        slow_start,
        reads_progress: avoidance.reads_progress(),
        avoidance,
        needs: needs.max(slow_needs),
        validation: Validation::new(initial.validation),
        timed_out: None,
    };
    controller.start(0);
    Ok(controller)
}

fn make_slow_start(spec: &AlgorithmSpec) -> Result<(Box<dyn SlowStart>, SwitchNeed), ConfigError> {
    let kind = Kind::SlowStart;
    if let Some(own) = spec.own(kind)? {
        return Ok((own.algorithm.slow_start(own.flow)?, own.algorithm.switch_needs()));
    }
    let info = find(kind, &spec.name)?;
    match info.make {
        Make::SlowStart(make) => Ok((make(&info.params(kind.key(), spec)?)?, info.switch_needs)),
        Make::CongestionAvoidance(_) | Make::RateControl(_) | Make::Receiver(_) => {
            Err(misfiled(kind, &spec.name))
        }
    }
}

fn make_avoidance(spec: &AlgorithmSpec) -> Result<(Box<dyn CongestionAvoidance>, SwitchNeed), ConfigError> {
    let kind = Kind::CongestionAvoidance;
    if let Some(own) = spec.own(kind)? {
        return Ok((own.algorithm.congestion_avoidance(own.flow)?, own.algorithm.switch_needs()));
    }
    let info = find(kind, &spec.name)?;
    match info.make {
        Make::CongestionAvoidance(make) => Ok((make(&info.params(kind.key(), spec)?)?, info.switch_needs)),
        Make::SlowStart(_) | Make::RateControl(_) | Make::Receiver(_) => Err(misfiled(kind, &spec.name)),
    }
}

/// A registry row whose kind and constructor differ; a test of the registry excludes it.
fn misfiled(kind: Kind, name: &str) -> ConfigError {
    ConfigError::new(kind.key(), format!("{name:?} is registered under a wrong kind"), "report this as a bug")
}

impl Controller {
    /// Starts, or restarts, at byte `snd_nxt` with the initial window.
    pub fn start(&mut self, snd_nxt: u64) {
        self.window = self.initial.window();
        self.mode = Mode::SlowStart;
        self.validation = Validation::new(self.initial.validation);
        self.timed_out = None;
        self.avoidance.start(snd_nxt);
        self.slow_start.enter(snd_nxt, &self.window);
        self.leave_slow_start_at_threshold();
    }

    /// Takes one valid ACK, duplicates included, before the transport's own loss recovery looks at it.
    ///
    /// Returns whether the algorithm cut the window, so that the next data packet carries CWR.
    pub fn on_ack(&mut self, ack: &AckSample, publisher: &mut dyn Publisher) -> Reaction {
        let before = self.phase();
        // docs/algorithms/window.md#dctcp-sender: alpha is
        // updated "before the reaction test of the same ACK".
        self.avoidance.observe(ack, &self.window, publisher);
        if self.mode == Mode::Recovery {
            // docs/algorithms/window.md#dctcp-sender: no reaction in
            // fast recovery; its window is the transport's matter.
            return Reaction::None;
        }
        let reaction = self.avoidance.react(ack, &mut self.window, publisher);
        if reaction == Reaction::Cut {
            // docs/algorithms/window.md#dctcp-sender: a reaction "ends slow start".
            let was = core::mem::replace(&mut self.mode, Mode::Avoidance);
            if ack.new_segments > 0 && self.avoidance.grows_after_cut(ack) {
                self.grow_after_cut(was, ack);
            }
        } else if self.mode == Mode::SlowStart {
            self.grow_in_slow_start(ack, publisher);
        } else if ack.new_segments > 0 {
            self.grow_in_avoidance(ack);
        }
        self.publish_phase(before, publisher);
        reaction
    }

    /// An ACK at `now` finds so many segments in flight, itself included: whether the sender uses too little
    /// of its window for it to grow ([`AckSample::is_unvalidated`]).
    #[inline]
    pub fn is_unvalidated(&mut self, now: Time, srtt: Option<Span>, flight_segments: u64) -> bool {
        match self.validation.on_ack(now, srtt, flight_segments, &self.window) {
            Verdict::Used => false,
            Verdict::Unused => true,
            Verdict::Expired(periods) => {
                self.expire(periods);
                true
            }
        }
    }

    /// The sender sends again after a pause of `idle` with nothing in flight; its timeout is `rto`, its next
    /// byte `snd_nxt` (docs/algorithms/window.md#window-validation).
    pub fn on_idle_end(&mut self, idle: Span, rto: Span, snd_nxt: u64, publisher: &mut dyn Publisher) {
        match self.validation.on_idle_end(idle, rto) {
            AfterIdle::Keep => {}
            AfterIdle::Expired(periods) => self.expire(periods),
            AfterIdle::Restart => {
                // RFC5681 4.1: "RW = min(IW, cwnd)".
                let before = self.phase();
                self.window.set_cwnd(self.window.cwnd().min(self.initial.cwnd_segments));
                self.mode = Mode::SlowStart;
                self.slow_start.enter(snd_nxt, &self.window);
                self.leave_slow_start_at_threshold();
                self.publish_phase(before, publisher);
            }
        }
    }

    /// RFC7661 4.4.3: at the end of each period in which a window was not used.
    fn expire(&mut self, periods: u32) {
        for _ in 0..periods {
            // "ssthresh = max(ssthresh, 3*cwnd/4)", "cwnd = max(cwnd/2, IW)", which never makes it larger.
            let cwnd = self.window.cwnd();
            self.window.set_ssthresh(self.window.ssthresh().max(0.75 * cwnd));
            self.window.set_cwnd((cwnd / 2.0).max(self.initial.cwnd_segments).min(cwnd));
        }
    }

    /// Grows the window in congestion avoidance, unless the sender does not use it.
    #[inline]
    fn grow_in_avoidance(&mut self, ack: &AckSample) {
        let before = self.window.cwnd();
        self.avoidance.grow(ack, &mut self.window);
        self.hold_if_unvalidated(ack, before);
    }

    /// Takes growth from `before` back where the sender does not use its window.
    #[inline]
    fn hold_if_unvalidated(&mut self, ack: &AckSample, before: f64) {
        if ack.is_unvalidated && self.window.cwnd() > before {
            self.window.set_cwnd(before);
        }
    }

    fn grow_in_slow_start(&mut self, ack: &AckSample, publisher: &mut dyn Publisher) {
        let before = self.window.cwnd();
        let goes_on = self.slow_start.on_ack(ack, &mut self.window, publisher);
        self.hold_if_unvalidated(ack, before);
        if goes_on {
            self.leave_slow_start_at_threshold();
        } else {
            // The module ends slow start early: the window it reached becomes the threshold.
            self.window.set_ssthresh(self.window.cwnd());
            self.mode = Mode::Avoidance;
        }
    }

    /// The ACK that cut the window grows it too (docs/algorithms/window.md#dctcp-sender,
    /// docs/algorithms/slow-start.md#gst-sender): by the slow start that it ends where
    /// that has a law for it, else as any ACK in congestion avoidance.
    fn grow_after_cut(&mut self, was: Mode, ack: &AckSample) {
        let before = self.window.cwnd();
        if was == Mode::SlowStart && self.slow_start.grow_after_cut(ack, &mut self.window) {
            self.hold_if_unvalidated(ack, before);
        } else {
            self.grow_in_avoidance(ack);
        }
    }

    fn leave_slow_start_at_threshold(&mut self) {
        if self.mode == Mode::SlowStart && self.window.cwnd() >= self.window.ssthresh() {
            self.mode = Mode::Avoidance;
        }
    }

    /// Fast retransmit with `flight_segments` in flight, `left_segments` of which are known to have left the
    /// network without an ACK that says so: the duplicates, or none where SACK tells what is in flight
    /// (docs/algorithms/window.md#reno-rules, RFC6675).
    pub fn on_fast_retransmit(
        &mut self,
        flight_segments: u64,
        left_segments: u32,
        publisher: &mut dyn Publisher,
    ) {
        let (before, from_segments) = (self.phase(), self.window.cwnd());
        let cause = CutCause::FastRetransmit;
        // docs/algorithms/window.md#reno-rules: "ssthresh = max(flight/2,
        // 2) … cwnd = ssthresh + 3"; RFC6675 5 (4.2): "ssthresh = cwnd".
        self.set_ssthresh_after_loss(flight_segments, cause);
        self.window.set_cwnd(self.window.ssthresh() + f64::from(left_segments));
        self.mode = Mode::Recovery;
        let to_segments = self.window.cwnd();
        publisher.publish(Event::WindowCut { from_segments, to_segments, cause });
        self.publish_phase(before, publisher);
    }

    /// A further duplicate in fast recovery: one more packet has
    /// left the network (docs/algorithms/window.md#reno-rules).
    pub fn on_recovery_duplicate(&mut self) {
        self.window.set_cwnd(self.window.cwnd() + 1.0);
    }

    /// A partial ACK of `new_segments` in NewReno's recovery (docs/algorithms/window.md#reno-rules, RFC6582).
    pub fn on_partial_ack(&mut self, new_segments: u64) {
        // docs/algorithms/window.md#reno-rules: "cwnd = max(cwnd
        // - n_acked + 1, 1)"; the window's own floor is the 1.
        self.window.set_cwnd(self.window.cwnd() - new_segments as f64 + 1.0);
    }

    /// The end of a recovery whose window needs no care, `cwnd = ssthresh`: Reno's at the first new ACK
    /// (docs/algorithms/window.md#reno-rules), and SACK's, whose window has that size all along (RFC6675).
    pub fn on_recovery_exit(&mut self, publisher: &mut dyn Publisher) {
        self.exit_recovery(self.window.ssthresh(), publisher);
    }

    /// The end of NewReno's recovery, with `flight_segments` still in flight
    /// (docs/algorithms/window.md#reno-rules, RFC6582).
    pub fn on_recovery_exit_newreno(&mut self, flight_segments: u64, publisher: &mut dyn Publisher) {
        // docs/algorithms/window.md#reno-rules: "cwnd = min(ssthresh, max(flight, 1) + 1), phase CA".
        let cwnd = self.window.ssthresh().min(flight_segments.max(1) as f64 + 1.0);
        self.exit_recovery(cwnd, publisher);
    }

    fn exit_recovery(&mut self, cwnd_segments: f64, publisher: &mut dyn Publisher) {
        let before = self.phase();
        self.window.set_cwnd(cwnd_segments);
        self.mode = Mode::Avoidance;
        self.publish_phase(before, publisher);
    }

    /// A timeout with `flight_segments` in flight; sending starts
    /// again at `snd_una` (docs/algorithms/window.md#reno-rules).
    pub fn on_timeout(&mut self, flight_segments: u64, snd_una: u64, publisher: &mut dyn Publisher) {
        let (before, from_segments) = (self.phase(), self.window.cwnd());
        // docs/algorithms/window.md#reno-rules: "ssthresh = max(flight/2, 2), cwnd = 1 … phase SS". RFC5681
        // 3.1: for a segment that the timer sent again already, "the value of ssthresh is held constant"; the
        // algorithm, which knows one congestion, does not count another.
        if self.timed_out.replace(snd_una) != Some(snd_una) {
            self.set_ssthresh_after_loss(flight_segments, CutCause::Timeout);
        }
        self.window.set_cwnd(1.0);
        self.mode = Mode::SlowStart;
        self.slow_start.enter(snd_una, &self.window);
        publisher.publish(Event::WindowCut { from_segments, to_segments: 1.0, cause: CutCause::Timeout });
        self.publish_phase(before, publisher);
    }

    fn set_ssthresh_after_loss(&mut self, flight_segments: u64, cause: CutCause) {
        let loss = Loss { flight_segments, cwnd_segments: self.window.cwnd(), cause };
        self.window.set_ssthresh(self.avoidance.ssthresh_after_loss(&loss));
    }

    fn publish_phase(&self, from: Phase, publisher: &mut dyn Publisher) {
        let to = self.phase();
        if from != to {
            publisher.publish(Event::PhaseChanged { from, to });
        }
    }

    /// The window.
    #[inline]
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// Where the flow stands.
    pub fn phase(&self) -> Phase {
        match self.mode {
            Mode::SlowStart => self.slow_start.phase(),
            Mode::Avoidance => Phase::Avoidance,
            Mode::Recovery => Phase::Recovery,
        }
    }

    /// The estimate of the marked share, where the algorithm keeps one.
    pub fn alpha(&self) -> Option<f64> {
        self.avoidance.alpha()
    }

    /// The growth exponent of the slow-start module, where it keeps one.
    pub fn delta(&self) -> Option<f64> {
        self.slow_start.delta()
    }

    /// Hands on headers of the user's program that the next ACK echoes.
    pub fn on_headers(&mut self, fields: &[HeaderField<'_>]) {
        self.avoidance.on_headers(fields);
    }

    /// Whether the algorithm takes such headers.
    pub fn reads_headers(&self) -> bool {
        self.avoidance.reads_headers()
    }

    /// The value of an attribute that an algorithm of the user's keeps by this name, if there is one.
    pub fn state(&self, name: &str) -> Option<f64> {
        self.avoidance.state(name).or_else(|| self.slow_start.state(name))
    }

    /// How the receiver is to return marks.
    pub fn echo(&self) -> Echo {
        self.avoidance.echo()
    }

    /// Whether the algorithm reads how far the flow is.
    #[inline]
    pub const fn reads_progress(&self) -> bool {
        self.reads_progress
    }

    /// The most that either half needs from the switches.
    pub const fn switch_needs(&self) -> SwitchNeed {
        self.needs
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{ack, mark};
    use crate::{AlgorithmInfo, FlowProgress, Mark, registry};

    fn controller(json: &str, cwnd_segments: f64, ssthresh_segments: f64) -> Controller {
        let config: AlgorithmConfig = serde_json::from_str(json).expect("valid JSON");
        build(&config, InitialWindow { cwnd_segments, ssthresh_segments, ..InitialWindow::default() })
            .expect("a valid configuration")
    }

    const GST_DCTCP: &str =
        r#"{"congestion_avoidance":{"name":"dctcp","cwnd_min":1},"slow_start":{"name":"gst","k":8}}"#;

    /// docs/algorithms/window.md#dctcp-sender: alpha is updated "before the reaction test of the same ACK".
    #[test]
    fn alpha_is_updated_before_the_cut_that_uses_it() {
        let mut control =
            controller(r#"{"congestion_avoidance":{"name":"dctcp","g":0.5,"alpha0":0}}"#, 10.0, 1e9);
        let mut events = Vec::new();
        assert_eq!(control.on_ack(&ack(1, 1, 11, Mark::Kdc), &mut events), Reaction::Cut);
        // F = 1, so alpha = 0.5 and the cut a quarter; then the ACK's own additive increase.
        assert_eq!((control.window().cwnd(), control.window().ssthresh()), (7.5 + 1.0 / 7.5, 7.5));
        assert_eq!(control.phase(), Phase::Avoidance);
        assert!(matches!(
            events[..],
            [Event::AlphaUpdated { .. }, Event::WindowCut { .. }, Event::PhaseChanged { .. }]
        ));
    }

    /// docs/algorithms/window.md#dctcp-sender: "while ack <= cwr_end … keeps the additive increase", which
    /// holds from the cut's own ACK on; docs/algorithms/slow-start.md#gst-sender has GST's growth behind the
    /// reaction; RFC3168 6.1.2 has none. alpha0 = 0 and a small g make the cut 1/32.
    #[test]
    fn the_ack_that_cuts_grows_the_window_as_its_phase_does() {
        let with = |rest: &str| {
            let dctcp = r#""congestion_avoidance":{"name":"dctcp","alpha0":0"#;
            format!("{{{dctcp}{rest}}}")
        };
        let gst = with(r#"},"slow_start":{"name":"gst","k":8}"#);
        let frozen = with(r#","cwr_freeze":"on"},"slow_start":{"name":"gst","k":8}"#);
        let reno_ecn = r#"{"congestion_avoidance":{"name":"reno_ecn"}}"#.to_owned();
        let cut = 64.0 * (1.0 - 1.0 / 32.0);
        for (json, ssthresh, after) in [
            (with("}"), 1e9, cut + 1.0 / cut),
            (with("}"), 8.0, cut + 1.0 / cut),
            (gst.clone(), 1e9, cut + 1.0),
            (gst, 8.0, cut + 1.0 / cut),
            (frozen, 1e9, cut),
            (reno_ecn, 1e9, 32.0),
        ] {
            let mut control = controller(&json, 64.0, ssthresh);
            assert_eq!(control.on_ack(&ack(1, 1, 65, Mark::Kdc), &mut Vec::new()), Reaction::Cut);
            assert_eq!(
                (control.window().cwnd(), control.phase()),
                (after, Phase::Avoidance),
                "{json} {ssthresh}"
            );
            // A duplicate acknowledges nothing new: it cuts and does not grow.
            let mut control = controller(&json, 64.0, ssthresh);
            control.on_ack(&ack(0, 1, 65, Mark::Kdc), &mut Vec::new());
            assert_eq!(control.window().cwnd(), control.window().ssthresh(), "{json} {ssthresh}");
        }
    }

    /// docs/algorithms/window.md#dctcp-sender: "phase is not FR"; alpha goes on counting there.
    #[test]
    fn marks_in_fast_recovery_count_but_do_not_cut() {
        let mut control = controller(GST_DCTCP, 20.0, 1e9);
        control.on_fast_retransmit(20, 3, &mut Vec::new());
        assert_eq!((control.window().cwnd(), control.window().ssthresh()), (13.0, 10.0));
        let alpha = control.alpha();
        assert_eq!(control.on_ack(&ack(0, 0, 20, Mark::None), &mut Vec::new()), Reaction::None);
        assert_eq!(control.on_ack(&ack(1, 1, 20, Mark::Kdc), &mut Vec::new()), Reaction::None);
        assert_eq!(control.window().cwnd(), 13.0);
        assert!(control.alpha() < alpha);
        control.on_recovery_exit_newreno(4, &mut Vec::new());
        assert_eq!((control.window().cwnd(), control.phase()), (5.0, Phase::Avoidance));
    }

    /// docs/algorithms/slow-start.md#gst-sender: the first K_dc echo ends
    /// slow start, even where the host may not cut again in this window.
    #[test]
    fn the_strong_mark_ends_gst_after_a_timeout_too() {
        let mut control = controller(GST_DCTCP, 16.0, 1e9);
        assert_eq!(control.on_ack(&ack(1, 1, 100, Mark::Kdc), &mut Vec::new()), Reaction::Cut);
        control.on_timeout(40, 1, &mut Vec::new());
        assert_eq!((control.window().cwnd(), control.window().ssthresh()), (1.0, 20.0));
        assert_eq!(control.on_ack(&ack(1, 2, 3, Mark::K), &mut Vec::new()), Reaction::None);
        assert_eq!((control.window().cwnd(), control.phase()), (1.0, Phase::Smoothing));
        // ACK 3 lies below cwr_end = 100: no second cut. The smooth
        // phase holds the window, which ends at ACK 4, beyond this one.
        assert_eq!(control.on_ack(&ack(1, 3, 5, Mark::Kdc), &mut Vec::new()), Reaction::None);
        assert_eq!((control.phase(), control.window().ssthresh()), (Phase::Avoidance, 1.0));
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_begins_below_it_only() {
        let mut control = controller("{}", 2.0, 4.0);
        control.on_ack(&ack(1, 1, 2, Mark::None), &mut Vec::new());
        assert_eq!((control.window().cwnd(), control.phase()), (3.0, Phase::SlowStart));
        control.on_ack(&ack(5, 6, 8, Mark::None), &mut Vec::new());
        assert_eq!((control.window().cwnd(), control.phase()), (4.0, Phase::Avoidance));
        assert_eq!(controller("{}", 4.0, 4.0).phase(), Phase::Avoidance);
    }

    /// A hole that is filled acknowledges many packets at once; GST's growth stops at the threshold then.
    #[test]
    fn a_jump_does_not_carry_gst_over_the_threshold() {
        let mut control = controller(GST_DCTCP, 16.0, 1e9);
        control.on_timeout(16, 0, &mut Vec::new());
        control.on_ack(&ack(30, 30, 30, Mark::None), &mut Vec::new());
        assert_eq!((control.window().cwnd(), control.phase()), (8.0, Phase::Avoidance));
    }

    /// Every congestion avoidance of the registry with standard slow start.
    fn avoidances() -> impl Iterator<Item = String> {
        let rows = registry().iter().filter(|row| row.kind == Kind::CongestionAvoidance);
        rows.map(|row| format!(r#"{{"congestion_avoidance":{{"name":"{}"}}}}"#, row.name))
    }

    /// Windows of 300 rounds of 100 us without marks, each window acknowledged segment by segment.
    fn rounds(control: &mut Controller, is_unvalidated: impl Fn(u64) -> bool) -> Vec<f64> {
        let mut una = 5;
        let mut round = |number: u64| {
            for _ in 0..control.window().whole_segments() {
                una += 1;
                let (now, srtt) = (Time::from_us(100 * number), Some(Span::from_us(100)));
                let is_unvalidated = is_unvalidated(number);
                let sample = AckSample { now, srtt, is_unvalidated, ..ack(1, una, una + 40, Mark::None) };
                control.on_ack(&sample, &mut Vec::new());
            }
            control.window().cwnd()
        };
        (1..300).map(&mut round).collect()
    }

    /// RFC5681 3.1: "the value of ssthresh is held constant" where the timer sends one segment again and
    /// again. The algorithms' state likewise: CUBIC would take the window of 1 for that of a congestion.
    #[test]
    fn a_second_timeout_of_one_segment_changes_no_threshold() {
        for json in avoidances() {
            let run = |flights: &[u64]| {
                let mut control = controller(&json, 100.0, 1e9);
                control.on_fast_retransmit(100, 3, &mut Vec::new());
                control.on_recovery_exit(&mut Vec::new());
                flights.iter().for_each(|flight| control.on_timeout(*flight, 5, &mut Vec::new()));
                let ssthresh = control.window().ssthresh();
                (ssthresh, rounds(&mut control, |_| false))
            };
            assert_eq!(run(&[80]), run(&[80, 1, 1]), "{json}");
            let mut control = controller(&json, 100.0, 1e9);
            [(80, 5), (1, 6)]
                .iter()
                .for_each(|(flight, una)| control.on_timeout(*flight, *una, &mut Vec::new()));
            assert_eq!(control.window().ssthresh(), 2.0, "another segment: {json}");
        }
    }

    /// docs/algorithms/window.md#window-validation: no ACK grows a window that is not used, in slow start or
    /// above; RFC9438 5.8: nor does CUBIC make up for the time afterwards.
    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        for json in avoidances() {
            for ssthresh in [1e9, 8.0] {
                let mut control = controller(&json, 10.0, ssthresh);
                assert!(rounds(&mut control, |_| true).iter().all(|cwnd| *cwnd == 10.0), "{json}");
            }
            let pause = |from: u64, rounds: u64| move |number: u64| from <= number && number < from + rounds;
            let after = |rounds_unused: u64| {
                let mut control = controller(&json, 10.0, 1e9);
                control.on_fast_retransmit(40, 3, &mut Vec::new());
                control.on_recovery_exit(&mut Vec::new());
                let windows = rounds(&mut control, pause(50, rounds_unused));
                windows[(50 + rounds_unused) as usize] - windows[48]
            };
            let (soon, late) = (after(1), after(200));
            assert!((soon - late).abs() < 0.3 * soon.max(1.0), "{json}: {soon} and {late} in two rounds");
        }
    }

    /// RFC5681 4.1: "RW = min(IW, cwnd)"; RFC7661 4.4.3: half of the window, at least IW.
    #[test]
    fn a_long_pause_makes_a_window_smaller() {
        let after = |validation, idle_ms| {
            let config = serde_json::from_str("{}").expect("valid JSON");
            let initial = InitialWindow { cwnd_segments: 10.0, validation, ..InitialWindow::default() };
            let mut control = build(&config, initial).expect("a valid configuration");
            (1..55).for_each(|una| {
                control.on_ack(&ack(1, una, una + 40, Mark::None), &mut Vec::new());
            });
            control.on_idle_end(Span::from_ms(idle_ms), Span::from_ms(200), 60, &mut Vec::new());
            (control.window().cwnd(), control.phase())
        };
        assert_eq!(after(WindowValidation::Rfc5681, 200), (64.0, Phase::SlowStart));
        assert_eq!(after(WindowValidation::Rfc5681, 201), (10.0, Phase::SlowStart));
        assert_eq!(after(WindowValidation::Rfc7661, 299_000).0, 64.0);
        assert_eq!(after(WindowValidation::Rfc7661, 601_000).0, 16.0);
        assert_eq!(after(WindowValidation::Rfc7661, 3_000_000).0, 10.0);
        assert_eq!(after(WindowValidation::None, 3_000_000).0, 64.0);
    }

    /// A flow needs of the switches what the more demanding half does.
    #[test]
    fn the_switches_serve_both_halves() {
        for (json, want) in [
            (GST_DCTCP, SwitchNeed::TwoEcnThresholds),
            (r#"{"congestion_avoidance":{"name":"dctcp"}}"#, SwitchNeed::OneEcnThreshold),
            ("{}", SwitchNeed::None),
        ] {
            assert_eq!(controller(json, 10.0, 1e9).switch_needs(), want, "{json}");
        }
    }

    /// RFC7661 4.4.3: "ssthresh = max(ssthresh, 3*cwnd/4)".
    #[test]
    fn a_pause_leaves_the_way_back_to_slow_start() {
        for (ssthresh, want) in [(8.0, 30.0), (35.0, 35.0)] {
            let config = serde_json::from_str("{}").expect("valid JSON");
            let initial = InitialWindow {
                cwnd_segments: 40.0,
                ssthresh_segments: ssthresh,
                validation: WindowValidation::Rfc7661,
                ..InitialWindow::default()
            };
            let mut control = build(&config, initial).expect("a valid configuration");
            control.on_idle_end(Span::from_ms(301_000), Span::from_ms(200), 60, &mut Vec::new());
            assert_eq!(control.window().ssthresh(), want);
        }
    }

    /// docs/algorithms/window.md#reno-rules, RFC6582: a duplicate in recovery adds a segment, a partial ACK
    /// of n takes n - 1 off, down to 1; the end is ssthresh.
    #[test]
    fn the_window_in_recovery() {
        let mut control = controller("{}", 20.0, 1e9);
        control.on_fast_retransmit(20, 3, &mut Vec::new());
        assert_eq!((control.window().cwnd(), control.window().ssthresh()), (13.0, 10.0));
        control.on_recovery_duplicate();
        assert_eq!(control.window().cwnd(), 14.0);
        control.on_partial_ack(4);
        assert_eq!(control.window().cwnd(), 11.0);
        control.on_partial_ack(100);
        assert_eq!(control.window().cwnd(), 1.0);
        control.on_recovery_exit(&mut Vec::new());
        assert_eq!(control.window().cwnd(), 10.0);
    }

    #[derive(Clone, Debug)]
    enum Input {
        Ack(u64, Mark),
        FastRetransmit(u64),
        Partial(u64),
        Exit(u64),
        Timeout(u64),
    }

    fn inputs() -> impl Strategy<Value = Vec<Input>> {
        let input = prop_oneof![
            12 => (0_u64..40, mark()).prop_map(|(n, mark)| Input::Ack(n, mark)),
            1 => (0_u64..100).prop_map(Input::FastRetransmit),
            1 => (0_u64..100).prop_map(Input::Partial),
            1 => (0_u64..100).prop_map(Input::Exit),
            1 => (0_u64..100).prop_map(Input::Timeout),
        ];
        prop::collection::vec(input, 0..300)
    }

    /// Any congestion avoidance of the registry with any slow start, those with a floor at `cwnd_min`.
    fn combinations() -> impl Strategy<Value = (String, f64)> {
        let names = |kind| registry().iter().filter(move |row| row.kind == kind).collect::<Vec<_>>();
        let slow_start = prop::sample::select(names(Kind::SlowStart));
        let avoidance = prop::sample::select(names(Kind::CongestionAvoidance));
        (slow_start, avoidance, 0_u32..65, 1_u32..8).prop_map(|(slow, avoidance, k, cwnd_min)| {
            let has = |row: &AlgorithmInfo, name| row.parameters.iter().any(|param| param.name == name);
            let k = if has(slow, "k") { format!(r#","k":{k}"#) } else { String::new() };
            let floor = has(avoidance, "cwnd_min");
            let cwnd_min = if floor { cwnd_min } else { 1 };
            let parameter = if floor { format!(r#","cwnd_min":{cwnd_min}"#) } else { String::new() };
            let (slow, avoidance) = (slow.name, avoidance.name);
            let json = format!(
                r#"{{"congestion_avoidance":{{"name":"{avoidance}"{parameter}}},"slow_start":{{"name":"{slow}"{k}}}}}"#
            );
            (json, f64::from(cwnd_min))
        })
    }

    proptest! {
        /// Bounds of window, alpha and delta hold for every pair of algorithms; marks never cut below
        /// cwnd_min, and nothing but a cut, a timeout or the end of a recovery makes a window smaller.
        #[test]
        fn bounds_hold_whatever_happens(
            inputs in inputs(),
            (json, cwnd_min) in combinations(),
            rtt_us in prop::option::of(0_u64..600_000),
            deadline_us in prop::option::of(0_u64..2_000),
        ) {
            let mut control = controller(&json, 10.0, 1e9);
            let (mut una, mut events) = (0, Vec::new());
            for (step, input) in inputs.into_iter().enumerate() {
                let before = control.window().cwnd();
                match input {
                    Input::Ack(n, mark) => {
                        una += n;
                        let flow = FlowProgress {
                            sent_segments: una + 20,
                            segments_left: Some(1_000.0 - una as f64).filter(|_| step % 3 > 0),
                            deadline: deadline_us.map(Time::from_us),
                        };
                        let (now, srtt) = (Time::from_us(step as u64 * 10), rtt_us.map(Span::from_us));
                        let sample = AckSample { now, srtt, flow, ..ack(n, una, una + 20, mark) };
                        let cut = control.on_ack(&sample, &mut events);
                        prop_assert!(cut == Reaction::Cut || control.window().cwnd() >= before);
                        prop_assert!(cut == Reaction::None || control.window().cwnd() >= cwnd_min);
                        prop_assert!(cut == Reaction::None || mark == Mark::Kdc);
                    }
                    Input::FastRetransmit(flight) => control.on_fast_retransmit(flight, 3, &mut events),
                    Input::Partial(n) => control.on_partial_ack(n),
                    Input::Exit(flight) => control.on_recovery_exit_newreno(flight, &mut events),
                    Input::Timeout(flight) => control.on_timeout(flight, una, &mut events),
                }
                let window = control.window();
                prop_assert!((1.0..=Window::MAX_SEGMENTS).contains(&window.cwnd()));
                prop_assert!((1.0..=Window::MAX_SEGMENTS).contains(&window.ssthresh()));
                prop_assert!(control.alpha().is_none_or(|alpha| (0.0..=1.0).contains(&alpha)));
                prop_assert!(control.delta().is_none_or(|delta| (0.0..=1.0).contains(&delta)));
            }
        }

        /// Marks never make a larger window, from one that is not below
        /// cwnd_min: an unmarked run of ACKs ends above the same run with marks.
        #[test]
        fn marks_do_not_make_a_window_larger(
            marks in prop::collection::vec(mark(), 1..120),
            (json, _) in combinations(),
        ) {
            let run = |marked: bool| {
                let mut control = controller(&json, 8.0, 64.0);
                for (i, mark) in marks.iter().enumerate() {
                    let (i, mark) = (i as u64 + 1, if marked { *mark } else { Mark::None });
                    let sample = AckSample { srtt: Some(Span::from_us(100)), ..ack(1, i, i + 30, mark) };
                    control.on_ack(&sample, &mut Vec::new());
                }
                control.window().cwnd()
            };
            prop_assert!(run(true) <= run(false));
        }
    }
}
