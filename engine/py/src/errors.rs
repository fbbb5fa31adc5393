//! The engine's errors as Python exceptions: each carries `place`, `cause` and `remedy`.

#![allow(missing_docs, reason = "the exceptions are documented in the stub")]

use p4cc_compile::{Lacking, known_architectures};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{PyTypeInfo, create_exception};

use crate::own::Failure;

create_exception!(_engine, EngineError, PyException);
create_exception!(_engine, CompileError, EngineError);
create_exception!(_engine, SpecError, EngineError);
create_exception!(_engine, RunError, EngineError);
create_exception!(_engine, ServerError, EngineError);
create_exception!(_engine, AlgorithmError, EngineError);
create_exception!(_engine, CallError, PyException);

/// An exception of type `E`; `message` is what `str()` gives.
fn raise<E: PyTypeInfo>(py: Python<'_>, message: String, place: &str, cause: &str, remedy: &str) -> PyErr {
    let error = PyErr::new::<E, _>(message);
    let value = error.value(py);
    for (name, text) in [("place", place), ("cause", cause), ("remedy", remedy)] {
        if let Err(failed) = value.setattr(name, text) {
            return failed;
        }
    }
    error
}

/// A description that cannot be used.
pub(crate) fn spec(py: Python<'_>, error: &p4cc_netsim::SpecError) -> PyErr {
    raise::<SpecError>(py, error.to_string(), &error.path, &error.cause, &error.remedy)
}

/// A sender's configuration that cannot be used.
pub(crate) fn config(py: Python<'_>, error: &p4cc_cc::ConfigError) -> PyErr {
    raise::<SpecError>(py, error.to_string(), &error.place, &error.cause, &error.remedy)
}

/// JSON that is not a configuration.
pub(crate) fn json(py: Python<'_>, path: &str, cause: &str) -> PyErr {
    let remedy = "see the list of algorithms for names and parameters";
    raise::<SpecError>(py, format!("{path}: {cause}; {remedy}"), path, cause, remedy)
}

/// A run that ended before its time.
pub(crate) fn run(py: Python<'_>, error: &p4cc_netsim::RunError) -> PyErr {
    match error {
        p4cc_netsim::RunError::Spec(error) => spec(py, error),
        error => raise::<RunError>(py, error.to_string(), "", &error.to_string(), ""),
    }
}

/// An exception of a user's algorithm, which is the cause of the one that is raised.
pub(crate) fn algorithm(py: Python<'_>, failure: Failure) -> PyErr {
    let Failure { algorithm, of, flow, at, .. } = &failure;
    let place = format!("{algorithm}, {of} {} at {} ns", flow.flow_id, at.as_ns());
    let cause = failure.error.to_string();
    let remedy = "correct the class";
    let error = raise::<AlgorithmError>(py, format!("{place}: {cause}; {remedy}"), &place, &cause, remedy);
    error.set_cause(py, Some(failure.error));
    error
}

/// The server, or a call to it at the wrong time.
pub(crate) fn server(py: Python<'_>, cause: &str, remedy: &str) -> PyErr {
    let message = if remedy.is_empty() { cause.to_owned() } else { format!("{cause}; {remedy}") };
    raise::<ServerError>(py, message, "", cause, remedy)
}

/// A call of the P4Runtime service that was refused: the parts of its gRPC status.
pub(crate) fn call(py: Python<'_>, code: i32, message: &str, details: &[u8]) -> PyErr {
    let details = PyBytes::new(py, details).unbind();
    PyErr::new::<CallError, _>((code, message.to_owned(), details))
}

/// A program with errors was asked for what only a good one has.
pub(crate) fn not_compiled(py: Python<'_>, name: &str, rendered: &str) -> PyErr {
    let remedy = "correct the program; its diagnostics say where";
    raise::<CompileError>(py, format!("{name} does not compile\n{rendered}"), name, rendered, remedy)
}

/// A program was asked for the schema of BF Runtime, which it has none of.
pub(crate) fn no_schema(py: Python<'_>, name: &str, cause: &str) -> PyErr {
    let remedy = "give a program for the chip, with `#include <tna.p4>`";
    raise::<CompileError>(py, format!("{name}: {cause}; {remedy}"), name, cause, remedy)
}

/// A program, or a part of it, that BMv2 JSON cannot express.
pub(crate) fn not_written(py: Python<'_>, name: &str, error: &p4cc_bmv2json::WriteError) -> PyErr {
    let cause = format!("{}: {}", error.place, error.cause);
    let text = format!("{name}: BMv2 JSON cannot express {cause}; {}", error.remedy);
    raise::<CompileError>(py, text, name, &cause, error.remedy)
}

/// A source without `main`, or for another architecture, was asked for what only a program that runs has.
pub(crate) fn lacking(py: Python<'_>, name: &str, lacking: &Lacking) -> PyErr {
    let (cause, remedy) = match lacking {
        Lacking::Main => (
            "the program has no `main`, so that no switch can run it".to_owned(),
            "end it with an instance of the architecture's package: `V1Switch(...) main;`".to_owned(),
        ),
        Lacking::Architecture(package) => (
            format!("architecture `{package}` is not supported, so that no switch can run it"),
            format!("write the program for {}", known_architectures()),
        ),
    };
    raise::<CompileError>(py, format!("{name}: {cause}; {remedy}"), name, &cause, &remedy)
}
