//! TCP Prague's sender (docs/algorithms/prague.md#prague): DCTCP's cut by the smoothed share of marks, with
//! growth and cuts as if no round trip were shorter than 25 ms.
//!
//! Its packets are ECT(1), so that a dual queue (RFC9332) keeps them apart; the share is of packets, which
//! needs an echo of each one's mark. Invariants: `0 <= alpha <= 1`; at most one cut and one new alpha in a
//! virtual round trip; a marked ACK grows nothing.

use p4cc_units::{Span, Time};

use crate::alpha::{ALPHA0, CWND_MIN, G};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::{AckSample, CongestionAvoidance, CutCause, Event, Mark, Publisher, Reaction, Window};

pub(crate) const RTT_VIRT: ParamInfo = ParamInfo {
    name: "rtt_virt_ns",
    unit: "ns",
    summary: "flows with a shorter RTT grow and cut as if it were this long; 0 disables",
    domain: Domain::Number { default: Some(25e6), min: 0.0, max: 1e10 },
    source: "docs/algorithms/prague.md#prague-rtt",
};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "prague",
    kind: Kind::CongestionAvoidance,
    summary: "scalable congestion control for L4S: DCTCP's cut, with equal rates at all RTTs up to 25 ms; \
        without pacing",
    parameters: &[G, ALPHA0, CWND_MIN, RTT_VIRT],
    switch_needs: SwitchNeed::L4sMarks,
    source: "docs/algorithms/prague.md#prague, RFC9331",
    make: Make::CongestionAvoidance(|params| Ok(Box::new(Prague { law: Law::new(params)? }))),
};

/// An acknowledgement as the law sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub now: Time,
    /// Packets that it counts for.
    pub packets: u64,
    pub is_marked: bool,
    pub ack: u64,
    pub snd_nxt: u64,
}

/// Alpha, and when and by how much the window moves: what senders by window and by rate share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    g: f64,
    alpha0: f64,
    cwnd_min: f64,
    rtt_virt: Span,
    alpha: f64,
    /// Packets of this virtual round trip, and those of them that were marked.
    acked: u64,
    marked: u64,
    /// It ends with the first ACK above this byte, not before this time.
    win_end: u64,
    win_over: Time,
    /// No cut until an ACK above this byte, nor before this time.
    cwr_end: u64,
    cwr_over: Time,
}

impl Law {
    /// From the parameters above, which the algorithm's registry row must list.
    pub(crate) fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let alpha0 = params.number("alpha0")?;
        Ok(Self {
            g: params.number("g")?,
            alpha0,
            cwnd_min: params.number("cwnd_min")?,
            rtt_virt: Span::from_ns(params.number("rtt_virt_ns")? as u64),
            alpha: alpha0,
            acked: 0,
            marked: 0,
            win_end: 0,
            win_over: Time::ZERO,
            cwr_end: 0,
            cwr_over: Time::ZERO,
        })
    }

    fn start(&mut self, snd_nxt: u64) {
        self.alpha = self.alpha0;
        (self.acked, self.marked) = (0, 0);
        (self.win_end, self.cwr_end) = (snd_nxt, snd_nxt);
        (self.win_over, self.cwr_over) = (Time::ZERO, Time::ZERO);
    }

    /// Counts an ACK; the marked share of a virtual round trip that ends with it.
    pub(crate) fn observe(&mut self, ack: &Acked) -> Option<f64> {
        self.acked += ack.packets;
        if ack.is_marked {
            self.marked += ack.packets;
        }
        if ack.ack <= self.win_end || ack.now < self.win_over {
            return None;
        }
        let marked_fraction = self.marked as f64 / self.acked.max(1) as f64;
        self.alpha = ((1.0 - self.g) * self.alpha + self.g * marked_fraction).clamp(0.0, 1.0);
        (self.acked, self.marked) = (0, 0);
        (self.win_end, self.win_over) = (ack.snd_nxt, ack.now + self.rtt_virt);
        Some(marked_fraction)
    }

    /// The window behind the cut that this ACK asks for, if it does, in segments.
    pub(crate) fn cut(&mut self, ack: &Acked, cwnd: f64) -> Option<f64> {
        if !ack.is_marked || ack.ack <= self.cwr_end || ack.now < self.cwr_over {
            return None;
        }
        (self.cwr_end, self.cwr_over) = (ack.snd_nxt, ack.now + self.rtt_virt);
        Some((cwnd * (1.0 - self.alpha / 2.0)).max(self.cwnd_min))
    }

    /// What an unmarked ACK adds to the window: a round trip adds `(RTT/RTT_virt)^2` segments.
    pub(crate) fn growth(&self, packets: f64, srtt: Option<Span>, cwnd: f64) -> f64 {
        let rtt_ps = srtt.unwrap_or(self.rtt_virt).as_ps() as f64;
        let share = rtt_ps / rtt_ps.max(self.rtt_virt.as_ps() as f64).max(1.0);
        share * share * packets / cwnd.max(1.0)
    }
}

/// State of one sender by window.
#[derive(Clone, Copy, Debug)]
struct Prague {
    law: Law,
}

fn acked(ack: &AckSample) -> Acked {
    let AckSample { now, ack: byte, snd_nxt, mark, .. } = *ack;
    Acked { now, packets: ack.counted_segments(), is_marked: mark == Mark::Kdc, ack: byte, snd_nxt }
}

