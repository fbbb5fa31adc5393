//! Captures: times and bytes that a pencil gives, counts of ports, limits, and any number of threads.

use std::collections::BTreeMap;

use p4cc_netsim::{Batching, Capture, Network, NetworkSpec, Results, RunOptions};
use serde_json::{Value, json};

use crate::fabrics::{DELAY_NS, Fabric, HEADROOM_BYTES};
use crate::threads::assert_same;

/// A packet of a file: time, whether it came in, length, bytes kept, whether it has a comment.
#[derive(Debug, PartialEq)]
struct Seen {
    at_ns: u64,
    is_inbound: bool,
    length: usize,
    bytes: Vec<u8>,
    has_comment: bool,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The packets of a file, and the counts of its last block: seen, left out.
fn read(file: &[u8]) -> (Vec<Seen>, [u64; 2]) {
    let (mut packets, mut counts, mut at) = (Vec::new(), [0; 2], 0);
    while at < file.len() {
        let block = &file[at..at + word(file, at + 4) as usize];
        let (time, half) = (|at| u64::from(word(block, at)) << 32 | u64::from(word(block, at + 4)), 4);
        match word(block, 0) {
            6 => {
                let kept = word(block, 20) as usize;
                let options = 28 + kept.next_multiple_of(4);
                packets.push(Seen {
                    at_ns: time(12),
                    is_inbound: word(block, options + half) == 1,
                    length: word(block, 24) as usize,
                    bytes: block[28..28 + kept].to_vec(),
                    has_comment: block.len() > options + 16,
                });
            }
            5 => counts = [24, 36].map(|at| u64::from(word(block, at))),
            _ => {}
        }
        at += block.len();
    }
    (packets, counts)
}

fn capture<'a>(results: &'a Results, node: &str, port: u32) -> &'a Capture {
    results.captures.iter().find(|one| one.node == node && one.port == port).expect("it is captured")
}

/// Two hosts on one 10 Gb/s wire of 50 us each way; `a` sends 100 B every 1,000 ns.
fn pair(loss: f64, pcap: &Value) -> Network {
    let host = |name: &str, last: u8| json!({"name": name, "mac": format!("02:00:00:00:00:0{last}"), "ipv4": format!("10.0.0.{last}")});
    let hex: String = (0..20).map(|byte| format!("{byte:02x}")).collect();
    let spec = json!({
        "switches": [],
        "hosts": [host("a", 1), host("b", 2)],
        "links": [{"a": {"node": "a"}, "b": {"node": "b"}, "rate_bps": 10_000_000_000_u64, "delay_ns": 50_000,
            "loss": loss, "framing_bytes": 24}],
        "packets": [{"name": "p", "host": "a", "frames": [{"hex": hex, "zeros": 80, "gap_ps": 1_000_000}],
            "count": 100, "end_ns": 1_000_000}],
        "record": {"pcap": pcap},
        "stop_ns": 100_000,
        "limits": {"max_events": 1_000_000},
    });
    let spec = NetworkSpec::from_json(&spec.to_string()).expect("a right description");
    let mut network = Network::build(spec, 1).expect("a right description");
    network.run(RunOptions::default()).expect("few events");
    network
}

fn both(snap_bytes: u32, max_bytes: u64) -> Value {
    json!({"ends": [{"node": "b"}, {"node": "a"}], "snap_bytes": snap_bytes, "max_bytes": max_bytes, "comment": "why"})
}

#[test]
fn a_packet_leaves_with_its_first_bit_and_arrives_with_its_last() {
    let results = pair(0.0, &both(30, 1_000_000)).results();
    let (sent, counts) = read(&capture(&results, "a", 0).bytes);
    assert_eq!((sent.len(), counts), (100, [100, 0]));
    let kept: Vec<u8> = (0..20).chain([0; 10]).collect();
    let first = Seen { at_ns: 0, is_inbound: false, length: 100, bytes: kept, has_comment: false };
    assert_eq!(sent[0], first);
    assert_eq!(sent[99].at_ns, 99_000);
    // 86 bytes behind Ethernet's header and 24 of framing take 88 ns. The run ends at 100 us.
    let (arrived, counts) = read(&capture(&results, "b", 0).bytes);
    assert_eq!((arrived.len(), counts), (50, [50, 0]));
    assert_eq!(arrived[0], Seen { at_ns: 50_088, is_inbound: true, ..first });
    assert_eq!(arrived[49].at_ns, 99_088);
    let file = String::from_utf8_lossy(&capture(&results, "a", 0).bytes).into_owned();
    assert!(["why, seed 1", "a:0->b:0"].iter().all(|text| file.contains(text)), "{file}");
}

#[test]
fn what_the_link_loses_left_with_a_comment_and_did_not_arrive() {
    let results = pair(0.5, &both(30, 1_000_000)).results();
    let (sent, _) = read(&capture(&results, "a", 0).bytes);
    let (arrived, _) = read(&capture(&results, "b", 0).bytes);
    let not_lost = sent.iter().filter(|one| !one.has_comment).map(|one| one.at_ns + 50_088);
    let in_time: Vec<u64> = not_lost.filter(|at| *at <= 100_000).collect();
    assert!(in_time.len() > 10 && in_time.len() < 40);
    assert_eq!(arrived.iter().map(|one| one.at_ns).collect::<Vec<_>>(), in_time);
}

