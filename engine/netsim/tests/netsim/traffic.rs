//! Traffic models in whole runs: rounds keep their barrier, arrivals their rate, mixes their packets.

use p4cc_netsim::spec::FlowSpec;
use p4cc_netsim::traffic::{
    ArrivalsSpec, BurstsSpec, ClosedLoopSpec, DeadlineSpec, QuantitySpec, RoundsSpec, SizeSpec,
};
use p4cc_netsim::{Network, NetworkSpec, Results, RunOptions};
use p4cc_units::Time;
use proptest::prelude::*;

use crate::columns::{integers, texts};
use crate::support::{Incast, incast};

/// A star of `hosts` senders whose traffic is what `change` makes of an empty one.
fn star(hosts: u32, change: impl FnOnce(&mut NetworkSpec)) -> Network {
    let base = incast(&Incast {
        senders: hosts,
        size_bytes: 1,
        start_jitter_ns: 0,
        buffer_pkts: 60,
        k: 60,
        k_dc: 60,
        algorithm: r#"{"rto_min_ns":2000000,"rto_init_ns":2000000}"#,
        record: "{}",
    });
    let mut spec = base.spec().clone();
    spec.flows.clear();
    change(&mut spec);
    base.with_spec(spec).expect("the same switches")
}

fn flow(id: u32, src: &str, size_bytes: Option<u64>) -> FlowSpec {
    FlowSpec {
        id,
        src: src.to_owned(),
        dst: "h0".to_owned(),
        size_bytes,
        start_ns: 0,
        start_jitter_ns: 0,
        close_ns: None,
        algorithm: "sender".to_owned(),
        priority: 0,
        class: "flow".to_owned(),
        deadline: None,
        src_port: None,
        interface: None,
    }
}

fn rounds(servers: u32, response_bytes: u64, rounds: u32, persistent: bool) -> RoundsSpec {
    RoundsSpec {
        name: "reads".to_owned(),
        label: None,
        client: "h0".to_owned(),
        servers: (1..=servers).map(|i| format!("h{i}")).collect(),
        request_bytes: 100,
        response_bytes: vec![response_bytes; servers as usize],
        rounds,
        start_ns: 1_000,
        think_ns: 5_000,
        service_jitter_ns: 2_000,
        persistent,
        mean_gap_ns: None,
        constant_gap: false,
        start_jitter_ns: 0,
        algorithm: "sender".to_owned(),
        priority: 0,
        deadline: None,
    }
}

fn arrivals(sources: u32, mean_gap_ns: f64, end_ns: u64) -> ArrivalsSpec {
    ArrivalsSpec {
        name: "short".to_owned(),
        sources: (1..=sources).map(|i| format!("h{i}")).collect(),
        destinations: (0..=sources).map(|i| format!("h{i}")).collect(),
        mean_gap_ns,
        size: SizeSpec::Uniform { min_bytes: 2_000, max_bytes: 50_000 },
        start_ns: 0,
        end_ns,
        quantity: None,
        algorithm: "sender".to_owned(),
        priority: 0,
        deadline: Some(DeadlineSpec { offset_ns: 300_000, exp_mean_ns: 100_000, ..DeadlineSpec::default() }),
    }
}

fn finish(network: &mut Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    network.results()
}

#[test]
fn a_round_takes_what_a_pencil_says() {
    let mut network = star(1, |spec| {
        spec.rounds = vec![RoundsSpec { service_jitter_ns: 0, ..rounds(1, 1_436, 3, true) }];
    });
    let results = finish(&mut network);
    // Request of 164 B and answer of 1,500 B cross two links each, store and
    // forward; the request's ACK of 64 B leaves the server first: 4 * 25 us
    // + 2 * 131.2 + 51.2 + 2 * 1,200, in tenths of a nanosecond to be exact.
    let round_dns: i64 = 1_000_000 + 2_624 + 512 + 24_000;
    let at = |rounds: i64| 1_000 + rounds * (round_dns + 50_000) / 10;
    let starts = integers(&results, "rounds", "start_ns");
    let finishes = integers(&results, "rounds", "finish_ns");
    assert_eq!(starts, [at(0), at(1), at(2)]);
    assert!(
        starts.iter().zip(&finishes).all(|(start, finish)| (finish - start).abs_diff(round_dns / 10) <= 1)
    );
    assert_eq!((results.summary.rounds_completed, results.summary.flows_finite), (3, 1));
}

