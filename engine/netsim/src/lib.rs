//! Virtual-time network: event loop, links, hosts, switches that run the P4 program.
//!
//! A [`NetworkSpec`] describes nodes, links, flows and limits; [`Network::build`] makes a network at time
//! zero whose switches wait for a program. The control plane loads program and entries
//! ([`Network::switch_mut`]); then [`Network::run_to_end`] or [`run_many`] run it, and [`Network::results`]
//! gives tables and a summary.
//!
//! What is not here: no wall clock, no socket, no log, no rule that marks, drops or routes — that is the P4
//! program's and the traffic manager's — and no back door into a table.

mod agenda;
mod ahead;
mod applications;
mod barrier;
mod channel;
mod cut;
mod districts;
mod error;
mod event;
mod exec;
mod fabric;
mod faults;
mod flows;
mod host;
mod interfaces;
mod lists;
mod network;
mod node;
mod noise;
mod ordered;
mod paced;
mod parallel;
mod parts;
mod record;
mod results;
mod sampling;
pub mod spec;
mod stall;
mod table;
mod ties;
mod topology;
pub mod traffic;
mod turn;
mod turns;
mod wheel;

pub use districts::Turns;
pub use error::{RunError, SpecError};
pub use host::HostCounters;
pub use network::{Network, PacketBalance, Progress, Tap};
pub use parallel::{MAX_JOBS, run_many};
pub use parts::MAX_THREADS;
pub use results::{Results, Summary};
pub use spec::NetworkSpec;
pub use table::{Column, Table};
pub use ties::Ties;
