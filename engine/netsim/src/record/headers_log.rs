//! The fields of the user's headers that arrived at one host.
//!
//! Each host keeps its own log, so that threads need no common order while they run. Bytes are kept, and read
//! when the table is made.

use p4cc_units::Time;

use crate::describe::spec::HeadersRecordSpec;

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
    most: u64,
    seen: u64,
    pub rows: Vec<ArrivedHeaders>,
    /// Packets that did not fit.
    pub left_out: u64,
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
        Self { every: spec.every, most: spec.max_packets, seen: 0, rows: Vec::new(), left_out: 0 }
    }

    /// Keeps the headers of a packet, if it is its turn and there is room.
    pub fn add(&mut self, at: Time, flow_id: u32, side: Side, bytes: &[u8]) {
        let is_its_turn = self.seen.is_multiple_of(self.every);
        self.seen += 1;
        if !is_its_turn {
            return;
        }
        if self.rows.len() as u64 >= self.most {
            self.left_out += 1;
            return;
        }
        self.rows.push(ArrivedHeaders { at, flow_id, side, bytes: bytes.into() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_is_kept_until_there_are_enough() {
        let mut log = HeadersLog::new(&HeadersRecordSpec { every: 3, max_packets: 2 });
        (0..12).for_each(|ns| log.add(Time::from_ns(ns), 1, Side::Receiver, &[ns as u8]));
        let kept: Vec<_> = log.rows.iter().map(|row| row.at.as_ns()).collect();
        assert_eq!((kept, log.left_out), (vec![0, 3], 2));
    }
}
