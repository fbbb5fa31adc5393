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

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_units::{Span, Time};

use super::load_balancing::balanced_partitions;
use super::logical_processes::{logical_processes, logical_processes_of_partitions};
use super::lookahead::{Backoff, EPOCHS_PER_CHECK, lookahead};
use super::synchroniser::{Synchroniser, Worker, epoch_loop, lock};
use crate::describe::Topology;
use crate::describe::spec::RecordSpec;
use crate::events::{Kind, Timer};
use crate::hosts::{Ends, Flow};
use crate::network::Network;
use crate::output::Recorder;
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

impl Network {
    /// The partitions for a number of threads; none where the network runs on one.
    pub(crate) fn partitions(&self, threads: usize) -> Option<Partitions> {
        let count = threads.min(MAX_THREADS).min(self.nodes.switches.len());
        if count < 2 || self.one_thread_reason().is_some() {
            return None;
        }
        let partition_of = balanced_partitions(&self.topology, count, &[]);
        let of_partitions = lookahead(&self.topology, &partition_of);
        let of_batches =
            self.wants_batches().then(|| lookahead(&self.topology, &logical_processes(&self.topology)));
        // An epoch that is shorter by more than half would cost more than batches gain.
        let of_batches =
            of_batches.filter(|lookahead| *lookahead > Span::ZERO && *lookahead * 2 >= of_partitions);
        let lookahead = of_batches.unwrap_or(of_partitions);
        if lookahead == Span::ZERO || self.deadlock_check_interval() < lookahead {
            return None;
        }
        let partitions = (0..count).map(|_| self.empty_partition()).collect::<Result<Vec<_>, _>>().ok()?;
        let mut partitions = Partitions {
            partitions,
            partition_of: Vec::new(),
            lookahead,
            process_of: of_batches.map(|_| Vec::new()),
            backoff: Backoff::default(),
            unfinished: Vec::new(),
            packets: vec![0; self.nodes.switches.len()],
            rebalance_interval: MIN_REBALANCE_INTERVAL,
        };
        partitions.assign(&self.topology, partition_of);
        Some(partitions)
    }

    /// A network of the same description whose nodes have no state and no events.
    fn empty_partition(&self) -> Result<Network, SpecError> {
        let mut partition = self.at_start_without_programs()?;
        partition.nodes.plans = Arc::clone(&self.nodes.plans);
        partition.observers.recorder = Recorder::new(&RecordSpec::default(), 0, 0, &[]);
        partition.observers.stall.keep_activity();
        Ok(partition)
    }

    /// Runs a region on threads, if one can begin now and end before `until`; gathers all state afterwards.
    pub(crate) fn run_partitions(
        &mut self,
        partitions: &mut Partitions,
        until: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) {
        let Some(limit) = self.region_end(&mut partitions.backoff, partitions.lookahead, until) else {
            return;
        };
        let before = self.schedule.epochs;
        partitions.rebalance(self);
        partitions.scatter(self);
        partitions.run(self, limit, cancel, progress);
        partitions.gather(self);
        partitions.backoff.after(self.schedule.events, self.schedule.epochs - before);
    }

    /// Packets that each switch and its hosts have received so far: the load of the switch.
    fn packets_by_switch(&self) -> Vec<u64> {
        let mut packets: Vec<u64> =
            self.nodes.switches.iter().map(|node| node.switch.counters().received).collect();
        for (host, plan) in self.nodes.hosts.iter().zip(&self.topology.hosts) {
            let peer = self.topology.channels[plan.uplink as usize].to as usize;
            packets.get_mut(peer).into_iter().for_each(|packets| *packets += host.counters.delivered_pkts);
        }
        packets
    }
}

