//! The tables `drops`, `program_digests` and `program_log`: what switches kept while the run lasted.

use p4cc_switch::{DropRow, KeptDigest, LogLine};

use crate::network::Network;
use crate::output::table::{Column, Table};

/// A field of a digest message.
struct Field<'a> {
    switch: &'a str,
    message: u64,
    digest: &'a KeptDigest,
    name: String,
    value: u64,
}

impl Network {
    /// What switches had no room for.
    pub(crate) fn program_events_left_out(&self) -> u64 {
        self.nodes.switches.iter().map(|node| node.switch.watched_left_out()).sum()
    }

    /// Drops by interval, cause, place and port, switch by switch.
    pub(crate) fn drops_table(&self) -> Table {
        let names = self.spec.switch_names();
        let switches = self.nodes.switches.iter().zip(&names);
        let rows: Vec<(&str, DropRow<'_>)> = switches
            .flat_map(|(node, name)| node.switch.watched_drops().map(move |row| (*name, row)))
            .collect();
        let text = |get: &dyn for<'a> Fn(&'a DropRow<'_>) -> &'a str| {
            Column::text(rows.iter().map(|(_, row)| get(row)))
        };
        let cause = |row: &DropRow<'_>| row.cause.column().trim_start_matches("dropped_");
        Table {
            name: "drops",
            columns: vec![
                ("time_ns", Column::U64(rows.iter().map(|(_, row)| row.at.as_ns()).collect())),
                ("switch", Column::text(rows.iter().map(|(name, _)| *name))),
                ("port", Column::I64(rows.iter().map(|(_, row)| row.port.map_or(-1, i64::from)).collect())),
                ("cause", Column::text(rows.iter().map(|(_, row)| cause(row)))),
                ("control", text(&|row| &row.place.control)),
                ("table", text(&|row| &row.place.table)),
                ("action", text(&|row| &row.place.action)),
                ("parser_error", text(&|row| &row.place.parser_error)),
                ("packets", Column::U64(rows.iter().map(|(_, row)| row.dropped.packets).collect())),
                ("bytes", Column::U64(rows.iter().map(|(_, row)| row.dropped.bytes).collect())),
            ],
        }
    }

    /// One row for each field of a digest message that `record.digests` names, switch by switch.
    pub(crate) fn digests_table(&self) -> Table {
        let asked = self.spec.record.digests.as_ref().map_or(&[][..], |digests| &digests.arrays);
        let mut rows: Vec<Field<'_>> = Vec::new();
        for (node, switch) in self.nodes.switches.iter().zip(self.spec.switch_names()) {
            let is_asked = |digest: &&KeptDigest| {
                asked.iter().any(|one| one.switch == switch && one.name == digest.name())
            };
            for (message, digest) in (0..).zip(node.switch.watched_digests().iter().filter(is_asked)) {
                let fields = digest.fields();
                rows.extend(fields.map(|(name, value)| Field { switch, message, digest, name, value }));
            }
        }
        let u64s = |get: &dyn Fn(&Field<'_>) -> u64| Column::U64(rows.iter().map(get).collect());
        Table {
            name: "program_digests",
            columns: vec![
                ("time_ns", u64s(&|row| row.digest.at.as_ns())),
                ("switch", Column::text(rows.iter().map(|row| row.switch))),
                ("digest", Column::text(rows.iter().map(|row| row.digest.name()))),
                ("message", u64s(&|row| row.message)),
                ("field", Column::text(rows.iter().map(|row| row.name.as_str()))),
                ("value", u64s(&|row| row.value)),
            ],
        }
    }

    /// Lines of `log_msg`, switch by switch.
    pub(crate) fn log_lines_table(&self) -> Table {
        let names = self.spec.switch_names();
        let switches = self.nodes.switches.iter().zip(&names);
        let rows: Vec<(&str, &LogLine)> = switches
            .flat_map(|(node, name)| node.switch.watched_logs().iter().map(move |line| (*name, line)))
            .collect();
        Table {
            name: "program_log",
            columns: vec![
                ("time_ns", Column::U64(rows.iter().map(|(_, line)| line.at.as_ns()).collect())),
                ("switch", Column::text(rows.iter().map(|(name, _)| *name))),
                ("text", Column::text(rows.iter().map(|(_, line)| line.text.as_str()))),
            ],
        }
    }
}
