//! BMv2 JSON: the cases compiled by p4c behave as their source does, documents of our own show what no case
//! does, and nothing that is wrong with a document makes the reader panic.
//!
//! `cases/bmv2/NAME.json` is what `p4c-bm2-ss cases/run/NAME.p4` wrote, without `source_info`. Cases that p4c
//! cannot compile have none. Nor have a few whose document says something else than the source, or nothing
//! BMv2 can run: `stacks` and `varbit_equal` (a header is written where only a field can), `hash_invalid`
//! (p4c copies the fields before it hashes them, so that none is left out), `anonymous_profiles` and
//! `tuple_digest` (names that are not those of p4c's P4Info), `no_bits` (fields of width 0, which the reader
//! does not take yet).

use p4cc_filetests::{runner, stf};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name)
}

/// Names and texts of the documents in the repository.
fn corpus() -> &'static [(String, String)] {
    static CORPUS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let files = std::fs::read_dir(folder("bmv2")).expect("part of the repository");
        let paths = files.map(|file| file.expect("readable").path());
        let mut found: Vec<(String, String)> = paths
            .map(|path| {
                let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
                (name, std::fs::read_to_string(&path).expect("part of the repository"))
            })
            .collect();
        found.sort();
        found
    })
}

#[test]
fn cases_behave_as_their_source_does() {
    let mut ran = 0;
    for (name, text) in corpus() {
        let (program, errors) = p4cc_bmv2json::read(text);
        let program = program.unwrap_or_else(|| panic!("{name}: {errors:#?}"));
        if let Err(failure) = runner::run_program(&folder("run").join(format!("{name}.p4")), program) {
            panic!("{failure}");
        }
        ran += 1;
    }
    assert!(ran >= 30, "only {ran} documents");
}

/// A document of our own with what p4c's output for the cases does not hold:
/// an older error list and older metadata, action calls, arithmetic primitives
/// of the first version, direct counter and meter, a stack of unions.
fn document() -> Value {
    let text =
        std::fs::read_to_string(folder("bmv2_own").join("older.json")).expect("part of the repository");
    serde_json::from_str(&text).expect("valid JSON")
}

#[test]
fn what_older_compilers_wrote_runs_as_in_bmv2() {
    let folder = folder("bmv2_own");
    let problems = stf::run_files(&folder.join("older.json"), &folder.join("older.stf"));
    assert!(problems.is_empty(), "{problems:#?}");
}

/// A document of our own for psa_switch, with the externs that p4cc's writer has no use for.
#[test]
fn externs_of_psa_run_as_in_psa_switch() {
    let folder = folder("bmv2_own");
    let problems = stf::run_files(&folder.join("psa.json"), &folder.join("psa.stf"));
    assert!(problems.is_empty(), "{problems:#?}");
    let mut document: Value = serde_json::from_str(
        &std::fs::read_to_string(folder.join("psa.json")).expect("part of the repository"),
    )
    .expect("valid JSON");
    document["parsers"].as_array_mut().expect("parsers").pop();
    let (program, errors) = p4cc_bmv2json::read(&document.to_string());
    assert!(program.is_none());
    assert!(
        errors.iter().any(|error| error.cause.contains("`parsers` has no `egress_parser`")),
        "{errors:#?}"
    );
}

/// A parser's `setValid` is an assignment to `$valid$` in p4c's JSON; a field list may hold constants, of
/// which BMv2 keeps nothing.
#[test]
fn validity_is_set_in_parsers_and_constants_stand_in_field_lists() {
    let (_, text) = corpus().iter().find(|(name, _)| name == "set_valid").expect("part of the repository");
    for (value, valid) in [("0x01", true), ("0x00", false)] {
        let mut document: Value = serde_json::from_str(text).expect("valid JSON");
        let constant = json!({ "type": "hexstr", "value": value });
        let field = json!({ "type": "field", "value": ["extra", "$valid$"] });
        let set = json!({ "op": "set", "parameters": [field, constant] });
        let ops = &mut document["parsers"][0]["parse_states"][0]["parser_ops"];
        ops.as_array_mut().expect("a list").push(set);
        let kept = json!({ "type": "field", "value": ["standard_metadata", "priority"] });
        document["field_lists"] =
            json!([{ "id": 1, "name": "fl", "elements": [{ "type": "hexstr", "value": "0x07" }, kept] }]);
        let (program, errors) = p4cc_bmv2json::read(&document.to_string());
        let program = program.unwrap_or_else(|| panic!("{errors:?}"));
        assert_eq!(program.field_lists[0].vars.len(), 1, "the constant is no field");
        let sets = |inst: &p4cc_ir::Inst| match inst {
            p4cc_ir::Inst::SetValid { header } => valid.then_some(*header),
            p4cc_ir::Inst::SetInvalid { header } => (!valid).then_some(*header),
            _ => None,
        };
        let parser = program.funcs.iter().find(|func| func.name == "parser").expect("p4c's name");
        let set = parser.blocks.iter().flat_map(|block| &block.insts).find_map(sets).expect("it is set");
        assert_eq!(program.headers[set.index()].name, "extra");
    }
}

