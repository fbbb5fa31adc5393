//! Deadlocks that PFC (IEEE 802.1Qbb) can cause: state of the detector, and cycles of the wait-for graph.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_units::Time;

/// Most deadlocks that are kept; each cycle is reported once, so a run has few.
const MAX_DEADLOCKS: usize = 10_000;

/// State of deadlock detection in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeadlockDetector {
    /// When the next check is due.
    pub check_at: Option<Time>,
    /// This is a partition of a network: it only asks for a check, which the network makes.
    pub is_partition: bool,
    /// When a partition asks for a check.
    pub wanted_at: Option<Time>,
    /// Deadlocks found so far.
    pub found: Vec<Deadlock>,
    /// Cycles found so far with their priority, each from its smallest channel on.
    known: BTreeSet<(u8, Vec<u32>)>,
}

impl DeadlockDetector {
    /// Adds the cycles of a wait-for graph that were not known before.
    pub fn add_cycles(&mut self, at: Time, priority: u8, waits: &WaitGraph) {
        for cycle in cycles(waits) {
            if self.known.len() < MAX_DEADLOCKS && self.known.insert((priority, cycle.clone())) {
                self.found.push(Deadlock { at, priority, channels: cycle });
            }
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
