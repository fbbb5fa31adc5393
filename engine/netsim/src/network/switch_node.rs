//! A switch in the network, with the lines of its ports.

use p4cc_switch::Switch;
use p4cc_switch::prefetch::prefetch_start;
use p4cc_units::Time;

use crate::links::Line;
use crate::output::PauseLog;

/// A switch with the lines of its ports.
// In the order of fields: the ports stand behind what the switch ends with, its program.
#[repr(C)]
pub(crate) struct SwitchNode {
    pub switch: Switch,
    /// By port number, up to the highest one that has a channel.
    ports: Vec<PortLine>,
    /// Pause frames that it sent, where they are recorded.
    pub pause_log: PauseLog,
    /// Packets that the caller of the run let come in.
    pub injected_pkts: u64,
    /// The packet generator of its chip, as the run sees it.
    pub generator: GeneratorState,
}

/// What a run knows of the packet generator of a switch.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct GeneratorState {
    /// Whether the control plane has set an application, when the run last went on.
    pub is_set: bool,
    /// When its next timer is scheduled.
    pub timer_at: Option<Time>,
}

/// The line of a port, and the channel that it leads into.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct PortLine {
    pub line: Line,
    pub channel: Option<u32>,
}

impl SwitchNode {
    /// A switch whose ports of these numbers lead into these channels.
    pub fn new(switch: Switch, channels: &[Option<u32>]) -> Self {
        let last = channels.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let port = |&channel: &Option<u32>| PortLine { channel, line: Line::default() };
        let ports = channels[..last].iter().map(port).collect();
        Self {
            switch,
            ports,
            pause_log: PauseLog::default(),
            injected_pkts: 0,
            generator: GeneratorState::default(),
        }
    }

    /// The switch, and the lines of its ports by port number.
    #[inline]
    pub fn split(&mut self) -> (&mut Switch, &[PortLine]) {
        (&mut self.switch, &self.ports)
    }

    /// The line of a port; a port that was added to a running switch has no channel yet.
    #[inline]
    pub fn port(&mut self, port: u32) -> &mut PortLine {
        let at = port as usize;
        if at >= self.ports.len() {
            self.ports.resize(at + 1, PortLine::default());
        }
        &mut self.ports[at]
    }

    /// The channels that its ports lead into.
    #[inline]
    pub fn channels(&self) -> impl Iterator<Item = usize> {
        self.ports.iter().filter_map(|port| port.channel).map(|channel| channel as usize)
    }

    /// Prefetches the lines of the ports.
    pub fn prefetch_lines(&self) {
        for pair in self.ports.chunks(2) {
            prefetch_start(pair);
        }
    }
}
