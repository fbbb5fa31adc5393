//! Programs and tests of the Simple Test Framework from files.

use std::path::Path;
use std::sync::Arc;

use p4cc_ir::Program;
use p4cc_switch::ExecChoice;

pub use p4cc_stf::{Cause, Problem, Report, run};

/// Loads a program: BMv2 JSON when the text is that, P4-16 source otherwise.
///
/// # Errors
/// The file cannot be read, or the diagnostics.
pub fn load(path: &Path) -> Result<Program, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if p4cc_bmv2json::is_document(&text) {
        let (program, errors) = p4cc_bmv2json::read(&text);
        return program.ok_or_else(|| errors.iter().map(|error| format!("{error}\n")).collect());
    }
    let compiled = crate::compile(path);
    compiled.program.ok_or_else(|| compiled.source.render(&compiled.diagnostics, false))
}

/// Loads a program and runs a test file on it by both execution back ends; empty when it passes.
pub fn run_files(program: &Path, test: &Path) -> Vec<Problem> {
    match load(program) {
        Ok(program) => run_program(program, test),
        Err(message) => problem(message),
    }
}

/// Runs a test file on a program by both execution back ends; empty when it passes.
pub fn run_program(program: Program, test: &Path) -> Vec<Problem> {
    let text = match std::fs::read_to_string(test) {
        Ok(text) => text,
        Err(error) => return problem(format!("{}: {error}", test.display())),
    };
    let program = Arc::new(program);
    let by = |exec| run(&program, &text, exec).problems;
    let problems = by(ExecChoice::Interp);
    if problems.is_empty() { by(ExecChoice::Native) } else { problems }
}

fn problem(message: String) -> Vec<Problem> {
    vec![Problem { line: 0, cause: Cause::Command(message) }]
}
