//! TCP: the bytes of segments, connections that open and close over lossy ways, and the same traces as over
//! our header.

use core::net::Ipv4Addr;

use p4cc_cc::Mark;
use p4cc_transport::tcp::{Control, TcpClient, TcpServer};
use p4cc_transport::wire::{
    DecodeError, EncodeError, Endpoint, MAX_TCP_OPTIONS_LEN, MAX_TCP_SACK_BLOCKS, Ports, TcpFlags, TcpHeader,
    TcpOptions, TcpPacket, Timestamps, TrafficClass, rewrite_ecn_bits,
};
use p4cc_transport::{AckFields, Codepoint, SackBlocks, Segment, SenderConfig};
use p4cc_units::Time;
use proptest::prelude::*;

use crate::pair::{FINE, Fate, HALF, Pair, config, crossed};
use crate::properties::{configs, fates};

const PORTS: Ports = Ports { src: 50_000, dst: 5_001 };
const DCTCP: &str = r#"{"ecn_profile":"rfc3168","rto_init_ns":300000000,"rto_max_ns":1000000000,
    "cc":{"congestion_avoidance":{"name":"dctcp"}}}"#;

fn ends(config: &SenderConfig) -> (TcpClient, TcpServer) {
    let tcp = config.tcp().expect("a window of TCP");
    (TcpClient::new(&tcp, PORTS, u32::MAX), TcpServer::new(&tcp, PORTS, 7))
}

/// Both ends after a handshake without losses.
fn opened(config: &SenderConfig) -> (TcpClient, TcpServer) {
    let (mut client, mut server) = ends(config);
    let syn = client.open(Time::ZERO);
    let syn = crossed(client.control(syn, Time::ZERO));
    let reply = server.on_segment(Time::ZERO, &syn, Codepoint::NOT_ECT).reply.expect("a SYN-ACK");
    let answer = crossed(server.control(reply, Time::ZERO));
    assert!(client.on_segment(Time::ZERO, &answer).is_opened);
    let ack = crossed(client.control(Control::ClientAck, Time::ZERO));
    server.on_segment(Time::ZERO, &ack, Codepoint::NOT_ECT);
    (client, server)
}

/// RFC1071's checksum over a whole segment behind its pseudo header, word by word.
fn plain_checksum(frame: &[u8]) -> u16 {
    let segment = &frame[34..];
    let mut words: Vec<u8> = frame[26..34].to_vec();
    words.extend([0, 6]);
    words.extend((segment.len() as u16).to_be_bytes());
    words.extend(segment);
    words.resize(words.len().next_multiple_of(2), 0);
    let sum: u32 = words.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    let once = (sum & 0xffff) + (sum >> 16);
    !((once & 0xffff) + (once >> 16)) as u16
}

fn blocks() -> impl Strategy<Value = SackBlocks> {
    prop::collection::vec(any::<(u32, u32)>(), 0..=MAX_TCP_SACK_BLOCKS).prop_map(|ranges| {
        let mut blocks = SackBlocks::NONE;
        ranges.into_iter().for_each(|(start, end)| assert!(blocks.push(start, end)));
        blocks
    })
}

prop_compose! {
    fn options()(
        mss in prop::option::of(any::<u16>()),
        window_scale in prop::option::of(0_u8..=14),
        sack_permitted in any::<bool>(),
        stamps in prop::option::of(any::<(u32, u32)>()),
        sack in blocks(),
    ) -> TcpOptions {
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        TcpOptions { mss, window_scale, sack_permitted, timestamps, sack }
    }
}

prop_compose! {
    fn packets()(
        (src, dst) in any::<(u16, u16)>(),
        (seq, ack, window) in any::<(u32, u32, u16)>(),
        (flags, class, ecn, ttl) in (0_u16..0x200, 0_u8..8, 0_u8..4, any::<u8>()),
        options in options(),
        payload_len in 0_u16..9_000,
        (macs, ips) in any::<(([u8; 6], [u8; 6]), ([u8; 4], [u8; 4]))>(),
    ) -> TcpPacket {
        let flags = TcpFlags::from_bits(flags);
        let header = TcpHeader { ports: Ports { src, dst }, seq, ack, flags, window, options, payload_len };
        let class = TrafficClass::new(class).expect("a class");
        let end = |mac, ip: [u8; 4]| Endpoint { mac, ip: ip.into() };
        let (src, dst) = (end(macs.0, ips.0), end(macs.1, ips.1));
        TcpPacket { ttl, ..TcpPacket::new(src, dst, class, Codepoint::from_bits(ecn), header) }
    }
}

