//! The network in one run.
//!
//! | file | what it has |
//! |---|---|
//! | `state` | [`Network`](state::Network): what a run is made of, and how one begins |
//! | `nodes`, `switch_node` | switches, hosts, channels, flows |
//! | `schedule` | virtual time and the event queue |
//! | `observers` | recorder, detectors, counters of flows |
//! | `dispatch` | which handler an event goes to |
//! | `balance`, `exec` | packet conservation; what runs the P4 programs |

pub(crate) mod balance;
pub(crate) mod dispatch;
pub(crate) mod exec;
pub(crate) mod nodes;
pub(crate) mod observers;
pub(crate) mod schedule;
pub(crate) mod state;
pub(crate) mod switch_node;
