//! The registry of sender algorithms and the check of a sender's configuration.

use p4cc_transport::SenderConfig;
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
    let mut json = serde_json::Deserializer::from_str(config_json);
    let config: SenderConfig = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        errors::json(py, if path == "." { "$" } else { &path }, &error.inner().to_string())
    })?;
    json.end().map_err(|error| errors::json(py, "$", &error.to_string()))?;
    config.validate().map_err(|error| errors::config(py, &error))
}
