//! The division of a network into logical processes: a switch, or the hosts of a switch.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_units::Span;

use crate::describe::{ChannelPlan, Topology};

/// Logical process of each node. Hosts come after all switches, so that the processor runs the code for
/// switches again and again, then the code for hosts. Hosts whose links are shorter than those between
/// switches are in the logical process of their switch, as they would shorten the lookahead otherwise.
pub(crate) fn logical_processes(topology: &Topology) -> Vec<usize> {
    let switches = topology.switches.len();
    let link = |uplink: u32| &topology.channels[uplink as usize];
    let is_trunk = |plan: &&ChannelPlan| (plan.from as usize) < switches && (plan.to as usize) < switches;
    let trunks = topology.channels.iter().filter(is_trunk).map(|plan| plan.delay).min().unwrap_or(Span::MAX);
    let is_apart = topology.hosts.iter().all(|host| link(host.uplink).delay >= trunks);
    let of_host = |interface: u32| {
        // Two hosts on one link belong to the first switch.
        let peer = Some(topology.home(interface)).filter(|peer| *peer < switches).unwrap_or(0);
        if is_apart { switches + peer } else { peer }
    };
    without_gaps(
        (0..switches)
            .chain((0..topology.hosts.len() as u32).map(of_host))
            .map(|process| (0, process))
            .collect(),
    )
}

/// Logical process of each node, numbered within the partition of the node.
pub(crate) fn logical_processes_of_partitions(topology: &Topology, partition: &[usize]) -> Vec<usize> {
    without_gaps(partition.iter().copied().zip(logical_processes(topology)).collect())
}

/// Numbers the logical processes of each partition without gaps, in their order.
fn without_gaps(nodes: Vec<(usize, usize)>) -> Vec<usize> {
    let all: BTreeSet<(usize, usize)> = nodes.iter().copied().collect();
    let mut next = BTreeMap::new();
    let numbers: BTreeMap<(usize, usize), usize> = all
        .into_iter()
        .map(|(partition, process)| {
            let next = next.entry(partition).or_insert(0);
            *next += 1;
            ((partition, process), *next - 1)
        })
        .collect();
    nodes.iter().map(|node| numbers[node]).collect()
}
