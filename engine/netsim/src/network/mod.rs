//! The network in one run: a facade over its components, and the dispatch of events to them.

mod dispatch;
mod inject;
mod results;
mod run;
mod state;

pub(crate) use run::Control;
pub use run::{RealClock, RunOptions};
pub(crate) use state::Blueprint;
pub use state::Network;
