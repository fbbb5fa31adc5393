//! Any text through the BMv2 JSON reader; what it takes passes the verifier.

use crate::corpus;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = core::str::from_utf8(input) else { return };
    let _ = p4cc_bmv2json::is_document(text);
    let (program, errors) = p4cc_bmv2json::read(text);
    match program {
        Some(program) => {
            let violations = p4cc_ir::verify::verify(&program);
            assert!(violations.is_empty(), "{violations:?}");
        }
        None => assert!(!errors.is_empty(), "a document is refused with a reason"),
    }
}

/// The documents of the reader's own tests, and those that the writer makes of the language cases.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let folders = ["bmv2", "bmv2_own"].map(|name| corpus::root().join("engine/filetests/cases").join(name));
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let documents = files.iter().filter(|file| file.extension().is_some_and(|end| end == "json"));
    let read = documents.filter_map(|file| std::fs::read(file).ok());
    let cases = corpus::programs(&["engine/filetests/cases/run"]);
    let written = cases.iter().filter_map(|case| {
        let program = p4cc_filetests::compile(case).program?;
        Some(p4cc_bmv2json::write(&program).ok()?.to_string().into_bytes())
    });
    read.chain(written).chain(corpus::kept("bmv2_json")).collect()
}
