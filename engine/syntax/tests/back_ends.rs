//! Macros that p4c defines before the first line, by the back end that a program is for.

use p4cc_syntax::{Memory, Options, Source, tokens};

/// The last word of each line of a program behind `text`, whose lines ask for macros.
fn words(text: &str, defines: &[(&str, &str)]) -> Vec<String> {
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = Options { defines, ..Options::default() };
    let mut files = Memory::default();
    files.insert(
        "asked.p4",
        "ASKED __TARGET_BMV2__ __TARGET_TOFINO__ __TOFINO2_VARIANT__ __p4c__ __p4c_major__\n",
    );
    let text = format!("{text}\n#include \"asked.p4\"\n");
    let (source, diagnostics) = Source::from_text("r.p4", &text, &files, &options);
    assert!(diagnostics.is_empty(), "{}", source.render(&diagnostics, false));
    let all: Vec<String> = tokens(source.text()).into_iter().map(str::to_owned).collect();
    let at = all.iter().rposition(|word| word == "ASKED").expect("the asking line");
    all[at + 1..].to_vec()
}

#[test]
fn programs_of_v1model_and_psa_are_for_bmv2() {
    let wanted = ["1", "__TARGET_TOFINO__", "__TOFINO2_VARIANT__", "__p4c__", "__p4c_major__"];
    for text in ["", "#include <v1model.p4>", "#include <psa.p4>"] {
        assert_eq!(words(text, &[]), wanted, "{text}");
    }
}

#[test]
fn programs_of_the_tofino_are_for_their_chip() {
    let tofino = ["__TARGET_BMV2__", "1", "__TOFINO2_VARIANT__", "1", "9"];
    assert_eq!(words("#include <tna.p4>", &[]), tofino);
    assert_eq!(words("#include <t2na.p4>", &[]), ["__TARGET_BMV2__", "2", "1", "1", "9"]);
    let by_target = "#if __TARGET_TOFINO__ == 2\n#include <t2na.p4>\n#else\n#include <tna.p4>\n#endif";
    assert_eq!(words(by_target, &[]), tofino);
    assert_eq!(words(by_target, &[("__TARGET_TOFINO__", "2")])[1], "2");
}

#[test]
fn a_target_of_the_command_line_decides() {
    let both = "#ifdef __TARGET_BMV2__\n#include <v1model.p4>\n#else\n#include <tna.p4>\n#endif";
    assert_eq!(words(both, &[])[0], "1");
    assert_eq!(words(both, &[("__TARGET_TOFINO__", "1")])[..2], ["__TARGET_BMV2__", "1"]);
    assert_eq!(words("", &[("__TARGET_DPDK__", "1")])[0], "__TARGET_BMV2__");
}

/// What is asked before the architecture's file is known is answered for it, too.
#[test]
fn the_whole_program_is_read_for_its_back_end() {
    let early = "#ifdef __TARGET_BMV2__\n#define EARLY 1\n#else\n#define EARLY 2\n#endif\n#include <tna.p4>\nconst int early = EARLY;";
    let (source, _) = Source::from_text("r.p4", early, &Memory::default(), &Options::default());
    assert!(source.text().contains("early = 2"), "{}", source.text());
}
