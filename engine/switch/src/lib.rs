//! Switch, sans-IO: the pipeline of v1model or PSA, packet replication, traffic manager.
//!
//! A [`Switch`] takes packets with the time at which they arrive and gives packets back when a port is free.
//! It reads no clock, opens no socket and logs nothing: the simulator and the daemon are shells around it.
//! The P4 program decides everything that happens to a packet; nothing here marks, routes or inspects
//! headers.
//!
//! ```text
//!  receive ─► parser ─► ingress ─► clone / resubmit / multicast / drop ─► queues of each port
//!                                                                             │ port idle
//!  Transmission ◄── deparser ◄── checksum ◄── egress ◄───────────── transmit ─┘
//! ```
//!
//! A shell that knows which ports are free may call [`Switch::pass`] in the place of [`Switch::receive`]: a
//! packet that would leave its queue at once is counted in and out of it without being put there.
//!
//! Invariants:
//! - nothing is unbounded: passes and copies of a received
//!   packet, queues, replicas, what waits for the controller;
//! - packets are conserved ([`SwitchCounters`]);
//! - a clone of a switch goes on exactly as the original would.

mod arch;
pub mod config;
mod core;
pub mod counters;
mod head;
mod lineage;
pub mod packet;
pub mod pre;
mod prefetch_steps;
pub mod random;
mod switch;
pub mod tm;
mod tm_buffer;
mod tm_ports;
mod tm_state;
mod trace;

pub use self::arch::Workspace;
pub use self::core::{LogLine, MAX_CONTROLLER_QUEUE, MAX_LOG_LINES};
pub use config::{
    BufferConfig, ConfigError, DEFAULT_PASS_LIMIT, ExecChoice, MAX_PASS_LIMIT, NATIVE_AFTER_PACKETS,
    PortConfig, QdepthUnit, SwitchConfig, TimestampUnit,
};
pub use counters::{DropCause, Drops, PauseCounters, PortCounters, QueueCounters, SwitchCounters};
pub use p4cc_exec::prefetch;
pub use packet::{MAX_PACKET_BYTES, Packet, PacketPool};
pub use pre::{CloneSession, MulticastGroup, Replica, ReplicationEngine, Target};
pub use random::Stream;
pub use switch::{Switch, Transmission};
pub use tm_buffer::PauseFrame;
pub use tm_state::link_bytes;
pub use trace::{MAX_TRACE_STEPS, Step, TraceEvent};
