//! Flow sizes: fixed, uniform, or from a cumulative distribution (docs/algorithms/traffic.md#uniform).

use p4cc_switch::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe::{MAX_FLOW_BYTES, in_range};
use crate::error::{SpecError, refuse};

/// Most points of a distribution.
const MAX_POINTS: usize = 10_000;

/// A point of a cumulative distribution: `share` of the flows have at most `bytes`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CdfPoint {
    /// Size.
    pub bytes: u64,
    /// Share of flows up to it, 0 to 1.
    pub share: f64,
}

/// Where flow sizes come from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SizeSpec {
    /// Every flow alike.
    #[schemars(title = "FixedSize")]
    Fixed {
        /// Size.
        bytes: u64,
    },
    /// Every size between two, both included, equally likely.
    #[schemars(title = "UniformSize")]
    Uniform {
        /// Smallest.
        min_bytes: u64,
        /// Largest.
        max_bytes: u64,
    },
    /// Linear between the points of a cumulative distribution.
    #[schemars(title = "CdfSize")]
    Cdf {
        /// Rising in both, from share 0 to share 1.
        points: Vec<CdfPoint>,
    },
}

impl SizeSpec {
    pub(crate) fn check(&self, path: &str) -> Result<(), SpecError> {
        match self {
            Self::Fixed { bytes } => in_range(&format!("{path}.bytes"), *bytes, 1, MAX_FLOW_BYTES),
            Self::Uniform { min_bytes, max_bytes } => {
                in_range(&format!("{path}.min_bytes"), *min_bytes, 1, MAX_FLOW_BYTES)?;
                in_range(&format!("{path}.max_bytes"), *max_bytes, *min_bytes, MAX_FLOW_BYTES)
            }
            Self::Cdf { points } => check_points(&format!("{path}.points"), points),
        }
    }

    /// Mean size; of a distribution the area under its inverse (docs/algorithms/traffic.md#uniform).
    pub(crate) fn mean_bytes(&self) -> f64 {
        match self {
            Self::Fixed { bytes } => *bytes as f64,
            Self::Uniform { min_bytes, max_bytes } => (*min_bytes as f64 + *max_bytes as f64) / 2.0,
            Self::Cdf { points } => points
                .windows(2)
                .map(|pair| {
                    (pair[1].share - pair[0].share) * (pair[0].bytes as f64 + pair[1].bytes as f64) / 2.0
                })
                .sum(),
        }
    }

    /// The next size, at least one byte.
    pub(crate) fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Uniform { min_bytes, max_bytes } => min_bytes + stream.below(max_bytes - min_bytes + 1),
            Self::Cdf { points } => inverse(points, stream.unit()).max(1),
        }
    }
}

fn check_points(path: &str, points: &[CdfPoint]) -> Result<(), SpecError> {
    in_range(path, points.len() as u64, 2, MAX_POINTS as u64)
        .map_err(|error| SpecError { cause: format!("{} points", points.len()), ..error })?;
    for (i, pair) in points.windows(2).enumerate() {
        if pair[1].bytes < pair[0].bytes || pair[1].share.is_nan() || pair[1].share < pair[0].share {
            let cause = "it lies below the point before it";
            return refuse(format!("{path}[{}]", i + 1), cause, "sort by size; shares rise with sizes");
        }
    }
    let (first, last) = (points[0], points[points.len() - 1]);
    if first.share != 0.0 || last.share != 1.0 {
        let cause = format!("shares go from {} to {}", first.share, last.share);
        return refuse(path, cause, "begin with share 0 and end with share 1");
    }
    in_range(&format!("{path}[{}].bytes", points.len() - 1), last.bytes, 1, MAX_FLOW_BYTES)
}

/// The size below which the share `u` of the flows lies, rounded down.
fn inverse(points: &[CdfPoint], u: f64) -> u64 {
    // The first point has share 0 and the last share 1 > u, so there is one on each side.
    let above = points.partition_point(|point| point.share <= u).clamp(1, points.len() - 1);
    let (low, high) = (points[above - 1], points[above]);
    let part = (u - low.share) / (high.share - low.share);
    low.bytes + (part * (high.bytes - low.bytes) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: &[(u64, f64)]) -> Vec<CdfPoint> {
        points.iter().map(|&(bytes, share)| CdfPoint { bytes, share }).collect()
    }

    /// Web Search of docs/algorithms/traffic.md#uniform, which gives its mean as 1,711,250 B.
    fn web_search() -> Vec<CdfPoint> {
        points(&[
            (0, 0.0),
            (10_000, 0.15),
            (20_000, 0.20),
            (30_000, 0.30),
            (50_000, 0.40),
            (80_000, 0.53),
            (200_000, 0.60),
            (1_000_000, 0.70),
            (2_000_000, 0.80),
            (5_000_000, 0.90),
            (10_000_000, 0.97),
            (30_000_000, 1.0),
        ])
    }

    #[test]
    fn the_inverse_is_linear_between_points() {
        let web = web_search();
        for (u, want) in [(0.0, 0), (0.075, 5_000), (0.15, 10_000), (0.175, 15_000), (0.985, 20_000_000)] {
            assert!(inverse(&web, u).abs_diff(want) <= 1, "{u}: {}", inverse(&web, u));
        }
        // A step: a third of the flows have exactly 100 B.
        let step = points(&[(100, 0.0), (100, 0.3), (200, 1.0)]);
        assert_eq!((inverse(&step, 0.1), inverse(&step, 0.3)), (100, 100));
    }

    #[test]
    fn drawn_sizes_have_the_mean_of_the_distribution() {
        let size = SizeSpec::Cdf { points: web_search() };
        assert_eq!(size.mean_bytes(), 1_711_250.0);
        let mut stream = Stream::named(3, "test");
        let count = 200_000_u64;
        let sum: u64 = (0..count).map(|_| size.draw(&mut stream)).sum();
        let mean = sum as f64 / count as f64;
        // The standard error is 0.8 %.
        assert!((mean / 1_711_250.0 - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn uniform_sizes_reach_both_ends() {
        let size = SizeSpec::Uniform { min_bytes: 3, max_bytes: 5 };
        let mut stream = Stream::named(3, "test");
        let drawn: Vec<u64> = (0..200).map(|_| size.draw(&mut stream)).collect();
        assert!((3..=5).all(|value| drawn.contains(&value)) && drawn.iter().all(|v| (3..=5).contains(v)));
    }

    #[test]
    fn bad_distributions_name_the_point() {
        for (bad, want) in [
            (points(&[(0, 0.0)]), "size.points: 1 points; give a number from 2 to 10000"),
            (points(&[(0, 0.0), (5, 0.5), (4, 1.0)]), "size.points[2]: it lies below the point before it"),
            (points(&[(0, 0.0), (5, f64::NAN), (6, 1.0)]), "size.points[1]: it lies below"),
            (points(&[(0, 0.1), (5, 1.0)]), "size.points: shares go from 0.1 to 1"),
            (points(&[(0, 0.0), (0, 1.0)]), "size.points[1].bytes: 0 is out of range"),
        ] {
            let error = SizeSpec::Cdf { points: bad }.check("size").expect_err(want);
            assert!(error.to_string().starts_with(want), "{error}");
        }
    }
}
