//! The table `headers`: fields of the user's headers, as they arrived (`record/headers_log.rs`).

use crate::output::view::View;
use crate::record::schema::HeaderRow;
use crate::record::{ArrivedHeaders, HeadersLog, Table};

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
        Table::of(packets.into_iter().flat_map(|packet| {
            let view = self.topology.headers.as_ref().and_then(|headers| headers.view(&packet.bytes));
            let fields: Vec<_> = view.iter().flat_map(|view| view.fields()).collect();
            fields.into_iter().map(|field| HeaderRow {
                time_ns: packet.at.as_ns(),
                flow_id: packet.flow_id.into(),
                side: packet.side.name(),
                header: field.header,
                index: field.index as u64,
                field: field.name,
                // Of a wider field the lower bits.
                value: field.value as u64,
            })
        }))
    }
}
