//! How much a model offers in all (docs/algorithms/traffic.md#quantity).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe::{MAX_FLOW_BYTES, MAX_FLOWS, in_range};
use crate::error::SpecError;

/// What ends a model once it has been offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QuantitySpec {
    /// Flows, whatever their sizes.
    #[schemars(title = "FlowsQuantity")]
    Flows {
        /// Their number.
        flows: u64,
    },
    /// Payload; the last flow gets what is left of it.
    #[schemars(title = "BytesQuantity")]
    Bytes {
        /// Sum of the sizes of all flows.
        bytes: u64,
    },
}

impl QuantitySpec {
    pub(super) fn check(&self, path: &str) -> Result<(), SpecError> {
        match self {
            Self::Flows { flows } => in_range(&format!("{path}.flows"), *flows, 1, MAX_FLOWS as u64),
            Self::Bytes { bytes } => in_range(&format!("{path}.bytes"), *bytes, 1, MAX_FLOW_BYTES),
        }
    }

    /// The part of one of several sources: even shares, the remainder by one each to the first ones.
    pub(super) fn share(self, place: u64, sources: u64) -> Self {
        let part = |all: u64| all / sources + u64::from(place < all % sources);
        match self {
            Self::Flows { flows } => Self::Flows { flows: part(flows) },
            Self::Bytes { bytes } => Self::Bytes { bytes: part(bytes) },
        }
    }

    /// Whether nothing is left.
    pub(super) const fn is_used_up(self) -> bool {
        matches!(self, Self::Flows { flows: 0 } | Self::Bytes { bytes: 0 })
    }

    /// Takes a flow of the drawn size; the size that is left for it.
    ///
    /// Not to be called once it is used up.
    pub(super) fn take(&mut self, size_bytes: u64) -> u64 {
        match self {
            Self::Flows { flows } => {
                *flows -= 1;
                size_bytes
            }
            Self::Bytes { bytes } => {
                let taken = size_bytes.min(*bytes);
                *bytes -= taken;
                taken
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_last_flow_gets_the_rest() {
        let all = QuantitySpec::Bytes { bytes: 1_000 };
        let mut offered = Vec::new();
        for place in 0..3 {
            let mut left = all.share(place, 3);
            while !left.is_used_up() {
                offered.push(left.take(150));
            }
        }
        assert_eq!(offered, [150, 150, 34, 150, 150, 33, 150, 150, 33]);
        let mut flows = QuantitySpec::Flows { flows: 5 }.share(1, 2);
        assert_eq!(flows, QuantitySpec::Flows { flows: 2 });
        assert_eq!([flows.take(7), flows.take(8)], [7, 8]);
        assert!(flows.is_used_up());
    }

    #[test]
    fn none_and_too_many_are_refused() {
        let said = QuantitySpec::Flows { flows: 0 }.check("q").expect_err("none").to_string();
        assert!(said.starts_with("q.flows: 0 is out of range"), "{said}");
        assert!(QuantitySpec::Bytes { bytes: MAX_FLOW_BYTES + 1 }.check("q").is_err());
    }
}
