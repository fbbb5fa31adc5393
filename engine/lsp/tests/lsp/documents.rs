//! Documents, programs and their settings.

use crate::PROGRAM;
use crate::client::{Client, position};
use serde_json::{Value, json};

#[test]
fn diagnostics_come_with_place_cause_and_remedy_and_go() {
    let mut client = Client::start("diagnostics");
    client.open("main.p4", &PROGRAM.replace("meta.color = Color.RED;", "meta.colour = Color.RED;"));
    let found = client.diagnostics("main.p4");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("`meta_t` has no member `colour`") && found[0].contains("did you mean `color`?")
    );
    client.change("main.p4", json!([{ "text": PROGRAM }]));
    assert_eq!(client.diagnostics("main.p4"), [] as [&str; 0]);
    client.end();
}

#[test]
fn a_part_is_read_with_its_program() {
    let mut client = Client::start("part");
    let (headers, rest) = PROGRAM.split_at(PROGRAM.find("parser P").expect("the parser"));
    client.write("headers.p4", headers);
    client.write("main.p4", &format!("#include \"headers.p4\"\n{rest}"));
    client.open("headers.p4", headers);
    assert_eq!(client.diagnostics("headers.p4"), [] as [&str; 0]);
    // An edit of the part that is not saved reaches the program.
    client.open("main.p4", &format!("#include \"headers.p4\"\n{rest}"));
    client.diagnostics("main.p4");
    client.change("headers.p4", json!([{ "text": headers.replace("ttl;", "hops;") }]));
    let found = client.diagnostics("main.p4");
    assert!(found.iter().any(|one| one.contains("no member `ttl`")), "{found:?}");
    let params = json!({
        "textDocument": { "uri": client.uri("headers.p4") },
        "position": position(headers, "ethernet_t ethernet", 0),
        "context": { "includeDeclaration": false },
    });
    let found = client.ask("textDocument/references", params).expect("an answer");
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    client.end();
}

#[test]
fn a_part_of_two_programs_is_renamed_in_both() {
    let mut client = Client::start("shared");
    let shared = "header h_t { bit<8> ttl; }\n";
    let program = |name: &str| {
        format!("#include \"shared.p4\"\ncontrol {name}(inout h_t h) {{ apply {{ h.ttl = 1; }} }}\n")
    };
    client.write("shared.p4", shared);
    client.write("one.p4", &program("a"));
    client.write("two.p4", &program("b"));
    client.open("shared.p4", shared);
    let params = json!({
        "textDocument": { "uri": client.uri("shared.p4") },
        "position": position(shared, "ttl", 0),
        "newName": "hops",
    });
    let found = client.ask("textDocument/rename", params).expect("an answer");
    let changes = found["changes"].as_object().expect("changes");
    let files: Vec<&str> = changes.keys().filter_map(|uri| uri.rsplit('/').next()).collect();
    assert_eq!(files, ["one.p4", "shared.p4", "two.p4"]);
    assert!(changes.values().all(|edits| edits.as_array().map(Vec::len) == Some(1)), "{found}");
    client.end();
}

#[test]
fn a_file_of_settings_sets_folders_macros_and_rules() {
    let mut client = Client::start("settings");
    client.write("common/sizes.p4", "const bit<8> SIZE = VALUE;\n");
    client
        .write("p4cc.toml", "include = [\"common\"]\ndefine = [\"VALUE=7\"]\nprograms = [\"src/main.p4\"]\n");
    client.write("src/part.p4", "const bit<8> TWICE = SIZE + SIZE;\n");
    let text = "#include <core.p4>\n#include <sizes.p4>\n#include \"part.p4\"\nconst bit<8> X = TWICE;\n";
    client.write("src/main.p4", text);
    client.open("src/part.p4", "const bit<8> TWICE = SIZE + SIZE;\n");
    assert_eq!(client.diagnostics("src/part.p4"), [] as [&str; 0]);
    client.write("p4cc.toml", "includes = []\n");
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    let found = client.diagnostics("src/main.p4");
    assert!(found.iter().any(|one| one.contains("p4cc.toml") && one.contains("includes")), "{found:?}");
    client.end();
}

#[test]
fn what_an_editor_asks_of_nothing_is_answered() {
    let mut client = Client::start("nothing");
    let nothing = client.at("textDocument/hover", "absent.p4", json!({ "line": 0, "character": 0 }));
    assert_eq!(nothing, Ok(Value::Null));
    let unknown = client.ask("textDocument/unknown", json!({})).expect_err("an error");
    assert_eq!(unknown["code"], json!(-32601));
    client.open("empty.p4", "");
    let far = json!({ "line": 4_000_000_000u32, "character": 4_000_000_000u32 });
    for method in ["hover", "definition", "completion", "signatureHelp", "documentHighlight"] {
        assert!(client.at(&format!("textDocument/{method}"), "empty.p4", far.clone()).is_ok(), "{method}");
    }
    let malformed =
        client.ask("textDocument/rename", json!({ "textDocument": { "uri": client.uri("empty.p4") } }));
    assert!(malformed.is_err());
    client.end();
}

