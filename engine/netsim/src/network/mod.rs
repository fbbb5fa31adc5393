//! The network in one run: a facade over its components, and the dispatch of events to them.
//!
//! | file | what it has |
//! |---|---|
//! | `state` | [`Network`]: what a run is made of, and how one begins |
//! | `dispatch` | which handler an event goes to |
//! | `run` | the run loop, and when it stops |
//! | `inject` | packets that the caller injects between two steps |
//! | `results` | what a run has found, and followed packets |

mod dispatch;
mod inject;
mod results;
mod run;
mod state;

pub(crate) use run::Control;
pub use run::RunOptions;
pub(crate) use state::Blueprint;
pub use state::Network;
