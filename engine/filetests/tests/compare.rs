//! The comparison of source and BMv2 JSON by drawn packets: on the cases that p4c compiled nothing differs,
//! and what is changed in a document is found.
//!
//! It needs the feature `p4info`, which the crate of fuzz targets asks for in runs of the whole workspace.
#![cfg(feature = "p4info")]

use std::path::{Path, PathBuf};

use p4cc_filetests::compare::{Comparison, Report};
use p4cc_filetests::compile_source;
use p4cc_switch::ExecChoice;
use p4cc_syntax::{Options, Source};

/// Where JSON says something else than the source, and what the differences are.
const DIFFERENT: [(&str, &[&str]); 5] = [
    // p4c names the register by the control's type once, by its instance in the P4Info.
    ("block_arguments", &["the P4Info names register"]),
    // JSON holds BMv2's priorities of entries, which its server shows turned round.
    ("const_entries", &["entries differ"]),
    // JSON has no width of a selector's hash, so all bits choose the member.
    ("profiles", &["packet "]),
    // JSON does not tell `entries` from `const entries`; priorities as above.
    ("signed_ranges", &["only the source takes", "entries differ"]),
    // A transition to `reject` is one to `accept` in JSON.
    ("subparsers", &["counts of packets differ"]),
];

/// Packets of each comparison.
const PACKETS: usize = 120;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

fn document(name: &str) -> String {
    std::fs::read_to_string(cases().join("bmv2").join(format!("{name}.json")))
        .expect("part of the repository")
}

fn compared(name: &str, document: &str, exec: ExecChoice) -> Result<Report, String> {
    let path = cases().join("run").join(format!("{name}.p4"));
    let (source, found) = Source::load(path, &Options::default());
    let text = source.text().to_owned();
    let program = compile_source(source, found).program.expect("the case compiles");
    let info = p4cc_p4runtime::p4info(&program).expect("it has a P4Info");
    let comparison = Comparison { source: &text, document, info: &info, cpu_port: 64, exec };
    comparison.run(PACKETS, 1)
}

#[test]
fn cases_and_their_documents_agree() {
    let files = std::fs::read_dir(cases().join("bmv2")).expect("part of the repository");
    let mut names: Vec<String> = files
        .map(|file| file.expect("readable").path())
        .map(|path| path.file_stem().expect("a file").to_string_lossy().into_owned())
        .collect();
    names.sort();
    let (mut left, mut hits) = (0, 0);
    for name in &names {
        for exec in [ExecChoice::Interp, ExecChoice::Native] {
            let known = DIFFERENT.iter().find(|(one, _)| one == name).map(|(_, difference)| *difference);
            let report = match compared(name, &document(name), exec) {
                Ok(report) => report,
                Err(error) => {
                    assert!(known.is_some_and(|known| error.contains(known[0])), "{name}: {error}");
                    continue;
                }
            };
            match known {
                None => assert!(report.differences.is_empty(), "{name}: {}", report.differences[0]),
                Some(known) => {
                    assert!(!report.differences.is_empty(), "{name} agrees now: take it out of the list");
                    let other =
                        report.differences.iter().find(|one| !known.iter().any(|known| one.contains(known)));
                    assert!(other.is_none(), "{name}: {other:?}");
                }
            }
            assert_eq!(report.sent, PACKETS, "{name}");
            left += report.left;
            hits += report.reached.iter().filter(|(step, _)| step.starts_with("hit ")).count();
        }
    }
    assert!(names.len() >= 30, "{} documents", names.len());
    assert!(left > names.len() * PACKETS / 2, "{left} packets left");
    assert!(hits > 10, "{hits} tables were hit");
}

/// One text of a document in place of another.
fn changed(name: &str, from: &str, to: &str) -> String {
    let text: String = document(name).split_whitespace().collect();
    assert!(text.contains(from), "{name} has no {from}");
    text.replacen(from, to, 1)
}

#[test]
fn what_is_changed_is_found() {
    let changes = [
        // Where each packet goes.
        ("forwarding", r#"{"type":"hexstr","value":"0x0001"}"#, r#"{"type":"hexstr","value":"0x0002"}"#),
        // A state that one packet in 65,536 takes, where none is led there.
        ("select", r#""value":"0x0900""#, r#""value":"0x0a00""#),
        // What a packet gets that no entry matches.
        ("tables", r#""action_data":["0xff"]"#, r#""action_data":["0xfe"]"#),
    ];
    for (name, from, to) in changes {
        let text = changed(name, from, to);
        let report = compared(name, &text, ExecChoice::Interp).expect("the document is still read");
        assert!(!report.differences.is_empty(), "{name}: {to}");
    }
}
