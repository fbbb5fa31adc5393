//! Bolt's extension as ends write and read it (docs/reference/wire-format.md, extension 9;
//! docs/algorithms/bolt.md#bolt-header).

use p4cc_cc::QueueNotice;
use p4cc_units::{Bytes, Rate, Span, Time};

use crate::wire::{Extension, ExtensionType};

/// Its length.
pub(crate) const BYTES: usize = 12;

const FIRST: u8 = 0x80;
const LAST: u8 = 0x40;
const INC: u8 = 0x20;
const DEC: u8 = 0x10;

/// A packet's place among its flow's windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Nothing came back yet.
    pub is_first: bool,
    /// Nothing is left to send behind the window that begins with it.
    pub is_last: bool,
}

/// What a data packet leaves with.
#[inline]
pub(crate) fn extension(place: Place) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[0] = match (place.is_first, place.is_last) {
        (true, true) => FIRST | LAST,
        (true, false) => FIRST,
        (false, true) => LAST,
        (false, false) => INC,
    };
    bytes
}

/// What came back: whether one packet more is offered, and the queue that a switch tells of.
#[inline]
pub(crate) fn read(now: Time, sent_ns: u64, extension: &Extension<'_>) -> (bool, Option<QueueNotice>) {
    let bytes = <&[u8; BYTES]>::try_from(extension.bytes).ok();
    let Some(bytes) = bytes.filter(|_| extension.kind == ExtensionType::BOLT) else { return (false, None) };
    let [flags, _, _, _, a, b, c, d, e, f, g, h] = *bytes;
    let link_kbps = u32::from_be_bytes([e, f, g, h]);
    let notice = (flags & DEC != 0 && link_kbps != 0).then(|| QueueNotice {
        now,
        elapsed: Span::from_ns(now.as_ns().saturating_sub(sent_ns)),
        queue: Bytes(u32::from_be_bytes([a, b, c, d]).into()),
        link_rate: Rate::from_bps(u64::from(link_kbps) * 1_000),
    });
    (flags & (INC | DEC) == INC, notice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_packet_makes_its_flags() {
        let flags = |is_first, is_last| extension(Place { is_first, is_last })[0];
        assert_eq!(flags(true, false), FIRST);
        assert_eq!(flags(true, true), FIRST | LAST, "a flow of one window leaves no place");
        assert_eq!(flags(false, true), LAST);
        assert_eq!(flags(false, false), INC);
        assert_eq!(extension(Place { is_first: false, is_last: false })[1..], [0; 11]);
    }

    #[test]
    fn a_notice_is_a_queue_with_its_rate() {
        let now = Time::from_us(10);
        let told = |kind, bytes: &[u8]| read(now, 4_000, &Extension { kind, bytes });
        let mut bytes = [DEC, 0, 0, 0, 0, 1, 0, 0, 5, 0xf5, 0xe1, 0];
        let notice = QueueNotice {
            now,
            elapsed: Span::from_us(6),
            queue: Bytes(65_536),
            link_rate: Rate::from_bps(100_000_000_000),
        };
        assert_eq!(told(ExtensionType::BOLT, &bytes), (false, Some(notice)));
        assert_eq!(told(ExtensionType::CNP, &bytes), (false, None));
        assert_eq!(told(ExtensionType::BOLT, &bytes[..8]), (false, None), "cut");
        // Where the switch told the sender itself, the ACK says only that it did.
        bytes[8..].fill(0);
        assert_eq!(told(ExtensionType::BOLT, &bytes), (false, None));
        bytes[0] = INC;
        assert_eq!(told(ExtensionType::BOLT, &bytes), (true, None));
        bytes[0] = INC | DEC;
        assert_eq!(told(ExtensionType::BOLT, &bytes), (false, None), "a queue takes the offer back");
    }
}
