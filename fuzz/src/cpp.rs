//! Snippets through the preprocessor and through GNU cpp, where it is installed: the same tokens, or both
//! refuse.

use std::sync::LazyLock;

#[path = "../../engine/syntax/tests/cpp/judge.rs"]
mod judge;
#[path = "../../engine/syntax/tests/cpp/snippets.rs"]
mod snippets;

static INSTALLED: LazyLock<bool> = LazyLock::new(judge::installed);

pub(crate) fn run(input: &[u8]) {
    let snippet = snippets::snippet(input);
    let (own, source, diagnostics) = judge::own(&snippet);
    if *INSTALLED {
        let scratch = std::env::temp_dir().join(format!("p4cc-fuzz-cpp-{}", std::process::id()));
        let real = judge::real(&snippet, &scratch);
        std::fs::remove_dir_all(&scratch).ok();
        let rendered = source.render(&diagnostics, false);
        assert_eq!(own, real, "left: p4cc, right: GNU cpp\n{snippet}\n{rendered}");
    }
}

/// Choices of any kind make a snippet.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    (1..9u8)
        .map(|seed| (0..100u8).map(|at| at.wrapping_mul(37).wrapping_mul(seed).wrapping_add(seed)).collect())
        .collect()
}
