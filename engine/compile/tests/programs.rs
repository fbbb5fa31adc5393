//! The project's own P4 programs compile and pass the verifier.

use p4cc_syntax::{Options, Severity, Source};
use std::path::Path;

#[test]
fn the_projects_programs_compile_and_verify() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/v1model");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("p4src/v1model is part of the repository") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|extension| extension != "p4") {
            continue;
        }
        let (source, mut diagnostics) = Source::load(&path, &Options::default());
        let (ast, found) = p4cc_syntax::parse(&source);
        diagnostics.extend(found);
        let (program, found) = p4cc_compile::compile(&ast);
        diagnostics.extend(found);
        let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
        assert!(errors.is_empty(), "{}", source.render(&errors, false));
        let program = program.expect("a program without errors");
        let violations = p4cc_ir::verify::verify(&program);
        assert!(violations.is_empty(), "{violations:#?}\n{}", p4cc_ir::text::to_text(&program));
        assert!(!program.tables.is_empty(), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0, "no program was found");
}