/// What p4c wrote before 2019 gives the length of a header with a varbit in bits; later, in bytes.
#[test]
fn lengths_in_bits_of_older_compilers_are_told_by_their_value() {
    let with = |version: Value, fields: Value, length: u32| {
        let mut document = document();
        document["__meta__"]["version"] = version;
        let id = document["header_types"].as_array().expect("a list").len();
        let ty = json!({ "name": "long_h", "id": id, "fields": fields, "max_length": length });
        document["header_types"].as_array_mut().expect("a list").push(ty);
        let (program, errors) = p4cc_bmv2json::read(&document.to_string());
        let program = program.unwrap_or_else(|| panic!("{errors:?}"));
        let long = program.header_types.iter().find(|ty| ty.name == "long_h").expect("just added");
        long.fields.last().expect("a varbit").ty.width()
    };
    let (old, new) = (json!([2, 7]), json!([2, 23]));
    let alone = json!([["options", "*"]]);
    let behind = json!([["fixed", 160, false], ["options", "*"]]);
    // 320 bits of options: 40 bytes today, 320 then; behind 160 other bits 60 bytes or 480 bits.
    assert_eq!(with(new.clone(), alone.clone(), 40), 320);
    assert_eq!(with(old.clone(), alone.clone(), 320), 320);
    assert_eq!(with(old.clone(), alone.clone(), 40), 320);
    assert_eq!(with(new.clone(), behind.clone(), 60), 320);
    assert_eq!(with(old.clone(), behind.clone(), 480), 320);
    assert_eq!(with(old, behind, 60), 320);
    // A compiler of today means bytes, however many.
    assert_eq!(with(new, alone, 1500), 12_000);
}

#[test]
fn every_fault_names_its_path_and_a_remedy() {
    let edits: [(&str, Value, &str, &str); 13] = [
        ("/__meta__/version/0", json!(3), "__meta__.version", "version [3,18]"),
        ("/headers/2/header_type", json!("x"), "headers[2]", "no header type `x`"),
        ("/header_types/2/fields/0/1", json!(4096), "header_types[2].fields[0][1]", "from 0 to 2048"),
        ("/header_types/2/fields/0/1", json!(1e300), "header_types[2].fields[0][1]", "from 0 to 2048"),
        ("/parsers/0/init_state", json!("x"), "parsers[0].init_state", "no state `x`"),
        (
            "/parsers/0/parse_states/0/transitions/0/value",
            json!("0x107"),
            "parsers[0].parse_states[0].transitions[0].value",
            "does not fit the key's 8 bits",
        ),
        ("/actions/0/primitives/0/op", json!("frob"), "actions[0].primitives[0]", "`frob` is unknown"),
        (
            "/actions/0/primitives/1/parameters/1/value/1",
            json!("x"),
            "actions[0].primitives[1].parameters[1].value",
            "no field `x`",
        ),
        (
            "/actions/2/primitives/0/parameters/1/value",
            json!(1),
            "actions[2].primitives[0].parameters[1].value",
            "no action parameter 1",
        ),
        (
            "/pipelines/0/conditionals/0/expression/value/op",
            json!("<=>"),
            "pipelines[0].conditionals[0].expression.value",
            "`<=>` is unknown",
        ),
        (
            "/pipelines/0/tables/0/next_tables/set",
            json!("x"),
            "pipelines[0].tables[0].next_tables.set",
            "no table",
        ),
        (
            "/pipelines/0/tables/0/max_size",
            json!(4294967295u32),
            "pipelines[0].tables[0].max_size",
            "1048576",
        ),
        ("/deparsers/0/order/0", json!("meta"), "deparsers[0].order[0]", "metadata cannot be sent"),
    ];
    for (pointer, value, path, cause) in edits {
        let mut document = document();
        *document.pointer_mut(pointer).expect("a place in the document") = value;
        let (program, errors) = p4cc_bmv2json::read(&document.to_string());
        assert!(program.is_none(), "{pointer}");
        let found = errors.iter().any(|error| {
            error.path.starts_with(path) && error.cause.contains(cause) && !error.remedy.is_empty()
        });
        assert!(found, "{pointer}: {errors:#?}");
    }
}

