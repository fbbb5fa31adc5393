//! The committed P4Info of every program in `p4src/v1model` and `p4src/tna`, of the program with one object
//! of every kind that the client tests use, and of one without `main`, is the one that the program gives
//! today: ids are stable and a change of the control plane's view is seen in review. Each of those under
//! v1model was byte for byte what p4c 1.2.5 printed when it was committed.
//!
//! `P4CC_UPDATE_GOLDEN=1 cargo test -p p4cc-p4runtime --test golden_p4info` writes them anew.

use std::path::{Path, PathBuf};

use p4cc_compile::Unit;
use p4cc_p4runtime::proto::p4::config::v1::P4Info;
use p4cc_syntax::{Diagnostic, FileSystem, Options, Source};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn p4info_of(path: &Path) -> String {
    let info = compiled(Source::load(path, &Options::default()));
    p4cc_p4runtime::p4info_text(&info).expect("P4Info can be reflected")
}

fn compiled((source, mut found): (Source, Vec<Diagnostic>)) -> P4Info {
    let (tree, syntax) = p4cc_syntax::parse(&source);
    let (unit, checks) = p4cc_compile::compile_unit(&tree);
    found.extend(syntax.into_iter().chain(checks));
    let info = match unit {
        Some(Unit::Program(program)) => p4cc_p4runtime::p4info(&program),
        Some(Unit::Library(library)) => p4cc_p4runtime::library_p4info(&library),
        Some(Unit::Checked(_)) | None => panic!("{}", source.render(&found, false)),
    };
    info.expect("ids can be given")
}

/// Programs in a folder, each with its golden in another.
fn check(programs: &Path, golden: &Path) {
    let update = std::env::var_os("P4CC_UPDATE_GOLDEN").is_some();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(programs)
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "p4"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has programs", programs.display());
    for path in paths {
        let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let expected = golden.join(format!("{name}.p4info.txtpb"));
        let text = p4info_of(&path);
        if update {
            std::fs::create_dir_all(golden).expect("the golden folder can be made");
            std::fs::write(&expected, &text).expect("the golden can be written");
        }
        let committed = std::fs::read_to_string(&expected)
            .unwrap_or_else(|error| panic!("{}: {error}; set P4CC_UPDATE_GOLDEN=1", expected.display()));
        assert_eq!(committed, text, "{} is stale; set P4CC_UPDATE_GOLDEN=1", expected.display());
    }
}

#[test]
fn p4info_of_our_programs_is_fresh() {
    check(&repository().join("p4src/v1model"), &repository().join("p4src/golden"));
}

#[test]
fn p4info_of_our_programs_for_tofino_is_fresh() {
    check(&repository().join("p4src/tna"), &repository().join("p4src/golden/tna"));
}

#[test]
fn p4info_of_every_kind_of_object_is_fresh() {
    let folder = repository().join("tests/p4runtime");
    check(&folder, &folder);
}

/// Two tables with one profile; the second's name comes first.
const SHARED_PROFILE: &str = r#"
#include <v1model.p4>
header h_t { bit<8> a; }
struct headers_t { h_t h; }
struct meta_t { }
parser P(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start { pkt.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action_profile(64) shared;
    action to(bit<9> port) { std.egress_spec = port; }
    table fib { key = { hdr.h.a: exact; } actions = { to; } implementation = shared; }
    table fallback { key = { hdr.h.a: exact; } actions = { to; } implementation = shared; }
    apply { if (!fib.apply().hit) { fallback.apply(); } }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }
control D(packet_out pkt, in headers_t hdr) { apply { pkt.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

#[test]
fn tables_of_a_profile_come_in_the_order_of_their_names() {
    let info = compiled(Source::from_text("shared.p4", SHARED_PROFILE, &FileSystem, &Options::default()));
    let name = |id: &u32| {
        let tables = info.tables.iter().filter_map(|table| table.preamble.as_ref());
        tables.clone().find(|of| of.id == *id).map(|of| of.name.as_str())
    };
    let names: Vec<_> = info.action_profiles[0].table_ids.iter().map(name).collect();
    assert_eq!(names, [Some("I.fallback"), Some("I.fib")]);
}

/// As p4c names them: what the program does not use has no name that another could share.
#[test]
fn a_programs_own_no_action_has_the_name_that_it_says() {
    let case = repository().join("engine/filetests/cases/run/own_no_action.p4");
    let info = compiled(Source::load(&case, &Options::default()));
    let names: Vec<&str> = info
        .actions
        .iter()
        .filter_map(|action| action.preamble.as_ref())
        .map(|of| of.name.as_str())
        .collect();
    assert_eq!(names, ["NoAction", "send"]);
}
