//! The language server.

use pyo3::prelude::*;

/// Serves one client on standard input and output; what broke the connection, if anything did.
#[pyfunction]
pub(crate) fn serve_lsp(py: Python<'_>) -> Option<String> {
    py.detach(p4cc_lsp::serve_stdio).err()
}
