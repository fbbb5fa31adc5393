//! Captures: a pcapng file for each captured end of a link.
//!
//! A file has what arrives at the end, at the time of the last bit, and what leaves there, at the time of the
//! first. Of one instant what arrives comes first. Packets that a queue or a program dropped were on no link.

use crate::describe::CapturePlan;
use crate::output::view::View;
use crate::record::schema::CaptureRow;
use crate::record::{
    Captured, Direction, Interface, LinkLog, LinkRow, PcapNg, STATISTICS_BYTES, Table, packet_bytes,
};

/// What was captured at an end of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capture {
    /// The switch or host.
    pub node: String,
    /// Its port; 0 of a host.
    pub port: u32,
    /// The file.
    pub bytes: Vec<u8>,
    /// Packets in it.
    pub packets: u64,
    /// Packets that did not fit.
    pub left_out: u64,
}

impl View<'_> {
    /// What was captured so far, in the order of the description.
    pub(crate) fn captures(&self) -> Vec<Capture> {
        self.topology.captures.iter().map(|plan| self.capture(plan)).collect()
    }

    fn capture(&self, plan: &CapturePlan) -> Capture {
        let logs = [
            (Direction::Inbound, self.links.channels()[plan.arriving as usize].arrivals_log()),
            (Direction::Outbound, self.links.channels()[plan.leaving as usize].leaving_log()),
        ];
        let logs = || logs.iter().filter_map(|(direction, log)| Some((*direction, (*log)?)));
        let now = self.now;
        let mut rows: Vec<(Direction, &LinkLog, &LinkRow)> = logs()
            .flat_map(|(direction, log)| log.rows(now).iter().map(move |row| (direction, log, row)))
            .collect();
        let left_out: u64 = logs().map(|(_, log)| log.left_out(now)).sum();
        let seen = rows.len() as u64 + left_out;
        // Stable: of one instant and direction, the order on the link.
        rows.sort_by_key(|(direction, _, row)| (row.at, *direction));
        // Where a log ended, the file ends.
        let end = logs().filter_map(|(direction, log)| Some((log.stopped()?, direction))).min();
        if let Some(end) = end {
            rows.truncate(rows.partition_point(|(direction, _, row)| (row.at, *direction) < end));
        }
        let (mut file, limits) = self.pcap_file(plan);
        let room = limits.1.saturating_sub(STATISTICS_BYTES);
        let mut packets = 0;
        for (direction, log, row) in rows {
            let (captured_bytes, comment) = (row.length.min(limits.0), row.comment());
            if file.len() + packet_bytes(captured_bytes, comment) > room {
                break;
            }
            file.packet(&Captured {
                time_ns: row.at.as_ns(),
                direction,
                bytes: log.bytes(row),
                captured_bytes,
                length: row.length,
                comment,
            });
            packets += 1;
        }
        Capture {
            node: plan.node.clone(),
            port: plan.port,
            bytes: file.end(now.as_ns(), seen, seen - packets),
            packets,
            left_out: seen - packets,
        }
    }

    /// The start of a file, with its snap length and its most bytes.
    fn pcap_file(&self, plan: &CapturePlan) -> (PcapNg, (u32, u64)) {
        let channel = &self.topology.channels[plan.leaving as usize];
        let pcap = self.spec.record.pcap.as_ref();
        let (snap_bytes, max_bytes) = pcap.map_or((0, 0), |pcap| (pcap.snap_bytes, pcap.max_bytes));
        let comment = pcap.map_or("", |pcap| &pcap.comment);
        let interface = Interface {
            name: &format!("{}:{}", plan.node, plan.port),
            description: &channel.name,
            rate_bps: channel.rate.as_bps(),
            snap_bytes,
        };
        let seed = self.seed;
        let comment =
            if comment.is_empty() { format!("seed {seed}") } else { format!("{comment}, seed {seed}") };
        (PcapNg::new(&comment, &interface), (snap_bytes, max_bytes))
    }
}

/// One row for each captured end.
pub(crate) fn table(captures: &[Capture]) -> Table {
    Table::of(captures.iter().map(|capture| CaptureRow {
        node: &capture.node,
        port: capture.port.into(),
        captured_pkts: capture.packets,
        left_out_pkts: capture.left_out,
        file_bytes: capture.bytes.len() as u64,
    }))
}
