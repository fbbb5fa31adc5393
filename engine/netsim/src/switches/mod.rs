//! Switches of a network: each runs its program (`p4cc_switch`), sends over the lines of its ports, and
//! pauses its neighbours by PFC (IEEE 802.1Qbb).

mod generator;
mod node;
mod pfc;
mod state;

pub(crate) use node::SwitchNode;
pub(crate) use state::Switches;
