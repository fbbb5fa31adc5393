//! The text of an open document, its lines, and positions as clients count them.
//!
//! Invariant: every position that a client sends is clamped to the text, so that no edit is refused and none
//! panics.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

/// Units in which columns are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16: what every client knows.
    #[default]
    Utf16,
}

impl Encoding {
    fn units(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
        }
    }
}

/// Where the lines of a text begin. A line ends with a line feed, a carriage return, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines(Vec<usize>);

impl Lines {
    /// The lines of a text.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes
            .iter()
            .enumerate()
            .filter(|(at, byte)| **byte == b'\n' || (**byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')));
        Self(std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect())
    }

    /// Index of the line that a byte is on.
    pub fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// First byte of a line.
    pub fn start(&self, line: usize) -> Option<usize> {
        self.0.get(line).copied()
    }

    /// A line without its end.
    pub fn text<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let Some(start) = self.start(line) else { return "" };
        let end = self.start(line + 1).unwrap_or(text.len());
        text.get(start..end).unwrap_or("").trim_end_matches(['\r', '\n'])
    }

    /// The byte at a position; behind the end of a line is its end.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let line = position.line as usize;
        let Some(start) = self.start(line) else { return text.len() };
        let (mut at, mut units) = (start, 0);
        for character in self.text(text, line).chars() {
            let next = units + encoding.units(character);
            if next > position.character as usize {
                break;
            }
            units = next;
            at += character.len_utf8();
        }
        at
    }

    /// The position of a byte.
    pub fn position(&self, text: &str, at: usize, encoding: Encoding) -> Position {
        let line = self.line(at);
        let start = self.start(line).unwrap_or(0);
        let mut units = 0;
        for (offset, character) in self.text(text, line).char_indices() {
            if start + offset >= at {
                break;
            }
            units += encoding.units(character);
        }
        Position::new(line as u32, units as u32)
    }

    /// The range of some bytes.
    pub fn range(&self, text: &str, bytes: std::ops::Range<usize>, encoding: Encoding) -> Range {
        Range::new(self.position(text, bytes.start, encoding), self.position(text, bytes.end, encoding))
    }
}

/// Applies one change as a client sends it.
pub fn apply(text: &mut String, change: &TextDocumentContentChangeEvent, encoding: Encoding) {
    let Some(range) = change.range else {
        text.clone_from(&change.text);
        return;
    };
    let lines = Lines::of(text);
    let start = lines.offset(text, range.start, encoding);
    let end = lines.offset(text, range.end, encoding).max(start);
    text.replace_range(start..end, &change.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_units_of_the_encoding() {
        let text = "aé😀b\r\nc\rd\n";
        let lines = Lines::of(text);
        for (encoding, column) in [(Encoding::Utf16, 4), (Encoding::Utf8, 7)] {
            let at = text.find('b').expect("a b");
            assert_eq!(lines.position(text, at, encoding), Position::new(0, column));
            assert_eq!(lines.offset(text, Position::new(0, column), encoding), at);
        }
        // Inside a character is its start, and behind the line's end the end.
        assert_eq!(lines.offset(text, Position::new(0, 3), Encoding::Utf16), 3);
        assert_eq!(lines.offset(text, Position::new(0, 99), Encoding::Utf16), 8);
        assert_eq!(lines.offset(text, Position::new(2, 0), Encoding::Utf16), text.find('d').expect("a d"));
        assert_eq!(lines.offset(text, Position::new(99, 0), Encoding::Utf16), text.len());
    }

    #[test]
    fn an_edit_replaces_its_range() {
        let mut text = "a\nb😀c\n".to_owned();
        let range = Range::new(Position::new(1, 1), Position::new(1, 3));
        let change =
            TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: "\n".into() };
        apply(&mut text, &change, Encoding::Utf16);
        assert_eq!(text, "a\nb\nc\n");
    }
}
