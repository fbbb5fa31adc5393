//! The network in one run.
//!
//! | file | what it has |
//! |---|---|
//! | `state` | [`Network`]: what a run is made of, and how one begins |
//! | `nodes`, `switch_node` | switches, hosts, channels, flows |
//! | `schedule` | virtual time and the event queue |
//! | `observers` | recorder, detectors, counters of flows |
//! | `dispatch` | which handler an event goes to |
//! | `generator` | the packet generator of a Tofino chip |
//! | `balance`, `exec` | packet conservation; what runs the P4 programs |

mod balance;
mod dispatch;
mod exec;
mod generator;
mod nodes;
mod observers;
mod schedule;
mod state;
mod switch_node;

pub use balance::{PacketBalance, Progress};
pub use observers::Tap;
pub(crate) use state::Blueprint;
pub use state::Network;
pub(crate) use switch_node::{PortLine, SwitchNode};
