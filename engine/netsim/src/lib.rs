//! A network in virtual time: events, links, hosts, and switches that run the P4 program.
//!
//! A [`NetworkSpec`] describes nodes, links, flows and limits. [`Network::build`] makes a network at time
//! zero whose switches wait for a program. The control plane loads program and entries
//! ([`Network::switch_mut`]). Then [`Network::run_to_end`] or [`run_many`] run it, and [`Network::results`]
//! gives tables and a summary.
//!
//! | folder | what it has | it never imports |
//! |---|---|---|
//! | `describe` | the description, resolved | `hosts`, `links`, `network`, `output`, `parallel` |
//! | `traffic` | models that say when which flow starts | `hosts`, `links`, `network`, `output`, `parallel` |
//! | `events` | the event queue and the order of events | any other folder |
//! | `hosts` | the two ends of flows, the interface | `parallel` |
//! | `links` | transmission, PFC (IEEE 802.1Qbb), deadlocks, faults | `parallel` |
//! | `output` | samples, tables, summary | `parallel` |
//! | `network` | the state of a run, dispatch of events | `parallel` |
//! | `parallel` | one run on several threads or in batches; many seeds | - |
//!
//! `run.rs` is the run loop; `latency.rs` has the latencies of controllers that others bring.
//!
//! What is absent: no clock, no socket, no log, no rule that marks, drops or routes (those are the P4
//! program's and the traffic manager's), and no back door into a table.

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
mod run;
pub mod traffic;

pub use describe::spec::{self, NetworkSpec};
pub use error::{RunError, SpecError};
pub use events::{Batching, Ties};
pub use hosts::{HostCounters, MAX_WAITING_INJECTED};
pub use latency::{Latency, LatencySpec};
pub use network::{Network, PacketBalance, Progress, Tap};
pub use output::{Capture, Column, FlowLook, Look, MAX_FOLLOWED, News, Results, Summary};
pub use output::{Table, TableSink, Trace};
pub use parallel::{MAX_JOBS, MAX_THREADS, run_many};
