//! The tables `packets_sent`, `hosts` and `packets_received`: users' packets, and what arrived at
//! hosts that no flow took (`record/received_log.rs`).

use crate::hosts::HostCounters;
use crate::output::view::View;
use crate::record::schema::{HostRow, ReceivedRow, SentRow};
use crate::record::{Received, ReceivedLog, Table};

impl View<'_> {
    /// Packets that arrived and that `record.packets_received` left out.
    pub(crate) fn received_left_out(&self) -> u64 {
        self.received_logs().map(|(_, log)| log.log.left_out).sum()
    }

    fn received_logs(&self) -> impl Iterator<Item = (&str, &ReceivedLog)> {
        let interfaces = (0..).zip(self.hosts.hosts());
        interfaces.filter_map(|(interface, host)| {
            Some((self.host_name(interface), host.user.as_ref()?.received.as_ref()?))
        })
    }

    /// What arrived that no flow took, in the order of time; of one instant in the order of hosts.
    pub(crate) fn packets_received_table(&self) -> Table {
        let logs = self.received_logs();
        let mut rows: Vec<(&str, &Received)> =
            logs.flat_map(|(host, log)| log.log.rows.iter().map(move |row| (host, row))).collect();
        rows.sort_by_key(|(_, row)| row.at);
        let digits: Vec<String> = rows.iter().map(|(_, row)| row.hex()).collect();
        Table::of(rows.iter().zip(&digits).map(|((host, row), bytes)| ReceivedRow {
            time_ns: row.at.as_ns(),
            host,
            cause: row.cause.name(),
            length_bytes: row.length.into(),
            bytes,
        }))
    }

    /// One row for each source of users' packets.
    pub(crate) fn packets_sent_table(&self) -> Table {
        let sources = self.topology.packets.iter().filter_map(|plan| {
            let user = self.hosts.hosts()[plan.host as usize].user.as_ref()?;
            Some((plan, user.sources.get(plan.slot as usize)?))
        });
        Table::of(sources.map(|(plan, source)| SentRow {
            class: &plan.name,
            host: &self.spec.hosts[plan.host as usize].name,
            sent_pkts: source.sent_pkts,
            sent_bytes: source.sent_bytes,
            most_late_ns: source.most_late.as_ns(),
        }))
    }

    /// What every host counted, where users' packets are sent or recorded, or drops are.
    pub(crate) fn hosts_table(&self) -> Table {
        let record = &self.spec.record;
        let is_recorded =
            !self.spec.packets.is_empty() || record.packets_received.is_some() || record.drops.is_some();
        let hosts = (0..).zip(&self.spec.hosts).filter(|_| is_recorded);
        Table::of(hosts.map(|(host, spec)| (spec, self.counters_of(host))).map(|(spec, counters)| HostRow {
            host: &spec.name,
            sent_pkts: counters.sent_pkts,
            delivered_pkts: counters.delivered_pkts,
            refused_address_pkts: counters.refused_address,
            refused_malformed_pkts: counters.refused_malformed,
            refused_flow_pkts: counters.refused_flow,
        }))
    }

    /// What all interfaces of a host counted.
    pub(crate) fn counters_of(&self, host: u32) -> HostCounters {
        let interfaces = self.topology.interfaces.of(host);
        interfaces.iter().map(|&one| self.hosts.hosts()[one as usize].counters).sum()
    }
}
