//! What is kept of a run while it lasts: samples, events, logs of single nodes and links, detectors of stalls
//! and deadlocks. Nothing here knows a node, and nothing changes what nodes do.

mod algorithm_state;
mod arrays;
mod bounded;
mod deadlocks;
mod headers_log;
mod link_log;
mod observers;
mod packet_trace;
mod pcapng;
mod received_log;
mod recorder;
pub(crate) mod schema;
mod stall;
mod stream;
mod table;

pub(crate) use bounded::Log;
pub(crate) use deadlocks::{Deadlock, WaitGraph};
pub(crate) use headers_log::{ArrivedHeaders, HeadersLog, Side};
pub(crate) use link_log::{LinkLog, Row as LinkRow};
pub(crate) use observers::Observers;
pub use observers::Tap;
pub(crate) use packet_trace::{FollowedPacket, LinkStep, PacketTrace};
pub(crate) use pcapng::{Captured, Direction, Interface, PcapNg, STATISTICS_BYTES, packet_bytes};
pub(crate) use received_log::{NoFlow, Received, ReceivedLog};
pub(crate) use recorder::{Due, Recorder};
pub use schema::TABLES;
pub(crate) use stall::Activity;
pub use stream::TableSink;
pub use table::{Column, ColumnSpec, ColumnType, Numbers, Table, TableSpec, Texts};
