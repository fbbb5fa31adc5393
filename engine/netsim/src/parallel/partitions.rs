//! One run on several threads, with the results of one thread, byte for byte.
//!
//! The nodes are divided into partitions, one for each thread, a host together with its switch. Every
//! partition is a [`Network`] in which only its own nodes have state; the state of each node is swapped in
//! when a region begins (scatter) and swapped back when it ends (gather). While a region lasts, each thread
//! handles the events of its nodes in the order of their keys. Threads meet after each epoch and hand over
//! the frames that cross between partitions ([`super::synchroniser`]).
//!
//! Partitions do nothing that concerns all nodes. For samples, deadlock detection, the first start of a flow
//! and the end of a run, the state is gathered and the network handles the event as one. Silence for the
//! stall detector is computed from the deliveries of all partitions after each epoch.
//!
//! Invariants: the state of each node is in exactly one place; no run can end inside an epoch
//! ([`Network::cannot_end`]); a sequence number decides only between events that one node scheduled for
//! itself, or between arrivals by one channel, so the numbers of several threads need not be those of one
//! thread, only rise.

use std::sync::atomic::Ordering;

use p4cc_units::{Span, Time};

use super::batches::may_pay;
use super::load_balancing::balanced_partitions;
use super::logical_processes::{logical_processes, logical_processes_of_partitions};
use super::lookahead::{Backoff, EPOCHS_PER_CHECK, events_left, lookahead};
use super::synchroniser::{Synchroniser, Worker, epoch_loop, lock};
use crate::describe::Topology;
use crate::describe::spec::RecordSpec;
use crate::events::{Kind, Timer};
use crate::network::{Control, Network};
use crate::record::Recorder;
use crate::{Progress, SpecError};

/// Most threads of one run.
pub const MAX_THREADS: usize = 64;
/// Epochs between two looks at the balance of load; the number doubles where rebalancing did not help.
const MIN_REBALANCE_INTERVAL: u64 = 128;
/// The largest number of such epochs.
const MAX_REBALANCE_INTERVAL: u64 = 1 << 14;

/// The partitions of a network.
pub(crate) struct Partitions {
    partitions: Vec<Network>,
    /// Partition of each node.
    partition_of: Vec<usize>,
    lookahead: Span,
    /// Logical process of each node within its partition, where epochs are handled in batches.
    process_of: Option<Vec<usize>>,
    backoff: Backoff,
    /// For each partition, the first flow that may show that the run cannot end.
    unfinished: Vec<usize>,
    /// Packets of each switch and its hosts when load was balanced last.
    packets: Vec<u64>,
    /// Epochs between two looks at the balance of load.
    rebalance_interval: u64,
}

/// A network of the same description whose nodes have no state and no events.
fn empty_partition(network: &Network) -> Result<Network, SpecError> {
    let mut partition = network.at_start_without_programs()?;
    partition.hosts.share_plans(&network.hosts);
    partition.observers.recorder = Recorder::new(&RecordSpec::default(), 0, 0, &[]);
    partition.observers.stall.keep_activity();
    Ok(partition)
}

/// Packets that each switch and its hosts have received so far: the load of the switch.
fn packets_by_switch(network: &Network) -> Vec<u64> {
    let mut packets: Vec<u64> =
        network.switches.iter().map(|switch| switch.observation().counters().received).collect();
    for (interface, host) in (0..).zip(network.hosts.hosts()) {
        let peer = network.topology.home(interface);
        packets.get_mut(peer).into_iter().for_each(|packets| *packets += host.counters.delivered_pkts);
    }
    packets
}

impl Partitions {
    /// The partitions for a number of threads; none where the network runs on one.
    pub fn new(network: &Network, threads: usize) -> Option<Self> {
        let (topology, switches) = (&network.topology, network.switches.len());
        let count = threads.min(MAX_THREADS).min(switches);
        if count < 2 || network.one_thread_reason().is_some() {
            return None;
        }
        let partition_of = balanced_partitions(topology, count, &[]);
        let of_partitions = lookahead(topology, &partition_of);
        let of_batches = may_pay(network).then(|| lookahead(topology, &logical_processes(topology)));
        // An epoch that is shorter by more than half would cost more than batches gain.
        let of_batches =
            of_batches.filter(|lookahead| *lookahead > Span::ZERO && *lookahead * 2 >= of_partitions);
        let lookahead = of_batches.unwrap_or(of_partitions);
        if lookahead == Span::ZERO || network.observers.deadlocks.interval() < lookahead {
            return None;
        }
        let mut partitions = Self {
            partitions: (0..count).map(|_| empty_partition(network)).collect::<Result<_, _>>().ok()?,
            partition_of: Vec::new(),
            lookahead,
            process_of: of_batches.map(|_| Vec::new()),
            backoff: Backoff::default(),
            unfinished: Vec::new(),
            packets: vec![0; switches],
            rebalance_interval: MIN_REBALANCE_INTERVAL,
        };
        partitions.assign(topology, partition_of);
        Some(partitions)
    }

