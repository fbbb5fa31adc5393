//! `controls/forward.p4`: which member of a group a flow gets, without and with the switch's own seed
//! (docs/algorithms/README.md#p4-needs, docs/algorithms/topologies.md#topologies).

use p4cc_switch::{Packet, QdepthUnit};

use super::bench::Bench;
use super::frame::{Frame, number};

const MEMBERS: usize = 4;
const ETHERTYPE_IPV4: u128 = 0x0800;

/// Next hops of the group, told apart by the address that they write.
fn next_hops() -> Vec<u64> {
    (1..=MEMBERS as u64).collect()
}

fn bench(factor: Option<u32>) -> Bench {
    let mut bench = Bench::new("ack_priority", QdepthUnit::Packets);
    bench.spread(&next_hops());
    if let Some(factor) = factor {
        bench.add(
            "ingress.forward.ecmp_seeds",
            &[ETHERTYPE_IPV4],
            "ingress.forward.set_seed",
            &[factor.into()],
        );
    }
    bench
}

/// The place of the member that a flow's packet left by.
fn chosen(bench: &mut Bench, flow: u32) -> usize {
    let packet = bench.forward(0, Frame { flow, ..Frame::default() }.packet()).expect("it is forwarded");
    number(&packet.head[..6]) as usize - 1
}

/// Addresses, protocol and ports, one after another.
fn five_tuple(packet: &Packet) -> Vec<u8> {
    let head = &packet.head;
    [&head[26..34], &head[23..24], &head[34..38]].concat()
}

/// A reflected CRC, bit by bit.
fn crc(bytes: &[u8], polynomial: u32, start: u32) -> u32 {
    bytes.iter().fold(start, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { polynomial } else { 0 })
    })
}

/// The place by the definition: CRC-16 over the salt and
/// the five-tuple, the salt from CRC-32 times the factor.
fn expected(packet: &Packet, factor: u32) -> usize {
    let tuple = five_tuple(packet);
    let product = (!crc(&tuple, 0xedb8_8320, u32::MAX)).wrapping_mul(factor);
    let salted = [&((product >> 16) as u16).to_be_bytes()[..], &tuple].concat();
    crc(&salted, 0xa001, 0) as usize % MEMBERS
}

#[test]
fn a_route_with_one_next_hop_needs_no_group() {
    let mut bench = bench(Some(1));
    bench.route_to_member();
    for flow in 0..4 {
        let packet = Frame { flow, ..Frame::default() }.packet();
        assert_eq!(bench.forward(0, packet.clone()), Some(super::frame::forwarded(&packet)));
    }
}

#[test]
fn the_choice_is_the_salted_hash_of_the_five_tuple() {
    for factor in [1, 0x9e37_79b1, 0xffff_ffff] {
        let mut bench = bench(Some(factor));
        for flow in 0..200 {
            let packet = Frame { flow, ..Frame::default() }.packet();
            assert_eq!(
                chosen(&mut bench, flow),
                expected(&packet, factor),
                "flow {flow}, factor {factor:#x}"
            );
        }
    }
}

/// Without an entry the choice is that of the five-tuple alone: a factor of 0 leaves no salt.
#[test]
fn without_a_seed_the_five_tuple_decides() {
    let mut bench = bench(None);
    for flow in 0..200 {
        let packet = Frame { flow, ..Frame::default() }.packet();
        assert_eq!(chosen(&mut bench, flow), expected(&packet, 0), "flow {flow}");
    }
}

/// Flows that one switch gives to one member are spread again
/// by a switch with another seed, and by none of the same.
#[test]
fn a_second_switch_chooses_anew() {
    let (mut first, mut second) = (bench(Some(0x1234_5679)), bench(Some(0x8765_4321)));
    let arrived: Vec<u32> = (0..2_000).filter(|&flow| chosen(&mut first, flow) == 0).collect();
    let mut counts = [0_usize; MEMBERS];
    for &flow in &arrived {
        counts[chosen(&mut second, flow)] += 1;
    }
    // Four standard deviations of a binomial with p = 1/4.
    let (mean, spread) = (arrived.len() as f64 / 4.0, (arrived.len() as f64 * 3.0 / 16.0).sqrt());
    assert!(counts.iter().all(|&count| (count as f64 - mean).abs() < 4.0 * spread), "{counts:?}");
    assert!(arrived.iter().all(|&flow| chosen(&mut first, flow) == 0));
}

/// A member whose watch port is down is left out of the
/// choice by both back ends, and comes back with its port.
#[test]
fn members_of_ports_that_are_down_are_not_chosen() {
    let mut bench = bench(Some(7));
    bench.watch_ports();
    let all: Vec<usize> = (0..64).map(|flow| chosen(&mut bench, flow)).collect();
    for down in 0..MEMBERS {
        bench.switch.control().set_port_up(102 + down as u32, false);
        assert!(!bench.switch.observation().is_port_up(102 + down as u32));
        let left: Vec<usize> = (0..64).map(|flow| chosen(&mut bench, flow)).collect();
        assert!(
            !left.contains(&down) && (0..MEMBERS).filter(|one| left.contains(one)).count() == MEMBERS - 1
        );
        bench.switch.control().set_port_up(102 + down as u32, true);
        assert_eq!((0..64).map(|flow| chosen(&mut bench, flow)).collect::<Vec<_>>(), all);
    }
    // A fork starts another run: its ports are up.
    (0..MEMBERS).for_each(|one| bench.switch.control().set_port_up(102 + one as u32, false));
    let fork = bench.switch.fork(7);
    assert!(fork.observation().is_port_up(102) && !bench.switch.observation().is_port_up(102));
    bench.switch = fork;
    assert_eq!((0..64).map(|flow| chosen(&mut bench, flow)).collect::<Vec<_>>(), all);
}
