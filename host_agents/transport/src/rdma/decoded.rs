//! What PINT's byte says, as a table that flows share (docs/reference/wire-format.md, extension 11).

use std::sync::{Arc, OnceLock};

/// The smallest utilisation that a byte can say is 1/512 (docs/algorithms/hpcc.md#pint-parameters).
const STEPS: f64 = 512.0;

/// The utilisation that each power means, computed by the first sender that asks.
///
/// A sender decodes a byte with each ACK; 256 values in each flow would be 2 KB, so clones share them.
#[derive(Clone, Default, Debug)]
pub struct Decoded(Arc<OnceLock<Powers>>);

/// A base, and the utilisation that each of its powers means.
type Powers = (f64, [f64; 256]);

impl PartialEq for Decoded {
    /// It follows from the base, which is compared.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Decoded {
    /// Fills the table on the first call; a call with another base gets a table of its own.
    pub fn by(&self, log_base: f64) -> Self {
        let powers = || (log_base, std::array::from_fn(|power| libm::pow(log_base, power as f64) / STEPS));
        let (base, _) = self.0.get_or_init(powers);
        if base.to_bits() == log_base.to_bits() {
            self.clone()
        } else {
            Self(Arc::new(OnceLock::from(powers())))
        }
    }

    /// What a byte says.
    pub fn utilisation(&self, power: u8) -> Option<f64> {
        self.0.get().map(|(_, values)| values[usize::from(power)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table has each power as computed by itself, and clones share it.
    #[test]
    fn bytes_are_decoded_once_for_all_flows() {
        let of_configuration = Decoded::default();
        let (one, other) = (of_configuration.by(1.1), of_configuration.clone().by(1.1));
        for power in 0..=255_u8 {
            assert_eq!(one.utilisation(power), Some(libm::pow(1.1, f64::from(power)) / 512.0));
        }
        assert!(Arc::ptr_eq(&one.0, &other.0));
        assert_eq!(of_configuration.by(1.05).utilisation(127), Some(libm::pow(1.05, 127.0) / 512.0));
    }
}
