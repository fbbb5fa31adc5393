//! What is wrong with a description is said with path, cause and remedy.

use p4cc_netsim::{Network, NetworkSpec};
use serde_json::{Value, json};

fn right() -> Value {
    json!({
        "switches": [{"name": "s", "device_id": 1, "ports": [
            {"port": 1, "queue_capacity_pkts": 10}, {"port": 2, "queue_capacity_pkts": 10},
        ]}],
        "hosts": [
            {"name": "a", "mac": "02:00:00:00:00:0a", "ipv4": "10.0.0.1"},
            {"name": "b", "mac": "02:00:00:00:00:0b", "ipv4": "10.0.0.2"},
        ],
        "links": [
            {"a": {"node": "a"}, "b": {"node": "s", "port": 1}, "rate_bps": 1_000_000, "delay_ns": 1},
            {"a": {"node": "b"}, "b": {"node": "s", "port": 2}, "rate_bps": 1_000_000, "delay_ns": 1},
        ],
        "algorithms": {"reno": {}},
        "flows": [{"id": 1, "src": "a", "dst": "b", "size_bytes": 1000, "algorithm": "reno"}],
        "stop_ns": 1_000_000,
        "limits": {"max_events": 1000},
    })
}

fn message(change: impl FnOnce(&mut Value)) -> String {
    let mut spec = right();
    change(&mut spec);
    let spec = match NetworkSpec::from_json(&spec.to_string()) {
        Ok(spec) => spec,
        Err(error) => return error.to_string(),
    };
    Network::build(spec, 1).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
}

#[test]
fn every_error_names_path_cause_and_remedy() {
    assert_eq!(message(|_| {}), "fine");
    check([
        (
            "/switches/0/ports/0/queue_capacity_pkts",
            json!(0),
            "switches[0].ports[0].queue_capacity_pkts: 0 packets",
        ),
        (
            "/switches/0/ports/0/queue_capacity_pkts",
            json!(-1),
            "switches[0].ports[0].queue_capacity_pkts: invalid value",
        ),
        ("/switches/0/ports/0/port", json!(600), "links[0].b.port: switch \"s\" has no port 1"),
        ("/switches/0/pass_limit", json!(0), "switches[0].pass_limit: 0 copies and passes"),
        (
            "/faults",
            json!([{"between": ["a", "b"], "down_ns": 1}]),
            "faults[0].between: there is no link between \"a\" and \"b\"",
        ),
        (
            "/faults",
            json!([{"between": ["a", "s"], "down_ns": 5, "up_ns": 5}]),
            "faults[0].up_ns: 5 is out of range",
        ),
        (
            "/faults",
            json!([{"between": ["a", "s"], "down_ns": 5}, {"between": ["s", "a"], "down_ns": 9, "up_ns": 10}]),
            "faults[1].down_ns: the link is down already, by faults[0]",
        ),
        ("/faults", json!([{"switch": "a", "down_ns": 1}]), "faults[0].switch: there is no switch \"a\""),
        (
            "/faults",
            json!([{"switch": "s", "between": ["a", "s"], "down_ns": 1}]),
            "faults[0]: it is a link's or a switch's",
        ),
        (
            "/faults",
            json!([{"switch": "s", "down_ns": 1}, {"switch": "s", "down_ns": 9, "up_ns": 10}]),
            "faults[1].down_ns: the switch is down already, by faults[0]",
        ),
        ("/faults", json!([{"between": ["a"], "down_ns": 5}]), "faults[0].between: invalid length 1"),
        ("/switches/0/device_id", json!(0), "switches[0].device_id: 0 is not a P4Runtime device id"),
        ("/switches/0/name", json!("a"), "hosts[0].name: the name \"a\" is used twice"),
        ("/hosts/0/mac", json!("02:00"), "hosts[0].mac: \"02:00\" is not a MAC address"),
        ("/hosts/0/ipv4", json!("10.0.0.2"), "hosts[1].ipv4: 10.0.0.2 is the address of \"a\" too"),
        ("/hosts/0/ipv4", json!("10.0.0"), "hosts[0].ipv4: invalid IPv4 address"),
        ("/links/0/rate_bps", json!(0), "links[0].rate_bps: 0 is out of range"),
        ("/links/0/loss", json!(1.5), "links[0].loss: 1.5 is not a share of packets"),
        ("/links/0/framing_bytes", json!(999), "links[0].framing_bytes: 999 is out of range"),
        ("/links/0/b/port", json!(2), "links[1].b: another link uses s:2"),
        ("/links/0/b/port", json!(3), "links[0].b.port: switch \"s\" has no port 3"),
        ("/links/0/a/node", json!("x"), "links[0].a.node: there is no switch or host \"x\""),
        ("/links/0/a/port", json!(1), "links[0].a.port: the last interface of host \"a\" is port 0"),
        ("/flows/0/dst", json!("a"), "flows[0].dst: \"a\" would send to itself"),
        ("/flows/0/dst", json!("s"), "flows[0].dst: \"s\" is a switch"),
        (
            "/flows/0/algorithm",
            json!("cubic"),
            "flows[0].algorithm: there is no algorithm \"cubic\"; name one of: reno",
        ),
        ("/flows/0/priority", json!(8), "flows[0].priority: 8 is out of range"),
        ("/stop_ns", json!(0), "stop_ns: 0 is out of range"),
        ("/host_jitter_ns", json!(3_600_000_000_001_u64), "host_jitter_ns: 3600000000001 is out of range"),
    ]);
}

