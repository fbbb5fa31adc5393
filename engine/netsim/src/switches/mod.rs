//! Switches of a network: each runs its program (`p4cc_switch`) and sends over the lines of its ports.
//!
//! | file | what it has |
//! |---|---|
//! | `state` | all switches of a run, and the workspace that they share |
//! | `node` | one switch: packets arrive, ports send |
//! | `pfc` | pause frames that it sends, pauses that it obeys (IEEE 802.1Qbb) |
//! | `generator` | when it wants to be woken |
//! | `waits` | which paused links wait for each other |

mod generator;
mod node;
mod pfc;
mod state;
mod waits;

pub(crate) use node::SwitchNode;
pub(crate) use state::Switches;
