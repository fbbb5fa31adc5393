//! A TCP segment over Ethernet and IPv4 (RFC9293 3.1). docs/reference/wire-format.md#tcp defines what p4cc
//! sends.
//!
//! The payload is zeros by definition and may be carried as a length only, as that of [`super::Packet`]; a
//! checksum needs its length alone then.

use core::net::Ipv4Addr;

use super::error::{DecodeError, EncodeError};
use super::header::{part, put, take};
use super::ip::{
    Endpoint, Ipv4Fields, PROTOCOL_TCP, TTL, check_ethernet, check_ipv4, checksum_from, sum_of,
    write_ethernet, write_ipv4,
};
use super::tcp_options::{MAX_TCP_OPTIONS_LEN, TcpOptions};
use super::{ETHERNET_LEN, IPV4_LEN, TrafficClass};
use crate::Codepoint;

/// Bytes of a TCP header without options.
pub const TCP_LEN: usize = 20;
/// Bytes of IPv4 and TCP in front of a segment's payload: timestamps are its only option.
pub const TCP_IP_HEADERS_LEN: usize = IPV4_LEN + TCP_LEN + 12;
/// Bytes before the options.
const FIXED_LEN: usize = ETHERNET_LEN + IPV4_LEN + TCP_LEN;
/// Where the protocol of IPv4 stands in a frame.
const PROTOCOL_AT: usize = ETHERNET_LEN + 9;
/// Where the checksum stands in a TCP header.
const CHECKSUM_AT: usize = 16;

/// The nine flag bits: none, one of the constants, or some of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct TcpFlags(u16);

impl TcpFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The sender's last byte was sent.
    pub const FIN: Self = Self(0x001);
    /// Begins a connection.
    pub const SYN: Self = Self(0x002);
    /// Ends a connection at once.
    pub const RST: Self = Self(0x004);
    /// The application waits for these bytes.
    pub const PSH: Self = Self(0x008);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(0x010);
    /// Congestion was experienced (RFC3168); in a SYN: the sender speaks ECN.
    pub const ECE: Self = Self(0x040);
    /// The window was cut (RFC3168); in a SYN beside ECE.
    pub const CWR: Self = Self(0x080);
    /// A mark of the lower of two levels was met: the bit of RFC3540's nonce, as the draft on SCE uses it.
    pub const ESCE: Self = Self(0x100);

    const ALL: u16 = 0x1ff;

    /// These flags if so, else none.
    #[inline]
    #[must_use]
    pub const fn when(self, so: bool) -> Self {
        if so { self } else { Self::NONE }
    }

    /// Whether it has one of these flags.
    #[inline]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Whether it has all of these flags.
    #[inline]
    pub const fn has_all(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The low nine bits of `bits`.
    #[inline]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL)
    }
}

impl core::ops::BitOr for TcpFlags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The two ports of a connection, seen from who sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Ports {
    /// Source port.
    pub src: u16,
    /// Destination port.
    pub dst: u16,
}

impl Ports {
    /// Those of the other direction.
    #[inline]
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src }
    }
}

/// The TCP header of a segment, and the length of its payload.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpHeader {
    /// Ports.
    pub ports: Ports,
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Next byte expected, with ACK.
    pub ack: u32,
    /// Flags.
    pub flags: TcpFlags,
    /// Window, scaled but in SYN segments.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Payload bytes.
    pub payload_len: u16,
}

/// A TCP segment in a frame, without its payload, which is zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpPacket {
    /// Destination MAC address.
    pub dst_mac: [u8; 6],
    /// Source MAC address.
    pub src_mac: [u8; 6],
    /// Source IPv4 address.
    pub src: Ipv4Addr,
    /// Destination IPv4 address.
    pub dst: Ipv4Addr,
    /// Traffic class: a class selector of DSCP (RFC2474 4.2.2).
    pub class: TrafficClass,
    /// ECN bits.
    pub ecn: Codepoint,
    /// Time to live.
    pub ttl: u8,
    /// The TCP header.
    pub header: TcpHeader,
}

/// Whether a frame says that it holds IPv4 with TCP: nothing is checked.
#[inline]
pub fn is_tcp(frame: &[u8]) -> bool {
    frame.get(PROTOCOL_AT) == Some(&PROTOCOL_TCP)
}

impl TcpPacket {
    /// A segment between two hosts with a fresh time to live.
    #[inline]
    pub const fn new(
        src: Endpoint,
        dst: Endpoint,
        class: TrafficClass,
        ecn: Codepoint,
        header: TcpHeader,
    ) -> Self {
        Self { dst_mac: dst.mac, src_mac: src.mac, src: src.ip, dst: dst.ip, class, ecn, ttl: TTL, header }
    }

    /// Bytes from the Ethernet header to the end of the options.
    #[inline]
    pub const fn headers_len(&self) -> usize {
        self.header.frame_len()
    }

