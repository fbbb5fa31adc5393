//! Python bindings of the engine; the only crate that names pyo3.
//!
//! Invariants: thin, every decision is made below; errors become Python exceptions
//! in one file ([`errors`]); a call that may take long releases the interpreter's
//! lock, and Ctrl-C ends it. `p4cc/_engine.pyi` describes what is here.

mod agent;
mod algorithms;
mod calls;
mod columns;
mod compile;
mod errors;
mod frames;
mod guard;
mod interrupt;
mod latency;
mod look;
mod lsp;
mod network;
mod own;
mod parser;
mod result;
mod stf;
mod stream;

/// The native module `p4cc._engine`.
#[pyo3::pymodule]
mod _engine {
    #[pymodule_export]
    use crate::agent::run_agent;
    #[pymodule_export]
    use crate::algorithms::{algorithms, validate_rdma, validate_sender, windows_by_round};
    #[pymodule_export]
    use crate::calls::P4RuntimeCalls;
    #[pymodule_export]
    use crate::columns::{EngineTable, result_tables};
    #[pymodule_export]
    use crate::compile::{Diagnostic, Program, compile_p4, compile_p4_text};
    #[pymodule_export]
    use crate::errors::{
        AlgorithmError, CallError, CompileError, EngineError, RunError, ServerError, SpecError,
    };
    #[pymodule_export]
    use crate::frames::thread_frames;
    #[pymodule_export]
    use crate::guard::Guard;
    #[pymodule_export]
    use crate::latency::Latency;
    #[pymodule_export]
    use crate::look::Look;
    #[pymodule_export]
    use crate::lsp::{format_p4, serve_lsp};
    #[pymodule_export]
    use crate::network::{Network, network_schema};
    #[pymodule_export]
    use crate::own::maths::{maths_cbrt, maths_exp, maths_log, maths_pow};
    #[pymodule_export]
    use crate::own::script::{script_rate, script_window};
    #[pymodule_export]
    use crate::own::{
        Arrival, Hop, OwnAlgorithm, PacedAck, RateBase, ReceiverBase, ScriptedReceiver, WindowAck, WindowBase,
    };
    #[pymodule_export]
    use crate::result::RunResult;
    #[pymodule_export]
    use crate::stf::{StfProblem, StfReport};
}
