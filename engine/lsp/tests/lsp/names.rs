//! Definition, references, hover, signatures, outline, hints, rename.

use crate::PROGRAM;
use crate::client::{Client, marked, position};
use serde_json::{Value, json};

fn started(name: &str) -> Client {
    let mut client = Client::start(name);
    client.open("main.p4", PROGRAM);
    client
}

/// Where a definition or reference is: file and line.
fn place(location: &Value) -> (String, u64) {
    let uri = location["uri"].as_str().expect("an address");
    let file = uri.rsplit('/').next().expect("a name").to_owned();
    (file, location["range"]["start"]["line"].as_u64().expect("a line") + 1)
}

fn line_of(text: &str, part: &str) -> u64 {
    text[..text.find(part).expect("the part")].matches('\n').count() as u64 + 1
}

#[test]
fn the_program_of_the_tests_is_right() {
    let mut client = started("right");
    assert_eq!(client.diagnostics("main.p4"), [] as [&str; 0]);
    client.end();
}

#[test]
fn a_definition_is_found_through_includes_macros_and_expressions() {
    let mut client = started("definition");
    let here = |part| ("main.p4".to_owned(), line_of(PROGRAM, part));
    // The name, which of its places, and where it is declared.
    let cases = [
        ("ethernet.kind", 0, here("ethernet_t ethernet")),
        ("kind) {", 0, here("bit<16>  kind")),
        ("parse_ipv4;", 0, here("state parse_ipv4")),
        ("mac_t    src", 0, here("typedef")),
        ("TYPE_IPV4:", 0, here("const bit<16>")),
        ("RED;", 0, here("enum bit<8>")),
        ("forward;", 0, here("action forward")),
        ("apply();", 0, here("apply();")),
        ("routes.apply", 0, here("table routes")),
        ("count, 0", 0, here("bit<32> count")),
        ("WIDTH>", 0, here("#define WIDTH")),
        ("FIELD(ipv4)", 0, here("#define FIELD")),
        ("ipv4).ttl", 0, here("ipv4_t     ipv4")),
        ("ttl = hdr", 0, here("bit<8>  ttl")),
        ("P(), V()", 0, here("parser P")),
    ];
    for (word, nth, expected) in cases {
        let found = client.at("textDocument/definition", "main.p4", position(PROGRAM, word, nth));
        let found = found.expect("an answer");
        if word == "apply();" {
            assert_eq!(found, Value::Null, "{word}");
        } else {
            assert_eq!(place(&found), expected, "{word}");
        }
    }
    for (word, file) in
        [("standard_metadata_t std", "v1model.p4"), ("extract(", "core.p4"), ("read(", "v1model.p4")]
    {
        let found = client.at("textDocument/definition", "main.p4", position(PROGRAM, word, 0));
        let found = found.expect("an answer");
        assert_eq!(place(&found).0, file, "{word}");
        let path = found["uri"].as_str().and_then(|uri| uri.strip_prefix("file://")).expect("a path");
        assert!(std::fs::read_to_string(path).is_ok_and(|text| text.contains("extern")), "{path}");
    }
    client.end();
}

#[test]
fn references_are_all_places_of_one_declaration() {
    let mut client = started("references");
    let mut ask = |word: &str| {
        let params = json!({
            "textDocument": { "uri": client.uri("main.p4") },
            "position": position(PROGRAM, word, 0),
            "context": { "includeDeclaration": true },
        });
        let found = client.ask("textDocument/references", params).expect("an answer");
        found.as_array().expect("a list").iter().map(|one| place(one).1).collect::<Vec<_>>()
    };
    // `hdr` of the parser is another than that of each control.
    let lines = ask("hdr, inout meta_t meta, inout standard");
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(
        ask("ttl;"),
        [line_of(PROGRAM, "bit<8>  ttl"), line_of(PROGRAM, "FIELD(ipv4)"), line_of(PROGRAM, "FIELD(ipv4)")]
    );
    assert_eq!(ask("parse_ipv4;").len(), 2);
    client.end();
}

