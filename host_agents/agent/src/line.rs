//! The host's interface as the simulator has it: one packet after the other at the link's rate.

use p4cc_units::{Bytes, Rate, Time};

/// What an interface is doing.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    rate: Option<Rate>,
    free_at: Time,
}

impl Line {
    /// An interface of this rate; none sends at once.
    pub const fn new(rate: Option<Rate>) -> Self {
        Self { rate, free_at: Time::ZERO }
    }

    /// When the next packet may leave.
    pub const fn free_at(&self) -> Time {
        self.free_at
    }

    /// A packet of so many IP bytes leaves now.
    ///
    /// The time is counted from when the interface was free, so that a process
    /// that wakes late makes up for it, but for no more than a few packets.
    pub fn take(&mut self, now: Time, ip_bytes: usize) {
        let Some(rate) = self.rate else { return };
        let packet = rate.time_to_send(Bytes(ip_bytes as u64));
        let earliest =
            Time::from_ps(now.as_ps().saturating_sub(packet.as_ps().saturating_mul(CATCH_UP_PKTS)));
        self.free_at = self.free_at.max(earliest) + packet;
    }
}

/// Packets that may leave at once after a late wake-up.
const CATCH_UP_PKTS: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_at_the_rate_and_lateness_is_made_up_in_part() {
        let mut line = Line::new(Some(Rate::from_bps(12_000_000)));
        for packet in 1..=10 {
            line.take(line.free_at(), 1_500);
            assert_eq!(line.free_at(), Time::from_ms(packet));
        }
        // A second late: four packets at once, then one each millisecond.
        let late = Time::from_ms(1_000);
        let mut at_once = 0;
        while line.free_at() <= late {
            line.take(late, 1_500);
            at_once += 1;
        }
        assert_eq!(at_once, 5);
        let mut free = Line::new(None);
        free.take(late, 1_500);
        assert_eq!(free.free_at(), Time::ZERO);
    }
}
