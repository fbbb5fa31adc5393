//! A string of several lines is read line by line before it
//! is one string, as the C preprocessor does it for p4c.

use p4cc_syntax::{Diagnostic, Memory, Options, Source, parse};

fn load(text: &str) -> (Source, Vec<Diagnostic>) {
    let (source, mut diagnostics) = Source::from_text("r.p4", text, &Memory::default(), &Options::default());
    diagnostics.extend(parse(&source).1);
    (source, diagnostics)
}

/// What a program becomes that has no findings.
fn text_of(text: &str) -> String {
    let (source, diagnostics) = load(text);
    assert!(diagnostics.is_empty(), "{}", source.render(&diagnostics, false));
    source.text().to_owned()
}

/// The string in `@note("...")` before a constant, with these definitions before it.
fn note(definitions: &str, string: &str) -> String {
    let text = text_of(&format!("{definitions}@note({string}) const bit<8> x = 1;\n"));
    let start = text.find("@note(").expect("the annotation") + "@note(".len();
    let end = text.rfind(") const bit<8>").expect("the constant");
    text[start..end].to_owned()
}

#[test]
fn groups_choose_among_its_lines() {
    let string = "\"first\n#if defined(WIDE)\n wide\n#else\n narrow\n#endif\nlast\"";
    assert_eq!(note("", string), "\"first\n\n\n\n narrow\n\nlast\"");
    assert_eq!(note("#define WIDE\n", string), "\"first\n\n wide\n\n\n\nlast\"");
}

#[test]
fn a_quote_in_a_skipped_group_does_not_end_it() {
    assert_eq!(note("", "\"a\n#if 0\n b\" c\n#endif\n d\""), "\"a\n\n\n\n d\"");
}

#[test]
fn macros_are_replaced_behind_its_first_line_only() {
    assert_eq!(note("#define PORT 9\n", "\"PORT\n port == PORT && x\n\""), "\"PORT\n port == 9 && x\n\"");
    assert_eq!(note("#define TWO(x) x x\n", "\"a\n (TWO(b))\""), "\"a\n (b b)\"");
}

#[test]
fn comments_and_what_follows_an_apostrophe_stay_as_they_are() {
    let string =
        "\"a\n // PORT  is\n it's  PORT\n 'PORT' PORT\n \\\"PORT\\\" PORT\n /* PORT\n  PORT */ PORT\"";
    let wanted = "\"a\n // PORT  is\n it's  PORT\n 'PORT' 9\n \\\"PORT\\\" PORT\n /* PORT\n  PORT */ 9\"";
    assert_eq!(note("#define PORT 9\n", string), wanted);
    // The quote that ends it may stand in a comment.
    assert_eq!(note("#define PORT 9\n", "\"a\n // PORT\""), "\"a\n // PORT\"");
}

#[test]
fn blanks_in_a_row_are_one_but_not_at_the_start_of_a_line() {
    assert_eq!(note("", "\"a  b  \n\t c   d  \n\n  e\""), "\"a  b  \n  c d\n\n  e\"");
}

#[test]
fn a_line_with_a_hash_that_is_no_directive_is_text() {
    assert_eq!(note("#define PORT 9\n", "\"a\n# heading PORT\n#\n b\""), "\"a\n# heading 9\n\n b\"");
}

#[test]
fn what_follows_its_last_line_is_read_as_before() {
    // To the preprocessor the last quote begins a string that has no end on its line.
    let text = text_of("#define N 3\n@a(\"x\ny\", 1) const bit<8> N = 1;\n@b(N) const bit<8> n = N;\n");
    assert_eq!((text.matches('3').count(), text.matches('N').count()), (2, 1), "{text}");
}

#[test]
fn places_behind_it_are_those_of_the_file() {
    let (source, diagnostics) =
        load("@a(\"x\n#if 0\n  y\n#endif\n\") const bit<8> n = 1\nconst bit<8> m = ;\n");
    let shown: Vec<String> = diagnostics.iter().map(|found| source.machine(found).to_string()).collect();
    assert!(shown.iter().any(|line| line.starts_with("r.p4:6:")), "{shown:?}");
}

#[test]
fn the_self_contained_form_reads_the_same() {
    let text = "#define P 7\n@a(\"x\n  P it's\n#if 1\n  P  // P\n#endif\n\") const bit<8> n = P;\n";
    let (source, _) = load(text);
    let once = source.to_self_contained();
    let (again, diagnostics) = load(&once);
    assert!(diagnostics.is_empty(), "{}", again.render(&diagnostics, false));
    assert_eq!(again.to_self_contained(), once);
    assert!(once.contains("\"x\n  7 it's\n\n  7 // P\n\n\""), "{once}");
}

#[test]
fn one_that_never_ends_is_reported_once() {
    let (source, diagnostics) = load("@a(\"x\n#if 0\n\") const bit<8> n = 1;\n");
    let shown: Vec<String> = diagnostics.iter().map(|found| source.machine(found).to_string()).collect();
    assert!(shown.iter().any(|line| line.contains("unterminated string")), "{shown:?}");
}
