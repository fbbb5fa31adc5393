//! The traffic matrix: which pairs of hosts talk, how much, and with which sizes and gaps. It is given, or
//! drawn by the skewed model (docs/algorithms/traffic.md#skewed).

use std::collections::BTreeSet;

use p4cc_switch::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gap::{Gap, GapSpec};
use super::model::check_within;
use super::size::SizeSpec;
use crate::describe::{Resolver, in_range};
use crate::error::{SpecError, refuse};
use crate::random::normal;

/// Most pairs of a matrix.
pub(crate) const MAX_PAIRS: usize = 100_000;
/// Most size and gap distributions of a matrix.
const MAX_CLASSES: usize = 10_000;
/// Largest sigma of a log-normal weight.
const MAX_SIGMA: f64 = 5.0;
/// Draws of a pair for each pair wanted, before weights so uneven are given up.
const TRIES_PER_PAIR: usize = 1_000;

/// The pairs of a traffic model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum MatrixSpec {
    /// Drawn anew for each seed (docs/algorithms/traffic.md#skewed, steps 1 to 4).
    #[schemars(title = "DrawnMatrix")]
    Drawn {
        /// Ordered pairs that talk.
        pairs: u32,
        /// Sigma of the pairs' intensities: the skew.
        sigma: f64,
        /// Sigma of a host's weight as a sender and as a receiver.
        host_sigma: f64,
        /// Sigma of the factor that the hosts of a pod share.
        pod_sigma: f64,
        /// Gaps of every pair.
        gap: GapSpec,
        /// Sizes of a pair's flows, drawn for each pair.
        classes: Vec<SizeClass>,
        /// Share of pod pairs that may carry nothing: another matrix is drawn until it lies within.
        empty_share: [f64; 2],
    },
    /// Given: one matrix for every seed.
    #[schemars(title = "GivenMatrix")]
    Given {
        /// Who talks to whom.
        pairs: Vec<PairSpec>,
        /// Sizes that pairs name by their place.
        sizes: Vec<SizeSpec>,
        /// Gaps that pairs name by their place.
        gaps: Vec<GapSpec>,
    },
}

/// Flow sizes of a part of the pairs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeClass {
    /// Chance that a pair has these sizes; relative to the other classes'.
    pub share: f64,
    /// Sizes.
    pub size: SizeSpec,
}

/// A pair of hosts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairSpec {
    /// Sending host.
    pub src: String,
    /// Receiving host.
    pub dst: String,
    /// Flows in a time, relative to the other pairs'.
    pub intensity: f64,
    /// Place in `sizes`.
    pub size: usize,
    /// Place in `gaps`.
    pub gap: usize,
}

/// A pair in a run: hosts by index, and the places of its distributions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Pair {
    pub src: u32,
    pub dst: u32,
    /// Mean 1 over all pairs.
    pub intensity: f64,
    pub size: usize,
    pub gap: usize,
}

/// Where the pairs of a run come from.
#[derive(Clone, Debug)]
enum Pairs {
    Given(Vec<Pair>),
    Drawn { count: usize, sigma: f64, host_sigma: f64, pod_sigma: f64, shares: Vec<f64> },
}

/// A matrix, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pairs: Pairs,
    pub sizes: Vec<SizeSpec>,
    pub gaps: Vec<Gap>,
    /// Empty pod pairs that a drawn matrix may have, as a share.
    empty_share: Option<[f64; 2]>,
}

