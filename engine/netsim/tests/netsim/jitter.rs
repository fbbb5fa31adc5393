//! Random processing time at the interfaces of hosts (docs/algorithms/README.md#host-jitter).

use std::collections::BTreeSet;

use p4cc_netsim::{Network, RunOptions};
use proptest::prelude::*;
use serde_json::json;

use crate::columns::integers;
use crate::support::{Incast, incast_with};
use crate::wire::two_hosts;

/// When the data of one flow over a 10 Gb/s wire of 50 us has been received, and acknowledged.
fn one_flow(jitter_ns: u64, segments: u64, iw: u64, seed: u64) -> [i64; 2] {
    let more = json!({
        "algorithms": {"reno": {"iw": iw}},
        "flows": [{"id": 7, "src": "a", "dst": "b", "size_bytes": segments * 1_436, "algorithm": "reno"}],
        "host_jitter_ns": jitter_ns,
        "stop_ns": 1_000_000_000,
    });
    let mut network = Network::build(two_hosts(0.0, &more), seed).expect("a right description");
    network.run(RunOptions::default()).expect("few events");
    let results = network.results();
    ["received_ns", "finish_ns"].map(|column| integers(&results, "flows", column)[0])
}

#[test]
fn a_packet_that_finds_the_interface_idle_waits_for_less_than_the_jitter() {
    let runs: Vec<[i64; 2]> = (0..40).map(|seed| one_flow(1_000, 1, 1, seed)).collect();
    // Without jitter 51,200 and 101,251 ns.
    assert!(runs.iter().all(|[received, _]| (51_200..52_200).contains(received)), "{runs:?}");
    assert!(
        runs.iter().all(|[received, finish]| (50_051..51_052).contains(&(finish - received))),
        "{runs:?}"
    );
    assert!(runs.iter().collect::<BTreeSet<_>>().len() > 30, "{runs:?}");
    assert_eq!(one_flow(1_000, 1, 1, 3), one_flow(1_000, 1, 1, 3));
}

#[test]
fn packets_behind_another_one_leave_back_to_back() {
    for seed in 0..20 {
        let [received, _] = one_flow(1_000, 10, 10, seed);
        // The first waits for less than 1,000 ns; ten packets of 1,200 ns follow each other.
        assert!((62_000..63_000).contains(&received), "{received}");
    }
}

#[test]
fn simultaneous_packets_reach_the_switch_in_any_order() {
    let scenario = Incast {
        senders: 3,
        size_bytes: 1_436,
        start_jitter_ns: 0,
        buffer_pkts: 10,
        k: 10,
        k_dc: 10,
        algorithm: "{}",
        record: "{}",
    };
    let first = |jitter_ns: u64| {
        let base = incast_with(&scenario, |description| description["host_jitter_ns"] = json!(jitter_ns));
        let of_seed = |seed| {
            let mut run = base.fork(seed).expect("a network that was built");
            run.run(RunOptions::default()).expect("few events");
            let received = integers(&run.results(), "flows", "received_ns");
            (0..received.len()).min_by_key(|&flow| received[flow])
        };
        (0..30).map(of_seed).collect::<BTreeSet<_>>()
    };
    assert_eq!(first(0), BTreeSet::from([Some(0)]));
    assert_eq!(first(1_200), BTreeSet::from([Some(0), Some(1), Some(2)]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the jitter: every flow completes, in order, and packets are conserved.
    #[test]
    fn flows_complete_and_packets_are_conserved(
        senders in 1_u32..6, size_bytes in 1_u64..40_000, jitter_ns in 0_u64..200_000, buffer_pkts in 3_u32..30,
    ) {
        let scenario = Incast {
            senders, size_bytes, start_jitter_ns: 0, buffer_pkts, k: 2, k_dc: 3,
            algorithm: r#"{"rto_init_ns":2000000,"rto_min_ns":2000000}"#, record: "{}",
        };
        let mut run = incast_with(&scenario, |description| description["host_jitter_ns"] = json!(jitter_ns));
        run.run(RunOptions::default()).expect("few events");
        let (summary, balance) = (run.results().summary, run.packet_balance());
        prop_assert_eq!(summary.flows_completed, u64::from(senders));
        prop_assert!(balance.is_even(), "{:?}", balance);
    }
}
