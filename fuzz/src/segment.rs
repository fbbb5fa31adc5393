//! Any frame at a host: p4cc's own packets, TCP segments, either over IPv6, and both ends of a TCP connection
//! behind them.
//!
//! The first byte says how many payload bytes are carried as a length; then come frames, each a byte for its
//! length and the bytes.

use p4cc_transport::tcp::{TcpClient, TcpServer};
use p4cc_transport::wire::{Endpoint, Packet, Ports, TcpPacket, to_ipv4, to_ipv6};
use p4cc_transport::{Codepoint, SenderConfig};
use p4cc_units::Time;

use crate::bytes::Bytes;
use crate::corpus;

/// Frames that one input may hold.
const MAX_FRAMES: usize = 16;

fn ends() -> (TcpClient, TcpServer) {
    let tcp = SenderConfig::default().tcp().expect("a window of TCP");
    let ports = Ports { src: 50_000, dst: 5_001 };
    (TcpClient::new(&tcp, ports, 1), TcpServer::new(&tcp, ports, 2))
}

pub(crate) fn run(input: &[u8]) {
    let (mut client, mut server) = ends();
    let mut input = Bytes(input);
    let elsewhere = usize::from(input.byte()) * 256;
    client.open(Time::ZERO);
    for number in 0..MAX_FRAMES {
        if input.is_empty() {
            return;
        }
        let length = usize::from(input.byte());
        let frame = input.take(length);
        let now = Time::from_us(number as u64);
        let (mut again, mut plain) = (Vec::new(), Vec::new());
        let frame = match to_ipv4(frame, elsewhere, &mut plain) {
            Ok(()) => {
                assert!(to_ipv6(&plain, 1, &mut again), "what came over IPv6 goes over IPv6");
                &plain
            }
            Err(_) => frame,
        };
        if let Ok(packet) = Packet::decode(frame, elsewhere) {
            packet.encode(&mut again).expect("what was decoded has bytes");
            assert_eq!(Packet::decode(&again, usize::from(packet.header.payload_len)), Ok(packet));
        }
        let Ok(packet) = TcpPacket::decode(frame, elsewhere) else { continue };
        if packet.encode(&mut again).is_ok() {
            assert_eq!(TcpPacket::decode(&again, usize::from(packet.header.payload_len)), Ok(packet));
        }
        let from_server = client.on_segment(now, &packet.header).reply.map(|what| client.control(what, now));
        let from_client =
            server.on_segment(now, &packet.header, packet.ecn).reply.map(|what| server.control(what, now));
        for header in from_server.into_iter().chain(from_client) {
            TcpPacket { header, ..packet }.encode(&mut again).expect("an answer has bytes");
        }
    }
}

/// A handshake, and what is kept.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let (mut client, mut server) = ends();
    let mut input = vec![0];
    let host = |last: u8| Endpoint { mac: [2, 0, 0, 0, 0, last], ip: [10, 0, 0, last].into() };
    let mut add = |header| {
        let mut frame = Vec::new();
        let packet = TcpPacket::new(host(1), host(2), <_>::default(), Codepoint::NOT_ECT, header);
        packet.encode(&mut frame).expect("a control segment fits");
        input.push(frame.len() as u8);
        input.extend(frame);
    };
    let syn = client.open(Time::ZERO);
    let syn = client.control(syn, Time::ZERO);
    add(syn);
    if let Some(answer) = server.on_segment(Time::ZERO, &syn, Codepoint::NOT_ECT).reply {
        add(server.control(answer, Time::ZERO));
    }
    let kept = corpus::kept("segment");
    [input].into_iter().chain(kept).collect()
}
