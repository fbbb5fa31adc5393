//! Traffic between pairs: two traces of the same bytes, accepted matrices only, everything by the seed.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_netsim::traffic::{
    CdfPoint, GapPoint, GapSpec, MatrixSpec, PairSpec, PairsSpec, Pattern, SizeClass, SizeSpec,
};
use p4cc_netsim::{Network, NetworkSpec, RunOptions};
use proptest::prelude::*;

use crate::columns::{texts, u64s};
use crate::support::{Incast, incast};

const HOSTS: u32 = 40;
const PODS: u32 = 5;

/// A star whose hosts are taken for pods; it stops before much is sent, as only what is offered matters.
fn star(spec: PairsSpec) -> Result<Network, p4cc_netsim::SpecError> {
    let base = incast(&Incast {
        senders: HOSTS,
        size_bytes: 1,
        start_jitter_ns: 0,
        buffer_pkts: 60,
        k: 60,
        k_dc: 60,
        algorithm: "{}",
        record: "{}",
    });
    let mut whole: NetworkSpec = base.spec().clone();
    whole.flows.clear();
    whole.pairs = vec![spec];
    whole.stop_ns = 1;
    base.with_spec(whole)
}

fn pods() -> Vec<Vec<String>> {
    let each = HOSTS / PODS;
    (0..PODS).map(|pod| (1..=each).map(|i| format!("h{}", pod * each + i)).collect()).collect()
}

fn drawn() -> MatrixSpec {
    let size = |max_bytes| SizeSpec::Uniform { min_bytes: 1_000, max_bytes };
    MatrixSpec::Drawn {
        pairs: HOSTS,
        sigma: 1.5,
        host_sigma: 1.0,
        pod_sigma: 0.6,
        gap: GapSpec::Lognormal { sigma: 2.0 },
        classes: vec![
            SizeClass { share: 0.5, size: size(40_000) },
            SizeClass { share: 0.5, size: size(400_000) },
        ],
        empty_share: [0.15, 0.40],
    }
}

fn spec(pattern: Pattern, matrix: MatrixSpec) -> PairsSpec {
    PairsSpec {
        name: "work".to_owned(),
        pods: pods(),
        matrix,
        pattern,
        offered_bps: 1.2e11,
        busiest_load: None,
        knee: 1.0,
        start_ns: 10_000,
        end_ns: 10_010_000,
        algorithm: "sender".to_owned(),
        priority: 0,
        deadline: None,
    }
}

/// Source, destination, bytes, start of each flow.
fn offered(network: &Network, seed: u64) -> Vec<(String, String, u64, u64)> {
    let mut run = network.fork(seed).expect("a matrix is found");
    run.run(RunOptions::default()).expect("few events");
    let results = run.results();
    let (src, dst) = (texts(&results, "flows", "src"), texts(&results, "flows", "dst"));
    let size = u64s(&results, "flows", "size_bytes");
    // Nearly none has begun when the run ends.
    let start = run.planned_starts().map(|start| start.expect("it waits for no other").as_ns());
    let ends = src.into_iter().zip(dst).zip(size).zip(start);
    ends.map(|(((src, dst), size), start)| (src, dst, size, start)).collect()
}

fn bytes(flows: &[(String, String, u64, u64)]) -> f64 {
    flows.iter().map(|flow| flow.2).sum::<u64>() as f64
}

/// docs/algorithms/traffic.md#gap-scaling: the bytes of both traces agree within 5 %; 16.2: one pair for each
/// host on average, 15 to 40 % of the pod pairs without a pair, and far more uneven than the even trace.
#[test]
fn both_traces_offer_the_same_bytes() {
    let networks =
        [Pattern::Uniform, Pattern::Skewed].map(|one| star(spec(one, drawn())).expect("a good description"));
    let pod_of = |host: &str| (host[1..].parse::<u32>().expect("a number") - 1) / (HOSTS / PODS);
    for seed in 1..=10 {
        let [uniform, skewed] = [offered(&networks[0], seed), offered(&networks[1], seed)];
        assert!((bytes(&skewed) / bytes(&uniform) - 1.0).abs() <= 0.05, "seed {seed}");
        // 30 % of 10 Gbit/s at 40 hosts for 10 ms are 150 MB; flows are few, so by chance more or less.
        assert!((bytes(&uniform) / 150e6 - 1.0).abs() < 0.25, "{}", bytes(&uniform));
        let pairs: BTreeSet<_> = skewed.iter().map(|flow| (&flow.0, &flow.1)).collect();
        assert!((10..=HOSTS as usize).contains(&pairs.len()), "{}", pairs.len());
        let cells: BTreeSet<_> = pairs.iter().map(|pair| (pod_of(pair.0), pod_of(pair.1))).collect();
        // A pair that is to talk may have no flow in the time.
        assert!((12..=21).contains(&cells.len()), "{} of 25", cells.len());
        let largest = |flows: &[(String, String, u64, u64)]| {
            let mut of: BTreeMap<&str, u64> = BTreeMap::new();
            flows.iter().for_each(|flow| *of.entry(&flow.0).or_default() += flow.2);
            of.values().copied().max().unwrap_or(0) as f64
        };
        assert!(largest(&skewed) > 2.0 * largest(&uniform), "seed {seed}");
        for flows in [&uniform, &skewed] {
            assert!(flows.windows(2).all(|pair| pair[0].3 <= pair[1].3));
            assert!(flows.iter().all(|flow| (10_000..10_010_000).contains(&flow.3) && flow.0 != flow.1));
        }
        assert_eq!(skewed, offered(&networks[1], seed));
    }
    assert_ne!(offered(&networks[1], 1), offered(&networks[1], 2));
}

