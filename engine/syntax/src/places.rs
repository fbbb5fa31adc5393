//! Places in the files that a preprocessed text was made of, in both directions, as an editor asks for them.
//!
//! `#line` markers do not count here: an editor shows the file that was read.

use crate::source::Source;
use crate::span::Span;
use std::ops::Range;

/// Bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Position in [`Source::files`].
    pub file: usize,
    /// The bytes.
    pub range: Range<usize>,
    /// They are the use of a macro, and the text is from its expansion.
    pub expanded: bool,
}

impl Source {
    /// Names and texts of the files that were read, the root first. A file that was included twice is there
    /// twice.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.files.iter().map(|file| (file.name.as_str(), &*file.text))
    }

    /// Where a span came from.
    pub fn place(&self, span: Span) -> Option<Place> {
        let range = self.physical(span)?;
        let after = self.segments.partition_point(|segment| segment.out_start <= span.start);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        Some(Place {
            file: range.file,
            range: range.start..range.end,
            expanded: segment.expanded_to.is_some(),
        })
    }

    /// Where the text of a file at a byte came to stand; for text that was left out, where that before it
    /// ends.
    pub fn offset(&self, file: usize, at: usize) -> Option<u32> {
        let at = u32::try_from(at).ok()?;
        let ends = self.segments.iter().skip(1).map(|next| next.out_start).chain([self.text.len() as u32]);
        let before = self.segments.iter().zip(ends).filter(|(s, _)| s.file == file && s.src_start <= at);
        let (segment, end) = before.max_by_key(|(segment, _)| (segment.src_start, segment.out_start))?;
        let offset = match segment.expanded_to {
            Some(_) => segment.out_start,
            None => segment.out_start.saturating_add(at - segment.src_start),
        };
        Some(offset.min(end))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Memory, Options, Source, Span};

    #[test]
    fn places_lead_to_files_and_back() {
        let mut files = Memory::default();
        files.insert("part.p4", "const bit<8> X = 1;\n");
        let text = "#define W 8\n#include \"part.p4\"\n/* a */ const bit<W> Y = X;\n";
        let (source, found) = Source::from_text("main.p4", text, &files, &Options::default());
        assert!(found.is_empty());
        let names: Vec<&str> = source.files().map(|(name, _)| name).collect();
        assert_eq!(names, ["main.p4", "part.p4"]);
        for (file, text) in source.files().map(|(_, text)| text).enumerate() {
            for word in ["X", "Y"] {
                let Some(at) = text.rfind(word) else { continue };
                let offset = source.offset(file, at).expect("a place");
                let span = Span::new(offset, offset + 1);
                assert_eq!(source.slice(span), word);
                let place = source.place(span).expect("a place");
                assert_eq!((place.file, place.range, place.expanded), (file, at..at + 1, false));
            }
        }
        let at = source.text().find("8> Y").expect("the expansion") as u32;
        let place = source.place(Span::new(at, at + 1)).expect("a place");
        assert!(place.expanded);
        assert_eq!(&text[place.range], "W");
    }
}
