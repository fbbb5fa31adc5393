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

use crate::describe::{FlowPlan, flow_index};
use crate::events::{BucketEntry, Cursor, Kind};
use crate::hosts::Ends;
use crate::network::{Network, SwitchNode};

impl Network {
    /// Takes the steps that are due before the batch of a logical process.
    pub(crate) fn prefetch_for(&mut self, process: usize) {
        self.schedule.calendar.prefetch_pending(process + 3);
        if let Some(node) = self.switch_of(process + 3) {
            node.switch.prefetch();
            node.prefetch_lines();
        }
        if let Some(node) = self.switch_of(process + 2) {
            node.switch.prefetch_ports();
            for channel in node.channels() {
                prefetch_start(&self.nodes.channels[channel]);
            }
        }
        match self.switch_of(process) {
            Some(node) => {
                node.switch.prefetch_queues();
                for channel in node.channels() {
                    self.schedule.calendar.prefetch_room(self.nodes.channels[channel].to());
                }
            }
            None => self.prefetch_ends(process),
        }
        if self.switch_of(process + 1).is_none() {
            self.prefetch_flows(process + 1);
        }
    }

    /// Prefetches the packet of the next event of a later batch; false if there is none. Called once for each
    /// event of the current batch, as the processor can wait for a few cache lines at once only.
    #[inline(always)]
    pub(crate) fn prefetch_packet(&self, further: &mut Cursor) -> bool {
        let Some(entry) = self.schedule.calendar.next_pending(further) else { return false };
        if let Some(packet) = entry.packet() {
            prefetch(&**packet);
        }
        if let Some(host) = (entry.event().node() as usize).checked_sub(self.nodes.switches.len()) {
            self.nodes.hosts.get(host).into_iter().for_each(prefetch);
        }
        true
    }

    /// Prefetches the flows of hosts whose packets have been fetched.
    fn prefetch_flows(&mut self, process: usize) {
        let (plans, flows) = (&self.nodes.plans[..], &self.nodes.flows[..]);
        self.schedule.calendar.for_each_pending(process, |entry| {
            if let Some(at) = flow_of(entry, plans)
                && let (Some(flow), Some(plan)) = (flows.get(at), plans.get(at))
            {
                prefetch_start(&flow.ends);
                prefetch_start(&flow.data_pkts);
                prefetch_start(plan);
                entry.next = at as u32;
            }
        });
    }

    /// Prefetches the two ends of flows that have been fetched.
    fn prefetch_ends(&self, process: usize) {
        for entry in self.schedule.calendar.pending(process) {
            if let Some(Ends::Rdma(ends)) = self.nodes.flows.get(entry.next as usize).map(|flow| &flow.ends) {
                prefetch(&**ends);
            }
        }
    }

    fn switch_of(&self, process: usize) -> Option<&SwitchNode> {
        self.nodes.switches.get(self.schedule.calendar.first_node(process)?)
    }
}

/// The flow that an event at a host concerns.
#[inline]
fn flow_of(entry: &BucketEntry, plans: &[FlowPlan]) -> Option<usize> {
    if let Some(packet) = entry.packet() {
        return flow_index(plans, peek_flow_id(&packet.head)?);
    }
    let event = entry.event();
    if event.kind() != Kind::Timer {
        return None;
    }
    event.timer().flow().map(|flow| flow as usize)
}
