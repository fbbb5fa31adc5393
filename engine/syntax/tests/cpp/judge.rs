//! GNU cpp as p4c calls it, and what p4c's lexer reads of its output.

use p4cc_syntax::{Diagnostic, FileSystem, Options, Severity, Source, SourceLoader, tokens};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Tokens, or nothing where the text is refused.
pub type Verdict = Option<Vec<String>>;

/// The folder of snippets; what they include is in its `include` and `include2`.
pub fn folder() -> PathBuf {
    // Both this crate and the fuzz targets are two folders below the root or one.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = root.ancestors().find(|path| path.join("engine/syntax").is_dir()).expect("the repository");
    root.join("engine/syntax/tests/data/cpp")
}

/// Files looked up in the folder of snippets.
struct Beside(PathBuf);

impl SourceLoader for Beside {
    fn read(&self, path: &Path, limit_bytes: u64) -> std::io::Result<Vec<u8>> {
        FileSystem.read(&self.0.join(path), limit_bytes)
    }
}

/// What this crate makes of a snippet, with its findings.
pub fn own(snippet: &str) -> (Verdict, Source, Vec<Diagnostic>) {
    let defines = vec![("__TARGET_NONE__".to_owned(), "1".to_owned())];
    let options =
        Options { include_dirs: vec!["include".into(), "include2".into()], defines, ..Options::default() };
    let (source, diagnostics) = Source::from_text("case.p4", snippet, &Beside(folder()), &options);
    let refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let tokens = (!refused).then(|| normal(source.text()));
    (tokens, source, diagnostics)
}

/// The program of GNU cpp, if it is installed; clang's and others differ.
pub fn installed() -> bool {
    let Ok(output) = Command::new("cpp").arg("--version").output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout);
    text.contains("Free Software Foundation") && !text.contains("clang")
}

/// What GNU cpp and p4c's lexer make of a snippet, which is written to `scratch`.
///
/// Markers of lines are left out (`-P`): in a string of several lines p4c takes their quotes for the
/// string's end.
pub fn real(snippet: &str, scratch: &Path) -> Verdict {
    std::fs::create_dir_all(scratch).expect("a folder for the snippet");
    std::fs::write(scratch.join("case.p4"), snippet).expect("the snippet can be written");
    let words = ["-P", "-C", "-undef", "-nostdinc", "-x", "assembler-with-cpp", "-D__TARGET_NONE__"];
    let mut command = Command::new("cpp");
    command.args(words).current_dir(scratch).stderr(Stdio::null()).stdin(Stdio::null());
    for include in ["include", "include2"] {
        command.arg("-I").arg(folder().join(include));
    }
    let output = command.arg("case.p4").output().expect("cpp runs");
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| normal(&visible(&text)))
}

/// The tokens of a text; white space around the line ends of a string is one blank.
fn normal(text: &str) -> Vec<String> {
    tokens(text)
        .into_iter()
        .map(|token| {
            token.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

/// The states of p4c's lexer (frontends/parsers/p4/p4lexer.ll).
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a line.
    Initial,
    Normal,
    Text,
    Line,
    Comment,
}

/// A preprocessed text without the comments and lines that p4c's lexer ignores.
fn visible(text: &str) -> String {
    let mut out = String::new();
    let mut state = State::Initial;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut len = first.len_utf8();
        let mut kept = true;
        match state {
            State::Initial | State::Normal => {
                if rest.starts_with("//") {
                    len = rest.find('\n').unwrap_or(rest.len());
                    kept = false;
                    // flex stays in the state, but nothing else is on the line.
                } else if rest.starts_with("/*") {
                    (len, kept, state) = (2, false, State::Comment);
                } else if state == State::Initial && first == '#' {
                    (kept, state) = (false, State::Line);
                } else if first == '"' {
                    state = State::Text;
                } else if first == '\n' {
                    state = State::Initial;
                } else if !matches!(first, ' ' | '\t' | '\r') {
                    state = State::Normal;
                }
            }
            State::Text => match first {
                '\\' if rest.starts_with("\\\"") || rest.starts_with("\\\\") => len = 2,
                '"' => state = State::Normal,
                _ => {}
            },
            State::Line => {
                kept = first == '\n';
                if kept {
                    state = State::Initial;
                }
            }
            State::Comment => {
                kept = false;
                if rest.starts_with("*/") {
                    len = 2;
                    state = State::Normal;
                    out.push(' ');
                }
            }
        }
        if kept {
            out.push_str(&rest[..len]);
        }
        rest = &rest[len..];
    }
    out
}
