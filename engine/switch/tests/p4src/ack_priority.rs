//! `ack_priority.p4`: which of the waiting packets leaves first.

use p4cc_switch::QdepthUnit;

use super::bench::Bench;
use super::frame::{Frame, flow};

/// Flow ids in the order in which the packets leave.
fn order(bench: &mut Bench, frames: &[Frame]) -> Vec<u32> {
    for frame in frames {
        bench.receive(0, frame.packet());
    }
    std::iter::from_fn(|| bench.transmit(0)).map(|(packet, _)| flow(&packet)).collect()
}

fn data(flow: u32, class: u8) -> Frame {
    Frame { flow, class, ..Frame::default() }
}

fn ack(flow: u32, class: u8) -> Frame {
    Frame { packet_type: 1, payload: 0, ..data(flow, class) }
}

#[test]
fn control_goes_first_then_data_by_class() {
    let mut bench = Bench::new(super::program!("ack_priority"), QdepthUnit::Packets);
    // Types 2 to 15 are not data either: NACK and CNP, whatever their code will be.
    let other = Frame { packet_type: 2, ..ack(14, 0) };
    let frames = [data(1, 0), data(2, 7), data(3, 3), ack(11, 0), data(4, 6), ack(12, 3), other];
    assert_eq!(
        order(&mut bench, &frames),
        [11, 12, 14, 2, 4, 3, 1],
        "class 7 shares queue 6, in order of arrival"
    );
}

#[test]
fn the_controller_may_let_acks_share_the_queue_of_data() {
    let mut bench = Bench::new(super::program!("ack_priority"), QdepthUnit::Packets);
    let (table, action) = ("ingress.ack_priority.priorities", "ingress.ack_priority.set_priority");
    bench.add(table, &[1, 3], action, &[3]);
    bench.add(table, &[0, 7], action, &[7]);
    let frames = [data(1, 3), ack(11, 3), data(2, 3), data(3, 7), ack(12, 0)];
    assert_eq!(order(&mut bench, &frames), [3, 12, 1, 11, 2]);
}

#[test]
fn other_traffic_goes_by_its_class_selector() {
    let mut bench = Bench::new(super::program!("ack_priority"), QdepthUnit::Packets);
    let tcp = |flow, dscp| Frame { protocol: 6, dscp, ..data(flow, 7) };
    // A UDP checksum, or another version, is not ours: the bytes at the place of the class mean nothing.
    let foreign = Frame { udp_checksum: 0x1234, dscp: 0b010_000, ..ack(4, 7) };
    let newer = Frame { version: 2, dscp: 0b001_000, ..ack(5, 7) };
    let frames = [tcp(1, 0), tcp(2, 0b011_101), tcp(3, 0b111_000), foreign, newer];
    assert_eq!(order(&mut bench, &frames), [3, 2, 4, 5, 1]);
}