impl Matrix {
    /// `hosts` are all that may talk; a drawn matrix needs at least two.
    pub fn new(
        path: &str,
        spec: &MatrixSpec,
        knee: f64,
        hosts: usize,
        resolver: &Resolver<'_>,
    ) -> Result<Self, SpecError> {
        match spec {
            MatrixSpec::Given { pairs, sizes, gaps } => given(path, pairs, sizes, gaps, knee, resolver),
            MatrixSpec::Drawn { pairs, sigma, host_sigma, pod_sigma, gap, classes, empty_share } => {
                let at = |key: &str| format!("{path}.{key}");
                let most = (hosts * hosts.saturating_sub(1) / 2).min(MAX_PAIRS);
                in_range(&at("pairs"), u64::from(*pairs), 1, most as u64)?;
                for (key, sigma) in [("sigma", sigma), ("host_sigma", host_sigma), ("pod_sigma", pod_sigma)] {
                    check_within(&at(key), *sigma, 0.0, MAX_SIGMA)?;
                }
                check_within(&at("empty_share[0]"), empty_share[0], 0.0, 1.0)?;
                check_within(&at("empty_share[1]"), empty_share[1], empty_share[0], 1.0)?;
                in_range(&at("classes"), classes.len() as u64, 1, MAX_CLASSES as u64)?;
                for (i, class) in classes.iter().enumerate() {
                    check_within(&at(&format!("classes[{i}].share")), class.share, 1e-9, 1e9)?;
                    class.size.check(&at(&format!("classes[{i}].size")))?;
                }
                Ok(Self {
                    pairs: Pairs::Drawn {
                        count: *pairs as usize,
                        sigma: *sigma,
                        host_sigma: *host_sigma,
                        pod_sigma: *pod_sigma,
                        shares: classes.iter().map(|class| class.share).collect(),
                    },
                    sizes: classes.iter().map(|class| class.size.clone()).collect(),
                    gaps: vec![gap.resolve(&at("gap"), knee)?],
                    empty_share: Some(*empty_share),
                })
            }
        }
    }

    /// Whether another try may give another matrix or other flows that are more to the point.
    pub fn is_drawn(&self) -> bool {
        matches!(self.pairs, Pairs::Drawn { .. })
    }

    /// Whether the share of empty pod pairs lies in the range of the description.
    pub fn accepts(&self, empty: usize, all: usize) -> bool {
        self.empty_share.is_none_or(|[low, high]| {
            let share = if all == 0 { 0.0 } else { empty as f64 / all as f64 };
            (low..=high).contains(&share)
        })
    }

    /// The pairs of a run; `stream` gives the stream of a name.
    /// None if weights are so uneven that too few hosts talk.
    pub fn draw(&self, pods: &[Vec<u32>], stream: &dyn Fn(&str) -> Stream) -> Option<Vec<Pair>> {
        match &self.pairs {
            Pairs::Given(pairs) => Some(pairs.clone()),
            Pairs::Drawn { count, sigma, host_sigma, pod_sigma, shares } => {
                let weights = |what: &str| {
                    let (mut hosts, mut factors) =
                        (stream(&format!("{what}.hosts")), stream(&format!("{what}.pods")));
                    let mut weights = Vec::new();
                    for pod in pods {
                        let factor = lognormal(&mut factors, *pod_sigma);
                        weights.extend(pod.iter().map(|_| factor * lognormal(&mut hosts, *host_sigma)));
                    }
                    running_sum(weights)
                };
                let hosts: Vec<u32> = pods.iter().flatten().copied().collect();
                let (senders, receivers) = (weights("senders"), weights("receivers"));
                let ends = choose(&hosts, &senders, &receivers, *count, &mut stream("pairs"))?;
                let (mut intensities, mut classes) = (stream("intensities"), stream("classes"));
                let shares = running_sum(shares.clone());
                let mut pairs: Vec<Pair> = ends
                    .into_iter()
                    .map(|(src, dst)| Pair {
                        src,
                        dst,
                        intensity: lognormal(&mut intensities, *sigma),
                        size: pick(&shares, &mut classes),
                        gap: 0,
                    })
                    .collect();
                normalise(&mut pairs);
                Some(pairs)
            }
        }
    }
}

