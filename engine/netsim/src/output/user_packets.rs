//! The tables `packets_sent`, `hosts` and `packets_received`: users' packets, and what arrived at
//! hosts that no flow took (`record/received_log.rs`).

use crate::output::view::View;
use crate::record::{Received, ReceivedLog, Table};

impl View<'_> {
    /// Packets that arrived and that `record.packets_received` left out.
    pub(crate) fn received_left_out(&self) -> u64 {
        self.received_logs().map(|(_, log)| log.log.left_out).sum()
    }

    fn received_logs(&self) -> impl Iterator<Item = (&str, &ReceivedLog)> {
        self.hosts
            .hosts()
            .iter()
            .zip(&self.spec.hosts)
            .filter_map(|(host, spec)| Some((spec.name.as_str(), host.user.as_ref()?.received.as_ref()?)))
    }

    /// What arrived that no flow took, in the order of time; of one instant in the order of hosts.
    pub(crate) fn packets_received_table(&self) -> Table {
        let logs = self.received_logs();
        let mut rows: Vec<(&str, &Received)> =
            logs.flat_map(|(host, log)| log.log.rows.iter().map(move |row| (host, row))).collect();
        rows.sort_by_key(|(_, row)| row.at);
        Table::of("packets_received", &rows)
            .column("time_ns", |(_, row)| row.at.as_ns())
            .column("host", |(host, _)| *host)
            .column("cause", |(_, row)| row.cause.name())
            .column("length_bytes", |(_, row)| u64::from(row.length))
            .column("bytes", |(_, row)| row.hex())
            .build()
    }

    /// One row for each source of users' packets.
    pub(crate) fn packets_sent_table(&self) -> Table {
        let sources = self.topology.packets.iter().filter_map(|plan| {
            let user = self.hosts.hosts()[plan.host as usize].user.as_ref()?;
            Some((plan, user.sources.get(plan.slot as usize)?))
        });
        Table::of("packets_sent", &sources.collect::<Vec<_>>())
            .column("class", |(plan, _)| plan.name.as_str())
            .column("host", |(plan, _)| self.spec.hosts[plan.host as usize].name.as_str())
            .column("sent_pkts", |(_, source)| source.sent_pkts)
            .column("sent_bytes", |(_, source)| source.sent_bytes)
            .column("most_late_ns", |(_, source)| source.most_late.as_ns())
            .build()
    }

    /// What every host counted, where users' packets are sent or recorded, or drops are.
    pub(crate) fn hosts_table(&self) -> Table {
        let record = &self.spec.record;
        let is_recorded =
            !self.spec.packets.is_empty() || record.packets_received.is_some() || record.drops.is_some();
        let hosts = self.spec.hosts.iter().zip(self.hosts.hosts()).filter(|_| is_recorded);
        let rows: Vec<_> = hosts.map(|(spec, host)| (spec.name.as_str(), &host.counters)).collect();
        Table::of("hosts", &rows)
            .column("host", |(host, _)| *host)
            .column("sent_pkts", |(_, host)| host.sent_pkts)
            .column("delivered_pkts", |(_, host)| host.delivered_pkts)
            .column("refused_address_pkts", |(_, host)| host.refused_address)
            .column("refused_malformed_pkts", |(_, host)| host.refused_malformed)
            .column("refused_flow_pkts", |(_, host)| host.refused_flow)
            .build()
    }
}
