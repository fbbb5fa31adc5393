//! News: what ends a stretch of a run early, at the end of the instant at which it happens.
//!
//! Whoever waits for news looks at the node of each event, so nothing is counted for it elsewhere.

use crate::network::Network;
use crate::output::followed;

/// What to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// A switch drops a packet.
    Drop,
    /// A marked data packet reaches its receiver.
    Mark,
    /// A switch sends a pause frame (PFC, IEEE 802.1Qbb).
    Pause,
    /// The switch with this place among switches is through with so many packets that it follows
    /// ([`Network::follow_next`]).
    Followed(usize, usize),
}

/// Waits for news in one stretch of a run.
pub(crate) struct NewsWatch {
    news: News,
    /// By node: drops, marks or pauses when the wait began.
    before: Vec<u64>,
    /// By host: flows whose data it receives; only where marks are waited for.
    received_by: Vec<Vec<usize>>,
}

impl NewsWatch {
    pub fn new(network: &Network, news: News) -> Self {
        let mut received_by = Vec::new();
        if news == News::Mark {
            received_by.resize(network.nodes.hosts.len(), Vec::new());
            for (index, plan) in network.nodes.plans.iter().enumerate() {
                let receiver = if plan.is_read { plan.src } else { plan.dst };
                received_by[receiver as usize].push(index);
            }
        }
        let nodes = network.nodes.switches.len() + network.nodes.hosts.len();
        let mut watch = Self { news, before: Vec::new(), received_by };
        watch.before = (0..nodes).map(|node| watch.count(network, node)).collect();
        watch
    }

    /// Whether an event of this node was what is waited for.
    pub fn happened(&self, network: &Network, node: u32) -> bool {
        let node = node as usize;
        match self.news {
            News::Followed(switch, packets) => {
                node == switch && followed::ended(&network.nodes.switches[switch].switch).len() >= packets
            }
            _ => self.count(network, node) > self.before[node],
        }
    }

    fn count(&self, network: &Network, node: usize) -> u64 {
        let switch = network.nodes.switches.get(node).map(|node| &node.switch);
        match (self.news, switch) {
            (News::Drop, Some(switch)) => switch.counters().drops.total(),
            (News::Pause, Some(switch)) => {
                let ports = switch.config().ports.iter().filter_map(|port| switch.port_counters(port.port));
                ports.map(|counters| counters.pauses.iter().map(|pauses| pauses.sent).sum::<u64>()).sum()
            }
            (News::Mark, None) => {
                let flows = &self.received_by[node - network.nodes.switches.len()];
                flows.iter().map(|&flow| network.nodes.flows[flow].marks.iter().sum::<u64>()).sum()
            }
            _ => 0,
        }
    }
}
