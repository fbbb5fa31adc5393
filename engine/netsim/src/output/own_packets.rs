//! The tables `packets_sent`, `hosts` and `packets_received`: packets of the user's own, and what arrived at
//! hosts that no flow took.
//!
//! Each host keeps its own log of what arrived, so that threads need no common order while they run.

use p4cc_switch::Packet;
use p4cc_transport::wire::DecodeError;
use p4cc_units::Time;

use crate::HostCounters;
use crate::network::Network;
use crate::output::table::{Column, Table};

/// Why no flow took a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoFlow {
    /// It is of another protocol than p4cc's transport.
    Protocol,
    /// It is of p4cc's transport, and its headers contradict each other.
    Damaged,
    /// It is for another host.
    Address,
    /// Its flow does not end here.
    Flow,
}

impl NoFlow {
    pub fn of(error: &DecodeError) -> Self {
        if error.is_other_protocol() { Self::Protocol } else { Self::Damaged }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Damaged => "damaged",
            Self::Address => "address",
            Self::Flow => "flow",
        }
    }

    pub fn count(self, counters: &mut HostCounters) {
        *match self {
            Self::Protocol | Self::Damaged => &mut counters.refused_malformed,
            Self::Address => &mut counters.refused_address,
            Self::Flow => &mut counters.refused_flow,
        } += 1;
    }
}

/// What arrived at one host that no flow took.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedLog {
    snap_bytes: usize,
    most: u64,
    rows: Vec<Received>,
    left_out: u64,
}

#[derive(Clone, Debug)]
struct Received {
    at: Time,
    cause: NoFlow,
    length: u32,
    /// The first bytes.
    bytes: Box<[u8]>,
}

impl ReceivedLog {
    /// A log of so many packets, with so many bytes of each.
    pub const fn new(snap_bytes: u32, most: u64) -> Self {
        Self { snap_bytes: snap_bytes as usize, most, rows: Vec::new(), left_out: 0 }
    }

    /// Keeps a packet, unless there are as many as it takes.
    pub fn add(&mut self, at: Time, cause: NoFlow, packet: &Packet) {
        if self.rows.len() as u64 >= self.most {
            self.left_out += 1;
            return;
        }
        let length = packet.len();
        let kept = self.snap_bytes.min(length as usize);
        let mut bytes = packet.head[..kept.min(packet.head.len())].to_vec();
        bytes.resize(kept, 0);
        self.rows.push(Received { at, cause, length, bytes: bytes.into() });
    }
}

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
        let hex: Vec<String> = rows.iter().map(|(_, row)| hex(&row.bytes)).collect();
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

    /// What every host counted, where packets of the user's own are sent or recorded.
    pub(crate) fn hosts_table(&self) -> Table {
        let is_asked = !self.spec.packets.is_empty() || self.spec.record.packets_received.is_some();
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

fn hex(bytes: &[u8]) -> String {
    use core::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_first_bytes_of_the_first_packets() {
        let mut log = ReceivedLog::new(4, 2);
        for (ns, packet) in
            [(5, Packet::new(&[1, 2], 8)), (6, Packet::new(&[1, 2, 3, 4, 5], 0)), (7, Packet::new(&[9], 0))]
        {
            log.add(Time::from_ns(ns), NoFlow::Protocol, &packet);
        }
        let rows: Vec<_> = log.rows.iter().map(|row| (row.at.as_ns(), row.length, hex(&row.bytes))).collect();
        assert_eq!(rows, [(5, 10, "01020000".to_owned()), (6, 5, "01020304".to_owned())]);
        assert_eq!(log.left_out, 1);
    }
}
