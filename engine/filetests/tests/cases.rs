//! Runs all cases. A failing case prints its file, line and cause.

use std::path::{Path, PathBuf};

/// Names another folder than `cases`, with as many cases as it likes: those of mutants
/// (docs/how-to/mutation-testing.md).
const OTHER_CASES: &str = "P4CC_CASES_DIR";

fn cases(folder: &str) -> Vec<PathBuf> {
    let cases = std::env::var_os(OTHER_CASES)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"), PathBuf::from);
    let folder = cases.join(folder);
    p4cc_filetests::cases(&folder).expect("the cases are part of the repository")
}

#[test]
fn programs_give_the_announced_diagnostics() {
    let cases = cases("check");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| p4cc_filetests::check::run(case).err())
        .flatten()
        .map(|failure| failure.to_string())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(cases.len() >= 10, "only {} cases were found", cases.len());
}

#[test]
fn programs_do_what_their_cases_say() {
    let cases = cases("run");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| p4cc_filetests::runner::run(case).err())
        .map(|failure| failure.to_string())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let all = if std::env::var_os(OTHER_CASES).is_some() { 1 } else { 25 };
    assert!(cases.len() >= all, "only {} cases were found", cases.len());
}

/// Our programs for Tofino break none of its rules.
#[test]
fn programs_for_tofino_are_taken_by_its_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/tna");
    let programs = p4cc_filetests::cases(&folder).expect("the programs are part of the repository");
    let failures: Vec<String> = programs
        .iter()
        .map(|program| p4cc_filetests::compile_strict(program, p4cc_compile::Strict::Tofino))
        .filter(|compiled| compiled.program.is_none())
        .map(|compiled| compiled.source.render(&compiled.diagnostics, false))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(programs.len() >= 8, "only {} programs were found", programs.len());
}
