//! `p4cc.toml`: how the programs of a folder are compiled.

use p4cc_compile::Strict;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Name of the file.
pub const FILE: &str = "p4cc.toml";

/// Largest file that is read.
const MAX_BYTES: u64 = 1 << 16;

/// The file as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    include: Vec<PathBuf>,
    define: Vec<String>,
    programs: Vec<PathBuf>,
    strict: Option<String>,
}

/// How programs are compiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Folder of the file that says so.
    pub folder: Option<PathBuf>,
    /// Folders searched by `#include`.
    pub include_dirs: Vec<PathBuf>,
    /// Macros with their texts.
    pub defines: Vec<(String, String)>,
    /// Programs that other files of the folder are parts of.
    pub programs: Vec<PathBuf>,
    /// Rules of a chip.
    pub strict: Strict,
    /// What is wrong with the file.
    pub problem: Option<String>,
}

impl Config {
    /// That of the nearest file at or above a folder; without one, the defaults.
    pub fn for_folder(folder: &Path) -> Self {
        let found = folder.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file());
        found.map_or_else(Self::default, |file| Self::read(&file))
    }

    fn read(file: &Path) -> Self {
        let folder = file.parent().unwrap_or(file);
        let small = std::fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_BYTES);
        let text = match small.then(|| std::fs::read_to_string(file)) {
            Some(Ok(text)) => text,
            Some(Err(error)) => return Self::wrong(folder, format!("cannot be read: {error}")),
            None => return Self::wrong(folder, format!("has more than {MAX_BYTES} bytes")),
        };
        Self::of_text(folder, &text)
    }

    fn of_text(folder: &Path, text: &str) -> Self {
        let written: Written = match toml::from_str(text) {
            Ok(written) => written,
            Err(error) => return Self::wrong(folder, error.to_string()),
        };
        let strict = match written.strict.as_deref().map(str::parse).transpose() {
            Ok(strict) => strict.unwrap_or_default(),
            Err(cause) => return Self::wrong(folder, format!("`strict`: {cause}")),
        };
        let inside = |path: &PathBuf| crate::paths::normal(&folder.join(path));
        Self {
            folder: Some(folder.to_owned()),
            include_dirs: written.include.iter().map(inside).collect(),
            defines: written.define.iter().map(|text| define(text)).collect(),
            programs: written.programs.iter().map(inside).collect(),
            strict,
            problem: None,
        }
    }

    fn wrong(folder: &Path, cause: String) -> Self {
        let problem = Some(format!("{}: {cause}", folder.join(FILE).display()));
        Self { folder: Some(folder.to_owned()), problem, ..Self::default() }
    }
}

/// `NAME` or `NAME=TEXT`, as `-D` takes it.
pub fn define(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    (name.to_owned(), value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_the_file() {
        let text = "include = [\"../common\"]\ndefine = [\"A\", \"B=2\"]\nprograms = [\"main.p4\"]\nstrict = \"tofino\"\n";
        let config = Config::of_text(Path::new("/w/x"), text);
        assert_eq!(config.problem, None);
        assert_eq!(config.include_dirs, [Path::new("/w/common")]);
        assert_eq!(config.defines, [("A".into(), "1".into()), ("B".into(), "2".into())]);
        assert_eq!(config.programs, [Path::new("/w/x/main.p4")]);
        assert_eq!(config.strict, "tofino".parse().expect("a chip"));
    }

    #[test]
    fn a_wrong_file_says_why_and_where() {
        for (text, cause) in
            [("includes = []", "includes"), ("strict = \"x\"", "strict"), ("include = ", "line 1")]
        {
            let problem = Config::of_text(Path::new("/w"), text).problem.expect("a problem");
            assert!(problem.contains(cause) && problem.contains("/w/p4cc.toml"), "{problem}");
        }
    }
}
