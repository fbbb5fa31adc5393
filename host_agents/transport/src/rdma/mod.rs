//! RDMA-like transport: packets paced at a rate, go-back-N, notifications and telemetry echoed
//! (docs/algorithms/substrate.md#pacing, #go-back-n, docs/algorithms/dcqcn.md#dcqcn-receiver).
//!
//! [`RdmaSender`] is asked for packets rather than giving them: an interface serves many flows in turn, and
//! only it knows when a packet may leave. [`RdmaReceiver`] takes what is in order and nothing else, or with
//! selective repeat whatever comes. With reads the host that wants the data has both, and [`ReadSource`]
//! sends what it is asked for.
//!
//! With a receiver algorithm a sender sends what that lets it send, of which credit tells ([`RdmaReceiver`]
//! gives it, packet by packet).
//!
//! Invariants: in flight never exceeds the window by more than a packet, nor 2^30 bytes; the receiver of
//! go-back-N keeps nothing out of order; what a switch wrote into a packet's extension comes back unchanged
//! in its ACK.

mod bolt;
mod config;
mod credited;
mod credits;
mod decoded;
mod entropy;
mod pacer;
mod pint;
mod random;
mod read;
mod receiver;
mod request;
mod request_schedule;
mod segments;
mod selective;
mod sender;
mod telemetry;

pub use config::{CnpScope, IntRoom, IntTable, Notification, PintTable, RdmaConfig, Recovery};
pub use entropy::{Entropy, PathFeedback};
pub use read::{ReadRequest, ReadSource};
pub use receiver::{Carries, RdmaAck, RdmaData, RdmaDueAck, RdmaReceipt, RdmaReceiver};
pub use sender::{AckResult, RdmaSender};
