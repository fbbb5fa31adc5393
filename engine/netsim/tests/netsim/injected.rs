//! Packets that the caller of a run gives it between two steps.

use p4cc_netsim::{MAX_WAITING_INJECTED, Network, RunOptions};
use p4cc_units::Time;
use serde_json::json;

use crate::columns::u64s;
use crate::support::{Incast, incast};
use crate::wire::two_hosts;

const DCTCP: &str = r#"{"rto_init_ns":200000000,
    "cc":{"congestion_avoidance":{"name":"dctcp","cwnd_min":1}}}"#;

/// Two hosts on one 10 Gb/s wire of 50 us each way.
fn pair() -> Network {
    let spec = two_hosts(
        0.0,
        &json!({
            "algorithms": {"reno": {}},
            "flows": [],
            "record": {"packets_received": {"hosts": ["b"], "snap_bytes": 20, "max_packets": 9}},
            "stop_ns": 1_000_000,
        }),
    );
    Network::build(spec, 1).expect("a right description")
}

fn arrivals(network: &Network) -> Vec<u64> {
    u64s(&network.results(), "packets_received", "time_ns")
}

#[test]
fn packets_leave_a_host_now_one_behind_the_other() {
    let mut network = pair();
    network.run(RunOptions::until(Time::from_us(100))).expect("few events");
    // 64 B behind 10 Gb/s: 50 B of IP take 40 ns.
    network.inject("a", &[7; 64], 0).expect("there is a host a");
    network.inject("a", &[8; 64], 7).expect("there is a host a");
    network.run(RunOptions::default()).expect("few events");
    assert_eq!(arrivals(&network), [150_040, 150_080]);
    assert!(network.packet_balance().is_even());
    let refused = network.inject("a", &[7; 64], 0).expect_err("the run is over");
    assert_eq!(refused.path, "run");
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let mut network = pair();
    let long = vec![0; 65_536];
    for (host, bytes, priority, place) in [
        ("s", &[0; 64][..], 0, "host"),
        ("a", &[][..], 0, "packet"),
        ("a", &long[..], 0, "packet"),
        ("a", &[0; 64][..], 8, "priority"),
    ] {
        assert_eq!(network.inject(host, bytes, priority).expect_err(place).path, place);
    }
    for _ in 0..=MAX_WAITING_INJECTED {
        network.inject("a", &[0; 64], 0).expect("one is under way, the others wait");
    }
    assert_eq!(network.inject("a", &[0; 64], 0).expect_err("no room").path, "host");
    network.run(RunOptions::until(Time::from_us(1))).expect("few events");
    network.inject("a", &[0; 64], 0).expect("places are free again");
    assert!(network.packet_balance().is_even());
}

#[test]
fn what_comes_in_at_a_port_is_counted_and_the_same_again() {
    let scenario = Incast {
        senders: 6,
        size_bytes: 262_144,
        start_jitter_ns: 10_000,
        buffer_pkts: 100,
        k: 20,
        k_dc: 65,
        algorithm: DCTCP,
        record: r#"{"queues_interval_ns":50000}"#,
    };
    let base = incast(&scenario);
    let run = |packets: usize| {
        let mut network = base.fork(3).expect("a network that was built");
        let device = network.device_ids().next().expect("there is a switch");
        network.run(RunOptions::until(Time::from_us(400))).expect("few events");
        for _ in 0..packets {
            network.inject_at_port(device, 1, &[0; 64]).expect("the switch has a port 1");
        }
        network.run(RunOptions::default()).expect("few events");
        let balance = network.packet_balance();
        assert!(balance.is_even(), "{balance:?}");
        assert_eq!(balance.injected, packets as u64);
        let refused = network.inject_at_port(device, 99, &[0; 64]).expect_err("the run is over");
        assert_eq!(refused.path, "run");
        format!("{:?}", network.results())
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(0));
    let mut fresh = base.fork(1).expect("a network that was built");
    let device = fresh.device_ids().next().expect("there is a switch");
    assert_eq!(fresh.inject_at_port(device, 99, &[0; 64]).expect_err("no port").path, "port");
    assert_eq!(fresh.inject_at_port(device + 99, 1, &[0; 64]).expect_err("no switch").path, "switch");
}