impl CongestionAvoidance for Prague {
    fn start(&mut self, snd_nxt: u64) {
        self.law.start(snd_nxt);
    }

    fn observe(&mut self, ack: &AckSample, _window: &Window, publisher: &mut dyn Publisher) {
        if let Some(marked_fraction) = self.law.observe(&acked(ack)) {
            publisher.publish(Event::AlphaUpdated { alpha: self.law.alpha, marked_fraction });
        }
    }

    fn react(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> Reaction {
        let from_segments = window.cwnd();
        let Some(cut) = self.law.cut(&acked(ack), from_segments) else { return Reaction::None };
        window.set_cwnd(cut);
        window.set_ssthresh(window.cwnd());
        let to_segments = window.cwnd();
        publisher.publish(Event::WindowCut { from_segments, to_segments, cause: CutCause::Mark });
        Reaction::Cut
    }

    fn grow(&mut self, ack: &AckSample, window: &mut Window) {
        if ack.mark != Mark::Kdc {
            let growth = self.law.growth(ack.new_segments as f64, ack.srtt, window.cwnd());
            window.set_cwnd(window.cwnd() + growth);
        }
    }

    fn alpha(&self) -> Option<f64> {
        Some(self.law.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, avoidance};

    fn sample(ms: u64, number: u64, mark: Mark, srtt_ms: u64) -> AckSample {
        let now = Time::from_us(1_000 * ms);
        AckSample { now, srtt: Some(Span::from_us(1_000 * srtt_ms)), ..ack(1, number, number + 10, mark) }
    }

    /// docs/algorithms/prague.md#prague-rtt: a round trip of 5 ms adds 1/25, one of 50 ms a segment.
    #[test]
    fn growth_goes_by_the_virtual_round_trip() {
        for (srtt_ms, want) in [(5, 0.04), (25, 1.0), (50, 1.0)] {
            let mut sender = avoidance(r#"{"name":"prague"}"#);
            let mut window = Window::new(100.0, 10.0);
            sender.start(0);
            sender.grow(&sample(1, 1, Mark::None, srtt_ms), &mut window);
            assert!((window.cwnd() - 100.0 - want / 100.0).abs() < 1e-12, "{srtt_ms} ms");
            sender.grow(&sample(1, 1, Mark::Kdc, srtt_ms), &mut window);
            assert!((window.cwnd() - 100.0 - want / 100.0).abs() < 1e-12, "a marked ACK grows nothing");
        }
    }

    #[test]
    fn one_cut_and_one_alpha_in_a_virtual_round_trip() {
        let mut sender = avoidance(r#"{"name":"prague","g":0.5}"#);
        let mut window = Window::new(100.0, 10.0);
        sender.start(0);
        let mut cuts = Vec::new();
        for ms in 1..=60 {
            let ack = sample(ms, ms * 20, Mark::Kdc, 5);
            sender.observe(&ack, &window, &mut Vec::new());
            if sender.react(&ack, &mut window, &mut Vec::new()) == Reaction::Cut {
                cuts.push(ms);
            }
        }
        assert_eq!(cuts, [1, 26, 51]);
        assert_eq!(sender.alpha(), Some(1.0));
        // The ACK at 1 ms closed a first window; half of each next share counts.
        sender.observe(&sample(100, 2_000, Mark::None, 5), &window, &mut Vec::new());
        let alpha = sender.alpha().expect("it keeps one");
        assert!((0.5..1.0).contains(&alpha), "{alpha}");
    }

    /// docs/algorithms/prague.md#prague-rtt: a virtual round trip is over when its data is acknowledged and
    /// its 25 ms have gone by, whichever is later; so is the pause after a cut.
    #[test]
    fn a_virtual_round_trip_has_both_ends() {
        for (byte, us, is_over) in
            [(100, 30_000, false), (101, 25_999, false), (101, 26_000, true), (100, 25_000, false)]
        {
            let mut sender = avoidance(r#"{"name":"prague","g":1}"#);
            let mut window = Window::new(50.0, 10.0);
            let at = |us, byte, mark| AckSample { now: Time::from_us(us), ..ack(1, byte, 100, mark) };
            sender.start(0);
            sender.observe(&at(1_000, 1, Mark::Kdc), &window, &mut Vec::new());
            let first = sender.react(&at(1_000, 1, Mark::Kdc), &mut window, &mut Vec::new());
            assert_eq!((first, sender.alpha()), (Reaction::Cut, Some(1.0)));
            let again = sender.react(&at(us, byte, Mark::Kdc), &mut window, &mut Vec::new());
            assert_eq!(again == Reaction::Cut, is_over, "byte {byte} at {us} us");
            sender.observe(&at(us, byte, Mark::None), &window, &mut Vec::new());
            assert_eq!(sender.alpha() == Some(0.0), is_over, "byte {byte} at {us} us");
        }
    }

    #[test]
    fn the_cut_is_half_of_alpha() {
        let mut sender = avoidance(r#"{"name":"prague","alpha0":0.2}"#);
        let mut window = Window::new(50.0, 10.0);
        sender.start(0);
        assert_eq!(sender.react(&sample(1, 10, Mark::Kdc, 50), &mut window, &mut Vec::new()), Reaction::Cut);
        assert!((window.cwnd() - 45.0).abs() < 1e-12);
        assert_eq!(window.ssthresh(), window.cwnd());
    }
}
