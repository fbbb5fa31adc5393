//! A whole packet, from the Ethernet header to the extension.

use core::net::Ipv4Addr;

use super::error::{DecodeError, EncodeError};
use super::extension::Extension;
use super::header::{Header, PAYLOAD_LEN_AT, PacketKind, TrafficClass, is_valid_extension, part, put, take};
use super::ip::{
    Endpoint, Ipv4Fields, PROTOCOL_UDP, TTL, check_ethernet, check_ipv4, write_ethernet, write_ipv4,
};
use super::{
    DYNAMIC_PORTS, ETHERNET_LEN, FRAME_HEADERS_LEN, IP_HEADERS_LEN, IPV4_LEN, TRANSPORT_LEN, UDP_LEN,
    UDP_PORT, is_ipv6,
};
use crate::{AckFields, Codepoint};

/// A p4cc packet without its payload, which is zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Destination MAC address.
    pub dst_mac: [u8; 6],
    /// Source MAC address.
    pub src_mac: [u8; 6],
    /// Source IPv4 address.
    pub src: Ipv4Addr,
    /// Destination IPv4 address.
    pub dst: Ipv4Addr,
    /// ECN bits; the DSCP is zero.
    pub ecn: Codepoint,
    /// Time to live.
    pub ttl: u8,
    /// UDP source port: what makes flows differ for ECMP.
    pub src_port: u16,
    /// The fixed transport header.
    pub header: Header,
    /// The extension.
    pub extension: Extension<'a>,
}

/// The UDP source port of a flow: spread over the dynamic range, so that ECMP spreads flows.
#[inline]
pub const fn source_port(flow_id: u32) -> u16 {
    // Multiplicative hashing by 2^32 over the golden ratio; the upper 14 bits fill the 16384 dynamic ports.
    let spread = flow_id.wrapping_mul(0x9e37_79b1) >> 18;
    DYNAMIC_PORTS + spread as u16
}

/// The flow of a frame, if it is one of ours: nothing is checked.
#[inline]
pub fn peek_flow_id(frame: &[u8]) -> Option<u32> {
    /// Behind version, kind and flags.
    const AT: usize = ETHERNET_LEN + IPV4_LEN + UDP_LEN + 4;
    frame.get(AT..).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_be_bytes(*bytes))
}

/// Behind Ethernet and IPv4.
const SOURCE_PORT_AT: usize = ETHERNET_LEN + IPV4_LEN;

/// The UDP source port of a frame of ours: nothing is checked.
pub fn peek_source_port(frame: &[u8]) -> Option<u16> {
    frame.get(SOURCE_PORT_AT..).and_then(<[u8]>::first_chunk).map(|bytes| u16::from_be_bytes(*bytes))
}

/// The class that the DSCP of a frame selects, over IPv4 or IPv6: nothing else is checked.
pub fn peek_class(frame: &[u8]) -> TrafficClass {
    let byte = |at: usize| frame.get(ETHERNET_LEN + at).copied().unwrap_or_default();
    TrafficClass::of_tos(if is_ipv6(frame) { byte(0) << 4 | byte(1) >> 4 } else { byte(1) })
}

/// Gives a frame of ours another UDP source port.
pub fn set_source_port(frame: &mut [u8], port: u16) {
    if let Some(bytes) = frame.get_mut(SOURCE_PORT_AT..).and_then(<[u8]>::first_chunk_mut) {
        *bytes = port.to_be_bytes();
    }
}

/// Behind all other fields of the fixed header.
const WANTED_AT: usize = FRAME_HEADERS_LEN - 8;

/// Says in a frame of data what credit the flow wants: the field is that of an ACK's timestamp echo.
pub fn set_wanted(frame: &mut [u8], credit: u64) {
    if let Some(bytes) = frame.get_mut(WANTED_AT..).and_then(<[u8]>::first_chunk_mut) {
        *bytes = credit.to_be_bytes();
    }
}

impl<'a> Packet<'a> {
    /// A packet without extension between two hosts, with the flow's port and a fresh time to live.
    #[inline]
    pub const fn new(src: Endpoint, dst: Endpoint, ecn: Codepoint, header: Header) -> Self {
        Self {
            dst_mac: dst.mac,
            src_mac: src.mac,
            src: src.ip,
            dst: dst.ip,
            ecn,
            ttl: TTL,
            src_port: source_port(header.flow_id),
            header,
            extension: Extension::NONE,
        }
    }

    /// The same packet with an extension.
    #[inline]
    #[must_use]
    pub const fn with_extension(self, extension: Extension<'a>) -> Self {
        Self { extension, ..self }
    }

    /// What an ACK says to the sender.
    #[inline]
    pub fn ack_fields(&self) -> AckFields {
        AckFields { hop_count: TTL.saturating_sub(self.ttl), ..self.header.ack_fields(&self.extension) }
    }

    /// Bytes from the Ethernet header to the end of the extension.
    #[inline]
    pub const fn headers_len(&self) -> usize {
        ETHERNET_LEN + IP_HEADERS_LEN + self.extension.bytes.len()
    }

