//! One thread, district after district: the run loop of a large network (see [`crate::agenda`] for why).
//!
//! What may not be done out of order is what parts on threads may not do either, so the same conditions hold
//! ([`crate::parts`]): where they do not, the network runs event after event in the order of their keys. What is found
//! is the same to the byte.

use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_units::{Span, Time};

use crate::Progress;
use crate::network::Network;
use crate::parts::{Pace, WINDOWS_PER_LOOK, window, window_end};
use crate::topology::Topology;

/// Networks of fewer switches fit the caches.
const MIN_SWITCHES: usize = 32;
/// A district that has fewer events than this in a window, on the average of many, has no use for turns.
const FEWEST_EVENTS: u64 = 4;
/// Events one after the other before turns are tried again.
const PAUSE_EVENTS: u64 = 1 << 16;

/// Whether districts take turns; all that it makes a difference to is time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Turns {
    /// Where the network is large enough for it to pay.
    #[default]
    Auto,
    /// Wherever they can.
    Always,
    /// Nowhere.
    Never,
}

/// How a network is divided into districts.
pub(crate) struct Districts {
    /// District of each node.
    owner: Vec<usize>,
    window: Span,
    pace: Pace,
    witness: usize,
    /// The part of each node: the network is whole.
    whole: Vec<usize>,
}

/// District of each node: a switch with its hosts.
pub(crate) fn districts(topology: &Topology) -> Vec<usize> {
    let switches = topology.switches.len();
    let hosts = topology.hosts.iter().map(|host| topology.channels[host.uplink as usize].to as usize);
    (0..switches).chain(hosts.map(|peer| if peer < switches { peer } else { 0 })).collect()
}

/// The same, numbered within the part that each node belongs to.
pub(crate) fn districts_of_parts(topology: &Topology, part: &[usize]) -> Vec<usize> {
    let mut next = vec![0; part.iter().max().map_or(0, |last| last + 1)];
    let within: Vec<usize> = part[..topology.switches.len()]
        .iter()
        .map(|&part| {
            next[part] += 1;
            next[part] - 1
        })
        .collect();
    districts(topology).into_iter().map(|switch| within[switch]).collect()
}

impl Network {
    /// Whether districts take turns in this run.
    pub fn set_turns(&mut self, turns: Turns) {
        self.turns = turns;
    }

    pub(crate) fn has_turns(&self) -> bool {
        match self.turns {
            Turns::Auto => self.switches.len() >= MIN_SWITCHES,
            Turns::Always => true,
            Turns::Never => false,
        }
    }

    /// The network's districts; none where events are to come one after the other.
    pub(crate) fn districts(&self) -> Option<Districts> {
        if !self.has_turns() || self.one_thread_reason().is_some() {
            return None;
        }
        let owner = districts(&self.topology);
        let window = window(&self.topology, &owner);
        let whole = vec![0; owner.len()];
        (window > Span::ZERO && self.check_interval() >= window).then(|| Districts {
            owner,
            window,
            pace: Pace::default(),
            witness: 0,
            whole,
        })
    }

    /// Lets districts take turns as far as they can before `until`.
    pub(crate) fn run_districts(
        &mut self,
        districts: &mut Districts,
        until: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) {
        let Some(limit) = self.stretch(&mut districts.pace, districts.window, until) else { return };
        let started = self.active.len();
        self.stall.keep_moves();
        self.fabric.is_part = true;
        self.queue.divide(&districts.owner, districts.window, self.now());
        let least_events = WINDOWS_PER_LOOK * FEWEST_EVENTS * self.switches.len() as u64;
        let (mut windows, mut counted, mut is_busy) = (0_u64, self.events, true);
        while let Some(end) = self.next_window(districts, limit)
            && is_busy
            && !cancel.load(Ordering::Relaxed)
        {
            self.run_window(end);
            self.stall.replay_own();
            self.windows += 1;
            windows += 1;
            if windows.is_multiple_of(WINDOWS_PER_LOOK) {
                progress(self.progress());
                is_busy = self.turns == Turns::Always || self.events - counted >= least_events;
                counted = self.events;
            }
        }
        self.stall.count_again();
        self.fabric.is_part = false;
        self.queue.unite(self.now());
        self.put_in_order_of_start(started);
        if let Some(at) = self.fabric.wanted.take() {
            self.schedule_check_at(at);
        }
        districts.pace.after(self.events + if is_busy { 0 } else { PAUSE_EVENTS }, windows);
    }

    /// End of the next window; none if something has to be done by the network as one.
    fn next_window(&mut self, districts: &mut Districts, limit: Time) -> Option<Time> {
        let limit = limit.min(self.fabric.wanted.unwrap_or(Time::MAX));
        let start = self.queue.next_time().filter(|start| *start < limit)?;
        let end = window_end(start, districts.window).min(limit);
        let sure_until = self.cannot_end(&districts.whole, 0, &mut districts.witness);
        (end <= sure_until && self.events_left() > 0).then_some(end)
    }

    /// All events of a window, district after district.
    pub(crate) fn run_window(&mut self, end: Time) {
        let start = self.now();
        let mut latest = start;
        let last = Time::from_ps(end.as_ps() - 1);
        let first = self.queue.begin(end);
        for district in 0..self.queue.districts() {
            self.fetch_district(district, last);
            if !self.queue.enter(district, first) {
                continue;
            }
            while let Some(event) = self.queue.pop_turn() {
                self.now = event.time();
                self.order.advance(&event);
                self.dispatch(&event);
                self.events += 1;
            }
            latest = latest.max(self.now);
        }
        self.now = latest;
    }
}
