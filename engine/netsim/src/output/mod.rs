//! What a run has found: tables, a summary, files, and looks at a run on its way. Reads all components,
//! changes none. Pauses of PFC (IEEE 802.1Qbb) are among the tables.

mod balance;
mod captures;
mod collectives;
mod headers;
mod jobs;
mod look;
mod news;
mod pause_frames;
mod program_events;
mod results;
mod sampling;
mod slow_receivers;
pub(crate) mod trace;
mod user_packets;
mod view;
mod watchdog;

pub use balance::{PacketBalance, Progress};
pub use captures::Capture;
pub use look::{FlowLook, Look};
pub use news::News;
pub(crate) use news::NewsWatch;
pub use results::{Results, Summary};
pub(crate) use sampling::sample;
pub use trace::Trace;
pub(crate) use view::View;