#[test]
fn no_answer_leaves_before_every_answer_of_the_round_before_is_in() {
    for persistent in [false, true] {
        let mut network = star(12, |spec| spec.rounds = vec![rounds(12, 40_000, 4, persistent)]);
        let mut past = Vec::new();
        while !network.has_ended() {
            network.run(RunOptions::until(network.now() + p4cc_units::Span::from_us(3))).expect("few events");
            assert!(network.packet_balance().is_even());
            let results = network.results();
            let begun = integers(&results, "rounds", "round").len() as u64;
            let acked = integers(&results, "flows", "acked_bytes");
            let is_answer: Vec<bool> =
                texts(&results, "flows", "class").iter().map(|class| class == "reads").collect();
            let sum: i64 = acked.iter().zip(&is_answer).filter(|(_, is)| **is).map(|(acked, _)| acked).sum();
            // What is acknowledged belongs to rounds that have begun,
            // and all before the last are whole at the client.
            assert!(sum as u64 <= begun * 12 * 40_000);
            past.push(begun);
        }
        assert!(past.is_sorted() && past.last() == Some(&4));
        let results = network.results();
        let (starts, finishes) =
            (integers(&results, "rounds", "start_ns"), integers(&results, "rounds", "finish_ns"));
        assert!((1..4).all(|round| starts[round] == finishes[round - 1] + 5_000), "{starts:?} {finishes:?}");
        assert!((0..4).all(|round| finishes[round] > starts[round]));
        let answers = if persistent { 12 } else { 48 };
        assert_eq!((results.summary.flows_finite, results.summary.flows_completed), (answers, answers));
        assert!(results.summary.drops > 0, "12 windows meet a full queue");
    }
}

/// Open loop (docs/algorithms/traffic.md#workloads, TIMELY RPC):
/// requests leave by a Poisson process, whatever the answers do.
#[test]
fn in_an_open_loop_requests_leave_by_their_own_clock() {
    let with = |constant_gap: bool, service_jitter_ns: u64| {
        finish(&mut star(2, |spec| {
            spec.rounds = vec![RoundsSpec {
                mean_gap_ns: Some(10_000.0),
                constant_gap,
                service_jitter_ns,
                ..rounds(1, 2_000, 1_000, true)
            }];
        }))
    };
    let results = with(false, 0);
    let starts = integers(&results, "rounds", "start_ns");
    let finishes = integers(&results, "rounds", "finish_ns");
    assert_eq!((starts.len(), results.summary.rounds_completed), (1_000, 1_000));
    // A round trip takes over 100 us: ten requests are under way. 1000 gaps of 10 us, a deviation of 3 %.
    let mean = (starts[999] - starts[0]) as f64 / 999.0;
    assert!((mean / 10_000.0 - 1.0).abs() < 0.1, "{mean}");
    assert!(starts.iter().zip(&finishes).all(|(start, finish)| finish - start > 100_000));
    assert!(finishes.is_sorted(), "answers come in order");
    assert_eq!(starts, integers(&with(false, 50_000), "rounds", "start_ns"));
    // An application that limits itself: the first request comes a gap after the start of 1 us.
    let regular: Vec<i64> = (0..1_000).map(|round| 1_000 + 10_000 * (round + 1)).collect();
    assert_eq!(integers(&with(true, 0), "rounds", "start_ns"), regular);
}

