//! Which program a file is a part of.

use crate::analysis::Overlay;
use crate::config::Config;
use crate::features::macros::include_of;
use p4cc_budget::Budget;
use p4cc_syntax::SourceLoader;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Files that are looked through, and their bytes in all.
const MAX_FILES: usize = 1_000;
const MAX_FILE_BYTES: u64 = 4 << 20;
const MAX_DEPTH: u32 = 6;
const MAX_FOLDERS: u32 = 300;

/// Files whose includes are remembered.
const MAX_REMEMBERED: usize = 20_000;

/// What files on disk include, as they were when they were last read.
#[derive(Default)]
pub struct Includes(Mutex<BTreeMap<PathBuf, Remembered>>);

struct Remembered {
    modified: SystemTime,
    bytes: u64,
    names: Arc<[String]>,
}

impl Includes {
    /// Names in the `#include` lines of a file; it is read only if it is another than before.
    fn of(&self, path: &Path, overlay: &Overlay) -> Arc<[String]> {
        let stamp = match overlay.0.contains_key(path) {
            true => None,
            false => std::fs::metadata(path).ok().and_then(|meta| Some((meta.modified().ok()?, meta.len()))),
        };
        let known = |files: &BTreeMap<PathBuf, Remembered>| {
            let known = files.get(path).filter(|known| Some((known.modified, known.bytes)) == stamp)?;
            Some(known.names.clone())
        };
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = known(&lock()) {
            return names;
        }
        let Ok(bytes) = overlay.read(path, MAX_FILE_BYTES) else { return Arc::new([]) };
        let text = String::from_utf8_lossy(&bytes);
        let names: Arc<[String]> = text.lines().filter_map(include_of).map(str::to_owned).collect();
        if let Some((modified, bytes)) = stamp {
            let mut files = lock();
            if files.len() >= MAX_REMEMBERED {
                files.clear();
            }
            files.insert(path.to_owned(), Remembered { modified, bytes, names: names.clone() });
        }
        names
    }
}

/// The programs that a file is a part of: those of the configuration that include it, or else those of the
/// folder that do so and that no other includes. The first is the one that the file is read with; without one
/// the file is a program itself. A `budget` that is over ends the search with that.
pub fn programs_of(
    file: &Path,
    config: &Config,
    overlay: &Overlay,
    known: &Includes,
    budget: &Budget,
) -> Vec<PathBuf> {
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
    let mut includes: BTreeMap<&Path, Arc<[String]>> = BTreeMap::new();
    for path in &files {
        if budget.is_over() {
            return itself();
        }
        includes.insert(path, known.of(path, overlay));
    }
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

/// The files among those known that a file's includes name.
fn resolved(
    path: &Path,
    named: &[String],
    known: &BTreeMap<&Path, Arc<[String]>>,
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

fn reached(program: &Path, includes: &BTreeMap<&Path, Arc<[String]>>, config: &Config) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![program.to_owned()];
    while let Some(path) = open.pop() {
        let named = includes.get(path.as_path()).map_or(&[][..], |names| &**names);
        for next in resolved(&path, named, includes, config) {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}