    /// IPv4 length: headers, extension and payload.
    #[inline]
    pub const fn ip_len(&self) -> usize {
        IP_HEADERS_LEN + self.extension.bytes.len() + self.header.payload_len as usize
    }

    /// Replaces the content of `out` by the headers and the
    /// extension; the payload is for the caller to append.
    ///
    /// # Errors
    /// A packet that is too long, or an extension whose type and length contradict each other.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.clear();
        out.resize(self.headers_len(), 0);
        self.encode_to(out).map(|_| ())
    }

    /// Writes the headers and the extension to the start of `out` and returns their length.
    ///
    /// # Errors
    /// As [`Self::encode`], and a buffer that is too small.
    #[inline]
    pub fn encode_to(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let (needed, available) = (self.headers_len(), out.len());
        let too_small = EncodeError::BufferTooSmall { needed, available };
        let (ip_len, ext_len) = self.lengths()?;
        let (headers, rest) = out.split_first_chunk_mut::<FRAME_HEADERS_LEN>().ok_or(too_small)?;
        let extension = rest.get_mut(..self.extension.bytes.len()).ok_or(too_small)?;
        self.write_headers(ip_len, ext_len, headers);
        extension.copy_from_slice(self.extension.bytes);
        Ok(needed)
    }

    /// Writes the headers alone, for a packet whose extension stands where it belongs already.
    ///
    /// # Errors
    /// As [`Self::encode`].
    #[inline(always)]
    pub fn encode_headers(&self, out: &mut [u8; FRAME_HEADERS_LEN]) -> Result<(), EncodeError> {
        let (ip_len, ext_len) = self.lengths()?;
        self.write_headers(ip_len, ext_len, out);
        Ok(())
    }

    /// The lengths of IPv4 and of the extension, if they fit their fields.
    #[inline(always)]
    fn lengths(&self) -> Result<(u16, u8), EncodeError> {
        let (kind, len) = (self.extension.kind.0, self.extension.bytes.len());
        let bad_extension = EncodeError::BadExtension { kind, len };
        if !is_valid_extension(self.extension.kind, self.extension.bytes.len()) {
            return Err(bad_extension);
        }
        let ip_len = u16::try_from(self.ip_len()).map_err(|_| EncodeError::TooLong(self.ip_len()))?;
        Ok((ip_len, u8::try_from(len).map_err(|_| bad_extension)?))
    }

    #[inline(always)]
    fn write_headers(&self, ip_len: u16, ext_len: u8, out: &mut [u8; FRAME_HEADERS_LEN]) {
        let (ethernet, rest) = out.split_at_mut(ETHERNET_LEN);
        let (ipv4, rest) = rest.split_at_mut(IPV4_LEN);
        let (udp, transport) = rest.split_at_mut(UDP_LEN);
        if let (Some(ethernet), Some(ipv4), Some(udp), Some(transport)) = (
            ethernet.first_chunk_mut(),
            ipv4.first_chunk_mut(),
            udp.first_chunk_mut(),
            transport.first_chunk_mut(),
        ) {
            write_ethernet(self.src_mac, self.dst_mac, ethernet);
            let fields = Ipv4Fields {
                tos: self.ecn.bits(),
                len: ip_len,
                ttl: self.ttl,
                protocol: PROTOCOL_UDP,
                src: self.src,
                dst: self.dst,
            };
            write_ipv4(&fields, ipv4);
            self.write_udp(ip_len, udp);
            self.header.write(self.extension.kind, ext_len, transport);
        }
    }

    #[inline]
    fn write_udp(&self, ip_len: u16, out: &mut [u8; UDP_LEN]) {
        put::<2, 0, _>(out, self.src_port.to_be_bytes());
        put::<2, 2, _>(out, UDP_PORT.to_be_bytes());
        put::<2, 4, _>(out, (ip_len - IPV4_LEN as u16).to_be_bytes());
        // Checksum 0: none was computed (RFC768).
        put::<2, 6, _>(out, [0; 2]);
    }

    /// Reads a packet of which `payload_elsewhere` payload
    /// bytes are not in `frame`: 0 for a frame off a real wire.
    ///
    /// Bytes after the packet (Ethernet padding) are ignored.
    ///
    /// # Errors
    /// The first thing that is wrong, from the outside in.
    #[inline]
    pub fn decode(frame: &'a [u8], payload_elsewhere: usize) -> Result<Self, DecodeError> {
        let Some((headers, rest)) = frame.split_first_chunk::<FRAME_HEADERS_LEN>() else {
            return Err(cut(frame));
        };
        let ethernet = part::<ETHERNET_LEN, 0, _>(headers);
        let ipv4 = part::<IPV4_LEN, ETHERNET_LEN, _>(headers);
        let udp = part::<UDP_LEN, { ETHERNET_LEN + IPV4_LEN }, _>(headers);
        let transport = part::<TRANSPORT_LEN, { FRAME_HEADERS_LEN - TRANSPORT_LEN }, _>(headers);
        check_ethernet(ethernet)?;
        check_ipv4_of_udp(ipv4)?;
        check_udp(udp)?;
        let (header, kind, ext_len) = Header::read(transport)?;
        let ext_len = usize::from(ext_len);
        let bytes = rest.get(..ext_len).ok_or(DecodeError::Truncated {
            layer: "extension",
            needed: FRAME_HEADERS_LEN + ext_len,
            available: frame.len(),
        })?;
        let ip_len = IP_HEADERS_LEN + ext_len + usize::from(header.payload_len);
        check_lengths(ip_len, ipv4, udp)?;
        let (needed, available) = (ETHERNET_LEN + ip_len, frame.len().saturating_add(payload_elsewhere));
        if available < needed {
            return Err(DecodeError::Truncated { layer: "payload", needed, available });
        }
        Ok(Self {
            dst_mac: take::<6, 0, _>(ethernet),
            src_mac: take::<6, 6, _>(ethernet),
            src: Ipv4Addr::from(take::<4, 12, _>(ipv4)),
            dst: Ipv4Addr::from(take::<4, 16, _>(ipv4)),
            ecn: Codepoint::from_bits(ipv4[1]),
            ttl: ipv4[8],
            src_port: u16::from_be_bytes(take::<2, 0, _>(udp)),
            header,
            extension: Extension { kind, bytes },
        })
    }
}