impl Partitions {
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
        let packets = network.packets_by_switch();
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
        network.nodes.take_workspace_back();
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
        for (key, until) in core::mem::take(&mut network.nodes.pause_timers.asked) {
            self.partitions[self.partition_of[key.0 as usize]].nodes.pause_timers.asked.insert(key, until);
        }
        for (key, until) in core::mem::take(&mut network.nodes.pause_timers.obeyed) {
            self.partitions[self.partition_of[key.0 as usize]].nodes.pause_timers.obeyed.insert(key, until);
        }
    }

    /// Takes all state and all events back into the network.
    fn gather(&mut self, network: &mut Network) {
        if self.process_of.is_some() {
            self.partitions.iter_mut().for_each(Network::end_batching);
        }
        self.swap_state(network);
        let started = network.observers.active.len();
        let mut check: Option<Time> = None;
        for partition in &mut self.partitions {
            network.take_counts(partition);
            network.observers.active.append(&mut partition.observers.active);
            network.nodes.pause_timers.asked.append(&mut partition.nodes.pause_timers.asked);
            network.nodes.pause_timers.obeyed.append(&mut partition.nodes.pause_timers.obeyed);
            check = [check, partition.observers.deadlocks.wanted_at.take()].into_iter().flatten().min();
        }
        let kept = network.schedule.calendar.take_all(network.schedule.now);
        let events =
            self.partitions.iter_mut().flat_map(|partition| partition.schedule.calendar.take_all(Time::ZERO));
        kept.into_iter().chain(events).for_each(|event| network.schedule.calendar.push(event));
        network.put_in_order_of_start(started);
        if let Some(at) = check {
            network.schedule_deadlock_check_at(at);
        }
    }

    /// Swaps the state of each node between the network and the partition of the node; a second call undoes
    /// the first.
    fn swap_state(&mut self, network: &mut Network) {
        use core::mem::swap;
        let switches = network.nodes.switches.len();
        for (node, &number) in self.partition_of.iter().enumerate() {
            let partition = &mut self.partitions[number];
            match node.checked_sub(switches) {
                None => swap(&mut network.nodes.switches[node], &mut partition.nodes.switches[node]),
                Some(host) => swap(&mut network.nodes.hosts[host], &mut partition.nodes.hosts[host]),
            }
            swap(&mut network.schedule.seqs[node], &mut partition.schedule.seqs[node]);
        }
        for (index, plan) in network.topology.channels.iter().enumerate() {
            let (from, to) = (self.partition_of[plan.from as usize], self.partition_of[plan.to as usize]);
            let one = &mut network.nodes.channels[index];
            if from == to {
                swap(one, &mut self.partitions[from].nodes.channels[index]);
            } else {
                one.swap_sending(&mut self.partitions[from].nodes.channels[index]);
                one.swap_arriving(&mut self.partitions[to].nodes.channels[index]);
            }
        }
        for (index, plan) in network.nodes.plans.iter().enumerate() {
            let node = |host: u32| switches + host as usize;
            let (src, dst) = (self.partition_of[node(plan.src)], self.partition_of[node(plan.dst)]);
            let one = &mut network.nodes.flows[index];
            if src == dst {
                swap(one, &mut self.partitions[src].nodes.flows[index]);
            } else {
                swap_sender(one, &mut self.partitions[src].nodes.flows[index]);
                swap_receiver(one, &mut self.partitions[dst].nodes.flows[index]);
            }
        }
    }

    /// Runs all partitions, one of them on this thread, until all events before `limit` have been handled, or
    /// the network has to handle one as a whole.
    fn run(
        &mut self,
        network: &mut Network,
        limit: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) {
        let sync = Synchroniser::new(self.partitions.len(), network.events_left(), self.rebalance_interval);
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
                sync.activity.iter().for_each(|one| activity.append(&mut lock(one)));
                network.observers.stall.replay(&mut activity);
                epochs += 1;
                network.schedule.epochs += 1;
                if epochs.is_multiple_of(EPOCHS_PER_CHECK) {
                    let now_ns = Synchroniser::least(&sync.next).as_ns();
                    let before = network.progress();
                    let hops: u64 = sync.hops.iter().map(|one| one.load(Ordering::Acquire)).sum();
                    progress(Progress { now_ns, packet_hops: before.packet_hops + hops, ..before });
                }
                sync.is_cancelled.store(cancel.load(Ordering::Relaxed), Ordering::Release);
            });
        });
    }
}

