//! What holds in every run: packets conserved, seeds decide everything, marks come from the program's tables.

use std::sync::atomic::AtomicBool;

use p4cc_cc::{Kind, registry};
use p4cc_netsim::{Network, RunError, RunOptions, Summary, run_many};
use p4cc_transport::SenderConfig;
use p4cc_units::Time;

use crate::columns::u64s;
use crate::support::{Incast, incast};

const DCTCP: &str = r#"{"rto_init_ns":200000000,
    "cc":{"congestion_avoidance":{"name":"dctcp","cwnd_min":1}}}"#;

fn scenario(senders: u32, k: u64, k_dc: u64) -> Incast<'static> {
    Incast {
        senders,
        size_bytes: 262_144,
        start_jitter_ns: 10_000,
        buffer_pkts: 100,
        k,
        k_dc,
        algorithm: DCTCP,
        record: r#"{"windows_interval_ns":100000,"queues_interval_ns":50000,"events":true}"#,
    }
}

fn run(base: &Network, seed: u64) -> (Summary, String) {
    let mut network = base.fork(seed).expect("a network that was built");
    network.run(RunOptions::default()).expect("few events");
    let results = network.results();
    // The text holds every value of every table to the bit; NaN would make equality of values fail.
    (results.summary.clone(), format!("{results:?}"))
}

#[test]
fn packets_are_conserved_at_every_moment() {
    let mut network = incast(&scenario(20, 65, 65));
    let mut step = 0;
    while !network.has_ended() {
        step += 1;
        network.run(RunOptions::until(Time::from_us(step * 37))).expect("few events");
        let balance = network.packet_balance();
        assert!(balance.is_even(), "after {step} steps: {balance:?}");
    }
    let (balance, summary) = (network.packet_balance(), network.summary());
    assert!(balance.dropped > 0 && balance.delivered > 7_000, "{balance:?}");
    assert_eq!(summary.flows_completed, 20);
    assert_eq!((summary.drops, summary.tail_drops), (balance.dropped, balance.dropped));
    // A full queue holds exactly its capacity.
    assert_eq!(summary.peak_queue_pkts, 100);
    assert_eq!(summary.host_refusals, 0);
}

#[test]
fn a_seed_decides_every_bit_and_threads_decide_none() {
    let base = incast(&scenario(12, 65, 65));
    let (one, again, other) = (run(&base, 1), run(&base, 1), run(&base, 2));
    assert_eq!(one.1, again.1);
    assert_ne!(one.1, other.1);
    let seeds = [1, 2, 3, 4];
    let texts = |jobs| {
        let results = run_many(&base, &seeds, jobs, &AtomicBool::new(false), &|_| {});
        results.into_iter().map(|result| format!("{:?}", result.expect("few events"))).collect::<Vec<_>>()
    };
    let single = texts(1);
    assert_eq!(single, texts(3));
    assert_eq!((&single[0], &single[1]), (&one.1, &other.1));
}

#[test]
fn steps_do_not_change_a_run() {
    let base = incast(&scenario(6, 65, 65));
    let (_, whole) = run(&base, 3);
    let mut network = base.fork(3).expect("a network that was built");
    let mut until_us = 0;
    while !network.has_ended() {
        until_us += 333;
        network.run(RunOptions::until(Time::from_us(until_us))).expect("few events");
    }
    assert_eq!(format!("{:?}", network.results()), whole);
}

#[test]
fn marks_come_from_the_tables_of_the_program() {
    let (marked, _) = run(&incast(&scenario(12, 33, 65)), 1);
    assert!(marked.marks_level1 > 0 && marked.marks_level2 > 0, "{marked:?}");
    let (never, _) = run(&incast(&scenario(12, 100, 100)), 1);
    assert_eq!((never.marks_level1, never.marks_level2), (0, 0));
}

#[test]
fn recorded_rows_are_in_order_and_agree_with_the_flows() {
    let mut network = incast(&scenario(4, 65, 65));
    network.run(RunOptions::default()).expect("few events");
    let results = network.results();
    for name in ["windows", "queues", "events"] {
        let table = results.table(name).expect("all three are recorded");
        let times = u64s(&results, name, "time_ns");
        assert!(times.len() > 10 && times.is_sorted(), "{name}: {} rows", times.len());
        assert!(table.columns.iter().all(|column| column.len() == times.len()), "{name}");
    }
    assert_eq!(u64s(&results, "windows", "acked_bytes").iter().max(), Some(&262_144));
}

