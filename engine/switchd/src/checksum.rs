//! Completing the transport checksum of packets whose sender left it to an offload.
//!
//! The kernel hands a packet of a local sender to the other end of a veth pair before anybody computed the
//! checksum of TCP or UDP (the field holds the sum of the pseudo header only). A receiver that gets it from a
//! packet socket drops it as damaged, so that labs must switch offloads off; completing it here makes them
//! work either way.

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Computes the checksum of a TCP or UDP packet over IPv4 or IPv6; false if it is none, or cut short.
pub(crate) fn complete(frame: &mut [u8]) -> bool {
    complete_inner(frame).is_some()
}

fn complete_inner(frame: &mut [u8]) -> Option<()> {
    let kind = [*frame.get(12)?, *frame.get(13)?];
    let packet = frame.get_mut(14..)?;
    let (addresses, protocol, segment) = match kind {
        IPV4 => {
            let header = usize::from(packet.first()? & 0x0f) * 4;
            let total = usize::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]));
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
    segment.get_mut(at..at + 2)?.fill(0);
    let total = addresses + u64::from(protocol) + segment.len() as u64 + sum(segment);
    let checksum = match !fold(total) {
        // RFC 768: a computed zero is sent as all ones.
        0 if protocol == UDP => 0xffff,
        checksum => checksum,
    };
    segment.get_mut(at..at + 2)?.copy_from_slice(&checksum.to_be_bytes());
    Some(())
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