    /// Replaces the content of `out` by the headers; the payload is for the caller to append.
    ///
    /// # Errors
    /// As [`Self::encode_to`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.clear();
        out.resize(self.headers_len(), 0);
        self.encode_to(out)
    }

    /// Writes the headers to the start of `out`.
    ///
    /// # Errors
    /// A packet that is too long, more options than a header has room for, a buffer that is too small.
    #[inline]
    pub fn encode_to(&self, out: &mut [u8]) -> Result<(), EncodeError> {
        let src = Endpoint { mac: self.src_mac, ip: self.src };
        let dst = Endpoint { mac: self.dst_mac, ip: self.dst };
        encode_tcp(src, dst, self.class, self.ecn, self.ttl, &self.header, out)
    }

    /// Reads a segment of which `payload_elsewhere` payload bytes, zeros, are not in `frame`.
    ///
    /// Bytes after the packet (Ethernet padding) are ignored. The urgent pointer is not read.
    ///
    /// # Errors
    /// The first thing that is wrong, from the outside in.
    #[inline]
    pub fn decode(frame: &[u8], payload_elsewhere: usize) -> Result<Self, DecodeError> {
        let Some((fixed, rest)) = frame.split_first_chunk::<FIXED_LEN>() else {
            return Err(cut(frame));
        };
        let ethernet = part::<ETHERNET_LEN, 0, _>(fixed);
        let ipv4 = part::<IPV4_LEN, ETHERNET_LEN, _>(fixed);
        let tcp = part::<TCP_LEN, { ETHERNET_LEN + IPV4_LEN }, _>(fixed);
        check_ethernet(ethernet)?;
        check_ipv4_of_tcp(ipv4)?;
        let ip_len = usize::from(u16::from_be_bytes(take::<2, 2, _>(ipv4)));
        let (tcp_len, header_len) = (ip_len.saturating_sub(IPV4_LEN), usize::from(tcp[12] >> 4) * 4);
        if header_len < TCP_LEN || header_len > tcp_len {
            return Err(DecodeError::BadTcpHeader { len: header_len, available: tcp_len });
        }
        let options = rest.get(..header_len - TCP_LEN).ok_or(DecodeError::Truncated {
            layer: "TCP options",
            needed: ETHERNET_LEN + IPV4_LEN + header_len,
            available: frame.len(),
        })?;
        let (needed, available) = (ETHERNET_LEN + ip_len, frame.len().saturating_add(payload_elsewhere));
        if available < needed {
            return Err(DecodeError::Truncated { layer: "payload", needed, available });
        }
        let (src, dst) = (Ipv4Addr::from(take::<4, 12, _>(ipv4)), Ipv4Addr::from(take::<4, 16, _>(ipv4)));
        let segment = frame.get(ETHERNET_LEN + IPV4_LEN..needed.min(frame.len())).unwrap_or_default();
        check_sum(src, dst, tcp_len, segment, tcp)?;
        let flags = u16::from_be_bytes(take::<2, 12, _>(tcp));
        let tos = ipv4[1];
        let mut packet = Self {
            dst_mac: take::<6, 0, _>(ethernet),
            src_mac: take::<6, 6, _>(ethernet),
            src,
            dst,
            class: TrafficClass::of_tos(tos),
            ecn: Codepoint::from_bits(tos),
            ttl: ipv4[8],
            header: TcpHeader {
                ports: Ports {
                    src: u16::from_be_bytes(take::<2, 0, _>(tcp)),
                    dst: u16::from_be_bytes(take::<2, 2, _>(tcp)),
                },
                seq: u32::from_be_bytes(take::<4, 4, _>(tcp)),
                ack: u32::from_be_bytes(take::<4, 8, _>(tcp)),
                flags: TcpFlags::from_bits(flags),
                window: u16::from_be_bytes(take::<2, 14, _>(tcp)),
                options: TcpOptions::default(),
                // Both are lengths of 16 bits.
                payload_len: (tcp_len - header_len) as u16,
            },
        };
        packet.header.options.read(options)?;
        Ok(packet)
    }
}

