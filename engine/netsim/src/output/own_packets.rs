//! The tables `packets_sent`, `hosts` and `packets_received`: packets of the user's own, and what arrived at
//! hosts that no flow took ([`super::received_log`]).

use crate::HostCounters;
use crate::network::Network;
use crate::output::received_log::{Received, ReceivedLog};
use crate::output::table::{Column, Table};

impl Network {
    /// Packets that arrived and that `record.packets_received` left out.
    pub(crate) fn received_left_out(&self) -> u64 {
        self.received_logs().map(|(_, log)| log.left_out).sum()
    }

    fn received_logs(&self) -> impl Iterator<Item = (&str, &ReceivedLog)> {
        self.nodes
            .hosts
            .iter()
            .zip(&self.spec.hosts)
            .filter_map(|(host, spec)| Some((spec.name.as_str(), host.own.as_ref()?.received.as_ref()?)))
    }

    /// What arrived that no flow took, in the order of time; of one instant in the order of hosts.
    pub(crate) fn packets_received_table(&self) -> Table {
        let logs = self.received_logs();
        let mut rows: Vec<(&str, &Received)> =
            logs.flat_map(|(host, log)| log.rows.iter().map(move |row| (host, row))).collect();
        rows.sort_by_key(|(_, row)| row.at);
        let hex: Vec<String> = rows.iter().map(|(_, row)| row.hex()).collect();
        Table {
            name: "packets_received",
            columns: vec![
                ("time_ns", Column::U64(rows.iter().map(|(_, row)| row.at.as_ns()).collect())),
                ("host", Column::text(rows.iter().map(|(host, _)| *host))),
                ("cause", Column::text(rows.iter().map(|(_, row)| row.cause.name()))),
                ("length_bytes", Column::U64(rows.iter().map(|(_, row)| u64::from(row.length)).collect())),
                ("bytes", Column::text(hex.iter().map(String::as_str))),
            ],
        }
    }

    /// One row for each source of packets of the user's own.
    pub(crate) fn packets_sent_table(&self) -> Table {
        let plans = &self.topology.packets;
        let sources = || {
            let own = |host: u32| self.nodes.hosts[host as usize].own.as_ref();
            plans.iter().filter_map(move |plan| own(plan.host)?.sources.get(plan.slot as usize))
        };
        let host = |host: u32| self.spec.hosts[host as usize].name.as_str();
        Table {
            name: "packets_sent",
            columns: vec![
                ("class", Column::text(plans.iter().map(|plan| plan.name.as_str()))),
                ("host", Column::text(plans.iter().map(|plan| host(plan.host)))),
                ("sent_pkts", Column::U64(sources().map(|source| source.sent_pkts).collect())),
                ("sent_bytes", Column::U64(sources().map(|source| source.sent_bytes).collect())),
                ("most_late_ns", Column::U64(sources().map(|source| source.most_late.as_ns()).collect())),
            ],
        }
    }

    /// What every host counted, where packets of the user's own are sent or recorded, or drops are.
    pub(crate) fn hosts_table(&self) -> Table {
        let record = &self.spec.record;
        let is_asked =
            !self.spec.packets.is_empty() || record.packets_received.is_some() || record.drops.is_some();
        let hosts = || self.nodes.hosts.iter().filter(move |_| is_asked);
        let u64s = |get: &dyn Fn(&HostCounters) -> u64| {
            Column::U64(hosts().map(|host| get(&host.counters)).collect())
        };
        let names = self.spec.hosts.iter().filter(|_| is_asked);
        Table {
            name: "hosts",
            columns: vec![
                ("host", Column::text(names.map(|host| host.name.as_str()))),
                ("sent_pkts", u64s(&|host| host.sent_pkts)),
                ("delivered_pkts", u64s(&|host| host.delivered_pkts)),
                ("refused_address_pkts", u64s(&|host| host.refused_address)),
                ("refused_malformed_pkts", u64s(&|host| host.refused_malformed)),
                ("refused_flow_pkts", u64s(&|host| host.refused_flow)),
            ],
        }
    }
}
