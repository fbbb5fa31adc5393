//! News: what ends a stretch of a run early, at the end of the instant at which it happens.
//!
//! Whoever waits for news looks at the node of each event, so nothing is counted for it elsewhere.

use crate::output::view::View;

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
    /// ([`crate::Network::follow_next`]).
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
    pub fn new(view: View<'_>, news: News) -> Self {
        let mut received_by = Vec::new();
        if news == News::Mark {
            received_by.resize(view.spec.hosts.len(), Vec::new());
            for (index, plan) in view.hosts.plans().iter().enumerate() {
                let receiver = if plan.is_read { plan.src } else { plan.dst };
                received_by[view.topology.interfaces.host(receiver) as usize].push(index);
            }
        }
        let nodes = view.switches.len() + view.hosts.hosts().len();
        let mut watch = Self { news, before: Vec::new(), received_by };
        watch.before = (0..nodes).map(|node| watch.count(view, node)).collect();
        watch
    }

    /// Whether an event of this node was what is waited for.
    pub fn happened(&self, view: View<'_>, node: u32) -> bool {
        let node = node as usize;
        match self.news {
            News::Followed(switch, packets) => {
                node == switch && view.switches.nodes()[switch].switch.followed_to_the_end().len() >= packets
            }
            _ => self.count(view, node) > self.before[node],
        }
    }

    fn count(&self, view: View<'_>, node: usize) -> u64 {
        let switch = view.switches.nodes().get(node).map(|node| &node.switch);
        match (self.news, switch) {
            (News::Drop, Some(switch)) => switch.observation().counters().drops.total(),
            (News::Pause, Some(switch)) => {
                let ports = switch
                    .config()
                    .ports
                    .iter()
                    .filter_map(|port| switch.observation().port_counters(port.port));
                ports.map(|counters| counters.pauses.iter().map(|pauses| pauses.sent).sum::<u64>()).sum()
            }
            (News::Mark, None) => {
                let interface = (node - view.switches.len()) as u32;
                let flows = &self.received_by[view.topology.interfaces.host(interface) as usize];
                flows.iter().map(|&flow| view.hosts.flows()[flow].marks.iter().sum::<u64>()).sum()
            }
            _ => 0,
        }
    }
}