/// docs/algorithms/window.md#kernel-sender: a window of one segment waits for both kernels in each of its
/// round trips, which the round-trip time shows; marks and bytes are those of a host without a delay.
#[test]
fn kernels_lengthen_each_round_trip() {
    let with = |host_delay_exp_ns: u64| {
        finish(&mut star(1, |spec| {
            let sender = spec.algorithms.get_mut("sender").expect("the only one");
            (sender.rwnd, sender.host_delay_exp_ns) = (1, host_delay_exp_ns);
            spec.flows = vec![flow(1, "h1", Some(1_000 * 1_436))];
            spec.stop_ns = 1_000_000_000;
        }))
    };
    let fct = |results: &Results| integers(results, "flows", "finish_ns")[0] as f64;
    let (without, slow) = (with(0), with(50_000));
    assert_eq!(integers(&slow, "flows", "acked_bytes"), [1_436_000]);
    assert_eq!(integers(&slow, "flows", "timeouts"), [0]);
    // 2000 exponential times of 50 us: a deviation of 2.2 %.
    let extra_us = (fct(&slow) - fct(&without)) / 1e6;
    assert!((extra_us / 100.0 - 1.0).abs() < 0.1, "{extra_us} us for each round trip");
}

/// A group that starts at random begins later than its time, and goes on as any other.
#[test]
fn a_random_start_shifts_the_whole_group() {
    let with = |start_jitter_ns| {
        let mut network = star(2, |spec| {
            let jitter = RoundsSpec { start_jitter_ns, service_jitter_ns: 0, ..rounds(2, 2_000, 3, true) };
            spec.rounds = vec![jitter];
        });
        let results = finish(&mut network);
        (integers(&results, "rounds", "start_ns"), integers(&results, "rounds", "finish_ns"))
    };
    let ((at, end), (later, later_end)) = (with(0), with(100_000));
    let shift = later[0] - at[0];
    assert!((1..=100_000).contains(&shift), "{shift}");
    assert!(at.iter().zip(&later).all(|(at, later)| (later - at - shift).abs() <= 1), "{at:?} {later:?}");
    assert!(end.iter().zip(&later_end).all(|(at, later)| (later - at - shift).abs() <= 1));
}

/// A window flow that its application closes sends nothing
/// new, and is complete when what was sent is acknowledged.
#[test]
fn a_closed_window_flow_ends_with_what_was_sent() {
    let mut network = star(1, |spec| {
        spec.flows = vec![FlowSpec { close_ns: Some(1_000_000), ..flow(1, "h1", None) }];
        spec.stop_ns = 5_000_000;
    });
    network.run(RunOptions::until(p4cc_units::Time::from_ns(1_000_000))).expect("few events");
    let sent = integers(&network.results(), "flows", "data_pkts")[0];
    let results = finish(&mut network);
    assert_eq!(integers(&results, "flows", "data_pkts"), [sent]);
    assert_eq!(integers(&results, "flows", "acked_bytes"), [sent * 1_436]);
    assert!((1_000_001..1_300_000).contains(&integers(&results, "flows", "finish_ns")[0]));
}

#[test]
fn arrivals_have_their_rate_and_their_sizes_and_differ_by_seed_only() {
    let network = star(8, |spec| {
        spec.arrivals = vec![arrivals(8, 20_000.0, 20_000_000)];
        spec.stop_ns = 1;
    });
    let drawn = |seed: u64| {
        let mut run = network.fork(seed).expect("a network that was built");
        let results = finish(&mut run);
        // Nearly none has begun when the run ends.
        let starts: Vec<_> = run.planned_starts().flatten().collect();
        (results, starts)
    };
    let (results, starts) = drawn(3);
    // 8 sources, 1,000 mean gaps each: 8,000 flows with a standard deviation of 89.
    assert!(starts.len().abs_diff(8_000) < 450, "{}", starts.len());
    assert!(starts.is_sorted() && starts.last().is_some_and(|last| *last < Time::from_ns(20_000_000)));
    let sizes = integers(&results, "flows", "size_bytes");
    let mean = sizes.iter().sum::<i64>() / sizes.len() as i64;
    assert!(
        sizes.iter().all(|size| (2_000..=50_000).contains(size)) && mean.abs_diff(26_000) < 800,
        "{mean}"
    );
    let ends = texts(&results, "flows", "src").into_iter().zip(texts(&results, "flows", "dst"));
    assert!(ends.clone().all(|(src, dst)| src != dst));
    let to_h0 = ends.filter(|(_, dst)| dst == "h0").count();
    assert!(to_h0.abs_diff(starts.len() / 8) < 150, "each destination alike: {to_h0}");
    let deadlines = integers(&results, "flows", "deadline_ns");
    let mean = deadlines.iter().sum::<i64>() / deadlines.len() as i64;
    assert!(deadlines.iter().all(|one| *one >= 300_000) && mean.abs_diff(400_000) < 6_000, "{mean}");
    assert_eq!(format!("{results:?}"), format!("{:?}", drawn(3).0));
    assert_ne!(starts, drawn(4).1);
}

