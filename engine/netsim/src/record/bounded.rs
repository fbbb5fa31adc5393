//! A bounded log of one node. Each node keeps its own, so that threads need no common order while they run.

/// The first rows of something, up to a number.
#[derive(Clone, Debug)]
pub(crate) struct Log<R> {
    max_rows: u64,
    pub rows: Vec<R>,
    /// Rows that did not fit.
    pub left_out: u64,
}

impl<R> Log<R> {
    pub const fn new(max_rows: u64) -> Self {
        Self { max_rows, rows: Vec::new(), left_out: 0 }
    }

    /// Adds a row, if there is room.
    pub fn add(&mut self, row: impl FnOnce() -> R) {
        if (self.rows.len() as u64) < self.max_rows {
            self.rows.push(row());
        } else {
            self.left_out += 1;
        }
    }
}
