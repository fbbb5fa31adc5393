//! `controls/spray.p4`: a path for each packet, or for what a flow sends between two pauses
//! (docs/algorithms/topologies.md#packet-spraying, #flowlets).

use p4cc_switch::QdepthUnit;

use super::bench::Bench;
use super::frame::{Frame, number};

const ETHERTYPE_IPV4: u128 = 0x0800;
const GAP_NS: u64 = 50_000;

fn bench(has_gap: bool) -> Bench {
    let mut bench = Bench::new("ecn_red_spray", QdepthUnit::Packets);
    bench.spread(&[1, 2, 3, 4, 5, 6, 7, 8]);
    if has_gap {
        bench.add("ingress.spray.gaps", &[ETHERTYPE_IPV4], "ingress.spray.set_gap", &[GAP_NS.into()]);
    }
    bench
}

/// Members that packets of a flow left by, which come at these times.
fn chosen(bench: &mut Bench, flow: u32, times_ns: impl IntoIterator<Item = u64>) -> Vec<u64> {
    times_ns
        .into_iter()
        .map(|now_ns| {
            let packet = Frame { flow, ..Frame::default() }.packet();
            let port = packet.head[34..36].to_vec();
            let left = bench.forward(now_ns, packet).expect("it is forwarded");
            assert_eq!(left.head[34..36], port, "the source port is as it came");
            number(&left.head[..6])
        })
        .collect()
}

fn distinct(mut members: Vec<u64>) -> usize {
    members.sort_unstable();
    members.dedup();
    members.len()
}

/// The source port decides, so a flow keeps to a path whatever its pauses.
#[test]
fn senders_choose_where_the_switch_follows_them() {
    let mut bench = bench(false);
    bench.add("ingress.spray.gaps", &[ETHERTYPE_IPV4], "ingress.spray.follow_sender", &[]);
    let mut paths = Vec::new();
    // Ports far apart: without a switch's factor members follow from a CRC, which is linear, and ports that
    // differ in few bits share few of them.
    for flow in (1..100).map(|n| n * 163) {
        let times = (0..4).map(|n| 400 * GAP_NS * n);
        let members = chosen(&mut bench, flow, times);
        assert_eq!(distinct(members.clone()), 1, "flow {flow}");
        paths.push(members[0]);
    }
    assert_eq!(distinct(paths), 8);
}

#[test]
fn without_a_gap_each_packet_takes_its_own_path() {
    let mut bench = bench(false);
    assert_eq!(distinct(chosen(&mut bench, 1, (0..200).map(|n| 1_000 * n))), 8);
}

#[test]
fn a_flowlet_keeps_to_a_path_and_a_pause_draws_another() {
    let mut bench = bench(true);
    // Packets just within the gap: one flowlet, however long.
    let step_ns = GAP_NS - 1_000;
    assert_eq!(distinct(chosen(&mut bench, 1, (0..200).map(|n| step_ns * n))), 1);
    // A pause before each.
    let begins = 400 * GAP_NS;
    assert_eq!(distinct(chosen(&mut bench, 1, (0..200).map(|n| begins + GAP_NS * n))), 8);
    // Other flows begin flowlets of their own.
    let begins = 1_000 * GAP_NS;
    let others = (2..102).flat_map(|flow| chosen(&mut bench, flow, [begins, begins + step_ns]));
    let pairs: Vec<u64> = others.collect();
    assert!(pairs.chunks(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(distinct(pairs), 8);
}