#[test]
fn a_file_ends_at_its_limit_and_counts_what_it_leaves_out() {
    // 100 B take 144 B in a file.
    let results = pair(0.0, &json!({"ends": [{"node": "a"}], "snap_bytes": 65_535, "max_bytes": 100_000}));
    let all = results.results();
    let whole = capture(&all, "a", 0).bytes.len() as u64;
    assert!(whole < 100_000 && all.captures[0].left_out == 0);
    // More than two packets are sent each ns, so most of them do not fit.
    let mut description = results.spec().clone();
    description.packets[0].count = 2_000;
    description.packets[0].frames[0].gap_ps = 1;
    let mut network = results.with_spec(description).expect("a right description");
    network.run(RunOptions::default()).expect("few events");
    let found = network.results();
    let file = capture(&found, "a", 0);
    let (packets, counts) = read(&file.bytes);
    assert_eq!(packets.len() as u64, file.packets);
    assert_eq!(counts, [file.packets + file.left_out, file.left_out]);
    assert!(file.left_out > 400 && file.bytes.len() <= 100_000 && file.bytes.len() > 99_800, "{:?}", counts);
    let counters = network.host_counters(0).expect("host a");
    assert_eq!(counters.sent_pkts, counts[0]);
}

/// A line of three switches, two hosts at each end, every end of every link captured.
fn line(max_bytes: u64, loss: f64) -> Network {
    let flows: Vec<_> = (0..8).map(|i| (i % 4, (i + 2) % 4, 100_000, 3_000 * i as u64)).collect();
    let fabric = Fabric {
        program: "int_hpcc.p4",
        hosts_at: &[0, 0, 2, 2],
        trunks: &[(0, 1), (1, 2)],
        next: |from, to| if from < to { from + 1 } else { from - 1 },
        buffer_bytes: 8 * (HEADROOM_BYTES + 4_096) + 30_000,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc: r#"{"name":"timely","beta":0}"#,
        more: json!({"rto_ns": 200_000}),
        flows: &flows,
        record: json!({}),
        stop_ns: 2_000_000,
    };
    fabric.build_with(|description| {
        let links = description["links"].as_array_mut().expect("links");
        for link in links.iter_mut() {
            link["loss"] = json!(loss);
        }
        let ends: Vec<Value> = links.iter().flat_map(|link| [link["a"].clone(), link["b"].clone()]).collect();
        description["record"]["pcap"] = json!({"ends": ends, "snap_bytes": 120, "max_bytes": max_bytes});
    })
}

#[test]
fn files_hold_what_ports_count_and_every_pause_frame() {
    let mut network = line(10_000_000, 0.0);
    network.run(RunOptions::default()).expect("few events");
    let results = network.results();
    let (mut pauses, mut packets) = (0, 0);
    for device in 1..=3 {
        let switch = network.switch(device).expect("a switch");
        for port in &switch.config().ports {
            let counters = switch.observation().port_counters(port.port).expect("a port");
            let (seen, _) = read(&capture(&results, &format!("s{}", device - 1), port.port).bytes);
            let (mut ways, mut sent_pauses) = (BTreeMap::new(), 0);
            for one in &seen {
                let is_pause = one.bytes[12..14] == [0x88, 0x08];
                let length = if is_pause { 0 } else { one.length as u64 };
                *ways.entry((one.is_inbound, is_pause)).or_insert(0) += 1;
                *ways.entry((one.is_inbound, true)).or_insert(0) += length;
                sent_pauses += u64::from(is_pause && !one.is_inbound && one.bytes[17] == 8);
            }
            let of = |key| ways.get(&key).copied().unwrap_or(0);
            assert_eq!([of((true, false)), of((false, false))], [counters.rx_pkts, counters.tx_pkts]);
            assert!(seen.is_sorted_by_key(|one| one.at_ns));
            let asked = &counters.pauses[3];
            assert_eq!(sent_pauses, asked.sent + asked.resumes_sent);
            pauses += sent_pauses;
            packets += seen.len();
        }
    }
    assert!(pauses > 0 && packets > 500, "{pauses} pauses, {packets} packets");
    // The other end sees each packet later, by the delay and its own time on the link.
    let far = read(&capture(&results, "s1", 1).bytes).0;
    let near = read(&capture(&results, "s0", 3).bytes).0;
    let out = near.iter().find(|one| !one.is_inbound).expect("a packet left");
    let came = far.iter().find(|one| one.is_inbound).expect("a packet came");
    assert_eq!(out.bytes, came.bytes);
    assert!(came.at_ns > out.at_ns + DELAY_NS && came.at_ns < out.at_ns + DELAY_NS + 200);
}

#[test]
fn captures_are_those_of_one_thread_and_change_nothing() {
    for (max_bytes, loss) in [(100_000, 0.0), (1_000_000, 0.01)] {
        let base = line(max_bytes, loss);
        assert!(assert_same(&base) > 20, "threads had nothing to do");
        let mut without = base.spec().clone();
        without.record.pcap = None;
        let found = |network: &Network| {
            let mut run = network.fork(1).expect("a network that was built");
            run.set_batching(Batching::Never);
            run.run(RunOptions::default()).expect("few events");
            run.results()
        };
        let (with, without) = (found(&base), found(&base.with_spec(without).expect("the same switches")));
        assert_eq!(with.summary, without.summary);
        assert!(with.captures.iter().any(|one| (one.left_out > 0) == (max_bytes == 100_000)));
        for table in without.tables.iter().filter(|table| table.spec.name != "captures") {
            assert_eq!(with.table(table.spec.name), Some(table));
        }
    }
}