#[test]
fn hover_says_type_width_and_comment() {
    let mut client = started("hover");
    let cases: [(&str, &[&str]); 8] = [
        ("src;", &["mac_t ethernet_t.src", "bit<48>", "48 bits", "bit 48", "who sent it"]),
        ("ethernet_t ethernet", &["header ethernet_t", "112 bits, 14 bytes", "An Ethernet header."]),
        ("TYPE_IPV4:", &["const bit<16> TYPE_IPV4 = 2048"]),
        ("forward;", &["action forward(bit<9> port)", "Sends a packet on."]),
        ("RED;", &["Color.RED = 1"]),
        ("routes.apply", &["table routes", "keys: exact; actions: forward, drop"]),
        ("WIDTH>", &["#define WIDTH 48"]),
        ("emit(", &["void emit<T>(in T"]),
    ];
    for (word, parts) in cases {
        let found =
            client.at("textDocument/hover", "main.p4", position(PROGRAM, word, 0)).expect("an answer");
        let text = found["contents"]["value"].as_str().unwrap_or_default();
        for part in parts {
            assert!(text.contains(part), "{word}: {part} in {text}");
        }
    }
    client.end();
}

#[test]
fn signatures_follow_the_commas() {
    let mut client = started("signature");
    for (call, label, active) in [
        ("seen.write($0", "void write(in bit<32> index, in T value)", 0),
        ("seen.write(0, $0", "void write(in bit<32> index, in T value)", 1),
        ("forward($0", "action forward(bit<9> port)", 0),
        ("mark_to_drop($0", "void mark_to_drop(inout standard_metadata_t standard_metadata)", 0),
    ] {
        let (text, position) =
            marked(&PROGRAM.replace("bit<32> count;", &format!("bit<32> count;\n        {call}")));
        client.change("main.p4", json!([{ "text": text }]));
        let found = client.at("textDocument/signatureHelp", "main.p4", position).expect("an answer");
        let shown = &found["signatures"][found["activeSignature"].as_u64().unwrap_or(0) as usize];
        assert!(
            shown["label"].as_str().is_some_and(|found| found.starts_with(&label[..label.len() - 1]))
                || shown["label"] == json!(label),
            "{call}: {found}"
        );
        assert_eq!(found["activeParameter"], json!(active), "{call}");
    }
    client.end();
}

#[test]
fn the_outline_holds_parts_in_their_whole() {
    let mut client = started("outline");
    let found = client
        .ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": client.uri("main.p4") } }));
    let found = found.expect("an answer");
    let names = |list: &Value| {
        let all = list.as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let tops = names(&found);
    assert_eq!(tops[..4], ["mac_t", "TYPE_IPV4", "ethernet_t", "ipv4_t"]);
    let ingress =
        found.as_array().and_then(|all| all.iter().find(|one| one["name"] == json!("I"))).expect("I");
    assert_eq!(names(&ingress["children"]), ["seen", "forward", "drop", "routes"]);
    let parser =
        found.as_array().and_then(|all| all.iter().find(|one| one["name"] == json!("P"))).expect("P");
    assert_eq!(names(&parser["children"]), ["start", "parse_ipv4"]);
    client.end();
}

#[test]
fn hints_say_where_a_field_stands() {
    let mut client = started("hints");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 24, "character": 0 } });
    let params = json!({ "textDocument": { "uri": client.uri("main.p4") }, "range": range });
    let found = client.ask("textDocument/inlayHint", params).expect("an answer");
    let found: Vec<&str> =
        found.as_array().expect("a list").iter().filter_map(|one| one["label"].as_str()).collect();
    assert_eq!(found, ["byte 0", "byte 6", "byte 12", "byte 0", "byte 0, bit 4", "byte 1", "byte 0"]);
    client.end();
}

#[test]
fn a_rename_changes_every_place_or_says_why_not() {
    let mut client = started("rename");
    let mut rename = |word: &str, nth: usize, name: &str| {
        let params = json!({
            "textDocument": { "uri": client.uri("main.p4") },
            "position": position(PROGRAM, word, nth),
            "newName": name,
        });
        client.ask("textDocument/rename", params)
    };
    let edits = rename("forward;", 0, "send").expect("an answer");
    let edits = edits["changes"].as_object().expect("changes").values().next().expect("a file").clone();
    assert_eq!(edits.as_array().map(Vec::len), Some(2), "{edits}");
    for (word, name, why) in [
        ("forward;", "table", "a word of the language"),
        ("forward;", "1x", "not a name"),
        ("forward;", "drop", "another action"),
        ("dst;", "src", "another field"),
        ("extract(", "take", "comes with p4cc"),
        ("ipv4;", "ip", "a macro gives `ipv4`"),
        ("WIDTH>", "W", "this is a macro"),
        ("transition accept", "x", "no name of the program"),
    ] {
        let refused = rename(word, 0, name).expect_err("a refusal");
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(message.contains(why), "{word} to {name}: {message}");
    }
    client.end();
}
