//! No input makes the crate panic, overflow the stack or run long.

use p4cc_syntax::{Diagnostic, Limits, Memory, Options, Severity, Source, parse, print};
use proptest::prelude::*;

fn run(text: &str) -> (Source, Vec<Diagnostic>, String) {
    let (source, mut diagnostics) =
        Source::from_text("input.p4", text, &Memory::default(), &Options::default());
    let (program, more) = parse(&source);
    diagnostics.extend(more);
    let _ = source.render(&diagnostics, true);
    let _ = source.to_self_contained();
    (source, diagnostics, print(&program))
}

/// Words and marks of the language, the preprocessor's among them.
const WORDS: &[&str] = &[
    "abstract",
    "action",
    "actions",
    "apply",
    "bit",
    "bool",
    "break",
    "const",
    "continue",
    "control",
    "default",
    "else",
    "entries",
    "enum",
    "error",
    "exit",
    "extern",
    "false",
    "for",
    "header",
    "header_union",
    "if",
    "in",
    "inout",
    "int",
    "key",
    "list",
    "match_kind",
    "out",
    "package",
    "parser",
    "priority",
    "return",
    "select",
    "state",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "tuple",
    "type",
    "typedef",
    "value_set",
    "varbit",
    "void",
    "_",
    "x",
    "T",
    "f",
    "8w1",
    "0x",
    "1",
    "\"s\"",
    "\"",
    "&&&",
    "...",
    "{#}",
    "<<",
    ">",
    ">",
    "<",
    ">=",
    "|+|",
    "++",
    "..",
    "+:",
    "+",
    "-",
    "!",
    "~",
    "=",
    "==",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "?",
    ".",
    ";",
    "@",
    "@pragma",
    "\n",
    "\n#define x",
    "\n#define f(a) a a ",
    "\n#if 1\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#include <core.p4>\n",
    "\n#line 7 \"y\"\n",
    "##",
    "#",
    "\\\n",
    "/*",
    "*/",
    "//",
    "'",
    "é",
    "struct T {} ",
    "typedef bit<8> T; ",
    "control c() { apply { ",
    "parser p() { state start { ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        run(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..200)) {
        run(&words.join(" "));
    }

    #[test]
    fn any_cut_of_a_program(from in 0usize..4000, len in 0usize..4000) {
        let text = include_str!("data/ok/pipeline.p4");
        let chars: String = text.chars().skip(from).take(len).collect();
        run(&chars);
    }

    #[test]
    fn every_span_has_a_place(words in prop::collection::vec(prop::sample::select(WORDS), 0..100)) {
        let text = words.join(" ");
        let (source, diagnostics, _) = run(&text);
        for diagnostic in diagnostics {
            let place = source.locate(diagnostic.span);
            prop_assert!(place.line >= 1 && place.column >= 1);
            prop_assert!(diagnostic.span.end as usize <= source.text().len());
        }
    }
}

fn first_error(text: &str) -> String {
    let (_, diagnostics, _) = run(text);
    diagnostics
        .into_iter()
        .find(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| diagnostic.message)
        .unwrap_or_default()
}

/// Runs with the stack of a small thread: the bounds on nesting must hold there.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(test).expect("a thread");
    thread.join().expect("the test to pass");
}

#[test]
fn deep_nesting_is_refused() {
    on_small_stack(|| {
        const DEEP: usize = 100_000;
        let shapes = [
            ("const int x = ", "(", "1", ")", ";"),
            ("const int x = ", "{", "1", "}", ";"),
            ("const int x = ", "!", "1", "", ";"),
            ("const int x = ", "f(", "1", ")", ";"),
            ("const int x = ", "(bit<8>) ", "1", "", ";"),
            ("const int x = ", "1 ? 1 : ", "1", "", ";"),
            ("const int x = ", "a < tuple<", "1", ">", ";"),
            ("const ", "tuple<", "bit", ">", " x = 1;"),
            ("const ", "bit<(", "8", ")>", " x = 1;"),
            ("action a() { ", "{", "", "}", " }"),
            ("action a() { ", "if (true) ", ";", "", " }"),
            ("action a() { ", "if (true) ; else ", ";", "", " }"),
        ];
        for (head, open, middle, close, tail) in shapes {
            let text = format!("{head}{}{middle}{}{tail}", open.repeat(DEEP), close.repeat(DEEP));
            assert!(first_error(&text).contains("levels deep"), "{open}: {}", first_error(&text));
        }
    });
}

#[test]
fn long_chains_are_refused() {
    on_small_stack(|| {
        const LONG: usize = 100_000;
        for link in [" + 1", ".f", "[1]", "(1)", " ? 1 : 1"] {
            let text = format!("const int x = a{};", link.repeat(LONG));
            let message = first_error(&text);
            assert!(message.contains("in a row") || message.contains("levels deep"), "{link}: {message}");
        }
    });
}

#[test]
fn guesses_do_not_multiply() {
    // Each `<` may open type arguments; trying both ways at every level would take 2^120 steps.
    let text = format!("struct T {{}} const int x = {}1;", "a < T.b + (T) f<T>(".repeat(60));
    assert!(!first_error(&text).is_empty());
    let text = format!("struct T {{}} const int x = {}1;", "a < T<".repeat(30));
    assert_eq!(first_error(&text), "expected a value, found the type `T`", "these are comparisons");
}

