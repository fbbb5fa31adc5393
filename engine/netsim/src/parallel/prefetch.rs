//! Prefetch: the processor fetches what the next logical processes will touch in this epoch.
//!
//! A network of hundreds of switches holds more packets and entries than the processor's near caches. Most of
//! what a logical process touches first would cost a wait for memory. But while one batch is handled, the
//! events of the next ones are known: their packets, their switch, the flows of their hosts. The address of
//! one often lies in another, so prefetching takes several steps, each one batch nearer, and each reads only
//! what the step before has fetched.
//!
//! Nothing here changes results.

use p4cc_switch::prefetch::{prefetch, prefetch_start};
use p4cc_transport::wire::peek_flow_id;

use crate::describe::flow_index;
use crate::events::{BucketEntry, Cursor, Kind};
use crate::hosts::{Ends, Hosts};
use crate::network::Network;
use crate::switches::SwitchNode;

/// Takes the steps that are due before the batch of a logical process.
pub(super) fn prefetch_process(network: &mut Network, process: usize) {
    network.schedule.calendar.prefetch_pending(process + 3);
    if let Some(node) = switch_of(network, process + 3) {
        node.switch.prefetch();
        node.prefetch_lines();
    }
    if let Some(node) = switch_of(network, process + 2) {
        node.switch.prefetch_ports();
        node.channels().for_each(|channel| prefetch_start(&network.links.channels()[channel]));
    }
    match switch_of(network, process) {
        Some(node) => {
            node.switch.prefetch_queues();
            for channel in node.channels() {
                network.schedule.calendar.prefetch_room(network.links.channels()[channel].to());
            }
        }
        None => prefetch_ends(network, process),
    }
    if switch_of(network, process + 1).is_none() {
        prefetch_flows(network, process + 1);
    }
}

/// Prefetches the packet of the next event of a later batch; false if there is none. Called once for each
/// event of the current batch, as the processor can wait for a few cache lines at once only.
#[inline(always)]
pub(super) fn prefetch_packet(network: &Network, further: &mut Cursor) -> bool {
    let Some(entry) = network.schedule.calendar.next_pending(further) else { return false };
    if let Some(packet) = entry.packet() {
        prefetch(&**packet);
    }
    if let Some(host) = (entry.event().node() as usize).checked_sub(network.switches.len()) {
        network.hosts.hosts().get(host).into_iter().for_each(prefetch);
    }
    true
}

/// Prefetches the flows of hosts whose packets have been fetched.
fn prefetch_flows(network: &mut Network, process: usize) {
    let Network { hosts, schedule, .. } = network;
    schedule.calendar.for_each_pending(process, |entry| {
        if let Some(at) = flow_of(hosts, entry)
            && let (Some(flow), Some(plan)) = (hosts.flows().get(at), hosts.plans().get(at))
        {
            prefetch_start(&flow.ends);
            prefetch_start(&flow.data_pkts);
            prefetch_start(plan);
            entry.next = at as u32;
        }
    });
}

/// Prefetches the two ends of flows that have been fetched.
fn prefetch_ends(network: &Network, process: usize) {
    let flows = network.hosts.flows();
    for entry in network.schedule.calendar.pending(process) {
        if let Some(Ends::Rdma(ends)) = flows.get(entry.next as usize).map(|flow| &flow.ends) {
            prefetch(&**ends);
        }
    }
}

fn switch_of(network: &Network, process: usize) -> Option<&SwitchNode> {
    network.switches.nodes().get(network.schedule.calendar.first_node(process)?)
}

/// The flow that an event at a host concerns.
#[inline]
fn flow_of(hosts: &Hosts, entry: &BucketEntry) -> Option<usize> {
    if let Some(packet) = entry.packet() {
        return flow_index(hosts.plans(), peek_flow_id(&packet.head)?);
    }
    let event = entry.event();
    if event.kind() != Kind::Timer {
        return None;
    }
    event.timer().flow().map(|flow| flow as usize)
}
