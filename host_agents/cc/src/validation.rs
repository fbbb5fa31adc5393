//! Congestion window validation (docs/algorithms/window.md#window-validation): a window that the sender does
//! not use says nothing about the network, so it does not grow, and not forever does it stay.
//!
//! Invariant: a sender that fills its window is never held back.

use p4cc_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Window;

/// What becomes of a window that the sender does not use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowValidation {
    /// It does not grow while less than half of it was used, and shrinks after five minutes (RFC7661).
    #[default]
    Rfc7661,
    /// It grows, and falls to the initial window after a pause of a timeout (RFC5681 4.1).
    Rfc5681,
    /// It grows and stays.
    None,
}

/// RFC7661 4.2: "the pipeACK sampling period (pipeACK Sampling Period) is max(3*RTT, 1 second)".
const SAMPLING_ROUNDS: u64 = 3;
const LEAST_SAMPLING: Span = Span::from_ms(1_000);
const LEAST_HALF: Span = Span::from_ps(LEAST_SAMPLING.as_ps() / 2);
/// RFC7661 4.4: "the non-validated period (NVP) … SHOULD NOT exceed five minutes".
const NON_VALIDATED_PERIOD: Span = Span::from_ms(300_000);

/// How much of its window the sender uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Used,
    Unused,
    /// So many periods passed without use.
    Expired(u32),
}

/// What a pause does to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AfterIdle {
    Keep,
    /// So many periods passed without use.
    Expired(u32),
    Restart,
}

/// Use of the window of one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validation {
    rule: WindowValidation,
    /// Most segments in flight in this half of the sampling period and in the one before.
    used_segments: [u64; 2],
    half_began: Time,
    unused_since: Option<Time>,
}

impl Validation {
    pub(crate) const fn new(rule: WindowValidation) -> Self {
        Self { rule, used_segments: [0; 2], half_began: Time::ZERO, unused_since: None }
    }

    /// An ACK finds so many segments in flight.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        srtt: Option<Span>,
        flight_segments: u64,
        window: &Window,
    ) -> Verdict {
        if self.rule != WindowValidation::Rfc7661 {
            return Verdict::Used;
        }
        if now.since(self.half_began) >= LEAST_HALF {
            self.next_half(now, srtt);
        }
        self.used_segments[0] = self.used_segments[0].max(flight_segments);
        let used = self.used_segments[0].max(self.used_segments[1]);
        // RFC7661 4.3: validated while "pipeACK >= (1/2)*cwnd".
        if 2 * used >= window.whole_segments() {
            self.unused_since = None;
            return Verdict::Used;
        }
        self.unused(now)
    }

    #[cold]
    fn next_half(&mut self, now: Time, srtt: Option<Span>) {
        let half = (srtt.unwrap_or(Span::ZERO) * SAMPLING_ROUNDS).max(LEAST_SAMPLING).as_ps() / 2;
        let halves = now.since(self.half_began).as_ps() / half;
        if halves > 0 {
            self.used_segments = [0, if halves == 1 { self.used_segments[0] } else { 0 }];
            self.half_began = now;
        }
    }

    #[cold]
    fn unused(&mut self, now: Time) -> Verdict {
        let since = *self.unused_since.get_or_insert(now);
        match periods(now.since(since)) {
            0 => Verdict::Unused,
            periods => {
                self.unused_since = Some(now);
                Verdict::Expired(periods)
            }
        }
    }

    pub(crate) fn on_idle_end(&mut self, idle: Span, rto: Span) -> AfterIdle {
        match (self.rule, periods(idle)) {
            (WindowValidation::Rfc5681, _) if idle > rto => AfterIdle::Restart,
            (WindowValidation::Rfc7661, periods @ 1..) => {
                self.unused_since = None;
                AfterIdle::Expired(periods)
            }
            _ => AfterIdle::Keep,
        }
    }
}

/// Whole periods in this time, as many as make a difference to any window.
fn periods(time: Span) -> u32 {
    // 64 halvings of the largest window leave nothing of it.
    (time.as_ps() / NON_VALIDATED_PERIOD.as_ps()).min(64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(cwnd: f64, flights: &[(u64, u64)]) -> Vec<Verdict> {
        let mut validation = Validation::new(WindowValidation::Rfc7661);
        let window = Window::new(cwnd, 1e9);
        let srtt = Some(Span::from_us(100));
        let verdict =
            |&(ms, flight): &(u64, u64)| validation.on_ack(Time::from_us(1_000 * ms), srtt, flight, &window);
        flights.iter().map(verdict).collect()
    }

    #[test]
    fn half_of_the_window_in_the_last_second_validates_it() {
        use Verdict::{Expired, Unused, Used};
        assert_eq!(verdicts(20.9, &[(0, 9), (1, 10), (2, 3)]), [Unused, Used, Used]);
        // The sample of 1 ms is too old after a second, and a pause takes all samples.
        let late = [(1, 10), (600, 3), (1_100, 3), (1_600, 3)];
        assert_eq!(verdicts(20.0, &late), [Used, Used, Unused, Unused]);
        assert_eq!(verdicts(20.0, &[(1, 10), (2_000, 3)]), [Used, Unused]);
        let long = [(1, 3), (299_000, 3), (300_001, 3), (300_002, 3), (900_001, 3)];
        assert_eq!(verdicts(20.0, &long), [Unused, Unused, Expired(1), Unused, Expired(2)]);
    }

    /// RFC7661 4.3: the sampling period is three round trips where these are longer than a second.
    #[test]
    fn samples_of_a_long_path_last_longer() {
        let mut validation = Validation::new(WindowValidation::Rfc7661);
        let window = Window::new(20.0, 1e9);
        let mut verdict = |ms: u64, flight| {
            validation.on_ack(Time::from_us(1_000 * ms), Some(Span::from_ms(1_000)), flight, &window)
        };
        assert_eq!(verdict(0, 10), Verdict::Used);
        assert_eq!(verdict(600, 3), Verdict::Used);
        assert_eq!(verdict(1_499, 3), Verdict::Used);
        assert_eq!(verdict(3_000, 3), Verdict::Unused);
    }

    #[test]
    fn a_pause_restarts_or_expires_or_does_nothing() {
        let after =
            |rule, idle_ms| Validation::new(rule).on_idle_end(Span::from_ms(idle_ms), Span::from_ms(200));
        assert_eq!(after(WindowValidation::Rfc5681, 200), AfterIdle::Keep);
        assert_eq!(after(WindowValidation::Rfc5681, 201), AfterIdle::Restart);
        assert_eq!(after(WindowValidation::Rfc7661, 299_999), AfterIdle::Keep);
        assert_eq!(after(WindowValidation::Rfc7661, 650_000), AfterIdle::Expired(2));
        assert_eq!(after(WindowValidation::None, 650_000), AfterIdle::Keep);
    }
}
