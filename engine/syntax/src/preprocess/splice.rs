//! Lines joined by a backslash at their end (translation
//! phase 2 of C), and the way back to the file's own bytes.
//!
//! Invariant: `cuts` is in order of `at`; a file without such lines has none and is not copied.

use std::borrow::Cow;

/// Bytes that were taken out.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Offset in the joined text of what stands behind them.
    at: usize,
    /// Bytes taken out up to here, those before them included.
    removed: usize,
}

/// Where the bytes of a joined text stand in its file.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts(Vec<Cut>);

impl Cuts {
    /// Place in the file of the byte at an offset of the joined text.
    pub(super) fn start(&self, at: usize) -> usize {
        let before = self.0.partition_point(|cut| cut.at <= at);
        at + self.0[..before].last().map_or(0, |cut| cut.removed)
    }

    /// End in the file of what ends at an offset of the joined text: a joint behind it is no part of it.
    pub(super) fn end(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |last| self.start(last) + 1)
    }

    /// Offsets of the joints inside a range of the joined text.
    pub(super) fn within(&self, start: usize, end: usize) -> impl Iterator<Item = usize> {
        let from = self.0.partition_point(|cut| cut.at <= start);
        self.0[from..].iter().map(|cut| cut.at).take_while(move |at| *at < end)
    }
}

/// Takes out each backslash that ends its line, with the end of the line. Blanks may be between the two, as
/// for gcc's preprocessor, which p4c calls.
pub(super) fn join_lines(text: &str) -> (Cow<'_, str>, Cuts) {
    let mut joined = String::new();
    let mut cuts: Vec<Cut> = Vec::new();
    let (mut kept, mut removed) = (0, 0);
    for (at, _) in text.match_indices('\\') {
        let behind = text.as_bytes().get(at + 1..).unwrap_or_default();
        let blanks = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let len = match &behind[blanks..] {
            [b'\n', ..] => blanks + 2,
            [b'\r', b'\n', ..] => blanks + 3,
            _ => continue,
        };
        joined.push_str(&text[kept..at]);
        kept = at + len;
        removed += len;
        match cuts.last_mut().filter(|cut| cut.at == joined.len()) {
            Some(cut) => cut.removed = removed,
            None => cuts.push(Cut { at: joined.len(), removed }),
        }
    }
    if cuts.is_empty() {
        return (Cow::Borrowed(text), Cuts::default());
    }
    joined.push_str(&text[kept..]);
    (Cow::Owned(joined), Cuts(cuts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_leads_back_to_its_file() {
        let text = "\\\na\\\r\n\\\nb\\ x\nc\\\n";
        let (joined, cuts) = join_lines(text);
        assert_eq!(joined, "ab\\ x\nc");
        for (at, byte) in joined.bytes().enumerate() {
            assert_eq!(text.as_bytes()[cuts.start(at)], byte, "byte {at}");
        }
        assert_eq!((cuts.start(0), cuts.end(1), cuts.start(1), cuts.end(2)), (2, 3, 8, 9));
        assert_eq!(cuts.within(0, 2).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn blanks_behind_a_backslash_do_not_matter() {
        for (text, wanted) in [
            ("#a \\ \t\n b\\ \r\nc\n// d \\ \n", "#a  bc\n// d "),
            ("#a \\ b\n", "#a \\ b\n"),
            ("#a \\ ", "#a \\ "),
        ] {
            assert_eq!(join_lines(text).0, wanted, "{text:?}");
        }
    }

    #[test]
    fn a_text_without_joints_is_not_copied() {
        let (joined, cuts) = join_lines("a\\b\n\\ x\n");
        assert!(matches!(joined, Cow::Borrowed(_)) && cuts.0.is_empty());
        assert_eq!((cuts.start(3), cuts.end(3), cuts.end(0)), (3, 3, 0));
    }
}
