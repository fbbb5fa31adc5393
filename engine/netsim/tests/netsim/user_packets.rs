//! Packets of the user's own: times that a pencil gives, a shared interface, what hosts keep of them, and any
//! bytes at all.

use p4cc_netsim::{Network, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::columns::{integers, texts};
use crate::fabrics::{Fabric, HEADROOM_BYTES};
use crate::threads::assert_same;
use crate::wire::two_hosts;

/// 64 B of no protocol: 50 B behind Ethernet's header, 40 ns at 10 Gb/s.
const PROBE: &str = "ffffffffffff020000000001081200\
    01020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849";

/// Two hosts on one 10 Gb/s wire of 50 us each way; `a` sends packets of its own.
fn pair(packets: &Value, flows: &Value) -> Network {
    let spec = two_hosts(
        0.0,
        &json!({
            "algorithms": {"reno": {}},
            "flows": flows,
            "packets": packets,
            "record": {"packets_received": {"hosts": ["b"], "snap_bytes": 20, "max_packets": 4}},
            "stop_ns": 1_000_000,
        }),
    );
    let mut network = Network::build(spec, 1).expect("a right description");
    network.run(RunOptions::default()).expect("few events");
    let balance = network.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    network
}

fn source(frames: &[(&str, u64)], count: u64) -> Value {
    let frames = frames.iter().map(|(hex, gap_ps)| json!({"hex": hex, "gap_ps": gap_ps}));
    json!({"name": "probes", "host": "a", "frames": frames.collect::<Vec<_>>(), "count": count,
        "end_ns": 1_000_000})
}

#[test]
fn packets_leave_when_they_are_due_and_are_kept_where_they_arrive() {
    let mut probes = source(&[(PROBE, 500_000), ("0123456789", 250_000)], 6);
    probes["start_ns"] = json!(1_000);
    let results = pair(&json!([probes]), &json!([])).results();
    // Due at 1,000, 1,500, 1,750, 2,250, 2,500 ns, ...; the fifth and sixth are counted and left out. Five
    // bytes are fewer than Ethernet's header, and take no time.
    assert_eq!(integers(&results, "packets_received", "time_ns"), [51_040, 51_500, 51_790, 52_250]);
    assert_eq!(integers(&results, "packets_received", "length_bytes"), [64, 5, 64, 5]);
    assert_eq!(
        texts(&results, "packets_received", "bytes")[..2],
        [PROBE[..40].to_owned(), "0123456789".to_owned()]
    );
    assert_eq!(texts(&results, "packets_received", "cause"), ["protocol"; 4]);
    assert_eq!(integers(&results, "packets_sent", "sent_pkts"), [6]);
    assert_eq!(integers(&results, "packets_sent", "sent_bytes"), [3 * 69]);
    assert_eq!(integers(&results, "packets_sent", "most_late_ns"), [0]);
    assert_eq!(integers(&results, "hosts", "refused_malformed_pkts"), [0, 6]);
    assert_eq!(results.summary.rows_left_out, 2);
}

#[test]
fn own_packets_and_segments_leave_in_the_order_in_which_they_are_handed_over() {
    let flow = json!({"id": 7, "src": "a", "dst": "b", "size_bytes": 1_436, "algorithm": "reno"});
    let mut late = source(&[(PROBE, 0)], 1);
    late["start_ns"] = json!(1);
    let results = pair(&json!([source(&[(PROBE, 0)], 1), late]), &json!([flow])).results();
    // The first probe takes 40 ns, the segment 1,200 ns, and the second probe waits for both.
    assert_eq!(integers(&results, "flows", "received_ns"), [51_240]);
    assert_eq!(integers(&results, "packets_received", "time_ns"), [50_040, 51_280]);
    assert_eq!(integers(&results, "packets_sent", "most_late_ns"), [0, 1_239]);
}

#[test]
fn a_source_faster_than_its_link_is_held_back_and_catches_up() {
    let results = pair(&json!([source(&[(PROBE, 1)], 1_000)]), &json!([])).results();
    assert_eq!(integers(&results, "packets_sent", "sent_pkts"), [1_000]);
    // The last one leaves behind 999 others, of 40 ns each, and was due 999 ps after the first.
    assert_eq!(integers(&results, "packets_sent", "most_late_ns"), [39_959]);
    assert_eq!(integers(&results, "hosts", "refused_malformed_pkts"), [0, 1_000]);
}

#[test]
fn nothing_is_due_at_the_end_or_later() {
    let mut probes = source(&[(PROBE, 1_000_000)], 10);
    probes["end_ns"] = json!(3_000);
    let results = pair(&json!([probes]), &json!([])).results();
    assert_eq!(integers(&results, "packets_sent", "sent_pkts"), [3]);
}

/// What nobody speaks.
const EXPERIMENT: u8 = 253;
const UDP: u8 = 17;

/// An Ethernet and IPv4 packet from host to host.
fn ipv4(protocol: u8, from: u8, to: u8, payload: &[u8]) -> String {
    let length = 20 + payload.len();
    let mut header = [0x45, 0, 0, length as u8, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, from, 10, 0, 0, to];
    let sum: u32 = header.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0];
    let all = ethernet.iter().chain(&header).chain(payload);
    all.map(|byte| format!("{byte:02x}")).collect()
}

