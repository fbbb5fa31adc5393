//! A compilation that is over ends in the preprocessor too, wherever that is.

use std::io;
use std::path::Path;

use p4cc_budget::Budget;
use p4cc_syntax::{Options, Source, SourceLoader};

/// Cancels when a file is read, and then gives it.
struct Cancelling {
    budget: Budget,
    text: &'static str,
}

impl SourceLoader for Cancelling {
    fn read(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        self.budget.cancel();
        Ok(self.text.into())
    }
}

/// What is left of a text whose compilation is cancelled when it includes another; the messages.
fn left(text: &str, included: &'static str) -> (String, Vec<String>) {
    let budget = Budget::default();
    let options = Options { budget: budget.clone(), ..Options::default() };
    let loader = Cancelling { budget, text: included };
    let (source, found) = Source::from_text("a.p4", text, &loader, &options);
    (source.text().to_owned(), found.into_iter().map(|one| one.message).collect())
}

#[test]
fn nothing_is_read_once_the_compilation_is_cancelled() {
    for included in ["const bit<8> seen = 1;\n", "#define A seen\nA A\n", "#if 1\nseen\n#endif\n", ""] {
        let (text, messages) =
            left("const bit<8> before = 1;\n#include \"b.p4\"\nconst bit<8> seen = 2;\n", included);
        assert_eq!(messages, ["the compilation was cancelled"], "{included}");
        assert!(text.contains("before") && !text.contains("seen"), "{text}");
    }
}

#[test]
fn conditions_and_macros_end_where_they_are() {
    let condition =
        "#define A(x) x x x x\n#if __has_include(\"b.p4\") && A(1) == A(A(1))\nseen\n#endif\nA(A(seen))\n";
    let (text, messages) = left(condition, "token\n");
    assert_eq!(messages, ["the compilation was cancelled"]);
    assert!(!text.contains("token") && !text.contains("seen"), "{text}");
}
