//! Parallel discrete-event simulation: one run on several threads, and many runs beside each other.
//!
//! [`partitions`] runs the parts of one network on threads of their own with conservative synchronisation;
//! [`load_balancing`] chooses the partition of each switch; threads meet at a [`barrier`].
//! [`logical_processes`] handles one switch after the other within an epoch, and [`prefetch`] has the
//! processor fetch what the next ones need. [`replications`] runs one network with many seeds.
//!
//! Results never depend on anything in this folder, and no file of `hosts`, `links` or `output` imports it.

pub(crate) mod barrier;
pub(crate) mod load_balancing;
pub(crate) mod logical_processes;
pub(crate) mod partitions;
pub(crate) mod prefetch;
pub(crate) mod replications;
