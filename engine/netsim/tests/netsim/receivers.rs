//! Receivers that let senders send, on a star with the project's own program (docs/algorithms/receivers.md).

use p4cc_netsim::{Network, RunOptions, Summary};
use serde_json::{Value, json};

use crate::columns::u64s;
use crate::fabrics::{Fabric, HEADROOM_BYTES};

const SENDERS: usize = 7;
const PACKETS: u64 = 200;

/// Seven senders to one host, whose queue holds eight packets; what finds it full is dropped.
fn incast(receiver: &Value) -> Network {
    incast_over(receiver, 8)
}

/// The same with a queue of so many packets.
fn incast_over(receiver: &Value, queue_pkts: u64) -> Network {
    let flows: Vec<_> = (1..=SENDERS).map(|src| (src, 0, 1_000 * PACKETS, 0)).collect();
    let fabric = Fabric {
        program: "trim.p4",
        hosts_at: &[0; SENDERS + 1],
        trunks: &[],
        next: |_, to| to,
        buffer_bytes: 16 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[],
        cc: r#"{"name":"fixed"}"#,
        more: json!({"recovery": "selective_repeat", "rto_ns": 100_000, "receiver": receiver}),
        flows: &flows,
        record: json!({}),
        stop_ns: 50_000_000,
    };
    fabric.build_with(|spec| {
        for port in spec["switches"][0]["ports"].as_array_mut().expect("ports") {
            port["queue_capacity_bytes"] = json!(queue_pkts * 1_064);
        }
    })
}

fn run(network: &mut Network) -> Summary {
    network.run(RunOptions::default()).expect("few events");
    let balance = network.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    let summary = network.summary();
    assert_eq!(summary.flows_completed, SENDERS as u64, "{summary:?}");
    summary
}

/// Nobody hears of a packet that is dropped: its sender's timeout finds it.
#[test]
fn flows_end_without_trimming_too() {
    for name in ["ndp", "eqds", "rccc"] {
        let mut network = incast(&json!({"name": name}));
        run(&mut network);
        let results = network.results();
        assert!(u64s(&results, "flows", "timeouts").iter().sum::<u64>() > 0, "{name}");
    }
}

/// What leaves is what is let leave: at half of the line's rate all data takes twice as long.
#[test]
fn the_pull_rate_is_that_of_the_data() {
    for name in ["ndp", "eqds", "rccc"] {
        let [full, half] = [1.0, 0.5].map(|rate| {
            let receiver = json!({"name": name, "first_window_packets": 10, "pull_rate": rate});
            let mut network = incast_over(&receiver, 1_000);
            run(&mut network);
            let ends = u64s(&network.results(), "flows", "finish_ns");
            ends.iter().copied().max().expect("flows")
        });
        assert!((1.9..2.1).contains(&(half as f64 / full as f64)), "{name}: {full} and {half}");
    }
}
