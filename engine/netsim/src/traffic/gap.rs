//! Gaps between the flows of a pair of hosts: a base distribution, and the map that gives it another mean
//! (docs/algorithms/traffic.md#gap-scaling).

use p4cc_switch::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe::{MAX_TIME_NS, in_range};
use crate::error::{SpecError, refuse};
use crate::random::normal;

/// Most points of a distribution.
const MAX_POINTS: usize = 10_000;
/// Largest `sigma`: its square stays far from the range of a float in the moments below.
const MAX_SIGMA: f64 = 5.0;

/// A point of a cumulative distribution: `share` of the gaps have at most `gap_ns`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapPoint {
    /// Gap; its unit does not matter, as gaps are scaled.
    pub gap_ns: f64,
    /// Share of gaps up to it, 0 to 1.
    pub share: f64,
}

/// The distribution of gaps before they are scaled.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GapSpec {
    /// Exponential (docs/algorithms/traffic.md#uniform); it is scaled linearly, which leaves it exponential.
    #[schemars(title = "ExponentialGap")]
    Exponential,
    /// Log-normal with median 1: bursts and long silences.
    #[schemars(title = "LognormalGap")]
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Linear between the points of a cumulative distribution.
    #[schemars(title = "CdfGap")]
    Cdf {
        /// Rising in both, from share 0 to share 1.
        points: Vec<GapPoint>,
    },
}

/// A distribution with its scale for a mean of 1.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    shape: GapSpec,
    /// docs/algorithms/traffic.md#gap-scaling, x0: gaps below it are scaled by a parabola.
    knee: f64,
    /// docs/algorithms/traffic.md#gap-scaling, c, for `E[g] = 1`.
    scale: f64,
}

impl GapSpec {
    /// With the knee of the map at `knee` times the median; refuses a distribution without a mean to scale.
    pub(crate) fn resolve(&self, path: &str, knee: f64) -> Result<Gap, SpecError> {
        if !(0.0..=1e6).contains(&knee) {
            return refuse(format!("{path}.knee"), format!("{knee} is out of range"), "give 0 to 1e6");
        }
        let (knee, unscaled_mean) = match self {
            Self::Exponential => (0.0, 1.0),
            Self::Lognormal { sigma } => {
                if !(0.0..=MAX_SIGMA).contains(sigma) {
                    let remedy = format!("give a number from 0 to {MAX_SIGMA}");
                    return refuse(format!("{path}.sigma"), format!("{sigma} is out of range"), remedy);
                }
                (knee, lognormal_mean(*sigma, knee))
            }
            Self::Cdf { points } => {
                check_points(&format!("{path}.points"), points)?;
                let knee = knee * inverse(points, 0.5);
                (knee, points.windows(2).map(|pair| segment_mean(pair[0], pair[1], knee)).sum())
            }
        };
        // A mean of nothing, or one whose inverse is no number, cannot be scaled to another.
        if !unscaled_mean.is_normal() || !(1.0 / unscaled_mean).is_finite() {
            return refuse(path, "all gaps are 0, or their mean is not a number", "give gaps above 0");
        }
        Ok(Gap { shape: self.clone(), knee, scale: 1.0 / unscaled_mean })
    }
}

impl Gap {
    /// The next gap, with mean 1.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let base = match &self.shape {
            GapSpec::Exponential => -libm::log(1.0 - stream.unit()),
            GapSpec::Lognormal { sigma } => libm::exp(sigma * normal(stream)),
            GapSpec::Cdf { points } => inverse(points, stream.unit()),
        };
        self.scale * parabola_then_line(base, self.knee)
    }
}

/// docs/algorithms/traffic.md#gap-scaling without c: `x^2 / (2 x0)` below the knee, `x - x0/2` from it on.
fn parabola_then_line(gap: f64, knee: f64) -> f64 {
    if gap < knee { gap * gap / (2.0 * knee) } else { gap - knee / 2.0 }
}

/// Mean of the mapped gap for a log-normal with median 1, from its partial moments
/// `E[X^k; X < a] = exp(k^2 sigma^2 / 2) Phi((ln a - k sigma^2) / sigma)`.
fn lognormal_mean(sigma: f64, knee: f64) -> f64 {
    if sigma == 0.0 || knee == 0.0 {
        return parabola_then_line(libm::exp(sigma * sigma / 2.0), knee);
    }
    let phi = |z: f64| 0.5 * libm::erfc(-z / core::f64::consts::SQRT_2);
    let below =
        |k: f64| libm::exp(k * k * sigma * sigma / 2.0) * phi((libm::log(knee) - k * sigma * sigma) / sigma);
    let whole = libm::exp(sigma * sigma / 2.0);
    below(2.0) / (2.0 * knee) + (whole - below(1.0)) - knee / 2.0 * (1.0 - below(0.0))
}

/// Contribution of the gaps between two points to the mean of the mapped gap.
fn segment_mean(low: GapPoint, high: GapPoint, knee: f64) -> f64 {
    let (a, b, share) = (low.gap_ns, high.gap_ns, high.share - low.share);
    if a == b {
        return share * parabola_then_line(a, knee);
    }
    let density = share / (b - a);
    let split = knee.clamp(a, b);
    let curved = if knee > 0.0 { density * (split * split * split - a * a * a) / (6.0 * knee) } else { 0.0 };
    curved + density * (b - split) * ((b + split) / 2.0 - knee / 2.0)
}

/// The gap below which the share `u` lies.
fn inverse(points: &[GapPoint], u: f64) -> f64 {
    let above = points.partition_point(|point| point.share <= u).clamp(1, points.len() - 1);
    let (low, high) = (points[above - 1], points[above]);
    if high.share == low.share {
        return low.gap_ns;
    }
    low.gap_ns + (u - low.share) / (high.share - low.share) * (high.gap_ns - low.gap_ns)
}

