//! DCTCP's sender (docs/algorithms/window.md#dctcp-sender; RFC8257):
//! the share of marked packets decides the depth of the cut.
//!
//! The estimate and the once-per-window gate are [`MarkedShare`]'s.

use crate::alpha::{self, MarkedShare};
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::reno::additive_increase;
use crate::{AckSample, CongestionAvoidance, Publisher, Reaction, Window};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "dctcp",
    kind: Kind::CongestionAvoidance,
    summary: "cuts the window once per round by half the smoothed fraction of marked packets",
    parameters: &[alpha::G, alpha::ALPHA0, alpha::CWND_MIN, alpha::ALPHA_BY, alpha::CWR_FREEZE],
    switch_needs: SwitchNeed::OneEcnThreshold,
    source: "docs/algorithms/window.md#dctcp-sender, RFC8257",
    make: Make::CongestionAvoidance(|params| Ok(Box::new(Dctcp { share: MarkedShare::new(params)? }))),
};

/// State of one DCTCP sender.
#[derive(Clone, Copy, Debug)]
struct Dctcp {
    share: MarkedShare,
}

impl CongestionAvoidance for Dctcp {
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
        self.share.cut(self.share.alpha(), ack, window, publisher);
        Reaction::Cut
    }

    fn grow(&mut self, ack: &AckSample, window: &mut Window) {
        if !self.share.is_frozen(ack) {
            additive_increase(window, 1.0);
        }
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
    use super::*;
    use crate::Mark;
    use crate::testing::{ack, avoidance};

    #[test]
    fn the_window_is_cut_once_per_window_and_not_below_the_floor() {
        let mut sender = avoidance(r#"{"name":"dctcp","cwnd_min":3}"#);
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

    /// docs/algorithms/window.md#dctcp-sender: `cwnd = max(cwnd (1 - alpha/2), cwnd_min)`, `cwnd_min` 2
    /// segments as Linux has it, 1 as htsim does; a cut above it takes the whole half.
    #[test]
    fn the_floor_of_a_cut_is_two_segments_or_the_parameter() {
        let cut = |json: &str, cwnd: f64| {
            let mut sender = avoidance(json);
            let mut window = Window::new(cwnd, Window::MAX_SEGMENTS);
            sender.start(0);
            assert_eq!(sender.react(&ack(1, 1, 200, Mark::Kdc), &mut window, &mut Vec::new()), Reaction::Cut);
            (window.cwnd(), window.ssthresh())
        };
        assert_eq!(cut(r#"{"name":"dctcp"}"#, 3.0), (2.0, 2.0));
        assert_eq!(cut(r#"{"name":"dctcp"}"#, 4.0), (2.0, 2.0));
        assert_eq!(cut(r#"{"name":"dctcp"}"#, 5.0), (2.5, 2.5));
        assert_eq!(cut(r#"{"name":"dctcp","cwnd_min":1}"#, 3.0), (1.5, 1.5));
        assert_eq!(cut(r#"{"name":"dctcp","cwnd_min":1}"#, 1.5), (1.0, 1.0));
    }

    #[test]
    fn cwr_freeze_holds_the_window_until_the_cut_is_acknowledged() {
        for (json, after) in [(r#"{"name":"dctcp","cwr_freeze":"on"}"#, 4.0), (r#"{"name":"dctcp"}"#, 4.25)] {
            let mut sender = avoidance(json);
            let mut window = Window::new(8.0, 100.0);
            sender.start(0);
            sender.react(&ack(1, 10, 80, Mark::Kdc), &mut window, &mut Vec::new());
            sender.grow(&ack(1, 20, 80, Mark::None), &mut window);
            assert_eq!(window.cwnd(), after, "{json}");
            sender.grow(&ack(1, 90, 120, Mark::None), &mut window);
            assert_eq!(window.cwnd(), after + 1.0 / after, "{json}");
        }
    }

    /// Public ns-2 code: the first marked ACK of a run grows nothing, those behind it do.
    #[test]
    fn cwr_freeze_first_mark_holds_the_window_for_one_ack_of_a_run() {
        let mut sender = avoidance(r#"{"name":"dctcp","cwr_freeze":"first_mark"}"#);
        let mut window = Window::new(4.0, 1.0);
        sender.start(0);
        let mut grown = Vec::new();
        for (number, mark) in
            [Mark::None, Mark::Kdc, Mark::Kdc, Mark::None, Mark::Kdc].into_iter().enumerate()
        {
            let (before, sample) = (window.cwnd(), ack(1, number as u64, 80, mark));
            sender.observe(&sample, &window, &mut Vec::new());
            sender.grow(&sample, &mut window);
            grown.push(window.cwnd() > before);
        }
        assert_eq!(grown, [true, false, true, true, false]);
    }
}
