//! Paths that a sender chooses: what switches hash of each packet, and what comes back about it
//! (docs/algorithms/entropy.md).
//!
//! A value is the low bits of the packet's UDP source port, which its ACK echoes. Who runs the sender seeds
//! it.
//!
//! Invariant: ports are of the dynamic range and differ in the low bits only.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::random::SplitMix;
use crate::wire::DYNAMIC_PORTS;

/// docs/algorithms/entropy.md#reps: what a sender keeps of values that came back.
const KEPT_VALUES: usize = 8;
/// docs/algorithms/entropy.md#bitmap: turns that a value is left out for a mark and for a trimmed packet, and
/// at most.
const MARK_TURNS: u8 = 1;
const TRIM_TURNS: u8 = 4;
const MOST_TURNS: u8 = 15;

/// How a sender chooses the value of each packet that switches choose its path by.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Entropy {
    /// One value for all packets of a flow.
    #[default]
    Flow,
    /// Each value in turn (docs/algorithms/entropy.md#oblivious).
    Oblivious,
    /// Each value in turn, but for those that came back marked or trimmed
    /// (docs/algorithms/entropy.md#bitmap).
    Bitmap,
    /// Values that came back without a mark, then random ones (docs/algorithms/entropy.md#reps).
    Reps,
}

/// What came back about the path of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathFeedback {
    /// The packet arrived without a mark.
    Good,
    /// It arrived with one.
    Marked,
    /// A switch trimmed it.
    Trimmed,
}

/// The values of one flow.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    strategy: Entropy,
    random: SplitMix,
    /// Of a value: their number is a power of two.
    mask: u16,
    /// The flow's bits above a value, with the range of ports.
    base: u16,
    /// Which value is next in turn; each round through all of them has an order of its own.
    turn: u16,
    order: u16,
    /// Turns for which each value is left out still.
    left_out: Vec<u8>,
    /// Values that came back, the earliest first.
    recycled: VecDeque<u16>,
    port: u16,
}

impl Paths {
    /// Of one of so many values, a power of two up to 2^14.
    pub fn new(strategy: Entropy, values: u16, seed: u64) -> Self {
        let mut random = SplitMix(seed);
        let mask = values.clamp(1, 1 << 14) - 1;
        let base = DYNAMIC_PORTS | random.masked(!DYNAMIC_PORTS & !mask);
        let left_out = if strategy == Entropy::Bitmap { vec![0; usize::from(mask) + 1] } else { Vec::new() };
        let order = random.masked(mask);
        Self { strategy, random, mask, base, turn: 0, order, left_out, recycled: VecDeque::new(), port: base }
    }

    /// The source port of the packet that left last.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// A packet leaves.
    pub fn advance(&mut self) {
        let value = match self.strategy {
            Entropy::Flow => 0,
            Entropy::Oblivious => self.in_turn(),
            Entropy::Bitmap => self.in_turn_unless_left_out(),
            Entropy::Reps => match self.recycled.pop_front() {
                Some(value) => value,
                None => self.random.masked(self.mask),
            },
        };
        self.port = self.base | value;
    }

    /// The ACK of a packet came back.
    pub fn hear(&mut self, port: u16, feedback: PathFeedback) {
        let value = port & self.mask;
        match (self.strategy, feedback) {
            (Entropy::Reps, PathFeedback::Good) => {
                if self.recycled.len() == KEPT_VALUES {
                    self.recycled.pop_front();
                }
                self.recycled.push_back(value);
            }
            (Entropy::Bitmap, PathFeedback::Marked) => self.leave_out(value, MARK_TURNS),
            (Entropy::Bitmap, PathFeedback::Trimmed) => self.leave_out(value, TRIM_TURNS),
            _ => {}
        }
    }

    fn leave_out(&mut self, value: u16, turns: u8) {
        if let Some(left_out) = self.left_out.get_mut(usize::from(value)) {
            *left_out = (*left_out + turns).min(MOST_TURNS);
        }
    }

    fn in_turn(&mut self) -> u16 {
        let value = (self.turn ^ self.order) & self.mask;
        self.turn = (self.turn + 1) & self.mask;
        if self.turn == 0 {
            self.order = self.random.masked(self.mask);
        }
        value
    }

