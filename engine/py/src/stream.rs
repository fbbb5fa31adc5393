//! Parts of tables that leave a run, handed to a function of Python's.

use p4cc_netsim::{Table, TableSink};
use pyo3::prelude::*;

use crate::columns::EngineTable;

/// A function that takes the name of a table and its next part.
pub(crate) struct PythonSink {
    pub function: Py<PyAny>,
    pub part_rows: usize,
}

impl TableSink for PythonSink {
    /// On the thread of the run, which may hold the network's lock: whoever waits for that one does not hold
    /// the interpreter's.
    fn take(&self, part: Table) -> Result<(), String> {
        Python::attach(|py| {
            let taken = self.function.bind(py).call1((part.spec.name, EngineTable(part)));
            taken.map(|_| ()).map_err(|error| error.to_string())
        })
    }

    fn part_rows(&self) -> usize {
        self.part_rows
    }
}
