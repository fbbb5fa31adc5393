//! Virtual-time network: event loop, links, hosts, switches that run the P4 program.
//!
//! A [`NetworkSpec`] describes nodes, links, flows and limits; [`Network::build`] makes a network at time
//! zero whose switches wait for a program. The control plane loads program and entries
//! ([`Network::switch_mut`]); then [`Network::run_to_end`] or [`run_many`] run it, and [`Network::results`]
//! gives tables and a summary.
//!
//! What is not here: no wall clock, no socket, no log, no rule that marks, drops or routes — that is the P4
//! program's and the traffic manager's — and no back door into a table.

mod describe;
mod error;
mod events;
mod hosts;
mod links;
mod network;
mod output;
mod parallel;
pub mod traffic;

pub use describe::spec::{self, NetworkSpec};
pub use error::{RunError, SpecError};
pub use events::tie_break::Ties;
pub use hosts::host::HostCounters;
pub use network::state::{Network, PacketBalance, Progress, Tap};
pub use output::results::{Results, Summary};
pub use output::table::{Column, Table};
pub use parallel::logical_processes::Turns;
pub use parallel::partitions::MAX_THREADS;
pub use parallel::replications::{MAX_JOBS, run_many};
