//! The one table of algorithms, from which listing, validation and building come.

use serde::Serialize;

use crate::config::{ConfigError, Params};
use crate::{
    CongestionAvoidance, RateControl, RateEnvironment, SlowStart, d2tcp, dctcp, gst, l2tcp, limited, p_start,
    reno, reno_ecn, rfb_ss, smooth, standard,
};

/// Which half of a controller an algorithm fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Growth below the threshold.
    SlowStart,
    /// Growth above the threshold and the answer to marks.
    CongestionAvoidance,
    /// A pacing rate, and for some a window.
    RateControl,
}

impl Kind {
    /// The configuration key that holds an algorithm of this kind.
    pub const fn key(self) -> &'static str {
        match self {
            Self::SlowStart => "slow_start",
            Self::CongestionAvoidance => "congestion_avoidance",
            Self::RateControl => "rate_control",
        }
    }
}

/// What an algorithm needs from the switches on its path; in the window family from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchNeed {
    /// Nothing but forwarding.
    None,
    /// Marks above one queue threshold.
    OneEcnThreshold,
    /// Marks at two levels above two queue thresholds.
    TwoEcnThresholds,
    /// Marks with a probability that rises with the queue (RED).
    RandomEcn,
    /// A record of every hop in each packet (INT).
    Telemetry,
    /// Rates allotted on request (D3's allocator).
    RateAllocation,
    /// One fair rate stamped into packets (RCP).
    FairRate,
}

impl SwitchNeed {
    /// Whether the algorithm reads congestion marks, so that its data packets are to be capable of ECN.
    pub const fn reads_marks(self) -> bool {
        matches!(self, Self::OneEcnThreshold | Self::TwoEcnThresholds | Self::RandomEcn)
    }

    /// Whether switches say at which rate a flow may send.
    pub const fn grants_rates(self) -> bool {
        matches!(self, Self::RateAllocation | Self::FairRate)
    }
}

/// The values that a parameter may have.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Domain {
    /// A number in a closed range.
    Number {
        /// Value when the configuration gives none; no default means that it must be given.
        default: Option<f64>,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// One of several words.
    Choice {
        /// Value when the configuration gives none.
        default: &'static str,
        /// The words.
        options: &'static [&'static str],
    },
}

/// One parameter of an algorithm.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ParamInfo {
    /// Key in the configuration.
    pub name: &'static str,
    /// Unit, empty where there is none.
    pub unit: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Allowed values and the default.
    #[serde(flatten)]
    pub domain: Domain,
    /// Where the default comes from.
    pub source: &'static str,
}

/// Makes an algorithm of the rate family, which must know the network.
pub(crate) type MakeRate = fn(&Params<'_>, &RateEnvironment) -> Result<Box<dyn RateControl>, ConfigError>;

/// Makes an algorithm from checked parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    SlowStart(fn(&Params<'_>) -> Result<Box<dyn SlowStart>, ConfigError>),
    CongestionAvoidance(fn(&Params<'_>) -> Result<Box<dyn CongestionAvoidance>, ConfigError>),
    RateControl(MakeRate),
}

/// One algorithm.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AlgorithmInfo {
    /// Name in the configuration.
    pub name: &'static str,
    /// Which half of a controller it fills, or that it is one by itself.
    pub kind: Kind,
    /// What it does.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParamInfo],
    /// What it needs from the switches.
    pub switch_needs: SwitchNeed,
    /// Where it is defined.
    pub source: &'static str,
    #[serde(skip)]
    pub(crate) make: Make,
}

/// Every algorithm, slow starts first. A new algorithm is a file with its `INFO` and a line here.
static REGISTRY: &[AlgorithmInfo] = &[
    standard::INFO,
    gst::INFO,
    rfb_ss::INFO,
    limited::INFO,
    smooth::INFO,
    p_start::INFO,
    reno::INFO,
    reno_ecn::INFO,
    dctcp::INFO,
    d2tcp::INFO,
    l2tcp::INFO,
];

/// All algorithms, in a fixed order.
pub fn registry() -> &'static [AlgorithmInfo] {
    REGISTRY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_registry;

    #[test]
    fn every_row_is_consistent() {
        let rows = || registry().iter().chain(rate_registry());
        for info in rows() {
            let same = rows().filter(|other| other.name == info.name);
            assert_eq!(same.count(), 1, "{} appears once", info.name);
            match info.make {
                Make::SlowStart(_) => assert_eq!(info.kind, Kind::SlowStart),
                Make::CongestionAvoidance(_) => assert_eq!(info.kind, Kind::CongestionAvoidance),
                Make::RateControl(_) => assert_eq!(info.kind, Kind::RateControl),
            }
            for param in info.parameters {
                match param.domain {
                    Domain::Number { default, min, max } => {
                        assert!(
                            min <= max && default.is_none_or(|d| (min..=max).contains(&d)),
                            "{}",
                            param.name
                        );
                    }
                    Domain::Choice { default, options } => {
                        assert!(options.contains(&default), "{}", param.name)
                    }
                }
            }
        }
    }

    #[test]
    fn the_listing_serialises() {
        let json = serde_json::to_value(registry()).expect("plain data");
        assert_eq!(json[1]["name"], "gst");
        assert_eq!(json[1]["switch_needs"], "two_ecn_thresholds");
        assert_eq!(json[1]["parameters"][1]["default"], 65.0);
        assert_eq!(json[1]["parameters"][2]["options"][1], "literal");
    }
}
