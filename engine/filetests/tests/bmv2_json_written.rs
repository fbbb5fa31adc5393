//! The writer of BMv2 JSON: every case, written and read back, behaves as its source does.

use p4cc_filetests::{compile, runner};
use p4cc_ir::Architecture;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Cases that the format, or BMv2, cannot express, and why; p4c refuses them too.
const REFUSED: [(&str, &str); 4] = [
    ("checksum16", "more than conditions and calls"),
    ("deparser_calls", "code after emit"),
    ("dont_care_types", "cells that start with a value"),
    ("psa_externs", "cells that start with a value"),
];

/// Metadata that PSA's deparsers give to clones, and to packets that go again: psa_switch has none.
const WITHOUT_METADATA: &str = "psa_paths";

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/run");
    let files = std::fs::read_dir(folder).expect("part of the repository");
    let mut found: Vec<PathBuf> = files.map(|file| file.expect("readable").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "p4"));
    found.sort();
    found
}

#[test]
fn cases_written_behave_as_their_source_does() {
    let (mut ran, mut refused, mut problems) = (0, 0, Vec::new());
    for path in cases() {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let program = compile(&path).program.expect("the case compiles");
        if matches!(program.architecture, Architecture::Tna(_)) {
            continue;
        }
        ran += 1;
        let document = match p4cc_bmv2json::write(&program) {
            Ok(document) => document.to_string(),
            Err(error) if REFUSED.contains(&(name.as_str(), error.cause.split(',').next().unwrap_or(""))) => {
                refused += 1;
                continue;
            }
            Err(error) => {
                problems.push(format!("{name}: not written: {error}"));
                continue;
            }
        };
        problems.extend(parameters_that_bmv2_refuses(&document).map(|what| format!("{name}: {what}")));
        problems.extend(what_bmv2_takes_otherwise(&document).iter().map(|what| format!("{name}: {what}")));
        let (program, errors) = p4cc_bmv2json::read(&document);
        match program {
            None => problems.push(format!("{name}: not read: {:?}", errors.first())),
            Some(program) => {
                if name != WITHOUT_METADATA
                    && let Err(failure) = runner::run_program(&path, program)
                {
                    problems.push(failure.to_string());
                }
            }
        }
    }
    assert_eq!(refused, REFUSED.len(), "a case of the list is written now, or gone");
    assert!(problems.is_empty(), "{} of {ran}:\n{}", problems.len(), problems.join("\n"));
}

/// Results that are conditions, which no parameter of a primitive may be.
const CONDITIONS: [&str; 11] = ["==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "d2b", "valid"];

/// Parameters of primitives that BMv2 1.15 ends at, though p4cc reads them: a computed value holds its
/// expression as a typed value once more, and it is a number or a header.
fn parameters_that_bmv2_refuses(document: &str) -> impl Iterator<Item = String> {
    let document: Value = serde_json::from_str(document).expect("JSON");
    let mut found = Vec::new();
    let mut rest = vec![&document];
    while let Some(value) = rest.pop() {
        if let (Some(op), Some(parameters)) = (value["op"].as_str(), value["parameters"].as_array())
            && !["verify", "extract_VL"].contains(&op)
        {
            for parameter in parameters {
                let inner = &parameter["value"]["value"]["op"];
                let is_refused = match parameter["type"].as_str() {
                    Some("expression") => inner.as_str().is_none_or(|op| CONDITIONS.contains(&op)),
                    Some("bool") => true,
                    _ => false,
                };
                if is_refused {
                    found.push(format!("{op} has the parameter {parameter}"));
                }
            }
        }
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            _ => {}
        }
    }
    found.into_iter()
}

/// What BMv2 1.15 gives another meaning than this crate's reader: a request whose field list is 0, which
/// means that no request was made, or is not in the document; a comparison of headers that does not ask
/// first whether both are invalid.
fn what_bmv2_takes_otherwise(document: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(document).expect("JSON");
    let mut found = Vec::new();
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let lists: Vec<u64> =
        items(&document["field_lists"]).iter().filter_map(|list| list["id"].as_u64()).collect();
    for call in items(&document["actions"]).iter().flat_map(|action| items(&action["primitives"])) {
        let at = match call["op"].as_str() {
            Some("clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress") => 1,
            Some("resubmit" | "recirculate") => 0,
            _ => continue,
        };
        let id = call["parameters"][at]["value"].as_str().map(|digits| digits.trim_start_matches("0x"));
        let id = id.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
        if id == 0 || !lists.contains(&id) {
            found.push(format!("{} has the field list {id}", call["op"]));
        }
    }
    let mut rest = vec![(&document, false)];
    while let Some((value, in_or)) = rest.pop() {
        let op = value["op"].as_str();
        if matches!(op, Some("==" | "!=")) && value["left"]["type"] == "header" && !in_or {
            found.push(format!("{value} does not ask for validity"));
        }
        match value {
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, false))),
            Value::Object(_) if op == Some("or") => {
                rest.extend([&value["left"]["value"], &value["right"]["value"]].map(|part| (part, true)));
            }
            Value::Object(fields) => rest.extend(fields.values().map(|field| (field, false))),
            _ => {}
        }
    }
    found
}

/// What doubles when it is written out is refused at a bound, by its place.
#[test]
fn programs_that_double_are_refused_at_their_bound() {
    for (name, place) in [("doubling_checksum", "compute_checksum"), ("doubling_actions", "I.a")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("cases/not_written/{name}.p4"));
        let compiled = compile(&path);
        let Some(program) = compiled.program else {
            panic!("{name}: {}", compiled.source.render(&compiled.diagnostics, false));
        };
        let error = p4cc_bmv2json::write(&program).expect_err(name);
        assert!(error.place.starts_with(place), "{error}");
        assert!(error.cause.contains("written out"), "{error}");
    }
}
