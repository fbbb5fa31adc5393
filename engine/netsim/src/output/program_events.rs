//! The tables `drops`, `program_digests` and `program_log`: what switches kept while the run lasted.

use p4cc_switch::KeptDigest;

use crate::output::view::View;
use crate::record::Table;
use crate::record::schema::{DigestRow, DropRow, LogRow};

/// A field of a digest message.
struct Field<'a> {
    switch: &'a str,
    message: u64,
    digest: &'a KeptDigest,
    name: String,
    value: u64,
}

impl View<'_> {
    /// What switches had no room for.
    pub(crate) fn program_events_left_out(&self) -> u64 {
        self.switches.nodes().iter().map(|node| node.switch.observation().watched_left_out()).sum()
    }

    /// Drops by interval, cause, place and port, switch by switch.
    pub(crate) fn drops_table(&self) -> Table {
        let names = self.spec.switch_names();
        let switches = self.switches.nodes().iter().zip(&names);
        let rows = switches
            .flat_map(|(node, name)| node.switch.observation().watched_drops().map(move |row| (*name, row)));
        Table::of(rows.map(|(switch, row)| DropRow {
            time_ns: row.at.as_ns(),
            switch,
            port: row.port.map(u64::from),
            cause: row.cause.column().trim_start_matches("dropped_"),
            control: &row.place.control,
            table: &row.place.table,
            action: &row.place.action,
            parser_error: &row.place.parser_error,
            packets: row.dropped.packets,
            bytes: row.dropped.bytes,
        }))
    }

    /// One row for each field of a digest message that `record.digests` names, switch by switch.
    pub(crate) fn digests_table(&self) -> Table {
        let recorded = self.spec.record.digests.as_ref().map_or(&[][..], |digests| &digests.arrays);
        let mut rows: Vec<Field<'_>> = Vec::new();
        for (node, switch) in self.switches.nodes().iter().zip(self.spec.switch_names()) {
            let is_recorded = |digest: &&KeptDigest| {
                recorded.iter().any(|spec| spec.switch == switch && spec.name == digest.name())
            };
            for (message, digest) in
                (0..).zip(node.switch.observation().watched_digests().iter().filter(is_recorded))
            {
                let fields = digest.fields();
                rows.extend(fields.map(|(name, value)| Field { switch, message, digest, name, value }));
            }
        }
        Table::of(rows.iter().map(|row| DigestRow {
            time_ns: row.digest.at.as_ns(),
            switch: row.switch,
            digest: row.digest.name(),
            message: row.message,
            field: &row.name,
            value: row.value,
        }))
    }

    /// Lines of `log_msg`, switch by switch.
    pub(crate) fn log_lines_table(&self) -> Table {
        let names = self.spec.switch_names();
        let switches = self.switches.nodes().iter().zip(&names);
        let lines = switches.flat_map(|(node, name)| {
            node.switch.observation().watched_logs().iter().map(|line| (*name, line))
        });
        Table::of(lines.map(|(switch, line)| LogRow { time_ns: line.at.as_ns(), switch, text: &line.text }))
    }
}
