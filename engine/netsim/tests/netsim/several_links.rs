//! Hosts with several links: what moves when one of them fails, cards and traces of the whole host, refusals.

use p4cc_netsim::{Network, NetworkSpec, Results, RunOptions};
use serde_json::{Value, json};

use crate::columns::{texts, u64s};
use crate::fabrics::{DELAY_NS, Fabric, HEADROOM_BYTES, RATE_BPS};

/// Gives a host of a fabric's description one more link, to a port that its switch has not yet.
pub fn add_link(spec: &mut Value, host: usize, switch: usize, port: u32) {
    let place = &mut spec["hosts"][host]["interfaces"];
    let further = place.as_array().map_or(0, Vec::len) + 1;
    *place = json!(vec![json!({}); further]);
    let mut like_others = spec["switches"][switch]["ports"][0].clone();
    like_others["port"] = json!(port);
    spec["switches"][switch]["ports"].as_array_mut().expect("ports").push(like_others);
    spec["links"].as_array_mut().expect("links").push(json!({
        "a": {"node": format!("h{host}"), "port": further}, "b": {"node": format!("s{switch}"), "port": port},
        "rate_bps": RATE_BPS, "delay_ns": DELAY_NS,
    }));
}

/// `h0 - s0 - s1 - h1`, with a second link `h0 - s1` that is the way where the first is down. Switches send
/// to h0 by s0.
fn fabric<'a>(more: Value, flows: &'a [(usize, usize, u64, u64)]) -> Fabric<'a> {
    Fabric {
        program: "ack_priority.p4",
        hosts_at: &[0, 1],
        trunks: &[(0, 1)],
        next: |_, to| to,
        buffer_bytes: 4 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc: r#"{"name":"fixed"}"#,
        more,
        flows,
        record: json!({}),
        stop_ns: 20_000_000,
    }
}

fn two_links(spec: &mut Value) {
    add_link(spec, 0, 1, 3);
    spec["hosts"][0]["ways"] = json!([{"interfaces": [[0], [1]]}]);
}

/// The first link of h0 goes down.
fn fault(spec: &mut Value, down_ns: u64) {
    spec["faults"] = json!([{"between": ["h0", "s0"], "down_ns": down_ns}]);
}

fn run(network: &mut Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    let balance = network.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    network.results()
}

/// A cell of the row of a link.
fn of_link(results: &Results, link: &str, column: &str) -> u64 {
    let place = texts(results, "links", "link").iter().position(|name| name == link).expect("a link");
    u64s(results, "links", column)[place]
}

/// Ten packets come within 10 us, their ACKs leave the card after 100 us: by then the link that they would
/// have taken is down, and no timeout would send data again.
#[test]
fn answers_in_the_card_leave_by_a_link_that_is_up() {
    let flows = [(1, 0, 10_000, 0)];
    let results = run(&mut fabric(json!({"ack_processing_ns": 100_000}), &flows).build_with(|spec| {
        two_links(spec);
        fault(spec, 50_000);
    }));
    assert_eq!(results.summary.flows_completed, 1, "{:?}", results.summary);
    // Ten ACKs of 64 B.
    assert_eq!(["h0:0->s0:1", "h0:1->s1:3"].map(|link| of_link(&results, link, "bytes")), [0, 640]);
    assert!((100_000..120_000).contains(&results.summary.end_ns), "{}", results.summary.end_ns);
}

/// The receiver takes nothing until 1 ms, so pauses reach the sender's first link, which then fails: the
/// pauses end with it, and nothing leaves by it any more.
#[test]
fn what_a_pause_held_does_not_leave_by_the_dead_link() {
    let flows = [(0, 1, 10_000_000, 0)];
    let results = run(&mut fabric(json!({"rto_ns": 3_000_000}), &flows).build_with(|spec| {
        two_links(spec);
        fault(spec, 500_000);
        spec["slow_receivers"] = json!([{
            "host": "h1", "rate_bps": 0, "end_ns": 1_000_000, "buffer_bytes": 400_000,
            "lossless_priorities": [3], "xoff_bytes": 200_000, "xon_bytes": 190_000,
        }]);
    }));
    let (nodes, paused) = (texts(&results, "pauses", "node"), u64s(&results, "pauses", "paused_ns"));
    let of_sender: u64 = nodes.iter().zip(paused).filter(|(node, _)| *node == "h0").map(|(_, ns)| ns).sum();
    assert!(of_sender > 100_000, "{of_sender}");
    assert_eq!(of_link(&results, "h0:0->s0:1", "lost_pkts"), 0);
    // Its ACKs are lost: switches send to h0 by the link that is down.
    assert!(of_link(&results, "h0:1->s1:3", "bytes") > 1_000_000);
}

/// Packets of a host are counted over all of its links.
#[test]
fn a_trace_of_a_host_follows_all_its_links() {
    let flows = [(0, 1, 5_000, 0), (0, 1, 5_000, 0)];
    let trace = json!({
        "packets": [{"host": "h0", "first": 1, "last": 100}], "max_packets": 100, "max_steps": 10_000,
    });
    let fabric = Fabric { record: json!({"trace": trace}), ..fabric(Value::Null, &flows) };
    let results = run(&mut fabric.build_with(|spec| {
        two_links(spec);
        spec["flows"][1]["interface"] = json!(1);
    }));
    assert_eq!(of_link(&results, "h0:1->s1:3", "bytes"), 5 * 1_064);
    let trace = results.trace.expect("it was asked for");
    assert_eq!(trace.sent, [10]);
    let lines = trace.lines.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut left: Vec<(u64, u64)> = lines
        .filter(|line| line["step"] == "leaves_host")
        .map(|line| (line["flow_id"].as_u64().expect("a flow"), line["number"].as_u64().expect("a number")))
        .collect();
    left.sort_unstable();
    assert_eq!(left, [1, 2].into_iter().flat_map(|flow| (1..=5).map(move |n| (flow, n))).collect::<Vec<_>>());
}

/// An interface that the sender does not have is refused with its number, wherever hosts have one link too.
#[test]
fn an_interface_that_is_not_there_is_refused() {
    let flows = [(0, 1, 5_000, 0), (1, 0, 5_000, 0)];
    for (has_two, flow, port) in [(false, 0, 7), (true, 0, 2), (true, 0, 300), (true, 1, 1)] {
        let mut spec = Value::Null;
        fabric(Value::Null, &flows).build_with(|description| spec = description.clone());
        if has_two {
            two_links(&mut spec);
        }
        spec["flows"][flow]["interface"] = json!(port);
        let spec = NetworkSpec::from_json(&spec.to_string()).expect("JSON");
        let error = Network::build(spec, 1).err().expect("refused").to_string();
        assert!(error.contains(&format!("flows[{flow}].interface")), "{error}");
        assert!(error.contains(&format!("has no port {port}")), "{error}");
    }
}
