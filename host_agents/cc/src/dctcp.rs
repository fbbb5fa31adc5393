//! DCTCP's sender (spec 3.3; RFC8257): the share of marked packets decides the depth of the cut.
//!
//! Invariants: `0 <= alpha <= 1`; at most one cut per window of data; a loss leaves alpha alone.
//! Only [`Mark::Kdc`] counts as a mark: the lower level belongs to slow-start modules (spec 6.4).

use crate::config::{ConfigError, Params};
use crate::registry::{AlgorithmInfo, Domain, Kind, Make, ParamInfo, SwitchNeed};
use crate::reno::additive_increase;
use crate::{AckSample, CongestionAvoidance, CutCause, Event, Mark, Publisher, Reaction, Window};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "dctcp",
    kind: Kind::CongestionAvoidance,
    summary: "cuts the window once per round by half the smoothed share of marked packets",
    parameters: &[
        ParamInfo {
            name: "g",
            unit: "ratio",
            summary: "weight of the newest window in alpha",
            domain: Domain::Number { default: Some(1.0 / 16.0), min: 0.000_1, max: 1.0 },
            source: "spec 3.3, RFC8257",
        },
        ParamInfo {
            name: "alpha0",
            unit: "ratio",
            summary: "alpha of a new flow",
            domain: Domain::Number { default: Some(1.0), min: 0.0, max: 1.0 },
            source: "spec 3.3, RFC8257",
        },
        ParamInfo {
            name: "cwnd_min",
            unit: "segments",
            summary: "a cut never goes below this window; 1 in the base of spec 18.1b",
            domain: Domain::Number { default: Some(2.0), min: 1.0, max: 1_000.0 },
            source: "spec 3.3",
        },
        ParamInfo {
            name: "cwr_freeze",
            unit: "",
            summary: "hold the window until the cut's window of data is acknowledged, as Linux does",
            domain: Domain::Choice { default: "off", options: &["off", "on"] },
            source: "spec 3.3",
        },
    ],
    switch_needs: SwitchNeed::OneEcnThreshold,
    source: "spec 3.3, RFC8257",
    make: Make::CongestionAvoidance(|params| Ok(Box::new(Dctcp::new(params)?))),
};

/// State of one DCTCP sender.
#[derive(Clone, Copy, Debug)]
struct Dctcp {
    g: f64,
    alpha0: f64,
    cwnd_min: f64,
    cwr_freeze: bool,
    alpha: f64,
    /// Packets counted in this observation window, and those of them that were marked.
    acked: u64,
    marked: u64,
    /// The observation window ends with the first ACK above this byte.
    win_end: u64,
    /// No further cut until an ACK above this byte.
    cwr_end: u64,
}

impl Dctcp {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let alpha0 = params.number("alpha0")?;
        Ok(Self {
            g: params.number("g")?,
            alpha0,
            cwnd_min: params.number("cwnd_min")?,
            cwr_freeze: params.choice("cwr_freeze")? == "on",
            alpha: alpha0,
            acked: 0,
            marked: 0,
            win_end: 0,
            cwr_end: 0,
        })
    }
}

impl CongestionAvoidance for Dctcp {
    fn start(&mut self, snd_nxt: u64) {
        self.alpha = self.alpha0;
        (self.acked, self.marked) = (0, 0);
        (self.win_end, self.cwr_end) = (snd_nxt, snd_nxt);
    }

    fn observe(&mut self, ack: &AckSample, publisher: &mut dyn Publisher) {
        // Spec 3.3: "acked += max(n_new, 1); if ECE marked += max(n_new, 1)".
        self.acked += ack.counted_segments();
        if ack.mark == Mark::Kdc {
            self.marked += ack.counted_segments();
        }
        // Spec 3.3: at window end (ack > win_end) "F = marked/acked; alpha = (1-g) alpha + g F".
        if ack.ack > self.win_end {
            let marked_fraction = self.marked as f64 / self.acked as f64;
            self.alpha = ((1.0 - self.g) * self.alpha + self.g * marked_fraction).clamp(0.0, 1.0);
            (self.acked, self.marked) = (0, 0);
            self.win_end = ack.snd_nxt;
            publisher.publish(Event::AlphaUpdated { alpha: self.alpha, marked_fraction });
        }
    }

