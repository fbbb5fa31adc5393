//! Places: a span of the preprocessed text leads back to
//! the user's file, through includes, macros and `#line`.

use p4cc_syntax::{Diagnostic, Location, Memory, Options, Severity, Source, SourceLoader, Span, parse};

fn memory(files: &[(&str, &str)]) -> Memory {
    let mut memory = Memory::default();
    for (path, text) in files {
        memory.insert(*path, *text);
    }
    memory
}

/// Place of the first occurrence of `word` in the preprocessed text.
fn place_of(source: &Source, word: &str) -> Location {
    let at = source.text().find(word).expect("the word") as u32;
    source.locate(Span::new(at, at + word.len() as u32))
}

fn at(file: &str, line: u32, column: u32, line_text: &str) -> Location {
    Location { file: file.to_owned(), line, column, line_text: line_text.to_owned() }
}

fn all(source: &Source, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.extend(parse(source).1);
    diagnostics
}

#[test]
fn places_lead_through_includes() {
    let files = memory(&[
        ("dir/root.p4", "const int a = 1;\n#include \"sub/inner.p4\"\nconst int d = 4;\n"),
        ("dir/sub/inner.p4", "\n  const int b = 2;\r\n#include <shared.p4>\n"),
        ("lib/shared.p4", "/* é */ const int c = 3;"),
    ]);
    let options = Options { include_dirs: vec!["lib".into()], ..Options::default() };
    let (source, diagnostics) = Source::load_with("dir/root.p4", &files, &options);
    assert_eq!(diagnostics, []);
    assert_eq!(place_of(&source, "a ="), at("dir/root.p4", 1, 11, "const int a = 1;"));
    assert_eq!(place_of(&source, "b ="), at("dir/sub/inner.p4", 2, 13, "  const int b = 2;"));
    assert_eq!(place_of(&source, "c ="), at("lib/shared.p4", 1, 19, "/* é */ const int c = 3;"));
    assert_eq!(place_of(&source, "d ="), at("dir/root.p4", 3, 11, "const int d = 4;"));
    assert_eq!(parse(&source).0.decls.len(), 4);
}

#[test]
fn quotes_look_beside_the_file_first_and_angles_do_not() {
    let files = memory(&[
        ("dir/root.p4", "#include \"x.p4\"\n#include <x.p4>\n"),
        ("dir/x.p4", "const int beside = 1;\n"),
        ("lib/x.p4", "const int library = 1;\n"),
    ]);
    let options = Options { include_dirs: vec!["lib".into()], ..Options::default() };
    let (source, _) = Source::load_with("dir/root.p4", &files, &options);
    assert_eq!(place_of(&source, "beside").file, "dir/x.p4");
    assert_eq!(place_of(&source, "library").file, "lib/x.p4");
}

#[test]
fn a_file_on_the_search_path_replaces_the_built_in_one() {
    let files = memory(&[("lib/core.p4", "const int mine = 1;")]);
    let with = Options { include_dirs: vec!["lib".into()], ..Options::default() };
    let (mine, _) = Source::from_text("r.p4", "#include <core.p4>", &files, &with);
    assert_eq!(place_of(&mine, "mine").file, "lib/core.p4");
    let (built_in, _) = Source::from_text("r.p4", "#include <core.p4>", &files, &Options::default());
    assert_eq!(place_of(&built_in, "packet_in").file, "<p4cc>/core.p4");
}

#[test]
fn an_error_in_a_line_that_claims_to_be_line_zero_is_shown() {
    let (source, diagnostics) =
        Source::from_text("r.p4", "#line 0 \"other.p4\"\nconst int", &Memory::default(), &Options::default());
    let shown = source.render(&all(&source, diagnostics), false);
    assert!(shown.contains("other.p4"), "{shown}");
}

#[test]
fn the_built_in_files_parse_in_both_versions() {
    for (version, port) in [("20180101", "bit<9> ingress_port"), ("20200408", "PortId_t ingress_port")] {
        let options = Options {
            defines: vec![("V1MODEL_VERSION".to_owned(), version.to_owned())],
            ..Options::default()
        };
        let text = "#include <v1model.p4>";
        let (source, diagnostics) = Source::from_text("r.p4", text, &Memory::default(), &options);
        let (program, more) = parse(&source);
        assert_eq!((diagnostics, more), (vec![], vec![]));
        let printed = p4cc_syntax::print(&program);
        assert!(printed.contains(port), "{version}");
        assert!(printed.contains(&format!("const bit<32> __v1model_version = {version};")));
    }
}

#[test]
fn a_macro_use_stands_for_its_expansion() {
    let text = "#define PAIR(a, b) a + b\nconst int x = PAIR(1,\n  2) + rest;\n";
    let (source, _) = Source::from_text("r.p4", text, &Memory::default(), &Options::default());
    assert_eq!(place_of(&source, "1 + 2"), at("r.p4", 2, 15, "const int x = PAIR(1,"));
    assert_eq!(place_of(&source, "rest"), at("r.p4", 3, 8, "  2) + rest;"));
}