/// Sets each value and looks at the message.
fn check<const N: usize>(cases: [(&str, Value, &str); N]) {
    for (pointer, value, want) in cases {
        let got = message(|spec| set(spec, pointer, value));
        assert!(got.starts_with(want), "{pointer}: {got}");
        assert!(got.contains("; "), "a remedy is missing: {got}");
    }
}

/// One source of packets of the user's own, with a mistake.
fn own(wrong: &Value) -> Value {
    let mut source = json!({"name": "p", "host": "a", "frames": [{"hex": "00"}], "count": 1, "end_ns": 9});
    for (key, value) in wrong.as_object().expect("an object") {
        source[key] = value.clone();
    }
    json!([source])
}

#[test]
fn every_error_of_own_packets_names_path_cause_and_remedy() {
    check([
        ("/packets", own(&json!({"host": "s"})), "packets[0].host: \"s\" is a switch"),
        ("/packets", own(&json!({"frames": []})), "packets[0].frames: 0 is out of range"),
        ("/packets", own(&json!({"count": 2})), "packets[0].count: 2 packets are due at one instant"),
        (
            "/packets",
            own(&json!({"frames": [{"hex": "0x"}]})),
            "packets[0].frames[0].hex: these are not bytes",
        ),
        (
            "/packets",
            own(&json!({"frames": [{"hex": ""}]})),
            "packets[0].frames[0].zeros: the packet has 0 bytes",
        ),
        (
            "/packets",
            own(&json!({"frames": [{"hex": "00", "zeros": 65_535}]})),
            "packets[0].frames[0].zeros: the packet has 65536 bytes",
        ),
        ("/packets", own(&json!({"priority": 8})), "packets[0].priority: 8 is out of range"),
        (
            "/record",
            json!({"packets_received": {"hosts": ["x"], "snap_bytes": 1, "max_packets": 1}}),
            "record.packets_received.hosts[0]: there is no switch or host \"x\"",
        ),
        (
            "/record",
            json!({"packets_received": {"hosts": ["a", "b"], "snap_bytes": 65_535, "max_packets": 1_000_000}}),
            "record.packets_received.max_packets: 2 hosts may keep 131198000000 bytes",
        ),
        (
            "/record",
            json!({"headers": {"every": 1, "max_packets": 1}}),
            "record.headers: packets carry no headers",
        ),
        ("/headers", json!({"after": "ipv4", "headers": []}), "headers.headers: 0 headers"),
        (
            "/headers",
            json!({"after": "udp", "headers": [{"name": "t", "fields": [["x", 8]], "bytes": [1]}]}),
            "headers.announce: it does not fit the position of the headers",
        ),
    ]);
}

