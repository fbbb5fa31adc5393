//! The language server, and the style of sources.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Serves one client on standard input and output; what broke the connection, if anything did.
#[pyfunction]
pub(crate) fn serve_lsp(py: Python<'_>) -> Option<String> {
    py.detach(p4cc_lsp::serve_stdio).err()
}

/// P4 source in the style.
#[pyfunction]
pub(crate) fn format_p4(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| p4cc_lsp::format::format(text)).map_err(PyValueError::new_err)
}
