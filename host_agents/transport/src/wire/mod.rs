//! The packet formats: Ethernet and IPv4 or IPv6, then UDP and the p4cc transport header, or TCP.
//! docs/reference/wire-format.md defines them.
//!
//! Packets are real header bytes; the payload is zeros by definition and may be carried as a length only,
//! which is why [`Packet::decode`] takes the number of payload bytes that are not in the buffer.
//!
//! [`user_headers`] are headers of the user's program that data packets carry beside ours.
//!
//! Invariants: encoding and decoding allocate nothing;
//! decoding any bytes gives a packet or a [`DecodeError`].

mod datagram;
mod error;
mod extension;
mod header;
mod ip;
mod ipv6;
mod packet;
mod tcp;
mod tcp_options;
pub mod user_headers;

pub use datagram::Datagram;
pub use error::{DecodeError, EncodeError};
pub use extension::{Extension, ExtensionType};
pub use header::{Flags, Header, PacketKind, TrafficClass};
pub use ip::{Endpoint, TTL, ecn_bits, rewrite_ecn_bits};
pub use ipv6::{IPV6_LEN, ipv6_of, is_ipv6, to_ipv4, to_ipv6};
pub use packet::{
    Packet, decode_trimmed, peek_class, peek_flow_id, peek_source_port, set_source_port, set_wanted,
    source_port,
};
pub use tcp::{Ports, TCP_IP_HEADERS_LEN, TCP_LEN, TcpFlags, TcpHeader, TcpPacket, encode_tcp, is_tcp};
pub use tcp_options::{MAX_TCP_OPTIONS_LEN, MAX_TCP_SACK_BLOCKS, TcpOptions, Timestamps};

/// Version of the p4cc transport header that this code speaks.
pub const VERSION: u8 = 1;

/// UDP destination port of every p4cc packet, data and ACK
/// (dynamic range of RFC6335, so registered by nobody).
pub const UDP_PORT: u16 = 52_224;

/// First port of the dynamic range (RFC6335).
pub(crate) const DYNAMIC_PORTS: u16 = 49_152;

/// Bytes of the Ethernet header.
pub const ETHERNET_LEN: usize = 14;
/// Bytes of the IPv4 header; options are not used.
pub const IPV4_LEN: usize = 20;
/// Bytes of the UDP header.
pub const UDP_LEN: usize = 8;
/// Bytes of the fixed p4cc transport header.
pub const TRANSPORT_LEN: usize = 36;
/// Bytes of IPv4, UDP and fixed transport header: what a packet of 1500 B spends before 1436 B of payload.
pub const IP_HEADERS_LEN: usize = IPV4_LEN + UDP_LEN + TRANSPORT_LEN;
/// Bytes before the payload of a packet without extension.
pub const FRAME_HEADERS_LEN: usize = ETHERNET_LEN + IP_HEADERS_LEN;
