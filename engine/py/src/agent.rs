//! A host agent whose senders may run algorithms in Python.

use std::path::PathBuf;
use std::sync::Arc;

use p4cc_agent::launch::Launch;
use p4cc_agent::plan::Plan;
use p4cc_units::Rate;
use pyo3::prelude::*;

use crate::errors;
use crate::own::{Failures, OwnAlgorithm, brought};

/// Runs the flows of one host of a plan (JSON); whether all are complete when it ends.
///
/// The interpreter's lock is held all the time: nothing else is to run in this process.
#[pyfunction]
#[pyo3(signature = (plan_json, host, own, *, metrics, start_at_ns, duration_ms, linger_ms, sample_ms = None, line_rate_bps = None))]
#[allow(clippy::too_many_arguments, reason = "named arguments of a Python function")]
pub(crate) fn run_agent(
    py: Python<'_>,
    plan_json: &str,
    host: &str,
    own: Vec<Py<OwnAlgorithm>>,
    metrics: PathBuf,
    start_at_ns: u64,
    duration_ms: u64,
    linger_ms: u64,
    sample_ms: Option<u64>,
    line_rate_bps: Option<u64>,
) -> PyResult<bool> {
    let failures = Arc::new(Failures::default());
    let refused = |cause: String| errors::server(py, &cause, "");
    let mut plan = Plan::read(plan_json).map_err(|error| refused(error.to_string()))?;
    plan.bring(&brought(py, &own, &failures)).map_err(|error| refused(error.to_string()))?;
    let mut host = plan.host(host).map_err(|error| refused(error.to_string()))?;
    host.line_rate = line_rate_bps.map(Rate::from_bps).or(host.line_rate);
    let launch = Launch {
        metrics: Some(metrics),
        sample_ms,
        duration_ms: Some(duration_ms),
        start_at_ns: Some(start_at_ns),
        linger_ms,
        ..Launch::default()
    };
    let ran = launch.run(host, None, failures.flag());
    if let Some(failure) = failures.take() {
        return Err(errors::algorithm(py, failure));
    }
    ran.map_err(refused)
}
