//! Growth that is decided once per round and spread over the round's ACKs
//! (docs/algorithms/slow-start.md#rfb-ss, "per-ACK form").
//!
//! A round ends with the first ACK above what had been sent when it began (docs/algorithms/README.md#units);
//! that ACK is the first of the next round, so a round of `w` segments has `w` ACKs.
//!
//! Invariant: a round never grows the window by more than was decided at its start.

use crate::{AckSample, Window};

/// One round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// The round is over with the first ACK above this byte.
    end: u64,
    /// The window at its start, and what it is to grow by, in segments.
    w0: f64,
    increment: f64,
    acked: u64,
}

impl Round {
    /// Before the first round: the next ACK of new data opens one.
    pub(crate) const fn before_first(snd_nxt: u64) -> Self {
        Self { end: snd_nxt, w0: 1.0, increment: 0.0, acked: 0 }
    }

    /// Takes an ACK of new data; `decide` gives the growth, in
    /// segments, of the round that it opens, if it opens one.
    pub(crate) fn on_ack(
        &mut self,
        ack: &AckSample,
        window: &mut Window,
        decide: impl FnOnce(&Window) -> f64,
    ) {
        if ack.ack > self.end {
            *self = Self { end: ack.snd_nxt, w0: window.cwnd(), increment: decide(window), acked: 0 };
        }
        self.acked = self.acked.saturating_add(ack.new_segments);
        // docs/algorithms/slow-start.md#rfb-ss: "each ACKed segment adds inc/W0". A window of 42.67 segments
        // has 42 ACKs: the last one brings the rest, so that rounds give the real numbers of the round model.
        let whole = self.acked as f64 >= libm::floor(self.w0);
        let share = if whole { 1.0 } else { self.acked as f64 / self.w0 };
        let grown = self.w0 + self.increment * share;
        if grown > window.cwnd() {
            window.set_cwnd(grown);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mark;
    use crate::testing::ack;

    /// docs/algorithms/slow-start.md#rfb-ss: a window of 2.5 segments has two ACKs, of which the last brings
    /// the rest.
    #[test]
    fn the_last_ack_of_a_broken_window_brings_the_rest() {
        let mut window = Window::new(2.5, 1e9);
        let mut round = Round::before_first(0);
        round.on_ack(&ack(1, 1, 2, Mark::None), &mut window, |_| 1.0);
        assert!((window.cwnd() - 2.9).abs() < 1e-12);
        round.on_ack(&ack(1, 2, 4, Mark::None), &mut window, |_| 1.0);
        assert_eq!(window.cwnd(), 3.5);
    }

    proptest! {
        /// However ACKs group segments, a round grows the window by its decision and no more.
        #[test]
        fn a_round_adds_what_was_decided(w0 in 1_u64..200, increment in 0.0_f64..200.0, step in 1_u64..7) {
            let mut window = Window::new(w0 as f64, 1e9);
            let mut round = Round::before_first(0);
            let (mut una, mut decisions) = (0, 0);
            while una < w0 {
                let n = step.min(w0 - una);
                una += n;
                round.on_ack(&ack(n, una, w0, Mark::None), &mut window, |_| { decisions += 1; increment });
                prop_assert!(window.cwnd() <= w0 as f64 + increment);
            }
            prop_assert_eq!((window.cwnd(), decisions), (w0 as f64 + increment, 1));
        }
    }
}
