//! The switch, sans-IO: the pipelines of v1model, PSA, TNA and T2NA, packet replication, and the traffic
//! manager.
//!
//! A [`Switch`] takes packets with their time of arrival, and gives packets back when a port is idle.
//! [`Control`] is what the control plane sets of it, [`Observation`] what can be seen of it. It reads no
//! clock, opens no socket and logs nothing: the simulator and the daemon do that. The P4 program decides
//! everything that happens to a packet. Nothing here marks, routes or inspects headers.
//!
//! A packet takes one of two ways from ingress to egress:
//!
//! ```text
//! receive ─► parser ─► verify ─► ingress ─┬─► admission ─► queue ─► transmit ─► egress ──┐
//!              ▲                          │   (tail drop, PFC)                           │
//!              │                          ├─► clone, multicast: one admission a copy     ├─► update
//!              └───────── resubmit ───────┤                                              │      │
//!                                         ├─► drop                                       │   deparser
//!                                         │                                              │      │
//!                                         └─► bypass: queue empty, port idle ─► egress ──┘      ▼
//!                                                                                         Transmission
//! ```
//!
//! - The queue: [`Switch::receive`] puts the packet into its queue, [`Switch::transmit`] takes it out. Every
//!   packet takes this way in the interpreter and under a trace.
//! - The bypass of an empty queue: [`Switch::receive_with_bypass`] runs native code, which asks the traffic
//!   manager once whether the packet would be the next to leave its idle port. If so, the traffic manager
//!   counts it in and out of the queue and the shared buffer, and egress follows at once. Counters, metadata
//!   and order are those of the first way. Native code has a bypass for the common sets of headers, in
//!   programs whose egress makes no requests. A packet that causes a PFC (IEEE 802.1Qbb) pause goes through
//!   its queue, since the pause frame leaves first.
//!
//! Invariants:
//! - nothing is unbounded: copies of a received packet and its passes through the pipelines, queues,
//!   replicas, messages to the controller;
//! - packets are conserved ([`SwitchCounters`]);
//! - a clone of a switch continues exactly as the original would.

mod arch;
pub mod chip;
pub mod config;
mod control;
mod core;
pub mod counters;
mod followed;
mod head;
mod lineage;
mod observation;
pub mod packet;
pub mod pre;
mod prefetch_steps;
#[cfg(test)]
mod queue_tests;
pub mod random;
mod switch;
pub mod tm;
mod tm_buffer;
mod tm_ports;
mod tm_schedule;
mod tm_state;
mod trace;
mod trace_entries;
mod trace_values;
mod watch;

pub use self::arch::Workspace;
pub use self::core::{MAX_CONTROLLER_QUEUE, MAX_LOG_LINES};
pub use chip::Chip;
pub use config::{
    BufferConfig, ConfigError, DEFAULT_PASS_LIMIT, ExecChoice, MAX_PASS_LIMIT, MAX_WEIGHT,
    NATIVE_AFTER_PACKETS, PortConfig, QdepthUnit, RoundUnit, SchedulerConfig, ShaperConfig, SwitchConfig,
    TimestampUnit,
};
pub use control::Control;
pub use counters::{DropCause, Drops, PauseCounters, PortCounters, QueueCounters, SwitchCounters};
pub use followed::{FollowedStep, MAX_FOLLOWED};
pub use observation::Observation;
pub use p4cc_exec::{Array, ArrayKind, prefetch};
pub use packet::{MAX_PACKET_BYTES, Packet, PacketPool};
pub use pre::{CloneSession, MulticastGroup, Replica, ReplicationEngine, Target};
pub use random::Stream;
pub use switch::{MAX_GENERATED, Switch, Transmission};
pub use tm_buffer::PauseFrame;
pub use tm_state::link_bytes;
pub use trace::{MAX_TRACE_STEPS, Step, TraceEvent};
pub use trace_entries::{Difference, EntryText, TracedStep, explained};
pub use trace_values::{Changed, HeaderChange, ValueChange, digits};
pub use watch::{DropPlace, DropRow, KeptDigest, LogLine, Watch};
