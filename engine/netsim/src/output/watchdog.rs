//! The table `watchdog`: storms of PFC (IEEE 802.1Qbb) that the watchdogs of switches detected, and their
//! ends (`SwitchNode::watchdog`).

use crate::output::view::View;
use crate::record::Table;
use crate::record::schema::WatchdogRow;
use crate::switches::Watchdog;

impl View<'_> {
    fn watchdogs(&self) -> impl Iterator<Item = (usize, &Watchdog)> {
        let watchdogs = self.switches.nodes().iter().map(|node| node.watchdog.as_deref()).enumerate();
        watchdogs.filter_map(|(switch, watchdog)| Some((switch, watchdog?)))
    }

    /// Rows that `record.max_rows` left out.
    pub(crate) fn watchdog_left_out(&self) -> u64 {
        let rows: u64 = self.watchdogs().map(|(_, watchdog)| watchdog.log.rows.len() as u64).sum();
        let by_switches: u64 = self.watchdogs().map(|(_, watchdog)| watchdog.log.left_out).sum();
        by_switches + rows.saturating_sub(self.spec.record.max_rows)
    }

    /// Storms that were detected and ended, in the order of their times; those of one instant in the order of
    /// switches.
    pub(crate) fn watchdog_table(&self) -> Table {
        let mut rows: Vec<_> = self
            .watchdogs()
            .flat_map(|(switch, watchdog)| watchdog.log.rows.iter().map(move |event| (switch, event)))
            .collect();
        rows.sort_by_key(|(_, event)| event.at);
        rows.truncate(usize::try_from(self.spec.record.max_rows).unwrap_or(usize::MAX));
        Table::of(rows.into_iter().map(|(switch, event)| WatchdogRow {
            time_ns: event.at.as_ns(),
            node: self.node_name(switch),
            port: event.port.into(),
            peer: self.neighbour(switch, event.port).unwrap_or(""),
            priority: event.priority.into(),
            event: if event.detected { "detected" } else { "restored" },
            dropped_pkts: event.dropped_pkts,
        }))
    }
}
