//! Headers of the user's program in data packets: on a wire by hand, echoed, beside SACK, on several threads.

use p4cc_netsim::{Network, Results, RunOptions};
use serde_json::{Value, json};

use crate::columns::shown;
use crate::fabrics::{Fabric, HEADROOM_BYTES};
use crate::threads::assert_same;
use crate::wire::two_hosts;

/// Four bytes behind IPv4, told by its protocol number; receivers echo them.
fn tag(echo: bool) -> Value {
    json!({
        "after": "ipv4", "announce": {"protocol": 150}, "echo": echo,
        "headers": [{"name": "tag_t", "fields": [["kind", 4], ["number", 28]], "bytes": [0x51, 0, 0, 7]}],
    })
}

/// A flow between two hosts on one 10 Gb/s wire of 50 us each way, run to its end.
fn pair(headers: &Value, record: &Value, sender: &Value, size_bytes: u64) -> Network {
    let loss = if size_bytes > 100_000 { 0.02 } else { 0.0 };
    let spec = two_hosts(
        loss,
        &json!({
            "algorithms": {"sender": sender},
            "flows": [{"id": 7, "src": "a", "dst": "b", "size_bytes": size_bytes, "algorithm": "sender"}],
            "headers": headers,
            "record": {"headers": record},
            "stop_ns": 100_000_000,
        }),
    );
    let mut network = Network::build(spec, 1).expect("a right description");
    network.run(RunOptions::default()).expect("few events");
    let balance = network.packet_balance();
    assert!(balance.is_even() && balance.refused == 0, "{balance:?}");
    network
}

fn column(results: &Results, table: &str, column: &str) -> Vec<String> {
    shown(results.table(table).and_then(|table| table.column(column)).expect("a column"))
}

const ALL: fn() -> Value = || json!({"every": 1, "max_packets": 2_000});

#[test]
fn a_segment_carries_the_headers_and_its_ack_echoes_them() {
    let results = pair(&tag(true), &ALL(), &json!({}), 1_436).results();
    // 1,504 B take 1,203.2 ns and 68 B take 54.4 ns at 10 Gb/s, 4 B more than without on either way.
    assert_eq!(column(&results, "flows", "received_ns"), ["51203"]);
    assert_eq!(column(&results, "flows", "finish_ns"), ["101257"]);
    assert_eq!(column(&results, "headers", "time_ns"), ["51203", "51203", "101257", "101257"]);
    assert_eq!(column(&results, "headers", "side"), ["receiver", "receiver", "sender", "sender"]);
    assert_eq!(column(&results, "headers", "flow_id"), ["7"; 4]);
    assert_eq!(column(&results, "headers", "field"), ["kind", "number", "kind", "number"]);
    assert_eq!(column(&results, "headers", "value"), ["5", "16777223", "5", "16777223"]);
}

#[test]
fn an_ack_without_an_echo_is_as_long_as_ever() {
    let results = pair(&tag(false), &ALL(), &json!({}), 1_436).results();
    assert_eq!(column(&results, "flows", "finish_ns"), ["101254"]);
    assert_eq!(column(&results, "headers", "side"), ["receiver", "receiver"]);
}

#[test]
fn losses_and_sack_blocks_go_with_an_echo() {
    let sender = json!({"recovery": "sack", "rto_min_ns": 1_000_000, "rto_init_ns": 1_000_000});
    let results = pair(&tag(true), &json!({"every": 10, "max_packets": 20}), &sender, 400_000).results();
    assert_eq!(results.summary.flows_completed, 1);
    assert!(column(&results, "flows", "retransmitted_pkts") != ["0"]);
    assert_eq!(column(&results, "headers", "header").len(), 2 * 40, "20 packets of each host");
    assert!(results.summary.rows_left_out > 0);
}

#[test]
fn threads_give_the_results_of_one() {
    let flows = [(0, 3, 400_000, 0), (3, 0, 400_000, 5_000), (1, 3, 400_000, 9_000)];
    let fabric = Fabric {
        program: "int_hpcc.p4",
        hosts_at: &[0, 0, 1, 2],
        trunks: &[(0, 1), (1, 2)],
        next: |from, to| if from < to { from + 1 } else { from - 1 },
        buffer_bytes: 1 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc: r#"{"name":"timely","beta":0}"#,
        more: json!({}),
        flows: &flows,
        record: json!({"headers": ALL()}),
        stop_ns: 400_000,
    };
    let base = fabric.build_with(|spec| {
        spec["headers"] = tag(true);
        spec["stop_when_complete"] = json!(false);
    });
    assert!(assert_same(&base) > 50, "threads had nothing to do");
    let mut run = base.fork(1).expect("a network that was built");
    run.run(RunOptions::default()).expect("few events");
    let results = run.results();
    assert_eq!(results.summary.flows_completed, 3);
    let sides = column(&results, "headers", "side");
    let rows = |of: &str| sides.iter().filter(|side| *side == of).count();
    // Two fields of 400 packets of each flow, and of those that are sent again.
    let (receiver, sender) = (rows("receiver"), rows("sender"));
    assert!(receiver >= sender && sender >= 2 * 3 * 400, "{receiver} {sender}");
}
