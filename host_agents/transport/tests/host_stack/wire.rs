//! The packet format: round trips, damage, and the example of docs/reference/wire-format.md.

use core::net::Ipv4Addr;

use p4cc_cc::Mark;
use p4cc_transport::wire::{
    DecodeError, EncodeError, Endpoint, Extension, ExtensionType, FRAME_HEADERS_LEN, Flags, Header,
    IP_HEADERS_LEN, Packet, PacketKind, TrafficClass, ecn_bits, rewrite_ecn_bits, source_port,
};
use p4cc_transport::{AckFields, Codepoint, EcnProfile, SackBlocks, Segment};
use p4cc_units::Time;
use proptest::prelude::*;

const SENDER: Endpoint = Endpoint { mac: [2, 0, 0, 0, 0, 1], ip: Ipv4Addr::new(10, 0, 0, 1) };
const RECEIVER: Endpoint = Endpoint { mac: [2, 0, 0, 0, 0, 2], ip: Ipv4Addr::new(10, 0, 0, 2) };

/// The example packets of docs/reference/wire-format.md: the last segment of flow
/// 7, marked above K, its ACK, and an ACK that reports two blocks.
fn examples() -> [Vec<u8>; 3] {
    let segment = Segment {
        seq: (1 << 32) + 0x2cc0,
        len: 1_000,
        ecn: EcnProfile::Gst.unmarked(),
        retransmit: false,
        cwr: true,
        fin: true,
        ..Segment::default()
    };
    let class = TrafficClass::new(3).expect("a class");
    let data = Header::data(7, class, &segment, Time::from_us(250)).expect("a short segment");
    let fields = AckFields {
        ack: data.seq + segment.len,
        ecn_echo: EcnProfile::Gst.codepoint(Mark::K),
        timestamp_echo_ns: data.timestamp_ns,
        ..AckFields::default()
    };
    let ack = Header::ack(7, class, &fields, Time::from_us(310));
    let mut frames = [Vec::new(), Vec::new(), Vec::new()];
    Packet::new(SENDER, RECEIVER, segment.ecn, data).encode(&mut frames[0]).expect("it fits");
    assert!(rewrite_ecn_bits(&mut frames[0], fields.ecn_echo));
    Packet::new(RECEIVER, SENDER, Codepoint::NOT_ECT, ack).encode(&mut frames[1]).expect("it fits");
    let selective = AckFields { ack: 0x0b38, sack: blocks(), ..fields };
    let ack = Header::ack(7, class, &selective, Time::from_us(310));
    let (packet, sack) = (Packet::new(RECEIVER, SENDER, Codepoint::NOT_ECT, ack), selective.sack.to_wire());
    packet.with_extension(sack.extension()).encode(&mut frames[2]).expect("it fits");
    frames
}

/// Segments 5 and 3 of 1436 B, the newer first.
fn blocks() -> SackBlocks {
    let mut blocks = SackBlocks::NONE;
    assert!(blocks.push(0x1c0c, 0x21a8) && blocks.push(0x10d4, 0x1670));
    blocks
}

/// The blocks of "offset: bytes" lines in the document are the bytes that the code makes.
#[test]
fn the_document_s_hexdumps_are_what_the_code_sends() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/wire-format.md");
    let document = std::fs::read_to_string(path).expect("docs/reference/wire-format.md");
    let dumps: Vec<Vec<u8>> = document
        .split("```hexdump\n")
        .skip(1)
        .map(|block| {
            let lines = block.split("```").next().unwrap_or_default().lines();
            let bytes = lines.flat_map(|line| line.split_whitespace().skip(1));
            bytes.map(|byte| u8::from_str_radix(byte, 16).expect("two hex digits")).collect()
        })
        .collect();
    let dump = |frame: &[u8]| -> String {
        let line = |(i, row): (usize, &[u8])| {
            let bytes: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{:04x}  {}\n", i * 16, bytes.join(" "))
        };
        frame.chunks(16).enumerate().map(line).collect()
    };
    let expected = examples();
    assert_eq!(dumps.len(), expected.len(), "three examples; the last is\n{}", dump(&expected[2]));
    for (documented, sent) in dumps.iter().zip(&expected) {
        assert_eq!(documented, sent, "the code sends\n{}", dump(sent));
    }
    let data = Packet::decode(&expected[0], 1_000).expect("a valid example");
    assert_eq!(EcnProfile::Gst.mark(data.ecn), Mark::K);
    let ack = Packet::decode(&expected[1], 0).expect("a valid example");
    assert_eq!((ack.header.ack, ack.header.timestamp_echo_ns), (0x30a8, 250_000));
    assert_eq!(ack.ack_fields().sack, SackBlocks::NONE);
    let selective = Packet::decode(&expected[2], 0).expect("a valid example");
    assert_eq!((selective.ack_fields().ack, selective.ack_fields().sack), (0x0b38, blocks()));
}

