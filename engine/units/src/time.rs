//! Instants and spans in integer picoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

/// Picoseconds in one nanosecond.
const PS_PER_NS: u64 = 1_000;

/// An instant of virtual or monotonic time: picoseconds since the start of the run.
///
/// `u64` picoseconds last 213 days, far beyond any run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(u64);

/// A length of time in picoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Span(u64);

macro_rules! picoseconds {
    ($ty:ident, $what:literal) => {
        impl $ty {
            #[doc = concat!("The zero ", $what, ".")]
            pub const ZERO: Self = Self(0);
            #[doc = concat!("The largest ", $what, " that can be held.")]
            pub const MAX: Self = Self(u64::MAX);

            /// From picoseconds.
            #[inline]
            pub const fn from_ps(ps: u64) -> Self {
                Self(ps)
            }
            /// From nanoseconds; saturates at the largest value.
            #[inline]
            pub const fn from_ns(ns: u64) -> Self {
                Self(ns.saturating_mul(PS_PER_NS))
            }
            /// From microseconds; saturates at the largest value.
            #[inline]
            pub const fn from_us(us: u64) -> Self {
                Self::from_ns(us.saturating_mul(1_000))
            }
            /// From milliseconds; saturates at the largest value.
            #[inline]
            pub const fn from_ms(ms: u64) -> Self {
                Self::from_ns(ms.saturating_mul(1_000_000))
            }
            /// Picoseconds.
            #[inline]
            pub const fn as_ps(self) -> u64 {
                self.0
            }
            /// Whole nanoseconds, rounded down.
            #[inline]
            pub const fn as_ns(self) -> u64 {
                self.0 / PS_PER_NS
            }
            /// Whole microseconds, rounded down.
            #[inline]
            pub const fn as_us(self) -> u64 {
                self.as_ns() / 1_000
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}.{:03} ns", self.0 / PS_PER_NS, self.0 % PS_PER_NS)
            }
        }
    };
}

picoseconds!(Time, "instant");
picoseconds!(Span, "span");

impl Time {
    /// The span since an earlier instant, zero if `earlier` lies ahead.
    #[inline]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_round_down_and_saturate() {
        assert_eq!(Time::from_us(3).as_ns(), 3_000);
        assert_eq!(Span::from_ps(1_999).as_ns(), 1);
        assert_eq!(Span::from_ms(u64::MAX), Span::MAX);
    }

    #[test]
    fn since_never_goes_negative() {
        let (early, late) = (Time::from_ns(5), Time::from_ns(9));
        assert_eq!(late.since(early), Span::from_ns(4));
        assert_eq!(early.since(late), Span::ZERO);
    }
}
