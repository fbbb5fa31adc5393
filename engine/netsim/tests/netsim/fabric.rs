//! Lossless fabrics: no loss under PFC, deadlocks found and named, telemetry at every hop, HPCC's incast.

use p4cc_netsim::{Network, Results, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::columns::{texts, u64s};
use crate::fabrics::{Fabric, HEADROOM_BYTES};

/// A sender that never slows down: PFC alone holds it.
const PFC_ONLY: &str = r#"{"name":"timely","beta":0}"#;

fn star<'a>(hosts_at: &'a [usize], cc: &'a str, flows: &'a [(usize, usize, u64, u64)]) -> Fabric<'a> {
    Fabric {
        program: "ack_priority.p4",
        hosts_at,
        trunks: &[],
        next: |_, to| to,
        buffer_bytes: 2 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc,
        more: Value::Null,
        flows,
        record: json!({}),
        stop_ns: 100_000_000,
    }
}

fn run(network: &mut Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    let balance = network.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    network.results()
}

/// Seven senders that never slow down fill 2 MiB at once: with PFC nothing is lost, without it much is.
#[test]
fn pauses_keep_an_incast_whole() {
    let flows: Vec<_> = (1..8).map(|src| (src, 0, 1_000_000, 0)).collect();
    let lossless = run(&mut star(&[0; 8], PFC_ONLY, &flows).build());
    let summary = &lossless.summary;
    assert_eq!((summary.drops, summary.flows_completed, summary.deadlocks), (0, 7, 0));
    assert!(summary.pauses >= 7 && summary.paused_ns > 0, "{summary:?}");
    // Each host was paused about 6/7 of the time that the last byte took.
    let nodes = texts(&lossless, "pauses", "node");
    let paused = u64s(&lossless, "pauses", "paused_ns");
    let of_hosts: u64 =
        nodes.iter().zip(paused).filter(|(node, _)| node.starts_with('h')).map(|(_, ns)| ns).sum();
    let share = of_hosts as f64 / (7.0 * summary.end_ns as f64);
    assert!((0.4..0.95).contains(&share), "{share}");
    // The bottleneck is busy from the first packet to the last: 7 MB of payload with 64 B for each 1000 B.
    let least_ns = 7_000 * 1_064 * 8 / 100;
    assert!((least_ns..least_ns + 10_000).contains(&summary.end_ns), "{} of {least_ns}", summary.end_ns);

    let lossy = Fabric { lossless: &[], stop_ns: 5_000_000, ..star(&[0; 8], PFC_ONLY, &flows) };
    let lossy = run(&mut lossy.build());
    assert!(lossy.summary.buffer_drops > 100 && lossy.summary.pauses == 0, "{:?}", lossy.summary);
}

/// Each frame that the counters count is a row, and says who is stopped and for whom; rows are bounded.
#[test]
fn pause_frames_are_recorded_one_by_one() {
    let flows: Vec<_> = (1..8).map(|src| (src, 0, 1_000_000, 0)).collect();
    let of = |record| run(&mut Fabric { record, ..star(&[0; 8], PFC_ONLY, &flows) }.build());
    let results = of(json!({"pauses": true}));
    let (is_pause, times) =
        (u64s(&results, "pause_frames", "pause"), u64s(&results, "pause_frames", "time_ns"));
    assert_eq!(is_pause.iter().sum::<u64>(), results.summary.pauses);
    let resumes: u64 = u64s(&results, "pauses", "resumes_sent").iter().sum();
    assert_eq!(is_pause.len() as u64, results.summary.pauses + resumes);
    assert!(times.is_sorted());
    let (peers, towards) =
        (texts(&results, "pause_frames", "peer"), texts(&results, "pause_frames", "towards"));
    for ((peer, towards), pause) in peers.iter().zip(&towards).zip(is_pause) {
        assert!(peer.starts_with('h') && peer != "h0", "{peer} is stopped");
        assert_eq!(towards, if pause == 1 { "h0" } else { "" });
    }
    let none = of(json!({}));
    assert!(u64s(&none, "pause_frames", "time_ns").is_empty());
    let few = of(json!({"pauses": true, "max_rows": 3}));
    assert_eq!(u64s(&few, "pause_frames", "time_ns"), &times[..3]);
    assert_eq!(few.summary.rows_left_out, times.len() as u64 - 3);
}

