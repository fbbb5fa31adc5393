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

/// What is changed in the program, what the message and its help say, and the title of the remedy.
pub struct Case {
    edits: &'static [(&'static str, &'static str)],
    message: &'static str,
    /// As the compiler's source has it, with the braces of its placeholders.
    pub help: &'static str,
    title: &'static str,
}

const fn case(
    edits: &'static [(&'static str, &'static str)],
    message: &'static str,
    help: &'static str,
    title: &'static str,
) -> Case {
    Case { edits, message, help, title }
}

const MEANT: &str = "did you mean `{near}`?";
const TABLE: &str = "        actions = { forward; drop; }\n        default_action = drop();\n";
const COLOR: &str = "meta.color = Color.RED;";
const ENUM: &str = "enum bit<8> Color {";
const PORT: &str = "type bit<9> port_t;\nenum bit<8> Color {";

/// Each remedy that is one edit.
pub const CASES: [Case; 42] = [
    case(&[("Color.RED", "Colour.RED")], "is not declared", MEANT, "Replace by `Color`"),
    case(&[("meta.color = ", "meta.colour = ")], "has no member", MEANT, "Replace by `color`"),
    case(
        &[("#include <v1model.p4>", "#include <v1modle.p4>")],
        "not found",
        "did you mean `{near}`?",
        "Replace by `v1model.p4`",
    ),
    case(
        &[("#include <v1model.p4>\n", "#inlcude <v1model.p4>\n")],
        "is not a directive",
        "did you mean `#{meant}`? Write `//` before a comment",
        "Replace by `#include`",
    ),
    case(
        &[("#include <v1model.p4>\n", "")],
        "not included",
        "add `#include <{file}>` at the beginning of the program",
        "Add `#include <v1model.p4>`",
    ),
    case(&[("count, 0);", "count, 0)")], "expected `;`", "add `;`", "Add `;`"),
    case(
        &[("extract(hdr.ipv4);\n        transition accept;\n", "extract(hdr.ipv4);\n")],
        "no `transition`",
        "end it with `transition accept;`, or with `transition reject;` if that is intended",
        "Add `transition accept;`",
    ),
    case(
        &[("meta) { apply { } }\n\ncontrol I", "meta) { }\n\ncontrol I")],
        "no `apply` block",
        "add `apply { ... }` as its last part",
        "Add an `apply` block",
    ),
    case(
        &[("        packet.emit(hdr.ipv4);\n", "")],
        "never emitted",
        "emit it in the deparser; to remove it, call `{name}.setInvalid()` at that point",
        "Emit `ipv4` in the deparser",
    ),
    case(
        &[("actions = { forward; drop; }", "actions = { forward; }")],
        "not listed in `actions`",
        "add it to `actions`",
        "Add `drop` to `actions`",
    ),
    case(
        &[("std.egress_spec = port;", "std.egress_spec = hdr.ipv4.ttl;")],
        "expected `bit<9>`",
        "cast it: `({wanted})`",
        "Cast to `bit<9>`",
    ),
    case(
        &[("std.egress_spec = port;", "std.egress_spec = hdr.ipv4.ttl + 1;")],
        "expected `bit<9>`",
        "cast it: `({wanted})`",
        "Cast to `bit<9>`",
    ),
    case(
        &[(COLOR, "label_t label;\n        label.value = 1;\n        hdr.labels[0] = label;")],
        "while the header is invalid",
        "call `{name}.setValid()` first, or test `{name}.isValid()`",
        "Call `label.setValid()` first",
    ),
    case(
        &[(ENUM, "bit<8> size = 3;\nenum bit<8> Color {")],
        "cannot be declared at top level",
        "write `const` before it, or move it into a parser or control",
        "Write `const`",
    ),
    case(
        &[("(16) seen;", "(16) seen = { };")],
        "no abstract methods",
        "remove `= { ... }`",
        "Remove the body",
    ),
    case(&[(COLOR, "meta.color = Color.RED; $")], "has no meaning", "remove it", "Remove it"),
    case(
        &[("extract(hdr.ipv4)", "extract(hdr.ipv4, 8)")],
        "has a size argument",
        "remove the second argument",
        "Remove the second argument",
    ),
    case(
        &[(TABLE, "        actions = { drop; }\n        entries = { priority = 3: 1: drop(); }\n")],
        "cannot have priorities",
        "remove `priority = ...:`",
        "Remove the priority",
    ),
    case(
        &[("TYPE_IPV4: parse", "5 .. 2: parse")],
        "is empty",
        "write the smaller number first",
        "Swap the bounds",
    ),
    case(
        &[(
            "routes.apply();",
            "switch (routes.apply().action_run) {\n                default: { }\n                drop: { }\n            }",
        )],
        "cannot follow `default`",
        "move `default` to the end",
        "Move `default` to the end",
    ),
    case(
        &[("routes.apply();", "switch (routes.apply().action_run) { default: { } drop: { } }")],
        "cannot follow `default`",
        "move `default` to the end",
        "Move `default` to the end",
    ),
    case(
        &[("if (hdr.ipv4.isValid())", "if (hdr.ipv4.ttl)")],
        "a condition must be",
        "compare it: `x != 0`",
        "Compare with 0",
    ),
    case(
        &[("if (hdr.ipv4.isValid())", "if (hdr.ipv4.ttl & 1)")],
        "a condition must be",
        "compare it: `x != 0`",
        "Compare with 0",
    ),
    case(
        &[("extract(hdr.ipv4)", "extract(hdr.labels)")],
        "takes a header",
        "extract one element: `stack.next`",
        "Extract `.next`",
    ),
    case(&[("/** An Ethernet", "@mine(1\n/** An Ethernet")], "never closed", "add `)`", "Add `)`"),
    case(
        &[(
            TABLE,
            "        actions = { drop; }\n        size = 1;\n        const entries = { 1: drop(); 2: drop(); }\n",
        )],
        "has size 1",
        "set `size` to the intended number of entries",
        "Set `size` to 2",
    ),
    case(
        &[(TABLE, "        actions = { drop; }\n        const entries = { priority = 3: 1: drop(); }\n")],
        "entries of `const entries`",
        "their order decides; alternatively remove `const` before `entries`",
        "Remove `const`",
    ),
    case(
        &[("#define WIDTH 48", "#define WIDTH 40\n#define WIDTH 48")],
        "redefined",
        "`#undef` it first if this is intended",
        "Add `#undef WIDTH`",
    ),
    case(
        &[("#define FIELD", "#undef OTHER of mine\n#define FIELD")],
        "ignores what follows",
        "make it a comment with `//`, or use `#if` with `defined(NAME)`",
        "Make it a comment",
    ),
    case(
        &[(COLOR, "hdr.ipv4.ttl = !hdr.ipv4.ttl;")],
        "cannot be applied",
        "compare with zero, or use `~`",
        "Replace `!` by `~`",
    ),
    case(
        &[(ENUM, "enum Color {")],
        "without an underlying type",
        "give the enum a type: `enum bit<8> E { ... }`",
        "Give the enum the type `bit<8>`",
    ),
    case(
        &[(COLOR, "hdr.ipv4 = { version = 4 };")],
        "has no value",
        "give it a value, or end with `...` for default values",
        "Add `...`",
    ),
    case(
        &[("key = { hdr.ethernet.dst: exact; }", "key = { hdr.ethernet.dst: lpm; hdr.ethernet.src: lpm; }")],
        "second lpm key",
        "make one of them ternary",
        "Replace `lpm` by `ternary`",
    ),
    case(
        &[("state start {", "state begin {")],
        "has no state `start`",
        "name the first state `start`",
        "Rename `begin` to `start`",
    ),
    case(
        &[(
            "inout meta_t meta) { apply { } }\n\ncontrol I",
            "inout meta_t meta)(in bit<8> n) { apply { } }\n\ncontrol I",
        )],
        "cannot have a direction",
        "its argument is a compile-time constant; remove the direction",
        "Remove the direction",
    ),
    case(
        &[("action drop()", "action say(in string text) { }\n    action drop()")],
        "cannot have a direction",
        "an object or string is a compile-time value; remove the direction",
        "Remove the direction",
    ),
    case(
        &[("routes.apply();", "while (hdr.ipv4.ttl > 1) { hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }")],
        "no `while` loop",
        "write `for (; condition; ) { ... }`; in a parser, use a transition to the same state",
        "Write a `for` loop",
    ),
    case(
        &[(ENUM, PORT), (COLOR, "port_t port = (port_t) 1;\n        hdr.ethernet.kind = (bit<16>) port;")],
        "cannot cast",
        "cast to the underlying type first: `({under})`",
        "Cast to `bit<9>`",
    ),
    case(
        &[(COLOR, "hdr.ethernet.kind = hdr.ethernet.kind + hdr.ipv4.ttl;")],
        "cannot be applied",
        "cast one side: `({left})`",
        "Cast to `bit<16>`",
    ),
    case(
        &[
            (ENUM, PORT),
            (COLOR, "port_t port = (port_t) 1;\n        if (port == std.egress_spec + 1) { exit; }"),
        ],
        "cannot be applied",
        "cast the other side: `({named})`",
        "Cast to `port_t`",
    ),
    case(
        &[(ENUM, PORT), (COLOR, "port_t port = (port_t) 1;\n        std.egress_spec = port + 1;")],
        "cannot be applied",
        "cast to the underlying type: `({under})`",
        "Cast to `bit<9>`",
    ),
    case(
        &[(TABLE, "        default_action = drop();\n        actions = { forward; drop; }\n")],
        "precedes its `actions`",
        "write `{}` first",
        "Move `actions` to the front",
    ),
];