    /// Runs a region on threads, if one can begin now and end before `until`; gathers all state afterwards.
    /// The region ends with the epoch in which it has handled `most_events`.
    pub fn run(&mut self, network: &mut Network, until: Time, most_events: u64, control: &mut Control<'_>) {
        let Some(limit) = self.backoff.region_end(network, self.lookahead, until) else { return };
        let before = network.schedule.epochs;
        self.rebalance(network);
        self.scatter(network);
        self.run_epochs(network, limit, most_events, control);
        self.gather(network);
        self.backoff.after(network.schedule.events, network.schedule.epochs - before);
    }

    /// Sets the partition of each node.
    fn assign(&mut self, topology: &Topology, partition_of: Vec<usize>) {
        if let Some(process_of) = &mut self.process_of {
            *process_of = logical_processes_of_partitions(topology, &partition_of);
        }
        self.unfinished = vec![0; self.partitions.len()];
        self.partition_of = partition_of;
    }

    /// Divides the nodes anew if the load since the last time was uneven.
    fn rebalance(&mut self, network: &Network) {
        /// Rebalancing pays if switches with more than one in this many packets change their partition.
        const WORTH_IT: u64 = 50;
        let packets = packets_by_switch(network);
        let new: Vec<u64> = packets.iter().zip(&self.packets).map(|(now, before)| now - before).collect();
        let partition_of = balanced_partitions(&network.topology, self.partitions.len(), &new);
        let moved: u64 =
            (0..new.len()).filter(|&at| partition_of[at] != self.partition_of[at]).map(|at| new[at]).sum();
        let is_worth_it = moved * WORTH_IT > new.iter().sum();
        let keeps_lookahead =
            self.process_of.is_some() || lookahead(&network.topology, &partition_of) >= self.lookahead;
        self.packets = packets;
        if is_worth_it && keeps_lookahead {
            self.assign(&network.topology, partition_of);
            self.rebalance_interval = MIN_REBALANCE_INTERVAL;
        } else if new.iter().any(|&packets| packets > 0) {
            self.rebalance_interval = (self.rebalance_interval * 2).min(MAX_REBALANCE_INTERVAL);
        }
    }

    /// Gives the state and the events of each node to its partition.
    fn scatter(&mut self, network: &mut Network) {
        let now = network.now();
        network.switches.take_workspace_back();
        for partition in &mut self.partitions {
            partition.enter_region(network, now);
        }
        self.swap_state(network);
        for event in network.schedule.calendar.take_all(now) {
            if event.kind() == Kind::Timer && event.timer() == Timer::DeadlockCheck {
                network.schedule.calendar.push(event);
            } else {
                self.partitions[self.partition_of[event.node() as usize]].schedule.calendar.push(event);
            }
        }
        for partition in &mut self.partitions {
            if let Some(process_of) = &self.process_of {
                partition.begin_batching(process_of, self.lookahead);
            }
        }
    }

    /// Takes all state and all events back into the network.
    fn gather(&mut self, network: &mut Network) {
        if self.process_of.is_some() {
            self.partitions.iter_mut().for_each(Network::end_batching);
        }
        self.swap_state(network);
        let started = network.hosts.progress().active.len();
        let mut check: Option<Time> = None;
        for partition in &mut self.partitions {
            network.take_counts(partition);
            check = [check, partition.observers.deadlocks.take_deferred()].into_iter().flatten().min();
        }
        let kept = network.schedule.calendar.take_all(network.schedule.now);
        let events =
            self.partitions.iter_mut().flat_map(|partition| partition.schedule.calendar.take_all(Time::ZERO));
        kept.into_iter().chain(events).for_each(|event| network.schedule.calendar.push(event));
        network.hosts.sort_active(started);
        if let Some(at) = check {
            network.observers.deadlocks.request_at(&mut network.schedule, at);
        }
    }

