//! CUBIC (docs/algorithms/window.md#cubic; RFC9438): the window is a cubic function of the time since the
//! last congestion, whose window is its turning point, and at least what Reno would have.
//!
//! Times are virtual, in seconds, windows in segments. Invariant: growth never makes the window smaller.

use p4cc_units::{Span, Time};

use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::{AckSample, CongestionAvoidance, CutCause, Echo, Event, Loss, Mark, Publisher, Reaction, Window};

const C: ParamInfo = ParamInfo {
    name: "c",
    unit: "segments/s^3",
    summary: "steepness of the cubic function",
    domain: Domain::Number { default: Some(0.4), min: 0.000_001, max: 1e12 },
    source: "docs/algorithms/window.md#cubic, RFC9438",
};

const BETA: ParamInfo = ParamInfo {
    name: "beta",
    unit: "ratio",
    summary: "factor by which a congestion event multiplies the window",
    domain: Domain::Number { default: Some(0.7), min: 0.1, max: 0.99 },
    source: "docs/algorithms/window.md#cubic, RFC9438",
};

const FAST_CONVERGENCE: ParamInfo = ParamInfo {
    name: "fast_convergence",
    unit: "",
    summary: "fast convergence: a flow that loses packets at a smaller window than last time yields \
        bandwidth to others",
    domain: Domain::Choice { default: "on", options: &["on", "off"] },
    source: "docs/algorithms/window.md#cubic, RFC9438",
};

/// What the registry says about CUBIC that answers losses only.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cubic",
    kind: Kind::CongestionAvoidance,
    summary: "a cubic function of the time since the last loss; ignores ECN marks",
    parameters: &[C, BETA, FAST_CONVERGENCE],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/window.md#cubic, RFC9438",
    make: Make::CongestionAvoidance(|params| Ok(Box::new(Cubic::new(params, None)?))),
};

/// What the registry says about CUBIC that answers marks too.
pub(crate) const ECN_INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cubic_ecn",
    kind: Kind::CongestionAvoidance,
    summary: "CUBIC that reacts to a mark as to a loss, once per round; the receiver echoes marks until CWR",
    parameters: &[
        C,
        BETA,
        FAST_CONVERGENCE,
        ParamInfo {
            name: "beta_ecn",
            unit: "ratio",
            summary: "factor by which a mark multiplies the window; 0.85 is ABE of RFC8511",
            domain: Domain::Number { default: Some(0.7), min: 0.1, max: 0.99 },
            source: "docs/algorithms/window.md#cubic, RFC9438, RFC8511",
        },
    ],
    switch_needs: SwitchNeed::OneEcnThreshold,
    source: "docs/algorithms/window.md#cubic, RFC9438, RFC3168",
    make: Make::CongestionAvoidance(|params| {
        Ok(Box::new(Cubic::new(params, Some(params.number("beta_ecn")?))?))
    }),
};

/// A stage of congestion avoidance, from its first ACK on.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Seconds from the start to the turning point.
    k_s: f64,
    /// The window at the turning point.
    w_max: f64,
    /// The window that Reno would have.
    w_est: f64,
}

/// State of one CUBIC sender.
#[derive(Clone, Copy, Debug)]
struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// What is left of the window after a mark; none if marks are not read.
    beta_ecn: Option<f64>,
    /// The window of the last congestion, made smaller where the flow gives way; none before the first and
    /// after a timeout.
    w_max: Option<f64>,
    /// The window at the last congestion as it was.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// No further cut by marks until an ACK above this byte.
    cwr_end: u64,
    /// When the last ACK came.
    last_ack: Option<Time>,
    /// How much of the time before the newest ACK counts.
    counted: Span,
}

impl Cubic {
    fn new(params: &Params<'_>, beta_ecn: Option<f64>) -> Result<Self, ConfigError> {
        Ok(Self {
            c: params.number("c")?,
            beta: params.number("beta")?,
            fast_convergence: params.choice("fast_convergence")? == "on",
            beta_ecn,
            w_max: None,
            cwnd_prior: 0.0,
            epoch: None,
            cwr_end: 0,
            last_ack: None,
            counted: Span::ZERO,
        })
    }

