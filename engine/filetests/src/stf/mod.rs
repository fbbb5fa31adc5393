//! The Simple Test Framework: the tests of p4c's own programs, run on the switch.
//!
//! A test is a list of commands ([`parse`]): entries, packets in, packets expected. As p4c's own runner does, packets
//! are compared at the end, port by port and in order; a port that the test never names is not connected.
//!
//! Invariant: time is a count of packets, so that a run depends on nothing but the program and the test.

mod entry;
mod parse;
mod runner;

pub use parse::{ActionText, Cell, Command, KeyValue, Literal, MeterRates, ParseError, Relation, parse};

use std::path::Path;

use p4cc_ir::Program;

/// Why a test did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the test, from 1; 0 when none is to blame.
    pub line: u32,
    /// What is wrong; for packets with both sides, digit by digit.
    pub message: String,
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)
    }
}

/// Runs a test on a program; empty when it passes.
pub fn run(program: Program, text: &str) -> Vec<Problem> {
    match parse(text) {
        Ok(commands) => runner::run(program, &commands),
        Err((line, message)) => vec![Problem { line, message }],
    }
}

/// Loads a program: BMv2 JSON when its name ends in `.json`, P4-16 source otherwise.
///
/// # Errors
/// The file cannot be read, or the diagnostics.
pub fn load(path: &Path) -> Result<Program, String> {
    if path.extension().is_some_and(|extension| extension == "json") {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let (program, errors) = p4cc_ir::bmv2::read(&text);
        return program.ok_or_else(|| errors.iter().map(|error| format!("{error}\n")).collect());
    }
    let compiled = crate::compile(path);
    compiled.program.ok_or_else(|| compiled.source.render(&compiled.diagnostics, false))
}

/// Loads a program and runs a test file on it; empty when it passes.
pub fn run_files(program: &Path, test: &Path) -> Vec<Problem> {
    let problem = |message| vec![Problem { line: 0, message }];
    let text = match std::fs::read_to_string(test) {
        Ok(text) => text,
        Err(error) => return problem(format!("{}: {error}", test.display())),
    };
    match load(program) {
        Ok(program) => run(program, &text),
        Err(message) => problem(message),
    }
}
