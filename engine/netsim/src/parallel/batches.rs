//! The run loop of a large network on one thread: epoch by epoch, one logical process after the other.
//!
//! A batch keeps the state of one switch in the processor's near caches (see `events/calendar.rs`). It
//! changes the order in which events of different nodes are handled, as threads do. So it needs the same
//! conditions ([`super::lookahead`]); where they do not hold, the network handles its events in the order of
//! their keys. Results are the same bytes.

use p4cc_units::{Span, Time};

use super::logical_processes::logical_processes;
use super::lookahead::{
    Backoff, EPOCHS_PER_CHECK, cannot_end, epoch_end, events_left, lookahead, region_limit,
};
use super::prefetch::{prefetch_packet, prefetch_process};
use crate::events::{Batching, Entry, Kind};
use crate::network::{Control, Network};

/// In a network of fewer switches the caches keep all of them.
const MIN_SWITCHES: usize = 4;
/// With fewer events of a logical process in an epoch, on the average of many epochs, batches do not pay.
const MIN_EVENTS: u64 = 4;
/// Events handled one by one before batches are tried again.
const BACKOFF_EVENTS: u64 = 1 << 16;

/// How a network is run in batches.
pub(crate) struct Batches {
    /// Logical process of each node.
    process_of: Vec<usize>,
    lookahead: Span,
    backoff: Backoff,
    unfinished: usize,
    /// Partition of each node: there is one.
    partition_of: Vec<usize>,
}

/// Whether batches may pay.
pub(super) fn may_pay(network: &Network) -> bool {
    match network.batching {
        Batching::Auto => network.switches.len() >= MIN_SWITCHES,
        Batching::Always => true,
        Batching::Never => false,
    }
}

impl Batches {
    /// How to run in batches; none where events have to be handled in the order of their keys.
    pub fn new(network: &Network) -> Option<Self> {
        if !may_pay(network) || network.one_thread_reason().is_some() {
            return None;
        }
        let process_of = logical_processes(&network.topology);
        let lookahead = lookahead(&network.topology, &process_of);
        let partition_of = vec![0; process_of.len()];
        (lookahead > Span::ZERO && network.observers.deadlocks.interval() >= lookahead).then(|| Self {
            process_of,
            lookahead,
            backoff: Backoff::default(),
            unfinished: 0,
            partition_of,
        })
    }

    /// Runs a region in batches, if one can begin now and end before `until`. It ends with the epoch in which
    /// it has handled `most_events`.
    pub fn run(&mut self, network: &mut Network, until: Time, most_events: u64, control: &mut Control<'_>) {
        let Some(mut limit) = self.backoff.region_end(network, self.lookahead, until) else { return };
        let before = network.schedule.epochs;
        let last_event = network.schedule.events.saturating_add(most_events);
        network.observers.stall.keep_activity();
        network.observers.deadlocks.defer(network.observers.deadlocks.check_at());
        network.begin_batching(&self.process_of, self.lookahead);
        let mut pays = true;
        while pays && limit > network.now() && network.schedule.events < last_event && !control.is_cancelled()
        {
            let started = network.hosts.progress().active.len();
            pays = self.run_epochs(network, limit, last_event, control);
            network.hosts.sort_active(started);
            limit = sample_between(network, limit, until);
        }
        network.observers.stall.count_silence_again();
        network.end_batching();
        network.observers.deadlocks.stop_deferring(&mut network.schedule);
        let pause = if pays { 0 } else { BACKOFF_EVENTS };
        self.backoff.after(network.schedule.events + pause, network.schedule.epochs - before);
    }