#[test]
fn hostile_documents_are_refused() {
    let sum = |terms: usize| {
        let mut text = r#"{"type": "hexstr", "value": "0x1"}"#.to_owned();
        for _ in 0..terms {
            text = format!(
                r#"{{"type":"expression","value":{{"op":"+","left":{text},"right":{{"type":"hexstr","value":"0x1"}}}}}}"#
            );
        }
        let marker = document();
        marker.to_string().replacen(r#"{"type":"hexstr","value":"0xff"}"#, &text, 1)
    };
    assert!(p4cc_bmv2json::read(&sum(200)).0.is_some(), "a long sum is read");
    for text in [
        sum(5_000),
        "[".repeat(1 << 20),
        "{\"a\":".repeat(1 << 18),
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "\u{0}".to_owned(),
        r#"{"pipelines": 3}"#.to_owned(),
    ] {
        let (program, errors) = p4cc_bmv2json::read(&text);
        assert!(program.is_none() && !errors.is_empty(), "{:.40}", text);
    }
}

/// A table may follow itself, as one that is applied at two places does. Where it always does, the control
/// ends at the limit of steps.
#[test]
fn a_table_that_always_follows_itself_ends_at_the_limit() {
    let (_, text) = corpus().iter().find(|(name, _)| name == "forwarding").expect("part of the repository");
    let mut document: Value = serde_json::from_str(text).expect("valid JSON");
    let table = &mut document["pipelines"][0]["tables"][0];
    let name = table["name"].clone();
    table["base_default_next"] = name.clone();
    table["next_tables"]
        .as_object_mut()
        .expect("an object")
        .values_mut()
        .for_each(|next| *next = name.clone());
    let (program, errors) = p4cc_bmv2json::read(&document.to_string());
    let program = program.unwrap_or_else(|| panic!("{errors:#?}"));
    let failure = runner::run_program(&folder("run").join("forwarding.p4"), program)
        .expect_err("the rest of the control is cut off");
    assert!(failure.to_string().contains("should send"), "{failure}");
}

#[test]
fn what_would_grow_without_bound_is_refused() {
    let mut document = document();
    let stack = |document: &mut Value, name: &str, first: usize| {
        let ids: Vec<usize> = (first..first + 1_024).collect();
        let headers = document["headers"].as_array_mut().expect("a list");
        headers.extend(ids.iter().map(|id| {
            json!({"name": format!("{name}[{id}]"), "id": id, "header_type": "one_t", "metadata": false})
        }));
        json!({"name": name, "id": first, "header_type": "one_t", "size": 1024, "header_ids": ids})
    };
    let stacks = [stack(&mut document, "s", 1_000), stack(&mut document, "t", 3_000)];
    document["header_stacks"] = json!(stacks);
    let index = json!({"type": "field", "value": ["h", "f"]});
    let element = |stack: &str| {
        let stack = json!({"type": "header_stack", "value": stack});
        let op = json!({"op": "dereference_header_stack", "left": stack, "right": index});
        json!({"type": "expression", "value": op})
    };
    // Each of these is a million copies.
    let copy = json!({"op": "assign_header", "parameters": [element("s"), element("t")]});
    document["actions"][0]["primitives"] = json!(vec![copy; 10_000]);
    let (program, errors) = p4cc_bmv2json::read(&document.to_string());
    assert!(program.is_none());
    assert!(errors.iter().any(|error| error.cause.contains("at most")), "{errors:#?}");
}

/// All places of a document.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| places(item, &format!("{at}/{i}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, item)| places(item, &format!("{at}/{}", escaped(key)), found));
        }
        _ => {}
    }
}

/// Puts something else in the place of a value.
fn mutate(document: &mut Value, place: usize, other: usize, kind: u8) {
    let mut found = Vec::new();
    places(document, "", &mut found);
    let (to, from) = (&found[place % found.len()], &found[other % found.len()]);
    let copy = document.pointer(from).cloned().unwrap_or_default();
    let Some(value) = document.pointer_mut(to) else { return };
    *value = match kind {
        0 => Value::Null,
        1 => json!(u64::MAX),
        2 => json!("0x100000000000000000000000000000000000"),
        3 => json!(-1),
        4 => json!([]),
        5 => json!(0),
        6 => json!("$valid$"),
        _ => copy,
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutants_are_read_or_refused_and_run(
        which in any::<usize>(),
        edits in prop::collection::vec((any::<usize>(), any::<usize>(), 0u8..10), 1..4),
    ) {
        let all = corpus();
        let mut mutant = match all.get(which % (all.len() + 1)) {
            Some((_, text)) => serde_json::from_str(text).expect("valid JSON"),
            None => document(),
        };
        for (place, other, kind) in edits {
            mutate(&mut mutant, place, other, kind);
        }
        let (program, errors) = p4cc_bmv2json::read(&mutant.to_string());
        prop_assert_eq!(program.is_none(), !errors.is_empty());
        if let Some(program) = program {
            prop_assert!(p4cc_ir::verify::verify(&program).is_empty());
            // Whatever the mutant does, it ends.
            stf::run(
                &Arc::new(program),
                "packet 0 0123456789abcdef0123456789abcdef\npacket 1 00\n",
                p4cc_switch::ExecChoice::Native,
            );
        }
    }
}
