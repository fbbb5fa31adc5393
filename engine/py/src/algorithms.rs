//! The registry of sender algorithms and the check of a sender's configuration.

use p4cc_transport::SenderConfig;
use p4cc_transport::rdma::RdmaConfig;
use p4cc_units::{Rate, Span};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

use crate::errors;

/// JSON list of the sender algorithms.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<String> {
    let rows: Vec<_> = p4cc_cc::registry().iter().chain(p4cc_cc::rate_registry()).collect();
    serde_json::to_string(&rows).map_err(|error| errors::json(py, "$", &error.to_string()))
}

/// Checks a window sender's configuration.
#[pyfunction]
pub(crate) fn validate_sender(py: Python<'_>, config_json: &str) -> PyResult<()> {
    sender(py, config_json).map(|_| ())
}

/// Checks the configuration of an RDMA-like flow on a host whose interface has this rate.
#[pyfunction]
pub(crate) fn validate_rdma(py: Python<'_>, config_json: &str, line_rate_bps: u64) -> PyResult<()> {
    let config: RdmaConfig = read(py, config_json)?;
    config.validate(Rate::from_bps(line_rate_bps)).map_err(|error| errors::config(py, &error))
}

/// The sender's windows by round on an ideal path with this round-trip time.
#[pyfunction]
pub(crate) fn windows_by_round(
    py: Python<'_>,
    config_json: &str,
    rtt_ns: u64,
    max_rounds: usize,
) -> PyResult<Vec<f64>> {
    let config = sender(py, config_json)?;
    p4cc_cc::windows_by_round(&config.cc, config.initial_window(), Span::from_ns(rtt_ns), max_rounds)
        .map_err(|error| errors::config(py, &error))
}

fn sender(py: Python<'_>, config_json: &str) -> PyResult<SenderConfig> {
    let config: SenderConfig = read(py, config_json)?;
    config.validate().map_err(|error| errors::config(py, &error))?;
    Ok(config)
}

fn read<T: DeserializeOwned>(py: Python<'_>, config_json: &str) -> PyResult<T> {
    let mut json = serde_json::Deserializer::from_str(config_json);
    let config = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        errors::json(py, if path == "." { "$" } else { &path }, &error.inner().to_string())
    })?;
    json.end().map_err(|error| errors::json(py, "$", &error.to_string()))?;
    Ok(config)
}