/// Remedies of one edit in programs of other forms.
pub const OTHERS: [Case; 7] = [
    case(
        &[(ENUM, "extern Own {\n    Own Own(bit<8> size);\n}\nenum bit<8> Color {")],
        "cannot have a return type",
        "write `{}(...);`",
        "Remove the return type",
    ),
    case(&[(TABLE, "")], "has no actions", "add `actions = { ... }`", "Add `actions`"),
    case(
        &[(PROGRAM, "header h { bit<8> x; }\ncontrol C(in error wrong) { apply { } }\n")],
        "declares no `error`",
        "include core.p4",
        "Add `#include <core.p4>`",
    ),
    case(
        &[(
            PROGRAM,
            "match_kind { exact }\ncontrol C(inout bit<8> x) {\n    action a() { x = 1; }\n    table t {\n        \
             key = { x: exact; }\n        actions = { a; }\n    }\n    apply { t.apply(); }\n}\n",
        )],
        "has no default action",
        "add `default_action = ...`, or include core.p4, which declares `NoAction`",
        "Add `#include <core.p4>`",
    ),
    case(
        &[(COLOR, "hdr.ethernet.kind = bit<16> hdr.ipv4.ttl;")],
        "found the type",
        "a cast needs parentheses: `(bit<8>) x`",
        "Write the cast in parentheses",
    ),
    case(
        &[(COLOR, "for (at in 1 .. 3) { hdr.ipv4.ttl = at; }")],
        "must be declared in the loop",
        "add the type: `for (bit<8> {} in ...)`",
        "Give it the type `bit<8>`",
    ),
    case(
        &[(TABLE, "        actions = { forward; drop; }\n        psa_empty_group_action = drop();\n")],
        "is ignored",
        "remove the property, and keep a member in every group that entries use",
        "Remove the property",
    ),
];

