//! Completing the transport checksum of packets whose sender left it to an offload.
//!
//! The kernel hands a packet of a local sender to the other end of a veth pair before anybody computed the
//! checksum of TCP or UDP (the field holds the sum of the pseudo header only). A receiver that gets it from a
//! packet socket drops it as damaged, so that labs must switch offloads off; completing it here makes them
//! work either way.

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// Of customers and of providers (IEEE 802.1Q).
const VLAN_TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Computes the checksum of a TCP or UDP packet over IPv4 or IPv6; false if it is none, or cut short.
pub(crate) fn complete(frame: &mut [u8]) -> bool {
    segment(frame).is_some_and(Segment::complete)
}

/// The same for a packet of which nobody says whether its sender left the checksum to an offload: it did if
/// the field holds the sum of the pseudo header. Where a checksum that was computed has this value
/// by chance, computing it again changes nothing.
#[inline]
pub(crate) fn complete_if_left(frame: &mut [u8]) -> bool {
    segment(frame).is_some_and(|segment| segment.is_left() && segment.complete())
}

/// What a transport checksum is computed of.
struct Segment<'a> {
    pseudo_header: u64,
    protocol: u8,
    bytes: &'a mut [u8],
    /// Where the checksum stands.
    at: usize,
}

/// The segment of a frame, behind at most two VLAN tags; fragments have none.
#[inline]
fn segment(frame: &mut [u8]) -> Option<Segment<'_>> {
    let mut kind_at = 12;
    while kind_at < 20 && VLAN_TAGS.contains(frame.get(kind_at..)?.first_chunk()?) {
        kind_at += 4;
    }
    let kind = *frame.get(kind_at..)?.first_chunk()?;
    let packet = frame.get_mut(kind_at + 2..)?;
    let (addresses, protocol, bytes) = match kind {
        IPV4 => {
            let header = usize::from(packet.first()? & 0x0f) * 4;
            let total = usize::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]));
            let is_fragment = *packet.get(6)? & 0x3f != 0 || *packet.get(7)? != 0;
            if is_fragment {
                return None;
            }
            (sum(packet.get(12..20)?), *packet.get(9)?, packet.get_mut(header..total)?)
        }
        IPV6 => {
            let payload = usize::from(u16::from_be_bytes([*packet.get(4)?, *packet.get(5)?]));
            (sum(packet.get(8..40)?), *packet.get(6)?, packet.get_mut(40..40 + payload)?)
        }
        _ => return None,
    };
    let at = match protocol {
        TCP => 16,
        UDP => 6,
        _ => return None,
    };
    let pseudo_header = addresses + u64::from(protocol) + bytes.len() as u64;
    Some(Segment { pseudo_header, protocol, bytes, at })
}

impl Segment<'_> {
    #[inline]
    fn is_left(&self) -> bool {
        self.bytes
            .get(self.at..self.at + 2)
            .is_some_and(|field| *field == fold(self.pseudo_header).to_be_bytes())
    }

    fn complete(self) -> bool {
        let Some(field) = self.bytes.get_mut(self.at..self.at + 2) else { return false };
        field.fill(0);
        let checksum = match !fold(self.pseudo_header + sum(self.bytes)) {
            // RFC 768: a computed zero is sent as all ones.
            0 if self.protocol == UDP => 0xffff,
            checksum => checksum,
        };
        self.bytes[self.at..self.at + 2].copy_from_slice(&checksum.to_be_bytes());
        true
    }
}

/// Sum of the 16-bit words, an odd byte at the end filled up with zero (RFC 1071).
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    let odd = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    words.map(|word| u64::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u64>() + odd
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet, then what is given.
    fn frame(kind: [u8; 2], packet: &[u8]) -> Vec<u8> {
        [&[0; 12][..], &kind, packet].concat()
    }

    /// RFC 1071: the sum over a segment with its right checksum and its pseudo header is all ones.
    fn holds(frame: &[u8], addresses: std::ops::Range<usize>, protocol: u8, segment: &[u8]) -> bool {
        let pseudo = sum(&frame[addresses]) + u64::from(protocol) + segment.len() as u64;
        fold(pseudo + sum(segment)) == 0xffff
    }

    #[test]
    fn udp_over_ipv4_with_an_odd_length_and_a_trailer() {
        let mut packet = vec![0x45, 0, 0, 31, 0, 0, 0, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([0x12, 0x34, 0x56, 0x78, 0, 11, 0xaa, 0xbb, 1, 2, 3]);
        packet.extend([0xee; 15]);
        let mut frame = frame(IPV4, &packet);
        assert!(complete(&mut frame));
        assert!(holds(&frame, 26..34, UDP, &frame[34..45]));
        assert_eq!(frame[45..], [0xee; 15]);
    }

    #[test]
    fn tcp_over_ipv6() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 20, TCP, 64];
        packet.extend(0..32);
        packet.extend([7; 20]);
        let mut frame = frame(IPV6, &packet);
        assert!(complete(&mut frame));
        assert!(holds(&frame, 22..54, TCP, &frame[54..74]));
    }

    /// Ethernet, tags, then UDP over IPv4 whose checksum field holds what is given.
    fn datagram(tags: &[u8], field: u16, fragment: u16) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 31, 0, 0, 0, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        packet.extend([0x12, 0x34, 0x56, 0x78, 0, 11]);
        packet.extend(field.to_be_bytes());
        packet.extend([1, 2, 3]);
        [&[0; 12][..], tags, &IPV4, &packet].concat()
    }

    /// The sum of the pseudo header: two addresses, protocol 17, 11 bytes.
    const LEFT: u16 = 0x0a00 + 0x0001 + 0x0a00 + 0x0002 + 17 + 11;

    #[test]
    fn a_checksum_is_completed_where_the_pseudo_headers_sum_stands() {
        for tags in [&[][..], &[0x81, 0, 0, 5], &[0x88, 0xa8, 0, 6, 0x81, 0, 0, 5]] {
            let mut frame = datagram(tags, LEFT, 0);
            assert!(complete_if_left(&mut frame));
            let at = 12 + tags.len() + 2;
            assert!(holds(&frame, at + 12..at + 20, UDP, &frame[at + 20..]));
            // What is complete stays.
            let whole = frame.clone();
            assert!(!complete_if_left(&mut frame));
            assert_eq!(frame, whole);
        }
    }

    #[test]
    fn what_a_sender_meant_so_is_left_alone() {
        // No checksum, a wrong one, a fragment, three tags.
        let tags = [0x81, 0, 0, 5, 0x81, 0, 0, 6, 0x81, 0, 0, 7];
        for frame in [
            datagram(&[], 0, 0),
            datagram(&[], LEFT + 1, 0),
            datagram(&[], LEFT, 0x2000),
            datagram(&[], LEFT, 1),
            datagram(&tags, LEFT, 0),
        ] {
            let mut after = frame.clone();
            assert!(!complete_if_left(&mut after));
            assert_eq!(after, frame);
        }
    }

    #[test]
    fn anything_else_is_left_alone() {
        let whole =
            frame(IPV4, &[0x45, 0, 0, 24, 0, 0, 0, 0, 64, TCP, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0]);
        for len in 0..=whole.len() {
            let mut cut = whole[..len].to_vec();
            assert!(!complete(&mut cut), "{len} bytes hold no TCP header");
            assert_eq!(cut, whole[..len]);
        }
        assert!(!complete(&mut frame([0x08, 0x06], &[0; 28])));
    }
}
