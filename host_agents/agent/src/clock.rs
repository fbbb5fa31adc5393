//! The agent's clock: monotonic, zero at the plan's start, which many agents may share.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use p4cc_units::Time;

/// A monotonic clock; it stands at zero until the plan's start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock whose zero is now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// A clock whose zero is a wall-clock time in the future, in nanoseconds
    /// since 1970: agents that are given the same one start together.
    pub fn start_at(unix_ns: u64) -> Self {
        let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let wait_ns = u128::from(unix_ns).saturating_sub(wall_ns);
        let wait = Duration::from_nanos(u64::try_from(wait_ns).unwrap_or(u64::MAX));
        Self { start: Instant::now().checked_add(wait).unwrap_or_else(Instant::now) }
    }

    /// The time since the start.
    pub fn now(&self) -> Time {
        let elapsed = self.start.elapsed();
        Time::from_ns(elapsed.as_secs().saturating_mul(1_000_000_000) + u64::from(elapsed.subsec_nanos()))
    }

    /// How long until the start.
    pub fn until_start(&self) -> Duration {
        self.start.saturating_duration_since(Instant::now())
    }
}