#[test]
fn one_model_does_not_shift_the_numbers_of_another() {
    let starts = |change: &dyn Fn(&mut ArrivalsSpec)| {
        let mut spec_of = arrivals(4, 50_000.0, 2_000_000);
        change(&mut spec_of);
        let mut network = star(8, |spec| {
            spec.arrivals = vec![spec_of];
            spec.stop_ns = 1;
        });
        finish(&mut network);
        network.planned_starts().collect::<Vec<_>>()
    };
    let base = starts(&|_| {});
    assert_eq!(base, starts(&|spec| spec.size = SizeSpec::Fixed { bytes: 1 }));
    assert_eq!(base, starts(&|spec| spec.destinations = vec!["h0".to_owned(), "h7".to_owned()]));
    assert_ne!(base, starts(&|spec| spec.name = "other".to_owned()));
}

#[test]
fn a_deadline_is_met_by_arrival_in_time() {
    // One segment takes 52.4 us to the receiver; the ACK comes later than either deadline.
    let mut network = star(2, |spec| {
        let with = |offset_ns| Some(DeadlineSpec { offset_ns, ..DeadlineSpec::default() });
        spec.flows = vec![
            FlowSpec { deadline: with(52_400), ..flow(1, "h1", Some(1_436)) },
            FlowSpec { deadline: with(52_399), start_ns: 500_000, ..flow(2, "h2", Some(1_436)) },
            FlowSpec { start_ns: 500_000, ..flow(3, "h1", Some(1_436)) },
        ];
    });
    let results = finish(&mut network);
    assert_eq!(integers(&results, "flows", "deadline_met"), [1, 0, -1]);
    assert_eq!((results.summary.deadline_flows, results.summary.deadlines_met), (2, 1));
}

