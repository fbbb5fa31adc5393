//! Receivers that let senders send, on a star with the project's own program (docs/algorithms/receivers.md).

use p4cc_netsim::{Network, RunOptions, Summary};
use serde_json::{Value, json};

use crate::columns::u64s;
use crate::fabrics::{Fabric, HEADROOM_BYTES};

const SENDERS: usize = 7;
const PACKETS: u64 = 200;

/// Seven senders to one host, whose queue holds eight packets; what finds it full is dropped.
fn incast(receiver: &Value) -> Network {
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
            port["queue_capacity_bytes"] = json!(8 * 1_064);
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
fn ndp_ends_without_trimming_too() {
    let mut network = incast(&json!({"name": "ndp"}));
    run(&mut network);
    let results = network.results();
    assert!(u64s(&results, "flows", "timeouts").iter().sum::<u64>() > 0);
}
