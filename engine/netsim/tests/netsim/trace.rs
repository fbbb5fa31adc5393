//! Packets that are followed: every hop with its steps, drops and losses with their places, and results as
//! without a trace.

use p4cc_netsim::{Network, Results, RunOptions, Trace};
use serde_json::{Value, json};

use crate::fabrics::{Fabric, HEADROOM_BYTES};
use crate::support::{Incast, incast};

/// A line of three switches; h0 sends to h1 at its other end.
fn line(trace: &Value, change: impl FnOnce(&mut Value)) -> Network {
    let fabric = Fabric {
        program: "int_hpcc.p4",
        hosts_at: &[0, 2],
        trunks: &[(0, 1), (1, 2)],
        next: |from, to| if from < to { from + 1 } else { from - 1 },
        buffer_bytes: 8 * (HEADROOM_BYTES + 4_096) + 30_000,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[],
        cc: r#"{"name":"hpcc"}"#,
        more: json!({"rto_ns": 200_000}),
        flows: &[(0, 1, 20_000, 1_000)],
        record: json!({"trace": trace}),
        stop_ns: 2_000_000,
    };
    fabric.build_with(change)
}

fn run(network: &mut Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    network.results()
}

fn lines(trace: &Trace) -> Vec<Value> {
    trace.lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn asked(packets: &Value) -> Value {
    json!({"packets": packets, "max_packets": 100, "max_steps": 10_000})
}

#[test]
fn a_packet_and_its_ack_are_followed_from_host_to_host() {
    let packets = json!([
        {"flow": 1, "first": 2, "last": 2},
        {"flow": 1, "acks": true, "first": 1, "last": 1},
    ]);
    let found = run(&mut line(&asked(&packets), |_| {}));
    let trace = found.trace.as_ref().expect("it was asked for");
    assert!(trace.sent[0] >= 14 && trace.sent[1] > 0, "{:?}", trace.sent);
    assert_eq!((trace.packets_left_out, trace.steps_left_out), (0, 0));
    let lines = lines(trace);
    for (packet, way, kind) in
        [(1, ["h0", "s0", "s1", "s2", "h1"], "data"), (2, ["h1", "s2", "s1", "s0", "h0"], "ack")]
    {
        let of: Vec<&Value> = lines.iter().filter(|line| line["packet"] == packet).collect();
        assert!(of.is_sorted_by_key(|line| line["time_ns"].as_u64()));
        let mut nodes: Vec<&str> = of.iter().filter_map(|line| line["node"].as_str()).collect();
        nodes.dedup();
        assert_eq!(nodes, way);
        assert_eq!((&of[0]["step"], &of[0]["kind"]), (&json!("leaves_host"), &json!(kind)));
        assert_eq!(of.last().map(|line| &line["step"]), Some(&json!("delivered")));
        for switch in &way[1..4] {
            let steps: Vec<&str> = of
                .iter()
                .filter(|line| line["node"] == *switch)
                .filter_map(|line| line["step"].as_str())
                .filter(|step| ["received", "enqueued", "dequeued", "sent"].contains(step))
                .collect();
            assert_eq!(steps, ["received", "enqueued", "dequeued", "sent"]);
        }
    }
    // What the route says, in the order of its parameters.
    let text =
        trace.lines.iter().find(|line| line.contains(r#""step":"table","table":"ingress.forward.ipv4_lpm""#));
    let table =
        text.or_else(|| trace.lines.iter().find(|line| line.contains("ipv4_lpm"))).expect("the route");
    assert!(table.contains(r#""key":{"hdr.ipv4.dst_addr":"0xa000002"},"hit":true"#), "{table}");
    let action =
        lines.iter().find(|line| line["action"].as_str().is_some_and(|name| name.ends_with("set_next_hop")));
    assert_eq!(action.expect("the action")["args"]["port"], "0x2");
    assert!(trace.lines[0].starts_with(r#"{"packet":1,"time_ns":"#), "{}", trace.lines[0]);
}

#[test]
fn a_trace_changes_no_result_and_runs_on_one_thread() {
    let packets = json!([{"flow": 1, "first": 1, "last": 1_000}, {"host": "h1", "first": 1, "last": 9}]);
    let mut traced = line(&asked(&packets), |_| {});
    assert_eq!(traced.one_thread_reason(), Some("packets are followed from switch to switch"));
    let mut spec = traced.spec().clone();
    spec.record.trace = None;
    let mut plain = traced.with_spec(spec).expect("the same switches");
    let (traced, plain) = (run(&mut traced), run(&mut plain));
    assert_eq!(traced.summary, plain.summary);
    assert_eq!(traced.tables, plain.tables);
    assert!(plain.trace.is_none());
    assert!(traced.trace.expect("it was asked for").lines.len() > 500);
}

#[test]
fn what_is_too_much_is_counted() {
    let trace =
        json!({"packets": [{"host": "h0", "first": 3, "last": 8}], "max_packets": 4, "max_steps": 10});
    let found = run(&mut line(&trace, |_| {})).trace.expect("it was asked for");
    assert_eq!(found.packets_left_out, 2);
    assert!(found.steps_left_out > 50);
    let lines = lines(&found);
    let numbers: Vec<&Value> =
        lines.iter().filter(|line| line["step"] == "leaves_host").map(|line| &line["number"]).collect();
    assert_eq!(numbers, [3, 4, 5, 6]);
    assert_eq!(lines.iter().filter(|line| line["node"] == "s1").count(), 10);
}

#[test]
fn a_loss_names_its_link_and_a_drop_its_queue() {
    let packets = asked(&json!([{"flow": 1, "first": 1, "last": 100}]));
    let found = run(&mut line(&packets, |description| description["links"][2]["loss"] = json!(0.9)));
    let trace = found.trace.expect("it was asked for");
    let lost = lines(&trace).into_iter().find(|line| line["step"] == "lost").expect("most are lost");
    assert_eq!((&lost["node"], &lost["link"]), (&json!("s0"), &json!("s0:2->s1:1")));

    let record = asked(&json!([{"flow": 2, "first": 1, "last": 100}]));
    let star = Incast {
        senders: 8,
        size_bytes: 30_000,
        start_jitter_ns: 0,
        buffer_pkts: 3,
        k: 3,
        k_dc: 6,
        algorithm: "{}",
        record: &json!({"trace": record}).to_string(),
    };
    let found = run(&mut incast(&star));
    assert!(found.summary.tail_drops > 0);
    let trace = found.trace.expect("it was asked for");
    let dropped = lines(&trace).into_iter().find(|line| line["step"] == "dropped").expect("a tail drop");
    assert_eq!(
        (&dropped["cause"], &dropped["port"], &dropped["priority"]),
        (&json!("queue_full"), &json!(1), &json!(0))
    );
}
