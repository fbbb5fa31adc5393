//! Window transport, RDMA-like transport and wire format, sans-IO.
//!
//! [`WindowSender`] and [`Receiver`] are the two ends of one flow: they take `now` and what arrived and
//! return actions, ACKs and typed events. [`rdma`] has the two ends of a paced flow. [`wire`] turns both into
//! packet bytes and back; docs/reference/wire-format.md defines them. [`tcp`] puts a window flow on the wire
//! as a TCP connection.
//!
//! Invariants:
//! - no clock, no socket, no log, no random number;
//! - a sender never has more than the receiver window in flight, and a receiver never buffers more than it;
//! - encoding and decoding allocate nothing; sender and
//!   receiver allocate nothing once their buffers have grown;
//! - whatever bytes arrive, the answer is a value or a typed error, never a panic.

mod actions;
mod config;
mod ecn;
mod ranges;
pub mod rdma;
mod reassembly;
mod receiver;
mod rtt;
mod sack;
mod scoreboard;
mod sender;
mod seq;
pub mod tcp;
pub mod wire;

pub use actions::{Action, Actions, Event, IgnoredAck, Segment};
pub use config::{IpVersion, PacketFormat, Recovery, SenderConfig};
pub use ecn::{Codepoint, EcnProfile};
pub use p4cc_cc::ConfigError;
pub use receiver::{AckFields, DataFields, DataVerdict, Receipt, Receiver, ReceiverConfig};
pub use sack::{MAX_SACK_BLOCKS, SackBlocks, SackBytes};
pub use sender::{Snapshot, WindowSender};
