//! The executor of the switches' programs: native code or the register machine. Results do not depend on it.

use p4cc_switch::ExecChoice;

use crate::Network;

impl Network {
    /// Chooses the executor of all switches; results do not depend on it. Forks keep the choice.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        self.nodes.switches.iter_mut().for_each(|node| node.switch.set_exec(choice));
    }

    /// Why the program of some switch has no native code, if native code was asked for. Forks of a network
    /// share it.
    pub fn native_error(&self) -> Option<String> {
        self.nodes.switches.iter().find_map(|node| node.switch.native_error().map(ToString::to_string))
    }
}