#[test]
fn every_error_of_captures_names_path_cause_and_remedy() {
    let pcap = |ends: &[(&str, u32)], snap_bytes: u32, max_bytes: u64| {
        let ends: Vec<Value> = ends.iter().map(|(node, port)| json!({"node": node, "port": port})).collect();
        json!({"pcap": {"ends": ends, "snap_bytes": snap_bytes, "max_bytes": max_bytes}})
    };
    let long =
        json!({"pcap": {"ends": [], "snap_bytes": 1, "max_bytes": 200_000, "comment": "x".repeat(4_097)}});
    let twice = [("a", 0), ("s", 1), ("a", 0)];
    check([
        ("/record", pcap(&[("x", 0)], 1, 200_000), "record.pcap.ends[0]: no link ends at x:0"),
        ("/record", pcap(&[("a", 1)], 1, 200_000), "record.pcap.ends[0]: no link ends at a:1"),
        (
            "/record",
            pcap(&twice, 1, 200_000),
            "record.pcap.ends[2]: no link ends at a:0, or it was named before",
        ),
        ("/record", pcap(&[], 0, 200_000), "record.pcap.snap_bytes: 0 is out of range"),
        ("/record", pcap(&[], 65_536, 200_000), "record.pcap.snap_bytes: 65536 is out of range"),
        ("/record", pcap(&[], 1, 99_999), "record.pcap.max_bytes: 99999 is out of range"),
        (
            "/record",
            pcap(&[("a", 0), ("b", 0)], 1, 3 << 30),
            "record.pcap.max_bytes: 2 captures may take 6442450944 bytes",
        ),
        ("/record", long, "record.pcap.comment: 4097 is out of range"),
    ]);
}

#[test]
fn every_error_of_a_trace_names_path_cause_and_remedy() {
    let trace = |packets: Value, max_packets: u32, max_steps: u32| {
        (
            "/record",
            json!({"trace": {"packets": packets, "max_packets": max_packets, "max_steps": max_steps}}),
        )
    };
    let one = |wrong: Value| {
        let mut one = json!({"flow": 1, "first": 1, "last": 2});
        for (key, value) in wrong.as_object().expect("an object") {
            one[key] = value.clone();
        }
        trace(json!([one]), 1, 1).1
    };
    let (at, none) = trace(json!([]), 1, 1);
    check([
        (at, none, "record.trace.packets: 0 is out of range"),
        (
            at,
            trace(json!([{"flow": 1, "first": 1, "last": 1}]), 10_001, 1).1,
            "record.trace.max_packets: 10001",
        ),
        (at, trace(json!([{"flow": 1, "first": 1, "last": 1}]), 1, 0).1, "record.trace.max_steps: 0 is"),
        (at, one(json!({"flow": 9})), "record.trace.packets[0].flow: there is no flow 9 in this run"),
        (at, one(json!({"first": 3})), "record.trace.packets[0].last: 2 is out of range"),
        (at, one(json!({"first": 0})), "record.trace.packets[0].first: 0 is out of range"),
        (at, one(json!({"host": "a"})), "record.trace.packets[0].flow: it names no sender, or two"),
        (at, one(json!({"flow": null, "host": "s"})), "record.trace.packets[0].host: \"s\" is a switch"),
        (
            at,
            one(json!({"flow": null, "host": "x"})),
            "record.trace.packets[0].host: there is no switch or host",
        ),
    ]);
}

/// Sets a value, adding the last key if it is not there.
fn set(spec: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    spec.pointer_mut(parent).expect("a parent")[key] = value;
}

#[test]
fn missing_and_repeated_things_are_found() {
    let got = message(|spec| spec["flows"] = json!([spec["flows"][0], spec["flows"][0]]));
    assert!(got.starts_with("flows: flow id 1 is used twice"), "{got}");
    let got = message(|spec| spec["links"] = json!([spec["links"][0]]));
    assert!(got.starts_with("switches[0].ports[1]: port 2 of switch \"s\" has no link"), "{got}");
    let got = message(|spec| spec["algorithms"]["reno"] = json!({"cc": {"slow_start": {"name": "gst"}}}));
    assert!(got.starts_with("algorithms.reno.cc.slow_start.k: "), "{got}");
}
