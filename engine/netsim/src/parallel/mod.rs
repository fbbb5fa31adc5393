//! Parallel discrete-event simulation: one run on several threads, and many runs beside each other.
//!
//! Results never depend on anything in this folder. No other folder imports it.

mod barrier;
mod batches;
mod choice;
mod load_balancing;
mod logical_processes;
mod lookahead;
mod partitions;
mod prefetch;
mod regions;
mod replications;
mod synchroniser;

pub use partitions::MAX_THREADS;
pub use replications::{MAX_JOBS, run_many};
