//! The tables `drops`, `program_digests` and `program_log`: what switches kept while the run lasted.

use p4cc_switch::{DropRow, KeptDigest, LogLine};

use crate::output::view::View;
use crate::record::Table;

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
        let rows: Vec<(&str, DropRow<'_>)> = switches
            .flat_map(|(node, name)| node.switch.observation().watched_drops().map(move |row| (*name, row)))
            .collect();
        Table::of("drops", &rows)
            .column("time_ns", |(_, row)| row.at.as_ns())
            .column("switch", |(name, _)| *name)
            .column("port", |(_, row)| row.port.map(u64::from))
            .column("cause", |(_, row)| row.cause.column().trim_start_matches("dropped_"))
            .column("control", |(_, row)| row.place.control.as_str())
            .column("table", |(_, row)| row.place.table.as_str())
            .column("action", |(_, row)| row.place.action.as_str())
            .column("parser_error", |(_, row)| row.place.parser_error.as_str())
            .column("packets", |(_, row)| row.dropped.packets)
            .column("bytes", |(_, row)| row.dropped.bytes)
            .build()
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
        Table::of("program_digests", &rows)
            .column("time_ns", |row| row.digest.at.as_ns())
            .column("switch", |row| row.switch)
            .column("digest", |row| row.digest.name())
            .column("message", |row| row.message)
            .column("field", |row| row.name.as_str())
            .column("value", |row| row.value)
            .build()
    }

    /// Lines of `log_msg`, switch by switch.
    pub(crate) fn log_lines_table(&self) -> Table {
        let names = self.spec.switch_names();
        let switches = self.switches.nodes().iter().zip(&names);
        let rows: Vec<(&str, &LogLine)> = switches
            .flat_map(|(node, name)| {
                node.switch.observation().watched_logs().iter().map(move |line| (*name, line))
            })
            .collect();
        Table::of("program_log", &rows)
            .column("time_ns", |(_, line)| line.at.as_ns())
            .column("switch", |(name, _)| *name)
            .column("text", |(_, line)| line.text.as_str())
            .build()
    }
}
