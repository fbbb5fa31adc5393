//! Any text through the BMv2 JSON reader; what it takes passes the verifier.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = p4cc_ir::bmv2::is_document(text);
    let (program, errors) = p4cc_ir::bmv2::read(text);
    match program {
        Some(program) => {
            let violations = p4cc_ir::verify::verify(&program);
            assert!(violations.is_empty(), "{violations:?}");
        }
        None => assert!(!errors.is_empty(), "a document is refused with a reason"),
    }
});
