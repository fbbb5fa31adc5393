//! Programs that targets run on.

use p4cc_exec::Pipeline;
use p4cc_ir::Program;
use p4cc_syntax::{Memory, Options, Source};
use std::sync::{Arc, OnceLock};

use crate::corpus;

/// The programs of some folders that compile, with their pipelines.
fn compiled(folders: &[&str]) -> Vec<Arc<Pipeline>> {
    let files = corpus::programs(folders);
    let programs = files.iter().filter_map(|file| p4cc_filetests::compile(file).program);
    programs.map(pipeline).collect()
}

fn pipeline(program: Program) -> Arc<Pipeline> {
    Arc::new(Pipeline::compile(Arc::new(program)).expect("a checked program has a pipeline"))
}

/// The language cases.
pub(crate) fn cases() -> &'static [Arc<Pipeline>] {
    static MADE: OnceLock<Vec<Arc<Pipeline>>> = OnceLock::new();
    MADE.get_or_init(|| compiled(&["engine/filetests/cases/run"]))
}

/// The language cases and the project's own programs.
pub(crate) fn all() -> &'static [Arc<Pipeline>] {
    static MADE: OnceLock<Vec<Arc<Pipeline>>> = OnceLock::new();
    MADE.get_or_init(|| compiled(&["engine/filetests/cases/run", "p4src/v1model", "p4src/tna"]))
}

/// Text of the program with a bit of everything that P4Runtime speaks of.
pub(crate) fn everything() -> &'static str {
    include_str!("../../tests/p4runtime/everything.p4")
}

/// A text that compiles.
pub(crate) fn of_text(text: &str) -> Arc<Pipeline> {
    let (source, found) = Source::from_text("program.p4", text, &Memory::default(), &Options::default());
    let compiled = p4cc_filetests::compile_source(source, found);
    let shown = compiled.source.render(&compiled.diagnostics, false);
    pipeline(compiled.program.unwrap_or_else(|| panic!("{shown}")))
}
