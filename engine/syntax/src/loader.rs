//! Where source text comes from: a file system, memory, and the declaration files built into the engine.
//!
//! Invariant: the preprocessor reads files through [`SourceLoader`] only, so a server can compile pushed text without
//! touching the disk.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Reads files by path.
pub trait SourceLoader {
    /// The bytes of `path`. An error of kind [`io::ErrorKind::NotFound`] lets the search go on in the next folder; any
    /// other error ends it. A file of more than `limit_bytes` is an error of kind [`io::ErrorKind::FileTooLarge`].
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>>;
}

/// Reads regular files of the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl SourceLoader for FileSystem {
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        // A device or pipe may never end, so it is refused before it is opened.
        let meta = std::fs::metadata(path)?;
        if meta.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it is a folder"));
        }
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        if meta.len() > limit_bytes {
            return Err(too_large(limit_bytes));
        }
        std::fs::read(path)
    }
}

/// Files held in memory; [`Memory::default`] has none, so that only the built-in declaration files can be included.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, String>,
}

impl Memory {
    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.files.insert(path.into(), text.into());
    }
}

impl SourceLoader for Memory {
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let text = self
            .files
            .get(path)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file in memory"))?;
        if text.len() as u64 > limit_bytes {
            return Err(too_large(limit_bytes));
        }
        Ok(text.clone().into_bytes())
    }
}

fn too_large(limit_bytes: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit_bytes} bytes"))
}

/// Folder name under which diagnostics show the built-in files.
const BUILTIN_FOLDER: &str = "<p4cc>";

/// A built-in declaration file: the name shown and its text.
pub(crate) fn builtin(name: &str) -> Option<(String, &'static str)> {
    let text = match name {
        "core.p4" => include_str!("../p4include/core.p4"),
        "v1model.p4" => include_str!("../p4include/v1model.p4"),
        // p4c keeps the file for BMv2 in a folder.
        "psa.p4" | "bmv2/psa.p4" => include_str!("../p4include/psa.p4"),
        _ => return None,
    };
    Some((format!("{BUILTIN_FOLDER}/{name}"), text))
}
