//! The table `headers`: fields of the user's headers, as they arrived ([`super::headers_log`]).

use crate::network::Network;
use crate::output::headers_log::{ArrivedHeaders, HeadersLog};
use crate::output::table::{Column, Table};

/// A field of a packet.
struct Row<'a> {
    packet: &'a ArrivedHeaders,
    header: &'a str,
    index: usize,
    field: &'a str,
    value: u128,
}

impl Network {
    fn headers_logs(&self) -> impl Iterator<Item = &HeadersLog> {
        self.nodes.hosts.iter().filter_map(|host| host.own.as_ref()?.headers.as_ref())
    }

    /// Packets with headers that `record.headers` left out.
    pub(crate) fn headers_left_out(&self) -> u64 {
        self.headers_logs().map(|log| log.left_out).sum()
    }

    /// One row for each field, in the order of time; of one instant in the order of hosts.
    pub(crate) fn headers_table(&self) -> Table {
        let mut packets: Vec<&ArrivedHeaders> = self.headers_logs().flat_map(|log| &log.rows).collect();
        packets.sort_by_key(|packet| packet.at);
        let mut rows = Vec::new();
        for packet in packets {
            let view = self.topology.headers.as_ref().and_then(|headers| headers.view(&packet.bytes));
            for one in view.iter().flat_map(|view| view.fields()) {
                let (header, index, field, value) = (one.header, one.index, one.name, one.value);
                rows.push(Row { packet, header, index, field, value });
            }
        }
        let u64s = |get: &dyn Fn(&Row<'_>) -> u64| Column::U64(rows.iter().map(get).collect());
        Table {
            name: "headers",
            columns: vec![
                ("time_ns", u64s(&|row| row.packet.at.as_ns())),
                ("flow_id", u64s(&|row| row.packet.flow_id.into())),
                ("side", Column::text(rows.iter().map(|row| row.packet.side.name()))),
                ("header", Column::text(rows.iter().map(|row| row.header))),
                ("index", u64s(&|row| row.index as u64)),
                ("field", Column::text(rows.iter().map(|row| row.field))),
                // Of a wider field the lower bits.
                ("value", u64s(&|row| row.value as u64)),
            ],
        }
    }
}
