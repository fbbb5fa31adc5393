//! Whether a run continues on several threads or on one, by which was faster lately.
//!
//! Threads that share their processors with other programs wait for each other twice in an epoch, and an
//! epoch is far shorter than the time slice of another program. Two threads can then be slower than one.
//! So a run measures both: it spends most of its events on the faster one and now and then tries the other.
//! The clock belongs to the caller, and results do not depend on it, since both ways give the same bytes.

/// A stretch is this many times as long as a trial of the slower way.
const TRIALS_PER_STRETCH: u64 = 8;
/// Least events of a trial for each node and flow, whose state a trial moves twice.
const TRIAL_EVENTS_PER_STATE: u64 = 32;
/// Stretches until the next trial; the number doubles where a trial confirms the choice.
const MIN_STRETCHES: u32 = 4;
/// The largest number of them.
const MAX_STRETCHES: u32 = 32;

/// One of the two ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Threads,
    OneThread,
}

impl Way {
    fn other(self) -> Self {
        match self {
            Self::Threads => Self::OneThread,
            Self::OneThread => Self::Threads,
        }
    }
}

/// The faster way, and what it follows from.
pub(crate) struct Choice {
    chosen: Way,
    /// Whether the other way is being tried.
    in_trial: bool,
    /// Events and time at the last decision; none before the first.
    began: Option<(u64, u64)>,
    stretch_events: u64,
    trial_events: u64,
    /// Nanoseconds per 2^20 events: of the last stretch, and of the way that the last trial chose.
    cost: u64,
    cost_at_trial: u64,
    stretches_left: u32,
    stretches: u32,
}

impl Choice {
    /// Threads first. `states` counts the nodes and flows that move between threads.
    pub fn new(stretch_events: u64, states: usize) -> Self {
        let least = TRIAL_EVENTS_PER_STATE.saturating_mul(states as u64);
        let trial_events = (stretch_events / TRIALS_PER_STRETCH).max(least);
        Self {
            chosen: Way::Threads,
            in_trial: false,
            began: None,
            stretch_events: stretch_events.max(trial_events),
            trial_events,
            cost: 0,
            cost_at_trial: 0,
            stretches_left: 1,
            stretches: MIN_STRETCHES,
        }
    }

    /// The way that events are handled in now.
    fn way(&self) -> Way {
        if self.in_trial { self.chosen.other() } else { self.chosen }
    }

    /// Number of events after which the next decision is due.
    fn due(&self) -> Option<u64> {
        let length = if self.in_trial { self.trial_events } else { self.stretch_events };
        self.began.map(|(events, _)| events.saturating_add(length))
    }

    /// The way for the next events, and how many of them, once `events` have been handled.
    pub fn next(&mut self, events: u64, now_ns: impl Fn() -> u64) -> (Way, u64) {
        if self.due().is_none_or(|due| events >= due) {
            let now = now_ns();
            if let Some((before, since)) = self.began {
                let elapsed_ns = u128::from(now.saturating_sub(since)) << 20;
                let cost = elapsed_ns / u128::from((events - before).max(1));
                self.decide(u64::try_from(cost).unwrap_or(u64::MAX));
            }
            self.began = Some((events, now));
        }
        (self.way(), self.due().map_or(0, |due| due - events))
    }

    /// A stretch or a trial has ended. `cost` is in nanoseconds per 2^20 events.
    fn decide(&mut self, cost: u64) {
        if self.in_trial {
            self.in_trial = false;
            // A twentieth, so that noise does not move the state of all nodes.
            if cost < self.cost - self.cost / 20 {
                self.chosen = self.chosen.other();
                self.cost_at_trial = cost;
                self.stretches = MIN_STRETCHES;
            } else {
                self.cost_at_trial = self.cost;
                self.stretches = (self.stretches * 2).min(MAX_STRETCHES);
            }
            self.stretches_left = self.stretches;
            return;
        }
        self.cost = cost;
        self.stretches_left = self.stretches_left.saturating_sub(1);
        // What has become slower by a quarter since the last trial may be the slower way now.
        let is_slower = self.cost_at_trial > 0 && cost / 5 > self.cost_at_trial / 4;
        self.in_trial = self.stretches_left == 0 || is_slower;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Shares of `events` that each way got, with nanoseconds per event of threads and of one thread.
    fn handled(choice: &mut Choice, from: u64, events: u64, costs: [u64; 2]) -> [f64; 2] {
        let now_ns = Cell::new(from * costs[0]);
        let (mut done, mut by_way) = (0, [0, 0]);
        while done < events {
            let (way, most) = choice.next(from + done, || now_ns.get());
            let number = most.clamp(1, 10_000);
            now_ns.set(now_ns.get() + number * costs[way as usize]);
            by_way[way as usize] += number;
            done += number;
        }
        by_way.map(|number| number as f64 / done as f64)
    }

    #[test]
    fn the_faster_way_gets_nearly_all_events() {
        const EVENTS: u64 = 400 << 20;
        for (costs, faster) in [([100, 175], 0), ([125, 100], 1)] {
            let shares = handled(&mut Choice::new(1 << 21, 400), 0, EVENTS, costs);
            assert!(shares[faster] > 0.97, "{costs:?}: {shares:?}");
        }
    }

    #[test]
    fn a_choice_follows_what_changes() {
        const EVENTS: u64 = 400 << 20;
        let mut choice = Choice::new(1 << 21, 400);
        for (turn, costs) in [[100, 175], [250, 175], [100, 175]].into_iter().enumerate() {
            let shares = handled(&mut choice, turn as u64 * EVENTS * 2, EVENTS, costs);
            let faster = usize::from(costs[0] > costs[1]);
            // One thread costs the same when threads become faster again: only a trial finds that out.
            assert!(shares[faster] > 0.8, "{costs:?}: {shares:?}");
        }
    }

    #[test]
    fn a_difference_below_a_twentieth_changes_nothing() {
        let shares = handled(&mut Choice::new(1 << 21, 400), 0, 400 << 20, [103, 100]);
        assert!(shares[0] > 0.97, "{shares:?}");
    }
}