/// docs/algorithms/traffic.md#choice-busiest-load: no host sends or is sent more than its link carries, the
/// bytes of both traces still agree, and a bound below the mean of all hosts is refused.
#[test]
fn the_busiest_link_is_offered_what_it_carries() {
    let bounded = |pattern, share| PairsSpec { busiest_load: Some(share), ..spec(pattern, drawn()) };
    let networks =
        [Pattern::Uniform, Pattern::Skewed].map(|one| star(bounded(one, 0.9)).expect("a good description"));
    // 10 Gbit/s for 10 ms.
    let most = 0.9 * 12.5e6;
    let busiest = |flows: &[(String, String, u64, u64)]| {
        let mut of: BTreeMap<(bool, &str), u64> = BTreeMap::new();
        for (src, dst, size, _) in flows {
            *of.entry((true, src)).or_default() += size;
            *of.entry((false, dst)).or_default() += size;
        }
        of.values().copied().max().unwrap_or(0) as f64
    };
    let unbounded = star(spec(Pattern::Skewed, drawn())).expect("a good description");
    for seed in 1..=5 {
        let [uniform, skewed] = [offered(&networks[0], seed), offered(&networks[1], seed)];
        assert!(busiest(&uniform) <= most && busiest(&skewed) <= most, "seed {seed}");
        assert!(busiest(&skewed) > 0.8 * most, "seed {seed}: the bound is not the least");
        assert!(busiest(&offered(&unbounded, seed)) > most, "seed {seed}: nothing to bound");
        assert!((bytes(&skewed) / bytes(&uniform) - 1.0).abs() <= 0.05, "seed {seed}");
    }
    // 30 % are offered.
    let error = star(bounded(Pattern::Skewed, 0.25)).and_then(|one| one.fork(1)).err().expect("refused");
    assert!(error.remedy.contains("busiest_load"), "{error}");
    let error = star(bounded(Pattern::Skewed, 0.0)).err().expect("refused");
    assert_eq!(error.path, "pairs[0].busiest_load");
}

/// With no sigma and exponential gaps the pairs are alike.
#[test]
fn without_skew_pairs_are_alike() {
    let matrix = MatrixSpec::Drawn {
        pairs: 100,
        sigma: 0.0,
        host_sigma: 0.0,
        pod_sigma: 0.0,
        gap: GapSpec::Exponential,
        classes: vec![SizeClass { share: 1.0, size: SizeSpec::Fixed { bytes: 10_000 } }],
        empty_share: [0.0, 1.0],
    };
    let flows = offered(&star(spec(Pattern::Skewed, matrix)).expect("a good description"), 3);
    let mut counts: BTreeMap<_, u32> = BTreeMap::new();
    flows.iter().for_each(|flow| *counts.entry((&flow.0, &flow.1)).or_default() += 1);
    assert_eq!(counts.len(), 100);
    // 150 each, with a standard deviation of 12.
    assert!(counts.values().all(|count| (90..210).contains(count)), "{counts:?}");
}