/// Reads the headers of data whose payload a switch cut off (docs/algorithms/trimming.md#trimming), lengths
/// of IPv4 and UDP adjusted; none if the frame is something else. The payload's length is what is missing.
#[cold]
pub fn decode_trimmed(frame: &[u8]) -> Option<Packet<'static>> {
    const AT: usize = FRAME_HEADERS_LEN - TRANSPORT_LEN + PAYLOAD_LEN_AT;
    let mut headers = *frame.first_chunk::<FRAME_HEADERS_LEN>()?;
    let payload_len = u16::from_be_bytes(take::<2, AT, _>(&headers));
    // Without a payload the other lengths are right.
    put::<2, AT, _>(&mut headers, [0; 2]);
    let Packet { dst_mac, src_mac, src, dst, ecn, ttl, src_port, header, .. } =
        Packet::decode(&headers, 0).ok()?;
    let is_trimmed = header.kind == PacketKind::Data && payload_len > 0;
    let (header, extension) = (Header { payload_len, ..header }, Extension::NONE);
    is_trimmed.then_some(Packet { dst_mac, src_mac, src, dst, ecn, ttl, src_port, header, extension })
}

/// Whether the lengths of IPv4 and UDP are those of a packet with so many bytes from IPv4 on.
#[inline]
fn check_lengths(ip_len: usize, ipv4: &[u8; IPV4_LEN], udp: &[u8; UDP_LEN]) -> Result<(), DecodeError> {
    let found = usize::from(u16::from_be_bytes(take::<2, 2, _>(ipv4)));
    if found != ip_len {
        return Err(DecodeError::BadLength { layer: "IPv4", found, expected: ip_len });
    }
    let (found, expected) = (usize::from(u16::from_be_bytes(take::<2, 4, _>(udp))), ip_len - IPV4_LEN);
    if found != expected {
        return Err(DecodeError::BadLength { layer: "UDP", found, expected });
    }
    Ok(())
}

/// Why a frame that ends inside its headers is no packet:
/// what is wrong with the layers that are whole comes first.
#[cold]
fn cut(frame: &[u8]) -> DecodeError {
    let cut = |layer, needed| DecodeError::Truncated { layer, needed, available: frame.len() };
    let whole_layers = || {
        let (ethernet, rest) = frame.split_first_chunk().ok_or(cut("Ethernet", ETHERNET_LEN))?;
        check_ethernet(ethernet)?;
        let (ipv4, rest) = rest.split_first_chunk().ok_or(cut("IPv4", ETHERNET_LEN + IPV4_LEN))?;
        check_ipv4_of_udp(ipv4)?;
        let udp = rest.first_chunk().ok_or(cut("UDP", ETHERNET_LEN + IPV4_LEN + UDP_LEN))?;
        check_udp(udp)
    };
    whole_layers().err().unwrap_or(cut("transport header", FRAME_HEADERS_LEN))
}

/// Whether an IPv4 header is one of a datagram of UDP.
#[inline]
fn check_ipv4_of_udp(ipv4: &[u8; IPV4_LEN]) -> Result<(), DecodeError> {
    match check_ipv4(ipv4)? {
        PROTOCOL_UDP => Ok(()),
        other => Err(DecodeError::NotUdp(other)),
    }
}

#[inline]
fn check_udp(udp: &[u8; UDP_LEN]) -> Result<(), DecodeError> {
    let (port, sum) = (u16::from_be_bytes(take::<2, 2, _>(udp)), u16::from_be_bytes(take::<2, 6, _>(udp)));
    if port != UDP_PORT {
        return Err(DecodeError::OtherPort(port));
    }
    if sum != 0 {
        return Err(DecodeError::UnexpectedUdpChecksum(sum));
    }
    Ok(())
}
