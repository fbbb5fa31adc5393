//! What a run finds: samples, recorded events, tables and a summary.
//!
//! [`sampling`] tells the recorder ([`record`]) about flows, links and queues when a sample is due; [`stall`]
//! finds times without any delivery; [`results`] makes [tables](table) and the summary.
//!
//! Nothing here changes what happens in a run.

pub(crate) mod record;
pub(crate) mod results;
pub(crate) mod sampling;
pub(crate) mod stall;
pub(crate) mod table;
