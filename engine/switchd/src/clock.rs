//! The daemon's clock: monotonic, zero at its start.

use std::time::{Duration, Instant};

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

/// A span as the standard library has it, rounded down to nanoseconds.
pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_ns())
}