    /// Swaps the state of each node between the network and the partition of the node; a second call undoes
    /// the first.
    fn swap_state(&mut self, network: &mut Network) {
        let switches = network.switches.len();
        for (node, &number) in self.partition_of.iter().enumerate() {
            let partition = &mut self.partitions[number];
            match node.checked_sub(switches) {
                None => network.switches.swap_node(&mut partition.switches, node),
                Some(host) => network.hosts.swap_host(&mut partition.hosts, host),
            }
            network.schedule.swap_node(&mut partition.schedule, node);
        }
        for (channel, plan) in network.topology.channels.iter().enumerate() {
            let ends = [plan.from, plan.to].map(|node| self.partition_of[node as usize]);
            match self.partitions.get_disjoint_mut(ends) {
                Ok(ends) => network.links.swap_ends(ends.map(|partition| &mut partition.links), channel),
                // Both ends are in one partition.
                Err(_) => network.links.swap_channel(&mut self.partitions[ends[0]].links, channel),
            }
        }
        for flow in 0..network.hosts.plans().len() {
            let plan = &network.hosts.plans()[flow];
            let [src, dst] = [plan.src, plan.dst].map(|host| self.partition_of[switches + host as usize]);
            if src == dst {
                network.hosts.swap_flow(&mut self.partitions[src].hosts, flow);
            } else {
                network.hosts.swap_end(&mut self.partitions[src].hosts, flow, false);
                network.hosts.swap_end(&mut self.partitions[dst].hosts, flow, true);
            }
        }
    }

    /// Runs all partitions, one of them on this thread, until all events before `limit` have been handled, or
    /// the network has to handle one as a whole.
    fn run_epochs(
        &mut self,
        network: &mut Network,
        limit: Time,
        most_events: u64,
        control: &mut Control<'_>,
    ) {
        let most_events = most_events.min(events_left(network));
        let sync = Synchroniser::new(self.partitions.len(), most_events, self.rebalance_interval);
        let (partition_of, lookahead) = (&self.partition_of, self.lookahead);
        let workers = self.partitions.iter_mut().zip(&mut self.unfinished).enumerate();
        let mut workers = workers.map(|(number, (partition, unfinished))| Worker {
            number,
            partition,
            unfinished,
            partition_of,
            sync: &sync,
        });
        let Some(mut first) = workers.next() else { return };
        std::thread::scope(|scope| {
            for mut worker in workers {
                scope.spawn(move || {
                    worker.publish();
                    epoch_loop(&mut worker, lookahead, limit, &mut |_| {});
                });
            }
            first.publish();
            let mut epochs = 0_u64;
            epoch_loop(&mut first, lookahead, limit, &mut |sync| {
                let mut activity = Vec::new();
                sync.activity.iter().for_each(|log| activity.append(&mut lock(log)));
                network.observers.stall.replay(&mut activity);
                epochs += 1;
                network.schedule.epochs += 1;
                if epochs.is_multiple_of(EPOCHS_PER_CHECK) {
                    let now_ns = Synchroniser::least(&sync.next).as_ns();
                    let before = network.progress();
                    let hops: u64 = sync.hops.iter().map(|hops| hops.load(Ordering::Acquire)).sum();
                    control.report(Progress { now_ns, packet_hops: before.packet_hops + hops, ..before });
                }
                sync.is_cancelled.store(control.is_cancelled(), Ordering::Release);
            });
        });
    }
}

impl Network {
    /// Prepares an empty partition for a region: the time, and what the network knows as a whole.
    fn enter_region(&mut self, network: &Network, now: Time) {
        self.schedule.calendar.take_all(now);
        self.schedule.now = now;
        self.hosts.enter_region(&network.hosts);
        self.observers.deadlocks.defer(network.observers.deadlocks.check_at());
    }

    /// Adds what a partition counted, and sets its counters to zero.
    fn take_counts(&mut self, partition: &mut Network) {
        self.schedule.events += core::mem::take(&mut partition.schedule.events);
        self.packet_hops += core::mem::take(&mut partition.packet_hops);
        self.hosts.leave_region(&mut partition.hosts);
        self.schedule.now = self.schedule.now.max(partition.schedule.now);
    }

    /// Handles all events of a partition before an instant.
    pub(super) fn run_events_before(&mut self, end: Time) {
        if self.schedule.calendar.processes() > 0 {
            return self.run_epoch(end);
        }
        let last = Time::from_ps(end.as_ps() - 1);
        while let Some(event) = self.schedule.calendar.pop_until(last) {
            self.schedule.begin(&event);
            self.dispatch(&event);
            self.schedule.events += 1;
        }
        self.switches.take_workspace_back();
    }
}