/// Swaps what the sending host of a flow changes.
fn swap_sender(a: &mut Flow, b: &mut Flow) {
    use core::mem::swap;
    match (&mut a.ends, &mut b.ends) {
        (Ends::Window { sender: a, .. }, Ends::Window { sender: b, .. }) => swap(a, b),
        (Ends::Rdma(a), Ends::Rdma(b)) => {
            swap(&mut a.sender, &mut b.sender);
            swap(&mut a.noise, &mut b.noise);
            swap(&mut a.position, &mut b.position);
            if a.read.is_some() {
                swap(&mut a.receiver, &mut b.receiver);
            }
        }
        _ => debug_assert!(false, "a flow has the same ends everywhere"),
    }
    if let (Some(a), Some(b)) = (&mut a.tcp, &mut b.tcp) {
        swap(&mut a.client, &mut b.client);
    }
    swap(&mut a.acks_in_kernel, &mut b.acks_in_kernel);
    swap(&mut a.start, &mut b.start);
    swap(&mut a.has_begun, &mut b.has_begun);
    swap(&mut a.timer, &mut b.timer);
    swap(&mut a.finish, &mut b.finish);
    swap(&mut a.quenched, &mut b.quenched);
    if a.is_read() { swap_received(a, b) } else { swap(&mut a.data_pkts, &mut b.data_pkts) }
}

/// Swaps what the host changes that the data reaches.
fn swap_received(a: &mut Flow, b: &mut Flow) {
    core::mem::swap(&mut a.received, &mut b.received);
    core::mem::swap(&mut a.marks, &mut b.marks);
}

/// Swaps what the receiving host of a flow changes; of a read, what the host changes that has the data.
fn swap_receiver(a: &mut Flow, b: &mut Flow) {
    use core::mem::swap;
    match (&mut a.ends, &mut b.ends) {
        (Ends::Window { receiver: a, .. }, Ends::Window { receiver: b, .. }) => swap(a, b),
        (Ends::Rdma(a), Ends::Rdma(b)) if a.read.is_none() => swap(&mut a.receiver, &mut b.receiver),
        (Ends::Rdma(a), Ends::Rdma(b)) => swap(&mut a.read, &mut b.read),
        _ => debug_assert!(false, "a flow has the same ends everywhere"),
    }
    if let (Some(a), Some(b)) = (&mut a.tcp, &mut b.tcp) {
        swap(&mut a.server, &mut b.server);
    }
    swap(&mut a.data_in_kernel, &mut b.data_in_kernel);
    swap(&mut a.echo, &mut b.echo);
    if a.is_read() { swap(&mut a.data_pkts, &mut b.data_pkts) } else { swap_received(a, b) }
}

impl Network {
    /// Prepares an empty partition for a region: the time, and what the network knows as a whole.
    fn enter_region(&mut self, network: &Network, now: Time) {
        self.schedule.calendar.take_all(now);
        (self.schedule.now, self.observers.open_flows, self.observers.first_begin) =
            (now, self.observers.counted_flows, network.observers.first_begin);
        (self.observers.deadlocks.check_at, self.observers.deadlocks.is_partition) =
            (network.observers.deadlocks.check_at, true);
    }

    /// Sorts the active flows from an index on in the order of their start events: time, host, number.
    pub(crate) fn put_in_order_of_start(&mut self, from: usize) {
        let (flows, plans) = (&self.nodes.flows, &self.nodes.plans);
        self.observers.active[from..]
            .sort_unstable_by_key(|&flow| (flows[flow as usize].start, plans[flow as usize].src, flow));
    }

    /// Adds what a partition counted, and sets its counters to zero.
    fn take_counts(&mut self, partition: &mut Network) {
        self.schedule.events += core::mem::take(&mut partition.schedule.events);
        self.observers.packet_hops += core::mem::take(&mut partition.observers.packet_hops);
        // The flows that this partition completed; it began with all of them open.
        self.observers.open_flows -= partition.observers.counted_flows - partition.observers.open_flows;
        self.schedule.now = self.schedule.now.max(partition.schedule.now);
    }

    /// Handles all events of a partition before an instant.
    pub(super) fn run_events_before(&mut self, end: Time) {
        if self.schedule.calendar.processes() > 0 {
            return self.run_epoch(end);
        }
        let last = Time::from_ps(end.as_ps() - 1);
        while let Some(event) = self.schedule.calendar.pop_until(last) {
            self.schedule.now = event.time();
            self.schedule.order.advance(&event);
            self.dispatch(&event);
            self.schedule.events += 1;
        }
        self.nodes.take_workspace_back();
    }
}
