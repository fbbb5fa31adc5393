//! A run on several threads, or in batches, gives the bytes of a run that handles its events one by one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use p4cc_netsim::{Batching, Network, RealClock, RunError, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fabrics::{DELAY_NS, Fabric, HEADROOM_BYTES};
use crate::fat_tree::{FatTree, Sender};
use crate::support::{Incast, incast};

/// A line of switches.
const LINE: &[(usize, usize)] = &[(0, 1), (1, 2), (2, 3)];

fn along_the_line(from: usize, to: usize) -> usize {
    if from < to { from + 1 } else { from - 1 }
}

fn line<'a>(hosts_at: &'a [usize], cc: &'a str, flows: &'a [(usize, usize, u64, u64)]) -> Fabric<'a> {
    Fabric {
        program: "int_hpcc.p4",
        hosts_at,
        trunks: LINE,
        next: along_the_line,
        // Little more than headroom and reserve, so that switches pause each other.
        buffer_bytes: 8 * (HEADROOM_BYTES + 4_096) + 60_000,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc,
        more: json!({"rto_ns": 200_000}),
        flows,
        record: json!({"windows_interval_ns": 100_000, "queues_interval_ns": 50_000,
            "queue_histogram_interval_ns": 100_000, "checkpoints_ns": [70_000], "pauses": true}),
        stop_ns: 3_000_000,
    }
}

/// All results of a run, and the number of epochs that ran on several threads or in batches.
fn found(base: &Network, threads: usize, batching: Batching) -> (String, u64) {
    let mut run = base.fork(1).expect("a network that was built");
    run.set_batching(batching);
    run.run(RunOptions { threads, ..RunOptions::default() }).expect("few events");
    let balance = run.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    (format!("{:?}", run.results()), run.epochs())
}

/// Threads, and whether epochs are handled in batches.
const WAYS: [(usize, Batching); 4] =
    [(1, Batching::Always), (2, Batching::Never), (2, Batching::Always), (3, Batching::Always)];

/// The least number of epochs of all ways but one by one.
pub fn assert_same(base: &Network) -> u64 {
    let (one, epochs) = found(base, 1, Batching::Never);
    assert_eq!(epochs, 0);
    let epochs = WAYS.map(|(threads, batching)| {
        let (other, epochs) = found(base, threads, batching);
        assert_eq!(other, one, "{threads} threads, batching {batching:?}");
        epochs
    });
    epochs.into_iter().min().unwrap_or(0)
}

