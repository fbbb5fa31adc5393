//! Hosts and flows that a partition of the network has for a region (`parallel`): their state is swapped
//! there and back.

use std::sync::Arc;

use p4cc_switch::prefetch::{prefetch, prefetch_start};
use p4cc_transport::wire::peek_flow_id;
use p4cc_units::Time;

use crate::describe::{Topology, flow_index};
use crate::events::{BucketEntry, Calendar, Kind};
use crate::hosts::flow::{Ends, Flow};
use crate::hosts::state::Hosts;

impl Hosts {
    /// Shares the plans of a network, whose partition these hosts are.
    pub fn share_plans(&mut self, network: &Self) {
        self.plans = Arc::clone(&network.plans);
    }

    /// Begins a region in a partition: all flows count as open.
    pub fn enter_region(&mut self, network: &Self) {
        self.progress.open = self.progress.counted;
        self.progress.first_begin = network.progress.first_begin;
    }

    /// Adds what a partition counted in a region.
    pub fn leave_region(&mut self, partition: &mut Self) {
        self.progress.active.append(&mut partition.progress.active);
        // The flows that this partition completed; it began with all of them open.
        self.progress.open -= partition.progress.counted - partition.progress.open;
    }

    /// Sorts the active flows from an index on in the order of their start events: time, host, number.
    pub fn sort_active(&mut self, from: usize) {
        let (flows, plans) = (&self.flows, &self.plans);
        self.progress.active[from..]
            .sort_unstable_by_key(|&flow| (flows[flow as usize].start, plans[flow as usize].src, flow));
    }

    /// Until when the run cannot end: some flow of this partition has data that it has not sent yet, or has
    /// not begun. `unfinished` is the first flow that may be such a flow; a flow that is none never becomes
    /// one again.
    pub fn cannot_end(
        &self,
        topology: &Topology,
        partition_of: &[usize],
        partition: usize,
        unfinished: &mut usize,
    ) -> Time {
        while let (Some(flow), Some(plan)) = (self.flows.get(*unfinished), self.plans.get(*unfinished)) {
            if plan.is_counted() && partition_of[topology.host_node(plan.src) as usize] == partition {
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

    /// Swaps a host with its partition.
    pub fn swap_host(&mut self, partition: &mut Self, host: usize) {
        core::mem::swap(&mut self.hosts[host], &mut partition.hosts[host]);
    }

    /// Swaps a flow with the partition that has both of its hosts.
    pub fn swap_flow(&mut self, partition: &mut Self, flow: usize) {
        core::mem::swap(&mut self.flows[flow], &mut partition.flows[flow]);
    }

    /// Swaps the sender of a flow, or its receiver, with the partition of its host.
    pub fn swap_end(&mut self, partition: &mut Self, flow: usize, is_receiver: bool) {
        let (here, there) = (&mut self.flows[flow], &mut partition.flows[flow]);
        if is_receiver { swap_receiver(here, there) } else { swap_sender(here, there) }
    }

    /// Prefetches a host.
    pub fn prefetch_host(&self, host: usize) {
        self.hosts.get(host).into_iter().for_each(prefetch);
    }

    /// Prefetches the flows of events of a logical process whose packets have been fetched.
    pub fn prefetch_flows(&self, calendar: &mut Calendar, process: usize) {
        calendar.for_each_pending(process, |entry| {
            if let Some(at) = self.flow_of_event(entry)
                && let (Some(flow), Some(plan)) = (self.flows.get(at), self.plans.get(at))
            {
                prefetch_start(&flow.ends);
                prefetch_start(&flow.data_pkts);
                prefetch_start(plan);
                entry.next = at as u32;
            }
        });
    }

    /// Prefetches the ends of flows that have been fetched.
    pub fn prefetch_ends(&self, calendar: &Calendar, process: usize) {
        for entry in calendar.pending(process) {
            if let Some(Ends::Rdma(ends)) = self.flows.get(entry.next as usize).map(|flow| &flow.ends) {
                prefetch(&**ends);
            }
        }
    }

    /// The flow that an event at a host concerns.
    #[inline]
    fn flow_of_event(&self, entry: &BucketEntry) -> Option<usize> {
        if let Some(packet) = entry.packet() {
            return flow_index(&self.plans, peek_flow_id(&packet.head)?);
        }
        let event = entry.event();
        if event.kind() != Kind::Timer {
            return None;
        }
        event.timer().flow().map(|flow| flow as usize)
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