/// Writes the headers of a segment that leaves its host to the start of `out`.
///
/// # Errors
/// As [`TcpPacket::encode_to`].
#[inline]
pub fn encode_tcp(
    src: Endpoint,
    dst: Endpoint,
    class: TrafficClass,
    ecn: Codepoint,
    ttl: u8,
    header: &TcpHeader,
    out: &mut [u8],
) -> Result<(), EncodeError> {
    let options_len = header.options.len();
    let too_small = EncodeError::BufferTooSmall { needed: FIXED_LEN + options_len, available: out.len() };
    if options_len > MAX_TCP_OPTIONS_LEN {
        return Err(EncodeError::TooManyOptions(options_len));
    }
    let tcp_len = TCP_LEN + options_len + usize::from(header.payload_len);
    let ip_len = u16::try_from(IPV4_LEN + tcp_len).map_err(|_| EncodeError::TooLong(IPV4_LEN + tcp_len))?;
    let (ethernet, rest) = out.split_first_chunk_mut().ok_or(too_small)?;
    let (ipv4, rest) = rest.split_first_chunk_mut().ok_or(too_small)?;
    let (tcp, rest) = rest.split_first_chunk_mut().ok_or(too_small)?;
    let options = rest.get_mut(..options_len).ok_or(too_small)?;
    write_ethernet(src.mac, dst.mac, ethernet);
    let tos = class.get() << 5 | ecn.bits();
    let (src, dst) = (src.ip, dst.ip);
    write_ipv4(&Ipv4Fields { tos, len: ip_len, ttl, protocol: PROTOCOL_TCP, src, dst }, ipv4);
    header.options.write(options);
    let sum = options_sum(options) + pseudo_header_sum(src, dst, tcp_len);
    header.write(sum, options_len, tcp);
    Ok(())
}

impl TcpHeader {
    /// Bytes of the frame of a segment in front of its payload.
    #[inline]
    pub const fn frame_len(&self) -> usize {
        FIXED_LEN + self.options.len()
    }

    /// The fixed header, with a checksum over what has this sum too.
    #[inline]
    fn write(&self, sum: u64, options_len: usize, out: &mut [u8; TCP_LEN]) {
        // At most 15 words of four bytes.
        let offset = ((TCP_LEN + options_len) / 4) as u32;
        let ports = u32::from(self.ports.src) << 16 | u32::from(self.ports.dst);
        let fourth = offset << 28 | u32::from(self.flags.0) << 16 | u32::from(self.window);
        let sum = sum + u64::from(ports) + u64::from(self.seq) + u64::from(self.ack) + u64::from(fourth);
        put::<4, 0, _>(out, ports.to_be_bytes());
        put::<4, 4, _>(out, self.seq.to_be_bytes());
        put::<4, 8, _>(out, self.ack.to_be_bytes());
        put::<4, 12, _>(out, fourth.to_be_bytes());
        put::<4, 16, _>(out, (u32::from(checksum_from(sum)) << 16).to_be_bytes());
    }
}

/// The sum of the options that were written here.
#[inline]
fn options_sum(options: &[u8]) -> u64 {
    match <&[u8; 12]>::try_from(options) {
        // The usual length, in three words.
        Ok(bytes) => {
            let word =
                |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            u64::from(word(0)) + u64::from(word(4)) + u64::from(word(8))
        }
        Err(_) => sum_of(options),
    }
}

/// The sum of what a checksum takes from IPv4 (RFC9293 3.1).
#[inline]
fn pseudo_header_sum(src: Ipv4Addr, dst: Ipv4Addr, tcp_len: usize) -> u64 {
    u64::from(src.to_bits()) + u64::from(dst.to_bits()) + u64::from(PROTOCOL_TCP) + tcp_len as u64
}

/// Whether the checksum of a segment is right; zeros that are not in the buffer add nothing to it.
#[inline]
fn check_sum(
    src: Ipv4Addr,
    dst: Ipv4Addr,
    tcp_len: usize,
    segment: &[u8],
    tcp: &[u8; TCP_LEN],
) -> Result<(), DecodeError> {
    let sum = sum_of(segment) + pseudo_header_sum(src, dst, tcp_len);
    if checksum_from(sum) == 0 {
        return Ok(());
    }
    let found = u16::from_be_bytes(take::<2, CHECKSUM_AT, _>(tcp));
    // Without the sum's own share: in one's complement, adding the complement takes away.
    let computed = checksum_from(sum + u64::from(!found));
    Err(DecodeError::BadTcpChecksum { found, computed })
}

#[inline]
fn check_ipv4_of_tcp(ipv4: &[u8; IPV4_LEN]) -> Result<(), DecodeError> {
    match check_ipv4(ipv4)? {
        PROTOCOL_TCP => Ok(()),
        other => Err(DecodeError::NotTcp(other)),
    }
}

/// Why a frame that ends inside its headers is no segment: what is wrong with the layers that are whole comes
/// first.
#[cold]
fn cut(frame: &[u8]) -> DecodeError {
    let cut = |layer, needed| DecodeError::Truncated { layer, needed, available: frame.len() };
    let whole_layers = || {
        let (ethernet, rest) = frame.split_first_chunk().ok_or(cut("Ethernet", ETHERNET_LEN))?;
        check_ethernet(ethernet)?;
        let ipv4 = rest.first_chunk().ok_or(cut("IPv4", ETHERNET_LEN + IPV4_LEN))?;
        check_ipv4_of_tcp(ipv4)
    };
    whole_layers().err().unwrap_or(cut("TCP", FIXED_LEN))
}
