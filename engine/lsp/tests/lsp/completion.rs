//! Completion where half a line is typed.

use crate::PROGRAM;
use crate::client::{Client, marked};
use serde_json::{Value, json};

/// Labels that are offered at the mark.
fn offered(client: &mut Client, text: &str) -> Vec<String> {
    let (text, position) = marked(text);
    client.change("main.p4", json!([{ "text": text }]));
    let found = client.at("textDocument/completion", "main.p4", position).expect("an answer");
    let items = found["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| item["label"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn members_and_names_are_offered_in_their_places() {
    let mut client = Client::start("completion");
    client.open("main.p4", PROGRAM);
    let body = "bit<32> count;";
    let key = "hdr.ethernet.dst: exact;";
    // Where the mark goes, what is offered there, and what is not.
    let cases: [(&str, String, &[&str], &[&str]); 15] = [
        (body, format!("{body} hdr.$0"), &["ethernet", "ipv4", "labels"], &["count", "hdr"]),
        (body, format!("{body} hdr.ipv4.$0"), &["ttl", "isValid", "setInvalid"], &["ethernet"]),
        (body, format!("{body} if (hdr.ipv4.t$0"), &["ttl"], &["ethernet"]),
        (body, format!("{body} hdr.labels[0].$0"), &["value", "setValid"], &["next"]),
        (body, format!("{body} hdr.labels.$0"), &["push_front", "size"], &["value"]),
        (body, format!("{body} meta.color = Color.$0"), &["RED", "BLUE"], &["ttl"]),
        (body, format!("{body} x = error.$0"), &["NoError", "PacketTooShort"], &["RED"]),
        (body, format!("{body} seen.$0"), &["read", "write"], &["apply"]),
        (body, format!("{body} routes.$0"), &["apply"], &["read"]),
        (body, format!("{body} if (routes.apply().$0"), &["hit", "miss", "action_run"], &["read"]),
        (body, format!("{body} co$0"), &["count", "hdr", "seen", "routes", "WIDTH", "if"], &["ttl"]),
        (
            "{ forward; drop; }",
            "{ forward; $0 }".to_owned(),
            &["drop", "forward", "NoAction"],
            &["hdr", "routes"],
        ),
        (key, "hdr.ethernet.dst: $0".to_owned(), &["exact", "lpm", "ternary", "selector"], &["hdr"]),
        ("default: accept;", "default: $0".to_owned(), &["accept", "reject", "parse_ipv4"], &["hdr"]),
        ("table routes {", "@$0\n table routes {".to_owned(), &["name", "hidden", "p4cc_role"], &["hdr"]),
    ];
    for (old, new, with, without) in cases {
        let found = offered(&mut client, &PROGRAM.replacen(old, &new, 1));
        for name in with {
            assert!(found.iter().any(|label| label == name), "{new}: {name} in {found:?}");
        }
        for name in without {
            assert!(!found.iter().any(|label| label == name), "{new}: {name} in {found:?}");
        }
    }
    client.end();
}

#[test]
fn a_control_that_is_not_closed_yet_keeps_its_names() {
    let mut client = Client::start("unclosed");
    client.open("main.p4", PROGRAM);
    let head = PROGRAM.split("    apply {\n        meta.color").next().expect("the head");
    for rest in [
        "    apply {\n        hdr.$0",
        "    apply {\n        if (hdr.$0",
        "    apply {\n        if (x) { hdr.$0\n",
    ] {
        let found = offered(&mut client, &format!("{head}{rest}"));
        assert!(found.iter().any(|label| label == "ethernet"), "{rest}: {found:?}");
    }
    client.end();
}

#[test]
fn includes_offer_files() {
    let mut client = Client::start("includes");
    client.write("headers.p4", "header h_t { bit<8> x; }\n");
    client.write("parts/deep.p4", "");
    client.open("main.p4", PROGRAM);
    for (line, expected) in [
        ("#include <$0", &["core.p4", "psa.p4", "tna.p4"][..]),
        ("#include \"$0", &["headers.p4", "parts/"]),
        ("#include \"parts/$0", &["deep.p4"]),
        ("#inc$0", &[]),
    ] {
        let found = offered(&mut client, &format!("{line}\n{PROGRAM}"));
        assert!(expected.iter().all(|name| found.iter().any(|label| label == name)), "{line}: {found:?}");
    }
    client.end();
}

#[test]
fn an_item_says_what_it_is() {
    let mut client = Client::start("item");
    client.open("main.p4", PROGRAM);
    let (text, position) = marked(&PROGRAM.replace("bit<32> count;", "bit<32> count; hdr.ethernet.$0"));
    client.change("main.p4", json!([{ "text": text }]));
    let found = client.at("textDocument/completion", "main.p4", position).expect("an answer");
    let items = found["items"].as_array().expect("a list");
    let item = items.iter().find(|item| item["label"] == json!("src")).expect("the field");
    assert_eq!(item["detail"], json!("mac_t ethernet_t.src"));
    assert_eq!(item["documentation"]["value"], json!("who sent it"));
    assert_ne!(item["kind"], Value::Null);
    client.end();
}
