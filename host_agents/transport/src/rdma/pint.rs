//! PINT's byte (docs/reference/wire-format.md, extension 11): which packets carry it, and what it says
//! (docs/algorithms/hpcc.md#pint-sender).

use super::PintTable;
use super::decoded::Decoded;
use super::random::SplitMix;
use crate::wire::{Extension, ExtensionType};

/// What a sender puts into a packet for switches to raise: the power of an idle path.
const IDLE: Extension<'static> = Extension { kind: ExtensionType::PINT, bytes: &[0] };
/// Of 32 random bits.
const CERTAIN: f64 = 4_294_967_296.0;

/// What a sender keeps of its [`PintTable`].
#[derive(Clone, Debug)]
pub(super) struct Pint {
    decoded: Decoded,
    /// A packet carries the byte if 32 random bits are below this.
    threshold: u64,
    random: SplitMix,
}

impl Pint {
    pub fn new(table: &PintTable) -> Self {
        Self {
            decoded: table.decoded.by(table.log_base),
            threshold: (table.share * CERTAIN) as u64,
            random: SplitMix(0),
        }
    }

    /// Draws by numbers of the flow's own.
    pub fn seed(&mut self, seed: u64) {
        self.random = SplitMix(seed);
    }

    /// What the next packet carries.
    pub fn extension(&mut self) -> Extension<'static> {
        let carries = self.threshold >= 1 << 32 || self.random.next() >> 32 < self.threshold;
        if carries { IDLE } else { Extension::NONE }
    }

    /// The utilisation of the busiest port of the path; none where this is another extension.
    pub fn utilisation(&self, extension: &Extension<'_>) -> Option<f64> {
        let [power] = extension.bytes else { return None };
        if extension.kind == ExtensionType::PINT { self.decoded.utilisation(*power) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pint(share: f64) -> Pint {
        Pint::new(&PintTable { log_base: 1.05, share, decoded: Decoded::default() })
    }

    /// 1.05^127 = 490.954; a power of 0 is the smallest utilisation, 1/512.
    #[test]
    fn a_byte_is_a_power() {
        let read = |kind, bytes: &[u8]| pint(1.0).utilisation(&Extension { kind, bytes });
        assert_eq!(read(ExtensionType::PINT, &[0]), Some(1.0 / 512.0));
        let busy = read(ExtensionType::PINT, &[127]).expect("a utilisation");
        assert!((busy - 490.954 / 512.0).abs() < 1e-6, "{busy}");
        assert_eq!(read(ExtensionType::PINT, &[0, 0]), None);
        assert_eq!(read(ExtensionType::CNP, &[127]), None);
    }

    #[test]
    fn a_share_of_packets_carries_it() {
        let count = |share, seed| {
            let mut pint = pint(share);
            pint.seed(seed);
            (0..16_000).filter(|_| pint.extension() == IDLE).count()
        };
        assert_eq!(count(1.0, 3), 16_000);
        // 1,000 are expected, with a standard deviation of 31.
        let (one, other) = (count(1.0 / 16.0, 3), count(1.0 / 16.0, 4));
        assert!(
            (880..1_120).contains(&one) && (880..1_120).contains(&other) && one != other,
            "{one} {other}"
        );
    }
}
