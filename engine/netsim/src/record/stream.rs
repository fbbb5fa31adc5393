//! Tables that leave the engine while a run goes on: parts of them, in the order of their rows.
//!
//! Only what is sampled or noted event by event leaves early, since no row of it changes once it is there.
//! A part leaves as soon as it has enough rows, so that parts depend on rows alone, not on time or threads.
//! What is left at the end of a run stands in its results, behind the parts.

use core::fmt;
use std::sync::Arc;

use crate::record::table::Table;

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

/// Defines rows of a table by column; the columns are the fields, the time among them.
macro_rules! rows {
    ($name:literal, $rows:ident { $($column:ident: $type:ty),* $(,)? }) => {
        #[derive(Clone, Debug, Default)]
        struct $rows {
            $($column: Vec<$type>,)*
        }

        impl Rows for $rows {
            fn len(&self) -> usize {
                self.time_ns.len()
            }

            fn into_table(self) -> Table {
                Table { name: $name, columns: vec![$((stringify!($column), self.$column.into())),*] }
            }
        }
    };
}
pub(super) use rows;

/// Rows that make a table.
pub(crate) trait Rows: Default {
    fn len(&self) -> usize;
    fn into_table(self) -> Table;
}

/// Rows of one table, without those that have left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series<R> {
    pub rows: R,
    left: usize,
}

impl<R: Rows> Series<R> {
    /// Rows so far, those that have left among them.
    #[inline]
    pub fn len(&self) -> usize {
        self.left + self.rows.len()
    }

    /// Hands the rows over, if there are enough of them.
    #[inline]
    pub fn hand_over(&mut self, stream: &mut Stream) {
        if stream.wants(self.rows.len()) {
            self.left += self.rows.len();
            stream.take(core::mem::take(&mut self.rows).into_table());
        }
    }
}
