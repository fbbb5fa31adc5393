//! A switch in the network.

use p4cc_switch::{Packet, Switch, Transmission, Workspace};
use p4cc_units::Time;

use crate::channel::Line;

/// A switch with the lines of its ports.
pub(crate) struct SwitchNode {
    pub switch: Switch,
    /// By port number, up to the highest one that has a channel.
    ports: Vec<PortLine>,
}

/// Behind a port.
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
        Self { switch, ports: channels[..last].iter().map(port).collect() }
    }

    /// What is behind a port; nothing yet behind one that was added to a running switch.
    #[inline]
    pub fn port(&mut self, port: u32) -> &mut PortLine {
        let at = port as usize;
        if at >= self.ports.len() {
            self.ports.resize(at + 1, PortLine::default());
        }
        &mut self.ports[at]
    }

    /// [`Switch::receive`] in a workspace that switches share.
    #[inline]
    pub fn receive(&mut self, workspace: &mut Workspace, now: Time, port: u32, packet: Packet) {
        self.switch.exchange(workspace);
        self.switch.receive(now, port, packet);
        self.switch.exchange(workspace);
    }

    /// [`Switch::transmit`] in a workspace that switches share.
    #[inline]
    pub fn transmit(&mut self, workspace: &mut Workspace, now: Time, port: u32) -> Option<Transmission> {
        self.switch.exchange(workspace);
        let sent = self.switch.transmit(now, port);
        self.switch.exchange(workspace);
        sent
    }
}
