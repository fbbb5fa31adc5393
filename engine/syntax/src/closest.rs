//! The name that a mistyped one was meant to be.

/// Longest name that is compared: the time grows with the square of the length.
const MAX_NAME_BYTES: usize = 128;

/// The candidate nearest to `name`, if it is near enough to be meant; none for very long names.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or(usize::MAX - 1);
            let substituted = diagonal + usize::from(x != *y);
            let best = substituted.min(above + 1).min(left + 1);
            diagonal = above;
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            left = best;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_not() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert_eq!(closest("ipv4_lmp", ["ipv4_lpm", "ipv6_lpm"].into_iter()), Some("ipv4_lpm"));
        assert_eq!(closest("x", ["abc"].into_iter()), None);
        let long = "a".repeat(MAX_NAME_BYTES);
        assert_eq!(closest(&long, [long.as_str()].into_iter()), Some(long.as_str()));
        assert_eq!(closest(&format!("{long}a"), [long.as_str()].into_iter()), None);
    }
}
