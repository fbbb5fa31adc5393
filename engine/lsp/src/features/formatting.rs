//! The style, as edits of a document.

use crate::format::format;
use crate::view::View;
use lsp_types::TextEdit;

/// The edit that gives a file the style: of the lines between the first and the last that change.
///
/// # Errors
/// Why the file is left as it is.
pub fn edits(view: &View<'_>, file: usize) -> Result<Vec<TextEdit>, String> {
    let text = view.analysis.text(file);
    let styled = format(text)?;
    if styled == text {
        return Ok(Vec::new());
    }
    let same = |pairs: &mut dyn Iterator<Item = (&str, &str)>| {
        pairs.take_while(|(old, new)| old == new).map(|(old, _)| old.len()).sum::<usize>()
    };
    let (old, new) = (text.split_inclusive('\n'), styled.split_inclusive('\n'));
    let head = same(&mut old.clone().zip(new.clone()));
    let room = text.len().min(styled.len()) - head;
    let mut tail = 0;
    for (old, new) in old.rev().zip(new.rev()) {
        if old != new || tail + old.len() > room {
            break;
        }
        tail += old.len();
    }
    let new_text = styled[head..styled.len() - tail].to_owned();
    Ok(vec![TextEdit { range: view.range(file, head..text.len() - tail), new_text }])
}
