//! The daemon's clock: monotonic, zero at its start.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use p4cc_units::{Span, Time};

/// A monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that stands at zero.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// The time since the start.
    #[inline]
    pub fn now(&self) -> Time {
        let elapsed = self.start.elapsed();
        Time::from_ns(elapsed.as_secs().saturating_mul(1_000_000_000) + u64::from(elapsed.subsec_nanos()))
    }
}

impl Clock {
    /// Nanoseconds from the Epoch to a time of this clock, by what the system's clock says now.
    pub(crate) fn since_epoch_ns(&self, at: Time) -> u64 {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let wall_ns = u64::try_from(wall).unwrap_or(u64::MAX);
        wall_ns.saturating_sub(self.now().since(at).as_ns())
    }
}

/// A span as the standard library has it, rounded down to nanoseconds.
pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_epoch() {
        let wall =
            || SystemTime::now().duration_since(UNIX_EPOCH).expect("after the Epoch").as_nanos() as u64;
        let (clock, before) = (Clock::start(), wall());
        let at = clock.now();
        // A clock that is set meanwhile may step by less than this.
        let slack_ns = 1_000_000_000;
        let told = clock.since_epoch_ns(at);
        assert!(told + slack_ns >= before && told <= wall() + slack_ns, "{told} {before}");
    }
}
