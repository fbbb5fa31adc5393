//! Deadlock detection: cycles of links that PFC (IEEE 802.1Qbb) has paused (docs/algorithms/pfc.md#deadlock).
//!
//! A cycle of the wait-for graph, all of its links paused for `deadlock_after_ns`, is a deadlock and is
//! reported once. The detector looks as long as a port is paused.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_switch::config::PRIORITIES;
use p4cc_units::{Span, Time};

use crate::events::{Schedule, Timer};

/// Time between two checks (docs/algorithms/pfc.md#deadlock).
const CHECK_INTERVAL: Span = Span::from_ms(1);
/// Most deadlocks that are kept; each cycle is reported once, so a run has few.
const MAX_DEADLOCKS: usize = 10_000;

/// State of deadlock detection in a run.
#[derive(Clone, Debug)]
pub(crate) struct DeadlockDetector {
    /// How long the links of a cycle have to be paused.
    after: Span,
    /// When the next check is due.
    check_at: Option<Time>,
    /// In a partition or an epoch a check is only requested; the network makes it.
    is_deferred: bool,
    /// When a deferred check is requested.
    deferred: Option<Time>,
    /// Deadlocks found so far.
    pub found: Vec<Deadlock>,
    /// Cycles found so far with their priority, each from its smallest channel on.
    known: BTreeSet<(u8, Vec<u32>)>,
}

impl DeadlockDetector {
    pub fn new(after_ns: u64) -> Self {
        Self {
            after: Span::from_ns(after_ns),
            check_at: None,
            is_deferred: false,
            deferred: None,
            found: Vec::new(),
            known: BTreeSet::new(),
        }
    }

    /// Time between two checks; no longer than the time after which a cycle is a deadlock.
    pub fn interval(&self) -> Span {
        CHECK_INTERVAL.min(self.after)
    }

    /// Requests a check, unless one is due.
    pub fn request(&mut self, schedule: &mut Schedule) {
        if self.check_at.is_some() {
            return;
        }
        let at = schedule.now + self.interval();
        if self.is_deferred {
            (self.check_at, self.deferred) = (Some(at), Some(at));
        } else {
            self.request_at(schedule, at);
        }
    }

    /// Schedules a check.
    pub fn request_at(&mut self, schedule: &mut Schedule, at: Time) {
        self.check_at = Some(at);
        schedule.timer(at, 0, Timer::DeadlockCheck);
    }

    /// A check is due; `waits` gives the wait-for graph of a priority among links that have been paused for a
    /// time, and whether any link is paused.
    pub fn on_check(&mut self, schedule: &mut Schedule, waits: impl Fn(u8, Span) -> (WaitGraph, bool)) {
        self.check_at = None;
        let mut is_any_paused = false;
        for priority in 0..PRIORITIES as u8 {
            let (graph, is_paused) = waits(priority, self.after);
            is_any_paused |= is_paused;
            for channels in cycles(&graph) {
                if self.known.len() < MAX_DEADLOCKS && self.known.insert((priority, channels.clone())) {
                    self.found.push(Deadlock { at: schedule.now, priority, channels });
                }
            }
        }
        if is_any_paused {
            self.request(schedule);
        }
    }

    /// When the next check is due.
    pub fn check_at(&self) -> Option<Time> {
        self.check_at
    }

    /// Checks are deferred from now on; `check_at` is when the network makes its next one.
    pub fn defer(&mut self, check_at: Option<Time>) {
        (self.check_at, self.is_deferred) = (check_at, true);
    }

    /// When a deferred check is requested.
    pub fn deferred(&self) -> Option<Time> {
        self.deferred
    }

    /// Takes the request of a deferred check.
    pub fn take_deferred(&mut self) -> Option<Time> {
        self.deferred.take()
    }

    /// Schedules checks again, the deferred one first.
    pub fn stop_deferring(&mut self, schedule: &mut Schedule) {
        self.is_deferred = false;
        if let Some(at) = self.deferred.take() {
            self.request_at(schedule, at);
        }
    }
}

/// For each channel, the channels that it waits for.
pub(crate) type WaitGraph = BTreeMap<u32, BTreeSet<u32>>;

/// A cycle of links that wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Deadlock {
    /// When it was found.
    pub at: Time,
    pub priority: u8,
    /// Channels in the order of waiting, from the smallest on.
    pub channels: Vec<u32>,
}

/// A cycle through every channel that lies on one, each from its smallest channel on.
fn cycles(waits: &WaitGraph) -> BTreeSet<Vec<u32>> {
    waits.keys().filter_map(|&start| shortest_cycle(waits, start)).collect()
}

/// A shortest way from a channel back to itself, rotated so that it begins with its smallest channel.
fn shortest_cycle(waits: &WaitGraph, start: u32) -> Option<Vec<u32>> {
    let mut came_from = BTreeMap::new();
    let mut wave = vec![start];
    while !wave.is_empty() {
        let mut next_wave = Vec::new();
        for at in wave {
            for &next in waits.get(&at).into_iter().flatten() {
                if came_from.contains_key(&next) {
                    continue;
                }
                came_from.insert(next, at);
                next_wave.push(next);
            }
        }
        if came_from.contains_key(&start) {
            break;
        }
        wave = next_wave;
    }
    let mut cycle = vec![start];
    let mut at = *came_from.get(&start)?;
    while at != start {
        cycle.push(at);
        at = *came_from.get(&at)?;
    }
    cycle.reverse();
    let smallest = (0..cycle.len()).min_by_key(|&place| cycle[place])?;
    cycle.rotate_left(smallest);
    Some(cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, u32)]) -> WaitGraph {
        let mut waits: WaitGraph = BTreeMap::new();
        edges.iter().for_each(|&(from, to)| {
            waits.entry(from).or_default().insert(to);
        });
        waits
    }

    #[test]
    fn cycles_are_found_once_and_only_where_they_are() {
        assert!(cycles(&graph(&[(1, 2), (2, 3), (1, 3), (4, 1)])).is_empty());
        let found = cycles(&graph(&[(8, 2), (2, 5), (5, 8), (7, 2), (5, 9)]));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [vec![2, 5, 8]]);
        let found = cycles(&graph(&[(1, 2), (2, 1), (3, 4), (4, 3), (6, 6)]));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![6]]);
    }
}
