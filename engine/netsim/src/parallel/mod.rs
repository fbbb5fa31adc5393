//! Parallel discrete-event simulation: one run on several threads, and many runs beside each other.
//!
//! | file | what it has |
//! |---|---|
//! | `lookahead` | how far parts of a network may run ahead of each other, and when |
//! | `regions` | threads, batches, or neither |
//! | `partitions`, `synchroniser`, `barrier` | one run on several threads |
//! | `load_balancing` | which switch belongs to which partition |
//! | `logical_processes`, `batches`, `prefetch` | one thread, one switch after the other within an epoch |
//! | `replications` | one network with many seeds |
//!
//! Results never depend on anything in this folder. No other folder imports it.

mod barrier;
mod batches;
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
