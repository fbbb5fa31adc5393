//! Addresses of documents and paths of files.
//!
//! A document without a file (`untitled:`) has its address in the place of a path; nothing is read there.

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

/// What an address writes as it is.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'_').remove(b'-').remove(b'~');

/// The path that an address names.
pub fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else { return PathBuf::from(text) };
    // The host of `file://localhost/x` is this one.
    let path = rest.find('/').map_or(rest, |slash| &rest[slash..]);
    normal(Path::new(&*percent_decode_str(path).decode_utf8_lossy()))
}

/// The address of a path.
pub fn uri_of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?;
    if path.is_absolute() {
        return Uri::from_str(&format!("file://{}", utf8_percent_encode(text, &ESCAPED))).ok();
    }
    Uri::from_str(text).ok().filter(|_| text.contains(':'))
}

/// A path without `.` and `..`, as far as names alone tell.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_any_character_comes_back() {
        for name in ["/a/b.p4", "/a b/ü#%?.p4"] {
            let uri = uri_of(Path::new(name)).expect("an address");
            assert_eq!(path_of(&uri), Path::new(name), "{}", uri.as_str());
        }
        let untitled = Uri::from_str("untitled:Untitled-1").expect("an address");
        assert_eq!(uri_of(&path_of(&untitled)), Some(untitled));
    }

    #[test]
    fn dots_are_taken_out() {
        assert_eq!(normal(Path::new("/a/./b/../c.p4")), Path::new("/a/c.p4"));
        assert_eq!(normal(Path::new("../c.p4")), Path::new("../c.p4"));
    }
}
