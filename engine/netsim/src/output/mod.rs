//! What a run finds: samples, recorded events, tables and a summary.
//!
//! [`sampling`] tells the recorder ([`record`]) about flows, links and queues when a sample is due; [`stall`]
//! finds times without any delivery; [`pause_log`] keeps pause frames of PFC (IEEE 802.1Qbb);
//! [`received_log`] keeps what arrived that no flow took, [`headers_log`] the user's headers; [`captures`]
//! makes files of what [`link_log`] kept of a link; [`results`] makes [tables](table) and the summary.
//! [`stream`] lets full parts of long tables leave while the run goes on.
//!
//! [`collectives`] makes the tables of collectives. For whoever watches a run on its way, [`look`] reads what
//! is bounded, [`news`] says when something happened, and [`followed`] what one switch did with packets.
//!
//! Nothing here changes what happens in a run.

mod algorithm_state;
mod arrays;
mod captures;
mod collectives;
mod followed;
mod headers;
mod headers_log;
mod link_log;
mod look;
mod news;
mod own_packets;
mod packet_trace;
mod pause_frames;
mod pause_log;
mod pcapng;
mod program_events;
mod received_log;
mod record;
mod results;
mod sampling;
mod stall;
mod stream;
mod table;
mod trace;

pub use captures::Capture;
pub use followed::MAX_FOLLOWED;
pub(crate) use headers_log::{HeadersLog, Side};
pub(crate) use link_log::LinkLog;
pub use look::{FlowLook, Look};
pub use news::News;
pub(crate) use news::NewsWatch;
pub(crate) use packet_trace::PacketTrace;
pub(crate) use pause_log::PauseLog;
pub(crate) use received_log::{NoFlow, ReceivedLog};
pub(crate) use record::Recorder;
pub use results::{Results, Summary};
pub(crate) use stall::{Activity, StallDetector};
pub use stream::TableSink;
pub use table::{Column, Table};
pub use trace::Trace;
