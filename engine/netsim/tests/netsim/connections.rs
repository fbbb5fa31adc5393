//! Connections of paced senders: closed by their application, segments and bursts, noise in round-trip times.

use p4cc_netsim::{Network, Results, RunOptions};
use serde_json::{Value, json};

use crate::columns::{integers, u64s};
use crate::fabrics::{Fabric, HEADROOM_BYTES};

/// Two hosts on one switch; a flow of 1 MB from the first to the second.
fn pair(cc: &str, more: Value) -> Network {
    Fabric {
        program: "ack_priority.p4",
        hosts_at: &[0, 0],
        trunks: &[],
        next: |_, to| to,
        buffer_bytes: 2 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc,
        more,
        flows: &[(0, 1, 1_024_000, 0)],
        record: json!({"rtts": true}),
        stop_ns: 10_000_000,
    }
    .build()
}

fn run(network: &mut Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    network.results()
}

const SLOW: &str = r#"{"name":"fixed","rate_mbps":1000}"#;

/// A segment of 16 packets of 1000 B gives one round-trip time: four delays of 1 us, the last packet's way
/// through the switch, and the ACK's two; the segment's own time on the sender's link is taken off.
#[test]
fn a_segment_gives_one_round_trip_time() {
    let more = json!({"segment_bytes": 16_000, "ack_every": 1_000});
    let results = run(&mut pair(SLOW, more));
    let rtts = u64s(&results, "rtts", "rtt_ns");
    assert_eq!(rtts.len(), 64);
    // 1064 B at 100 Gbit/s are 85 ns; an ACK is 64 B.
    assert!(rtts.iter().all(|rtt| (4_085..4_110).contains(rtt)), "{rtts:?}");
    // With a sample for each ACK there is one for each packet, and its own time is in it.
    let results = run(&mut pair(SLOW, json!({})));
    assert_eq!(results.table("rtts").map(p4cc_netsim::Table::rows), Some(1_024));
}

/// Noise lengthens what the algorithm is told, by its own stream: the packets' times stay.
#[test]
fn noise_is_of_a_stream_of_its_own() {
    let with = |ns: u64| {
        let more = json!({"segment_bytes": 16_000, "ack_every": 1_000, "rtt_noise_uniform_ns": ns});
        let network = pair(SLOW, more);
        let (first, second) = (network.fork(1), network.fork(2));
        [first, second].map(|fork| {
            let results = run(&mut fork.expect("a fork"));
            (results.summary.finish_ns, u64s(&results, "rtts", "rtt_ns"))
        })
    };
    let ([(finish, exact), _], [(noisy_finish, noisy), (_, other)]) = (with(0), with(10_000));
    assert_eq!(finish, noisy_finish, "a fixed rate does not look at round-trip times");
    assert_ne!(noisy, other, "another seed, other noise");
    let added: Vec<u64> = exact.iter().zip(&noisy).map(|(exact, noisy)| noisy - exact).collect();
    assert!(added.iter().all(|ns| *ns <= 10_000), "{added:?}");
    let mean = added.iter().sum::<u64>() as f64 / added.len() as f64;
    // 64 draws of a mean of 5000 ns and a deviation of 2900 ns.
    assert!((mean - 5_000.0).abs() < 1_200.0, "{mean}");
}

/// A connection without end that is closed at 50 us sends
/// nothing after it; one that was to begin later never begins.
#[test]
fn a_closed_connection_sends_no_more() {
    let base = pair(SLOW, json!({}));
    let mut spec = base.spec().clone();
    let first = spec.flows[0].clone();
    spec.flows[0].size_bytes = None;
    spec.flows[0].close_ns = Some(50_000);
    spec.flows.push(p4cc_netsim::spec::FlowSpec {
        id: 2,
        size_bytes: None,
        start_ns: 40_000,
        start_jitter_ns: 1_000_000,
        close_ns: Some(40_000),
        ..first
    });
    spec.stop_ns = 200_000;
    let mut network = base.with_spec(spec).expect("the same switches");
    let results = run(&mut network);
    let column = |name| integers(&results, "flows", name);
    // One packet each 8.512 us: six leave before 50 us, the last at 42.56; its ACK is back 4.2 us later.
    assert_eq!(column("acked_bytes"), [6_000, 0]);
    let finish = column("finish_ns");
    assert!((46_000..=50_000).contains(&finish[0]) && finish[1] == -1, "{finish:?}");
    assert_eq!(column("start_ns"), [0, -1]);
}

/// A connection that is closed within a segment, or whose receiver acknowledges rarely, is complete soon
/// after: what ends it asks for an ACK.
#[test]
fn a_closed_connection_is_complete_however_rarely_its_receiver_answers() {
    let acked = |more: Value| {
        let base = pair(SLOW, more);
        let mut spec = base.spec().clone();
        (spec.flows[0].size_bytes, spec.flows[0].close_ns) = (None, Some(50_000));
        spec.stop_ns = 400_000;
        let results = run(&mut base.with_spec(spec).expect("the same switches"));
        let finish = integers(&results, "flows", "finish_ns");
        assert!((50_000..150_000).contains(&finish[0]), "{finish:?}");
        u64s(&results, "flows", "acked_bytes")
    };
    // At 1 Gbit/s a packet of 1064 B leaves each 8.512 us; those of a segment leave back to back.
    assert_eq!(acked(json!({"segment_bytes": 16_000, "ack_every": 1_000})), [16_000]);
    let slow_bursts =
        json!({"segment_bytes": 16_000, "ack_every": 1_000, "burst_rate_bps": 1_000_000_000_u64});
    assert_eq!(acked(slow_bursts), [16_000]);
    // Six packets have left at the close. Receivers that would wait longer than the run answer to a seventh.
    let late = json!({"ack_every": 1_000, "ack_delay_ns": 1_000_000});
    assert_eq!(acked(late), [7_000]);
    // After a base round-trip time they answer by themselves, here before the close.
    assert_eq!(acked(json!({"ack_every": 1_000})), [6_000]);
}

#[test]
fn a_flow_with_a_size_is_not_closed() {
    let base = pair(SLOW, json!({}));
    let mut spec = base.spec().clone();
    spec.flows[0].close_ns = Some(1);
    let error = base.with_spec(spec).err().expect("refused");
    assert_eq!(error.path, "flows[0].close_ns");
}
