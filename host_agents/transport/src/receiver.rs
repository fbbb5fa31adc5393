//! The receiving end of a flow: cumulative ACKs and the echo of what each packet met (spec 2, 3.2, 6.3).
//!
//! One ACK per data packet, at once, with that packet's ECN bits and timestamp. The echo is the raw codepoint:
//! what it means is the sender's knowledge, so one receiver serves every profile. A [`Receipt`] can hold two ACKs
//! because delayed ACKs, when they come, must send one for the old state and one for the new (spec 3.2).
//!
//! Invariant: what is kept out of order never exceeds the receiver window.

use smallvec::{SmallVec, smallvec};

use crate::reassembly::{Insert, Reassembly};
use crate::{Codepoint, seq};

/// What a data packet says to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataFields {
    /// Low 32 bits of the position of the first payload byte.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// The packet ends the flow.
    pub fin: bool,
    /// ECN bits with which the packet arrived.
    pub ecn: Codepoint,
    /// When it was sent, by the sender's clock.
    pub timestamp_ns: u64,
}

/// What an ACK says to the sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AckFields {
    /// Low 32 bits of the next byte expected.
    pub ack: u32,
    /// ECN bits of the packet that caused this ACK.
    pub ecn_echo: Codepoint,
    /// Its timestamp, unchanged.
    pub timestamp_echo_ns: u64,
}

/// What became of a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It advanced the stream.
    InOrder,
    /// It is kept until the bytes before it come.
    OutOfOrder,
    /// It brought nothing new.
    Duplicate,
    /// It lies outside the receiver window, or contradicts the end of the flow.
    Refused,
}

/// The answer to one data packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// ACKs to send, in order.
    pub acks: SmallVec<[AckFields; 2]>,
    /// What became of the packet.
    pub outcome: Outcome,
    /// Bytes that are now in order and were not before.
    pub delivered_bytes: u64,
    /// The stream is whole with this packet; true at most once.
    pub completed: bool,
}

/// The receiving end of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    stream: Reassembly,
    /// One past the last byte, once a packet with FIN told.
    flow_end: Option<u64>,
    complete: bool,
}

impl Receiver {
    /// A receiver whose window is `rwnd_segments` of `mss_bytes`.
    pub fn new(rwnd_segments: u32, mss_bytes: u32) -> Self {
        let window_bytes = u64::from(rwnd_segments) * u64::from(mss_bytes);
        Self {
            stream: Reassembly::new(window_bytes, rwnd_segments as usize),
            flow_end: None,
            complete: false,
        }
    }

    /// Takes a data packet and answers it.
    pub fn on_data(&mut self, data: &DataFields) -> Receipt {
        let before = self.stream.next();
        let outcome = self.insert(data);
        let completed = !self.complete && self.flow_end == Some(self.stream.next());
        self.complete |= completed;
        let ack = AckFields {
            ack: seq::wrap(self.stream.next()),
            ecn_echo: data.ecn,
            timestamp_echo_ns: data.timestamp_ns,
        };
        Receipt { acks: smallvec![ack], outcome, delivered_bytes: self.stream.next() - before, completed }
    }

    fn insert(&mut self, data: &DataFields) -> Outcome {
        let Some(start) = seq::unwrap(data.seq, self.stream.next()) else { return Outcome::Refused };
        let Some(end) = start.checked_add(u64::from(data.len)) else { return Outcome::Refused };
        let contradicts = match self.flow_end {
            Some(flow_end) => end > flow_end || (data.fin && end != flow_end),
            None => data.fin && end < self.stream.highest(),
        };
        if contradicts {
            return Outcome::Refused;
        }
        let outcome = match self.stream.insert(start, end) {
            Insert::Advanced(_) => Outcome::InOrder,
            Insert::Kept => Outcome::OutOfOrder,
            Insert::Duplicate => Outcome::Duplicate,
            Insert::Refused => return Outcome::Refused,
        };
        if data.fin {
            self.flow_end = Some(end);
        }
        outcome
    }

    /// Bytes received in order.
    pub const fn delivered_bytes(&self) -> u64 {
        self.stream.next()
    }

    /// Bytes kept out of order.
    pub fn kept_bytes(&self) -> u64 {
        self.stream.kept_bytes()
    }

    /// Whether the stream is whole.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u32, len: u32, fin: bool) -> DataFields {
        DataFields { seq, len, fin, ecn: Codepoint::from_bits(2), timestamp_ns: 7 }
    }

    #[test]
    fn every_packet_is_acknowledged_with_its_own_echo() {
        let mut receiver = Receiver::new(4, 100);
        let receipt = receiver.on_data(&data(100, 100, false));
        let ack = AckFields { ack: 0, ecn_echo: Codepoint::from_bits(2), timestamp_echo_ns: 7 };
        assert_eq!((receipt.acks.as_slice(), receipt.outcome), ([ack].as_slice(), Outcome::OutOfOrder));
        let receipt = receiver.on_data(&data(0, 100, false));
        assert_eq!((receipt.acks[0].ack, receipt.delivered_bytes), (200, 200));
        assert_eq!(receiver.on_data(&data(0, 100, false)).outcome, Outcome::Duplicate);
        assert_eq!(receiver.on_data(&data(600, 100, false)).outcome, Outcome::Refused);
    }

    #[test]
    fn the_end_comes_once_and_cannot_be_moved() {
        let mut receiver = Receiver::new(4, 100);
        assert!(!receiver.on_data(&data(100, 50, true)).completed);
        assert_eq!(receiver.on_data(&data(150, 10, false)).outcome, Outcome::Refused);
        assert_eq!(receiver.on_data(&data(0, 50, true)).outcome, Outcome::Refused);
        assert!(receiver.on_data(&data(0, 100, false)).completed);
        assert!(!receiver.on_data(&data(100, 50, true)).completed);
        assert!(receiver.is_complete());
    }
}
