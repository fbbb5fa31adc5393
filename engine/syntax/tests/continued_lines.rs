//! A backslash at the end of a line joins it with the next one before anything else is read (translation
//! phase 2 of C), and places still lead to the user's own lines.

use p4cc_syntax::{Diagnostic, Memory, Options, Source, Span, parse, print};

fn load(text: &str) -> (Source, Vec<Diagnostic>) {
    Source::from_text("r.p4", text, &Memory::default(), &Options::default())
}

/// The program as it is printed, which must be free of findings.
fn printed(text: &str) -> String {
    let (source, mut diagnostics) = load(text);
    let (program, found) = parse(&source);
    diagnostics.extend(found);
    assert!(diagnostics.is_empty(), "{}", source.render(&diagnostics, false));
    print(&program)
}

/// Findings as `line:column: ...`.
fn found(text: &str) -> Vec<String> {
    let (source, mut diagnostics) = load(text);
    diagnostics.extend(parse(&source).1);
    diagnostics
        .iter()
        .map(|found| source.machine(found).to_string().trim_start_matches("r.p4:").to_owned())
        .collect()
}

/// The same text with line ends of Windows.
fn windows(text: &str) -> String {
    text.replace('\n', "\r\n")
}

#[test]
fn a_joint_inside_a_token_is_no_end_of_it() {
    for (text, wanted) in [
        ("const bit<8> lo\\\nng_\\\n\\\nname = 1;\n", "const bit<8> long_name = 1;\n"),
        ("co\\\nnst bit<8> x = 0x\\\nF\\\nF;\n", "const bit<8> x = 0xFF;\n"),
        ("const bit<8> x = 8\\\nw1\\\n2;\n", "const bit<8> x = 8w12;\n"),
        ("const bool x = 1 =\\\n= 2;\n", "const bool x = (1 == 2);\n"),
        ("@name(\"one\\\n two\") const bool x = true;\n", "@name(\"one two\") const bool x = true;\n"),
    ] {
        assert_eq!(printed(text), wanted, "{text}");
        assert_eq!(printed(&windows(text)), wanted, "{text} with CRLF");
    }
}

#[test]
fn directives_and_macros_are_read_behind_the_joints() {
    for (text, wanted) in [
        ("#def\\\nine WI\\\nDTH 1\\\n6\nconst bit<WIDTH> x = 1;\n", "const bit<16> x = 1;\n"),
        ("#\\\ndefine A 1 + \\\n 2\nconst bit<8> x = A;\n", "const bit<8> x = (1 + 2);\n"),
        (
            "#define ADD(a, \\\n b) a + \\\nb\nconst bit<8> x = AD\\\nD(1,\\\n 2);\n",
            "const bit<8> x = (1 + 2);\n",
        ),
        ("#define PASTE(a) a ## _\\\nh\nconst bit<8> PASTE(x) = 1;\n", "const bit<8> x_h = 1;\n"),
        (
            "#if 1 \\\n && 0\nconst bit<8> x = 1;\n#els\\\ne\nconst bit<8> y = 2;\n#endif\n",
            "const bit<8> y = 2;\n",
        ),
        // What begins a line that is joined to another is no directive.
        ("#define X 1 \\\n# define Y\n#ifndef Y\nconst bit<8> x = 1;\n#endif\n", "const bit<8> x = 1;\n"),
    ] {
        assert_eq!(printed(text), wanted, "{text}");
        assert_eq!(printed(&windows(text)), wanted, "{text} with CRLF");
    }
    let options = Options { defines: vec![("N".to_owned(), "1\\\n2".to_owned())], ..Options::default() };
    let (source, _) = Source::from_text("r.p4", "const int x = N;", &Memory::default(), &options);
    assert_eq!(print(&parse(&source).0), "const int x = 12;\n");
}

#[test]
fn comments_go_over_joints_and_are_made_of_them() {
    for (text, wanted) in [
        ("// a comment \\\nconst int swallowed = 1;\nconst int x = 2;\n", "const int x = 2;\n"),
        ("/\\\n/ a comment\nconst int x = 2;\n", "const int x = 2;\n"),
        ("/\\\n* a comment *\\\n/ const int x = 2;\n", "const int x = 2;\n"),
        ("const int x = 2; // the end \\", "const int x = 2;\n"),
    ] {
        assert_eq!(printed(text), wanted, "{text}");
        assert_eq!(printed(&windows(text)), wanted, "{text} with CRLF");
    }
}

#[test]
fn a_backslash_elsewhere_joins_nothing() {
    assert_eq!(
        found("const int x = \\ 1;\n"),
        ["1:15: error: the character `\\` has no meaning in P4 (help: remove it)"]
    );
    assert_eq!(
        printed("@name(\"a\\\\b\") const bool x = true;\n"),
        "@name(\"a\\\\b\") const bool x = true;\n"
    );
}

#[test]
fn places_are_those_of_the_users_lines() {
    let text = "#define TWO 1 + \\\n  1\nconst int fir\\\nst = \\\n  é;\nconst int a = TWO; const int ; // \\\n\nconst ;\n";
    for text in [text.to_owned(), windows(text)] {
        let (source, _) = load(&text);
        let at = |word: &str| {
            let at = source.text().find(word).expect("the word") as u32;
            let place = source.locate(Span::new(at, at + word.len() as u32));
            (place.line, place.column, place.line_text)
        };
        assert_eq!(at("first"), (3, 11, "const int fir\\".to_owned()));
        assert_eq!(at("st = "), (4, 1, "st = \\".to_owned()));
        assert_eq!(at("1 + 1"), (6, 15, "const int a = TWO; const int ; // \\".to_owned()));
        let found = found(&text);
        let starts = ["5:3: ", "6:30: ", "8:7: "];
        assert_eq!(found.len(), starts.len(), "{found:?}");
        for (found, start) in found.iter().zip(starts) {
            assert!(found.starts_with(start), "{found}");
        }
    }
}

#[test]
fn messages_of_directives_and_markers_stand_on_their_lines() {
    assert_eq!(found("#err\\\nor one \\\n two\n"), ["1:1: error: #error one two"]);
    assert_eq!(
        found("\\\n#inl\\\ncude\n"),
        [concat!(
            "2:1: warning: `#inlcude` is not a directive; the line is ignored, as in p4c ",
            "(help: did you mean `#include`? Write `//` before a comment)"
        )]
    );
    assert_eq!(found("\\\n\n#if 1\n"), ["3:1: error: unterminated conditional (help: add `#endif`)"]);
    assert_eq!(found("#line \\\n 40\nconst int ;\n")[0].split(": ").next(), Some("40:11"));
    let (source, diagnostics) = load("const int x = __LI\\\nNE__;\nconst int y = \\\n __LINE__;\n");
    assert!(diagnostics.is_empty());
    assert_eq!(print(&parse(&source).0), "const int x = 1;\nconst int y = 4;\n");
}

#[test]
fn the_self_contained_form_has_no_joints() {
    let (source, _) = load("const int x = 1 \\\n + 1;\nconst int ;\n");
    let pushed = source.to_self_contained();
    assert!(!pushed.contains('\\'), "{pushed}");
    let (received, mut diagnostics) =
        Source::from_text("p", &pushed, &Memory::default(), &Options::default());
    diagnostics.extend(parse(&received).1);
    let place = received.machine(&diagnostics[0]);
    assert_eq!((place.file.as_str(), place.line, place.column), ("r.p4", 3, 11));
}
