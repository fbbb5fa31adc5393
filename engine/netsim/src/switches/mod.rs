//! Switches of a network: each runs its program (`p4cc_switch`), sends over the lines of its ports, and
//! pauses its neighbours by PFC (IEEE 802.1Qbb).

mod node;
mod pfc;
mod state;
mod storms;
mod wakes;
mod watchdog;

pub(crate) use node::SwitchNode;
pub(crate) use state::Switches;
pub(crate) use storms::Watchdog;
