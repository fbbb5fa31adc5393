//! Stops for controllers: at the instant at which a switch has a message, and without a trace in results.

use std::path::Path;

use p4cc_netsim::{Network, NetworkSpec, RunOptions};
use p4cc_units::{Span, Time};
use serde_json::json;

use crate::support::{Incast, compile, incast};

/// Two hosts on one switch; `h1` sends to `h2` what the switch, without routes, gives to its controller.
fn unrouted() -> Network {
    let host = |n: u32| json!({"name": format!("h{n}"), "mac": format!("02:00:00:00:00:0{n}"), "ipv4": format!("10.0.0.{n}")});
    let link = |n: u32| {
        json!({"a": {"node": format!("h{n}")}, "b": {"node": "s1", "port": n},
            "rate_bps": 1_000_000_000, "delay_ns": 10_000})
    };
    let port = |n: u32| json!({"port": n, "queue_capacity_pkts": 10});
    let spec = json!({
        "switches": [{"name": "s1", "device_id": 1, "cpu_port": 500, "ports": [port(1), port(2)]}],
        "hosts": [host(1), host(2)],
        "links": [link(1), link(2)],
        "algorithms": {"reno": {"iw": 2, "mss_bytes": 936, "rto_init_ns": 1_000_000, "rto_min_ns": 1_000_000}},
        "flows": [{"id": 1, "src": "h1", "dst": "h2", "size_bytes": 100_000, "algorithm": "reno"}],
        "stop_ns": 500_000,
        "limits": {"max_events": 1_000_000},
    });
    let spec = NetworkSpec::from_json(&spec.to_string()).expect("a right description");
    let mut network = Network::build(spec, 1).expect("a right description");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/p4cc/files/reactive.p4");
    network.switch_mut(1).expect("the switch").control().set_pipeline(compile(&program));
    network
}

fn advance(network: &mut Network, until: Time) {
    network.run(RunOptions { stop_at_message: true, ..RunOptions::until(until) }).expect("few events");
}

#[test]
fn a_run_stops_at_the_instant_of_a_message() {
    let mut network = unrouted();
    // Two packets of 1,000 B, 8 us each on the first link, 10 us away.
    for (until_ns, now_ns, packets) in [(9_000, 9_000, 0), (400_000, 18_000, 1), (400_000, 26_000, 1)] {
        advance(&mut network, Time::from_ns(until_ns));
        assert_eq!(network.now(), Time::from_ns(now_ns));
        let switch = network.switch_mut(1).expect("the switch");
        assert_eq!((switch.take_packet_ins().len(), switch.take_digests().len()), (packets, packets));
    }
    assert_eq!(network.look(&[], 0).digests, 2);
    // The timeout is later than the end.
    advance(&mut network, Time::MAX);
    assert_eq!((network.now(), network.has_ended()), (Time::from_ns(500_000), true));
}

#[test]
fn it_goes_on_only_when_messages_were_taken() {
    let mut network = unrouted();
    for _ in 0..3 {
        advance(&mut network, Time::from_ns(400_000));
        assert_eq!(network.now(), Time::from_ns(18_000));
    }
}

#[test]
fn stops_leave_no_trace() {
    let network = incast(&Incast {
        senders: 5,
        size_bytes: 60_000,
        start_jitter_ns: 20_000,
        buffer_pkts: 40,
        k: 10,
        k_dc: 20,
        algorithm: r#"{"cc": {"congestion_avoidance": {"name": "dctcp"}}, "rto_min_ns": 5000000}"#,
        record: r#"{"windows_interval_ns": 3000, "queues_interval_ns": 3000}"#,
    });
    let mut whole = network.fork(7).expect("a fork");
    whole.run(RunOptions::default()).expect("few events");
    let mut stepped = network.fork(7).expect("a fork");
    while !stepped.has_ended() {
        let until = stepped.now() + Span::from_ps(1_000_001);
        advance(&mut stepped, until);
    }
    // As text: what there is no number for is no number equal to itself.
    assert_eq!(format!("{:?}", whole.results()), format!("{:?}", stepped.results()));
}