fn check_points(path: &str, points: &[GapPoint]) -> Result<(), SpecError> {
    in_range(path, points.len() as u64, 2, MAX_POINTS as u64)
        .map_err(|error| SpecError { cause: format!("{} points", points.len()), ..error })?;
    for (i, point) in points.iter().enumerate() {
        if !(0.0..=MAX_TIME_NS as f64).contains(&point.gap_ns) || !(0.0..=1.0).contains(&point.share) {
            let cause = format!("{} ns at share {} is out of range", point.gap_ns, point.share);
            return refuse(format!("{path}[{i}]"), cause, "gaps are up to an hour, shares 0 to 1");
        }
        let before = points[i.saturating_sub(1)];
        if point.gap_ns < before.gap_ns || point.share < before.share {
            let remedy = "sort by gap; shares rise with gaps";
            return refuse(format!("{path}[{i}]"), "it lies below the point before it", remedy);
        }
    }
    let (first, last) = (points[0].share, points[points.len() - 1].share);
    if first != 0.0 || last != 1.0 {
        let cause = format!("shares go from {first} to {last}");
        return refuse(path, cause, "begin with share 0 and end with share 1");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points(points: &[(f64, f64)]) -> GapSpec {
        GapSpec::Cdf { points: points.iter().map(|&(gap_ns, share)| GapPoint { gap_ns, share }).collect() }
    }

    fn mean_of(gap: &Gap, count: u32) -> f64 {
        let mut stream = Stream::named(3, "test");
        (0..count).map(|_| gap.draw(&mut stream)).sum::<f64>() / f64::from(count)
    }

    #[test]
    fn closed_forms_give_a_mean_of_one() {
        // A log-normal with sigma 1 has a standard error of 0.4 % here; the others less.
        for (shape, knee) in [
            (GapSpec::Exponential, 1.0),
            (GapSpec::Lognormal { sigma: 0.0 }, 1.0),
            (GapSpec::Lognormal { sigma: 1.0 }, 1.0),
            (GapSpec::Lognormal { sigma: 1.0 }, 0.0),
            (GapSpec::Lognormal { sigma: 1.0 }, 3.0),
            (points(&[(0.0, 0.0), (10.0, 0.5), (1_000.0, 1.0)]), 1.0),
            (points(&[(5.0, 0.0), (5.0, 0.3), (80.0, 0.9), (90.0, 1.0)]), 2.0),
            (points(&[(0.0, 0.0), (0.0, 0.6), (7.0, 1.0)]), 1.0),
        ] {
            let gap = shape.resolve("gap", knee).expect("a good distribution");
            let mean = mean_of(&gap, 200_000);
            assert!((mean - 1.0).abs() < 0.02, "{shape:?} {knee}: {mean}");
        }
    }

    /// docs/algorithms/traffic.md#gap-scaling: for sigma 2 the constant
    /// is 1 / 7.018 (partial moments by hand), and the map has no step.
    #[test]
    fn the_map_is_smooth_at_its_knee() {
        let gap = GapSpec::Lognormal { sigma: 2.0 }.resolve("gap", 1.0).expect("a good distribution");
        assert!((1.0 / gap.scale - 7.018).abs() < 0.001, "{}", 1.0 / gap.scale);
        let (below, above) = (parabola_then_line(1.0 - 1e-9, 1.0), parabola_then_line(1.0 + 1e-9, 1.0));
        // Value and slope: 1/2, and 1 per unit.
        assert!((above - below - 2e-9).abs() < 1e-12 && (below - 0.5).abs() < 1e-8);
    }

    #[test]
    fn bad_distributions_are_refused() {
        for (bad, want) in [
            (GapSpec::Lognormal { sigma: f64::NAN }, "gap.sigma: NaN is out of range"),
            (GapSpec::Lognormal { sigma: 9.0 }, "gap.sigma: 9 is out of range"),
            (points(&[(0.0, 0.0), (0.0, 1.0)]), "gap: all gaps are 0"),
            (points(&[(0.0, 0.0)]), "gap.points: 1 points"),
            (points(&[(0.0, 0.0), (3.0, 0.5), (2.0, 1.0)]), "gap.points[2]: it lies below"),
            (points(&[(0.0, 0.0), (f64::INFINITY, 1.0)]), "gap.points[1]: inf ns"),
            (points(&[(0.0, 0.1), (2.0, 1.0)]), "gap.points: shares go from 0.1 to 1"),
        ] {
            let error = bad.resolve("gap", 1.0).expect_err(want);
            assert!(error.to_string().starts_with(want), "{error}");
        }
        assert!(GapSpec::Exponential.resolve("gap", -1.0).is_err());
    }

    proptest! {
        /// Whatever points are given: refused, or gaps that are numbers and not below 0.
        #[test]
        fn any_points_give_gaps_or_an_error(
            given in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..6),
            sorted in any::<bool>(), knee in prop::num::f64::ANY,
        ) {
            let mut given = given;
            if sorted {
                for (gap, share) in &mut given {
                    (*gap, *share) = (gap.abs() % 1e9, share.abs() % 1.0);
                }
                given.sort_by(|a, b| a.0.total_cmp(&b.0));
                let count = given.len();
                for (i, point) in given.iter_mut().enumerate() {
                    point.1 = i as f64 / (count.max(2) - 1) as f64;
                }
            }
            if let Ok(gap) = points(&given).resolve("gap", if sorted { 1.0 } else { knee }) {
                let mut stream = Stream::named(1, "test");
                for _ in 0..20 {
                    let one = gap.draw(&mut stream);
                    prop_assert!(one >= 0.0 && one.is_finite(), "{one}");
                }
            }
        }
    }
}
