//! Smooth start (docs/algorithms/slow-start.md#smooth): growth slows down step by step near the threshold.
//!
//! The source only says so much; the steps are the spec's stand-in: in
//! the j-th round from half the threshold on, one segment per j+1 ACKs.
//!
//! Invariant: a round of the slow part never passes the threshold.

use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::rounds::Round;
use crate::{AckSample, Phase, Publisher, SlowStart, Window};

/// What the registry says about this module.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "smooth",
    kind: Kind::SlowStart,
    summary: "doubles up to ssthresh/2, then grows by 1/2, 1/3, 1/4 … of the window per round",
    parameters: &[],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/slow-start.md#smooth, #choice-smooth",
    make: Make::SlowStart(|_| Ok(Box::new(Smooth { round: Round::before_first(0), slow_rounds: 0 }))),
};

/// State of one smooth start.
#[derive(Clone, Copy, Debug)]
struct Smooth {
    round: Round,
    /// Rounds begun in the slow part, j of the spec.
    slow_rounds: u32,
}

impl SlowStart for Smooth {
    fn enter(&mut self, snd_nxt: u64, _window: &Window) {
        *self = Self { round: Round::before_first(snd_nxt), slow_rounds: 0 };
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, _publisher: &mut dyn Publisher) -> bool {
        if ack.new_segments > 0 {
            let slow_rounds = &mut self.slow_rounds;
            self.round.on_ack(ack, window, |window| {
                let (cwnd, ssthresh) = (window.cwnd(), window.ssthresh());
                if cwnd < ssthresh / 2.0 {
                    return cwnd;
                }
                *slow_rounds = slow_rounds.saturating_add(1);
                // docs/algorithms/slow-start.md#smooth: "per round cwnd += cwnd/(j+1), stop at ssthresh".
                (cwnd / (f64::from(*slow_rounds) + 1.0)).min(ssthresh - cwnd)
            });
        }
        true
    }

    fn phase(&self) -> Phase {
        if self.slow_rounds > 0 { Phase::Smoothing } else { Phase::SlowStart }
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Span;
    use proptest::prelude::*;

    use crate::testing::{ack, slow_start, windows_by_round};
    use crate::{Mark, Phase, Window};

    /// docs/algorithms/slow-start.md#smooth: the slow part begins at half of the threshold.
    #[test]
    fn the_phase_begins_at_half_of_the_threshold() {
        for (cwnd, wanted) in [(31.0, Phase::SlowStart), (32.0, Phase::Smoothing)] {
            let mut module = slow_start(r#"{"name":"smooth"}"#);
            let mut window = Window::new(cwnd, 64.0);
            module.enter(0, &window);
            assert_eq!(module.phase(), Phase::SlowStart);
            module.on_ack(&ack(1, 1, 40, Mark::None), &mut window, &mut Vec::new());
            assert_eq!(module.phase(), wanted, "{cwnd}");
        }
    }

    #[test]
    fn growth_slows_down_by_steps() {
        let windows = windows_by_round(r#"{"name":"smooth"}"#, 1.0, 64.0, Span::from_ms(140), 40);
        assert_eq!(windows, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0, 64.0]);
        // From 33, just past half: 33/2, then (33 + 16.5)/3 is more than is missing.
        let windows = windows_by_round(r#"{"name":"smooth"}"#, 33.0, 64.0, Span::from_ms(140), 40);
        assert_eq!(windows, [33.0, 49.5, 64.0]);
    }

    proptest! {
        #[test]
        fn it_rises_to_the_threshold_and_stops_there(ssthresh in 2_u32..5_000, iw in 1_u32..10) {
            let windows =
                windows_by_round(r#"{"name":"smooth"}"#, f64::from(iw), f64::from(ssthresh), Span::from_ms(1), 200);
            prop_assert!(windows.windows(2).all(|pair| pair[1] > pair[0] && pair[1] <= 2.0 * pair[0]));
            prop_assert!(iw >= ssthresh || windows.last() == Some(&f64::from(ssthresh)));
        }
    }
}
