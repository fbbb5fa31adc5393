//! Tables that leave the engine while a run goes on: parts of them, in the order of their rows.
//!
//! Only what is sampled or noted event by event leaves early, since no row of it changes once it is there.
//! A part leaves as soon as it has enough rows, so that parts depend on rows alone, not on time or threads.
//! What is left at the end of a run stands in its results, behind the parts.

use core::fmt;
use std::sync::Arc;

use crate::record::table::{Columns, Row, Table};

/// Takes parts of tables: `windows`, `algorithm_state`, `queues`, `events`, `rtts` and the samples of the
/// programs' state.
pub trait TableSink: Send + Sync {
    /// Takes the next part of a table, while the run waits.
    ///
    /// # Errors
    /// Why it cannot be kept: the run ends, and nothing more is brought.
    fn take(&self, part: Table) -> Result<(), String>;

    /// Rows after which a part leaves.
    fn part_rows(&self) -> usize;
}

/// Where parts go, if anywhere.
#[derive(Clone, Default)]
pub(crate) struct Stream {
    sink: Option<Arc<dyn TableSink>>,
    part_rows: usize,
    /// Why a part was not taken.
    failure: Option<String>,
}

impl Stream {
    pub fn set(&mut self, sink: Option<Arc<dyn TableSink>>) {
        let part_rows = sink.as_ref().map_or(0, |sink| sink.part_rows());
        *self = Self { sink, part_rows, failure: None };
    }

    /// Whether a table of so many rows is to hand them over.
    #[inline]
    pub const fn wants(&self, rows: usize) -> bool {
        rows >= self.part_rows && self.sink.is_some()
    }

    pub fn take(&mut self, part: Table) {
        // After a failure rows go nowhere: the run is about to end, and memory stays as it is.
        if let (Some(sink), None) = (&self.sink, &self.failure) {
            self.failure = sink.take(part).err();
        }
    }

    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("failure", &self.failure).finish_non_exhaustive()
    }
}

/// Room for the rows of each table, and where full parts of tables go.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    max_rows: usize,
    pub stream: Stream,
    /// Rows left out because of `max_rows`.
    pub left_out: u64,
}

impl Room {
    pub fn new(max_rows: usize) -> Self {
        Self { max_rows, stream: Stream::default(), left_out: 0 }
    }

    /// Whether a table of so many rows has room for another one, which is left out if not.
    pub fn has_any(&mut self, rows: usize) -> bool {
        let has_any = rows < self.max_rows;
        self.left_out += u64::from(!has_any);
        has_any
    }
}

/// Rows of one table, without those that have left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series<C> {
    pub rows: C,
    left: usize,
}

impl<C: Columns> Series<C> {
    /// Adds a row, if there is room; whether there was.
    pub fn add(&mut self, room: &mut Room, row: impl Row<Columns = C>) -> bool {
        let has_room = room.has_any(self.left + self.rows.len());
        if has_room {
            row.push_into(&mut self.rows);
        }
        has_room
    }

    /// Adds a row of a table whose parts leave early.
    pub fn stream(&mut self, room: &mut Room, row: impl Row<Columns = C>) {
        if self.add(room, row) && room.stream.wants(self.rows.len()) {
            self.left += self.rows.len();
            room.stream.take(core::mem::take(&mut self.rows).into_table());
        }
    }
}
