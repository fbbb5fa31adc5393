//! Reno's additive increase (docs/algorithms/window.md#reno-rules,
//! RFC5681); it has no answer to congestion marks.

use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::{AckSample, CongestionAvoidance, Publisher, Reaction, Window};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "reno",
    kind: Kind::CongestionAvoidance,
    summary: "one segment per round; halves on loss, ignores ECN marks",
    parameters: &[],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/window.md#reno-rules, RFC5681",
    make: Make::CongestionAvoidance(|_| Ok(Box::new(Reno))),
};

/// Additive increase by one ACK, shared by the algorithms
/// built on Reno: `segments` per round, Reno's being 1.
pub(crate) fn additive_increase(window: &mut Window, segments: f64) {
    // docs/algorithms/window.md#reno-rules: "per ACK cwnd += 1/cwnd".
    window.set_cwnd(window.cwnd() + segments / window.cwnd());
}

/// Reno; it keeps no state.
#[derive(Clone, Copy, Debug)]
struct Reno;

impl CongestionAvoidance for Reno {
    fn start(&mut self, _snd_nxt: u64) {}

    fn observe(&mut self, _ack: &AckSample, _window: &Window, _publisher: &mut dyn Publisher) {}

    fn react(&mut self, _ack: &AckSample, _window: &mut Window, _publisher: &mut dyn Publisher) -> Reaction {
        Reaction::None
    }

    fn grow(&mut self, _ack: &AckSample, window: &mut Window) {
        additive_increase(window, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_of_acks_adds_about_one_segment() {
        let mut window = Window::new(10.0, 5.0);
        for _ in 0..10 {
            additive_increase(&mut window, 1.0);
        }
        assert!((window.cwnd() - 10.96).abs() < 0.01, "{}", window.cwnd());
    }
}
