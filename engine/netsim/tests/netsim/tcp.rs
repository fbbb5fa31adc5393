//! Flows over TCP, and over IPv6: times that a pencil gives, the results of p4cc's own packets, losses,
//! limits.

use p4cc_netsim::{Column, Network, NetworkSpec, Results, RunOptions};
use p4cc_transport::wire::{TcpFlags, TcpPacket};
use serde_json::{Value, json};

use crate::columns::{integers, texts};
use crate::support::{Incast, incast_with};
use crate::wire::two_hosts;

/// Two hosts on one 10 Gb/s wire of 50 us each way.
fn pair(sender: Value, flows: Value, loss: f64) -> NetworkSpec {
    two_hosts(
        loss,
        &json!({
            "algorithms": {"sender": sender},
            "flows": flows,
            "record": {"events": true},
            "stop_ns": 20_000_000_000_u64,
        }),
    )
}

fn tcp(more: Value) -> Value {
    let mut sender = json!({"packets": "tcp", "mss_bytes": 1_448});
    for (key, value) in more.as_object().into_iter().flatten() {
        sender[key] = value.clone();
    }
    sender
}

fn flow(id: u32, size_bytes: u64) -> Value {
    json!({"id": id, "src": "a", "dst": "b", "size_bytes": size_bytes, "algorithm": "sender"})
}

fn ran(spec: NetworkSpec) -> Network {
    let mut network = Network::build(spec, 1).expect("a right description");
    network.run(RunOptions::default()).expect("few events");
    let balance = network.packet_balance();
    assert!(balance.is_even() && balance.refused == 0, "{balance:?}");
    network
}

/// What reached hosts: when, at which, and the segment.
fn segments(spec: NetworkSpec) -> Vec<(u64, usize, TcpPacket)> {
    let mut network = Network::build(spec, 1).expect("a right description");
    let (sender, receiver) = std::sync::mpsc::channel();
    network.set_tap(Box::new(move |at, host, packet| {
        let segment = TcpPacket::decode(&packet.head, packet.zeros as usize).expect("TCP");
        sender.send((at.as_ns(), host, segment)).expect("the test listens");
    }));
    network.run(RunOptions::default()).expect("few events");
    drop(network);
    receiver.into_iter().collect()
}

#[test]
fn a_segment_takes_a_round_trip_more_for_the_handshake() {
    let network = ran(pair(tcp(json!({})), json!([flow(7, 1_448)]), 0.0));
    let results = network.results();
    // SYN and SYN-ACK have 60 B, 48 ns each; the ACK of 52 B, 41.6 ns, leaves before 1,500 B, 1,200 ns.
    assert_eq!(integers(&results, "flows", "received_ns"), [151_337]);
    assert_eq!(integers(&results, "flows", "finish_ns"), [201_379]);
    assert_eq!(integers(&results, "flows", "fct_ns"), [201_379], "from SYN on");
}

/// An IPv6 header has 20 B more: 16 ns.
#[test]
fn flows_over_ipv6_take_the_time_of_their_bytes() {
    for (sender, received, finish) in [
        // 1,520 B take 1,216 ns and an ACK of 84 B 67.2 ns.
        (json!({"ip": 6}), 51_216, 101_283),
        // SYN and SYN-ACK of 80 B take 64 ns each, an ACK of 72 B 57.6 ns.
        (tcp(json!({"ip": 6})), 151_401, 201_459),
    ] {
        let size = if sender["packets"] == "tcp" { 1_448 } else { 1_436 };
        let results = ran(pair(sender, json!([flow(7, size)]), 0.0)).results();
        assert_eq!(integers(&results, "flows", "received_ns"), [received]);
        assert_eq!(integers(&results, "flows", "finish_ns"), [finish]);
    }
}