    fn react(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> Reaction {
        if ack.mark != Mark::Kdc || ack.ack <= self.cwr_end {
            return Reaction::None;
        }
        // Spec 3.3: "cwnd = max(cwnd (1 - alpha/2), cwnd_min), ssthresh = cwnd, cwr_end = snd_nxt".
        let from_segments = window.cwnd();
        window.set_cwnd((from_segments * (1.0 - self.alpha / 2.0)).max(self.cwnd_min));
        window.set_ssthresh(window.cwnd());
        self.cwr_end = ack.snd_nxt;
        let to_segments = window.cwnd();
        publisher.publish(Event::WindowCut { from_segments, to_segments, cause: CutCause::Mark });
        Reaction::Cut
    }

    fn grow(&mut self, ack: &AckSample, window: &mut Window) {
        if self.cwr_freeze && ack.ack <= self.cwr_end {
            return;
        }
        additive_increase(window);
    }

    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Time;

    use super::*;
    use crate::AlgorithmSpec;

    fn dctcp(json: &str) -> Dctcp {
        let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
        Dctcp::new(&Params::new("congestion_avoidance", &INFO, &spec).expect("valid parameters"))
            .expect("valid parameters")
    }

    fn ack(new_segments: u64, ack: u64, snd_nxt: u64, mark: Mark) -> AckSample {
        AckSample { now: Time::ZERO, new_segments, ack, snd_nxt, mark, rtt: None }
    }

    #[test]
    fn alpha_follows_the_marked_fraction_of_each_window() {
        let mut sender = dctcp(r#"{"name":"dctcp","g":0.25,"alpha0":0.5}"#);
        let mut events = Vec::new();
        sender.start(0);
        // The first ACK lies above win_end = 0 and closes the empty first window: F = 0.
        sender.observe(&ack(1, 10, 50, Mark::None), &mut events);
        assert_eq!(sender.alpha, 0.375);
        // Four packets, one marked by K_dc and one by K only: F = 1/4.
        for (at, mark) in [(20, Mark::Kdc), (30, Mark::K), (40, Mark::None), (60, Mark::None)] {
            sender.observe(&ack(1, at, 90, mark), &mut events);
        }
        assert_eq!(sender.alpha, 0.75 * 0.375 + 0.25 * 0.25);
        assert_eq!(
            events,
            [
                Event::AlphaUpdated { alpha: 0.375, marked_fraction: 0.0 },
                Event::AlphaUpdated { alpha: 0.343_75, marked_fraction: 0.25 }
            ]
        );
    }

    #[test]
    fn a_duplicate_counts_as_one_packet() {
        let mut sender = dctcp(r#"{"name":"dctcp","g":1.0,"alpha0":0.0}"#);
        sender.start(0);
        sender.observe(&ack(1, 10, 40, Mark::None), &mut Vec::new());
        sender.observe(&ack(0, 10, 40, Mark::Kdc), &mut Vec::new());
        sender.observe(&ack(4, 50, 60, Mark::Kdc), &mut Vec::new());
        assert_eq!(sender.alpha, 1.0);
    }

    #[test]
    fn the_window_is_cut_once_per_window_and_not_below_the_floor() {
        let mut sender = dctcp(r#"{"name":"dctcp","cwnd_min":3}"#);
        let mut window = Window::new(20.0, Window::MAX_SEGMENTS);
        sender.start(0);
        assert_eq!(sender.react(&ack(1, 10, 200, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::Cut);
        assert_eq!((window.cwnd(), window.ssthresh()), (10.0, 10.0));
        assert_eq!(sender.react(&ack(1, 200, 300, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::None);
        assert_eq!(sender.react(&ack(1, 210, 300, Mark::K), &mut window, &mut Vec::new()), Reaction::None);
        window.set_cwnd(4.0);
        assert_eq!(sender.react(&ack(1, 210, 300, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::Cut);
        assert_eq!(window.cwnd(), 3.0);
    }

    #[test]
    fn cwr_freeze_holds_the_window_until_the_cut_is_acknowledged() {
        for (json, after) in [(r#"{"name":"dctcp","cwr_freeze":"on"}"#, 4.0), (r#"{"name":"dctcp"}"#, 4.25)] {
            let mut sender = dctcp(json);
            let mut window = Window::new(8.0, 100.0);
            sender.start(0);
            sender.react(&ack(1, 10, 80, Mark::Kdc), &mut window, &mut Vec::new());
            sender.grow(&ack(1, 20, 80, Mark::None), &mut window);
            assert_eq!(window.cwnd(), after, "{json}");
            sender.grow(&ack(1, 90, 120, Mark::None), &mut window);
            assert_eq!(window.cwnd(), after + 1.0 / after, "{json}");
        }
    }
}
