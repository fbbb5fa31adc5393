//! What is kept of a run while it lasts. Nothing here knows a node, and nothing changes what nodes do.
//!
//! | file | what it has |
//! |---|---|
//! | `observers` | all that watches a run |
//! | `recorder`, `arrays`, `algorithm_state` | samples of flows and queues, of programs and of algorithms |
//! | `stall`, `deadlocks` | times without any delivery; cycles of paused links |
//! | `packet_trace` | packets that are followed |
//! | `pause_log`, `received_log`, `headers_log`, `link_log` | logs of single nodes and links |
//! | `table`, `stream`, `pcapng` | tables by column, their parts that leave early, capture files |

mod algorithm_state;
mod arrays;
mod deadlocks;
mod headers_log;
mod link_log;
mod observers;
mod packet_trace;
mod pause_log;
mod pcapng;
mod received_log;
mod recorder;
mod stall;
mod stream;
mod table;

pub(crate) use deadlocks::{Deadlock, WaitGraph};
pub(crate) use headers_log::{ArrivedHeaders, HeadersLog, Side};
pub(crate) use link_log::{LinkLog, Row as LinkRow};
pub(crate) use observers::Observers;
pub use observers::Tap;
pub(crate) use packet_trace::{FollowedPacket, LinkStep, PacketTrace};
pub(crate) use pause_log::PauseLog;
pub(crate) use pcapng::{Captured, Direction, Interface, PcapNg, STATISTICS_BYTES, packet_bytes};
pub(crate) use received_log::{NoFlow, Received, ReceivedLog};
pub(crate) use recorder::{Due, Recorder};
pub(crate) use stall::Activity;
pub use stream::TableSink;
pub use table::{Column, Table};
