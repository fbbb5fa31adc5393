//! Receivers that say what their senders may send: one for each host, since the flows that end there share
//! its line (docs/algorithms/receivers.md).
//!
//! State machines as the senders' are: they take `now` and what arrived, and say what to do. A host without
//! one answers what arrives and lets senders decide.
//!
//! Invariants: nothing changes but through the calls; [`ReceiverAlgorithm::next_timer`] lies behind the last
//! call.

mod build;
mod control;
pub(crate) mod eqds;
pub(crate) mod ndp;
#[cfg(test)]
mod testing;

pub use build::build_receiver;
pub use control::{Arrival, ReceiverAction, ReceiverAlgorithm, ReceiverEnvironment};