/// Sizes that other parts count on: a full packet is 1500 B of IP.
#[test]
fn a_full_segment_makes_a_packet_of_1500_bytes() {
    assert_eq!(IP_HEADERS_LEN, 64);
    assert_eq!(IP_HEADERS_LEN + 1_436, 1_500);
}

#[test]
fn flows_differ_in_their_source_port_within_the_dynamic_range() {
    let ports: std::collections::BTreeSet<u16> = (0..1_000).map(source_port).collect();
    assert!(ports.len() > 950, "{} ports for 1000 flows", ports.len());
    assert!(ports.iter().all(|port| *port >= 49_152));
}

/// One damaged field, one error that names it.
#[test]
fn errors_name_what_is_wrong() {
    let [frame, ..] = examples();
    let damaged = |changes: &[(usize, u8)]| {
        let mut bytes = frame.clone();
        for (at, value) in changes {
            bytes[*at] = *value;
        }
        // A new checksum, so that the error meant is the one found.
        let sum = (14..34)
            .step_by(2)
            .filter(|at| *at != 24)
            .fold(0_u32, |sum, at| sum + u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]])));
        let folded = (sum & 0xffff) + (sum >> 16);
        bytes[24..26].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        Packet::decode(&bytes, 1_000).expect_err("damaged").to_string()
    };
    for (changes, want) in [
        (&[(12, 0x86), (13, 0xdd)][..], "EtherType 0x86dd is not IPv4 (0x0800)"),
        (&[(14, 0x46)], "IPv4 version and header length are 0x46, only 0x45 (no options) is used"),
        (&[(20, 0x20)], "the packet is an IPv4 fragment (flags and offset 0x2000)"),
        (&[(23, 6)], "IPv4 protocol 6 is not UDP (17)"),
        (&[(37, 1)], "UDP destination port 52225 is not the p4cc port 52224"),
        (&[(41, 1)], "UDP checksum is 0x0001; p4cc sends 0 (no checksum)"),
        (&[(42, 0x20)], "transport header version 2, this end speaks 1"),
        (&[(42, 0x1f)], "packet type 15 is not assigned"),
        (&[(45, 1)], "extension type 1 with a length of 0 B"),
        (&[(45, 5), (60, 9)], "extension type 5 with a length of 9 B"),
        (&[(45, 5), (60, 40)], "extension type 5 with a length of 40 B"),
        (&[(59, 0)], "IPv4 length is 1064 B, the headers and payload make 832 B"),
        (&[(39, 0)], "UDP length is 1024 B, the headers and payload make 1044 B"),
        (&[(45, 1), (60, 9)], "extension needs 87 B, the buffer holds 78 B: the packet was cut"),
    ] {
        assert_eq!(damaged(changes), want);
    }
    let mut flipped = frame.clone();
    flipped[22] = 63;
    let error = Packet::decode(&flipped, 1_000).expect_err("a wrong checksum");
    assert!(matches!(error, DecodeError::BadIpv4Checksum { .. }), "{error}");
}

#[test]
fn what_has_no_bytes_is_refused() {
    let [frame, ..] = examples();
    let mut packet = Packet::decode(&frame, 1_000).expect("a valid example");
    let needed = packet.headers_len();
    let small = EncodeError::BufferTooSmall { needed, available: needed - 1 };
    assert_eq!(packet.encode_to(&mut vec![0; needed - 1]), Err(small));
    packet.header.payload_len = 65_500;
    assert_eq!(packet.encode(&mut Vec::new()), Err(EncodeError::TooLong(65_564)));
    let bytes = [0; 256];
    packet.extension = Extension { kind: ExtensionType::INT_HPCC, bytes: &bytes };
    let long = EncodeError::BadExtension { kind: 1, len: 256 };
    assert_eq!(packet.encode(&mut Vec::new()), Err(long));
    packet.extension = Extension { kind: ExtensionType::NONE, bytes: &bytes[..1] };
    assert_eq!(packet.encode(&mut Vec::new()), Err(EncodeError::BadExtension { kind: 0, len: 1 }));
}