#[test]
fn macros_cannot_grow_without_bound() {
    let mut text = String::from("#define m0 1 + 1\n");
    for level in 1..60 {
        text.push_str(&format!("#define m{level} m{} + m{}\n", level - 1, level - 1));
    }
    text.push_str("const int x = m59;");
    assert!(first_error(&text).contains("tokens"), "{}", first_error(&text));
    let nested = format!("#define f(a) a\nconst int x = {}1{};", "f(".repeat(1000), ")".repeat(1000));
    on_small_stack(move || assert!(first_error(&nested).contains("nested in"), "{}", first_error(&nested)));
}

/// What macros hold at once is bounded by what they have made: in tokens, and in bytes where tokens are long.
#[test]
fn what_macros_hold_is_counted() {
    let limits = Limits { macro_tokens: 1000, total_bytes: 4096, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let first = |text: &str| {
        let (_, diagnostics) = Source::from_text("root.p4", text, &Memory::default(), &options);
        diagnostics.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default()
    };
    let refused = "macros have more than 1000 tokens, or expand to more than 4096 bytes";
    let words = |word: &str, count: usize| format!("{word} ").repeat(count);
    assert_eq!(first(&format!("#define D {}\n", words("x", 900))), "");
    assert_eq!(first(&format!("#define D {0}\n#define E {0}\n", words("x", 600))), refused);
    // None of the tokens is looked at a second time.
    let repeats = |count: usize| format!("#define R(x) {}\nR({})", words("x", 40), words("1", count));
    assert_eq!(first(&repeats(10)), "");
    assert_eq!(first(&repeats(40)), refused);
    let strings = |count: usize| format!("#define S(x) {}\nS({})", words("#x", count), "y".repeat(500));
    assert_eq!(first(&strings(6)), "");
    assert_eq!(first(&strings(10)), refused);
    let long = format!("#define T(x) {}\nT({})", words("x", 20), "y".repeat(500));
    assert_eq!(first(&long), "the program is larger than 4096 bytes with its includes");
}

/// Versions above the last that changed something are those of later compilers.
#[test]
fn versions_of_v1model_are_known_ones() {
    let including =
        |version: &str| first_error(&format!("#define V1MODEL_VERSION {version}\n#include <v1model.p4>\n"));
    for wrong in ["-1", "20000101", "1"] {
        assert!(including(wrong).contains("no version of v1model"), "{wrong}: {}", including(wrong));
    }
    for right in ["20180101", "20200408", "20220415", "20991231"] {
        assert_eq!(including(right), "", "{right}");
    }
}

#[test]
fn tokens_are_counted_out() {
    let program = |count: usize| first_error(&format!("control c() {{ apply {{ {} }} }}", ";".repeat(count)));
    assert_eq!(program(1 << 16), "");
    assert_eq!(program(1 << 20), "the program needs 1048577 tokens; at most 1048576 are allowed");
}

#[test]
fn includes_cannot_grow_without_bound() {
    let mut files = Memory::default();
    files.insert("again.p4", "#include \"again.p4\"\n");
    files.insert("twice.p4", "#include \"twice.p4\"\n#include \"twice.p4\"\n");
    files.insert("big.p4", "x".repeat(100));
    let limits = Limits { total_bytes: 4096, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let first = |text: &str| {
        let (_, diagnostics) = Source::from_text("root.p4", text, &files, &options);
        diagnostics.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default()
    };
    assert!(first("#include \"again.p4\"").contains("more than 64 deep"));
    assert!(!first("#include \"twice.p4\"").is_empty());
    assert!(first(&"#include \"big.p4\"\n".repeat(60)).contains("larger than 4096 bytes"));
    assert!(first(&"y".repeat(5000)).contains("larger than 4096 bytes"));
}

#[test]
fn errors_are_counted_out() {
    let (_, diagnostics, _) = run(&"const int = 1;\n".repeat(1000));
    assert_eq!(diagnostics.len(), 101);
}

/// Inputs whose cost would be the square of their length, or worse, if anything were searched twice.
#[test]
fn hostile_texts_end_soon() {
    let doubling = |step: &str| {
        let levels: String = (1..60).map(|n| format!("#define m{n}(x) m{}({step})\n", n - 1)).collect();
        format!("#define m0(x) x\n{levels}const int x = m59(a);")
    };
    let words = "x y z ;;{ } @ ( ".repeat(50_000);
    assert_eq!(first_error(&words), "expected `(`, found `z`");
    assert_eq!(first_error(&format!("\"\n{}", "\\\"\n".repeat(300_000))), "unterminated string");
    let calls = format!("#define f(x) x\n{}", "f(".repeat(200_000));
    assert!(first_error(&calls).contains("unterminated argument list"), "{}", first_error(&calls));
    assert!(first_error(&doubling("x##x")).contains("tokens"), "{}", first_error(&doubling("x##x")));
    assert!(first_error(&doubling("x x")).contains("tokens"), "{}", first_error(&doubling("x x")));
}

#[test]
fn a_line_too_long_to_show_still_has_its_place() {
    let (source, diagnostics, _) = run(&format!("{}const int x = ;", " ".repeat(100_000)));
    let rendered = source.render(&diagnostics, false);
    assert_eq!(rendered, "input.p4:1:100015: error: expected an expression, found `;`\n");
}
