//! When a paced flow's next packet may leave (docs/algorithms/substrate.md#pacing), packet by packet or in
//! bursts (docs/algorithms/reproductions.md#y-pace), and how much of what pacing allowed the application used
//! (docs/algorithms/timely.md#timely-update, application limit).
//!
//! Invariant: over a burst and the gap behind it the flow sends at its rate, never above.

use p4cc_units::{Span, Time};

/// Packets that leave back to back.
#[derive(Clone, Copy, Debug)]
struct Burst {
    began: Time,
    payload_bytes: u64,
    wire_bytes: u64,
}

/// Departure times of one flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Payload of a burst; 0 paces each packet.
    burst_bytes: u64,
    /// Rate within a burst.
    burst_bps: f64,
    burst: Option<Burst>,
    /// Earliest departure of the next packet.
    next_send: Time,
    /// Bytes that `next_send` counts at the rate `paced_bps`; none within a burst.
    paced_bytes: u64,
    paced_bps: f64,
    /// The application has given nothing more.
    is_dry: bool,
    /// Time that pacing allowed and the application did not use, since the last look.
    idle: Span,
    looked: Time,
}

impl Pacer {
    pub fn new(burst_bytes: u64, burst_bps: f64, rate_bps: f64) -> Self {
        Self {
            burst_bytes,
            burst_bps,
            burst: None,
            next_send: Time::ZERO,
            paced_bytes: 0,
            paced_bps: rate_bps,
            is_dry: false,
            idle: Span::ZERO,
            looked: Time::ZERO,
        }
    }

    pub fn start(&mut self, now: Time, is_dry: bool) {
        (self.next_send, self.looked, self.is_dry) = (now, now, is_dry);
    }

    #[inline]
    pub fn next_send(&self) -> Time {
        self.next_send
    }

    /// Whether packets of a burst are still to leave.
    #[inline]
    pub fn is_in_burst(&self) -> bool {
        self.burst.is_some()
    }

    /// Rate at which packets of a burst leave one after the other.
    #[inline]
    pub fn burst_bps(&self, rate_bps: f64) -> f64 {
        self.burst_bps.max(rate_bps)
    }

    /// A packet leaves; `ends` says that a burst ends with it however short it is.
    #[inline]
    pub fn sent(&mut self, now: Time, payload: u64, wire: u64, ends: bool, rate_bps: f64) {
        let burst = self.burst.get_or_insert(Burst { began: now, payload_bytes: 0, wire_bytes: 0 });
        burst.payload_bytes += payload;
        burst.wire_bytes += wire;
        let behind = now + time_at(wire, self.burst_bps.max(rate_bps));
        let Burst { began, payload_bytes, wire_bytes } = *burst;
        self.paced_bps = rate_bps;
        if payload_bytes < self.burst_bytes && !ends {
            self.paced_bytes = 0;
            self.next_send = behind;
        } else {
            self.burst = None;
            self.paced_bytes = wire_bytes;
            self.next_send = behind.max(began + time_at(wire_bytes, rate_bps));
        }
    }

    /// docs/algorithms/substrate.md#pacing: a rate that changes while a packet waits shifts its departure by
    /// the difference of the last packet's times; that of the last burst where packets leave in bursts.
    /// Behind a rate of 0 nothing was paced, so the new rate counts from now; a rate of 0 leaves the
    /// departure as it is, for whoever then has no rate to ask for one.
    #[inline]
    pub fn repace(&mut self, now: Time, rate_bps: f64) {
        if rate_bps == self.paced_bps {
            return;
        }
        if self.paced_bps == 0.0 {
            self.next_send = self.next_send.min(now);
        } else if rate_bps > 0.0 && self.next_send > now {
            let (before, after) =
                (time_at(self.paced_bytes, self.paced_bps), time_at(self.paced_bytes, rate_bps));
            let ps = (self.next_send.as_ps() + after.as_ps()).saturating_sub(before.as_ps());
            self.next_send = Time::from_ps(ps).max(now);
        }
        self.paced_bps = rate_bps;
    }

    /// The application has nothing more to send for now.
    #[inline]
    pub fn ran_dry(&mut self) {
        self.is_dry = true;
    }

    /// The application gives more.
    pub fn supplied(&mut self, now: Time) {
        if core::mem::take(&mut self.is_dry) {
            self.idle = self.idle + self.unused(now);
        }
    }

    /// Time since a packet could have left, or since the last look.
    #[inline]
    fn unused(&self, now: Time) -> Span {
        let since = self.next_send.max(self.looked);
        if now > since { now.since(since) } else { Span::ZERO }
    }

