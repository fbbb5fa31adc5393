//! The executor of the switches' programs: native code or the register machine. Results do not depend on it.

use p4cc_switch::ExecChoice;

use crate::Network;

impl Network {
    /// Chooses what runs the programs of all switches; results do not depend on it. Forks go on with it.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        self.nodes.switches.iter_mut().for_each(|node| node.switch.set_exec(choice));
    }

    /// Why some switch's program has no native code, once that
    /// was asked for; forks of a network know of each other.
    pub fn native_error(&self) -> Option<String> {
        self.nodes.switches.iter().find_map(|node| node.switch.native_error().map(ToString::to_string))
    }
}