#[test]
fn a_run_that_changes_between_threads_and_one_gives_the_same_bytes() {
    let flows = crossing_flows();
    let base = line(HOSTS_AT, r#"{"name":"hpcc"}"#, &flows).build();
    let (one, _) = found(&base, 1, Batching::Never);
    let mut run = base.fork(1).expect("a network that was built");
    run.set_batching(Batching::Always);
    let looks = AtomicU64::new(0);
    // Each stretch takes another time, so that the faster way changes.
    let now_ns = || {
        let look = looks.fetch_add(1, Ordering::Relaxed);
        look * 1_000_000 + look * look % 7 * 400_000
    };
    let clock = RealClock { now_ns: &now_ns, stretch_events: 500 };
    run.run(RunOptions { threads: 2, clock: Some(clock), ..RunOptions::default() }).expect("few events");
    assert_eq!(format!("{:?}", run.results()), one);
    let looks = looks.load(Ordering::Relaxed);
    assert!(looks > 10, "the clock was read {looks} times");
}

/// Eight hosts at four switches; everybody sends to two of them, late ones too.
fn crossing_flows() -> Vec<(usize, usize, u64, u64)> {
    let flow = |i: usize| (i % 8, if i % 8 < 4 { 7 } else { 0 }, 60_000 + 5_000 * i as u64, 2_000 * i as u64);
    (0..16).map(flow).filter(|(src, dst, ..)| src != dst).collect()
}

const HOSTS_AT: &[usize] = &[0, 0, 1, 1, 2, 2, 3, 3];

#[test]
fn pauses_telemetry_and_samples_are_those_of_one_thread() {
    let flows = crossing_flows();
    for cc in [r#"{"name":"hpcc"}"#, r#"{"name":"dcqcn"}"#, r#"{"name":"timely","beta":0}"#] {
        let base = line(HOSTS_AT, cc, &flows).build();
        let (one, _) = found(&base, 1, Batching::Never);
        assert!(cc.contains("hpcc") || !one.contains(" pauses: 0,"), "{cc}: no switch paused another");
        assert!(assert_same(&base) > 50, "{cc}: threads had nothing to do");
    }
}

/// Each packet has a value of its own, drawn or taken from what came back, and receivers' cards take time.
#[test]
fn chosen_paths_are_those_of_one_thread() {
    let flows = crossing_flows();
    for entropy in ["oblivious", "bitmap", "reps"] {
        let mut fabric = line(HOSTS_AT, r#"{"name":"nscc"}"#, &flows);
        fabric.more = json!({
            "rto_ns": 200_000, "recovery": "selective_repeat", "entropy": entropy, "entropy_values": 16,
            "ack_processing_ns": 700,
        });
        assert!(assert_same(&fabric.build()) > 50, "{entropy}: threads had nothing to do");
    }
}

/// All work is at one end, so load balancing moves switches at the first sample.
#[test]
fn rebalanced_partitions_give_the_results_of_one_thread() {
    let flows: Vec<_> = (0..6).map(|i| (i, (i + 1) % 6, 1_000_000, 1_000 * i as u64)).collect();
    let base = line(&[0, 0, 0, 1, 1, 1, 3], r#"{"name":"dcqcn"}"#, &flows).build();
    assert!(assert_same(&base) > 50, "threads had nothing to do");
}

/// The work moves from one end to the other and no sample interrupts it, so load is balanced between epochs.
#[test]
fn partitions_whose_work_moves_give_the_results_of_one_thread() {
    let flow = |i: usize| {
        let (of_pair, late) = (3 * (i % 2), (i % 2) as u64);
        (of_pair + i / 2, of_pair + (i / 2 + 1) % 3, 2_000_000, 1_000 * i as u64 + 400_000 * late)
    };
    let flows: Vec<_> = (0..6).map(flow).collect();
    let mut fabric = line(&[0, 0, 0, 3, 3, 3], r#"{"name":"hpcc"}"#, &flows);
    fabric.record = json!({});
    assert!(assert_same(&fabric.build()) > 300, "threads had nothing to do");
}

/// As many switches as make a network run in batches, in its partitions too.
#[test]
fn a_large_network_is_that_of_one_thread() {
    let record = json!({"windows_interval_ns": 100_000, "queues_interval_ns": 100_000});
    for sender in [Sender::Hpcc, Sender::Dcqcn, Sender::Dctcp, Sender::DctcpTcp] {
        let tree = FatTree { k: 6, sender, size_bytes: 150_000, idle_flows: 0, record: record.clone() };
        assert!(assert_same(&tree.build()) > 10, "{sender:?}: threads had nothing to do");
    }
}

/// Unequal delays, losses, epochs beside rates, flows without end, a deadline, kernels and interfaces that
/// take time: what a description can hold.
#[test]
fn mixed_traffic_is_that_of_one_thread() {
    mixed_traffic("udp");
}

/// The same where windows speak TCP, whose connections have state at both ends.
#[test]
fn connections_are_those_of_one_thread() {
    mixed_traffic("tcp");
}

fn mixed_traffic(packets: &str) {
    let flows = crossing_flows();
    let base = line(HOSTS_AT, r#"{"name":"dcqcn","window":"vwin"}"#, &flows).build_with(|description| {
        description["algorithms"] = json!({"window": {
            "packets": packets, "rto_init_ns": 300_000, "rto_min_ns": 300_000, "tso_bytes": 8_000, "host_delay_exp_ns": 5_000,
        }});
        description["host_jitter_ns"] = json!(120);
        for (i, link) in description["links"].as_array_mut().into_iter().flatten().enumerate() {
            link["delay_ns"] = json!(DELAY_NS + 130 * i as u64);
            link["loss"] = json!(if i % 3 == 0 { 0.01 } else { 0.0 });
        }
        for (i, flow) in description["flows"].as_array_mut().into_iter().flatten().enumerate() {
            if i % 2 == 0 {
                flow["algorithm"] = json!("window");
                flow["priority"] = json!(1);
            }
            if i == 5 {
                flow["size_bytes"] = Value::Null;
                flow["close_ns"] = json!(400_000);
            }
            if i == 6 {
                flow["deadline"] = json!({"offset_ns": 100_000});
            }
        }
    });
    assert!(assert_same(&base) > 50, "threads had nothing to do");
}

#[test]
fn a_run_that_needs_all_hosts_at_once_says_so_and_is_the_same() {
    let flows = crossing_flows();
    let record = json!({"events": true, "rtts": true});
    let base = Fabric { record, ..line(HOSTS_AT, r#"{"name":"hpcc"}"#, &flows) }.build();
    assert!(base.one_thread_reason().is_some_and(|reason| reason.contains("round-trip times")));
    assert_eq!(assert_same(&base), 0);
    let star = Incast {
        senders: 2,
        size_bytes: 10_000,
        start_jitter_ns: 0,
        buffer_pkts: 10,
        k: 3,
        k_dc: 6,
        algorithm: "{}",
        record: "{}",
    };
    assert!(incast(&star).one_thread_reason().is_some_and(|reason| reason.contains("one switch")));
}

#[test]
fn a_limit_or_a_cancellation_ends_threads_too() {
    let flows = crossing_flows();
    let base = line(HOSTS_AT, r#"{"name":"hpcc"}"#, &flows)
        .build_with(|description| description["limits"]["max_events"] = json!(20_000));
    let run = |threads, batching, is_cancelled| {
        let mut run = base.fork(1).expect("a network that was built");
        run.set_batching(batching);
        let cancel = AtomicBool::new(is_cancelled);
        run.run(RunOptions { threads, cancel: Some(&cancel), ..RunOptions::default() })
            .expect_err("the run is cut")
    };
    let one = run(1, Batching::Never, false).to_string();
    for (threads, batching) in WAYS {
        assert_eq!(run(threads, batching, false).to_string(), one);
        assert!(matches!(run(threads, batching, true), RunError::Cancelled { .. }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Whatever hosts, flows, delays, losses and jitter: threads make no difference.
    #[test]
    fn threads_make_no_difference(
        hosts_at in prop::collection::vec(0_usize..4, 3..8),
        flows in prop::collection::vec((0_usize..8, 0_usize..8, 1_u64..100_000, 0_u64..50_000), 1..12),
        delays in prop::collection::vec(1_u64..3_000, 12),
        loss in prop::sample::select(vec![0.0, 0.02]),
        jitter_ns in prop::sample::select(vec![0, 1, 500, 5_000]),
        cc in prop::sample::select(vec![
            r#"{"name":"timely","beta":0}"#, r#"{"name":"timely"}"#, r#"{"name":"dcqcn"}"#, r#"{"name":"hpcc"}"#,
        ]),
    ) {
        let hosts = hosts_at.len();
        let flows: Vec<_> = flows.into_iter().map(|(src, dst, size, start)| (src % hosts, dst % hosts, size, start))
            .filter(|(src, dst, ..)| src != dst).collect();
        prop_assume!(!flows.is_empty());
        let base = line(&hosts_at, cc, &flows).build_with(|description| {
            description["host_jitter_ns"] = json!(jitter_ns);
            for (i, link) in description["links"].as_array_mut().into_iter().flatten().enumerate() {
                link["delay_ns"] = json!(delays[i % delays.len()]);
                link["loss"] = json!(loss);
            }
        });
        let (one, _) = found(&base, 1, Batching::Never);
        for (threads, batching) in WAYS {
            prop_assert_eq!(&found(&base, threads, batching).0, &one, "{} threads, batching {:?}", threads, batching);
        }
    }
}
