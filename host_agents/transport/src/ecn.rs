//! The two ECN bits and the profiles that give them meaning
//! (docs/algorithms/marking.md#dual-thresholds; docs/reference/wire-format.md).
//!
//! Switches and receivers handle raw codepoints only; the
//! profile is the sender's and the controller's knowledge.

use core::fmt;

use p4cc_cc::Mark;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of the two ECN bits of an IPv4 header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Codepoint(u8);

impl Codepoint {
    /// Not capable of ECN: never marked, in every profile.
    pub const NOT_ECT: Self = Self(0b00);

    /// ECT(1), by which a dual queue knows packets of L4S (RFC9331).
    pub const ECT_1: Self = Self(0b01);

    /// Congestion experienced, in the profiles that keep RFC3168's mark (all but `gst`).
    pub const CE: Self = Self(0b11);

    /// The low two bits of `bits`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 0b11)
    }

    /// The two bits, from 0 to 3.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for Codepoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02b}", self.0)
    }
}

/// How congestion levels are written into the two bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnProfile {
    /// The GST paper's: 11 unmarked, 10 above K, 01 above K_dc; closed networks only.
    Gst,
    /// One level: 10 or 01 unmarked, 11 marked.
    Rfc3168,
    /// Two levels that keep CE for the strong mark: 10 unmarked, 01 above K, 11 above K_dc.
    Sce,
}

impl EcnProfile {
    /// The codepoint that a capable sender puts on every data packet.
    #[inline]
    pub const fn unmarked(self) -> Codepoint {
        match self {
            Self::Gst => Codepoint(0b11),
            Self::Rfc3168 | Self::Sce => Codepoint(0b10),
        }
    }

    /// Whether the strong mark is RFC3168's CE, so that a receiver knows it without knowing the profile.
    #[inline]
    pub const fn marks_with_ce(self) -> bool {
        matches!(self, Self::Rfc3168 | Self::Sce)
    }

    /// Whether the profile can carry the lower of the two levels.
    #[inline]
    pub const fn has_two_levels(self) -> bool {
        !matches!(self, Self::Rfc3168)
    }

    /// The codepoint of a capable packet at this level; a one-level profile leaves level K unmarked.
    #[inline]
    pub const fn codepoint(self, mark: Mark) -> Codepoint {
        match (self, mark) {
            (_, Mark::None) | (Self::Rfc3168, Mark::K) => self.unmarked(),
            (Self::Gst, Mark::K) => Codepoint(0b10),
            (Self::Sce, Mark::K) | (Self::Gst, Mark::Kdc) => Codepoint(0b01),
            (Self::Rfc3168 | Self::Sce, Mark::Kdc) => Codepoint(0b11),
        }
    }

    /// The level that a codepoint stands for; one that is not capable carries none.
    #[inline]
    pub const fn mark(self, codepoint: Codepoint) -> Mark {
        match (self, codepoint.0) {
            (Self::Gst, 0b10) | (Self::Sce, 0b01) => Mark::K,
            (Self::Gst, 0b01) | (Self::Rfc3168 | Self::Sce, 0b11) => Mark::Kdc,
            _ => Mark::None,
        }
    }

    /// What a switch makes of a packet: the higher of the level it carries and its own
    /// (docs/algorithms/marking.md#dual-thresholds).
    ///
    /// The switch does this in P4; here it is the reference that tests of both sides share.
    #[inline]
    pub fn remark(self, incoming: Codepoint, level: Mark) -> Codepoint {
        if incoming == Codepoint::NOT_ECT || level <= self.mark(incoming) {
            return incoming;
        }
        match (self, level) {
            // A level that the profile cannot write changes nothing: 01 stays 01 under `rfc3168`.
            (Self::Rfc3168, Mark::K) => incoming,
            _ => self.codepoint(level),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILES: [EcnProfile; 3] = [EcnProfile::Gst, EcnProfile::Rfc3168, EcnProfile::Sce];
    const MARKS: [Mark; 3] = [Mark::None, Mark::K, Mark::Kdc];

    /// The table of docs/algorithms/marking.md#codepoints.
    #[test]
    fn codepoints_of_the_profiles() {
        let bits = |profile: EcnProfile| MARKS.map(|mark| profile.codepoint(mark).bits());
        assert_eq!(bits(EcnProfile::Gst), [0b11, 0b10, 0b01]);
        assert_eq!(bits(EcnProfile::Rfc3168), [0b10, 0b10, 0b11]);
        assert_eq!(bits(EcnProfile::Sce), [0b10, 0b01, 0b11]);
    }

    #[test]
    fn echo_round_trip() {
        for profile in PROFILES {
            for mark in MARKS {
                if mark == Mark::K && !profile.has_two_levels() {
                    continue;
                }
                let echoed = Codepoint::from_bits(profile.codepoint(mark).bits());
                assert_eq!(profile.mark(echoed), mark, "{profile:?}");
            }
            assert_eq!(profile.mark(Codepoint::NOT_ECT), Mark::None);
        }
        assert_eq!(EcnProfile::Rfc3168.mark(Codepoint::from_bits(0b01)), Mark::None);
    }

    /// docs/algorithms/README.md#properties item 5: the max rule
    /// for all 12 (in state, level) pairs in both mappings.
    #[test]
    fn a_mark_never_goes_down() {
        for profile in [EcnProfile::Gst, EcnProfile::Sce] {
            for level in MARKS {
                assert_eq!(profile.remark(Codepoint::NOT_ECT, level), Codepoint::NOT_ECT);
                for incoming in MARKS {
                    let out = profile.remark(profile.codepoint(incoming), level);
                    assert_eq!(profile.mark(out), incoming.max(level), "{profile:?} {incoming:?} {level:?}");
                }
            }
        }
        let ect1 = Codepoint::from_bits(0b01);
        assert_eq!(EcnProfile::Rfc3168.remark(ect1, Mark::K), ect1);
        assert_eq!(EcnProfile::Rfc3168.remark(ect1, Mark::Kdc).bits(), 0b11);
    }
}
