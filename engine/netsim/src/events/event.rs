//! Events: what happens where and when, and which of two events comes first.
//!
//! The order is: time, kind (dequeue, arrival, timer, start), node, port, sequence number
//! (docs/algorithms/README.md#simultaneous-events). A sequence number counts the events that a node has
//! scheduled for itself; the arrivals at a port come over one channel and are numbered among all arrivals.
//! Everything behind the time is one word, so that two events are compared by two words.

use p4cc_units::Time;

use super::timer::Timer;

/// What happens, in the order of simultaneous events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A port is free again.
    Dequeue = 0,
    /// A packet reaches a node.
    Arrival = 1,
    /// A timer of a node; see [`Timer`].
    Timer = 2,
    /// A flow starts.
    Start = 3,
}

/// Bits of the key's fields below the time. Nodes and ports are bounded by the description; a sequence number
/// may wrap after 2^39 events of one node without harm, as it decides only between events of one instant.
const PORT_BITS: u32 = 9;
const SEQ_BITS: u32 = 39;
const NODE_SHIFT: u32 = PORT_BITS + SEQ_BITS;
const KIND_SHIFT: u32 = NODE_SHIFT + 14;

/// Where a channel's packets arrive: kind, node and port as events have them.
pub(crate) fn arrival_place(node: u32, port: u32) -> u32 {
    Event::new(Time::ZERO, Kind::Arrival, node, port, 0, 0).place()
}

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Event {
    time: Time,
    /// Place within the instant: kind, node, port and sequence number.
    below: u64,
    /// Channel of an arrival, flow of a start, what a timer concerns.
    pub subject: u32,
}

impl Event {
    /// An event at its place in the order of events.
    #[inline]
    pub fn new(time: Time, kind: Kind, node: u32, port: u32, seq: u64, subject: u32) -> Self {
        let place = (kind as u64) << KIND_SHIFT | u64::from(node) << NODE_SHIFT | u64::from(port) << SEQ_BITS;
        Self::from_key(time, place | (seq & ((1 << SEQ_BITS) - 1)), subject)
    }

    /// The arrival of a channel's packet at a place that [`arrival_place`] gives.
    #[inline]
    pub fn arrival(time: Time, place: u32, seq: u64, channel: u32) -> Self {
        let below = u64::from(place) << SEQ_BITS | (seq & ((1 << SEQ_BITS) - 1));
        Self { time, below, subject: channel }
    }

    /// An event from its time and its place within the instant.
    #[inline]
    pub fn from_key(time: Time, below: u64, subject: u32) -> Self {
        Self { time, below, subject }
    }

    /// Its place within the instant.
    #[inline]
    pub fn below(&self) -> u64 {
        self.below
    }

    /// Kind, node and port.
    #[inline]
    fn place(&self) -> u32 {
        (self.below >> SEQ_BITS) as u32
    }

    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }

    /// The order of events as one number.
    #[inline]
    pub fn key(&self) -> u128 {
        u128::from(self.time.as_ps()) << 64 | u128::from(self.below)
    }

    #[inline]
    pub fn kind(&self) -> Kind {
        match self.place() >> (KIND_SHIFT - SEQ_BITS) {
            0 => Kind::Dequeue,
            1 => Kind::Arrival,
            2 => Kind::Timer,
            _ => Kind::Start,
        }
    }

    /// The timer of an event of that kind.
    #[inline]
    pub fn timer(&self) -> Timer {
        Timer::decode(self.port(), self.subject)
    }

    #[inline]
    pub fn node(&self) -> u32 {
        (self.place() >> PORT_BITS) & ((1 << (KIND_SHIFT - NODE_SHIFT)) - 1)
    }

    #[inline]
    pub fn port(&self) -> u32 {
        self.place() & ((1 << PORT_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Span;

    use super::*;
    use crate::events::timing_wheel::TimingWheel;

    #[test]
    fn fields_come_out_as_they_went_in() {
        let event = Event::new(Time::from_ps(u64::MAX), Kind::Start, 16_383, 511, u64::MAX, 7);
        assert_eq!((event.time(), event.kind()), (Time::from_ps(u64::MAX), Kind::Start));
        assert_eq!((event.node(), event.port(), event.subject), (16_383, 511, 7));
    }

    #[test]
    fn ties_are_broken_by_kind_node_port_and_sequence() {
        let t = Time::from_ns(5);
        let sorted = [
            Event::new(Time::from_ns(4), Kind::Start, 9, 9, 9, 0),
            Event::new(t, Kind::Dequeue, 2, 0, 9, 1),
            Event::new(t, Kind::Arrival, 0, 3, 9, 2),
            Event::new(t, Kind::Arrival, 1, 2, 9, 3),
            Event::new(t, Kind::Arrival, 1, 3, 4, 4),
            Event::new(t, Kind::Arrival, 1, 3, 5, 5),
            Event::new(t, Kind::Timer, 0, 0, 0, 6),
            Event::new(t, Kind::Start, 0, 0, 0, 7),
        ];
        let mut queue = TimingWheel::new(Span::from_ns(1));
        for i in [3, 7, 1, 0, 6, 2, 5, 4] {
            queue.push(sorted[i]);
        }
        let popped: Vec<u32> =
            core::iter::from_fn(|| queue.pop_until(t)).map(|event| event.subject).collect();
        assert_eq!(popped, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn nothing_after_the_limit_is_given() {
        let mut queue = TimingWheel::new(Span::from_ns(1));
        queue.push(Event::new(Time::from_ns(5), Kind::Timer, 0, 0, 0, 0));
        assert_eq!(queue.pop_until(Time::from_ns(4)), None);
        assert!(queue.pop_until(Time::from_ns(5)).is_some());
    }
}
