//! IPv6 on the wire: a frame of IPv4 with UDP or TCP, and the same datagram over IPv6 (RFC8200).
//!
//! Hosts have one IPv4 address each, and the IPv6 address that holds it (RFC6052 2.2, under a prefix of
//! RFC4193). What a host sends is made over IPv4 and put over IPv6 as the last step; what arrives is put back
//! as the first. So the formats behind do not know of IPv6.
//!
//! | IPv4 | IPv6 |
//! |---|---|
//! | DSCP and ECN, TTL, protocol | traffic class, hop limit, next header |
//! | total length | payload length, 20 B less |
//! | UDP checksum 0 | the checksum, which IPv6 asks for (RFC8200 8.1) |
//! | TCP checksum | over the other addresses |

use core::net::{Ipv4Addr, Ipv6Addr};

use super::error::DecodeError;
use super::header::{put, take};
use super::ip::{
    Ipv4Fields, PROTOCOL_TCP, PROTOCOL_UDP, check_ethernet, check_ipv4, checksum_from, sum_of, write_ipv4,
};
use super::{ETHERNET_LEN, IPV4_LEN};

/// Bytes of the IPv6 header; extension headers are not used.
pub const IPV6_LEN: usize = 40;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// The first twelve bytes of every host's address: fd00::/96.
const PREFIX: [u8; 12] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Where the checksum of UDP and of TCP stands.
const UDP_CHECKSUM_AT: usize = 6;
const TCP_CHECKSUM_AT: usize = 16;

/// The IPv6 address of the host with an IPv4 address.
pub fn ipv6_of(address: Ipv4Addr) -> Ipv6Addr {
    let mut bytes = [0; 16];
    bytes[..12].copy_from_slice(&PREFIX);
    bytes[12..].copy_from_slice(&address.octets());
    Ipv6Addr::from(bytes)
}

/// Whether a frame says that it holds IPv6: nothing is checked.
#[inline]
pub fn is_ipv6(frame: &[u8]) -> bool {
    frame.get(12..ETHERNET_LEN) == Some(&ETHERTYPE_IPV6.to_be_bytes())
}

