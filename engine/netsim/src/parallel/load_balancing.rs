//! Load balancing: the partition of each node, so that partitions have about equal work.
//!
//! Switches stand in a row in which neighbours have about the same hosts near them, and the row is divided
//! into pieces of equal work. So the pods of a fat-tree stay whole, and half of the switches between pods go
//! to each of two partitions. A packet then crosses between partitions once in the mean; in a row by levels
//! of the tree it would cross twice.

use crate::describe::{ChannelPlan, Topology};

/// Partition of each node, hosts with their switches. The work of a switch is the number of its packets so
/// far, those of its hosts included; where there were none, the number of its ports.
pub(crate) fn balanced_partitions(topology: &Topology, partitions: usize, packets: &[u64]) -> Vec<usize> {
    let (switches, hosts) = (topology.switches.len(), topology.hosts.len());
    let is_known = packets.iter().any(|&packets| packets > 0);
    let work = |at: usize| if is_known { packets[at] } else { topology.switches[at].ports.len() as u64 };
    let all = u128::from((0..switches).map(work).sum::<u64>().max(1));
    let mut partition_of = vec![0; switches + hosts];
    let mut before = 0;
    for at in row(topology) {
        // The partition that the middle of the switch's work falls into.
        let middle = u128::from(before + work(at) / 2);
        partition_of[at] = ((middle * partitions as u128 / all) as usize).min(partitions - 1);
        before += work(at);
    }
    for host in 0..hosts {
        let peer = topology.home(host as u32);
        partition_of[switches + host] = if peer < switches { partition_of[peer] } else { 0 };
    }
    partition_of
}

/// All switches in the order of the mean position of the hosts nearest to each.
fn row(topology: &Topology) -> Vec<usize> {
    let middles = middles(topology);
    let mut row: Vec<usize> = (0..topology.switches.len()).collect();
    row.sort_by_key(|&switch| middles[switch]);
    row
}

/// Mean position of the hosts nearest to each switch, in units of 2^-32; the largest number where no host can
/// be reached.
fn middles(topology: &Topology) -> Vec<u64> {
    let switches = topology.switches.len();
    let mut middles = vec![u64::MAX; switches];
    let mut next = vec![(0_u64, 0_u64); switches];
    for interface in 0..topology.hosts.len() as u32 {
        let (peer, host) = (topology.home(interface), u64::from(topology.interfaces.host(interface)));
        next.get_mut(peer).into_iter().for_each(|hosts| add(hosts, host << 32));
    }
    // Each pass goes one link further from the hosts.
    while next.iter().any(|&(_, count)| count > 0) {
        let found: Vec<bool> = next.iter().map(|&(_, count)| count > 0).collect();
        for (middle, (sum, count)) in
            middles.iter_mut().zip(core::mem::replace(&mut next, vec![(0, 0); switches]))
        {
            *middle = sum.checked_div(count).unwrap_or(*middle);
        }
        let is_new = |plan: &&ChannelPlan| {
            let (from, to) = (plan.from as usize, plan.to as usize);
            found.get(from) == Some(&true) && middles.get(to) == Some(&u64::MAX)
        };
        for plan in topology.channels.iter().filter(is_new) {
            add(&mut next[plan.to as usize], middles[plan.from as usize]);
        }
    }
    middles
}

fn add((sum, count): &mut (u64, u64), middle: u64) {
    (*sum, *count) = (*sum + middle, *count + 1);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::NetworkSpec;

    /// Switches with links between them, and hosts at them.
    fn topology(switches: usize, trunks: &[(usize, usize)], hosts_at: &[usize]) -> Topology {
        let mut used = vec![0; switches];
        let mut end = |switch: usize| {
            used[switch] += 1;
            json!({"node": format!("s{switch}"), "port": used[switch]})
        };
        let mut ends: Vec<(Value, Value)> = trunks.iter().map(|&(a, b)| (end(a), end(b))).collect();
        ends.extend((0..).zip(hosts_at).map(|(i, &at)| (json!({"node": format!("h{i}")}), end(at))));
        let link = |(a, b)| json!({"a": a, "b": b, "rate_bps": 1_000_000_000, "delay_ns": 1_000});
        let links: Vec<Value> = ends.into_iter().map(link).collect();
        let port = |port| json!({"port": port, "queue_capacity_pkts": 10});
        let switch = |(i, ports): (usize, &i32)| {
            let ports: Vec<Value> = (1..=*ports).map(port).collect();
            json!({"name": format!("s{i}"), "device_id": i + 1, "ports": ports})
        };
        let switches: Vec<Value> = used.iter().enumerate().map(switch).collect();
        let host = |i: usize| json!({"name": format!("h{i}"), "mac": format!("02:00:00:00:00:{i:02x}"), "ipv4": format!("10.0.0.{}", i + 1)});
        let hosts: Vec<Value> = (0..hosts_at.len()).map(host).collect();
        let spec = json!({"switches": switches, "hosts": hosts, "links": links, "flows": [], "stop_ns": 1,
            "limits": {"max_events": 1}});
        let spec = NetworkSpec::from_json(&spec.to_string()).expect("the description is right");
        Topology::new(&spec).expect("the description is right")
    }

    #[test]
    fn partitions_follow_the_packets() {
        let topology = topology(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], &[]);
        assert_eq!(balanced_partitions(&topology, 2, &[]), [0, 0, 1, 1]);
        assert_eq!(balanced_partitions(&topology, 2, &[0; 4]), [0, 0, 1, 1]);
        assert_eq!(balanced_partitions(&topology, 2, &[50, 50, 1, 1]), [0, 1, 1, 1]);
        assert_eq!(balanced_partitions(&topology, 2, &[1, 1, 50, 50]), [0, 0, 0, 1]);
        assert_eq!(balanced_partitions(&topology, 3, &[9, 0, 0, 0]), [1, 2, 2, 2]);
    }

    /// Two pods, listed by levels: edge, aggregation, core.
    #[test]
    fn pods_stay_whole() {
        let topology = topology(6, &[(0, 2), (1, 3), (2, 4), (2, 5), (3, 4), (3, 5)], &[0, 0, 1, 1]);
        assert_eq!(balanced_partitions(&topology, 2, &[]), [0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn switches_far_from_hosts_come_last() {
        let topology = topology(4, &[(1, 2)], &[3, 2]);
        assert_eq!(row(&topology), [3, 1, 2, 0]);
    }
}
