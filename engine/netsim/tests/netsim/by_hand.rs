//! Times and orders that a pencil gives.

use p4cc_netsim::{Network, RunOptions};
use p4cc_units::Time;
use serde_json::{Value, json};

use crate::columns::integers;
use crate::support::{Incast, incast};
use crate::wire::two_hosts;

/// Two hosts on one 10 Gb/s wire of 50 us each way.
fn pair(flow: Value) -> Network {
    let spec = two_hosts(
        0.0,
        &json!({
            "algorithms": {"reno": {}},
            "flows": [flow],
            "stop_ns": 1_000_000_000,
        }),
    );
    Network::build(spec, 1).expect("a right description")
}

#[test]
fn one_segment_takes_a_packet_time_an_ack_time_and_the_round_trip() {
    let mut network = pair(json!({"id": 7, "src": "a", "dst": "b", "size_bytes": 1436, "algorithm": "reno"}));
    network.run(RunOptions::default()).expect("few events");
    // 1,500 B take 1,200 ns and 64 B take 51.2 ns at 10 Gb/s: 100,000 + 1,200 + 51.2.
    let results = network.results();
    assert_eq!(integers(&results, "flows", "finish_ns"), [101_251]);
    assert_eq!(integers(&results, "flows", "received_ns"), [51_200]);
    assert_eq!((results.summary.packet_hops, results.summary.flows_completed), (2, 1));
    assert!((results.summary.goodput_bps - 1_436.0 * 8.0 / 101_251.2e-9).abs() < 1.0);
}

#[test]
fn the_second_round_sends_two_segments_back_to_back() {
    let mut network =
        pair(json!({"id": 7, "src": "a", "dst": "b", "size_bytes": 3 * 1436, "algorithm": "reno"}));
    network.run(RunOptions::default()).expect("few events");
    // Second round: two packets from 101,251.2 ns, the later one's ACK after 2,400 + 100,000 + 51.2.
    assert_eq!(integers(&network.results(), "flows", "finish_ns"), [203_702]);
}

#[test]
fn a_flow_starts_when_it_is_told_and_time_stops_between_runs() {
    let flow =
        json!({"id": 7, "src": "a", "dst": "b", "size_bytes": 1436, "algorithm": "reno", "start_ns": 5_000});
    let mut network = pair(flow);
    network.run(RunOptions::until(Time::from_ns(5_000 + 101_251))).expect("few events");
    assert_eq!(integers(&network.results(), "flows", "finish_ns"), [-1]);
    assert_eq!(network.now(), Time::from_ns(106_251));
    network.run(RunOptions::until(Time::from_ns(106_252))).expect("few events");
    assert_eq!(integers(&network.results(), "flows", "finish_ns"), [106_251]);
    assert_eq!(integers(&network.results(), "flows", "fct_ns"), [101_251]);
    assert!(network.has_ended());
}

#[test]
fn packets_of_one_instant_pass_the_switch_by_port_number() {
    let mut network = incast(&Incast {
        senders: 3,
        size_bytes: 1_436,
        start_jitter_ns: 0,
        buffer_pkts: 10,
        k: 10,
        k_dc: 10,
        algorithm: "{}",
        record: "{}",
    });
    network.run(RunOptions::default()).expect("few events");
    // All three arrive at 26,200 ns; host 1 is on the lowest port. They leave 1,200 ns after each other.
    let received = integers(&network.results(), "flows", "received_ns");
    assert_eq!(received, [52_400, 53_600, 54_800]);
}
