//! Python bindings of the engine; the only crate that names pyo3.