/// Four hosts at three switches, flows among them, and packets of their own.
fn fabric(packets: &Value) -> Network {
    let flows = [(0, 3, 40_000, 0), (3, 0, 40_000, 5_000), (1, 3, 40_000, 9_000)];
    let fabric = Fabric {
        program: "int_hpcc.p4",
        hosts_at: &[0, 0, 1, 2],
        trunks: &[(0, 1), (1, 2)],
        next: |from, to| if from < to { from + 1 } else { from - 1 },
        buffer_bytes: 1 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc: r#"{"name":"hpcc"}"#,
        more: json!({}),
        flows: &flows,
        record: json!({"packets_received": {"hosts": ["h0", "h1", "h2", "h3"], "snap_bytes": 64, "max_packets": 1_000}}),
        stop_ns: 200_000,
    };
    fabric.build_with(|spec| {
        spec["packets"] = packets.clone();
        spec["stop_when_complete"] = json!(false);
    })
}

#[test]
fn threads_give_the_results_of_one() {
    let packets: Vec<Value> = (0..4)
        .map(|host| {
            let frames = (1..=4)
                .map(|to| json!({"hex": ipv4(EXPERIMENT, host + 1, to, &[host; 26]), "gap_ps": 700_000}));
            json!({"name": format!("to-all-{host}"), "host": format!("h{host}"), "count": 200,
                "frames": frames.collect::<Vec<_>>(), "start_ns": 2_000, "end_ns": 150_000, "priority": 3})
        })
        .collect();
    let base = fabric(&json!(packets));
    assert!(assert_same(&base) > 50, "threads had nothing to do");
    let mut run = base.fork(1).expect("a network that was built");
    run.run(RunOptions::default()).expect("few events");
    let results = run.results();
    assert_eq!(results.summary.flows_completed, 3);
    assert_eq!(integers(&results, "packets_sent", "sent_pkts"), [200; 4]);
    // Each host gets a quarter of the 800; the switches give a packet the address of its next hop.
    assert_eq!(integers(&results, "hosts", "refused_malformed_pkts"), [200; 4]);
    assert!(integers(&results, "packets_received", "time_ns").is_sorted());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Any bytes cross the network, or are dropped and counted; those of a flow's own packets too.
    #[test]
    fn any_bytes_may_be_sent(
        random in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..120), 1..8),
        marked in prop::collection::vec(any::<u8>(), 0..60),
        zeros in 0_u32..2_000,
    ) {
        // UDP to p4cc's port, with a transport header that begins like one of flow 1.
        let mut ours = vec![0xc0, 0, 0xcc, 0, 0, 0, 0, 0, 0x10, 0, 0x60, 0, 0, 0, 0, 1];
        ours.extend(&marked);
        ours[5] = ours.len() as u8;
        let like_ours = ipv4(UDP, 1, 4, &ours);
        let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let frames = random.iter().map(hex).chain([like_ours, ipv4(EXPERIMENT, 1, 4, &marked)]);
        let frames: Vec<Value> =
            frames.map(|hex| json!({"hex": hex, "zeros": zeros, "gap_ps": 50_000})).collect();
        let base = fabric(&json!([{"name": "any", "host": "h0", "count": 100, "frames": frames, "end_ns": 100_000}]));
        let mut run = base.fork(1).expect("a network that was built");
        run.run(RunOptions::default()).expect("few events");
        let balance = run.packet_balance();
        prop_assert!(balance.is_even(), "{:?}", balance);
        prop_assert_eq!(integers(&run.results(), "packets_sent", "sent_pkts"), [100]);
    }
}