    /// Runs epochs up to `limit`, `last_event` or a global event; false if batches are too small to pay.
    fn run_epochs(
        &mut self,
        network: &mut Network,
        limit: Time,
        last_event: u64,
        control: &mut Control<'_>,
    ) -> bool {
        let least_events = EPOCHS_PER_CHECK * MIN_EVENTS * network.switches.len() as u64;
        let mut counted = network.schedule.events;
        let mut epochs = 0_u64;
        while network.schedule.events < last_event
            && let Some(end) = self.next_epoch(network, limit)
            && !control.is_cancelled()
        {
            network.run_epoch(end);
            network.observers.stall.replay_log();
            network.schedule.epochs += 1;
            epochs += 1;
            if epochs.is_multiple_of(EPOCHS_PER_CHECK) {
                control.report(network.progress());
                if network.batching == Batching::Auto && network.schedule.events - counted < least_events {
                    return false;
                }
                counted = network.schedule.events;
            }
        }
        true
    }

    /// End of the next epoch; none if the network has to handle an event as one.
    fn next_epoch(&mut self, network: &Network, limit: Time) -> Option<Time> {
        let limit = limit.min(network.observers.deadlocks.deferred().unwrap_or(Time::MAX));
        let start = network.schedule.calendar.next_time().filter(|start| *start < limit)?;
        let end = epoch_end(start, self.lookahead).min(limit);
        let sure_until = cannot_end(network, &self.partition_of, 0, &mut self.unfinished);
        (end <= sure_until && events_left(network) > 0).then_some(end)
    }
}

/// Takes the samples that are due, if all events before them have been handled. Returns the next limit of the
/// region, or zero if the region has to end.
fn sample_between(network: &mut Network, limit: Time, until: Time) -> Time {
    let next = network.schedule.calendar.next_time().filter(|next| *next >= limit && limit <= until);
    let Some(next) = next.filter(|_| network.observers.deadlocks.deferred().is_none()) else {
        return Time::ZERO;
    };
    network.sample_before(next.min(until + Span::from_ps(1)));
    let further = region_limit(network, until);
    if further > limit { further } else { Time::ZERO }
}

impl Network {
    /// Gives events in batches from now on: each frame on its way becomes an event of its own.
    pub(crate) fn begin_batching(&mut self, process_of: &[usize], lookahead: Span) {
        let events = self.schedule.calendar.take_all(self.schedule.now);
        self.schedule.calendar.begin_batching(process_of, lookahead, self.schedule.now);
        events
            .into_iter()
            .filter(|event| event.kind() != Kind::Arrival)
            .for_each(|event| self.schedule.calendar.push(event));
        self.links.move_frames_to_calendar(&mut self.schedule);
    }

    /// Gives events one by one from now on: frames go back into their channels, each with its first arrival
    /// scheduled.
    pub(crate) fn end_batching(&mut self) {
        let entries = self.schedule.calendar.end_batching(self.schedule.now);
        self.links.take_frames_back(&mut self.schedule, entries);
    }

    /// Handles all events of an epoch, one logical process after the other.
    pub(crate) fn run_epoch(&mut self, end: Time) {
        let start = self.now();
        let mut latest = start;
        let first = self.schedule.calendar.begin_epoch(end);
        for process in 0..self.schedule.calendar.processes() {
            prefetch_process(self, process);
            let mut further = self.schedule.calendar.cursor(process + 2);
            if !self.schedule.calendar.begin_batch(process, first) {
                while prefetch_packet(self, &mut further) {}
                continue;
            }
            while let Some(Entry { event, packet }) = self.schedule.calendar.pop_batch() {
                prefetch_packet(self, &mut further);
                self.schedule.now = event.time();
                // Simultaneous events are in the order `lower_port`, which has no clock to advance.
                match packet {
                    Some(packet) => self.receive(event.node(), event.port(), packet),
                    None if event.kind() == Kind::Dequeue => self.on_dequeue(event.node(), event.port()),
                    None => self.dispatch(&event),
                }
                self.schedule.events += 1;
            }
            while prefetch_packet(self, &mut further) {}
            latest = latest.max(self.schedule.now);
        }
        self.schedule.now = latest;
        self.switches.take_workspace_back();
    }
}
