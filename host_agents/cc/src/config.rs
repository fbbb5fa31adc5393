//! Configuration of algorithms.
//!
//! The JSON shape is `{"congestion_avoidance": {"name": …, parameter: value, …}, "slow_start": {…}}`; what a
//! parameter may be stands in the registry (`params.rs`), not here.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ConfigError;
use crate::kind::Kind;
use crate::own::{Brought, FlowIdentity, OwnAlgorithm};

/// The value of one parameter.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AlgorithmSpec {
    /// Name in the registry, or for people where the algorithm is the user's own.
    pub name: String,
    /// Number of a user's algorithm ([`AlgorithmConfig::bring`]), which has its parameters already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<u32>,
    /// That algorithm.
    #[serde(skip)]
    pub brought: Option<Brought>,
    /// Parameters by name; the registry says which exist.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ParamValue>,
}

impl AlgorithmSpec {
    /// An algorithm with its defaults.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), own: None, brought: None, parameters: BTreeMap::new() }
    }
}

impl AlgorithmSpec {
    /// Puts the algorithm in its place, if this is one of the user's; `key` is the configuration key above.
    ///
    /// # Errors
    /// A number beyond the list, or an algorithm of another kind.
    pub(crate) fn bring(
        &mut self,
        kind: Kind,
        algorithms: &[Arc<dyn OwnAlgorithm>],
    ) -> Result<(), ConfigError> {
        let Some(number) = self.own else { return Ok(()) };
        let place = || format!("{}.own", kind.key());
        let Some(algorithm) = algorithms.get(number as usize) else {
            let cause = format!("there is no user-defined algorithm number {number}");
            return Err(ConfigError::new(place(), cause, "number the algorithms from 0, and pass them all"));
        };
        if algorithm.kind() != kind {
            let (has, wants) = (algorithm.kind().key(), kind.key());
            let cause = format!("{:?} is an algorithm for {has}, not for {wants}", self.name);
            return Err(ConfigError::new(place(), cause, format!("name it under {has}")));
        }
        self.brought = Some(Brought { algorithm: Arc::clone(algorithm), flow: FlowIdentity::default() });
        Ok(())
    }

    /// The algorithm of the user's that was brought; none for one of the registry.
    ///
    /// # Errors
    /// The configuration names one, and nobody brought it.
    pub(crate) fn own(&self, kind: Kind) -> Result<Option<&Brought>, ConfigError> {
        if self.own.is_some() && self.brought.is_none() {
            let cause = format!("{:?} is a user-defined algorithm whose code is missing", self.name);
            return Err(ConfigError::new(kind.key(), cause, "run it with `p4cc`, which loads the code"));
        }
        Ok(self.brought.as_ref())
    }

    /// Puts an algorithm of the user's where its number stands, for a paced sender.
    ///
    /// # Errors
    /// A number beyond the list, or an algorithm of another kind.
    pub fn bring_rate(&mut self, algorithms: &[Arc<dyn OwnAlgorithm>]) -> Result<(), ConfigError> {
        self.bring(Kind::RateControl, algorithms)
    }

    /// Puts a receiver of the user's where its number stands.
    ///
    /// # Errors
    /// A number beyond the list, or an algorithm of another kind.
    pub fn bring_receiver(&mut self, algorithms: &[Arc<dyn OwnAlgorithm>]) -> Result<(), ConfigError> {
        self.bring(Kind::Receiver, algorithms)
    }

    /// Says for which flow the algorithm is made; changes nothing for one of the registry.
    pub fn for_flow(&mut self, flow: FlowIdentity) {
        if let Some(brought) = &mut self.brought {
            brought.flow = flow;
        }
    }
}

/// The algorithms of one sender.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
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

impl AlgorithmConfig {
    /// Puts algorithms of the user's where their numbers stand.
    ///
    /// # Errors
    /// A number beyond the list, or an algorithm of another kind.
    pub fn bring(&mut self, algorithms: &[Arc<dyn OwnAlgorithm>]) -> Result<(), ConfigError> {
        self.slow_start.bring(Kind::SlowStart, algorithms)?;
        self.congestion_avoidance.bring(Kind::CongestionAvoidance, algorithms)
    }

    /// Whether an algorithm is the user's.
    #[must_use]
    pub fn has_own(&self) -> bool {
        self.slow_start.own.is_some() || self.congestion_avoidance.own.is_some()
    }

    /// Says for which flow the algorithms are made.
    pub fn for_flow(&mut self, flow: FlowIdentity) {
        self.slow_start.for_flow(flow);
        self.congestion_avoidance.for_flow(flow);
    }
}

impl Default for AlgorithmConfig {
    fn default() -> Self {
        Self { congestion_avoidance: default_avoidance(), slow_start: default_slow_start() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::known;
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
                r#"congestion_avoidance.name: unknown algorithm "dtcp"; did you mean "dctcp"? known: KNOWN"#,
            ),
            (
                r#"{"congestion_avoidance":{"name":"gst"}}"#,
                r#"congestion_avoidance.name: "gst" is an algorithm for slow_start, not for congestion_avoidance; known: KNOWN"#,
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
                r#"slow_start.k: "gst" requires this parameter, which has no default; give a number from 0 to 1000000"#,
            ),
            (
                r#"{"slow_start":{"name":"gst","k":70}}"#,
                "slow_start.k: k 70 is greater than k_dc 65; k is the lower threshold: set k <= k_dc",
            ),
            (
                r#"{"slow_start":{"name":"gst","k":8,"delta":"printed"}}"#,
                r#"slow_start.delta: "printed" is not an allowed value; give one of: text, literal"#,
            ),
        ] {
            assert_eq!(message(json), want.replace("KNOWN", &known(Kind::CongestionAvoidance)));
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
