//! Traffic models: what they are made of in the description, and what they do in a run.
//!
//! A model that draws numbers has streams of its own, named after it, so that one model never shifts
//! another's numbers and every sender algorithm meets the same traffic. Poisson arrivals are drawn when a run
//! is made ([`arrivals`]); the flows of pairs of hosts and incasts at random times likewise ([`pairs`],
//! [`bursts`]); barrier rounds depend on what the network delivers and are a state machine that the event
//! loop feeds ([`rounds`]).

pub(crate) mod arrivals;
pub(crate) mod bursts;
pub(crate) mod deadline;
mod gap;
mod matrix;
mod model;
pub(crate) mod pairs;
pub(crate) mod rounds;
mod size;

pub use arrivals::ArrivalsSpec;
pub use bursts::BurstsSpec;
pub use deadline::DeadlineSpec;
pub use gap::{GapPoint, GapSpec};
pub use matrix::{MatrixSpec, PairSpec, SizeClass};
pub use pairs::{PairsSpec, Pattern};
pub use rounds::RoundsSpec;
pub use size::{CdfPoint, SizeSpec};
