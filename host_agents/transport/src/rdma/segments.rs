//! Round-trip times by segment: one sample when all of a segment
//! is acknowledged (docs/algorithms/timely.md#rtt-sample).
//!
//! A segment is what the host hands to its interface at once. Its last packet asks for an ACK, so that the
//! sample does not wait for a receiver that acknowledges rarely.

use std::collections::VecDeque;

use p4cc_units::{Span, Time};

/// A segment that packets are being made of.
#[derive(Clone, Copy, Debug)]
struct Current {
    end: u64,
    began: Time,
    wire_bytes: u64,
}

/// A segment that has left whole.
#[derive(Clone, Copy, Debug)]
struct Flying {
    end: u64,
    began: Time,
    /// Its time at the rate of the interface.
    serialisation: Span,
}

/// The segments of one flow; at most as many as there are packets in flight.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    bytes: u64,
    current: Option<Current>,
    flying: VecDeque<Flying>,
}

impl Segments {
    pub fn new(bytes: u64) -> Self {
        Self { bytes, current: None, flying: VecDeque::new() }
    }

    /// End of the segment to which the byte at `next` belongs; `end` is that of what there is to send.
    pub fn end_of(&self, next: u64, end: u64) -> u64 {
        self.current.map_or((next + self.bytes).min(end), |current| current.end)
    }

    /// End of the segment that has left in part.
    pub fn begun(&self) -> Option<u64> {
        self.current.map(|current| current.end)
    }

    /// A packet up to byte `next` leaves; `serialisation` gives the time
    /// of the whole segment's bytes. True if it is the segment's last.
    pub fn sent(
        &mut self,
        now: Time,
        next: u64,
        end: u64,
        wire: u64,
        serialisation: impl FnOnce(u64) -> Span,
    ) -> bool {
        let current = self.current.get_or_insert(Current { end, began: now, wire_bytes: 0 });
        current.wire_bytes += wire;
        let Current { end, began, wire_bytes } = *current;
        if next < end {
            return false;
        }
        self.current = None;
        self.flying.push_back(Flying { end, began, serialisation: serialisation(wire_bytes) });
        true
    }

    /// The sender goes on at byte `next`, earlier or later
    /// than expected: what it sends there is a new segment.
    pub fn restart(&mut self, next: u64) {
        self.current = None;
        while self.flying.back().is_some_and(|segment| segment.end > next) {
            self.flying.pop_back();
        }
    }

    /// docs/algorithms/timely.md#rtt-sample: "t_completion - t_send -
    /// seg_bytes*8/NIC_rate" of the newest segment that this ACK completes.
    pub fn complete(&mut self, now: Time, ack: u64) -> Option<Span> {
        let mut newest = None;
        while self.flying.front().is_some_and(|segment| segment.end <= ack) {
            newest = self.flying.pop_front();
        }
        let Flying { began, serialisation, .. } = newest?;
        Some(Span::from_ps(now.since(began).as_ps().saturating_sub(serialisation.as_ps())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packets of one segment, then a short one; each sample is freed of its own segment's time.
    #[test]
    fn a_sample_for_each_segment() {
        let mut segments = Segments::new(2_000);
        let per_byte = |bytes| Span::from_ns(bytes);
        assert_eq!(segments.end_of(0, 2_500), 2_000);
        assert!(!segments.sent(Time::from_us(1), 1_000, 2_000, 1_064, per_byte));
        assert_eq!(segments.end_of(1_000, 2_500), 2_000);
        assert!(segments.sent(Time::from_us(2), 2_000, 2_000, 1_064, per_byte));
        assert_eq!(segments.end_of(2_000, 2_500), 2_500);
        assert!(segments.sent(Time::from_us(3), 2_500, 2_500, 564, per_byte));
        assert_eq!(segments.complete(Time::from_us(9), 1_999), None);
        assert_eq!(segments.complete(Time::from_us(9), 2_000), Some(Span::from_ns(8_000 - 2_128)));
        assert_eq!(segments.complete(Time::from_us(10), 2_500), Some(Span::from_ns(7_000 - 564)));
        assert_eq!(segments.complete(Time::from_us(11), 2_500), None);
    }

    /// Going back forgets what lies behind.
    #[test]
    fn going_back_starts_anew() {
        let mut segments = Segments::new(1_000);
        for end in [1_000, 2_000, 3_000] {
            segments.sent(Time::ZERO, end, end, 0, |_| Span::ZERO);
        }
        segments.restart(1_000);
        assert_eq!(segments.end_of(1_500, 9_000), 2_500);
        assert_eq!(segments.complete(Time::from_us(5), 3_000), Some(Span::from_us(5)));
        assert!(segments.flying.is_empty());
    }
}
