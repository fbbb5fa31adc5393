//! Round-trip time and retransmission timeout (RFC6298,
//! docs/algorithms/window.md#reno-rules), in integer picoseconds.
//!
//! Invariant: `min <= rto() <= max`, backoff included.

use p4cc_units::Span;

/// Bounds and start of the timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RtoBounds {
    pub(crate) min: Span,
    pub(crate) initial: Span,
    pub(crate) max: Span,
    /// G of RFC6298: the grain of the clock.
    pub(crate) granularity: Span,
}

/// Smoothed round-trip time, its variation and the timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    bounds: RtoBounds,
    /// Smoothed time and variation; none before the first sample.
    smoothed: Option<(Span, Span)>,
    rto: Span,
    /// A power of two.
    backoff: u64,
}

impl RttEstimator {
    pub(crate) const fn new(bounds: RtoBounds) -> Self {
        Self { bounds, smoothed: None, rto: bounds.initial, backoff: 1 }
    }

    /// Takes a sample of data that was sent once only (Karn's rule is the caller's).
    pub(crate) fn sample(&mut self, rtt: Span) {
        let (srtt, rttvar) = match self.smoothed {
            // RFC6298 2.2: first sample R: SRTT = R, RTTVAR = R/2.
            None => (rtt, Span::from_ps(rtt.as_ps() / 2)),
            // RFC6298 2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|, then SRTT = 7/8 SRTT + 1/8 R.
            Some((srtt, rttvar)) => {
                let error = srtt.as_ps().abs_diff(rtt.as_ps());
                (weigh::<8>(srtt.as_ps(), rtt.as_ps()), weigh::<4>(rttvar.as_ps(), error))
            }
        };
        self.smoothed = Some((srtt, rttvar));
        // docs/algorithms/window.md#reno-rules: rto = clamp(srtt + max(G, 4 rttvar), rto_min, rto_max).
        let raw = srtt + self.bounds.granularity.max(rttvar * 4);
        self.rto = raw.max(self.bounds.min).min(self.bounds.max);
    }

    /// Doubles the timeout after it expired (RFC6298 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_mul(2);
    }

    /// New data was acknowledged: the timeout is what it was before
    /// it backed off (docs/algorithms/window.md#reno-rules).
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 1;
    }

    /// The timeout in force.
    pub(crate) fn rto(&self) -> Span {
        (self.rto * self.backoff).min(self.bounds.max)
    }

    /// Smoothed round-trip time, after the first sample.
    pub(crate) fn srtt(&self) -> Option<Span> {
        self.smoothed.map(|(srtt, _)| srtt)
    }
}

/// `old + (new - old)/PARTS`, exact in 128 bits and rounded down.
#[inline]
const fn weigh<const PARTS: u64>(old_ps: u64, new_ps: u64) -> Span {
    let sum = old_ps as u128 * (PARTS - 1) as u128 + new_ps as u128;
    // The mean of two u64 fits a u64.
    Span::from_ps((sum / PARTS as u128) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(min_us: u64) -> RtoBounds {
        RtoBounds {
            min: Span::from_us(min_us),
            initial: Span::from_ms(1_000),
            max: Span::from_ms(60_000),
            granularity: Span::from_us(1),
        }
    }

    #[test]
    fn follows_rfc6298() {
        let mut estimator = RttEstimator::new(bounds(0));
        assert_eq!((estimator.rto(), estimator.srtt()), (Span::from_ms(1_000), None));
        estimator.sample(Span::from_us(100));
        assert_eq!((estimator.rto(), estimator.srtt()), (Span::from_us(300), Some(Span::from_us(100))));
        estimator.sample(Span::from_us(180));
        // rttvar = 3/4 * 50 + 1/4 * 80 = 57.5, srtt = 110, rto = 110 + 230.
        assert_eq!((estimator.rto(), estimator.srtt()), (Span::from_us(340), Some(Span::from_us(110))));
    }

    #[test]
    fn minimum_backoff_and_maximum() {
        let mut estimator = RttEstimator::new(bounds(200_000));
        estimator.sample(Span::from_us(100));
        assert_eq!(estimator.rto(), Span::from_ms(200));
        estimator.back_off();
        assert_eq!(estimator.rto(), Span::from_ms(400));
        for _ in 0..80 {
            estimator.back_off();
        }
        assert_eq!(estimator.rto(), Span::from_ms(60_000));
        estimator.reset_backoff();
        assert_eq!(estimator.rto(), Span::from_ms(200));
    }

    #[test]
    fn the_grain_of_the_clock_keeps_the_timeout_above_the_round_trip() {
        let mut estimator = RttEstimator::new(bounds(0));
        for _ in 0..200 {
            estimator.sample(Span::from_us(100));
        }
        assert_eq!(estimator.rto(), Span::from_us(101));
    }
}
