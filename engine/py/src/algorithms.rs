//! The registry of sender algorithms and the check of a sender's configuration.

use p4cc_transport::SenderConfig;
use p4cc_units::Span;
use pyo3::prelude::*;

use crate::errors;

/// JSON list of the sender algorithms.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<String> {
    serde_json::to_string(p4cc_cc::registry()).map_err(|error| errors::json(py, "$", &error.to_string()))
}

/// Checks a sender's configuration.
#[pyfunction]
pub(crate) fn validate_sender(py: Python<'_>, config_json: &str) -> PyResult<()> {
    sender(py, config_json).map(|_| ())
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
    let mut json = serde_json::Deserializer::from_str(config_json);
    let config: SenderConfig = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        errors::json(py, if path == "." { "$" } else { &path }, &error.inner().to_string())
    })?;
    json.end().map_err(|error| errors::json(py, "$", &error.to_string()))?;
    config.validate().map_err(|error| errors::config(py, &error))?;
    Ok(config)
}