fn headers() -> impl Strategy<Value = Header> {
    let ids = (any::<u32>(), any::<u32>(), any::<u32>(), 0_u16..60_000, any::<u64>(), any::<u64>());
    let bits = (any::<bool>(), any::<[bool; 8]>(), 0_u8..8, 0_u8..4);
    let flags = [
        Flags::FIN,
        Flags::RETRANSMIT,
        Flags::CWR,
        Flags::SACK_PERMITTED,
        Flags::ECHO_UNTIL_CWR,
        Flags::NACK,
        Flags::ACK_REQUEST,
        Flags::SELECTIVE,
    ];
    (ids, bits).prop_map(move |((flow_id, seq, ack, payload_len, timestamp_ns, timestamp_echo_ns), bits)| {
        Header {
            kind: if bits.0 { PacketKind::Data } else { PacketKind::Ack },
            flags: flags.into_iter().zip(bits.1).fold(Flags::NONE, |all, (flag, on)| all | flag.when(on)),
            class: TrafficClass::new(bits.2).expect("a class"),
            ecn_echo: Codepoint::from_bits(bits.3),
            flow_id,
            seq,
            ack,
            payload_len,
            timestamp_ns,
            timestamp_echo_ns,
        }
    })
}

proptest! {
    #[test]
    fn a_packet_survives_encoding(
        header in headers(),
        macs in any::<([u8; 6], [u8; 6])>(),
        ips in any::<([u8; 4], [u8; 4])>(),
        (ecn, marked, ttl) in (0_u8..4, 0_u8..4, any::<u8>()),
        (kind, bytes) in (1_u8..=255, prop::collection::vec(any::<u8>(), 0..=255)),
    ) {
        // SACK has lengths of its own; a test of the blocks covers it.
        prop_assume!(kind != ExtensionType::SACK.0);
        let mut packet = Packet::new(
            Endpoint { mac: macs.0, ip: ips.0.into() },
            Endpoint { mac: macs.1, ip: ips.1.into() },
            Codepoint::from_bits(ecn),
            header,
        );
        packet.ttl = ttl;
        packet.extension = if bytes.is_empty() {
            Extension::NONE
        } else {
            Extension { kind: ExtensionType(kind), bytes: &bytes }
        };
        let mut frame = vec![0xaa; 3];
        packet.encode(&mut frame).expect("it fits");
        prop_assert_eq!(frame.len(), FRAME_HEADERS_LEN + bytes.len());
        let payload = usize::from(header.payload_len);
        prop_assert_eq!(Packet::decode(&frame, payload), Ok(packet));

        // The payload may be real, and padding may follow.
        let mut real = frame.clone();
        real.resize(frame.len() + payload + 5, 0);
        prop_assert_eq!(Packet::decode(&real, 0), Ok(packet));

        // A switch that patches ECN bits and checksum leaves a valid packet.
        prop_assert!(rewrite_ecn_bits(&mut frame, Codepoint::from_bits(marked)));
        prop_assert_eq!(ecn_bits(&frame), Some(Codepoint::from_bits(marked)));
        let remarked = Packet { ecn: Codepoint::from_bits(marked), ..packet };
        prop_assert_eq!(Packet::decode(&frame, payload), Ok(remarked));

        // Every cut is noticed.
        for len in 0..frame.len() {
            let cut = matches!(Packet::decode(&frame[..len], payload), Err(DecodeError::Truncated { .. }));
            prop_assert!(cut, "cut to {}", len);
        }
        if payload > 0 {
            let cut = matches!(Packet::decode(&frame, payload - 1), Err(DecodeError::Truncated { .. }));
            prop_assert!(cut, "payload cut");
        }
    }

    #[test]
    fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), elsewhere in any::<usize>()) {
        let _ = Packet::decode(&bytes, elsewhere);
    }

    /// Damage that keeps the outer shape reaches the inner checks too.
    #[test]
    fn decoding_damaged_packets_never_panics(
        header in headers(),
        damage in prop::collection::vec((0_usize..FRAME_HEADERS_LEN, any::<u8>()), 0..4),
    ) {
        let packet = Packet::new(SENDER, RECEIVER, Codepoint::from_bits(3), header);
        let mut frame = Vec::new();
        packet.encode(&mut frame).expect("it fits");
        for (at, value) in damage {
            frame[at] = value;
        }
        if let Ok(decoded) = Packet::decode(&frame, usize::from(header.payload_len)) {
            let mut again = Vec::new();
            decoded.encode(&mut again).expect("what was decoded has bytes");
        }
    }
}