proptest! {
    #[test]
    fn a_segment_survives_encoding(packet in packets(), mark in 0_u8..4) {
        let mut frame = Vec::new();
        let options_len = packet.header.options.len();
        if options_len > MAX_TCP_OPTIONS_LEN {
            prop_assert_eq!(packet.encode(&mut frame), Err(EncodeError::TooManyOptions(options_len)));
            return Ok(());
        }
        packet.encode(&mut frame).expect("it fits");
        prop_assert_eq!(frame.len(), packet.headers_len());
        let payload = usize::from(packet.header.payload_len);
        prop_assert_eq!(TcpPacket::decode(&frame, payload), Ok(packet));

        // The payload may be real, and padding may follow.
        let mut real = frame.clone();
        real.resize(frame.len() + payload, 0);
        prop_assert_eq!(plain_checksum(&real), 0);
        real.resize(real.len() + 5, 0xff);
        prop_assert_eq!(TcpPacket::decode(&real, 0), Ok(packet));

        // Marks leave the TCP checksum right; a change of an address does not.
        prop_assert!(rewrite_ecn_bits(&mut frame, Codepoint::from_bits(mark)));
        let remarked = TcpPacket { ecn: Codepoint::from_bits(mark), ..packet };
        prop_assert_eq!(TcpPacket::decode(&frame, payload), Ok(remarked));
        let mut sent_on = Vec::new();
        let other = Ipv4Addr::from(packet.dst.to_bits() ^ 0x0100);
        TcpPacket { dst: other, ..packet }.encode(&mut sent_on).expect("it fits");
        let at = 34 + 16;
        let damaged = [&sent_on[..at], &frame[at..at + 2], &sent_on[at + 2..]].concat();
        let found = matches!(TcpPacket::decode(&damaged, payload), Err(DecodeError::BadTcpChecksum { .. }));
        prop_assert!(found, "another address, the checksum of before");

        // Every cut is noticed.
        for len in 0..frame.len() {
            let cut = matches!(TcpPacket::decode(&frame[..len], payload), Err(DecodeError::Truncated { .. }));
            prop_assert!(cut, "cut to {}", len);
        }
        if payload > 0 {
            let cut = matches!(TcpPacket::decode(&frame, payload - 1), Err(DecodeError::Truncated { .. }));
            prop_assert!(cut, "payload cut");
        }
    }

    /// Any bytes in place of options are options, or an error that names one; the checksum of a packet with a
    /// fault is what the error says.
    #[test]
    fn any_options_are_read_or_refused(words in prop::collection::vec(any::<u8>(), 0..=10), raw in any::<[u8; 40]>()) {
        let bytes = &raw[..words.len() * 4];
        let header = TcpHeader::default();
        let end = Endpoint { mac: [2; 6], ip: Ipv4Addr::LOCALHOST };
        let mut frame = Vec::new();
        let class = TrafficClass::default();
        TcpPacket::new(end, end, class, Codepoint::NOT_ECT, header).encode(&mut frame).expect("it fits");
        frame.extend(bytes);
        frame[34 + 12] = (5 + words.len() as u8) << 4;
        // IPv4's length and checksum by RFC1624, then TCP's as the error has it.
        frame[17] += bytes.len() as u8;
        let sum = u16::from_be_bytes([frame[24], frame[25]]) - bytes.len() as u16;
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        if let Err(DecodeError::BadTcpChecksum { computed, .. }) = TcpPacket::decode(&frame, 0) {
            frame[50..52].copy_from_slice(&computed.to_be_bytes());
        }
        let read = TcpPacket::decode(&frame, 0);
        let expected = matches!(read, Ok(_) | Err(DecodeError::BadTcpOption { .. }));
        prop_assert!(expected, "{read:?}");
    }

    #[test]
    fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), elsewhere in any::<usize>()) {
        let _ = TcpPacket::decode(&bytes, elsewhere);
    }

    /// Ends that any segments reach panic at nothing, and answer with segments that are TCP.
    #[test]
    fn hostile_segments_change_no_more_than_their_own_connection(
        segments in prop::collection::vec((packets(), any::<bool>()), 0..40),
    ) {
        let (mut client, mut server) = opened(&config(DCTCP));
        for (packet, at_server) in segments {
            let now = Time::from_us(3);
            let header = if at_server {
                let step = server.on_segment(now, &packet.header, packet.ecn);
                step.reply.map(|what| server.control(what, now))
            } else {
                let step = client.on_segment(now, &packet.header);
                step.reply.map(|what| client.control(what, now))
            };
            if let Some(header) = header {
                prop_assert_eq!(crossed(header), header);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Over TCP a flow does what it does over our header, whatever data packets meet: a trace has each
    /// window, each repetition and each mark. SACK has three blocks in place of four, so it may know a hole
    /// later.
    #[test]
    fn a_flow_over_tcp_does_what_it_does_over_our_header(
        given in configs(),
        segments in 1_u64..80,
        fates in fates(),
    ) {
        let flow_bytes = segments * u64::from(given.mss_bytes) - u64::from(given.mss_bytes) / 2;
        let fate = |fates: Vec<Fate>| move |_: u64, _: bool, count: u64| {
            fates.get(count as usize).copied().unwrap_or(FINE)
        };
        let mut ours = Pair::new(&given, flow_bytes, fate(fates.clone()));
        let mut tcp = Pair::new(&given, flow_bytes, fate(fates)).over_tcp(&given);
        let done = [ours.run(100_000, |_| {}), tcp.run(100_000, |_| {})];
        prop_assert_eq!(done, [true; 2]);
        prop_assert_eq!((tcp.delivered_bytes, tcp.completions), (flow_bytes, 1));
        if given.recovery != p4cc_transport::Recovery::Sack {
            prop_assert_eq!(tcp.trace, ours.trace);
            prop_assert_eq!(tcp.completed, ours.completed);
        }
    }
}

/// Two holes are three blocks or fewer, so that SACK too sends what it sends over our header.
#[test]
fn sack_repairs_the_same_holes() {
    let given = config(r#"{"recovery":"sack","ssthresh0":8}"#);
    let lossy = |segment: u64, again: bool, _| {
        if !again && (segment == 15 || segment == 18) { Fate::Drop } else { FINE }
    };
    let mut ours = Pair::new(&given, 40 * 1_436, lossy);
    let mut tcp = Pair::new(&given, 40 * 1_436, lossy).over_tcp(&given);
    assert!(ours.run(10_000, |_| {}) && tcp.run(10_000, |_| {}));
    assert!(!tcp.sacked.is_empty() && tcp.trace.contains("fast retransmit"));
    assert_eq!(tcp.trace, ours.trace);
}

/// RFC3168 6.1.1, RFC7323, RFC2018: what both ends say of themselves.
#[test]
fn a_handshake_says_what_both_ends_can() {
    let (mut client, mut server) = ends(&config(
        r#"{"recovery":"sack","ecn_profile":"rfc3168","rwnd":1000,
        "cc":{"congestion_avoidance":{"name":"reno_ecn"}}}"#,
    ));
    let now = Time::from_us(5);
    assert_eq!(client.open(now), Control::Syn);
    let syn = crossed(client.control(Control::Syn, now));
    assert_eq!(syn.flags, TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR);
    assert_eq!((syn.seq, syn.ack, syn.window), (u32::MAX, 0, u16::MAX));
    let options = TcpOptions {
        mss: Some(1_436),
        window_scale: Some(5),
        sack_permitted: true,
        ..TcpOptions::timestamps(5_000, 0)
    };
    assert_eq!(syn.options, options);
    let now = Time::from_us(9);
    assert_eq!(server.on_segment(now, &syn, Codepoint::NOT_ECT).reply, Some(Control::SynAck));
    let answer = crossed(server.control(Control::SynAck, now));
    assert_eq!(answer.flags, TcpFlags::SYN | TcpFlags::ACK | TcpFlags::ECE);
    assert_eq!((answer.seq, answer.ack, answer.ports), (7, 0, PORTS.reversed()));
    assert_eq!(
        answer.options,
        TcpOptions { timestamps: TcpOptions::timestamps(9_000, 5_000).timestamps, ..options }
    );
    let step = client.on_segment(Time::from_us(13), &answer);
    assert_eq!((step.reply, step.is_opened), (Some(Control::ClientAck), true));
    let ack = crossed(client.control(Control::ClientAck, Time::from_us(13)));
    assert_eq!((ack.flags, ack.seq, ack.ack), (TcpFlags::ACK, 0, 8));
    // 1,436,000 B in units of 32.
    assert_eq!((ack.window, ack.options), (44_875, TcpOptions::timestamps(13_000, 9_000)));
    assert_eq!(server.on_segment(Time::from_us(17), &ack, Codepoint::NOT_ECT), Default::default());
    assert_eq!((client.deadline(), server.deadline()), (None, None));
}

/// A server, or something on the way, that does not speak ECN: data is not capable, and nothing is echoed.
#[test]
fn without_agreement_there_is_no_ecn() {
    let (mut client, mut server) = ends(&config(DCTCP));
    client.open(Time::ZERO);
    let mut syn = client.control(Control::Syn, Time::ZERO);
    assert!(syn.flags.has_all(TcpFlags::ECE | TcpFlags::CWR));
    syn.flags = TcpFlags::SYN;
    server.on_segment(Time::ZERO, &crossed(syn), Codepoint::NOT_ECT);
    let answer = crossed(server.control(Control::SynAck, Time::ZERO));
    assert_eq!(answer.flags, TcpFlags::SYN | TcpFlags::ACK);
    assert!(client.on_segment(Time::ZERO, &answer).is_opened);
    let segment = Segment { len: 100, cwr: true, ecn: Codepoint::from_bits(2), ..Segment::default() };
    assert_eq!(client.ecn(&segment), Codepoint::NOT_ECT);
    assert_eq!(client.data(&segment, Time::ZERO).flags, TcpFlags::ACK);
    let ack = server.ack(&AckFields { ecn_echo: Codepoint::CE, ..AckFields::default() }, Time::ZERO);
    assert_eq!(ack.flags, TcpFlags::ACK);
}

/// RFC8257 and the draft on SCE: one flag for each level, in every profile.
#[test]
fn each_level_of_a_mark_has_its_flag() {
    for (profile, levels) in [("rfc3168", 2), ("sce", 3), ("gst", 3)] {
        let given = config(&format!(
            r#"{{"ecn_profile":"{profile}","cc":{{"congestion_avoidance":{{"name":"dctcp"}}}}}}"#
        ));
        let profile = given.ecn_profile.expect("a profile");
        let flags = [(Mark::None, TcpFlags::NONE), (Mark::Kdc, TcpFlags::ECE), (Mark::K, TcpFlags::ESCE)];
        for (mark, flag) in flags.into_iter().take(levels) {
            let (mut client, mut server) = opened(&given);
            let fields = AckFields { ecn_echo: profile.codepoint(mark), ..AckFields::default() };
            let ack = crossed(server.ack(&fields, Time::ZERO));
            assert_eq!(ack.flags, TcpFlags::ACK | flag, "{profile:?} {mark:?}");
            let read = client.on_segment(Time::ZERO, &ack).ack.expect("an ACK");
            assert_eq!(profile.mark(read.ecn_echo), mark);
        }
    }
}

/// RFC6298 5.5: what opens and closes is repeated at doubled times, up to the largest.
#[test]
fn what_is_lost_of_a_handshake_is_repeated() {
    let (mut client, mut server) = ends(&config(DCTCP));
    let ms = |ms: u64| Time::from_us(ms * 1_000);
    client.open(Time::ZERO);
    client.control(Control::Syn, Time::ZERO);
    // The first two SYNs are lost.
    assert_eq!((client.deadline(), client.on_timer(ms(299))), (Some(ms(300)), None));
    assert_eq!((client.on_timer(ms(300)), client.deadline()), (Some(Control::Syn), Some(ms(900))));
    assert_eq!((client.on_timer(ms(900)), client.deadline()), (Some(Control::Syn), Some(ms(1_900))));
    let syn = crossed(client.control(Control::Syn, ms(900)));
    assert_eq!(syn.seq, u32::MAX, "one number, however often");
    assert_eq!(server.on_segment(ms(901), &syn, Codepoint::NOT_ECT).reply, Some(Control::SynAck));
    // The first answer is lost; the server repeats it by itself, and for a SYN that comes again.
    assert_eq!(server.on_timer(ms(1_201)), Some(Control::SynAck));
    assert_eq!(server.on_segment(ms(1_901), &syn, Codepoint::NOT_ECT).reply, Some(Control::SynAck));
    let answer = crossed(server.control(Control::SynAck, ms(1_901)));
    assert!(client.on_segment(ms(1_902), &answer).is_opened);
    let again = client.on_segment(ms(1_903), &answer);
    assert_eq!((again.is_opened, again.reply), (false, Some(Control::ClientAck)), "a second answer");
    assert_eq!((client.deadline(), client.timeouts()), (None, 2));
    // The client's ACK is lost; its data opens the connection too.
    let segment = Segment { len: 100, ..Segment::default() };
    let data = crossed(client.data(&segment, ms(1_903)));
    let step = server.on_segment(ms(1_904), &data, Codepoint::from_bits(2));
    assert_eq!(step.data.map(|data| (data.seq, data.len)), Some((0, 100)));
    assert_eq!(server.deadline(), None);
}

/// The four segments of an end; a lost one is repeated.
#[test]
fn a_connection_ends_in_both_directions() {
    let (mut client, mut server) = opened(&config(DCTCP));
    let now = Time::from_us(50);
    let segment = Segment { len: 100, fin: true, ..Segment::default() };
    let last = crossed(client.data(&segment, now));
    assert_eq!(last.flags, TcpFlags::ACK | TcpFlags::FIN | TcpFlags::PSH);
    let data = server.on_segment(now, &last, Codepoint::NOT_ECT).data.expect("data");
    assert!(data.fin);
    let ack = crossed(server.ack(&AckFields { ack: 100, ..AckFields::default() }, now));
    assert_eq!(ack.ack, 101, "FIN has a number of its own");
    let fields = client.on_segment(now, &ack).ack.expect("an ACK");
    assert_eq!((fields.ack, client.close(now)), (100, None), "data carried FIN");
    assert_eq!(server.close(now), Some(Control::ServerFin));
    let fin = crossed(server.control(Control::ServerFin, now));
    assert_eq!((fin.flags, fin.seq, fin.ack), (TcpFlags::ACK | TcpFlags::FIN, 8, 101));
    let step = client.on_segment(now, &fin);
    assert_eq!((step.reply, step.ack), (Some(Control::ClientAck), None), "no duplicate ACK");
    // The last ACK is lost.
    assert_eq!(server.on_timer(now + HALF * 10_000), Some(Control::ServerFin));
    assert_eq!(client.on_segment(now, &fin).reply, Some(Control::ClientAck));
    let ack = crossed(client.control(Control::ClientAck, now));
    assert_eq!((ack.seq, ack.ack), (101, 9));
    assert_eq!(server.on_segment(now, &ack, Codepoint::NOT_ECT), Default::default());
    assert_eq!(server.deadline(), None);
}

/// A flow that its application closes has sent its last byte already.
#[test]
fn a_connection_closed_without_data_sends_a_fin_of_its_own() {
    let (mut client, mut server) = opened(&config(DCTCP));
    let now = Time::from_us(50);
    let data = crossed(client.data(&Segment { len: 100, ..Segment::default() }, now));
    server.on_segment(now, &data, Codepoint::NOT_ECT);
    assert_eq!(client.close(now), Some(Control::ClientFin));
    let fin = crossed(client.control(Control::ClientFin, now));
    assert_eq!((fin.flags, fin.seq), (TcpFlags::ACK | TcpFlags::FIN, 100));
    let told = server.on_segment(now, &fin, Codepoint::NOT_ECT).data.expect("an end");
    assert_eq!((told.seq, told.len, told.fin), (100, 0, true));
    assert!(client.deadline().is_some());
    let ack = crossed(server.ack(&AckFields { ack: 100, ..AckFields::default() }, now));
    client.on_segment(now, &ack);
    assert_eq!((ack.ack, client.deadline()), (101, None));
}
