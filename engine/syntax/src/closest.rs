//! The name that a mistyped one was meant to be.

use std::str::Chars;

/// Longest name that is compared.
const MAX_NAME_BYTES: usize = 128;

/// The candidate nearest to `name`, if it is near enough to be meant; none for very long names.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let mut limit = (name.chars().count() / 3).clamp(1, 3);
    let mut nearest = None;
    for candidate in candidates.filter(|candidate| candidate.len().abs_diff(name.len()) <= MAX_EDIT_BYTES) {
        if let Some(distance) = distance_within(limit, name.chars(), candidate.chars()) {
            nearest = Some(candidate);
            // Only a nearer one takes its place.
            let Some(nearer) = distance.checked_sub(1) else { break };
            limit = nearer;
        }
    }
    nearest
}

/// Bytes by which the lengths of two names differ at most that are three edits apart.
const MAX_EDIT_BYTES: usize = 3 * 4;

/// Edit distance, if it is at most `limit`: in time linear in the length, for a limit of a few edits.
fn distance_within(limit: usize, mut a: Chars<'_>, mut b: Chars<'_>) -> Option<usize> {
    let (mut shorter_a, mut shorter_b) = (a.clone(), b.clone());
    loop {
        match (shorter_a.next(), shorter_b.next()) {
            (None, None) => return Some(0),
            (x, y) if x == y => (a, b) = (shorter_a.clone(), shorter_b.clone()),
            _ => break,
        }
    }
    let limit = limit.checked_sub(1)?;
    let replaced = distance_within(limit, shorter_a.clone(), shorter_b.clone());
    let deleted = distance_within(limit, shorter_a, b);
    let inserted = distance_within(limit, a, shorter_b);
    [replaced, deleted, inserted].into_iter().flatten().min().map(|rest| rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_not() {
        let distance_within = |limit, a: &str, b: &str| distance_within(limit, a.chars(), b.chars());
        assert_eq!(distance_within(3, "kitten", "sitting"), Some(3));
        assert_eq!(distance_within(2, "kitten", "sitting"), None);
        assert_eq!(distance_within(3, "", "ab"), Some(2));
        assert_eq!(distance_within(3, "ab", ""), Some(2));
        assert_eq!(distance_within(1, "größe", "grösse"), None);
        assert_eq!(distance_within(2, "größe", "grösse"), Some(2));
        assert_eq!(closest("ipv4_lmp", ["ipv4_lpm", "ipv6_lpm"].into_iter()), Some("ipv4_lpm"));
        assert_eq!(closest("x", ["abc"].into_iter()), None);
        let long = "a".repeat(MAX_NAME_BYTES);
        assert_eq!(closest(&long, [long.as_str()].into_iter()), Some(long.as_str()));
        assert_eq!(closest(&format!("{long}a"), [long.as_str()].into_iter()), None);
    }
}
