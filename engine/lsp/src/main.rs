//! The language server alone, for who builds it without Python: `p4cc lsp` runs the same.

use std::process::ExitCode;

fn main() -> ExitCode {
    match p4cc_lsp::serve_stdio() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