    /// RFC9438 4.6 and 4.7: a congestion at this window.
    fn note_congestion(&mut self, cwnd: f64) {
        let gives_way = self.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if gives_way { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd });
        self.cwnd_prior = cwnd;
        self.epoch = None;
    }

    /// RFC9438 4.2, 4.8 and 4.10: a stage of congestion avoidance begins.
    fn epoch_at(&mut self, now: Time, cwnd: f64) -> Epoch {
        // "K is set to 0, and W_max is set to the congestion window size at the beginning": after a timeout,
        // and where slow start ended without a loss.
        let w_max = self.w_max.filter(|w_max| *w_max > cwnd).unwrap_or(cwnd);
        if self.w_max.is_none() {
            self.cwnd_prior = cwnd;
        }
        Epoch { start: now, k_s: libm::cbrt((w_max - cwnd) / self.c), w_max, w_est: cwnd }
    }

    /// `W_cubic(t) = C (t - K)^3 + W_max` (RFC9438, equation 1).
    fn w_cubic(&self, epoch: &Epoch, t_s: f64) -> f64 {
        let from_turn_s = t_s - epoch.k_s;
        self.c * from_turn_s * from_turn_s * from_turn_s + epoch.w_max
    }

    /// RFC9438 4.3: `3 (1 - beta)/(1 + beta)`, and 1 once Reno's window is where it was.
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) }
    }
}

fn seconds(span: Span) -> f64 {
    span.as_ps() as f64 * 1e-12
}

impl CongestionAvoidance for Cubic {
    fn start(&mut self, snd_nxt: u64) {
        (self.w_max, self.cwnd_prior, self.epoch, self.cwr_end) = (None, 0.0, None, snd_nxt);
        (self.last_ack, self.counted) = (None, Span::ZERO);
    }

    fn observe(&mut self, ack: &AckSample, _window: &Window, _publisher: &mut dyn Publisher) {
        let (before, srtt) = (self.last_ack.replace(ack.now), ack.srtt.unwrap_or(Span::ZERO));
        // RFC9438 5.8: time in which the application left the window unused does not count. A window in use
        // has an ACK in every round trip.
        if let (Some(epoch), Some(before)) = (&mut self.epoch, before) {
            let elapsed = ack.now.since(before);
            self.counted = elapsed.min(srtt);
            epoch.start += elapsed - srtt;
        }
    }

    fn react(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> Reaction {
        let Some(beta_ecn) = self.beta_ecn else { return Reaction::None };
        if ack.mark != Mark::Kdc || ack.ack <= self.cwr_end {
            return Reaction::None;
        }
        let from_segments = window.cwnd();
        self.note_congestion(from_segments);
        // RFC9438 4.6: on a mark "cwnd = max(ssthresh, 1)", the threshold being at least 2.
        window.set_cwnd((from_segments * beta_ecn).max(1.0));
        window.set_ssthresh(window.cwnd().max(2.0));
        self.cwr_end = ack.snd_nxt;
        let to_segments = window.cwnd();
        publisher.publish(Event::WindowCut { from_segments, to_segments, cause: CutCause::Mark });
        Reaction::Cut
    }

    fn grow(&mut self, ack: &AckSample, window: &mut Window) {
        if ack.is_unvalidated {
            // RFC9438 5.8: "CUBIC does not increase its congestion window", and t does "not include
            // application-limited periods".
            if let Some(epoch) = &mut self.epoch {
                epoch.start += core::mem::take(&mut self.counted);
            }
            return;
        }
        let cwnd = window.cwnd();
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.epoch_at(ack.now, cwnd),
        };
        let n = ack.new_segments as f64;
        epoch.w_est += self.alpha(epoch.w_est) * n / cwnd;
        let t_s = seconds(ack.now.since(epoch.start));
        let grown = if self.w_cubic(&epoch, t_s) < epoch.w_est {
            // RFC9438 4.3: "cwnd SHOULD be set to W_est".
            epoch.w_est.max(cwnd)
        } else {
            // RFC9438 4.4 and 4.5, with the bounds of 4.2.
            let rtt_s = ack.srtt.map_or(0.0, seconds);
            let target = self.w_cubic(&epoch, t_s + rtt_s).clamp(cwnd, 1.5 * cwnd);
            cwnd + n * (target - cwnd) / cwnd
        };
        self.epoch = Some(epoch);
        // An ACK that jumps over a filled hole does not carry the window past what it acknowledges.
        window.set_cwnd(grown.min(cwnd + n));
    }

