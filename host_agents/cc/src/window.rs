//! The congestion window and its threshold, in segments (real numbers, docs/algorithms/README.md#units).
//!
//! Invariant: `1 <= cwnd <= ceiling <= MAX_SEGMENTS` whatever is assigned.

/// Congestion window and slow-start threshold of one flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    cwnd: f64,
    ssthresh: f64,
    /// No growth beyond.
    ceiling: f64,
}

impl Window {
    /// Upper bound of the window and the "infinite" first threshold, in segments
    /// (docs/algorithms/window.md#reno-parameters: 2^30).
    pub const MAX_SEGMENTS: f64 = 1_073_741_824.0;
    /// A window below one segment could never send.
    pub const MIN_SEGMENTS: f64 = 1.0;

    /// A window of `cwnd` segments with threshold `ssthresh` segments, both brought into range.
    pub fn new(cwnd: f64, ssthresh: f64) -> Self {
        let mut window =
            Self { cwnd: Self::MIN_SEGMENTS, ssthresh: Self::MAX_SEGMENTS, ceiling: Self::MAX_SEGMENTS };
        window.set_cwnd(cwnd);
        window.set_ssthresh(ssthresh);
        window
    }

    /// The same window, which grows to `segments` at most.
    #[must_use]
    pub fn up_to(mut self, segments: f64) -> Self {
        self.ceiling = in_range(segments);
        self.set_cwnd(self.cwnd);
        self
    }

    /// Congestion window in segments.
    #[inline]
    pub const fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Slow-start threshold in segments.
    #[inline]
    pub const fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Whole segments that the congestion window lets be in flight.
    #[inline]
    pub fn whole_segments(&self) -> u64 {
        // In range by the invariant; the cast drops the fraction, which is the floor.
        self.cwnd as u64
    }

    /// Sets the window, clamped to its range; not-a-number counts as the minimum.
    #[inline]
    pub fn set_cwnd(&mut self, segments: f64) {
        self.cwnd = in_range(segments).min(self.ceiling);
    }

    /// Sets the threshold, clamped to the range of the window.
    #[inline]
    pub fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = in_range(segments);
    }
}

/// Clamps to the range of the window, not-a-number to its minimum.
#[inline]
fn in_range(segments: f64) -> f64 {
    if segments.is_nan() {
        return Window::MIN_SEGMENTS;
    }
    segments.clamp(Window::MIN_SEGMENTS, Window::MAX_SEGMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_stays_in_range() {
        let mut window = Window::new(0.2, f64::INFINITY);
        assert_eq!((window.cwnd(), window.ssthresh()), (1.0, Window::MAX_SEGMENTS));
        window.set_cwnd(f64::NAN);
        assert_eq!(window.cwnd(), 1.0);
        window.set_cwnd(7.99);
        assert_eq!(window.whole_segments(), 7);
    }

    #[test]
    fn a_window_with_a_ceiling_stays_below_it() {
        let mut window = Window::new(40.0, 64.0).up_to(32.0);
        assert_eq!((window.cwnd(), window.ssthresh()), (32.0, 64.0));
        window.set_cwnd(33.0);
        assert_eq!(window.cwnd(), 32.0);
        window.set_cwnd(8.0);
        assert_eq!(window.cwnd(), 8.0);
    }
}
