//! The table `pause_frames`: the frames of PFC (IEEE 802.1Qbb) that all switches sent
//! (`record/pause_log.rs`).

use p4cc_switch::PauseFrame;
use p4cc_units::Time;

use crate::output::view::View;
use crate::record::Table;

/// A frame and who sent it.
struct Row<'a> {
    at: Time,
    switch: usize,
    frame: &'a PauseFrame,
}

impl View<'_> {
    fn pause_log_rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.switches.nodes().iter().enumerate().flat_map(|(switch, node)| {
            node.pause_log.frames().iter().map(move |(at, frame)| Row { at: *at, switch, frame })
        })
    }

    /// Frames that `record.max_rows` left out.
    pub(crate) fn pause_frames_left_out(&self) -> u64 {
        let kept = self.pause_log_rows().count() as u64;
        let by_switches: u64 = self.switches.nodes().iter().map(|node| node.pause_log.left_out).sum();
        by_switches + kept.saturating_sub(self.spec.record.max_rows)
    }

    /// Pause and resume frames in the order of their times; those of one instant in the order of switches.
    pub(crate) fn pause_frames_table(&self) -> Table {
        let mut rows: Vec<Row<'_>> = self.pause_log_rows().collect();
        rows.sort_by_key(|row| row.at);
        rows.truncate(usize::try_from(self.spec.record.max_rows).unwrap_or(usize::MAX));
        let neighbour = |switch: usize, port: Option<u32>| {
            let channel = self.topology.switch_channels[switch].get(port? as usize).copied().flatten()?;
            Some(self.node_name(self.topology.channels[channel as usize].to as usize))
        };
        Table::of("pause_frames", &rows)
            .column("time_ns", |row| row.at.as_ns())
            .column("node", |row| self.node_name(row.switch))
            .column("port", |row| u64::from(row.frame.port))
            .column("peer", |row| neighbour(row.switch, Some(row.frame.port)).unwrap_or(""))
            .column("priority", |row| u64::from(row.frame.priority))
            .column("pause", |row| u64::from(row.frame.pause))
            .column("towards", |row| neighbour(row.switch, row.frame.towards).unwrap_or(""))
            .build()
    }

    /// The name of a node: switches are numbered first, then hosts.
    pub(crate) fn node_name(&self, node: usize) -> &str {
        let switches = self.spec.switches.len();
        if node < switches { &self.spec.switches[node].name } else { &self.spec.hosts[node - switches].name }
    }
}
