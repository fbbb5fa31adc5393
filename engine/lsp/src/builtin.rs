//! Files that come with p4cc, written to the user's cache so that an editor can show them.

use p4cc_syntax::builtin_file;
use std::path::{Path, PathBuf};

/// The path under which an editor finds the file that is shown as `name`; it is written if it is not there.
pub fn path(name: &Path) -> Option<PathBuf> {
    let shown = name.to_str()?;
    let text = builtin_file(shown)?;
    let inside = shown.split_once('/')?.1;
    let file = folder()?.join(inside);
    if std::fs::read_to_string(&file).is_ok_and(|old| old == text) {
        return Some(file);
    }
    std::fs::create_dir_all(file.parent()?).ok()?;
    // Another server may write the same; each is whole.
    let partial = file.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&partial, text).ok()?;
    std::fs::rename(&partial, &file).ok()?;
    Some(file)
}

/// Whether a path is one of these files.
pub fn contains(path: &Path) -> bool {
    folder().is_some_and(|folder| path.starts_with(folder))
}

fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("p4cc").join("p4include").join(env!("CARGO_PKG_VERSION")))
}
