//! libFuzzer around one of the fuzz targets, that which the variable `P4CC_FUZZ_TARGET` names.

#![no_main]

use std::sync::LazyLock;

static RUN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("P4CC_FUZZ_TARGET").unwrap_or_default();
    let target = p4cc_fuzz::target(&name).unwrap_or_else(|| panic!("P4CC_FUZZ_TARGET: there is no target {name:?}"));
    // A folder for what libFuzzer starts from: the kept inputs and the repository's own files.
    if let Ok(folder) = std::env::var("P4CC_FUZZ_SEEDS") {
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(format!("{folder}/seed-{number}"), seed).expect("the folder of seeds can be written to");
        }
    }
    target.run
});

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&RUN); }, |input: &[u8]| RUN(input));
