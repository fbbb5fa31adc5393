//! Configuration of algorithms and its errors.
//!
//! The JSON shape is `{"congestion_avoidance": {"name": …, parameter: value, …}, "slow_start": {…}}`; what a
//! parameter may be stands in the registry (`params.rs`), not here.

use core::fmt;
use std::collections::BTreeMap;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

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

/// The value of one parameter.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl<'de> Deserialize<'de> for ParamValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;
        impl Visitor<'_> for Value {
            type Value = ParamValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a word")
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<ParamValue, E> {
                Ok(ParamValue::Number(value))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<ParamValue, E> {
                Ok(ParamValue::Number(value as f64))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<ParamValue, E> {
                Ok(ParamValue::Number(value as f64))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<ParamValue, E> {
                Ok(ParamValue::Text(value.to_owned()))
            }
            /// YAML 1.1 reads a bare `on` or `off` as a boolean.
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<ParamValue, E> {
                Ok(ParamValue::Text(if value { "on" } else { "off" }.to_owned()))
            }
        }
        deserializer.deserialize_any(Value)
    }
}

/// One algorithm by name, with the parameters that differ from the defaults.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AlgorithmSpec {
    /// Name in the registry.
    pub name: String,
    /// Parameters by name; the registry says which exist.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ParamValue>,
}

impl AlgorithmSpec {
    /// An algorithm with its defaults.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), parameters: BTreeMap::new() }
    }
}

/// The algorithms of one sender.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlgorithmConfig {
    /// Congestion avoidance; Reno by default.
    #[serde(default = "default_avoidance")]
    pub congestion_avoidance: AlgorithmSpec,
    /// Slow start; the standard one by default.
    #[serde(default = "default_slow_start")]
    pub slow_start: AlgorithmSpec,
}

fn default_avoidance() -> AlgorithmSpec {
    AlgorithmSpec::named("reno")
}

fn default_slow_start() -> AlgorithmSpec {
    AlgorithmSpec::named("standard")
}

impl Default for AlgorithmConfig {
    fn default() -> Self {
        Self { congestion_avoidance: default_avoidance(), slow_start: default_slow_start() }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InitialWindow, build};

    fn message(json: &str) -> String {
        match serde_json::from_str::<AlgorithmConfig>(json) {
            Err(error) => error.to_string(),
            Ok(config) => match build(&config, InitialWindow::default()) {
                Err(error) => error.to_string(),
                Ok(_) => "no error".to_owned(),
            },
        }
    }

    #[test]
    fn errors_name_place_cause_and_remedy() {
        for (json, want) in [
            (
                r#"{"congestion_avoidance":{"name":"dtcp"}}"#,
                r#"congestion_avoidance.name: unknown algorithm "dtcp"; did you mean "dctcp"? known: reno, reno_ecn, dctcp, d2tcp, l2tcp"#,
            ),
            (
                r#"{"congestion_avoidance":{"name":"gst"}}"#,
                r#"congestion_avoidance.name: "gst" is an algorithm for slow_start, not for congestion_avoidance; known: reno, reno_ecn, dctcp, d2tcp, l2tcp"#,
            ),
            (
                r#"{"congestion_avoidance":{"name":"dctcp","gg":1}}"#,
                r#"congestion_avoidance.gg: "dctcp" has no parameter "gg"; known: g, alpha0, cwnd_min, alpha_by, cwr_freeze"#,
            ),
            (
                r#"{"congestion_avoidance":{"name":"dctcp","alpha":1}}"#,
                r#"congestion_avoidance.alpha: "dctcp" has no parameter "alpha"; did you mean "alpha0"? known: g, alpha0, cwnd_min, alpha_by, cwr_freeze"#,
            ),
            (
                r#"{"congestion_avoidance":{"name":"dctcp","g":-0.5}}"#,
                "congestion_avoidance.g: -0.5 is out of range; give a number from 0.0001 to 1",
            ),
            (
                r#"{"congestion_avoidance":{"name":"dctcp","g":"big"}}"#,
                r#"congestion_avoidance.g: "big" is not a number; give a number from 0.0001 to 1"#,
            ),
            (
                r#"{"slow_start":{"name":"gst"}}"#,
                r#"slow_start.k: "gst" needs it and has no default; give a number from 0 to 1000000"#,
            ),
            (
                r#"{"slow_start":{"name":"gst","k":70}}"#,
                "slow_start.k: k 70 is above k_dc 65; the lower threshold comes first: set k <= k_dc",
            ),
            (
                r#"{"slow_start":{"name":"gst","k":8,"delta":"printed"}}"#,
                r#"slow_start.delta: "printed" is not a value of it; give one of: text, literal"#,
            ),
        ] {
            assert_eq!(message(json), want);
        }
        assert!(message(r#"{"slowstart":{}}"#).contains("unknown field `slowstart`"));
        assert!(message(r#"{"slow_start":{"name":"gst","k":[1]}}"#).contains("a number or a word"));
    }

    #[test]
    fn defaults_and_booleans_are_taken() {
        assert_eq!(message("{}"), "no error");
        assert_eq!(message(r#"{"congestion_avoidance":{"name":"dctcp","cwr_freeze":true}}"#), "no error");
    }
}