#[test]
fn the_self_contained_form_keeps_the_users_places() {
    let files = memory(&[
        (
            "root.p4",
            "#define W 8\n#include \"types.p4\"\n\n\n\n\n\n\nconst bit<W> x = \"a\nb\";\nconst T y = ;\n",
        ),
        ("types.p4", "// types\n\ntypedef bit<W> T;\n"),
    ]);
    let (source, diagnostics) = Source::load_with("root.p4", &files, &Options::default());
    assert_eq!(diagnostics, []);
    let pushed = source.to_self_contained();
    let expected = "#line 3 \"types.p4\"\ntypedef bit<8> T;\n#line 9 \"root.p4\"\nconst bit<8> x = \"a\nb\";\nconst T y = ;\n";
    assert_eq!(pushed, expected);
    let (received, diagnostics) =
        Source::from_text("pushed", &pushed, &Memory::default(), &Options::default());
    let found = all(&received, diagnostics);
    let shown: Vec<String> = found.iter().map(|found| received.machine(found).to_string()).collect();
    assert_eq!(shown, ["root.p4:11:13: error: expected an expression, found `;`"]);
    let rendered = received.render(&found, false);
    assert!(rendered.contains("root.p4:11:13") && rendered.contains("11 │ const T y = ;"), "{rendered}");
}

#[test]
fn markers_of_other_preprocessors_are_understood() {
    let text = "# 1 \"a.p4\" 1\nconst int a = 1;\n# 40 \"b \\\"q\\\".p4\" 2\nconst int b = 2;\n#line 7\nconst int c = 3;\n";
    let (source, diagnostics) = Source::from_text("r.p4", text, &Memory::default(), &Options::default());
    assert_eq!(diagnostics, []);
    let places = ["a =", "b =", "c ="].map(|word| place_of(&source, word));
    let shown = places.map(|place| format!("{}:{}", place.file, place.line));
    assert_eq!(shown, ["a.p4:1", "b \"q\".p4:40", "b \"q\".p4:7"]);
}

#[test]
fn diagnostics_have_a_form_for_people_and_one_for_programs() {
    let text = "const bit<8> é = 8w1 +;\n";
    let (source, diagnostics) = Source::from_text("r.p4", text, &Memory::default(), &Options::default());
    let found = all(&source, diagnostics);
    let machine = source.machine(&found[0]);
    assert_eq!((machine.line, machine.column, machine.severity), (1, 14, Severity::Error));
    assert_eq!(machine.help, "remove it");
    let plain = source.render(&found, false);
    assert!(plain.contains("┌─ r.p4:1:14") && !plain.contains('\u{1b}'), "{plain}");
    assert!(source.render(&found, true).contains('\u{1b}'));
}

#[test]
fn a_file_that_cannot_be_read_is_a_diagnostic() {
    let (source, diagnostics) = Source::load("no/such/file.p4", &Options::default());
    assert!(source.render(&diagnostics, false).contains("cannot read `no/such/file.p4`"));
    assert_eq!(parse(&source).0.decls.len(), 0);

    struct Refusing;
    impl SourceLoader for Refusing {
        fn read(&self, _: &std::path::Path, _: u64) -> std::io::Result<Vec<u8>> {
            Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "no right to read"))
        }
    }
    let (source, diagnostics) =
        Source::from_text("r.p4", "\n#include \"x.p4\"\n", &Refusing, &Options::default());
    let shown = source.machine(&diagnostics[0]).to_string();
    assert_eq!(shown, "r.p4:2:10: error: cannot read `x.p4`: no right to read");
}

#[test]
fn bytes_that_are_not_text_are_a_diagnostic() {
    struct Bytes;
    impl SourceLoader for Bytes {
        fn read(&self, _: &std::path::Path, _: u64) -> std::io::Result<Vec<u8>> {
            Ok(b"const int a = 1;\n\xff\xfe\n".to_vec())
        }
    }
    let (source, diagnostics) = Source::load_with("r.p4", &Bytes, &Options::default());
    assert_eq!(source.machine(&diagnostics[0]).line, 2);
    assert!(diagnostics[0].message.contains("not valid UTF-8"));
}

#[test]
fn once_and_defines() {
    let files = memory(&[("x.p4", "#pragma once\nconst int x = N;\n")]);
    let options = Options { defines: vec![("N".to_owned(), "7 + 1".to_owned())], ..Options::default() };
    let (source, diagnostics) =
        Source::from_text("r.p4", "#include \"x.p4\"\n#include \"x.p4\"\n", &files, &options);
    assert_eq!(diagnostics, []);
    assert_eq!(p4cc_syntax::print(&parse(&source).0), "const int x = (7 + 1);\n");
}
