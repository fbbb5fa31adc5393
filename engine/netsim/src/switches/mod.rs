//! Switches of a network: each runs its program (`p4cc_switch`), sends over the lines of its ports, and
//! pauses its neighbours by PFC (IEEE 802.1Qbb).

mod node;
mod pfc;
mod state;
mod wakes;
mod watchdog;
mod watchdog_state;

pub(crate) use node::SwitchNode;
pub(crate) use state::Switches;
pub(crate) use watchdog_state::Watchdog;
