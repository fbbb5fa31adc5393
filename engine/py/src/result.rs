//! Results of a run as Python values: numbers in a dict, tables as Arrow's arrays.

use p4cc_netsim::{Results, Table};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

use crate::columns::EngineTable;

/// Tables and summary of one run.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct RunResult {
    results: Results,
}

impl RunResult {
    pub(crate) fn new(results: Results) -> Self {
        Self { results }
    }

    fn find(&self, name: &str) -> PyResult<&Table> {
        let known = || self.results.tables.iter().map(|table| table.spec.name).collect::<Vec<_>>().join(", ");
        self.results
            .table(name)
            .ok_or_else(|| PyKeyError::new_err(format!("there is no table {name:?}; there are {}", known())))
    }
}

#[pymethods]
impl RunResult {
    #[getter]
    fn seed(&self) -> u64 {
        self.results.summary.seed
    }

    #[getter]
    fn tables(&self) -> Vec<&'static str> {
        self.results.tables.iter().map(|table| table.spec.name).collect()
    }

    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let summary = PyDict::new(py);
        let json = serde_json::to_value(&self.results.summary)
            .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
        for (key, value) in json.as_object().into_iter().flatten() {
            set_number(&summary, key, value)?;
        }
        Ok(summary)
    }

    fn table(&self, name: &str) -> PyResult<EngineTable> {
        self.find(name).map(|table| EngineTable(table.clone()))
    }

    /// Node, port and pcapng file of each captured end of a link.
    fn captures<'py>(&self, py: Python<'py>) -> Vec<(&str, u32, Bound<'py, PyBytes>)> {
        let captures = self.results.captures.iter();
        captures.map(|one| (one.node.as_str(), one.port, PyBytes::new(py, &one.bytes))).collect()
    }

    /// What was kept of packets that are followed: lines of JSON, packets sent by each sender that was asked
    /// for, and how many packets and steps were left out.
    fn trace(&self) -> Option<(Vec<&str>, Vec<u64>, u64, u64)> {
        let trace = self.results.trace.as_ref()?;
        let lines = trace.lines.iter().map(String::as_str).collect();
        Some((lines, trace.sent.clone(), trace.packets_left_out, trace.steps_left_out))
    }
}

fn set_number(summary: &Bound<'_, PyDict>, key: &str, value: &Value) -> PyResult<()> {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => summary.set_item(key, number),
            (None, Some(number)) => summary.set_item(key, number),
            (None, None) => summary.set_item(key, number.as_f64()),
        },
        Value::String(text) => summary.set_item(key, text),
        Value::Bool(value) => summary.set_item(key, value),
        Value::Null => summary.set_item(key, None::<u64>),
        other => summary.set_item(key, other.to_string()),
    }
}
