//! How long a message takes between a switch and its controller, drawn from a named stream of the run's seed.
//!
//! The network itself has no controller: whoever brings one asks here for the latencies of its messages.

use p4cc_switch::Stream;
use p4cc_units::Span;
use serde::{Deserialize, Serialize};

use crate::describe::{MAX_TIME_NS, in_range};
use crate::error::{SpecError, refuse};
use crate::random::{normal, uniform};

/// Largest `sigma`: a draw beyond 8 deviations has no chance, and its power is still a number.
const MAX_SIGMA: f64 = 5.0;

/// A distribution of latencies.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LatencySpec {
    /// Always alike.
    Constant {
        /// The latency.
        ns: u64,
    },
    /// Uniform, both ends included.
    Uniform {
        /// The least.
        min_ns: u64,
        /// The largest.
        max_ns: u64,
    },
    /// A least time, and an exponential one on top of it.
    Exponential {
        /// The least.
        min_ns: u64,
        /// Mean of the whole.
        mean_ns: u64,
    },
    /// Log-normal: most about the median, a few far above it.
    Lognormal {
        /// The median.
        median_ns: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

/// Latencies of one way, one after the other.
#[derive(Clone, Debug)]
pub struct Latency {
    spec: LatencySpec,
    stream: Stream,
}

impl LatencySpec {
    /// Reads a distribution.
    ///
    /// # Errors
    /// What is wrong with its JSON or its values.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let spec: Self = serde_json::from_str(text).map_err(|error| {
            SpecError::new("latency", error.to_string(), "give a kind of latency with its fields")
        })?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), SpecError> {
        match *self {
            Self::Constant { ns } => in_range("latency.ns", ns, 0, MAX_TIME_NS),
            Self::Uniform { min_ns, max_ns } => in_range("latency.max_ns", max_ns, min_ns, MAX_TIME_NS),
            Self::Exponential { min_ns, mean_ns } => {
                in_range("latency.mean_ns", mean_ns, min_ns, MAX_TIME_NS)
            }
            Self::Lognormal { median_ns, sigma } => {
                if !(0.0..=MAX_SIGMA).contains(&sigma) {
                    let remedy = format!("give a number from 0 to {MAX_SIGMA}");
                    return refuse("latency.sigma", format!("{sigma} is out of range"), remedy);
                }
                in_range("latency.median_ns", median_ns, 0, MAX_TIME_NS)
            }
        }
    }
}

impl Latency {
    /// The latencies of the way `name` in a run with this seed.
    pub fn new(spec: LatencySpec, seed: u64, name: &str) -> Self {
        Self { spec, stream: Stream::named(seed, name) }
    }

    /// The next one; no longer than the longest time of a run.
    pub fn draw(&mut self) -> Span {
        let span = match self.spec {
            LatencySpec::Constant { ns } => Span::from_ns(ns),
            LatencySpec::Uniform { min_ns, max_ns } => {
                Span::from_ns(min_ns) + uniform(&mut self.stream, Span::from_ns(max_ns - min_ns))
            }
            LatencySpec::Exponential { min_ns, mean_ns } => {
                let units = -libm::log(1.0 - self.stream.unit());
                Span::from_ns(min_ns) + scaled(units, mean_ns - min_ns)
            }
            LatencySpec::Lognormal { median_ns, sigma } => {
                scaled(libm::exp(sigma * normal(&mut self.stream)), median_ns)
            }
        };
        span.min(Span::from_ns(MAX_TIME_NS))
    }
}

/// So many times a number of nanoseconds; a product that no span holds is the longest span.
fn scaled(units: f64, ns: u64) -> Span {
    Span::from_ps((units * Span::from_ns(ns).as_ps() as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(json: &str, name: &str) -> Vec<f64> {
        let mut latency = Latency::new(LatencySpec::from_json(json).unwrap(), 5, name);
        (0..100_000).map(|_| latency.draw().as_ps() as f64 / 1e3).collect()
    }

    #[test]
    fn draws_have_the_mean_and_the_bounds_of_their_kind() {
        for (json, least_ns, most_ns, mean_ns) in [
            (r#"{"kind":"constant","ns":7}"#, 7.0, 7.0, 7.0),
            (r#"{"kind":"uniform","min_ns":100,"max_ns":300}"#, 100.0, 300.0, 200.0),
            (r#"{"kind":"exponential","min_ns":100,"mean_ns":300}"#, 100.0, 1e5, 300.0),
            // The mean is the median times exp(sigma^2 / 2).
            (r#"{"kind":"lognormal","median_ns":1000,"sigma":0.5}"#, 0.0, 1e6, 1133.1),
        ] {
            let drawn = draws(json, "test");
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            assert!((mean / mean_ns - 1.0).abs() < 0.01, "{json}: {mean}");
            assert!(drawn.iter().all(|ns| (least_ns..=most_ns).contains(ns)), "{json}");
        }
    }

    #[test]
    fn each_way_has_a_stream_of_its_own() {
        let json = r#"{"kind":"uniform","min_ns":0,"max_ns":1000}"#;
        assert_eq!(draws(json, "a"), draws(json, "a"));
        assert_ne!(draws(json, "a"), draws(json, "b"));
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        for (json, path) in [
            ("{}", "latency"),
            (r#"{"kind":"uniform","min_ns":2,"max_ns":1}"#, "latency.max_ns"),
            (r#"{"kind":"exponential","min_ns":2,"mean_ns":1}"#, "latency.mean_ns"),
            (r#"{"kind":"lognormal","median_ns":1,"sigma":-1.0}"#, "latency.sigma"),
            (r#"{"kind":"constant","ns":18446744073709551615}"#, "latency.ns"),
        ] {
            assert_eq!(LatencySpec::from_json(json).unwrap_err().path, path, "{json}");
        }
        // The longest draw of all is still a time.
        let widest = r#"{"kind":"lognormal","median_ns":3600000000000,"sigma":5.0}"#;
        assert!(draws(widest, "test").iter().all(|ns| *ns <= MAX_TIME_NS as f64));
    }
}
