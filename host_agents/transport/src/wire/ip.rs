//! Ethernet and IPv4 headers: written, checked, and ECN bits in place.

use core::net::Ipv4Addr;

use super::error::DecodeError;
use super::header::{put, take};
use super::{ETHERNET_LEN, IPV4_LEN};
use crate::Codepoint;

/// Initial time to live.
pub const TTL: u8 = 64;
pub(super) const PROTOCOL_TCP: u8 = 6;
pub(super) const PROTOCOL_UDP: u8 = 17;
const ETHERTYPE_IPV4: u16 = 0x0800;
const VERSION_IHL: u8 = 0x45;
/// "Don't fragment": every packet is atomic, so the identification may be zero (RFC6864).
const DONT_FRAGMENT: u16 = 0x4000;
/// Offset of the byte with DSCP and ECN in an Ethernet frame.
const TOS: usize = ETHERNET_LEN + 1;
/// Offset of the IPv4 header checksum in an Ethernet frame.
const CHECKSUM: usize = ETHERNET_LEN + 10;

/// What differs between IPv4 headers of p4cc.
#[derive(Clone, Copy)]
pub(super) struct Ipv4Fields {
    /// DSCP and ECN.
    pub tos: u8,
    /// From the IPv4 header on.
    pub len: u16,
    pub ttl: u8,
    pub protocol: u8,
    pub src: Ipv4Addr,
    pub dst: Ipv4Addr,
}

/// A host as its packets name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Endpoint {
    /// MAC address; of a destination, that of the next hop.
    pub mac: [u8; 6],
    /// IPv4 address.
    pub ip: Ipv4Addr,
}

#[inline]
pub(super) fn write_ethernet(src: [u8; 6], dst: [u8; 6], out: &mut [u8; ETHERNET_LEN]) {
    put::<6, 0, _>(out, dst);
    put::<6, 6, _>(out, src);
    put::<2, 12, _>(out, ETHERTYPE_IPV4.to_be_bytes());
}

#[inline]
pub(super) fn write_ipv4(fields: &Ipv4Fields, out: &mut [u8; IPV4_LEN]) {
    let words = [
        u32::from(VERSION_IHL) << 24 | u32::from(fields.tos) << 16 | u32::from(fields.len),
        u32::from(DONT_FRAGMENT),
        u32::from(fields.ttl) << 24 | u32::from(fields.protocol) << 16,
        fields.src.to_bits(),
        fields.dst.to_bits(),
    ];
    put::<4, 0, _>(out, words[0].to_be_bytes());
    put::<4, 4, _>(out, words[1].to_be_bytes());
    put::<4, 8, _>(out, (words[2] | u32::from(checksum_of(words))).to_be_bytes());
    put::<4, 12, _>(out, words[3].to_be_bytes());
    put::<4, 16, _>(out, words[4].to_be_bytes());
}

#[inline]
pub(super) fn check_ethernet(ethernet: &[u8; ETHERNET_LEN]) -> Result<(), DecodeError> {
    match u16::from_be_bytes(take::<2, 12, _>(ethernet)) {
        ETHERTYPE_IPV4 => Ok(()),
        other => Err(DecodeError::NotIpv4(other)),
    }
}

/// The protocol in an IPv4 header that is whole, without options and no fragment's.
#[inline]
pub(super) fn check_ipv4(ipv4: &[u8; IPV4_LEN]) -> Result<u8, DecodeError> {
    let words = words(ipv4);
    let version_ihl = (words[0] >> 24) as u8;
    if version_ihl != VERSION_IHL {
        return Err(DecodeError::BadIpv4Header(version_ihl));
    }
    let (found, computed) = (words[2] as u16, checksum_of(words));
    // RFC1624: 0x0000 and 0xffff are the same number in one's complement; a patched checksum may show either.
    if found != computed && !((found ^ computed) == u16::MAX && (found == 0 || computed == 0)) {
        return Err(DecodeError::BadIpv4Checksum { found, computed });
    }
    // More-fragments flag or an offset.
    let fragment = words[1] as u16;
    if fragment & 0x3fff != 0 {
        return Err(DecodeError::Fragment(fragment));
    }
    Ok((words[2] >> 16) as u8)
}

/// The sum of bytes as big-endian words of 16 bits, not folded; an odd last byte is the upper half of a word.
#[inline]
pub(super) fn sum_of(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let whole: u64 = words
        .by_ref()
        .map(|word| u64::from(u32::from_be_bytes(word.first_chunk().copied().unwrap_or_default())))
        .sum();
    let mut last = [0; 4];
    for (place, byte) in last.iter_mut().zip(words.remainder()) {
        *place = *byte;
    }
    whole + u64::from(u32::from_be_bytes(last))
}

/// The checksum that such a sum gives (RFC1071).
#[inline]
pub(super) const fn checksum_from(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
    !fold(sum as u32)
}

/// A header as words of 32 bits.
#[inline]
pub(super) fn words(header: &[u8; IPV4_LEN]) -> [u32; IPV4_LEN / 4] {
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    [word(0), word(4), word(8), word(12), word(16)]
}

/// The RFC1071 checksum over the words of a header, whose own
/// checksum, the lower half of the third, counts as zero.
#[inline]
pub(super) fn checksum_of([a, b, c, d, e]: [u32; IPV4_LEN / 4]) -> u16 {
    // A sum of words of 32 bits folds to that of their halves.
    let sum = u64::from(a) + u64::from(b) + u64::from(c & 0xffff_0000) + u64::from(d) + u64::from(e);
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    // At most 2^32 + 3 by now, which one more step brings below 2^17.
    !fold(((sum & 0xffff) + (sum >> 16)) as u32)
}

/// Adds the carries back in until the sum fits 16 bits.
#[inline]
const fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    // The second fold leaves at most 16 bits.
    ((once & 0xffff) + (once >> 16)) as u16
}

/// The ECN bits of an Ethernet frame with IPv4; none if it is too short.
pub fn ecn_bits(frame: &[u8]) -> Option<Codepoint> {
    frame.get(TOS).map(|tos| Codepoint::from_bits(*tos))
}

/// Rewrites the ECN bits and patches the checksum as a
/// switch does (RFC1624); false if the frame is too short.
pub fn rewrite_ecn_bits(frame: &mut [u8], codepoint: Codepoint) -> bool {
    if frame.len() < ETHERNET_LEN + IPV4_LEN {
        return false;
    }
    let old = u16::from_be_bytes([frame[ETHERNET_LEN], frame[TOS]]);
    let new = (old & !0b11) | u16::from(codepoint.bits());
    let sum = u16::from_be_bytes([frame[CHECKSUM], frame[CHECKSUM + 1]]);
    // RFC1624 equation 3: HC' = ~(~HC + ~m + m').
    let patched = !fold(u32::from(!sum) + u32::from(!old) + u32::from(new));
    frame[TOS] = new.to_be_bytes()[1];
    frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&patched.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_a_known_header() {
        // The worked example of the RFC791 checksum that many texts print: 192.168.0.1 to 192.168.0.199, UDP.
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01,
            0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum_of(words(&header)), 0xb861);
    }

    #[test]
    fn a_short_frame_is_left_alone() {
        assert_eq!(ecn_bits(&[0; 15]), None);
        assert!(!rewrite_ecn_bits(&mut [0; 33], Codepoint::NOT_ECT));
    }
}
