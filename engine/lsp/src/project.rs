//! Which program a file is a part of.

use crate::analysis::Overlay;
use crate::config::Config;
use crate::features::macros::include_of;
use p4cc_syntax::SourceLoader;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files that are looked through, and their bytes in all.
const MAX_FILES: usize = 1_000;
const MAX_FILE_BYTES: u64 = 4 << 20;
const MAX_DEPTH: u32 = 6;
const MAX_FOLDERS: u32 = 300;

/// The programs that a file is a part of: those of the configuration that include it, or else those of the
/// folder that do so and that no other includes. The first is the one that the file is read with; without one
/// the file is a program itself.
pub fn programs_of(file: &Path, config: &Config, overlay: &Overlay) -> Vec<PathBuf> {
    let itself = || vec![file.to_owned()];
    if config.programs.iter().any(|program| program == file) {
        return itself();
    }
    let folder = config.folder.as_deref().or(file.parent());
    let Some(folder) = folder.filter(|folder| folder.is_absolute()) else { return itself() };
    let (mut files, mut left) = (BTreeSet::new(), MAX_FOLDERS);
    collect(folder, MAX_DEPTH, &mut left, &mut files);
    // What a file is included by is often one folder up.
    if config.folder.is_none() {
        let above = folder.parent().map(list).unwrap_or_default();
        files.extend(above.into_iter().filter(|path| is_source(path)).take(MAX_FILES));
    }
    let includes: BTreeMap<&Path, Vec<String>> =
        files.iter().map(|path| (path.as_path(), includes_of(path, overlay))).collect();
    let reaches = |program: &&PathBuf| reached(program, &includes, config).contains(file);
    let named: Vec<PathBuf> = config.programs.iter().filter(reaches).cloned().collect();
    if !named.is_empty() {
        return named;
    }
    let included: BTreeSet<PathBuf> =
        includes.iter().flat_map(|(path, named)| resolved(path, named, &includes, config)).collect();
    let tops = files.iter().filter(|path| !included.contains(*path) && path.as_path() != file);
    let found: Vec<PathBuf> = tops.filter(reaches).cloned().collect();
    if found.is_empty() { itself() } else { found }
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "p4" || end == "p4h" || end == "h")
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).take(MAX_FILES).collect();
    found.sort();
    found
}

/// `left` is how many folders are still looked into: a folder may be somebody's home.
fn collect(folder: &Path, depth: u32, left: &mut u32, files: &mut BTreeSet<PathBuf>) {
    let (Some(depth), Some(less)) = (depth.checked_sub(1), left.checked_sub(1)) else { return };
    *left = less;
    for path in list(folder) {
        if files.len() >= MAX_FILES {
            return;
        }
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_source(&path) {
            files.insert(path);
        } else if !hidden && path.is_dir() && !path.is_symlink() {
            collect(&path, depth, left, files);
        }
    }
}

fn includes_of(path: &Path, overlay: &Overlay) -> Vec<String> {
    let Ok(bytes) = overlay.read(path, MAX_FILE_BYTES) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter_map(include_of).map(str::to_owned).collect()
}

/// The files among those known that a file's includes name.
fn resolved(
    path: &Path,
    named: &[String],
    known: &BTreeMap<&Path, Vec<String>>,
    config: &Config,
) -> Vec<PathBuf> {
    let beside = path.parent().into_iter();
    let folders: Vec<&Path> = beside.chain(config.include_dirs.iter().map(AsRef::as_ref)).collect();
    let find = |name: &String| {
        let mut paths = folders.iter().map(|folder| crate::paths::normal(&folder.join(name)));
        paths.find(|path| known.contains_key(path.as_path()))
    };
    named.iter().filter_map(find).collect()
}

fn reached(program: &Path, includes: &BTreeMap<&Path, Vec<String>>, config: &Config) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![program.to_owned()];
    while let Some(path) = open.pop() {
        let named = includes.get(path.as_path()).map_or(&[][..], Vec::as_slice);
        for next in resolved(&path, named, includes, config) {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}