/// Replaces the content of `out` by a frame over IPv6 that has the datagram of one over IPv4; the payload
/// that is not in either is zeros. False for what is no IPv4 with UDP or TCP.
///
/// `flow` makes the flow label (RFC6437 3: evenly spread, one for each flow).
pub fn to_ipv6(frame: &[u8], flow: u32, out: &mut Vec<u8>) -> bool {
    let Some((ethernet, rest)) = frame.split_first_chunk::<ETHERNET_LEN>() else { return false };
    let Some((ipv4, segment)) = rest.split_first_chunk::<IPV4_LEN>() else { return false };
    let (Ok(()), Ok(protocol)) = (check_ethernet(ethernet), check_ipv4(ipv4)) else { return false };
    let Some(at) = checksum_at(protocol) else { return false };
    let total = u16::from_be_bytes(take::<2, 2, _>(ipv4));
    let Some(len) = total.checked_sub(IPV4_LEN as u16) else { return false };
    let mut header = [0; IPV6_LEN];
    let label = flow.wrapping_mul(0x9e37_79b1) >> 12;
    put::<4, 0, _>(&mut header, (6 << 28 | u32::from(ipv4[1]) << 20 | label).to_be_bytes());
    put::<2, 4, _>(&mut header, len.to_be_bytes());
    (header[6], header[7]) = (protocol, ipv4[8]);
    put::<16, 8, _>(&mut header, ipv6_of(take::<4, 12, _>(ipv4).into()).octets());
    put::<16, 24, _>(&mut header, ipv6_of(take::<4, 16, _>(ipv4).into()).octets());
    out.clear();
    out.extend(&ethernet[..12]);
    out.extend(ETHERTYPE_IPV6.to_be_bytes());
    out.extend(header);
    out.extend(segment);
    let segment = &mut out[ETHERNET_LEN + IPV6_LEN..];
    let Some(place) = segment.get_mut(at..at + 2) else { return false };
    place.fill(0);
    let sum = match checksum_from(sum_of(segment) + pseudo_header_sum(&header)) {
        // RFC768: 0 says that there is none.
        0 if protocol == PROTOCOL_UDP => u16::MAX,
        sum => sum,
    };
    segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

/// Replaces the content of `out` by a frame over IPv4 that has the datagram of one over IPv6, of which
/// `payload_elsewhere` bytes, zeros, are not in `frame`.
///
/// # Errors
/// The first thing that is wrong, from the outside in, a wrong checksum among it.
pub fn to_ipv4(frame: &[u8], payload_elsewhere: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let cut = |layer, needed| DecodeError::Truncated { layer, needed, available: frame.len() };
    let (ethernet, rest) = frame.split_first_chunk::<ETHERNET_LEN>().ok_or(cut("Ethernet", ETHERNET_LEN))?;
    let found = u16::from_be_bytes(take::<2, 12, _>(ethernet));
    if found != ETHERTYPE_IPV6 {
        return Err(DecodeError::NotIpv6(found));
    }
    let (header, rest) = rest.split_first_chunk::<IPV6_LEN>().ok_or(cut("IPv6", ETHERNET_LEN + IPV6_LEN))?;
    let first = u32::from_be_bytes(take::<4, 0, _>(header));
    if first >> 28 != 6 {
        return Err(DecodeError::BadIpv6Version((first >> 28) as u8));
    }
    let (len, protocol) = (u16::from_be_bytes(take::<2, 4, _>(header)), header[6]);
    let at = checksum_at(protocol).ok_or(DecodeError::OtherNextHeader(protocol))?;
    let (needed, available) =
        (ETHERNET_LEN + IPV6_LEN + usize::from(len), frame.len().saturating_add(payload_elsewhere));
    if available < needed {
        return Err(DecodeError::Truncated { layer: "payload", needed, available });
    }
    let segment = &rest[..rest.len().min(usize::from(len))];
    let place = segment.get(at..at + 2).ok_or(cut("transport header", ETHERNET_LEN + IPV6_LEN + at + 2))?;
    let sum = sum_of(segment) + pseudo_header_sum(header);
    if checksum_from(sum) != 0 || place == [0, 0] && protocol == PROTOCOL_UDP {
        let found = u16::from_be_bytes([place[0], place[1]]);
        return Err(DecodeError::BadChecksum { found, computed: checksum_from(sum + u64::from(!found)) });
    }
    let (src, dst) = (ipv4_in(take::<16, 8, _>(header))?, ipv4_in(take::<16, 24, _>(header))?);
    let total = IPV4_LEN as u32 + u32::from(len);
    let total = u16::try_from(total).map_err(|_| DecodeError::BadLength {
        layer: "IPv6",
        found: usize::from(len),
        expected: usize::from(u16::MAX) - IPV4_LEN,
    })?;
    let fields = Ipv4Fields { tos: (first >> 20) as u8, len: total, ttl: header[7], protocol, src, dst };
    let mut ipv4 = [0; IPV4_LEN];
    write_ipv4(&fields, &mut ipv4);
    out.clear();
    out.extend(&ethernet[..12]);
    out.extend(0x0800_u16.to_be_bytes());
    out.extend(ipv4);
    out.extend(segment);
    let segment = &mut out[ETHERNET_LEN + IPV4_LEN..];
    segment[at..at + 2].fill(0);
    if protocol == PROTOCOL_TCP {
        let addresses = u64::from(src.to_bits()) + u64::from(dst.to_bits());
        let sum = checksum_from(sum_of(segment) + addresses + u64::from(protocol) + u64::from(len));
        segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    Ok(())
}

const fn checksum_at(protocol: u8) -> Option<usize> {
    match protocol {
        PROTOCOL_UDP => Some(UDP_CHECKSUM_AT),
        PROTOCOL_TCP => Some(TCP_CHECKSUM_AT),
        _ => None,
    }
}

/// The IPv4 address that a host's address holds.
fn ipv4_in(address: [u8; 16]) -> Result<Ipv4Addr, DecodeError> {
    match address.split_first_chunk::<12>() {
        Some((&PREFIX, &[a, b, c, d])) => Ok(Ipv4Addr::new(a, b, c, d)),
        _ => Err(DecodeError::OtherPrefix(address.into())),
    }
}

/// The sum of what a checksum takes from IPv6 (RFC8200 8.1).
fn pseudo_header_sum(header: &[u8; IPV6_LEN]) -> u64 {
    let len = u16::from_be_bytes(take::<2, 4, _>(header));
    sum_of(&header[8..]) + u64::from(len) + u64::from(header[6])
}
