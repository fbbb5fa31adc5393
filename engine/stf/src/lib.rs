//! The Simple Test Framework: the tests of p4c's own programs, run on the switch.
//!
//! A test is a list of commands ([`parse`]): entries, packets in, packets
//! expected. As p4c's own runner does, packets are compared at the end, port
//! by port and in order; a port that the test never names is not connected.
//!
//! Invariant: time is a count of packets, so that a run depends on nothing but the program and the test.

mod difference;
mod entry;
mod fate;
mod packet_trace;
mod parse;
mod runner;

pub use difference::{Ended, Expected, PacketProblem, hex};
pub use packet_trace::{SentPacket, Traced, TracedPacket};
pub use parse::{ActionText, Cell, Command, KeyValue, Literal, MeterRates, ParseError, Relation, parse};

use std::sync::Arc;

use p4cc_ir::Program;
use p4cc_switch::ExecChoice;

/// What a test came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Why it did not pass; empty when it did.
    pub problems: Vec<Problem>,
    /// What commands that read found, such as `register_read`, and what the program logged, by line.
    pub printed: Vec<(u32, String)>,
    /// Packets that the test sent.
    pub packets_in: usize,
    /// Packets that the test waits for.
    pub packets_expected: usize,
}

/// Why a test did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the test, from 1; 0 when none is to blame.
    pub line: u32,
    /// What is wrong.
    pub cause: Cause,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The text is not a test.
    Syntax(String),
    /// The program cannot be run, or a command cannot be carried out on it.
    Command(String),
    /// A counter is not what it should be.
    Counter(String),
    /// An `assert` or `assume` of the program did not hold.
    Assertion(String),
    /// A packet is not what it should be.
    Packet(Box<PacketProblem>),
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        match &self.cause {
            Cause::Syntax(message)
            | Cause::Command(message)
            | Cause::Counter(message)
            | Cause::Assertion(message) => f.write_str(message),
            Cause::Packet(problem) => problem.fmt(f),
        }
    }
}

/// Follows each packet of a test through a program, by the interpreter. What the test expects is not
/// looked at.
///
/// # Errors
/// The text is not a test, with the line, or the program cannot run.
pub fn trace(program: &Arc<Program>, text: &str) -> Result<Traced, String> {
    let commands = parse(text).map_err(|(line, message)| format!("line {line}: {message}"))?;
    runner::trace(program, &commands)
}

/// Runs a test on a program.
pub fn run(program: &Arc<Program>, text: &str, exec: ExecChoice) -> Report {
    match parse(text) {
        Ok(commands) => runner::run(program, &commands, exec),
        Err((line, message)) => {
            let problems = vec![Problem { line, cause: Cause::Syntax(message) }];
            Report { problems, ..Report::default() }
        }
    }
}
