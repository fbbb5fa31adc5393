//! The comment that documents a declaration: above it, or behind it on its line.

use crate::text::Lines;

/// Longest comment that is shown.
const MAX_LINES: usize = 60;

/// The comment of what stands at `start..end` of a text, without its marks.
pub fn comment(text: &str, lines: &Lines, start: usize, end: usize) -> Option<String> {
    above(text, lines, start).or_else(|| behind(text, lines, end))
}

fn above(text: &str, lines: &Lines, start: usize) -> Option<String> {
    let first = lines.line(start);
    let before = text.get(lines.start(first)?..start)?;
    if !before.trim().is_empty() {
        return None;
    }
    let mut found: Vec<&str> = Vec::new();
    let mut in_block = false;
    for line in (0..first).rev().take(MAX_LINES) {
        let content = lines.text(text, line).trim();
        let ends_block = content.ends_with("*/");
        let is_part = in_block
            || content.starts_with("//")
            || (ends_block && begins_comment(content, found.is_empty()));
        if !is_part {
            break;
        }
        found.push(content);
        in_block = (in_block || ends_block) && !content.starts_with("/*");
    }
    found.reverse();
    cleaned(&found)
}

/// Whether a line that ends a block comment holds nothing but comment.
fn begins_comment(content: &str, is_nearest: bool) -> bool {
    is_nearest && (content.starts_with("/*") || !content.contains(';') && !content.contains("/*"))
}

fn behind(text: &str, lines: &Lines, end: usize) -> Option<String> {
    let line = lines.line(end.saturating_sub(1));
    let rest = text.get(end..lines.start(line)? + lines.text(text, line).len())?;
    let rest = rest.trim_start_matches([';', ',', ' ', '\t']);
    (rest.starts_with("//") || (rest.starts_with("/*") && rest.ends_with("*/"))).then(|| cleaned(&[rest]))?
}

fn cleaned(lines: &[&str]) -> Option<String> {
    let strip = |line: &&str| {
        let line = line.trim_start_matches("/**").trim_start_matches("/*").trim_end_matches("*/");
        let line = line.trim_start_matches('/').trim_end();
        let line = line.strip_prefix('*').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    let text = lines.iter().map(strip).collect::<Vec<_>>().join("\n");
    let text = text.trim();
    // A ruler of dashes or stars says nothing.
    (text.chars().any(char::is_alphanumeric)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_above_and_behind_are_found() {
        let cases = [
            ("/** The MAC\n * header. */\nheader H {}", "header H", Some("The MAC\nheader.")),
            ("// One.\n// Two.\nheader H {}", "header H", Some("One.\nTwo.")),
            ("bit<8> ttl; // hops left\n", "bit", Some("hops left")),
            ("// Far.\n\nheader H {}", "header H", None),
            ("x; /* of x */\nheader H {}", "header H", None),
            ("//-----\nheader H {}", "header H", None),
        ];
        for (text, word, expected) in cases {
            let start = text.find(word).expect("the word");
            let end = text.find("ttl").map_or(start + word.len(), |at| at + 3);
            assert_eq!(comment(text, &Lines::of(text), start, end).as_deref(), expected, "{text}");
        }
    }
}
