//! Latencies between switches and a controller.

use p4cc_netsim::LatencySpec;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::errors;

/// The latencies of one way.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct Latency(Mutex<p4cc_netsim::Latency>);

#[pymethods]
impl Latency {
    #[new]
    fn py_new(py: Python<'_>, spec_json: &str, seed: u64, name: &str) -> PyResult<Self> {
        let spec = LatencySpec::from_json(spec_json).map_err(|error| errors::spec(py, &error))?;
        Ok(Self(Mutex::new(p4cc_netsim::Latency::new(spec, seed, name))))
    }

    fn draw_ps(&self) -> u64 {
        self.0.lock().draw().as_ps()
    }
}
