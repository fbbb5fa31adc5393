//! Remedies: each is offered for the message that names it, and makes the message go.

use crate::PROGRAM;
use crate::client::Client;
use serde_json::{Value, json};

/// Applies the edits of an action to a text. Edits of one action do not overlap.
fn applied(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + position["character"].as_u64().expect("a column") as usize
    };
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .expect("a list")
        .iter()
        .map(|edit| {
            let new = edit["newText"].as_str().expect("a text").to_owned();
            (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), new)
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, &new);
    }
    out
}

#[test]
fn every_remedy_is_one_that_a_message_names() {
    let mut client = Client::start("remedies");
    client.open("main.p4", PROGRAM);
    client.diagnostics("main.p4");
    // What is changed in the program, what the message says, and the title of the remedy.
    let cases = [
        ("meta.color = Color.RED", "meta.color = Colour.RED", "is not declared", "Replace by `Color`"),
        ("meta.color = ", "meta.colour = ", "has no member", "Replace by `color`"),
        ("#include <v1model.p4>", "#include <v1modle.p4>", "not found", "Replace by `v1model.p4`"),
        ("#include <v1model.p4>\n", "", "not included", "Add `#include <v1model.p4>`"),
        ("count, 0);", "count, 0)", "expected `;`", "Add `;`"),
        (
            "        packet.extract(hdr.ipv4);\n        transition accept;\n",
            "        packet.extract(hdr.ipv4);\n",
            "no `transition`",
            "Add `transition accept;`",
        ),
        (
            "meta) { apply { } }\n\ncontrol I",
            "meta) { }\n\ncontrol I",
            "no `apply` block",
            "Add an `apply` block",
        ),
        ("        packet.emit(hdr.ipv4);\n", "", "never emitted", "Emit `ipv4` in the deparser"),
        (
            "actions = { forward; drop; }",
            "actions = { forward; }",
            "not listed in `actions`",
            "Add `drop` to `actions`",
        ),
        (
            "std.egress_spec = port;",
            "std.egress_spec = hdr.ipv4.ttl;",
            "expected `bit<9>`",
            "Cast to `bit<9>`",
        ),
        (
            "std.egress_spec = port;",
            "std.egress_spec = hdr.ipv4.ttl + 1;",
            "expected `bit<9>`",
            "Cast to `bit<9>`",
        ),
    ];
    for (old, new, message, title) in cases {
        assert!(PROGRAM.contains(old), "{old}");
        let text = PROGRAM.replacen(old, new, 1);
        client.change("main.p4", json!([{ "text": text }]));
        let found = client.diagnostics("main.p4");
        assert!(found.iter().any(|one| one.contains(message)), "{new}: {found:?}");
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 200, "character": 0 } });
        let params = json!({
            "textDocument": { "uri": client.uri("main.p4") },
            "range": range,
            "context": { "diagnostics": [] },
        });
        let actions = client.ask("textDocument/codeAction", params).expect("an answer");
        let actions = actions.as_array().expect("a list").clone();
        let action = actions.iter().find(|action| action["title"] == json!(title));
        let action = action.unwrap_or_else(|| panic!("{new}: {title} in {actions:?} for {found:?}"));
        assert!(action["diagnostics"].as_array().is_some_and(|all| !all.is_empty()), "{action}");
        let edits = &action["edit"]["changes"][client.uri("main.p4")];
        let mended = applied(&text, edits);
        client.change("main.p4", json!([{ "text": mended }]));
        let found = client.diagnostics("main.p4");
        assert!(!found.iter().any(|one| one.contains(message)), "{title}: {found:?}\n{mended}");
    }
    client.end();
}
