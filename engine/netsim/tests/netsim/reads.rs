//! RDMA reads: requests paced by the reader, one round-trip time for each segment, losses, refusals.

use p4cc_netsim::{Network, NetworkSpec, Results, RunOptions};
use serde_json::{Value, json};

use crate::columns::{integers, texts};
use crate::fabrics::{Fabric, HEADROOM_BYTES};
use crate::threads::assert_same;

const SLOW: &str = r#"{"name":"fixed","rate_mbps":1000}"#;
const TIMELY: &str = r#"{"name":"timely","beta":0.8}"#;

/// Three hosts on one switch; the data of each flow goes from its first host to its second.
fn star<'a>(cc: &'a str, flows: &'a [(usize, usize, u64, u64)]) -> Fabric<'a> {
    Fabric {
        program: "ack_priority.p4",
        hosts_at: &[0, 0, 0],
        trunks: &[],
        next: |_, to| to,
        buffer_bytes: 2 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc,
        more: json!({"reads": true, "segment_bytes": 16_000, "rto_ns": 300_000}),
        flows,
        record: json!({"rtts": true}),
        stop_ns: 20_000_000,
    }
}

fn run(mut network: Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    assert!(network.packet_balance().is_even());
    network.results()
}

/// A segment of 16 packets of 1000 B: its request takes two delays of 1 us, its data two more and the last
/// packet's way through the switch; its own time on a link is taken off.
#[test]
fn a_request_brings_a_segment_and_one_round_trip_time() {
    let results = run(star(SLOW, &[(0, 1, 1_024_000, 0)]).build());
    let rtts = integers(&results, "rtts", "rtt_ns");
    assert_eq!(rtts.len(), 64);
    // A packet of 1064 B at 100 Gbit/s takes 85 ns, a request 5 ns and twice that.
    assert!(rtts.iter().all(|rtt| (4_085..4_115).contains(rtt)), "{rtts:?}");
    // The requests are paced as the data of a write: 63 times 17,024 B at 1 Gbit/s before the last one.
    let fct = integers(&results, "flows", "fct_ns")[0];
    assert!((8_580_000..8_590_000).contains(&fct), "{fct}");
    assert_eq!(integers(&results, "flows", "received_ns"), integers(&results, "flows", "finish_ns"));
    assert_eq!(integers(&results, "flows", "data_pkts"), [1_024]);
    let name = |end| texts(&results, "flows", end).concat();
    assert!(name("src").contains("h0") && name("dst").contains("h1"), "by the way of the data");
}

/// Two readers that know nothing of each other share the link of one source: what waits there is in their
/// round-trip times, unlike in those of writes, whose pacer stands in front of it.
#[test]
fn what_waits_at_the_source_is_in_round_trip_times() {
    let flows = [(0, 1, 4_000_000, 0), (0, 2, 4_000_000, 0)];
    let cc = r#"{"name":"fixed"}"#;
    let longest = |reads: bool| {
        let mut fabric = star(cc, &flows);
        fabric.more = json!({"reads": reads, "segment_bytes": 16_000, "ack_every": 1_000});
        integers(&run(fabric.build()), "rtts", "rtt_ns").into_iter().max().expect("samples")
    };
    let (reads, writes) = (longest(true), longest(false));
    assert!(reads > 100_000 && writes < 20_000, "reads {reads} ns, writes {writes} ns");
}

/// Requests and data are lost: the reader goes back to what is missing, by a gap or by its timeout.
#[test]
fn lost_requests_and_lost_data_are_asked_for_again() {
    let flows = [(0, 1, 400_000, 0), (1, 2, 300_500, 0), (2, 0, 1, 1_000)];
    for cc in [SLOW, TIMELY] {
        let network = star(cc, &flows).build_with(|description| {
            for link in description["links"].as_array_mut().into_iter().flatten() {
                link["loss"] = json!(0.01);
            }
        });
        let results = run(network);
        assert!(integers(&results, "flows", "fct_ns").iter().all(|fct| *fct > 0), "{cc}");
        assert_eq!(integers(&results, "flows", "acked_bytes"), [400_000, 300_500, 1]);
        assert!(integers(&results, "flows", "retransmitted_pkts").iter().sum::<i64>() > 0);
    }
}

/// At a slow rate: threads run until everything is asked for.
#[test]
fn reads_on_threads_are_those_of_one_thread() {
    let flow = |i: usize| (i % 8, (i + 3) % 8, 60_000 + 5_000 * i as u64, 2_000 * i as u64);
    let flows: Vec<_> = (0..16).map(flow).collect();
    let fabric = Fabric {
        hosts_at: &[0, 0, 1, 1, 2, 2, 3, 3],
        trunks: &[(0, 1), (1, 2), (2, 3)],
        next: |from, to| if from < to { from + 1 } else { from - 1 },
        record: json!({"windows_interval_ns": 100_000, "queues_interval_ns": 50_000}),
        stop_ns: 5_000_000,
        ..star(r#"{"name":"timely","beta":0.8,"start_share":0.05}"#, &flows)
    };
    assert!(assert_same(&fabric.build()) > 50, "threads had nothing to do");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |cc: &str, change: &dyn Fn(&mut Value)| {
        let mut said = String::new();
        // Built without reads, then asked for with them: the description is refused, not the fabric.
        let fabric = Fabric { more: json!({}), ..star(cc, &[(0, 1, 1_000, 0)]) };
        let mut plain = serde_json::to_value(fabric.build().spec()).expect("plain");
        plain["rdma"]["sender"]["reads"] = json!(true);
        change(&mut plain);
        let spec = NetworkSpec::from_json(&plain.to_string()).expect("of this form");
        if let Err(error) = Network::build(spec, 1) {
            said = error.to_string();
        }
        said
    };
    let segment = |plain: &mut Value| plain["rdma"]["sender"]["segment_bytes"] = json!(16_000);
    assert!(refused(SLOW, &|_| {}).starts_with("rdma.sender.reads: a reader asks for segments"));
    let marks = refused(r#"{"name":"dcqcn"}"#, &segment);
    assert!(marks.contains("rdma.sender.reads: dcqcn goes by what switches say"), "{marks}");
    let rounds = refused(SLOW, &|plain| {
        segment(plain);
        plain["rounds"] = json!([{"name": "r", "client": "h0", "servers": ["h1"], "request_bytes": 10,
            "response_bytes": [10], "rounds": 1, "algorithm": "sender"}]);
    });
    assert!(rounds.starts_with("rounds[0].algorithm: answers to requests are written"), "{rounds}");
}
