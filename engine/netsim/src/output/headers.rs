//! The table `headers`: fields of the user's headers, as they arrived (`record/headers_log.rs`).

use crate::output::view::View;
use crate::record::{ArrivedHeaders, HeadersLog, Table};

/// A field of a packet.
struct Row<'a> {
    packet: &'a ArrivedHeaders,
    header: &'a str,
    index: usize,
    field: &'a str,
    value: u128,
}

impl View<'_> {
    fn headers_logs(&self) -> impl Iterator<Item = &HeadersLog> {
        self.hosts.hosts().iter().filter_map(|host| host.user.as_ref()?.headers.as_ref())
    }

    /// Packets with headers that `record.headers` left out.
    pub(crate) fn headers_left_out(&self) -> u64 {
        self.headers_logs().map(|log| log.log.left_out).sum()
    }

    /// One row for each field, in the order of time; of one instant in the order of hosts.
    pub(crate) fn headers_table(&self) -> Table {
        let mut packets: Vec<&ArrivedHeaders> = self.headers_logs().flat_map(|log| &log.log.rows).collect();
        packets.sort_by_key(|packet| packet.at);
        let mut rows = Vec::new();
        for packet in packets {
            let view = self.topology.headers.as_ref().and_then(|headers| headers.view(&packet.bytes));
            for field in view.iter().flat_map(|view| view.fields()) {
                let (header, index, field, value) = (field.header, field.index, field.name, field.value);
                rows.push(Row { packet, header, index, field, value });
            }
        }
        Table::of("headers", &rows)
            .column("time_ns", |row| row.packet.at.as_ns())
            .column("flow_id", |row| u64::from(row.packet.flow_id))
            .column("side", |row| row.packet.side.name())
            .column("header", |row| row.header)
            .column("index", |row| row.index as u64)
            .column("field", |row| row.field)
            // Of a wider field the lower bits.
            .column("value", |row| row.value as u64)
            .build()
    }
}
