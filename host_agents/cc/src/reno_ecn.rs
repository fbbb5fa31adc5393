//! Reno with classic ECN (docs/algorithms/window.md#reno-ecn,
//! RFC3168): a mark counts as a loss, without the loss.
//!
//! The receiver repeats a mark until it sees CWR ([`Echo::UntilCwr`]); the sender answers once per window.

use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::reno::additive_increase;
use crate::{AckSample, CongestionAvoidance, CutCause, Echo, Event, Mark, Publisher, Reaction, Window};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "reno_ecn",
    kind: Kind::CongestionAvoidance,
    summary: "Reno that also halves on an ECN mark, once per round; the receiver echoes marks until CWR",
    parameters: &[],
    switch_needs: SwitchNeed::OneEcnThreshold,
    source: "docs/algorithms/window.md#reno-ecn, RFC3168",
    make: Make::CongestionAvoidance(|_| Ok(Box::new(RenoEcn { cwr_end: 0 }))),
};

/// docs/algorithms/window.md#reno-ecn: "max(cwnd/2, 2)".
const MIN_SEGMENTS: f64 = 2.0;

/// State of one sender.
#[derive(Clone, Copy, Debug)]
struct RenoEcn {
    /// No further cut until an ACK above this byte.
    cwr_end: u64,
}

impl CongestionAvoidance for RenoEcn {
    fn start(&mut self, snd_nxt: u64) {
        self.cwr_end = snd_nxt;
    }

    fn observe(&mut self, _ack: &AckSample, _window: &Window, _publisher: &mut dyn Publisher) {}

    fn react(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> Reaction {
        if ack.mark != Mark::Kdc || ack.ack <= self.cwr_end {
            return Reaction::None;
        }
        // docs/algorithms/window.md#reno-ecn: "on ECE, at most
        // once per window, ssthresh = cwnd = max(cwnd/2, 2)".
        let from_segments = window.cwnd();
        window.set_cwnd((from_segments / 2.0).max(MIN_SEGMENTS));
        window.set_ssthresh(window.cwnd());
        self.cwr_end = ack.snd_nxt;
        let to_segments = window.cwnd();
        publisher.publish(Event::WindowCut { from_segments, to_segments, cause: CutCause::Mark });
        Reaction::Cut
    }

    fn grow(&mut self, _ack: &AckSample, window: &mut Window) {
        additive_increase(window, 1.0);
    }

    fn echo(&self) -> Echo {
        Echo::UntilCwr
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, avoidance};

    #[test]
    fn it_halves_once_per_window() {
        let mut sender = avoidance(r#"{"name":"reno_ecn"}"#);
        let (mut window, mut events) = (Window::new(10.0, 1e9), Vec::new());
        sender.start(0);
        assert_eq!(sender.react(&ack(1, 1, 11, Mark::K), &mut window, &mut events), Reaction::None);
        assert_eq!(sender.react(&ack(1, 2, 12, Mark::Kdc), &mut window, &mut events), Reaction::Cut);
        assert_eq!((window.cwnd(), window.ssthresh()), (5.0, 5.0));
        assert_eq!(sender.react(&ack(1, 12, 17, Mark::Kdc), &mut window, &mut events), Reaction::None);
        window.set_cwnd(3.0);
        assert_eq!(sender.react(&ack(1, 13, 17, Mark::Kdc), &mut window, &mut events), Reaction::Cut);
        assert_eq!(window.cwnd(), 2.0);
    }
}
