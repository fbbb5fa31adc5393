//! The host agent: the very algorithms and transports of the simulator on UDP sockets, in real time.
//!
//! [`plan`] says what a host does, [`agent`] does it. No privilege is
//! needed: ECN bits are read and set per packet by options of the sockets.

pub mod agent;
pub mod clock;
pub mod ends;
pub mod launch;
pub mod line;
pub mod metrics;
pub mod plan;
pub mod sockets;
