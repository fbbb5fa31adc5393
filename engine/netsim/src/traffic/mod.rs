//! Traffic models: their description, and the flows that they give a run.
//!
//! | file | model | when its flows are drawn |
//! |---|---|---|
//! | `arrivals` | Poisson arrivals at each source | before the run |
//! | `pairs`, `matrix`, `gap` | pairs of hosts with their own intensity, sizes and gaps | before the run |
//! | `bounds` | what hosts' links carry, a bound on `pairs` | - |
//! | `bursts` | incasts at random times | before the run |
//! | `closed_loop` | a fixed number of flows per source | before the run, their starts in it |
//! | `rounds` | barrier rounds of requests and answers | in the run, by what the network delivers |
//! | `collective` | steps that wait for the steps before | in the run, by what the network delivers |
//! | `jobs` | operations that wait for others | in the run, by what the network delivers |
//! | `packets` | packets of the user's own, of no flow | nothing is drawn |
//! | `size`, `quantity`, `deadline`, `model` | what several models use | - |
//!
//! A model draws from streams of its own, named after it. So no model changes another's numbers, and every
//! sender algorithm meets the same traffic.

pub(crate) mod arrivals;
mod bounds;
pub(crate) mod bursts;
pub(crate) mod closed_loop;
pub(crate) mod collective;
pub(crate) mod deadline;
mod gap;
pub(crate) mod jobs;
mod matrix;
mod model;
pub(crate) mod packets;
pub(crate) mod pairs;
mod quantity;
pub(crate) mod rounds;
mod size;

pub use arrivals::ArrivalsSpec;
pub use bursts::BurstsSpec;
pub use closed_loop::ClosedLoopSpec;
pub use collective::{CollectiveSpec, Operation, Schedule};
pub use deadline::{DeadlineChangeSpec, DeadlineSpec};
pub use gap::{GapPoint, GapSpec};
pub use jobs::{JobSpec, OperationSpec, Work};
pub use matrix::{MatrixSpec, PairSpec, SizeClass};
pub use packets::{FrameSpec, PacketsSpec};
pub use pairs::{PairsSpec, Pattern};
pub use quantity::QuantitySpec;
pub use rounds::RoundsSpec;
pub use size::{CdfPoint, SizeSpec};
