//! A network in virtual time: events, links, hosts, and switches that run the P4 program.
//!
//! A [`NetworkSpec`] describes nodes, links, flows and limits. [`Network::build`] makes a network at time
//! zero whose switches wait for a program. The control plane loads program and entries
//! ([`Network::switch_mut`]). Then [`Network::run`] or [`run_many`] run it, and [`Network::results`] gives
//! tables and a summary.
//!
//! Folders import only those above them in this table; a component's fields are private to its folder.
//!
//! | folder | what it has |
//! |---|---|
//! | `traffic`, `describe` | models that say when which flow starts; the description, resolved |
//! | `events` | the schedule: virtual time, the event queue, the order of events |
//! | `record` | what observers keep while a run lasts |
//! | `links` | component: what is sent into links, on its way, and lost |
//! | `context.rs` | what hosts and switches may touch besides their own state, and the only way to send |
//! | `hosts` | component: the two ends of flows, the interface |
//! | `switches` | component: switches with their ports, PFC (IEEE 802.1Qbb) |
//! | `output` | tables and summary |
//! | `network` | the facade: components of a run, dispatch, run loop |
//! | `parallel` | one run on several threads or in batches; many seeds |
//!
//! `latency.rs` has the latencies of controllers that others bring.
//!
//! What is absent: no clock, no socket, no log, no rule that marks, drops or routes (those are the P4
//! program's and the traffic manager's), and no back door into a table.

mod context;
mod describe;
mod error;
mod events;
mod hosts;
mod latency;
mod links;
mod network;
mod output;
mod parallel;
mod random;
mod record;
mod switches;
pub mod traffic;

pub use describe::spec::{self, NetworkSpec};
pub use error::{RunError, SpecError};
pub use events::Batching;
pub use hosts::{HostCounters, MAX_WAITING_INJECTED};
pub use latency::{Latency, LatencySpec};
pub use network::{Network, RealClock, RunOptions};
pub use output::{Capture, FlowLook, Look, News, PacketBalance, Progress, Results, Summary, Trace};
pub use parallel::{MAX_JOBS, MAX_THREADS, run_many};
pub use record::{Column, ColumnSpec, ColumnType, Numbers, TABLES, Table, TableSink, TableSpec, Tap, Texts};
