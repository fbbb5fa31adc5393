//! Hosts and flows that a partition of the network has for a region (`parallel`): their state is swapped
//! there and back.

use std::sync::Arc;

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
}

/// Swaps fields of two values.
macro_rules! swap {
    ($a:ident, $b:ident: $($field:ident),*) => {
        {
            $(core::mem::swap(&mut $a.$field, &mut $b.$field);)*
        }
    };
}

/// Swaps what the sending host of a flow changes.
fn swap_sender(a: &mut Flow, b: &mut Flow) {
    match (&mut a.ends, &mut b.ends) {
        (Ends::Window { sender: a, .. }, Ends::Window { sender: b, .. }) => core::mem::swap(a, b),
        (Ends::Rdma(a), Ends::Rdma(b)) => {
            swap!(a, b: sender, noise, position);
            if a.read.is_some() {
                swap!(a, b: receiver);
            }
        }
        _ => debug_assert!(false, "a flow has the same ends everywhere"),
    }
    if let (Some(a), Some(b)) = (&mut a.tcp, &mut b.tcp) {
        swap!(a, b: client);
    }
    swap!(a, b: acks_in_kernel, start, has_begun, timer, finish, quenched);
    // The host that the data reaches counts marks, the one that has the data counts packets.
    if a.is_read() { swap_received(a, b) } else { swap!(a, b: data_pkts) }
}

/// Swaps what the receiving host of a flow changes; of a read, what the host changes that has the data.
fn swap_receiver(a: &mut Flow, b: &mut Flow) {
    match (&mut a.ends, &mut b.ends) {
        (Ends::Window { receiver: a, .. }, Ends::Window { receiver: b, .. }) => core::mem::swap(a, b),
        (Ends::Rdma(a), Ends::Rdma(b)) if a.read.is_none() => swap!(a, b: receiver),
        (Ends::Rdma(a), Ends::Rdma(b)) => swap!(a, b: read),
        _ => debug_assert!(false, "a flow has the same ends everywhere"),
    }
    if let (Some(a), Some(b)) = (&mut a.tcp, &mut b.tcp) {
        swap!(a, b: server);
    }
    swap!(a, b: data_in_kernel, echo);
    if a.is_read() { swap!(a, b: data_pkts) } else { swap_received(a, b) }
}

fn swap_received(a: &mut Flow, b: &mut Flow) {
    swap!(a, b: received, marks);
}
