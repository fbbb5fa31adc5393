//! The table `slow_receivers`: network cards of hosts that take packets slowly, and pauses of PFC (IEEE
//! 802.1Qbb) that they ask for.

use p4cc_units::Time;

use crate::hosts::SlowCard;
use crate::output::view::View;
use crate::record::Table;
use crate::record::schema::SlowReceiverRow;

impl View<'_> {
    /// One row for each of them, in the order of hosts.
    pub(crate) fn slow_receivers_table(&self) -> Table {
        let hosts = self.hosts.hosts().iter().zip(&self.spec.hosts);
        let cards = hosts.filter_map(|(host, spec)| Some((spec.name.as_str(), host.slow.as_deref()?)));
        Table::of(cards.map(|(host, card)| self.slow_receiver(host, card)))
    }

    fn slow_receiver<'a>(&self, host: &'a str, card: &SlowCard) -> SlowReceiverRow<'a> {
        let (plan, counters) = (&card.plan, &card.counters);
        SlowReceiverRow {
            host,
            rate_bps: plan.rate.map_or(0, |rate| rate.as_bps()),
            start_ns: plan.start.as_ns(),
            end_ns: plan.end.map(Time::as_ns),
            buffer_bytes: plan.buffer_bytes,
            pause_bytes: plan.xoff_bytes,
            arrived_pkts: counters.arrived_pkts,
            taken_pkts: counters.taken_pkts,
            taken_bytes: counters.taken_bytes,
            dropped_pkts: counters.dropped_pkts,
            peak_bytes: counters.peak_bytes,
            pauses_sent: counters.pauses,
            pausing_ns: card.paused(self.now).as_ns(),
            busy_ns: card.busy(self.now).as_ns(),
        }
    }
}
