//! What must not be in the two sans-IO crates: clocks, sockets, logs, unordered maps, and float functions of
//! the platform, whose last bit differs between machines.

use std::fs;
use std::path::{Path, PathBuf};

const BANNED: [&str; 22] = [
    ".powf(",
    ".powi(",
    ".exp(",
    ".exp2(",
    ".exp_m1(",
    ".ln(",
    ".ln_1p(",
    ".log(",
    ".log2(",
    ".log10(",
    ".sin(",
    ".cos(",
    "Instant",
    "SystemTime",
    "std::net",
    "std::fs",
    "std::env",
    "HashMap",
    "HashSet",
    "println!",
    "tracing::",
    "log::",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_clock_no_socket_no_log_no_platform_float() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "../transport/src"] {
        sources(&here.join(folder), &mut files);
    }
    assert!(files.len() > 15, "the sources were found");
    for path in files {
        let text = fs::read_to_string(&path).expect("UTF-8 source");
        // Inline tests at the end of a file may do what they like.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in
            code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for banned in BANNED {
                assert!(!line.contains(banned), "{}:{}: {banned}", path.display(), number + 1);
            }
        }
    }
}
