//! The committed P4Info of every program in `p4src/v1model` is the one that the program gives today: ids are stable
//! and a change of the control plane's view is seen in review.
//!
//! `P4CC_UPDATE_GOLDEN=1 cargo test -p p4cc-p4runtime --test golden_p4info` writes them anew.

use std::path::{Path, PathBuf};

use p4cc_syntax::{Options, Source};

fn p4src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src")
}

fn p4info_of(path: &Path) -> String {
    let (source, mut found) = Source::load(path, &Options::default());
    let (tree, syntax) = p4cc_syntax::parse(&source);
    let (program, checks) = p4cc_ir::compile(&tree);
    found.extend(syntax.into_iter().chain(checks));
    let program = program.unwrap_or_else(|| panic!("{}:\n{}", path.display(), source.render(&found, false)));
    let info = p4cc_p4runtime::p4info(&program).expect("ids can be given");
    p4cc_p4runtime::p4info_text(&info).expect("P4Info can be reflected")
}

#[test]
fn committed_p4info_is_fresh() {
    let update = std::env::var_os("P4CC_UPDATE_GOLDEN").is_some();
    let golden = p4src().join("golden");
    let mut programs: Vec<PathBuf> = std::fs::read_dir(p4src().join("v1model"))
        .expect("p4src/v1model is a folder")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "p4"))
        .collect();
    programs.sort();
    assert!(!programs.is_empty(), "there are programs");
    for path in programs {
        let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let expected = golden.join(format!("{name}.p4info.txtpb"));
        let text = p4info_of(&path);
        if update {
            std::fs::create_dir_all(&golden).expect("p4src/golden can be made");
            std::fs::write(&expected, &text).expect("the golden can be written");
        }
        let committed = std::fs::read_to_string(&expected)
            .unwrap_or_else(|error| panic!("{}: {error}; set P4CC_UPDATE_GOLDEN=1", expected.display()));
        assert_eq!(committed, text, "{} is stale; set P4CC_UPDATE_GOLDEN=1", expected.display());
    }
}