    /// The next value that is not left out. A packet takes a turn off the first one that is; where all are,
    /// the one behind a whole round.
    fn in_turn_unless_left_out(&mut self) -> u16 {
        let mut value = self.in_turn();
        if let Some(left_out) = self.left_out.get_mut(usize::from(value)).filter(|turns| **turns > 0) {
            *left_out -= 1;
            for _ in 0..=self.mask {
                value = self.in_turn();
                if self.left_out.get(usize::from(value)) == Some(&0) {
                    break;
                }
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(paths: &mut Paths, packets: usize) -> Vec<u16> {
        (0..packets)
            .map(|_| {
                paths.advance();
                paths.port() & paths.mask
            })
            .collect()
    }

    #[test]
    fn one_value_is_one_path() {
        let mut paths = Paths::new(Entropy::Oblivious, 1, 7);
        let base = paths.port();
        assert_eq!(values(&mut paths, 100), [0; 100]);
        assert_eq!(paths.port(), base);
    }

    #[test]
    fn marked_values_are_left_out_for_a_turn_and_trimmed_ones_for_four() {
        let cases = [(PathFeedback::Good, 0), (PathFeedback::Marked, 1), (PathFeedback::Trimmed, 4)];
        for (feedback, turns) in cases {
            let mut paths = Paths::new(Entropy::Bitmap, 8, 3);
            paths.hear(2, feedback);
            // Ten rounds.
            let sent = values(&mut paths, 80 - turns);
            for value in 0..8 {
                let times = sent.iter().filter(|one| **one == value).count();
                assert_eq!(times, if value == 2 { 10 - turns } else { 10 }, "{value} of {sent:?}");
            }
        }
    }

    #[test]
    fn where_all_values_are_left_out_one_is_taken() {
        let mut paths = Paths::new(Entropy::Bitmap, 4, 3);
        for value in 0..4 {
            for _ in 0..9 {
                paths.hear(value, PathFeedback::Trimmed);
            }
        }
        assert_eq!(paths.left_out, [MOST_TURNS; 4]);
        values(&mut paths, 10);
        let left: u8 = paths.left_out.iter().sum();
        assert_eq!(left, 4 * MOST_TURNS - 10, "each packet takes a turn off");
    }

    #[test]
    fn recycled_values_leave_in_the_order_in_which_they_came_back() {
        let mut paths = Paths::new(Entropy::Reps, 1 << 14, 5);
        let first = values(&mut paths, 12);
        let port = |value: u16| DYNAMIC_PORTS | value;
        for (n, &value) in first.iter().enumerate() {
            let feedback = match n {
                1 => PathFeedback::Marked,
                2 => PathFeedback::Trimmed,
                _ => PathFeedback::Good,
            };
            paths.hear(port(value), feedback);
        }
        // Ten came back; the earliest two of them found no room.
        let kept: Vec<u16> = first[4..].to_vec();
        assert_eq!(values(&mut paths, 8), kept);
        assert!(paths.recycled.is_empty());
    }

    proptest! {
        /// Rounds hold each value once, in orders that differ.
        #[test]
        fn each_value_leaves_once_a_round(bits in 0_u32..9, seed: u64) {
            let mut paths = Paths::new(Entropy::Oblivious, 1 << bits, seed);
            let base = paths.port() & !paths.mask;
            let mut rounds = Vec::new();
            for _ in 0..4 {
                let round = values(&mut paths, 1 << bits);
                prop_assert_eq!(paths.port() & !paths.mask, base);
                let mut sorted = round.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..1 << bits).collect::<Vec<u16>>());
                rounds.push(round);
            }
            prop_assert!(bits < 5 || rounds.iter().any(|round| *round != rounds[0]));
        }

        /// Whatever comes back: ports stay in the range, and a value that came back marked or trimmed only is
        /// not reused as such.
        #[test]
        fn only_good_values_are_recycled(
            seed: u64,
            steps in prop::collection::vec((0_u16..64, 0_u8..3), 0..200),
        ) {
            let mut paths = Paths::new(Entropy::Reps, 64, seed);
            let mut good = VecDeque::new();
            for (value, kind) in steps {
                let feedback =
                    [PathFeedback::Good, PathFeedback::Marked, PathFeedback::Trimmed][usize::from(kind)];
                paths.hear(DYNAMIC_PORTS | value, feedback);
                if feedback == PathFeedback::Good {
                    good.push_back(value);
                }
                if good.len() > KEPT_VALUES {
                    good.pop_front();
                }
                if value % 3 == 0 {
                    paths.advance();
                    prop_assert!(paths.port() >= DYNAMIC_PORTS);
                    if let Some(expected) = good.pop_front() {
                        prop_assert_eq!(paths.port() & 63, expected);
                    }
                }
            }
        }
    }
}