#[test]
fn every_remedy_is_one_that_a_message_names() {
    let mut client = Client::start("remedies");
    client.open("main.p4", PROGRAM);
    client.diagnostics("main.p4");
    for Case { edits, message, help, title } in CASES.iter().chain(&OTHERS) {
        let mut text = PROGRAM.to_owned();
        for (old, new) in *edits {
            assert!(text.contains(old), "{old}");
            text = text.replacen(old, new, 1);
        }
        client.change("main.p4", json!([{ "text": text }]));
        let found = client.diagnostics("main.p4");
        let said = |one: &&String| one.contains(message) && crate::remedies::says(help, one);
        assert!(found.iter().any(|one| said(&one)), "{title}, {help}: {found:?}");
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 200, "character": 0 } });
        let params = json!({
            "textDocument": { "uri": client.uri("main.p4") },
            "range": range,
            "context": { "diagnostics": [] },
        });
        let actions = client.ask("textDocument/codeAction", params).expect("an answer");
        let actions = actions.as_array().expect("a list").clone();
        let action = actions.iter().find(|action| action["title"] == json!(title));
        let action = action.unwrap_or_else(|| panic!("{title} in {actions:?} for {found:?}"));
        assert!(action["diagnostics"].as_array().is_some_and(|all| !all.is_empty()), "{action}");
        let changes = &action["edit"]["changes"][client.uri("main.p4")];
        let mended = applied(&text, changes);
        client.change("main.p4", json!([{ "text": mended }]));
        let left = client.diagnostics("main.p4");
        let stays = |one: &String| {
            one.contains(message) || one.starts_with("expected `") || one.starts_with("expected a")
        };
        assert!(!left.iter().any(stays), "{title}: {left:?}\n{mended}");
    }
    client.end();
}
