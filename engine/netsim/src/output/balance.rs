//! Where packets went and how far a run is, as counts that callers can check.

use crate::output::view::View;

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Virtual time reached.
    pub now_ns: u64,
    /// End of the run if it does not end by itself.
    pub stop_ns: u64,
    /// Events so far.
    pub events: u64,
    /// Flows complete.
    pub flows_completed: u64,
    /// Flows with a size, requests of rounds not counted.
    pub flows_finite: u64,
    /// Traversals of a link by a packet so far.
    pub packet_hops: u64,
}

/// Where every packet went. Conserved:
/// `sent + injected + copies + packet_outs + generated =
/// delivered + refused + dropped + lost + on_way + waiting + packet_ins`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PacketBalance {
    /// Left a host.
    pub sent: u64,
    /// Injected at a switch's port by the caller of the run.
    pub injected: u64,
    /// Made by switches.
    pub copies: u64,
    /// Given by controllers.
    pub packet_outs: u64,
    /// Made by packet generators of chips.
    pub generated: u64,
    /// Taken by an end of a flow.
    pub delivered: u64,
    /// Arrived at a host that refused them.
    pub refused: u64,
    /// Dropped by switches, and by network cards of slow receivers.
    pub dropped: u64,
    /// Lost on links.
    pub lost: u64,
    /// On links.
    pub on_way: u64,
    /// In queues of switches, and in network cards of slow receivers.
    pub waiting: u64,
    /// Given to controllers.
    pub packet_ins: u64,
}

impl PacketBalance {
    /// Whether no packet appeared or went away without being counted.
    pub const fn is_even(&self) -> bool {
        self.sent + self.injected + self.copies + self.packet_outs + self.generated
            == self.delivered
                + self.refused
                + self.dropped
                + self.lost
                + self.on_way
                + self.waiting
                + self.packet_ins
    }
}

impl View<'_> {
    /// Where every packet went so far.
    pub(crate) fn packet_balance(&self) -> PacketBalance {
        let mut balance = PacketBalance::default();
        for host in self.hosts.hosts() {
            balance.sent += host.counters.sent_pkts;
            balance.delivered += host.counters.delivered_pkts;
            balance.refused += host.counters.refused_pkts();
            if let Some(card) = &host.slow {
                balance.dropped += card.counters.dropped_pkts;
                balance.waiting += card.waiting();
            }
        }
        for node in self.switches.nodes() {
            let counters = node.switch.observation().counters();
            balance.injected += node.injected_pkts;
            balance.copies += counters.copies;
            balance.packet_outs += counters.packet_outs;
            balance.generated += counters.generated;
            balance.dropped += counters.drops.total();
            balance.waiting += node.switch.observation().waiting();
            balance.packet_ins += counters.packet_ins;
        }
        for channel in self.links.channels() {
            balance.lost += channel.lost();
            balance.on_way += channel.on_way() as u64;
        }
        balance
    }
}
