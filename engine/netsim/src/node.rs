//! A switch in the network.

use p4cc_switch::{Packet, Switch, Transmission, Workspace};
use p4cc_units::Time;

use crate::channel::Line;

/// A switch with the lines of its ports.
pub(crate) struct SwitchNode {
    pub switch: Switch,
    /// By port number.
    pub lines: Vec<Line>,
}

impl SwitchNode {
    /// [`Switch::receive`] in a workspace that switches share.
    pub fn receive(&mut self, workspace: &mut Workspace, now: Time, port: u32, packet: Packet) {
        self.switch.exchange(workspace);
        self.switch.receive(now, port, packet);
        self.switch.exchange(workspace);
    }

    /// [`Switch::transmit`] in a workspace that switches share.
    pub fn transmit(&mut self, workspace: &mut Workspace, now: Time, port: u32) -> Option<Transmission> {
        self.switch.exchange(workspace);
        let sent = self.switch.transmit(now, port);
        self.switch.exchange(workspace);
        sent
    }
}