#[test]
fn a_question_is_cancelled_or_belongs_to_the_newest_text() {
    let mut client = Client::start("cancel");
    client.open("main.p4", PROGRAM);
    let at = json!({ "textDocument": { "uri": client.uri("main.p4") }, "position": { "line": 0, "character": 0 } });
    let old = client.request("textDocument/hover", at.clone());
    client.change("main.p4", json!([{ "text": PROGRAM }]));
    let new = client.request("textDocument/hover", at.clone());
    // Either it was answered before the edit came, or the client is told to ask again.
    if let Err(error) = client.answer(old) {
        assert_eq!(error["code"], json!(-32801));
    }
    assert!(client.answer(new).is_ok());
    client.change("main.p4", json!([{ "text": PROGRAM }]));
    let cancelled = client.request("textDocument/hover", at);
    client.tell("$/cancelRequest", json!({ "id": cancelled }));
    if let Err(error) = client.answer(cancelled) {
        assert_eq!(error["code"], json!(-32800));
    }
    client.end();
}

#[test]
fn columns_are_counted_as_the_client_wants() {
    let text = "/* 😀 */ header head_t { bit<8> x; }\n";
    for (offered, column) in [(json!(["utf-8"]), 20), (json!(["utf-16"]), 18)] {
        let mut client =
            Client::start_with("encoding", json!({ "general": { "positionEncodings": offered } }));
        client.open("main.p4", text);
        let at = json!({ "line": 0, "character": column });
        let found = client.at("textDocument/hover", "main.p4", at).expect("an answer");
        assert!(found["contents"]["value"].as_str().is_some_and(|text| text.contains("head_t")), "{found}");
        assert_eq!(found["range"]["start"]["character"], json!(column - 2), "{offered}");
        client.end();
    }
}

#[test]
fn a_thousand_files_are_read_by_no_thread_that_answers() {
    let mut client = Client::start("thousand");
    let filler = "// A line of a large file.\n".repeat(1_000);
    for n in 0..1_000 {
        client.write(&format!("part{n}.p4"), &format!("{filler}const bit<8> C{n} = {n};\n"));
    }
    let shared = "header h_t { bit<8> ttl; }\n";
    let other = "#include \"shared.p4\"\ncontrol b(inout h_t h) { apply { h.ttl = 2; } }\n";
    let main = "#include <core.p4>\n#include \"shared.p4\"\ncontrol a(inout h_t h, packet_in p) \
                { apply { h.ttl = 1; } }\n#include \"pa\n";
    client.write("shared.p4", shared);
    client.write("main.p4", main);
    client.write("other.p4", other);
    let before = client.reads();
    assert!(before > 0, "the kernel counts what starts the program");
    client.open("main.p4", main);
    client.open("shared.p4", shared);
    client.diagnostics("shared.p4");
    client.tell("textDocument/didSave", json!({ "textDocument": { "uri": client.uri("main.p4") } }));
    let at = |word: &str| position(main, word, 0);
    let files = client.at("textDocument/completion", "main.p4", json!({ "line": 3, "character": 12 }));
    assert!(files.is_ok_and(|found| found["items"].as_array().is_some_and(|items| items.len() > 100)));
    let whole = main.rsplit_once("#include").expect("a line that is not whole").0;
    client.change("main.p4", json!([{ "text": whole }]));
    let core = client.at("textDocument/definition", "main.p4", at("packet_in")).expect("an answer");
    assert!(core["uri"].as_str().is_some_and(|uri| uri.ends_with("core.p4")), "{core}");
    let hover = client.at("textDocument/hover", "main.p4", at("h_t")).expect("an answer");
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("h_t")), "{hover}");
    let params = json!({
        "textDocument": { "uri": client.uri("shared.p4") },
        "position": position(shared, "ttl", 0),
        "newName": "hops",
    });
    let renamed = client.ask("textDocument/rename", params).expect("an answer");
    assert_eq!(renamed["changes"].as_object().map(serde_json::Map::len), Some(3), "{renamed}");
    assert_eq!(client.reads(), before);
    client.end();
}

#[test]
fn a_bomb_keeps_no_answer_waiting() {
    let mut client = Client::start("bomb");
    let mut bomb = "struct s0 { bit<8> a; bit<8> b; }\n".to_owned();
    for n in 1..40 {
        bomb.push_str(&format!("struct s{n} {{ s{m} a; s{m} b; }}\n", m = n - 1));
    }
    bomb.push_str("extern E<T> { E<tuple<T, T>> f(); }\ncontrol c(in s39 s)(E<bit<8>> e) { apply { e");
    bomb.push_str(&".f()".repeat(100));
    bomb.push_str("; } }\n");
    client.open("main.p4", &bomb);
    let found = client.at("textDocument/hover", "main.p4", position(&bomb, "s39", 1)).expect("an answer");
    assert!(found["contents"]["value"].as_str().is_some_and(|text| text.contains("s39")));
    client.diagnostics("main.p4");
    client.end();
}
