//! Tests of the Simple Test Framework on a compiled program.

use p4cc_stf::{Cause, PacketProblem, Problem, Report};
use pyo3::prelude::*;

/// Why a test did not pass.
#[pyclass(frozen, get_all, module = "p4cc._engine", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct StfProblem {
    line: u32,
    kind: &'static str,
    message: String,
    port: Option<u32>,
    packet: Option<usize>,
    expected: Option<String>,
    got: Option<String>,
    first_byte: Option<usize>,
}

impl StfProblem {
    fn new(problem: &Problem) -> Self {
        let (kind, message) = match &problem.cause {
            Cause::Syntax(message) => ("syntax", message.clone()),
            Cause::Command(message) => ("command", message.clone()),
            Cause::Counter(message) => ("counter", message.clone()),
            Cause::Assertion(message) => ("assertion", message.clone()),
            Cause::Packet(packet) => ("packet", packet.to_string()),
        };
        let packet = match &problem.cause {
            Cause::Packet(packet) => Some(packet.as_ref()),
            _ => None,
        };
        let expected = packet.and_then(|packet| Some(packet.expected.as_ref()?.pattern()));
        let got = packet.and_then(|packet| Some(p4cc_stf::hex(packet.got.as_ref()?)));
        Self {
            line: problem.line,
            kind,
            message,
            port: packet.map(|packet| packet.port),
            packet: packet.map(|packet| packet.number),
            expected,
            got,
            first_byte: packet.and_then(PacketProblem::first_byte),
        }
    }
}

#[pymethods]
impl StfProblem {
    fn __repr__(&self) -> String {
        format!("<StfProblem line {}: {}>", self.line, self.message)
    }
}

/// What a test came to.
#[pyclass(frozen, get_all, module = "p4cc._engine")]
pub(crate) struct StfReport {
    problems: Vec<StfProblem>,
    printed: Vec<(u32, String)>,
    packets_in: usize,
    packets_expected: usize,
}

impl StfReport {
    pub(crate) fn new(report: Report) -> Self {
        let Report { problems, printed, packets_in, packets_expected } = report;
        let problems = problems.iter().map(StfProblem::new).collect();
        Self { problems, printed, packets_in, packets_expected }
    }
}
