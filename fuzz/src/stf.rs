//! Any text as a test of the Simple Test Framework, on some of the programs of `engine/filetests/cases/run`.
//!
//! The first byte picks the program. What the test comes to,
//! problems or none, is the same by both execution back ends.

use p4cc_switch::ExecChoice;

use crate::{corpus, programs};

/// Longest test: one that sends many packets only takes longer.
const MAX_BYTES: usize = 4_096;

pub(crate) fn run(input: &[u8]) {
    let Some((first, text)) = input.split_first() else { return };
    let Ok(text) = core::str::from_utf8(text.get(..MAX_BYTES).unwrap_or(text)) else { return };
    let pipelines = programs::cases();
    let program = pipelines[usize::from(*first) % pipelines.len()].program();
    let report = p4cc_stf::run(program, text, ExecChoice::Interp);
    let shown: String = report.problems.iter().map(|problem| format!("{problem}\n")).collect();
    assert_eq!(shown.is_empty(), report.problems.is_empty(), "each problem has a message");
    let native = p4cc_stf::run(program, text, ExecChoice::Native);
    assert_eq!(report, native, "by the register machine and by native code");
}

/// Tests that use every command, on every program.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let kept = corpus::kept("stf");
    let on = |program: usize, text: &Vec<u8>| [&[program as u8][..], text].concat();
    (0..programs::cases().len()).flat_map(|program| kept.iter().map(move |text| on(program, text))).collect()
}
