//! Parts of tables that leave a run, handed to a function of Python's.

use p4cc_netsim::{Table, TableSink};
use pyo3::prelude::*;

use crate::result::{columns, texts};

/// A function that takes the name of a table, the columns of its next part and the texts of those that hold
/// places of texts.
pub(crate) struct PythonSink {
    pub function: Py<PyAny>,
    pub part_rows: usize,
}

impl TableSink for PythonSink {
    /// On the thread of the run, which may hold the network's lock: whoever waits for that one does not hold
    /// the interpreter's.
    fn take(&self, part: Table) -> Result<(), String> {
        Python::attach(|py| {
            let taken = columns(py, &part).and_then(|columns| {
                let texts = texts(py, &part)?;
                // The columns are copies: what Python does with them need not wait for these.
                let name = part.name;
                drop(part);
                self.function.bind(py).call1((name, columns, texts))
            });
            taken.map(|_| ()).map_err(|error| error.to_string())
        })
    }

    fn part_rows(&self) -> usize {
        self.part_rows
    }
}
