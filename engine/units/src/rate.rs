//! Rates in bit/s.

use core::fmt;

use crate::{Bytes, Span};

/// Picoseconds in one second.
const PS_PER_S: u128 = 1_000_000_000_000;

/// A rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Rate(u64);

impl Rate {
    /// From bit/s.
    #[inline]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// Bit/s.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Time to send `size` at this rate, rounded up to a picosecond; `Span::MAX` at rate zero.
    #[inline]
    pub const fn time_to_send(self, size: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        // Packets are far below 2 MB, where 64 bits do: a division of 128 takes several times as long.
        if let Some(work) = size.bits().checked_mul(PS_PER_S as u64) {
            return Span::from_ps(work.div_ceil(self.0));
        }
        let ps = (size.bits() as u128 * PS_PER_S).div_ceil(self.0 as u128);
        if ps > u64::MAX as u128 {
            return Span::MAX;
        }
        Span::from_ps(ps as u64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_time_is_exact_and_rounds_up() {
        assert_eq!(Rate::from_bps(10_000_000_000).time_to_send(Bytes(1_500)), Span::from_ns(1_200));
        assert_eq!(Rate::from_bps(3_000_000_000_000).time_to_send(Bytes(1)), Span::from_ps(3));
        assert_eq!(Rate::default().time_to_send(Bytes(1)), Span::MAX);
        // 64 bits hold the work of the first and not that of the second.
        assert_eq!(
            Rate::from_bps(7).time_to_send(Bytes(2_305_843)),
            Span::from_ps(2_635_249_142_857_142_858)
        );
        assert_eq!(
            Rate::from_bps(8).time_to_send(Bytes(2_305_844)),
            Span::from_ps(2_305_844_000_000_000_000)
        );
    }
}
