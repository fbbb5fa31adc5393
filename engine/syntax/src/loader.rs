//! Where source text comes from: a file system, memory, and the declaration files built into the engine.
//!
//! Invariant: the preprocessor reads files through [`SourceLoader`]
//! only, so a server can compile pushed text without touching the disk.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Reads files by path.
pub trait SourceLoader {
    /// The bytes of `path`. An error of kind [`io::ErrorKind::NotFound`] lets the
    /// search go on in the next folder; any other error ends it. A file of more
    /// than `limit_bytes` is an error of kind [`io::ErrorKind::FileTooLarge`].
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

/// Files held in memory; [`Memory::default`] has none, so
/// that only the built-in declaration files can be included.
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

/// The architecture whose declarations a file of this name holds, of those that are known but not supported.
pub(crate) fn other_architecture(path: &str) -> Option<&'static str> {
    Some(match path {
        "tofino.p4" | "tofino1arch.p4" | "tofino1_arch.p4" => "TNA, which `tna.p4` declares here",
        "t3na.p4" | "tofino3arch.p4" | "tofino3_arch.p4" => "T3NA, the architecture of Tofino 3",
        "pna.p4" | "bmv2/pna.p4" | "dpdk/pna.p4" | "tc/pna.p4" => {
            "PNA, the architecture of network interface cards"
        }
        "dpdk/psa.p4" => "PSA as in DPDK; `psa.p4` is PSA as in BMv2",
        "ebpf_model.p4" | "ubpf_model.p4" | "xdp_model.p4" => {
            "an architecture for programs of an operating system's kernel"
        }
        "simple_sume_switch.p4" | "sume_switch.p4" => "SimpleSumeSwitch, the architecture of NetFPGA SUME",
        "xsa.p4" => "XSA, an architecture of network interface cards",
        _ => return None,
    })
}

/// A file that comes with p4cc.
struct BuiltinFile {
    /// Its name, and those of p4c's files in whose place it stands.
    names: &'static [&'static str],
    text: &'static str,
}

/// All of them: core.p4 before the architectures, and of these v1model first.
const BUILTIN: [BuiltinFile; 5] = [
    BuiltinFile { names: &["core.p4"], text: include_str!("../p4include/core.p4") },
    BuiltinFile { names: &["v1model.p4"], text: include_str!("../p4include/v1model.p4") },
    // p4c keeps the file for BMv2 in a folder.
    BuiltinFile { names: &["psa.p4", "bmv2/psa.p4"], text: include_str!("../p4include/psa.p4") },
    // p4c has these in parts, which some programs include one by one.
    BuiltinFile {
        names: &[
            "tna.p4",
            "tofino.p4",
            "tofino1_specs.p4",
            "tofino1_base.p4",
            "tofino1_arch.p4",
            "tofino1arch.p4",
        ],
        text: include_str!("../p4include/tna.p4"),
    },
    BuiltinFile {
        names: &[
            "t2na.p4",
            "tofino2.p4",
            "tofino2_specs.p4",
            "tofino2_base.p4",
            "tofino2_arch.p4",
            "tofino2arch.p4",
        ],
        text: include_str!("../p4include/t2na.p4"),
    },
];

/// The architectures among them, for messages.
pub(crate) const ARCHITECTURES: &str =
    "v1model (`v1model.p4`), PSA (`psa.p4`), TNA and T2NA (`tna.p4`, `t2na.p4`)";

/// The names of built-in files that programs are told of.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().filter_map(|file| file.names.first().copied())
}

/// The built-in file that declares a type, a function, a match kind or an error; core.p4 before
/// the architectures, and of these v1model first.
pub fn declaring_file(name: &str) -> Option<&'static str> {
    const LEADS: [&str; 10] =
        ["struct", "header", "enum", "extern", "package", "action", "control", "parser", "void", ">"];
    let found = BUILTIN.iter().find(|file| {
        let mut depth = 0u32;
        let mut listed = false;
        let code: String = file
            .text
            .lines()
            .map(|line| line.split("//").next().unwrap_or(""))
            .collect::<Vec<_>>()
            .join("\n");
        let mut before = "";
        for token in crate::tokens(&code) {
            match token {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ if depth == 0 => listed = matches!(token, "error" | "match_kind"),
                _ => {}
            }
            let declared = (depth == 0 && LEADS.contains(&before)) || (listed && depth == 1);
            if declared && token == name {
                return true;
            }
            before = token;
        }
        false
    });
    found?.names.first().copied()
}

/// The text of a built-in file by the name that diagnostics and [`Source::files`](crate::Source::files) show.
pub fn builtin_file(shown: &str) -> Option<&'static str> {
    let name = shown.strip_prefix(BUILTIN_FOLDER)?.strip_prefix('/')?;
    builtin(name).map(|(_, text)| text)
}

/// A built-in declaration file: the name shown and its text.
pub(crate) fn builtin(name: &str) -> Option<(String, &'static str)> {
    let file = BUILTIN.iter().find(|file| file.names.contains(&name))?;
    Some((format!("{BUILTIN_FOLDER}/{name}"), file.text))
}
