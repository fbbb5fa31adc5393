//! Looking ahead: has the processor fetch what the next districts will touch in this window.
//!
//! A network of hundreds of switches holds more packets and entries than the processor's near caches do, so
//! most of what a district touches first would be waited for. While one has its turn, what the next ones are
//! to do is known: their packets, their switch, the flows of their hosts. One lies behind the other, so there
//! are steps, each a district nearer, and each reads only what the one before had fetched.
//!
//! Nothing here changes anything but time.

use p4cc_switch::prefetch::{prefetch, prefetch_start};
use p4cc_transport::wire::peek_flow_id;

use crate::describe::topology::FlowPlan;
use crate::events::buckets::{Cursor, Listed};
use crate::events::event::Kind;
use crate::hosts::host::Ends;
use crate::network::state::{CLOSE_TIMER, Network, PACE_TIMER, position};
use crate::network::switch_node::SwitchNode;

impl Network {
    /// Takes the steps that are due before a district's turn.
    pub(crate) fn fetch_ahead(&mut self, district: usize) {
        self.queue.prefetch_known(district + 3);
        if let Some(node) = self.switch_of(district + 3) {
            node.switch.prefetch();
            node.prefetch_lines();
        }
        if let Some(node) = self.switch_of(district + 2) {
            node.switch.prefetch_ports();
            for channel in node.channels() {
                prefetch_start(&self.channels[channel]);
            }
        }
        match self.switch_of(district) {
            Some(node) => {
                node.switch.prefetch_queues();
                for channel in node.channels() {
                    self.queue.prefetch_room(self.channels[channel].to());
                }
            }
            None => self.fetch_ends(district),
        }
        if self.switch_of(district + 1).is_none() {
            self.fetch_flows(district + 1);
        }
    }

    /// What the next event of a district further on is about; false if there is none. One with each event of
    /// the district whose turn it is: the processor waits for so many lines at once only.
    #[inline(always)]
    pub(crate) fn fetch_packet(&self, further: &mut Cursor) -> bool {
        let Some(entry) = self.queue.next_known(further) else { return false };
        if let Some(packet) = entry.packet() {
            prefetch(&**packet);
        }
        if let Some(host) = (entry.event().node() as usize).checked_sub(self.switches.len()) {
            self.hosts.get(host).into_iter().for_each(prefetch);
        }
        true
    }

    /// The flows of hosts whose packets are near.
    fn fetch_flows(&mut self, district: usize) {
        let (plans, flows) = (&self.plans[..], &self.flows[..]);
        self.queue.for_each_known(district, |entry| {
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

    /// The ends of flows that are near.
    fn fetch_ends(&self, district: usize) {
        for entry in self.queue.known(district) {
            if let Some(Ends::Rdma(ends)) = self.flows.get(entry.next as usize).map(|flow| &flow.ends) {
                prefetch(&**ends);
            }
        }
    }

    fn switch_of(&self, district: usize) -> Option<&SwitchNode> {
        self.switches.get(self.queue.first_node(district)?)
    }
}

/// The flow that an event at a host is for.
#[inline]
fn flow_of(entry: &Listed, plans: &[FlowPlan]) -> Option<usize> {
    if let Some(packet) = entry.packet() {
        return position(plans, peek_flow_id(&packet.head)?);
    }
    let event = entry.event();
    let is_of_flow = event.kind() == Kind::Timer && event.port() <= CLOSE_TIMER && event.port() != PACE_TIMER;
    is_of_flow.then_some(event.subject as usize)
}