#[test]
fn checkpoints_and_the_total_see_flows_without_end() {
    let mut network = star(2, |spec| {
        spec.flows =
            vec![flow(1, "h1", None), FlowSpec { start_ns: 3_000_000, ..flow(2, "h2", Some(500_000)) }];
        spec.record.checkpoints_ns = vec![2_000_000, 4_000_000];
    });
    let results = finish(&mut network);
    assert_eq!(integers(&results, "checkpoints", "flow_id"), [1, 1, 2]);
    assert_eq!(integers(&results, "checkpoints", "time_ns"), [2_000_000, 4_000_000, 4_000_000]);
    let acked = integers(&results, "checkpoints", "acked_bytes");
    assert!(acked[0] > 0 && acked[1] > acked[0], "{acked:?}");
    let summary = &results.summary;
    assert_eq!((summary.flows_finite, summary.flows_completed), (1, 1));
    // The background's first 3 ms are in neither figure.
    assert!(summary.goodput_bps < summary.total_goodput_bps && summary.total_goodput_bps < 10e9);
    assert!(summary.jain_index.is_some_and(|index| index > 0.5 && index <= 1.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any mix on a lossy star, stopped anywhere: no packet appears or vanishes, and the receiver never has
    /// more than was sent nor the sender more acknowledged than was received.
    #[test]
    fn mixes_conserve_packets(
        seed in any::<u64>(),
        loss in 0.0..0.05_f64,
        servers in 1_u32..6,
        answer_bytes in 1_u64..30_000,
        count in 1_u32..5,
        persistent in any::<bool>(),
        gap_us in 20_u32..400,
        stop_us in prop::collection::vec(1_u64..6_000, 1..6),
    ) {
        let network = star(6, |spec| {
            for link in &mut spec.links {
                link.loss = loss;
            }
            spec.flows = vec![flow(1, "h1", None), flow(2, "h2", Some(100_000))];
            spec.rounds = vec![rounds(servers, answer_bytes, count, persistent)];
            spec.arrivals = vec![arrivals(6, f64::from(gap_us) * 1e3, 2_000_000)];
            spec.stop_when_complete = false;
        });
        let mut run = network.fork(seed).expect("a network that was built");
        let mut stops = stop_us;
        stops.sort_unstable();
        for stop in stops {
            run.run(RunOptions::until(Time::from_us(stop))).expect("few events");
            let balance = run.packet_balance();
            prop_assert!(balance.is_even(), "{:?}", balance);
            let results = run.results();
            let sizes = integers(&results, "flows", "size_bytes");
            let acked = integers(&results, "flows", "acked_bytes");
            prop_assert!(sizes.iter().zip(&acked).all(|(size, acked)| *size < 0 || acked <= size));
            let finished = integers(&results, "rounds", "finish_ns").iter().filter(|finish| **finish >= 0).count();
            prop_assert!(finished as u32 <= count);
        }
    }
}

/// A change that makes a description wrong.
type Change<'a> = &'a dyn Fn(&mut NetworkSpec);

#[test]
fn what_is_wrong_with_a_model_is_said_with_its_path() {
    let message = |change: &dyn Fn(&mut NetworkSpec)| {
        let mut spec = star(3, |spec| {
            spec.rounds = vec![rounds(3, 100, 2, true)];
            spec.arrivals = vec![arrivals(3, 1e6, 1_000_000)];
        })
        .spec()
        .clone();
        change(&mut spec);
        let built = Network::build(spec, 1);
        built.map_or_else(|error| error.to_string(), |_| "fine".to_owned())
    };
    let cases: [(Change<'_>, &str); 14] = [
        (&|_| {}, "fine"),
        (
            &|spec| spec.rounds[0].client = "x".to_owned(),
            "rounds[0].client: there is no switch or host \"x\"",
        ),
        (&|spec| spec.rounds[0].servers[1] = "h0".to_owned(), "rounds[0].servers[1]: \"h0\" is the client"),
        (&|spec| spec.rounds[0].response_bytes = vec![1], "rounds[0].response_bytes: 3 servers, 1 sizes"),
        (&|spec| spec.rounds[0].rounds = 0, "rounds[0].rounds: 0 is out of range"),
        (&|spec| spec.rounds[0].request_bytes = 0, "rounds[0].request_bytes: 0 is out of range"),
        (
            &|spec| spec.rounds[0].deadline = Some(DeadlineSpec { offset_ns: 1, ..DeadlineSpec::default() }),
            "rounds[0].deadline: a connection kept over all rounds cannot have a deadline",
        ),
        (
            &|spec| spec.rounds.push(spec.rounds[0].clone()),
            "rounds[1].name: the name \"reads\" is used twice",
        ),
        (&|spec| spec.arrivals[0].sources.clear(), "arrivals[0].sources: there is none"),
        (
            &|spec| spec.arrivals[0].destinations = vec!["h1".to_owned()],
            "arrivals[0].destinations: \"h1\" has no other",
        ),
        (&|spec| spec.arrivals[0].mean_gap_ns = f64::NAN, "arrivals[0].mean_gap_ns: NaN is out of range"),
        (
            &|spec| spec.arrivals[0].end_ns = u64::MAX,
            "arrivals[0].end_ns: 18446744073709551615 is out of range",
        ),
        (&|spec| spec.arrivals[0].mean_gap_ns = 0.001, "arrivals[0]: more than 1000000 flows arrive"),
        (&|spec| spec.record.checkpoints_ns = vec![5, 5], "record.checkpoints_ns[1]: 5 is out of range"),
    ];
    for (change, want) in cases {
        let got = message(change);
        assert!(got.starts_with(want), "{want}: {got}");
    }
}

/// docs/algorithms/traffic.md#workloads: all flows of a burst start
/// together, from different hosts to one that is none of them.
#[test]
fn bursts_are_incasts_of_distinct_hosts() {
    let bursts = BurstsSpec {
        name: "incast".to_owned(),
        hosts: (1..=9).map(|i| format!("h{i}")).collect(),
        senders: 5,
        size_bytes: 4_000,
        mean_gap_ns: 100_000.0,
        start_ns: 0,
        end_ns: 20_000_000,
        algorithm: "sender".to_owned(),
        priority: 0,
        deadline: None,
    };
    let network = |change: &dyn Fn(&mut BurstsSpec)| {
        let mut one = bursts.clone();
        change(&mut one);
        star(9, |spec| spec.bursts.push(one))
    };
    let results = finish(&mut network(&|_| {}).fork(4).expect("few flows"));
    let starts = integers(&results, "flows", "start_ns");
    let ends = |column: &str| texts(&results, "flows", column);
    let (src, dst) = (ends("src"), ends("dst"));
    assert_eq!(starts.len() % 5, 0);
    // 200 bursts are expected, with a standard deviation of 14.
    assert!((150..250).contains(&(starts.len() / 5)), "{}", starts.len() / 5);
    let mut receivers = std::collections::BTreeSet::new();
    for first in (0..starts.len()).step_by(5) {
        let burst = first..first + 5;
        assert!(starts[burst.clone()].iter().all(|start| *start == starts[first]));
        assert!(dst[burst.clone()].iter().all(|one| *one == dst[first]));
        let senders: std::collections::BTreeSet<_> = src[burst].iter().collect();
        assert_eq!(senders.len(), 5);
        receivers.insert(dst[first].clone());
    }
    assert_eq!(receivers.len(), 9);
    // Another number of senders leaves the times as they are.
    let fewer = finish(&mut network(&|one| one.senders = 1).fork(4).expect("few flows"));
    let times: Vec<_> = starts.iter().step_by(5).copied().collect();
    assert_eq!(integers(&fewer, "flows", "start_ns"), times);
}

/// docs/algorithms/traffic.md#closed-loop: what is offered is the quantity, and each flow after the first
/// ones of a source starts a think time after an earlier one has ended.
#[test]
fn a_closed_loop_thinks_between_flows_and_offers_its_quantity() {
    let closed_loop = ClosedLoopSpec {
        name: "loop".to_owned(),
        sources: vec!["h1".to_owned(), "h2".to_owned()],
        destinations: vec!["h0".to_owned()],
        outstanding: 2,
        size: SizeSpec::Uniform { min_bytes: 1_000, max_bytes: 9_000 },
        quantity: QuantitySpec::Bytes { bytes: 300_001 },
        think_ns: 7_000,
        constant_think: true,
        start_ns: 500,
        start_jitter_ns: 0,
        algorithm: "sender".to_owned(),
        priority: 0,
        deadline: None,
    };
    let network = star(3, |spec| spec.closed_loops.push(closed_loop.clone()));
    let results = finish(&mut network.fork(2).expect("few flows"));
    let column = |name: &str| integers(&results, "flows", name);
    let (sizes, starts, ends) = (column("size_bytes"), column("start_ns"), column("finish_ns"));
    let sources = texts(&results, "flows", "src");
    for (host, share) in [("h1", 150_001), ("h2", 150_000)] {
        let of_host = |values: &[i64]| -> Vec<i64> {
            values.iter().zip(&sources).filter(|(_, src)| *src == host).map(|(value, _)| *value).collect()
        };
        assert_eq!(of_host(&sizes).iter().sum::<i64>(), share);
        let (mut starts, mut ends) = (of_host(&starts), of_host(&ends));
        starts.sort_unstable();
        ends.sort_unstable();
        assert_eq!(starts[..2], [500, 500]);
        assert!(starts[2..].iter().zip(&ends).all(|(start, end)| start - end == 7_000));
    }
}
