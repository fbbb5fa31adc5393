//! The real-time switch daemon: AF_XDP or packet sockets, a monotonic clock and P4Runtime around the sans-IO
//! switch.
//!
//! ```text
//!  interface ─► ring ─► Switch ─► link (rate, delay) ─► interface     data plane: one thread, holds
//!                         ▲ │                                         the switch for a batch of packets
//!        requests, packet-outs │ packet-ins, digests, idle entries
//!                         │ ▼
//!                    P4Runtime server                                 its own threads
//! ```
//!
//! Invariants: the P4 program decides what happens to a packet, and the same crate that the simulator runs
//! executes it; every lost packet is counted; a start that fails says why and exits with code 2.

mod capture;
mod checksum;
mod clock;
mod daemon;
mod dataplane;
mod links;
mod listeners;
pub mod log;
mod looks;
mod native;
mod notifications;
pub mod options;
mod packet_io;
mod port;
mod program;
mod queue_option;
mod scalability;
mod shared;
mod thrift;
mod trace;
mod wire;

pub use clock::Clock;
pub use daemon::{Daemon, StartError};
pub use packet_io::{Interface, InterfaceError, InterfaceLosses, Io, pin_to};

/// Rate of a link that nobody gave one: packets pass at once.
pub const UNSHAPED_BPS: u64 = u64::MAX;
