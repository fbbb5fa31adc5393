//! The inputs to start from.

use std::path::{Path, PathBuf};

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What is kept for a target, by the names of the files.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = root().join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

/// The P4 programs of some folders, in order of their names.
///
/// # Panics
/// A folder is missing: all are part of the repository.
pub(crate) fn programs(folders: &[&str]) -> Vec<PathBuf> {
    let list = |folder: &&str| {
        let folder = root().join(folder);
        p4cc_filetests::cases(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    };
    folders.iter().flat_map(list).collect()
}