#[test]
fn losses_on_a_link_are_counted_and_repaired() {
    let mut spec = (*incast(&scenario(2, 65, 65)).spec()).clone();
    spec.links[1].loss = 0.01;
    let mut network = incast(&scenario(2, 65, 65)).with_spec(spec).expect("the same nodes");
    network.run(RunOptions::default()).expect("few events");
    let summary = network.summary();
    assert!(summary.link_losses > 0 && summary.flows_completed == 2, "{summary:?}");
    assert!(network.packet_balance().is_even());
}

/// SACK blocks and delayed ACKs cross the P4 program like anything
/// else, and every sender of the registry repairs its losses with them.
#[test]
fn every_sender_repairs_losses() {
    let windows = registry().iter().filter(|row| !matches!(row.kind, Kind::RateControl | Kind::Receiver));
    let senders = windows.enumerate().map(|(i, row)| {
        let k = if row.name == "gst" { r#","k":8"# } else { "" };
        let recovery = ["sack", "newreno", "reno"][i % 3];
        let with = |profile: &str| {
            format!(
                r#"{{"rto_min_ns":1000000,"rto_init_ns":1000000,"recovery":"{recovery}","limited_transmit":true,
                    "ack_every":2,"ack_delay_ns":400000,"ecn_profile":"{profile}",
                    "cc":{{"{}":{{"name":"{}"{k}}}}}}}"#,
                row.kind.key(),
                row.name
            )
        };
        let fits = |config: &String| {
            serde_json::from_str::<SenderConfig>(config).expect("valid JSON").validate().is_ok()
        };
        ["gst", "sce", "rfc3168"].map(with).into_iter().find(fits).expect("a profile for every sender")
    });
    for algorithm in senders {
        let scenario = || Incast { size_bytes: 200_000, algorithm: &algorithm, ..scenario(4, 8, 20) };
        let mut spec = (*incast(&scenario()).spec()).clone();
        // Data and ACKs alike.
        spec.links.iter_mut().for_each(|link| link.loss = 0.02);
        let base = incast(&scenario()).with_spec(spec).expect("the same nodes");
        let (summary, text) = run(&base, 7);
        assert!(summary.link_losses > 0 && summary.flows_completed == 4, "{algorithm}: {summary:?}");
        assert_eq!(summary.host_refusals, 0, "{algorithm}");
        assert_eq!(run(&base, 7).1, text, "{algorithm}");
    }
}

#[test]
fn a_switch_without_a_program_drops_and_counts() {
    let spec = (*incast(&scenario(2, 65, 65)).spec()).clone();
    let mut network = Network::build(spec, 1).expect("a right description");
    network.run(RunOptions::until(Time::from_ms(1))).expect("few events");
    let balance = network.packet_balance();
    assert_eq!((balance.sent, balance.dropped, balance.is_even()), (2, 2, true));
    assert_eq!(network.summary().flows_completed, 0);
}

#[test]
fn limits_and_cancellation_end_a_run_with_an_error() {
    let mut spec = (*incast(&scenario(2, 65, 65)).spec()).clone();
    spec.limits.max_events = 100;
    let mut network = incast(&scenario(2, 65, 65)).with_spec(spec).expect("the same nodes");
    let error = network.run(RunOptions::default()).expect_err("100 events are few");
    assert!(matches!(error, RunError::EventLimit { limit: 100, .. }), "{error}");
    let mut network = incast(&Incast { size_bytes: 20_000_000, ..scenario(4, 65, 65) });
    let mut calls = 0;
    let error = network
        .run(RunOptions {
            cancel: Some(&AtomicBool::new(true)),
            progress: Some(&mut |_| calls += 1),
            ..RunOptions::default()
        })
        .expect_err("it was cancelled");
    assert!(matches!(error, RunError::Cancelled { .. }) && calls == 1, "{error}, {calls} calls");
}
