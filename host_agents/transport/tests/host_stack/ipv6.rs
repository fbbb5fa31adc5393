//! IPv6: datagrams there and back, cuts, damage.

use core::net::{Ipv4Addr, Ipv6Addr};

use p4cc_transport::wire::{
    DecodeError, Endpoint, Header, IPV6_LEN, Packet, Ports, TcpFlags, TcpHeader, TcpOptions, TcpPacket,
    TrafficClass, ipv6_of, is_ipv6, to_ipv4, to_ipv6,
};
use p4cc_transport::{Codepoint, Segment};
use p4cc_units::Time;
use proptest::prelude::*;

/// A frame of our own, or of TCP, and its payload.
fn frames() -> impl Strategy<Value = (Vec<u8>, usize)> {
    let ends = any::<([u8; 4], [u8; 4])>();
    let fields = (any::<u32>(), 0_u16..9_000, 0_u8..4, any::<bool>());
    (ends, fields).prop_map(|((src, dst), (seq, len, ecn, is_tcp))| {
        let from = Endpoint { mac: [2; 6], ip: Ipv4Addr::from(src) };
        let to = Endpoint { mac: [4; 6], ip: Ipv4Addr::from(dst) };
        let (class, ecn) = (TrafficClass::new(5).expect("a class"), Codepoint::from_bits(ecn));
        let mut frame = Vec::new();
        if is_tcp {
            let options = TcpOptions::timestamps(seq, 9);
            let (ports, flags) = (Ports { src: 50_000, dst: 5_001 }, TcpFlags::ACK);
            let header = TcpHeader { ports, seq, flags, options, payload_len: len, ..TcpHeader::default() };
            TcpPacket::new(from, to, class, ecn, header).encode(&mut frame).expect("it fits");
        } else {
            let segment = Segment { seq: seq.into(), len: len.into(), ..Segment::default() };
            let header = Header::data(seq, class, &segment, Time::from_ns(7)).expect("a short segment");
            Packet::new(from, to, ecn, header).encode(&mut frame).expect("it fits");
        }
        (frame, usize::from(len))
    })
}

proptest! {
    #[test]
    fn a_datagram_comes_back_byte_for_byte((frame, payload) in frames(), flow in any::<u32>()) {
        let (mut six, mut back) = (Vec::new(), Vec::new());
        prop_assert!(to_ipv6(&frame, flow, &mut six));
        prop_assert!(is_ipv6(&six) && !is_ipv6(&frame));
        prop_assert_eq!(six.len(), frame.len() + 20);
        prop_assert_eq!(to_ipv4(&six, payload, &mut back), Ok(()));
        prop_assert_eq!(&back, &frame);
        // The payload may be real, and padding may follow.
        let mut real = six.clone();
        real.resize(six.len() + payload, 0);
        real.extend([0xff; 5]);
        prop_assert_eq!(to_ipv4(&real, 0, &mut back), Ok(()));
        prop_assert_eq!(&back[..frame.len()], &frame[..]);

        for len in 0..six.len() {
            let cut = matches!(to_ipv4(&six[..len], payload, &mut back), Err(DecodeError::Truncated { .. }));
            prop_assert!(cut, "cut to {}", len);
        }
        // A mark changes no checksum; a change of an address or of a byte behind does.
        let mut marked = six.clone();
        marked[15] |= 0x30;
        prop_assert_eq!(to_ipv4(&marked, payload, &mut back), Ok(()));
        for at in [14 + 23, 14 + 39, 14 + IPV6_LEN, six.len() - 1] {
            let mut damaged = six.clone();
            damaged[at] ^= 1;
            let found = matches!(to_ipv4(&damaged, payload, &mut back), Err(DecodeError::BadChecksum { .. }));
            prop_assert!(found, "byte {at}");
        }
    }

    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), elsewhere in any::<usize>()) {
        let mut out = Vec::new();
        let _ = (to_ipv4(&bytes, elsewhere, &mut out), to_ipv6(&bytes, 1, &mut out));
    }
}

#[test]
fn addresses_hold_those_of_ipv4() {
    assert_eq!(ipv6_of(Ipv4Addr::new(10, 0, 0, 1)), "fd00::a00:1".parse::<Ipv6Addr>().expect("an address"));
}

#[test]
fn what_is_not_ours_is_named() {
    let mut six = Vec::new();
    let header = TcpHeader::default();
    let end = Endpoint { mac: [2; 6], ip: Ipv4Addr::LOCALHOST };
    let mut frame = Vec::new();
    TcpPacket::new(end, end, TrafficClass::default(), Codepoint::NOT_ECT, header)
        .encode(&mut frame)
        .expect("it fits");
    assert!(to_ipv6(&frame, 7, &mut six));
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = six.clone();
        change(&mut bytes);
        to_ipv4(&bytes, 0, &mut Vec::new()).expect_err("refused")
    };
    assert_eq!(error(&|bytes| bytes[12] = 0x08), DecodeError::NotIpv6(0x08dd));
    assert_eq!(error(&|bytes| bytes[14] = 0x40), DecodeError::BadIpv6Version(4));
    assert_eq!(error(&|bytes| bytes[20] = 58), DecodeError::OtherNextHeader(58));
    // Two bytes change places, which no sum notices.
    let other = error(&|bytes| bytes.swap(22, 24));
    assert_eq!(other, DecodeError::OtherPrefix("0:fd00::7f00:1".parse().expect("an address")));
    assert!(!to_ipv6(&six, 7, &mut Vec::new()), "IPv6 already");
}
