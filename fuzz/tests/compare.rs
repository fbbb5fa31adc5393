//! The comparison of source and BMv2 JSON by drawn packets: on the cases that p4c compiled nothing differs, and
//! what is changed in a document is found.

use std::path::{Path, PathBuf};

use p4cc_filetests::compare::{Comparison, Report};
use p4cc_filetests::compile_source;
use p4cc_switch::ExecChoice;
use p4cc_syntax::{Options, Source};

/// Packets of each comparison.
const PACKETS: usize = 120;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/filetests/cases")
}

fn document(name: &str) -> String {
    std::fs::read_to_string(cases().join("bmv2").join(format!("{name}.json")))
        .expect("part of the repository")
}

fn compared(name: &str, document: &str, exec: ExecChoice) -> Report {
    let path = cases().join("run").join(format!("{name}.p4"));
    let (source, found) = Source::load(path, &Options::default());
    let text = source.text().to_owned();
    let program = compile_source(source, found).program.expect("the case compiles");
    let info = p4cc_p4runtime::p4info(&program).expect("it has a P4Info");
    let comparison = Comparison { source: &text, document, info: &info, cpu_port: 64, exec };
    comparison.run(PACKETS, 1).unwrap_or_else(|error| panic!("{name}: {error}"))
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
            let report = compared(name, &document(name), exec);
            assert!(report.differences.is_empty(), "{name}: {}", report.differences[0]);
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
        let report = compared(name, &text, ExecChoice::Interp);
        assert!(!report.differences.is_empty(), "{name}: {to}");
    }
}
