//! What a run finds: samples, recorded events, tables and a summary.
//!
//! [`sampling`] tells the recorder ([`record`]) about flows, links and queues when a sample is due; [`stall`]
//! finds times without any delivery; [`pause_log`] keeps pause frames of PFC (IEEE 802.1Qbb);
//! [`own_packets`] keeps what arrived of packets of no flow; [`results`]
//! makes [tables](table) and the summary.
//!
//! Nothing here changes what happens in a run.

mod own_packets;
mod pause_frames;
mod pause_log;
mod record;
mod results;
mod sampling;
mod stall;
mod table;

pub(crate) use own_packets::{NoFlow, ReceivedLog};
pub(crate) use pause_log::PauseLog;
pub(crate) use record::Recorder;
pub use results::{Results, Summary};
pub(crate) use stall::{Activity, StallDetector};
pub use table::{Column, Table};