/// Headroom that is too small for what is on its way loses packets, and says for which cause.
#[test]
fn too_little_headroom_loses_packets() {
    let flows: Vec<_> = (1..8).map(|src| (src, 0, 1_000_000, 0)).collect();
    let fabric = Fabric { headroom_bytes: 3_000, stop_ns: 5_000_000, ..star(&[0; 8], PFC_ONLY, &flows) };
    let results = run(&mut fabric.build());
    let drops: u64 = u64s(&results, "port_queues", "dropped_headroom").iter().sum();
    assert!(drops > 0 && results.summary.buffer_drops == drops, "{:?}", results.summary);
}

/// docs/algorithms/topologies.md#topologies, #t-ring3: three
/// switches, every host sends two switches on, clockwise.
fn ring(flows: &'static [(usize, usize, u64, u64)]) -> Fabric<'static> {
    Fabric {
        trunks: &[(0, 1), (1, 2), (2, 0)],
        next: |at, _| (at + 1) % 3,
        buffer_bytes: 400_000,
        stop_ns: 30_000_000,
        ..star(&[0, 1, 2], PFC_ONLY, flows)
    }
}

/// docs/algorithms/pfc.md#deadlock, #choice-pfc-deadlock: a cycle of paused
/// links on purpose is found and named, once, when it has held for 10 ms.
#[test]
fn a_deadlock_is_found_and_named() {
    let results =
        run(&mut ring(&[(0, 2, 10_000_000, 0), (1, 0, 10_000_000, 0), (2, 1, 10_000_000, 0)]).build());
    assert_eq!(
        texts(&results, "deadlocks", "links"),
        ["s0:2->s1:2 => s1:3->s2:2 => s2:3->s0:3"],
        "{:?}",
        results.summary
    );
    assert_eq!(u64s(&results, "deadlocks", "priority"), [3]);
    let at = u64s(&results, "deadlocks", "time_ns")[0];
    assert!((10_000_000..13_000_000).contains(&at), "{at}");
    assert_eq!(
        (results.summary.deadlocks, results.summary.flows_completed, results.summary.drops),
        (1, 0, 0)
    );
}

/// docs/algorithms/pfc.md#choice-pfc-expiry: pauses that end by themselves
/// after 100 quanta open the ring again, at the cost of packets. Nothing
/// moved for long in the ring whose pauses last: a stall, from the bound on.
#[test]
fn pauses_that_expire_open_a_deadlock() {
    let flows = &[(0, 2, 10_000_000, 0), (1, 0, 10_000_000, 0), (2, 1, 10_000_000, 0)];
    let run_with = |pause_quanta: Option<u16>| {
        let mut spec = ring(flows).build().spec().clone();
        spec.stall_after_ns = 5_000_000;
        for switch in &mut spec.switches {
            switch.buffer.as_mut().expect("a shared buffer").pause_quanta = pause_quanta;
        }
        run(&mut ring(flows).build().with_spec(spec).expect("the same switches")).summary
    };
    let (lasting, expiring) = (run_with(None), run_with(Some(100)));
    assert_eq!((lasting.deadlocks, lasting.flows_completed, lasting.drops), (1, 0, 0));
    assert!((5_000_000..8_000_000).contains(&lasting.stalled_ns.unwrap_or(0)), "{lasting:?}");
    // To the end of the run, but for the picoseconds of the last delivery.
    let silence_ns = 30_000_000 - (lasting.stalled_ns.unwrap_or(0) - 5_000_000);
    assert!(lasting.longest_silence_ns.abs_diff(silence_ns) <= 1, "{lasting:?}");
    assert_eq!((expiring.deadlocks, expiring.stalled_ns), (0, None), "{expiring:?}");
    // 100 times 512 bits at 100 Gbit/s, if no other pause comes meanwhile.
    assert!(expiring.drops > 0 && expiring.longest_pause_ns < 1_000_000, "{expiring:?}");
    assert!(lasting.longest_pause_ns > 20_000_000);
}

/// What a link carried, at a checkpoint and in the end, and
/// the histogram of depths, agree with the ports' own counts.
#[test]
fn links_and_depths_are_counted() {
    let flows: Vec<_> = (1..4).map(|src| (src, 0, 500_000, 0)).collect();
    let record = json!({"checkpoints_ns": [20_000], "queue_histogram_interval_ns": 1_000});
    let results = run(&mut Fabric { record, ..star(&[0; 4], PFC_ONLY, &flows) }.build());
    let of = |table: &str, name: &str| {
        let place = texts(&results, table, "link").iter().position(|link| link == name);
        u64s(&results, table, "bytes")[place.expect("a link")]
    };
    // 500 packets of 1000 B with 64 B before each, counted when they begin to leave.
    assert_eq!(of("links", "h1:0->s0:2"), 500 * 1_064);
    assert_eq!(of("links", "s0:1->h0:0"), 3 * 500 * 1_064);
    // 20 us are 234.96 packets.
    assert_eq!(of("link_bytes", "h1:0->s0:2"), 235 * 1_064);
    let samples = u64s(&results, "queue_histogram", "samples");
    assert_eq!(samples.iter().sum::<u64>(), 4 * (results.summary.end_ns / 1_000 + 1));
    let bins = u64s(&results, "queue_histogram", "depth_bytes");
    let deepest = *u64s(&results, "port_queues", "peak_depth_bytes").iter().max().expect("a queue");
    assert!(bins.iter().all(|bin| bin % 1_000 == 0) && *bins.last().expect("a bin") <= deepest);
    assert!(*bins.last().expect("a bin") > deepest / 2);
    for ((bin, samples), sum) in bins.iter().zip(samples).zip(u64s(&results, "queue_histogram", "sum_bytes"))
    {
        assert!((bin * samples..(bin + 1_000) * samples).contains(&sum));
    }
}

/// The same ring with flows of one hop, all to one switch or each to its neighbour's: pauses, but no cycle.
#[test]
fn without_a_cycle_no_deadlock_is_reported() {
    let results = run(&mut Fabric {
        hosts_at: &[0, 1, 2, 0, 1],
        ..ring(&[(0, 1, 3_000_000, 0), (3, 1, 3_000_000, 0), (1, 2, 3_000_000, 0), (4, 2, 3_000_000, 0)])
    }
    .build());
    let summary = &results.summary;
    assert!(summary.pauses > 0, "{summary:?}");
    assert_eq!((summary.deadlocks, summary.flows_completed, summary.drops), (0, 4, 0));
}

/// docs/algorithms/reproductions.md#h-incast: what waits at the
/// bottleneck some base RTTs after the peak, as a share of the peak.
///
/// The row says "under 10 % within 5 base RTTs", which cannot be: seven windows of one BDP against one BDP a
/// round leave six BDPs waiting, and they take 5.4 rounds to fall to a tenth even if nobody sends. HPCC takes
/// longer still: `W_c` stays at one BDP until the first window is acknowledged, seven rounds, and W = W_c
/// eta/U with U = 1 + q/BDP holds a queue of 1.6 BDPs, 26 % of the peak, meanwhile. The round after that it
/// is gone. A sender that does not react is above half.
#[test]
fn hpcc_drains_an_incast() {
    let flows: Vec<_> = (1..8).map(|src| (src, 0, 4_000_000, 0)).collect();
    // Four delays, and a packet of 1066 B and an ACK of about 70 B on two links each.
    let base_rtt_ns = 4_200;
    let depths = |program, cc| {
        let fabric = Fabric {
            program,
            buffer_bytes: 32 << 20,
            more: json!({"base_rtt_ns": base_rtt_ns}),
            record: json!({"queues_interval_ns": 100}),
            ..star(&[0; 8], cc, &flows)
        };
        let results = run(&mut fabric.build());
        assert_eq!((results.summary.drops, results.summary.flows_completed), (0, 7), "{cc}");
        let ports = u64s(&results, "queues", "port");
        let at_bottleneck = |column| {
            let rows = ports.iter().zip(u64s(&results, "queues", column));
            rows.filter(|(port, _)| **port == 1).map(|(_, value)| value).collect::<Vec<_>>()
        };
        at_bottleneck("time_ns").into_iter().zip(at_bottleneck("depth_pkts")).collect::<Vec<_>>()
    };
    let left = |depths: &[(u64, u64)], rounds_tenths: u64| {
        let &(at, peak) = depths.iter().rev().max_by_key(|(_, depth)| *depth).expect("samples");
        let until = at + rounds_tenths * base_rtt_ns / 10;
        let later = depths.iter().rposition(|&(time, _)| time <= until).expect("a sample");
        depths[later].1 as f64 / peak as f64
    };
    let hpcc = depths("int_hpcc.p4", r#"{"name":"hpcc"}"#);
    let peak = hpcc.iter().map(|(_, depth)| *depth).max().expect("samples");
    // A window of 52,500 B of payload lets 53 packets leave; seven of them less the 49 that fill the path.
    assert!((310..335).contains(&peak), "{peak}");
    let (at_seven, after_nine) = (left(&hpcc, 70), left(&hpcc, 95));
    assert!((0.2..0.3).contains(&at_seven) && after_nine < 0.1, "{at_seven}, {after_nine}");
    let unpaced = depths("ack_priority.p4", PFC_ONLY);
    assert!(left(&unpaced, 95) > 0.5, "{}", left(&unpaced, 95));
}

/// A run's bytes follow from its seed alone.
#[test]
fn runs_are_repeatable() {
    let flows: Vec<_> = (1..5).map(|src| (src, 0, 300_000, 100 * src as u64)).collect();
    let base = Fabric {
        program: "int_hpcc.p4",
        record: json!({"queues_interval_ns": 1_000, "windows_interval_ns": 1_000}),
        ..star(&[0; 5], r#"{"name":"hpcc","max_stage":5}"#, &flows)
    }
    .build();
    let text = |seed| format!("{:?}", run(&mut base.fork(seed).expect("a network that was built")));
    assert_eq!(text(3), text(3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With headroom for what a pause cannot stop any more, no traffic loses a packet, and every flow ends.
    #[test]
    fn nothing_is_lost_with_enough_headroom(
        flows in prop::collection::vec((0_usize..8, 0_usize..8, 1_u64..400_000, 0_u64..50_000), 1..24),
        cc in prop::sample::select(vec![
            PFC_ONLY, r#"{"name":"timely"}"#, r#"{"name":"dcqcn","window":"vwin"}"#, r#"{"name":"hpcc"}"#,
        ]),
        ack_class in prop::sample::select(vec![3_u8, 7]),
    ) {
        let flows: Vec<_> = flows.into_iter().filter(|(src, dst, ..)| src != dst).collect();
        prop_assume!(!flows.is_empty());
        // Two leaves of four hosts; buffers hold headroom and reserve of five ports, and a little more.
        let fabric = Fabric {
            program: "int_hpcc.p4",
            trunks: &[(0, 1)],
            buffer_bytes: 5 * (HEADROOM_BYTES + 4_096) + 60_000,
            more: json!({"ack_class": ack_class}),
            ..star(&[0, 0, 0, 0, 1, 1, 1, 1], cc, &flows)
        };
        let results = run(&mut fabric.build());
        let summary = &results.summary;
        prop_assert_eq!((summary.drops, summary.deadlocks), (0, 0));
        prop_assert_eq!(summary.flows_completed, flows.len() as u64);
        // Every pause ended.
        prop_assert_eq!(
            u64s(&results, "pauses", "pauses_sent").iter().sum::<u64>(),
            u64s(&results, "pauses", "resumes_sent").iter().sum::<u64>()
        );
    }
}
