//! What is wrong with a configuration, and names that are near to one that there is not.

use core::fmt;

/// A configuration that cannot be used: where, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// Dotted path of the value, such as `slow_start.k`.
    pub place: String,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl ConfigError {
    /// An error at `place`.
    pub fn new(place: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.into(), cause: cause.into(), remedy: remedy.into() }
    }

    /// The same error with its place below `prefix`.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        self.place = format!("{prefix}.{}", self.place);
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.cause, self.remedy)
    }
}

impl core::error::Error for ConfigError {}

/// "did you mean …; known: …" for a name that is not among `known`.
pub(crate) fn remedy(name: &str, known: &[&str]) -> String {
    let known_list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    match suggestion(name, known) {
        Some(near) => format!("did you mean {near:?}? known: {known_list}"),
        None => format!("known: {known_list}"),
    }
}

/// The known name nearest to `name`, if one is near enough to be a slip of the pen.
pub fn suggestion<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (edit_distance(name, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance; names are short, and `name` is cut to a bound because it is user input.
fn edit_distance(name: &str, candidate: &str) -> usize {
    const MAX_CHARS: usize = 64;
    let candidate: Vec<char> = candidate.chars().collect();
    let mut row: Vec<usize> = (0..=candidate.len()).collect();
    for (i, a) in name.chars().take(MAX_CHARS).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in candidate.iter().enumerate() {
            let substitution = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[candidate.len()]
}
