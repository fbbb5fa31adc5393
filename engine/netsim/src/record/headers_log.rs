//! The fields of the user's headers that arrived at one host.
//!
//! Bytes are kept, and read when the table is made.

use p4cc_units::Time;

use crate::describe::spec::HeadersRecordSpec;
use crate::record::bounded::Log;

/// Which end of a flow they arrived at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// At the receiver, in a data packet.
    Receiver,
    /// At the sender, echoed in an ACK.
    Sender,
}

impl Side {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receiver => "receiver",
            Self::Sender => "sender",
        }
    }
}

/// What arrived at one host.
#[derive(Clone, Debug)]
pub(crate) struct HeadersLog {
    every: u64,
    seen: u64,
    pub log: Log<ArrivedHeaders>,
}

/// The headers of one packet.
#[derive(Clone, Debug)]
pub(crate) struct ArrivedHeaders {
    pub at: Time,
    pub flow_id: u32,
    pub side: Side,
    pub bytes: Box<[u8]>,
}

impl HeadersLog {
    pub const fn new(spec: &HeadersRecordSpec) -> Self {
        Self { every: spec.every, seen: 0, log: Log::new(spec.max_packets) }
    }

    /// Keeps the headers of a packet, if it is its turn and there is room.
    pub fn add(&mut self, at: Time, flow_id: u32, side: Side, bytes: &[u8]) {
        let is_its_turn = self.seen.is_multiple_of(self.every);
        self.seen += 1;
        if is_its_turn {
            self.log.add(|| ArrivedHeaders { at, flow_id, side, bytes: bytes.into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_is_kept_until_there_are_enough() {
        let mut log = HeadersLog::new(&HeadersRecordSpec { every: 3, max_packets: 2 });
        (0..12).for_each(|ns| log.add(Time::from_ns(ns), 1, Side::Receiver, &[ns as u8]));
        let kept: Vec<_> = log.log.rows.iter().map(|row| row.at.as_ns()).collect();
        assert_eq!((kept, log.log.left_out), (vec![0, 3], 2));
    }
}
