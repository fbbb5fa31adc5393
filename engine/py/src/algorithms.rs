//! The registry of sender algorithms and the check of a sender's configuration.

use std::sync::Arc;

use p4cc_transport::SenderConfig;
use p4cc_transport::rdma::RdmaConfig;
use p4cc_units::{Rate, Span};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

use crate::errors;
use crate::own::{Failures, OwnAlgorithm, brought};

/// JSON list of the sender algorithms.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<String> {
    serde_json::to_string(p4cc_cc::registry()).map_err(|error| errors::json(py, "$", &error.to_string()))
}

/// Checks a window sender's configuration.
#[pyfunction]
#[pyo3(signature = (config_json, own = Vec::new()))]
pub(crate) fn validate_sender(py: Python<'_>, config_json: &str, own: Vec<Py<OwnAlgorithm>>) -> PyResult<()> {
    sender(py, config_json, &own, &Arc::new(Failures::default())).map(|_| ())
}

/// The exception of an algorithm of the user's, if there was one.
fn raised(py: Python<'_>, failures: &Failures) -> PyResult<()> {
    failures.take().map_or(Ok(()), |failure| Err(errors::algorithm(py, failure)))
}

/// Checks the configuration of an RDMA-like flow on a host whose interface has this rate.
#[pyfunction]
#[pyo3(signature = (config_json, line_rate_bps, own = Vec::new()))]
pub(crate) fn validate_rdma(
    py: Python<'_>,
    config_json: &str,
    line_rate_bps: u64,
    own: Vec<Py<OwnAlgorithm>>,
) -> PyResult<()> {
    let mut config: RdmaConfig = read(py, config_json)?;
    let failures = Arc::new(Failures::default());
    let own = brought(py, &own, &failures);
    let here = config.cc.bring_rate(&own).map_err(|error| error.within("cc"));
    let here = here.and_then(|()| config.receiver.as_mut().map_or(Ok(()), |one| one.bring_receiver(&own)));
    let checked = here.and_then(|()| config.validate(Rate::from_bps(line_rate_bps)));
    checked.map_err(|error| errors::config(py, &error))?;
    raised(py, &failures)
}

/// The sender's windows by round on an ideal path with this round-trip time.
#[pyfunction]
#[pyo3(signature = (config_json, rtt_ns, max_rounds, own = Vec::new()))]
pub(crate) fn windows_by_round(
    py: Python<'_>,
    config_json: &str,
    rtt_ns: u64,
    max_rounds: usize,
    own: Vec<Py<OwnAlgorithm>>,
) -> PyResult<Vec<f64>> {
    let failures = Arc::new(Failures::default());
    let config = sender(py, config_json, &own, &failures)?;
    let (initial, rtt) = (config.initial_window(), Span::from_ns(rtt_ns));
    let windows = p4cc_cc::windows_by_round(&config.cc, initial, rtt, max_rounds);
    raised(py, &failures)?;
    windows.map_err(|error| errors::config(py, &error))
}

/// A window sender's configuration, checked, with the users' algorithms in their places.
fn sender(
    py: Python<'_>,
    config_json: &str,
    own: &[Py<OwnAlgorithm>],
    failures: &Arc<Failures>,
) -> PyResult<SenderConfig> {
    let mut config: SenderConfig = read(py, config_json)?;
    let here = config.cc.bring(&brought(py, own, failures)).map_err(|error| error.within("cc"));
    here.and_then(|()| config.validate()).map_err(|error| errors::config(py, &error))?;
    raised(py, failures)?;
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
