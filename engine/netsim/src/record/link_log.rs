//! Packets captured at one end of a channel, in the order in which the link carries them.
//!
//! What a link carries is known when it is sent, with the time at which it arrives: nothing but the sending
//! side of a channel keeps a log, and threads need no common order while they run.

use std::collections::VecDeque;

use p4cc_units::Time;

use crate::describe::CaptureLimits;
use crate::record::pcapng::packet_bytes;

/// What stands beside a packet that its link lost.
const LOST: &str = "lost on the link";

/// A log that ends with the first packet that does not fit.
#[derive(Clone, Debug)]
pub(crate) struct LinkLog {
    limits: CaptureLimits,
    rows: Vec<Row>,
    /// What is kept of all packets, one behind the other.
    bytes: Vec<u8>,
    file_bytes: u64,
    /// When the first packet did not fit.
    stopped: Option<Time>,
    left_out: u64,
    /// Times of packets left out that are still to come.
    not_yet: VecDeque<Time>,
}

/// A packet of a log.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub at: Time,
    pub length: u32,
    /// Bytes kept, zeros at the end not counted.
    stored: u32,
    start: usize,
    is_lost: bool,
}

impl LinkLog {
    pub const fn new(limits: CaptureLimits) -> Self {
        Self {
            limits,
            rows: Vec::new(),
            bytes: Vec::new(),
            file_bytes: 0,
            stopped: None,
            left_out: 0,
            not_yet: VecDeque::new(),
        }
    }

    /// A packet of `head` and zeros passes at `at`, which may be later than `now`.
    #[cold]
    pub fn add(&mut self, now: Time, at: Time, head: &[u8], length: u32, is_lost: bool) {
        let comment = if is_lost { LOST } else { "" };
        let captured = length.min(self.limits.snap_bytes);
        self.file_bytes += packet_bytes(captured, comment);
        if self.stopped.is_some() || self.file_bytes > self.limits.max_bytes {
            self.stopped.get_or_insert(at);
            let passed = self.not_yet.iter().take_while(|at| **at <= now).count();
            self.not_yet.drain(..passed);
            self.not_yet.push_back(at);
            self.left_out += passed as u64;
            return;
        }
        let stored = head.len().min(captured as usize);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&head[..stored]);
        self.rows.push(Row { at, length, stored: stored as u32, start, is_lost });
    }

    /// Packets that passed up to now.
    pub fn rows(&self, now: Time) -> &[Row] {
        &self.rows[..self.rows.partition_point(|row| row.at <= now)]
    }

    /// Packets that passed up to now and did not fit.
    pub fn left_out(&self, now: Time) -> u64 {
        self.left_out + self.not_yet.iter().take_while(|at| **at <= now).count() as u64
    }

    /// When the first packet did not fit.
    pub const fn stopped(&self) -> Option<Time> {
        self.stopped
    }

    /// What is kept of a packet, without the zeros at the end.
    pub fn bytes(&self, row: &Row) -> &[u8] {
        &self.bytes[row.start..row.start + row.stored as usize]
    }
}

impl Row {
    /// What a reader should know of the packet.
    pub const fn comment(&self) -> &'static str {
        if self.is_lost { LOST } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_ends_with_the_first_packet_that_does_not_fit() {
        let at = Time::from_ns;
        // Two packets of three bytes fit, of 48 B each.
        let mut log = LinkLog::new(CaptureLimits { snap_bytes: 3, max_bytes: 100 });
        for (ns, head) in [(1, &[1, 2, 3, 4][..]), (2, &[5]), (3, &[6]), (4, &[7])] {
            log.add(at(ns), at(ns + 10), head, 9, false);
        }
        assert_eq!(log.rows(at(11)).len(), 1);
        let rows = log.rows(at(20));
        assert_eq!(rows.iter().map(|row| log.bytes(row)).collect::<Vec<_>>(), [&[1, 2, 3][..], &[5]]);
        assert_eq!(log.stopped(), Some(at(13)));
        assert_eq!([12, 13, 14].map(|ns| log.left_out(at(ns))), [0, 1, 2]);
        log.add(at(14), at(24), &[8], 9, false);
        assert_eq!([14, 24].map(|ns| log.left_out(at(ns))), [2, 3]);
    }
}
