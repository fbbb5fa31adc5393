//! Lookahead: how far one part of a network may run ahead of another, and when it may.
//!
//! Nodes influence each other only over links. So what happens at one logical process in `[T, T + L)` cannot
//! depend on what happens at another in that interval, if the lookahead `L` is no longer than the shortest
//! delay of a link between them. Such an interval is an epoch, and this is conservative synchronisation
//! (Chandy and Misra 1979, Bryant 1977).
//!
//! Some events concern all nodes at once: samples, deadlock detection, the first start of a flow, the end of
//! the run. The network handles them as one. A region is a sequence of epochs between two such events.

use p4cc_units::{Span, Time};

use super::load_balancing::balanced_partitions;
use crate::describe::Topology;
use crate::network::Network;

/// A region of fewer epochs is not worth preparing for.
const MIN_EPOCHS: u64 = 16;
/// Events handled one by one after a region that was hardly worth preparing for.
const LONG_BACKOFF_EVENTS: u64 = 4_096;
/// Events handled one by one where a sample or another global event is close.
const SHORT_BACKOFF_EVENTS: u64 = 64;
/// With so few events left of the limit, events are handled and counted one by one, so that the run ends
/// exactly there.
const LIMIT_MARGIN: u64 = 1 << 22;
/// Epochs between two calls of `progress`.
pub(crate) const EPOCHS_PER_CHECK: u64 = 256;

/// The lookahead of a division of the nodes: no longer than the delay of any link between two parts, nor than
/// the shortest round trip of a packet and its ACK. Zero if a link has no delay.
pub(crate) fn lookahead(topology: &Topology, partition_of: &[usize]) -> Span {
    let delays = topology
        .channels
        .iter()
        .filter(|plan| partition_of[plan.from as usize] != partition_of[plan.to as usize]);
    let round_trips = topology.hosts.iter().map(|host| topology.channels[host.uplink as usize].delay * 2);
    delays.map(|plan| plan.delay).chain(round_trips).min().unwrap_or(Span::ZERO)
}

/// End of the epoch that an instant lies in: epochs begin at multiples of the lookahead.
pub(crate) fn epoch_end(at: Time, lookahead: Span) -> Time {
    let epoch_ps = lookahead.as_ps().max(1);
    Time::from_ps((at.as_ps() / epoch_ps).saturating_add(1).saturating_mul(epoch_ps))
}

/// When to try the next region, by the number of events.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Backoff {
    next_try: u64,
}

impl Backoff {
    /// A region is over, which had a number of epochs.
    pub fn after(&mut self, events: u64, epochs: u64) {
        // What ended a long region is a sample, which is taken with the next event.
        self.next_try = events + if epochs >= MIN_EPOCHS { 1 } else { LONG_BACKOFF_EVENTS };
    }

    /// When a region that begins now has to end; none if it is too short, or if it is too early to try.
    pub fn region_end(&mut self, network: &Network, lookahead: Span, until: Time) -> Option<Time> {
        let (events, flows) = (network.schedule.events, network.hosts.progress());
        if events < self.next_try || flows.first_begin.is_none() && flows.counted > 0 {
            return None;
        }
        self.next_try = events + SHORT_BACKOFF_EVENTS;
        let limit = region_limit(network, until);
        let far = network.now() + lookahead * MIN_EPOCHS;
        (limit >= far && events_left(network) > 0).then_some(limit)
    }
}

impl Network {
    /// Why this network runs on one thread whatever number of threads is asked for; none if it can use more.
    pub fn one_thread_reason(&self) -> Option<&'static str> {
        let record = &self.spec.record;
        if self.observers.tap.is_some() {
            return Some("packets are watched");
        }
        if self.observers.trace.is_some() {
            return Some("packets are followed from switch to switch");
        }
        if !self.topology.rounds.is_empty() {
            return Some("rounds of requests tie hosts together");
        }
        if !self.topology.collectives.is_empty() {
            return Some("steps of collectives tie hosts together");
        }
        if !self.topology.jobs.operations.is_empty() {
            return Some("operations that wait for others tie hosts together");
        }
        if !self.topology.closed_loops.is_empty() {
            return Some("closed loops tie flows together");
        }
        if self.moves_flows() {
            return Some("flows move between the links of a host as they fail");
        }
        if record.events || record.rtts {
            return Some("events and round-trip times are recorded in the order of all hosts");
        }
        if self.spec.has_own_algorithms() {
            return Some("an algorithm in Python runs on one thread");
        }
        if self.switches.len() < 2 {
            return Some("there is one switch");
        }
        let lookahead = lookahead(&self.topology, &balanced_partitions(&self.topology, 2, &[]));
        if lookahead == Span::ZERO {
            return Some("a link has no delay that threads could look ahead by");
        }
        if self.observers.deadlocks.interval() < lookahead {
            return Some("a deadlock is to be found sooner than links let threads look ahead");
        }
        let intervals =
            [record.windows_interval_ns, record.queues_interval_ns, record.queue_histogram_interval_ns];
        let shortest = intervals.into_iter().flatten().min().map_or(Span::MAX, Span::from_ns);
        (shortest < lookahead * MIN_EPOCHS)
            .then_some("samples are taken more often than links let threads look ahead")
    }

    /// Whether a link of a host with several goes down.
    fn moves_flows(&self) -> bool {
        let switches = self.switches.len() as u32;
        let interfaces = &self.topology.interfaces;
        self.topology.faults.links.iter().any(|fault| {
            let from = self.topology.channels[fault.channel as usize].from.checked_sub(switches);
            from.is_some_and(|interface| interfaces.of(interfaces.host(interface)).len() > 1)
        })
    }

    /// Epochs so far that were run on several threads, or in batches. Only speed depends on them.
    pub fn epochs(&self) -> u64 {
        self.schedule.epochs
    }
}

/// Before this instant no event concerns all nodes.
pub(super) fn region_limit(network: &Network, until: Time) -> Time {
    let limit = network.observers.recorder.next_due().min(until) + Span::from_ps(1);
    limit.min(network.observers.deadlocks.check_at().unwrap_or(Time::MAX))
}

/// Number of events that may be handled before they have to be counted one by one.
pub(super) fn events_left(network: &Network) -> u64 {
    network.spec.limits.max_events.saturating_sub(network.schedule.events.saturating_add(LIMIT_MARGIN))
}

/// Until when the run cannot end: some flow of a partition has data that it has not sent yet, or has not
/// begun. `unfinished` is the first that may be such a flow; a flow that is none never becomes one again.
pub(super) fn cannot_end(
    network: &Network,
    partition_of: &[usize],
    partition: usize,
    unfinished: &mut usize,
) -> Time {
    if !network.spec.stop_when_complete || network.hosts.progress().counted == 0 {
        return Time::MAX;
    }
    let (plans, flows) = (network.hosts.plans(), network.hosts.flows());
    while let (Some(plan), Some(flow)) = (plans.get(*unfinished), flows.get(*unfinished)) {
        let src = network.topology.host_node(plan.src) as usize;
        if plan.is_counted() && partition_of[src] == partition {
            if flow.has_begun && flow.has_unsent() && plan.close.is_none() {
                return Time::MAX;
            }
            if let Some(start) = flow.start.filter(|_| !flow.has_begun) {
                return start;
            }
        }
        *unfinished += 1;
    }
    Time::ZERO
}
