//! IPv4 checksum and ECN bits in place.

use super::{ETHERNET_LEN, IPV4_LEN};
use crate::Codepoint;

/// Offset of the byte with DSCP and ECN in an Ethernet frame.
const TOS: usize = ETHERNET_LEN + 1;
/// Offset of the IPv4 header checksum in an Ethernet frame.
const CHECKSUM: usize = ETHERNET_LEN + 10;

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
