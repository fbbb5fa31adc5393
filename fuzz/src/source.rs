//! Any text through the whole front end: preprocessor, parser, checks, lowering, verifier, printer.

use p4cc_filetests::compile_source;
use p4cc_syntax::{Memory, Options, Severity, Source};

use crate::corpus;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = core::str::from_utf8(input) else { return };
    let (source, diagnostics) = Source::from_text("input.p4", text, &Memory::default(), &Options::default());
    let compiled = compile_source(source, diagnostics);
    let failed = compiled.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    // Without `main` it is a library.
    let made = compiled.accepted();
    assert_eq!(made, !failed, "something is made exactly if there is no error");
    let shown = compiled.source.render(&compiled.diagnostics, false);
    assert!(!shown.contains("error of the compiler itself"), "{shown}");
    let (tree, found) = p4cc_syntax::parse(&compiled.source);
    if found.is_empty() {
        // What is printed parses again, unless the parentheses that it adds nest deeper than any program may.
        let printed = p4cc_syntax::print(&tree);
        let (again, errors) =
            Source::from_text("printed.p4", &printed, &Memory::default(), &Options::default());
        let (_, more) = p4cc_syntax::parse(&again);
        let refused = more.iter().any(|diagnostic| !diagnostic.message.contains("levels deep here"));
        assert!(errors.is_empty() && !refused, "{}\n{printed}", again.render(&more, false));
    }
}

/// The language cases, those that are refused too, with what they include written out.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let files = corpus::programs(&["engine/filetests/cases/run", "engine/filetests/cases/check"]);
    let texts = files.iter().map(|file| Source::load(file, &Options::default()).0.to_self_contained());
    texts.map(String::into_bytes).chain(corpus::kept("source")).collect()
}
