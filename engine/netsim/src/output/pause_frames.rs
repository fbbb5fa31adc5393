//! The table `pause_frames`: the frames of PFC (IEEE 802.1Qbb) that all switches sent
//! (`SwitchNode::pause_log`).

use p4cc_switch::PauseFrame;
use p4cc_units::Time;

use crate::output::view::View;
use crate::record::schema::PauseFrameRow;
use crate::record::{Log, Table};

impl View<'_> {
    fn pause_logs(&self) -> impl Iterator<Item = (usize, &Log<(Time, PauseFrame)>)> {
        let logs = self.switches.nodes().iter().map(|node| node.pause_log.as_ref()).enumerate();
        logs.filter_map(|(switch, log)| Some((switch, log?)))
    }

    /// Frames that `record.max_rows` left out.
    pub(crate) fn pause_frames_left_out(&self) -> u64 {
        let rows: u64 = self.pause_logs().map(|(_, log)| log.rows.len() as u64).sum();
        let by_switches: u64 = self.pause_logs().map(|(_, log)| log.left_out).sum();
        by_switches + rows.saturating_sub(self.spec.record.max_rows)
    }

    /// Pause and resume frames in the order of their times; those of one instant in the order of switches.
    pub(crate) fn pause_frames_table(&self) -> Table {
        let logs = self.pause_logs();
        let mut rows: Vec<_> = logs
            .flat_map(|(switch, log)| log.rows.iter().map(move |(at, frame)| (*at, switch, frame)))
            .collect();
        rows.sort_by_key(|(at, ..)| *at);
        rows.truncate(usize::try_from(self.spec.record.max_rows).unwrap_or(usize::MAX));
        Table::of(rows.into_iter().map(|(at, switch, frame)| PauseFrameRow {
            time_ns: at.as_ns(),
            node: self.node_name(switch),
            port: frame.port.into(),
            peer: self.neighbour(switch, frame.port).unwrap_or(""),
            priority: frame.priority.into(),
            pause: frame.pause.into(),
            towards: frame.towards.and_then(|port| self.neighbour(switch, port)).unwrap_or(""),
        }))
    }

    /// The name of the node at the other end of a port's link.
    pub(crate) fn neighbour(&self, switch: usize, port: u32) -> Option<&str> {
        let channel = self.topology.switch_channels[switch].get(port as usize).copied().flatten()?;
        Some(self.node_name(self.topology.channels[channel as usize].to as usize))
    }

    /// The name of an interface's host.
    pub(crate) fn host_name(&self, interface: u32) -> &str {
        &self.spec.hosts[self.topology.interfaces.host(interface) as usize].name
    }

    /// The name of a node: switches are numbered first, then hosts.
    pub(crate) fn node_name(&self, node: usize) -> &str {
        let switches = self.spec.switches.len();
        if node < switches {
            &self.spec.switches[node].name
        } else {
            self.host_name((node - switches) as u32)
        }
    }
}
