//! Macros and includes: the preprocessor leaves none of their names, so the text of the files is searched.

use crate::analysis::word_at;
use crate::cursor::line_start;
use crate::view::{Cursor, View};
use lsp_types::{Location, Position, Range};
use std::ops::Range as Bytes;
use std::path::Path;

/// Where the macro under the cursor is defined: the last definition before it, or else the first anywhere.
pub fn definition(view: &View<'_>, cursor: Cursor) -> Option<(usize, Bytes<usize>)> {
    let text = view.analysis.text(cursor.file);
    let name = text.get(word_at(text, cursor.at)?)?;
    let here = definitions(text, name);
    let before = here.iter().rev().find(|found| found.start <= cursor.at).or(here.first());
    if let Some(found) = before {
        return Some((cursor.file, found.clone()));
    }
    let others = (0..view.analysis.files.len()).filter(|file| *file != cursor.file);
    others.into_iter().find_map(|file| {
        let found = definitions(view.analysis.text(file), name);
        Some((file, found.into_iter().next()?))
    })
}

/// Names of all macros that a text defines.
pub fn defined(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let name = rest.strip_prefix([' ', '\t'])?.trim_start();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        name.get(..end).filter(|name| !name.is_empty())
    })
}

fn definitions(text: &str, name: &str) -> Vec<Bytes<usize>> {
    let mut found = Vec::new();
    for defined in defined(text).filter(|defined| *defined == name) {
        let start = defined.as_ptr() as usize - text.as_ptr() as usize;
        found.push(start..start + name.len());
    }
    found
}

/// The definition of a macro as written, continued lines with it.
pub fn shown(text: &str, name: &Bytes<usize>) -> String {
    let start = line_start(text, name.start);
    let lines = text[start..].lines();
    let mut more = true;
    let part = lines.take_while(|line| std::mem::replace(&mut more, line.trim_end().ends_with('\\')));
    part.take(40).collect::<Vec<_>>().join("\n")
}

/// The file that the `#include` under the cursor names.
pub fn included(view: &View<'_>, cursor: Cursor) -> Option<Location> {
    let lines = &view.analysis.files[cursor.file].lines;
    let line = lines.text(view.analysis.text(cursor.file), lines.line(cursor.at));
    let name = include_of(line)?;
    let ends =
        |path: &Path| path.ends_with(name) || path.ends_with(Path::new(name).file_name().unwrap_or_default());
    let files = view.analysis.files.iter().enumerate().skip(1);
    let (file, _) = files.into_iter().find(|(_, file)| ends(&file.path))?;
    Some(Location { uri: view.uri(file)?, range: Range::new(Position::new(0, 0), Position::new(0, 0)) })
}

/// The file that a line includes.
pub fn include_of(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let close = match rest.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    rest[1..].split(close).next().filter(|name| !name.is_empty())
}
