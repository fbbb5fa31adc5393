//! The table `pause_frames`: the frames of PFC (IEEE 802.1Qbb) that all switches sent
//! ([`super::pause_log`]).

use p4cc_switch::PauseFrame;
use p4cc_units::Time;

use crate::network::Network;
use crate::output::table::{Column, Table};

/// A frame and who sent it.
struct Row<'a> {
    at: Time,
    switch: usize,
    frame: &'a PauseFrame,
}

impl Network {
    /// Notes a frame that a switch sends, if frames are recorded.
    pub(crate) fn note_pause_frame(&mut self, switch: usize, frame: PauseFrame) {
        if self.spec.record.pauses {
            let (now, most) = (self.now(), self.spec.record.max_rows);
            self.nodes.switches[switch].pause_log.add(now, frame, most);
        }
    }

    fn pause_log_rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.nodes.switches.iter().enumerate().flat_map(|(switch, node)| {
            node.pause_log.frames().iter().map(move |(at, frame)| Row { at: *at, switch, frame })
        })
    }

    /// Frames that `record.max_rows` left out.
    pub(crate) fn pause_frames_left_out(&self) -> u64 {
        let kept = self.pause_log_rows().count() as u64;
        let by_switches: u64 = self.nodes.switches.iter().map(|node| node.pause_log.left_out).sum();
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
        let u64s = |get: &dyn Fn(&Row<'_>) -> u64| Column::U64(rows.iter().map(get).collect());
        Table {
            name: "pause_frames",
            columns: vec![
                ("time_ns", u64s(&|row| row.at.as_ns())),
                ("node", Column::text(rows.iter().map(|row| self.node_name(row.switch)))),
                ("port", u64s(&|row| row.frame.port.into())),
                (
                    "peer",
                    Column::text(
                        rows.iter().map(|row| neighbour(row.switch, Some(row.frame.port)).unwrap_or("")),
                    ),
                ),
                ("priority", u64s(&|row| row.frame.priority.into())),
                ("pause", u64s(&|row| row.frame.pause.into())),
                (
                    "towards",
                    Column::text(
                        rows.iter().map(|row| neighbour(row.switch, row.frame.towards).unwrap_or("")),
                    ),
                ),
            ],
        }
    }

    /// The name of a node: switches are numbered first, then hosts.
    pub(crate) fn node_name(&self, node: usize) -> &str {
        let switches = self.spec.switches.len();
        if node < switches { &self.spec.switches[node].name } else { &self.spec.hosts[node - switches].name }
    }
}