fn given(
    path: &str,
    pairs: &[PairSpec],
    sizes: &[SizeSpec],
    gaps: &[GapSpec],
    knee: f64,
    resolver: &Resolver<'_>,
) -> Result<Matrix, SpecError> {
    let at = |key: &str| format!("{path}.{key}");
    in_range(&at("pairs"), pairs.len() as u64, 1, MAX_PAIRS as u64)?;
    in_range(&at("sizes"), sizes.len() as u64, 1, MAX_CLASSES as u64)?;
    in_range(&at("gaps"), gaps.len() as u64, 1, MAX_CLASSES as u64)?;
    for (i, size) in sizes.iter().enumerate() {
        size.check(&at(&format!("sizes[{i}]")))?;
    }
    let resolved: Result<Vec<Gap>, _> =
        gaps.iter().enumerate().map(|(i, gap)| gap.resolve(&at(&format!("gaps[{i}]")), knee)).collect();
    let mut found = Vec::with_capacity(pairs.len());
    let mut seen = BTreeSet::new();
    for (i, pair) in pairs.iter().enumerate() {
        let key = |key: &str| at(&format!("pairs[{i}].{key}"));
        let src = resolver.host(&key("src"), &pair.src)?;
        let dst = resolver.host(&key("dst"), &pair.dst)?;
        if src == dst {
            return refuse(key("dst"), format!("{:?} would send to itself", pair.src), "name another host");
        }
        if !seen.insert((src, dst)) {
            let cause = format!("{} to {} is there already", pair.src, pair.dst);
            return refuse(key("dst"), cause, "give each pair once");
        }
        check_within(&key("intensity"), pair.intensity, 1e-9, 1e9)?;
        in_range(&key("size"), pair.size as u64, 0, sizes.len() as u64 - 1)?;
        in_range(&key("gap"), pair.gap as u64, 0, gaps.len() as u64 - 1)?;
        found.push(Pair { src, dst, intensity: pair.intensity, size: pair.size, gap: pair.gap });
    }
    normalise(&mut found);
    Ok(Matrix { pairs: Pairs::Given(found), sizes: sizes.to_vec(), gaps: resolved?, empty_share: None })
}

/// Ordered pairs, each once, drawn by the product of a
/// sender's and a receiver's weight (given as running sums).
fn choose(
    hosts: &[u32],
    senders: &[f64],
    receivers: &[f64],
    count: usize,
    stream: &mut Stream,
) -> Option<Vec<(u32, u32)>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::with_capacity(count);
    // To leave out what was drawn before is to draw without replacement.
    for _ in 0..count.saturating_mul(TRIES_PER_PAIR) {
        let pair = (pick(senders, stream), pick(receivers, stream));
        if pair.0 != pair.1 && seen.insert(pair) {
            found.push((hosts[pair.0], hosts[pair.1]));
            if found.len() == count {
                return Some(found);
            }
        }
    }
    None
}

/// Intensities with mean 1 (docs/algorithms/traffic.md#skewed, step 3: "renormalized to mean 1").
pub(super) fn normalise(pairs: &mut [Pair]) {
    let mean = pairs.iter().map(|pair| pair.intensity).sum::<f64>() / pairs.len() as f64;
    pairs.iter_mut().for_each(|pair| pair.intensity /= mean);
}

/// A log-normal number of mean 1: the logarithm has mean `-sigma^2 / 2`.
fn lognormal(stream: &mut Stream, sigma: f64) -> f64 {
    libm::exp(sigma * normal(stream) - sigma * sigma / 2.0)
}

fn running_sum(mut weights: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for weight in &mut weights {
        sum += *weight;
        *weight = sum;
    }
    weights
}

/// A place by its weight, from running sums.
pub(crate) fn pick(sums: &[f64], stream: &mut Stream) -> usize {
    let at = stream.unit() * sums.last().copied().unwrap_or(0.0);
    sums.partition_point(|&sum| sum <= at).min(sums.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_picked_by_their_weight() {
        let sums = running_sum(vec![1.0, 0.0, 3.0]);
        let mut stream = Stream::named(1, "test");
        let mut counts = [0_u32; 3];
        (0..40_000).for_each(|_| counts[pick(&sums, &mut stream)] += 1);
        // A quarter of 40,000, with a standard deviation of 87.
        assert!(counts[0].abs_diff(10_000) < 350 && counts[1] == 0, "{counts:?}");
    }

    #[test]
    fn weights_have_mean_one() {
        let mut stream = Stream::named(1, "test");
        let mean = (0..100_000).map(|_| lognormal(&mut stream, 0.6)).sum::<f64>() / 100_000.0;
        // The standard error is 0.2 %.
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn pairs_are_distinct_and_too_uneven_weights_give_none() {
        let hosts: Vec<u32> = (10..20).collect();
        let even = running_sum(vec![1.0; 10]);
        let pairs = choose(&hosts, &even, &even, 45, &mut Stream::named(1, "test")).expect("room for 45");
        assert_eq!(pairs.iter().collect::<BTreeSet<_>>().len(), 45);
        assert!(pairs.iter().all(|(src, dst)| src != dst && hosts.contains(src) && hosts.contains(dst)));
        let one_sender = running_sum([vec![1.0], vec![0.0; 9]].concat());
        assert_eq!(choose(&hosts, &one_sender, &even, 10, &mut Stream::named(1, "test")), None);
    }
}
