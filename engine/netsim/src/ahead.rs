//! Looking ahead: has the processor fetch what the next districts will touch in this window.
//!
//! A network of hundreds of switches holds more packets and entries than the processor's near caches do, so most of
//! what a district touches first would be waited for. While one has its turn, what the next ones are to do is known: their
//! packets, their switch, the flows of their hosts. One lies behind the other, so there are steps, each a district nearer, and each
//! reads only what the one before had fetched.
//!
//! Nothing here changes anything but time.

use p4cc_switch::prefetch::{prefetch, prefetch_start};
use p4cc_transport::wire::peek_flow_id;

use crate::event::Kind;
use crate::host::Ends;
use crate::lists::Listed;
use crate::network::{CLOSE_TIMER, Network, PACE_TIMER, position};
use crate::node::SwitchNode;

impl Network {
    /// Takes the steps that are due before a district's turn.
    pub(crate) fn fetch_ahead(&self, district: usize) {
        if let Some(node) = self.switch_of(district + 3) {
            node.switch.prefetch();
            node.prefetch_lines();
        }
        if let Some(node) = self.switch_of(district + 2) {
            node.switch.prefetch_ports();
            node.channels().for_each(|channel| prefetch_start(&self.channels[channel]));
        }
        self.queue.prefetch_known(district + 3);
        for entry in self.queue.known(district + 2) {
            entry.packet().into_iter().for_each(|packet| prefetch(&**packet));
            if let Some(host) = (entry.event().node() as usize).checked_sub(self.switches.len()) {
                self.hosts.get(host).into_iter().for_each(prefetch);
            }
        }
        if let Some(node) = self.switch_of(district) {
            node.switch.prefetch_queues();
            self.neighbours(node).for_each(|node| self.queue.prefetch_room(node));
        }
        if self.switch_of(district + 1).is_none() {
            for flow in self.queue.known(district + 1).filter_map(|entry| self.flow_of(entry)) {
                prefetch_start(&self.flows[flow].ends);
                prefetch_start(&self.flows[flow].data_pkts);
                prefetch_start(&self.plans[flow]);
            }
        }
        if self.switch_of(district).is_none() {
            for flow in self.queue.known(district).filter_map(|entry| self.flow_of(entry)) {
                if let Ends::Rdma(ends) = &self.flows[flow].ends {
                    prefetch(&**ends);
                }
            }
        }
    }

    fn switch_of(&self, district: usize) -> Option<&SwitchNode> {
        self.switches.get(self.queue.first_node(district)?)
    }

    /// The nodes that a switch's ports lead to.
    fn neighbours(&self, node: &SwitchNode) -> impl Iterator<Item = u32> {
        node.channels().map(|channel| self.channels[channel].to())
    }

    /// The flow that an event at a host is for.
    fn flow_of(&self, entry: &Listed) -> Option<usize> {
        let event = entry.event();
        match event.kind() {
            Kind::Arrival if event.node() as usize >= self.switches.len() => {
                position(&self.plans, peek_flow_id(&entry.packet()?.head)?)
            }
            Kind::Timer if event.port() <= CLOSE_TIMER && event.port() != PACE_TIMER => {
                Some(event.subject as usize).filter(|&flow| flow < self.flows.len())
            }
            _ => None,
        }
    }
}
