//! What arrived at one host that no flow took.

use p4cc_switch::Packet;
use p4cc_transport::wire::DecodeError;
use p4cc_units::Time;

use crate::record::bounded::Log;

/// Why no flow took a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoFlow {
    /// It is of another protocol than p4cc's transport.
    Protocol,
    /// It is of p4cc's transport, and its headers contradict each other.
    Damaged,
    /// It is for another host.
    Address,
    /// Its flow does not end here.
    Flow,
}

impl NoFlow {
    pub fn of(error: &DecodeError) -> Self {
        if error.is_other_protocol() { Self::Protocol } else { Self::Damaged }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Damaged => "damaged",
            Self::Address => "address",
            Self::Flow => "flow",
        }
    }
}

/// What arrived at one host that no flow took.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedLog {
    snap_bytes: usize,
    pub log: Log<Received>,
}

#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub at: Time,
    pub cause: NoFlow,
    pub length: u32,
    /// The first bytes.
    bytes: Box<[u8]>,
}

impl ReceivedLog {
    /// A log of so many packets, with so many bytes of each.
    pub const fn new(snap_bytes: u32, max_packets: u64) -> Self {
        Self { snap_bytes: snap_bytes as usize, log: Log::new(max_packets) }
    }

    /// Keeps a packet, unless there are as many as it takes.
    pub fn add(&mut self, at: Time, cause: NoFlow, packet: &Packet) {
        let length = packet.len();
        let stored = self.snap_bytes.min(length as usize);
        self.log.add(|| {
            let mut bytes = packet.head[..stored.min(packet.head.len())].to_vec();
            bytes.resize(stored, 0);
            Received { at, cause, length, bytes: bytes.into() }
        });
    }
}

impl Received {
    /// Its first bytes, two digits each.
    pub fn hex(&self) -> String {
        use core::fmt::Write as _;
        self.bytes.iter().fold(String::with_capacity(2 * self.bytes.len()), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_first_bytes_of_the_first_packets() {
        let mut log = ReceivedLog::new(4, 2);
        for (ns, packet) in
            [(5, Packet::new(&[1, 2], 8)), (6, Packet::new(&[1, 2, 3, 4, 5], 0)), (7, Packet::new(&[9], 0))]
        {
            log.add(Time::from_ns(ns), NoFlow::Protocol, &packet);
        }
        let rows: Vec<_> = log.log.rows.iter().map(|row| (row.at.as_ns(), row.length, row.hex())).collect();
        assert_eq!(rows, [(5, 10, "01020000".to_owned()), (6, 5, "01020304".to_owned())]);
        assert_eq!(log.log.left_out, 1);
    }
}