/// A given matrix has the intensities, sizes and gaps that it says.
#[test]
fn a_given_matrix_is_kept() {
    let pair = |src: &str, dst: &str, intensity, size| PairSpec {
        src: src.to_owned(),
        dst: dst.to_owned(),
        intensity,
        size,
        gap: size,
    };
    let points = vec![GapPoint { gap_ns: 0.0, share: 0.0 }, GapPoint { gap_ns: 2.0, share: 1.0 }];
    let cdf = vec![CdfPoint { bytes: 1, share: 0.0 }, CdfPoint { bytes: 2_000, share: 1.0 }];
    let matrix = MatrixSpec::Given {
        pairs: vec![pair("h1", "h2", 1.0, 0), pair("h3", "h2", 3.0, 1)],
        sizes: vec![SizeSpec::Fixed { bytes: 5_000 }, SizeSpec::Cdf { points: cdf }],
        gaps: vec![GapSpec::Exponential, GapSpec::Cdf { points }],
    };
    let flows = offered(&star(spec(Pattern::Skewed, matrix)).expect("a good description"), 3);
    let (first, second): (Vec<_>, Vec<_>) = flows.iter().partition(|flow| flow.0 == "h1");
    assert!(flows.iter().all(|flow| flow.1 == "h2"));
    assert!(first.iter().all(|flow| flow.2 == 5_000) && second.iter().all(|flow| flow.2 <= 2_000));
    let ratio = second.len() as f64 / first.len() as f64;
    assert!((2.85..3.15).contains(&ratio), "{ratio}");
}

#[test]
fn wrong_descriptions_are_named() {
    let refused = |change: &dyn Fn(&mut PairsSpec)| {
        let mut bad = spec(Pattern::Skewed, drawn());
        change(&mut bad);
        star(bad).err().map(|error| error.path)
    };
    let in_matrix = |change: &dyn Fn(&mut u32, &mut f64, &mut [f64; 2])| {
        refused(&|bad| {
            if let MatrixSpec::Drawn { pairs, sigma, empty_share, .. } = &mut bad.matrix {
                change(pairs, sigma, empty_share);
            }
        })
    };
    let at = |path: &str| Some(format!("pairs[0].{path}"));
    assert_eq!(refused(&|bad| bad.pods[1][2] = "h1".to_owned()), at("pods"));
    assert_eq!(refused(&|bad| bad.pods[1][2] = "s1".to_owned()), at("pods[1][2]"));
    assert_eq!(refused(&|bad| bad.pods.clear()), at("pods"));
    assert_eq!(refused(&|bad| bad.offered_bps = f64::NAN), at("offered_bps"));
    assert_eq!(refused(&|bad| bad.end_ns = bad.start_ns), at("end_ns"));
    assert_eq!(in_matrix(&|pairs, _, _| *pairs = 0), at("matrix.pairs"));
    assert_eq!(in_matrix(&|pairs, _, _| *pairs = HOSTS * HOSTS), at("matrix.pairs"));
    assert_eq!(in_matrix(&|_, sigma, _| *sigma = -1.0), at("matrix.sigma"));
    assert_eq!(in_matrix(&|_, _, share| *share = [0.4, 0.3]), at("matrix.empty_share[1]"));
    // No matrix is like that: each draw of a seed says so.
    let mut never = spec(Pattern::Skewed, drawn());
    if let MatrixSpec::Drawn { empty_share, .. } = &mut never.matrix {
        *empty_share = [0.999, 1.0];
    }
    let error = star(never).err().expect("no matrix leaves nearly all pod pairs empty");
    assert!(error.path == "pairs[0]" && error.cause.starts_with("no matrix of 200"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any matrix that is given is refused, or gives flows between its pairs within its time.
    #[test]
    fn any_given_matrix_is_refused_or_kept(
        given in prop::collection::vec((0_u32..44, 0_u32..44, prop::num::f64::ANY, 0_usize..3, 0_usize..3), 1..6),
        offered_bps in prop::sample::select(vec![0.0, 1.0, 1e9, 1e13, f64::INFINITY]),
    ) {
        let pairs: Vec<_> = given
            .iter()
            .map(|&(src, dst, intensity, size, gap)| PairSpec {
                src: format!("h{src}"),
                dst: format!("h{dst}"),
                intensity: intensity.abs(),
                size,
                gap,
            })
            .collect();
        let matrix = MatrixSpec::Given {
            pairs: pairs.clone(),
            sizes: vec![SizeSpec::Fixed { bytes: 9_000 }, SizeSpec::Uniform { min_bytes: 1, max_bytes: 1 << 50 }],
            gaps: vec![GapSpec::Exponential, GapSpec::Lognormal { sigma: 5.0 }],
        };
        let mut whole = spec(Pattern::Skewed, matrix);
        whole.offered_bps = offered_bps;
        if let Ok(network) = star(whole) && network.fork(7).is_ok() {
            for (src, dst, _, start) in offered(&network, 7) {
                prop_assert!(pairs.iter().any(|pair| pair.src == src && pair.dst == dst));
                prop_assert!((10_000..10_010_000).contains(&start));
            }
        }
    }
}