    /// Share of the time since the last look that the application used; none if it always had data.
    #[inline]
    pub fn take_used_share(&mut self, now: Time) -> Option<f64> {
        let waiting = if self.is_dry { self.unused(now) } else { Span::ZERO };
        let idle = core::mem::take(&mut self.idle) + waiting;
        let elapsed = now.since(core::mem::replace(&mut self.looked, now));
        (idle > Span::ZERO && elapsed > Span::ZERO)
            .then(|| 1.0 - (idle.as_ps() as f64 / elapsed.as_ps() as f64).min(1.0))
    }
}

/// How long so many bytes take at a rate; rates at which data leaves are at least 1000 bit/s.
#[inline]
pub(super) fn time_at(bytes: u64, rate_bps: f64) -> Span {
    Span::from_ps((bytes as f64 * 8e12 / rate_bps) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_0_stops_the_clock_and_the_next_one_starts_it() {
        let mut pacer = Pacer::new(0, LINE_BPS, 1e9);
        pacer.start(Time::ZERO, false);
        pacer.sent(Time::ZERO, 1_250, 1_250, false, 1e9);
        pacer.repace(Time::from_us(2), 0.0);
        assert_eq!(pacer.next_send(), Time::from_us(10));
        pacer.repace(Time::from_us(4), 1e6);
        assert_eq!(pacer.next_send(), Time::from_us(4));
    }

    const LINE_BPS: f64 = 10e9;

    /// Departures of eight packets of 1250 B (1 us at the line rate) at a tenth of it.
    fn departures(burst_bytes: u64, burst_bps: f64) -> Vec<u64> {
        let mut pacer = Pacer::new(burst_bytes, burst_bps, 1e9);
        pacer.start(Time::ZERO, false);
        let mut times = Vec::new();
        for _ in 0..8 {
            let now = pacer.next_send();
            times.push(now.as_ns() / 1_000);
            pacer.sent(now, 1_250, 1_250, false, 1e9);
        }
        times
    }

    #[test]
    fn bursts_keep_the_rate_of_packets() {
        assert_eq!(departures(0, LINE_BPS), [0, 10, 20, 30, 40, 50, 60, 70]);
        // Four at the line rate, then the rest of forty.
        assert_eq!(departures(5_000, LINE_BPS), [0, 1, 2, 3, 40, 41, 42, 43]);
        // Within a burst at a fifth of the line rate; and never below the flow's own.
        assert_eq!(departures(5_000, 2e9), [0, 5, 10, 15, 40, 45, 50, 55]);
        assert_eq!(departures(5_000, 0.5e9), [0, 10, 20, 30, 40, 50, 60, 70]);
    }

    #[test]
    fn a_new_rate_moves_the_next_burst_only() {
        let mut pacer = Pacer::new(2_500, LINE_BPS, 1e9);
        pacer.start(Time::ZERO, false);
        pacer.sent(Time::ZERO, 1_250, 1_250, false, 1e9);
        pacer.repace(Time::ZERO, 2e9);
        assert_eq!(pacer.next_send(), Time::from_us(1), "the second of the burst follows at the line rate");
        pacer.sent(Time::from_us(1), 1_250, 1_250, false, 2e9);
        assert_eq!(pacer.next_send(), Time::from_us(10));
        pacer.repace(Time::from_us(2), 1e9);
        assert_eq!(pacer.next_send(), Time::from_us(20));
    }

    /// docs/algorithms/timely.md#timely-update: what pacing
    /// would have allowed and the application did not use.
    #[test]
    fn only_a_lack_of_data_counts_as_unused() {
        let mut pacer = Pacer::new(0, LINE_BPS, 1e9);
        pacer.start(Time::ZERO, false);
        pacer.sent(Time::ZERO, 1_250, 1_250, false, 1e9);
        // The interface was busy with others: not the application's doing.
        pacer.sent(Time::from_us(30), 1_250, 1_250, false, 1e9);
        assert_eq!(pacer.take_used_share(Time::from_us(30)), None);
        pacer.ran_dry();
        // The next could leave at 40 us; the application gives it at 50.
        pacer.supplied(Time::from_us(50));
        pacer.sent(Time::from_us(50), 1_250, 1_250, false, 1e9);
        assert_eq!(pacer.take_used_share(Time::from_us(70)), Some(0.75));
        // Dry again, from 60 us on, but only what lies behind the last look counts.
        pacer.ran_dry();
        assert_eq!(pacer.take_used_share(Time::from_us(80)), Some(0.0));
    }
}
