//! The preprocessor against GNU cpp, which p4c calls: `data/cpp/*.txt` holds snippets and the tokens that p4c
//! would read, as the real program gave them.
//!
//! A snippet begins with a line `=== name`; what follows its line `---` is `refused` or its tokens. Where
//! GNU cpp is installed it is asked again for some of these, and for generated ones: `P4CC_CPP_PAIRS` says
//! how many, `P4CC_CPP_SEED` which. With `UPDATE_EXPECT=1` its answers for all snippets are written into
//! the files.

#[path = "cpp/judge.rs"]
mod judge;
#[path = "cpp/snippets.rs"]
mod snippets;

use judge::Verdict;
use std::path::{Path, PathBuf};

struct Case {
    name: String,
    snippet: String,
    expected: String,
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(judge::folder()).expect("the folder of snippets");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "txt"));
    files.sort();
    files
}

fn cases(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let mut cases = Vec::new();
    for part in text.split("\n=== ").map(|part| part.trim_start_matches("=== ")) {
        let (name, rest) = part.split_once('\n').expect("a snippet behind its name");
        let (snippet, expected) = rest.split_once("\n---").unwrap_or((rest, ""));
        cases.push(Case {
            name: name.to_owned(),
            snippet: format!("{snippet}\n"),
            expected: expected.trim().to_owned(),
        });
    }
    cases
}

fn shown(verdict: &Verdict) -> String {
    match verdict {
        Some(tokens) => tokens.join(" ").replace('\n', "\\n"),
        None => "refused".to_owned(),
    }
}

#[test]
fn snippets_give_the_tokens_of_gnu_cpp() {
    let mut wrong = String::new();
    let mut count = 0;
    for file in files() {
        for case in cases(&file) {
            count += 1;
            let (verdict, source, diagnostics) = judge::own(&case.snippet);
            let found = shown(&verdict);
            if found != case.expected {
                wrong += &format!(
                    "{} {}:\n{}expected: {}\n   found: {found}\n{}\n",
                    file.file_stem().unwrap_or_default().display(),
                    case.name,
                    case.snippet,
                    case.expected,
                    source.render(&diagnostics, false)
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 400, "{count} snippets");
}

#[test]
fn expectations_are_those_of_the_installed_cpp() {
    if !judge::installed() {
        return;
    }
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cpp-expectations");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let every = if update { 1 } else { 12 };
    for file in files() {
        let mut text = String::new();
        for case in cases(&file).iter().step_by(every) {
            let answer = shown(&judge::real(&case.snippet, &scratch));
            assert!(update || answer == case.expected, "{}: {answer}", case.name);
            text += &format!("=== {}\n{}---\n{answer}\n", case.name, case.snippet);
        }
        if update {
            std::fs::write(&file, text).expect("the file can be written");
        }
    }
}

/// Numbers that follow from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[test]
fn generated_snippets_give_the_tokens_of_the_installed_cpp() {
    if !judge::installed() {
        return;
    }
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cpp-generated");
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let mut random = Random(number("P4CC_CPP_SEED").unwrap_or(1));
    for _ in 0..number("P4CC_CPP_PAIRS").unwrap_or(40) {
        let len = 20 + random.next() % 120;
        let bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        let snippet = snippets::snippet(&bytes);
        let (own, source, diagnostics) = judge::own(&snippet);
        let (own, real) = (shown(&own), shown(&judge::real(&snippet, &scratch)));
        let rendered = source.render(&diagnostics, false);
        assert_eq!(own, real, "left: p4cc, right: cpp\n{snippet}\n{rendered}");
    }
}