#[test]
fn a_connection_opens_sends_and_ends_in_both_directions() {
    let mut spec = pair(tcp(json!({})), json!([flow(7, 2_000)]), 0.0);
    spec.stop_when_complete = false;
    spec.stop_ns = 1_000_000_000;
    let seen = segments(spec);
    let flags = |bits: &[TcpFlags]| bits.iter().fold(TcpFlags::NONE, |all, bit| all | *bit);
    let (syn, ack, fin) = (TcpFlags::SYN, TcpFlags::ACK, TcpFlags::FIN);
    let shown: Vec<_> =
        seen.iter().map(|(_, host, one)| (*host, one.header.flags, one.header.payload_len)).collect();
    let expected = [
        (1, syn, 0),
        (0, flags(&[syn, ack]), 0),
        (1, ack, 0),
        (1, ack, 1_448),
        (0, ack, 0),
        (1, flags(&[ack, fin, TcpFlags::PSH]), 552),
        (0, ack, 0),
        (0, flags(&[ack, fin]), 0),
        (1, ack, 0),
    ];
    assert_eq!(shown, expected);
    let first = seen[0].2.header;
    assert_eq!((first.ports.src, first.ports.dst), (p4cc_transport::wire::source_port(7), 5_001));
    let last = seen[8].2.header;
    assert_eq!(last.seq.wrapping_sub(first.seq), 2_002, "SYN, the bytes, FIN");
    let other: Vec<_> = segments(pair(tcp(json!({})), json!([flow(8, 2_000)]), 0.0));
    assert_ne!(first.seq, other[0].2.header.seq, "each connection has its own initial numbers");
}

/// A switch between a line of 2 Gb/s from the sender and one of 1 Gb/s, whose queue marks and overflows.
fn bottleneck(sender: &Value, delay_ns: u64) -> Results {
    let star = Incast {
        senders: 1,
        size_bytes: 900 * sender["mss_bytes"].as_u64().expect("a size"),
        start_jitter_ns: 0,
        buffer_pkts: 30,
        k: 8,
        k_dc: 12,
        algorithm: &sender.to_string(),
        record: r#"{"events": true, "rtts": true}"#,
    };
    let mut network = incast_with(&star, |spec| {
        spec["links"][0]["rate_bps"] = json!(1_000_000_000);
        spec["links"][1]["rate_bps"] = json!(2_000_000_000);
        spec["links"][1]["delay_ns"] = json!(delay_ns);
    });
    network.run(RunOptions::default()).expect("few events");
    network.results()
}

/// Rows of the table of events without their times, positions in segments.
fn events(results: &Results, mss_bytes: f64) -> Vec<(String, String)> {
    let Some(Column::F64(values)) = results.table("events").and_then(|table| table.column("value")) else {
        panic!("no values")
    };
    texts(results, "events", "event")
        .into_iter()
        .zip(values.iter())
        .map(|(name, value)| {
            let is_position = ["timeout", "fast_retransmit", "partial_ack"].contains(&name.as_str());
            let value = value.map(|value| if is_position { value / mss_bytes } else { value });
            (name, format!("{value:.9?}"))
        })
        .collect()
}

/// Data packets of 1,500 B either way; an ACK of TCP has 12 B less, 96 ns at 1 Gb/s and 48 ns at 2 Gb/s,
/// which 72 ns more each way on the sender's line make up for. Then every event and every round-trip time is
/// that of p4cc's own packets, later by the handshake and its ACK in front of the first data.
#[test]
fn a_flow_over_tcp_is_one_over_our_header_after_the_handshake() {
    // SYN and SYN-ACK of 60 B on both lines, their delays, and the ACK of 52 B on the sender's.
    let later = 2 * (480 + 240) + 2 * (25_000 + 25_072) + 208;
    let dctcp = json!({"congestion_avoidance": {"name": "dctcp", "cwnd_min": 1},
        "slow_start": {"name": "gst", "k": 8}});
    let few = json!({"rwnd": 200, "rto_min_ns": 2_000_000, "rto_init_ns": 2_000_000});
    for (cc, recovery) in [(json!({}), "newreno"), (json!({}), "reno"), (dctcp, "newreno")] {
        let mut sender = few.clone();
        (sender["cc"], sender["recovery"], sender["mss_bytes"]) = (cc, json!(recovery), json!(1_436));
        let ours = bottleneck(&sender, 25_000);
        (sender["packets"], sender["mss_bytes"]) = (json!("tcp"), json!(1_448));
        let tcp = bottleneck(&sender, 25_072);
        assert_eq!(events(&tcp, 1_448.0), events(&ours, 1_436.0), "{recovery}");
        assert!(events(&ours, 1.0).len() > 3, "something happens");
        for (table, column, more) in [
            ("events", "time_ns", later),
            ("rtts", "time_ns", later),
            ("rtts", "rtt_ns", 0),
            ("rtts", "marked", 0),
            ("flows", "finish_ns", later),
            ("flows", "retransmitted_pkts", 0),
            ("flows", "timeouts", 0),
            ("flows", "marks_level1", 0),
            ("flows", "marks_level2", 0),
        ] {
            let expected: Vec<_> =
                integers(&ours, table, column).into_iter().map(|value| value + more).collect();
            assert_eq!(integers(&tcp, table, column), expected, "{recovery}: {table}.{column}");
        }
    }
}

