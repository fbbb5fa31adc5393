//! Parallel discrete-event simulation: one run on several threads, and many runs beside each other.
//!
//! | file | what it has |
//! |---|---|
//! | `lookahead` | how far parts of a network may run ahead of each other, and when |
//! | `partitions`, `synchroniser`, `barrier` | one run on several threads |
//! | `load_balancing` | which switch belongs to which partition |
//! | `logical_processes`, `batches`, `prefetch` | one thread, one switch after the other within an epoch |
//! | `replications` | one network with many seeds |
//!
//! Results never depend on anything in this folder. No file of `hosts`, `links` or `output` imports it.

pub(crate) mod barrier;
pub(crate) mod batches;
pub(crate) mod load_balancing;
pub(crate) mod logical_processes;
pub(crate) mod lookahead;
pub(crate) mod partitions;
pub(crate) mod prefetch;
pub(crate) mod replications;
pub(crate) mod synchroniser;