    fn ssthresh_after_loss(&mut self, loss: &Loss) -> f64 {
        self.note_congestion(loss.cwnd_segments);
        if loss.cause == CutCause::Timeout {
            // RFC9438 4.8: the stage behind a timeout knows no turning point.
            self.w_max = None;
        }
        // RFC9438 4.6: "ssthresh = flight_size * beta_cubic", at least 2.
        (loss.flight_segments as f64 * self.beta).max(2.0)
    }

    fn echo(&self) -> Echo {
        if self.beta_ecn.is_some() { Echo::UntilCwr } else { Echo::PerPacket }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, params_of};

    fn cubic(json: &str) -> Cubic {
        Cubic::new(&params_of(&INFO, json).params(), None).expect("valid parameters")
    }

    fn loss(flight_segments: u64, cause: CutCause) -> Loss {
        Loss { flight_segments, cwnd_segments: flight_segments as f64, cause }
    }

    /// RFC9438, equations 1 and 2: a loss at 100 segments leaves 70; the way back takes `cbrt(30/0.4)` s.
    #[test]
    fn the_window_turns_where_the_loss_was() {
        let mut sender = cubic(r#"{"name":"cubic"}"#);
        assert_eq!(sender.ssthresh_after_loss(&loss(100, CutCause::FastRetransmit)), 70.0);
        let epoch = sender.epoch_at(Time::ZERO, 70.0);
        assert!((epoch.k_s - 4.217_163).abs() < 1e-6);
        for (t_s, want) in [(0.0, 70.0), (epoch.k_s, 100.0), (2.0 * epoch.k_s, 130.0)] {
            assert!((sender.w_cubic(&epoch, t_s) - want).abs() < 1e-9, "{t_s}");
        }
    }

    /// RFC9438 4.7: `W_max = cwnd (1 + beta)/2` where the loss came below the last one.
    #[test]
    fn a_flow_that_loses_earlier_gives_way() {
        for (json, want) in
            [(r#"{"name":"cubic"}"#, 68.0), (r#"{"name":"cubic","fast_convergence":"off"}"#, 80.0)]
        {
            let mut sender = cubic(json);
            for flight in [100, 80] {
                sender.ssthresh_after_loss(&loss(flight, CutCause::FastRetransmit));
            }
            assert_eq!(sender.w_max, Some(want), "{json}");
        }
        // One that loses where it lost before does not.
        let mut sender = cubic(r#"{"name":"cubic"}"#);
        for flight in [80, 80] {
            sender.ssthresh_after_loss(&loss(flight, CutCause::FastRetransmit));
        }
        assert_eq!(sender.w_max, Some(80.0));
    }

    /// RFC9438 4.3: "Once W_est has grown to reach … cwnd_prior, the sender SHOULD set alpha to 1".
    #[test]
    fn reno_grows_by_a_segment_from_the_prior_window_on() {
        let mut sender = cubic(r#"{"name":"cubic"}"#);
        sender.ssthresh_after_loss(&loss(100, CutCause::FastRetransmit));
        assert_eq!([100.0, 101.0].map(|w_est| sender.alpha(w_est)), [1.0; 2]);
        assert!((sender.alpha(99.9) - 0.9 / 1.7).abs() < 1e-12);
    }

    /// RFC9438 4.4: in the concave part each segment acknowledged adds `(target - cwnd)/cwnd`, with the
    /// target of a round trip later; and Reno's window grows by `alpha n/cwnd`.
    #[test]
    fn an_ack_adds_its_part_of_the_way_to_the_target() {
        let mut sender = cubic(r#"{"name":"cubic"}"#);
        let mut window = Window::new(sender.ssthresh_after_loss(&loss(100, CutCause::FastRetransmit)), 70.0);
        let mut grown = |ms, n| {
            let sample = ack(n, 1, 900, Mark::None);
            let before = window.cwnd();
            let sample = AckSample { now: Time::from_ms(ms), srtt: Some(Span::from_ms(1_000)), ..sample };
            sender.grow(&sample, &mut window);
            window.cwnd() - before
        };
        assert!((grown(0, 2) - 2.0 * 0.9 / 1.7 / 70.0).abs() < 1e-9);
        let cwnd = 70.0 + 2.0 * 0.9 / 1.7 / 70.0;
        let from_turn_s: f64 = 3.0 - 4.217_163_327;
        let target = 100.0 + 0.4 * from_turn_s * from_turn_s * from_turn_s;
        assert!((grown(2_000, 2) - 2.0 * (target - cwnd) / cwnd).abs() < 1e-6);
    }

    /// RFC3168 6.1.2: a receiver repeats a mark until CWR where marks cut as losses do.
    #[test]
    fn only_the_form_with_ecn_asks_for_repeated_echoes() {
        assert_eq!(cubic(r#"{"name":"cubic"}"#).echo(), Echo::PerPacket);
        let given = params_of(&ECN_INFO, r#"{"name":"cubic_ecn"}"#);
        assert_eq!(Cubic::new(&given.params(), Some(0.85)).expect("valid").echo(), Echo::UntilCwr);
    }

    /// RFC9438 5.8: what an ACK comes later than a round trip is taken out of the time, and an ACK that finds
    /// the window unused takes out the rest, once.
    #[test]
    fn unused_time_is_taken_out_to_the_millisecond() {
        let mut sender = cubic(r#"{"name":"cubic"}"#);
        let mut window = Window::new(sender.ssthresh_after_loss(&loss(1_000, CutCause::FastRetransmit)), 1.0);
        let at = |ms, is_unvalidated| AckSample {
            now: Time::from_ms(ms),
            srtt: Some(Span::from_ms(100)),
            is_unvalidated,
            ..ack(1, 1, 900, Mark::None)
        };
        let mut start_ms = |sample: AckSample, grows: u32| {
            sender.observe(&sample, &window, &mut Vec::new());
            (0..grows).for_each(|_| sender.grow(&sample, &mut window));
            sender.epoch.map(|epoch| epoch.start)
        };
        for (ms, is_unvalidated, grows, wanted_ms) in [
            (10, false, 1, 10),
            (110, false, 1, 10),
            (410, true, 0, 210),
            (510, true, 2, 310),
            (560, true, 1, 360),
        ] {
            assert_eq!(start_ms(at(ms, is_unvalidated), grows), Some(Time::from_ms(wanted_ms)), "{ms} ms");
        }
    }

    /// RFC9438 4.8 and 4.10: without a window to come back to, the function turns where it begins.
    #[test]
    fn behind_a_timeout_or_a_slow_start_without_loss_the_turn_is_at_once() {
        let mut fresh = cubic(r#"{"name":"cubic"}"#);
        let mut timed_out = fresh;
        timed_out.ssthresh_after_loss(&loss(100, CutCause::Timeout));
        for sender in [&mut fresh, &mut timed_out] {
            let epoch = sender.epoch_at(Time::from_ms(5), 50.0);
            assert_eq!((epoch.k_s, epoch.w_max), (0.0, 50.0));
        }
    }

    /// RFC9438 4.3: Reno's growth with CUBIC's beta is 0.529 of a segment a round, until it is where it was.
    #[test]
    fn it_grows_as_reno_would_where_that_is_more() {
        let mut sender = cubic(r#"{"name":"cubic"}"#);
        assert_eq!(sender.ssthresh_after_loss(&loss(10, CutCause::FastRetransmit)), 7.0);
        let mut window = Window::new(7.0, 7.0);
        let mut acks = 0;
        while window.cwnd() < 10.0 {
            acks += 1;
            let sample = ack(1, acks, acks + 7, Mark::None);
            sender.grow(
                &AckSample { now: Time::from_us(acks), srtt: Some(Span::from_us(7)), ..sample },
                &mut window,
            );
        }
        // 3/0.529 rounds of 7 to 10 ACKs.
        assert!((46..=52).contains(&acks), "{acks}");
    }

    /// The mean window under one loss in so many packets, at a round-trip time of 0.1 s. The first loss is at
    /// `w_max`: around its turning point the function is so flat that another one is left over hundreds of
    /// losses only.
    fn mean_window(per_loss: u64, w_max: f64) -> f64 {
        // One flow alone has nobody to give way to: the RFC's model leaves fast convergence out.
        let mut sender = cubic(r#"{"name":"cubic","fast_convergence":"off"}"#);
        let first =
            Loss { flight_segments: w_max as u64, cwnd_segments: w_max, cause: CutCause::FastRetransmit };
        let ssthresh = sender.ssthresh_after_loss(&first);
        let mut window = Window::new(ssthresh, ssthresh);
        let (mut round, mut since_loss, mut sum, mut rounds, mut losses) = (0_u64, 0, 0.0, 0.0, 0);
        while losses < 24 {
            let (segments, cwnd) = (window.whole_segments(), window.cwnd());
            for i in 0..segments {
                let now = Time::from_us(round * 100_000 + i * 100_000 / segments);
                let sample = ack(1, round * 1_000_000 + i, 0, Mark::None);
                sender.grow(&AckSample { now, srtt: Some(Span::from_ms(100)), ..sample }, &mut window);
            }
            since_loss += segments;
            if losses >= 12 {
                (sum, rounds) = (sum + cwnd, rounds + 1.0);
            }
            if since_loss >= per_loss {
                (since_loss, losses) = (since_loss - per_loss, losses + 1);
                let (flight_segments, cwnd_segments) = (window.whole_segments(), window.cwnd());
                let lost = Loss { flight_segments, cwnd_segments, cause: CutCause::FastRetransmit };
                window.set_ssthresh(sender.ssthresh_after_loss(&lost));
                window.set_cwnd(window.ssthresh());
            }
            round += 1;
        }
        sum / rounds
    }

    /// RFC9438, 5.1, C = 0.4: where the cubic function rules, the mean that the formula gives keeps itself;
    /// below, CUBIC is no worse than Reno, which has 38.
    #[test]
    fn the_mean_window_by_the_share_of_losses() {
        for (per_loss, want) in [(10_000, 187.0), (100_000, 1_054.0)] {
            // From 0.7 of W_max to W_max the function's mean is 0.925 of it.
            let mean = mean_window(per_loss, want / 0.925);
            assert!((mean / want - 1.0).abs() < 0.01, "one loss in {per_loss}: {mean}");
        }
        assert!(mean_window(1_000, 40.0) >= 38.0);
    }

    /// RFC9438 5.8: a pause of the application is no time in which the window would have grown.
    #[test]
    fn a_pause_does_not_count() {
        let grown = |pause: Span| {
            let mut sender = cubic(r#"{"name":"cubic"}"#);
            let mut window =
                Window::new(sender.ssthresh_after_loss(&loss(1_000, CutCause::FastRetransmit)), 1.0);
            for i in 0..20_u64 {
                let pause = if i < 10 { Span::ZERO } else { pause };
                let now = Time::from_ms(100 * i) + pause;
                let sample =
                    AckSample { now, srtt: Some(Span::from_ms(100)), ..ack(1, i + 1, i + 900, Mark::None) };
                sender.observe(&sample, &window, &mut Vec::new());
                sender.grow(&sample, &mut window);
            }
            window.cwnd()
        };
        assert_eq!(grown(Span::ZERO), grown(Span::from_ms(30_000)));
    }

    #[test]
    fn a_mark_is_a_congestion_once_per_round() {
        let given = params_of(&ECN_INFO, r#"{"name":"cubic_ecn","beta_ecn":0.85}"#);
        let params = given.params();
        let mut sender = Cubic::new(&params, Some(0.85)).expect("valid parameters");
        let mut window = Window::new(100.0, 1e9);
        sender.start(0);
        assert_eq!(sender.react(&ack(1, 1, 101, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::Cut);
        assert_eq!((window.cwnd(), window.ssthresh(), sender.w_max), (85.0, 85.0, Some(100.0)));
        assert_eq!(sender.react(&ack(1, 50, 120, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::None);
        assert_eq!(sender.react(&ack(1, 101, 180, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::None);
        assert_eq!(sender.react(&ack(1, 102, 180, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::Cut);
    }
}
