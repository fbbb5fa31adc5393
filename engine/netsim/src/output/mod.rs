//! What a run has found: tables, a summary, files, and looks at a run on its way. Reads all components, changes
//! none.
//!
//! | file | what it has |
//! |---|---|
//! | `view` | the components of a run, to read |
//! | `balance` | packet conservation, and how far a run is |
//! | `sampling` | what the recorder reads when a sample is due |
//! | `results` | summary and most tables |
//! | `collectives`, `headers`, `pause_frames`, `program_events`, `user_packets` | other tables |
//! | `captures`, `trace` | files of what links carried; what switches did with followed packets |
//! | `look`, `news`, `followed` | for whoever watches a run: a bounded look, when something happened, what one switch did |

mod balance;
mod captures;
mod collectives;
pub(crate) mod followed;
mod headers;
mod look;
mod news;
mod pause_frames;
mod program_events;
mod results;
mod sampling;
mod trace;
mod user_packets;
mod view;

pub use balance::{PacketBalance, Progress};
pub use captures::Capture;
pub use followed::MAX_FOLLOWED;
pub use look::{FlowLook, Look};
pub use news::News;
pub(crate) use news::NewsWatch;
pub use results::{Results, Summary};
pub(crate) use sampling::sample;
pub use trace::Trace;
pub(crate) use view::View;