/// A lost SYN costs the first timeout, and counts as one.
#[test]
fn handshakes_and_ends_survive_losses() {
    let sender = tcp(json!({"rto_min_ns": 1_000_000, "rto_init_ns": 1_000_000, "recovery": "sack"}));
    let flows: Vec<_> = (1..=60).map(|id| flow(id, 40_000)).collect();
    let mut spec = pair(sender, json!(flows), 0.1);
    spec.stop_when_complete = false;
    let results = ran(spec).results();
    assert_eq!(results.summary.flows_completed, 60);
    let slow = integers(&results, "flows", "fct_ns").into_iter().filter(|fct| *fct > 1_100_000).count();
    assert!(slow > 10, "{slow} flows lost a SYN or its answer, or a window");
    assert!(results.summary.timeouts >= slow as u64);
}

#[test]
fn connections_between_two_hosts_with_one_port_are_told_apart() {
    let flows: Vec<_> = (1..=3)
        .map(|id| {
            let mut flow = flow(id, 1_448 * u64::from(id));
            flow["src_port"] = json!(50_000);
            flow
        })
        .collect();
    let seen = segments(pair(tcp(json!({})), json!(flows), 0.0));
    let syn: Vec<_> = seen.iter().filter(|one| one.2.header.flags == TcpFlags::SYN).collect();
    let ports: Vec<_> = syn.iter().map(|one| (one.2.header.ports.src, one.2.header.ports.dst)).collect();
    assert_eq!(ports, [(50_000, 5_001), (50_000, 5_002), (50_000, 5_003)]);
    assert_eq!(ran(pair(tcp(json!({})), json!(flows), 0.0)).results().summary.flows_completed, 3);
}

/// A flow that its application closes, and one that it closes before it is open.
#[test]
fn applications_close_connections() {
    let closed = |id: u32, close_ns: u64| json!({"id": id, "src": "a", "dst": "b", "close_ns": close_ns, "algorithm": "sender"});
    let mut spec = pair(tcp(json!({})), json!([closed(1, 300_000), closed(2, 60_000)]), 0.0);
    spec.stop_ns = 1_000_000;
    let seen = segments(spec);
    let fins: Vec<_> = seen.iter().filter(|(_, _, one)| one.header.flags.has(TcpFlags::FIN)).collect();
    // One FIN of each direction of each connection; the second carried no data.
    assert_eq!(fins.len(), 4, "{fins:?}");
    assert!(fins.iter().all(|(_, _, one)| one.header.payload_len == 0));
}

#[test]
fn mistakes_are_named() {
    let error = |sender: Value, more: &dyn Fn(&mut NetworkSpec)| {
        let mut spec = pair(sender, json!([flow(7, 1_448)]), 0.0);
        more(&mut spec);
        Network::build(spec, 1).err().expect("refused").to_string()
    };
    let wide = error(tcp(json!({"rwnd": 65_536, "mss_bytes": 16_384})), &|_| {});
    assert!(wide.starts_with("algorithms.sender.rwnd: 65536 segments of 16384 B"), "{wide}");
    let headers = json!({"after": "ipv4", "announce": {"protocol": 150},
        "headers": [{"name": "tag_t", "fields": [["number", 32]], "bytes": [0, 0, 0, 7]}]});
    let both = error(tcp(json!({})), &|spec| {
        spec.headers = serde_json::from_value(headers.clone()).expect("a right description");
    });
    assert!(both.starts_with("headers: flows over TCP or IPv6 carry no headers"), "{both}");
    let same: Vec<_> = (0..44_152)
        .map(|id| {
            let mut flow = flow(id + 1, 1);
            flow["src_port"] = json!(50_000);
            flow
        })
        .collect();
    let many = Network::build(pair(tcp(json!({})), json!(same), 0.0), 1).err().expect("refused").to_string();
    assert!(many.contains("too many TCP connections from 10.0.0.1 port 50000 to 10.0.0.2"), "{many}");
}
