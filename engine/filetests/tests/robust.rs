//! The compiler ends with diagnostics, never with a panic,
//! on programs with stretches deleted, doubled or swapped.

use p4cc_filetests::compile_source;
use p4cc_syntax::{FileSystem, Options, Severity, Source};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Preprocessed text of a case and its tokens, as byte ranges.
type Text = (String, Vec<(usize, usize)>);

/// All cases.
fn corpus() -> &'static [Text] {
    static CORPUS: OnceLock<Vec<Text>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<PathBuf> = Vec::new();
        for folder in ["cases/run", "cases/check", "../../p4src/v1model"] {
            files.extend(p4cc_filetests::cases(&root.join(folder)).expect("part of the repository"));
        }
        files
            .iter()
            .map(|file| {
                let (source, _) = Source::load(file, &Options::default());
                let text = source.to_self_contained();
                let tokens = tokens(&text);
                (text, tokens)
            })
            .collect()
    })
}

/// Words, numbers and single marks.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        let word = c.is_alphanumeric() || c == '_';
        match found.last_mut() {
            Some(last) if word && in_word => last.1 = at + c.len_utf8(),
            _ if c.is_whitespace() => {}
            _ => found.push((at, at + c.len_utf8())),
        }
        in_word = word;
    }
    found
}

fn compiles_without_panic(text: &str) {
    let (source, diagnostics) = Source::from_text("mutant.p4", text, &FileSystem, &Options::default());
    let compiled = compile_source(source, diagnostics);
    let failed = compiled.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let refused = !compiled.accepted();
    assert_eq!(refused, failed, "a program or library is made exactly if there is no error");
    let shown = compiled.source.render(&compiled.diagnostics, false);
    assert!(!shown.contains("error of the compiler itself"), "{shown}");
}

/// Program, first token, length of the stretch, place for the copy, and what is done.
fn mutation() -> impl Strategy<Value = (usize, usize, usize, usize, u8)> {
    (any::<usize>(), any::<usize>(), 1usize..12, any::<usize>(), 0u8..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutants_give_diagnostics((which, first, length, place, kind) in mutation()) {
        let corpus = corpus();
        let (text, tokens) = &corpus[which % corpus.len()];
        let first = first % tokens.len();
        let last = (first + length).min(tokens.len()) - 1;
        let (start, end) = (tokens[first].0, tokens[last].1);
        let (other_start, other_end) = tokens[place % tokens.len()];
        let stretch = &text[start..end];
        let mutant = match kind {
            0 => format!("{}{}", &text[..start], &text[end..]),
            1 => format!("{} {stretch} {}", &text[..other_start], &text[other_start..]),
            _ => format!("{} {} {}", &text[..start], &text[other_start..other_end], &text[end..]),
        };
        compiles_without_panic(&mutant);
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep =
        |open: &str, close: &str, count: usize| format!("{}1{}", open.repeat(count), close.repeat(count));
    for expr in [deep("(", ")", 5_000), deep("-", "", 5_000), deep("1 + ", "", 5_000), deep("{", "}", 5_000)]
    {
        compiles_without_panic(&format!("const bit<8> x = {expr};"));
    }
    let ifs = format!("void f() {{ {} }}", "if (true) { ".repeat(2_000) + &"}".repeat(2_000));
    compiles_without_panic(&ifs);
}
