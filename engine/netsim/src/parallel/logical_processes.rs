//! One thread, district after district: the run loop of a large network (see [`crate::events::calendar`] for
//! why).
//!
//! What may not be done out of order is what parts on threads may not do either, so the
//! same conditions hold ([`crate::parallel::partitions`]): where they do not, the network runs event
//! after event in the order of their keys. What is found is the same to the byte.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_units::{Span, Time};

use crate::Progress;
use crate::describe::topology::{ChannelPlan, HostPlan, Topology};
use crate::events::buckets::Entry;
use crate::events::event::Kind;
use crate::events::tie_break::Moment;
use crate::network::state::Network;
use crate::parallel::partitions::{Pace, WINDOWS_PER_LOOK, window, window_end};

/// In networks of fewer switches each switch has its turn often enough.
const MIN_SWITCHES: usize = 4;
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

/// District of each node: a switch, or the hosts of one. They come after all switches, so that the processor
/// goes through the code for switches again and again, then through that for hosts. Hosts whose links are
/// shorter than those between switches are in the district of their switch, as windows would be shorter
/// otherwise.
pub(crate) fn districts(topology: &Topology) -> Vec<usize> {
    let switches = topology.switches.len();
    let link = |uplink: u32| &topology.channels[uplink as usize];
    let is_trunk = |plan: &&ChannelPlan| (plan.from as usize) < switches && (plan.to as usize) < switches;
    let trunks = topology.channels.iter().filter(is_trunk).map(|plan| plan.delay).min().unwrap_or(Span::MAX);
    let is_apart = topology.hosts.iter().all(|host| link(host.uplink).delay >= trunks);
    let of_host = |host: &HostPlan| {
        // Two hosts on one link are with the first switch.
        let peer = Some(link(host.uplink).to as usize).filter(|peer| *peer < switches).unwrap_or(0);
        if is_apart { switches + peer } else { peer }
    };
    in_a_row((0..switches).chain(topology.hosts.iter().map(of_host)).map(|district| (0, district)).collect())
}

/// The same, numbered within the part that each node belongs to.
pub(crate) fn districts_of_parts(topology: &Topology, part: &[usize]) -> Vec<usize> {
    in_a_row(part.iter().copied().zip(districts(topology)).collect())
}

/// Numbers without gaps for the districts of each part, in their order.
fn in_a_row(nodes: Vec<(usize, usize)>) -> Vec<usize> {
    let all: BTreeSet<(usize, usize)> = nodes.iter().copied().collect();
    let mut next = BTreeMap::new();
    let numbers: BTreeMap<(usize, usize), usize> = all
        .into_iter()
        .map(|(part, district)| {
            let next = next.entry(part).or_insert(0);
            *next += 1;
            ((part, district), *next - 1)
        })
        .collect();
    nodes.iter().map(|node| numbers[node]).collect()
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
        let Some(mut limit) = self.stretch(&mut districts.pace, districts.window, until) else { return };
        let before = self.windows;
        self.stall.keep_moves();
        self.fabric.is_part = true;
        self.begin_turns(&districts.owner, districts.window);
        let mut is_busy = true;
        while is_busy && limit > self.now() && !cancel.load(Ordering::Relaxed) {
            let started = self.active.len();
            is_busy = self.run_windows(districts, limit, cancel, progress);
            self.put_in_order_of_start(started);
            limit = self.sample_between(limit, until);
        }
        self.stall.count_again();
        self.fabric.is_part = false;
        self.end_turns();
        if let Some(at) = self.fabric.wanted.take() {
            self.schedule_check_at(at);
        }
        districts.pace.after(self.events + if is_busy { 0 } else { PAUSE_EVENTS }, self.windows - before);
    }

    /// Window after window, as far as they may go; false if districts have too little to do.
    fn run_windows(
        &mut self,
        districts: &mut Districts,
        limit: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> bool {
        let least_events = WINDOWS_PER_LOOK * FEWEST_EVENTS * self.switches.len() as u64;
        let mut counted = self.events;
        let mut windows = 0_u64;
        while let Some(end) = self.next_window(districts, limit)
            && !cancel.load(Ordering::Relaxed)
        {
            self.run_window(end);
            self.stall.replay_own();
            self.windows += 1;
            windows += 1;
            if windows.is_multiple_of(WINDOWS_PER_LOOK) {
                progress(self.progress());
                if self.turns == Turns::Auto && self.events - counted < least_events {
                    return false;
                }
                counted = self.events;
            }
        }
        true
    }

    /// Takes the samples that are due if all that happens before them has
    /// happened; gives the next limit of a stretch, or zero if it has to end.
    fn sample_between(&mut self, limit: Time, until: Time) -> Time {
        let next = self.queue.next_time().filter(|next| *next >= limit && limit <= until);
        let Some(next) = next.filter(|_| self.fabric.wanted.is_none()) else { return Time::ZERO };
        self.sample_before(next.min(until + Span::from_ps(1)));
        let further = self.stretch_limit(until);
        if further > limit { further } else { Time::ZERO }
    }

    /// End of the next window; none if something has to be done by the network as one.
    fn next_window(&mut self, districts: &mut Districts, limit: Time) -> Option<Time> {
        let limit = limit.min(self.fabric.wanted.unwrap_or(Time::MAX));
        let start = self.queue.next_time().filter(|start| *start < limit)?;
        let end = window_end(start, districts.window).min(limit);
        let sure_until = self.cannot_end(&districts.whole, 0, &mut districts.witness);
        (end <= sure_until && self.events_left() > 0).then_some(end)
    }

    /// From now on districts take turns: each frame on its way is an event of its own.
    pub(crate) fn begin_turns(&mut self, owner: &[usize], window: Span) {
        let events = self.queue.take_all(self.now);
        self.queue.divide(owner, window, self.now);
        events
            .into_iter()
            .filter(|event| event.kind() != Kind::Arrival)
            .for_each(|event| self.queue.push(event));
        for channel in 0..self.channels.len() {
            let frames: Vec<_> = self.channels[channel].take_frames().collect();
            for (arrival, frame) in frames {
                self.carry(channel as u32, arrival, frame);
            }
        }
    }

    /// Districts take no turns any more: frames are in their
    /// channels again, the first one's arrival scheduled.
    pub(crate) fn end_turns(&mut self) {
        for Entry { event, packet } in self.queue.unite(self.now) {
            match (event.kind(), packet) {
                (Kind::Arrival, Some(packet)) => {
                    let arrival = Moment { time: event.time(), ..Moment::default() };
                    self.channels[event.subject as usize].put_back(arrival, packet);
                }
                // A pause is still in its channel.
                (Kind::Arrival, None) => {}
                _ => self.queue.push(event),
            }
        }
        for channel in 0..self.channels.len() {
            if let Some(first) = self.channels[channel].sort() {
                let event = self.arrival(channel as u32, first);
                self.queue.push(event);
            }
        }
    }

    /// All events of a window, district after district.
    pub(crate) fn run_window(&mut self, end: Time) {
        let start = self.now();
        let mut latest = start;
        let first = self.queue.begin(end);
        for district in 0..self.queue.districts() {
            self.fetch_ahead(district);
            let mut further = self.queue.cursor(district + 2);
            if !self.queue.enter(district, first) {
                while self.fetch_packet(&mut further) {}
                continue;
            }
            while let Some(Entry { event, packet }) = self.queue.pop_turn() {
                self.fetch_packet(&mut further);
                self.now = event.time();
                // The order of ties is `lower_port`: it has no clock that would go on.
                match packet {
                    Some(packet) => self.take_in(event.node(), event.port(), packet),
                    None => self.dispatch(&event),
                }
                self.events += 1;
            }
            while self.fetch_packet(&mut further) {}
            latest = latest.max(self.now);
        }
        self.now = latest;
        self.take_workspace_back();
    }
}
