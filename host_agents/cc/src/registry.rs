//! The one table of algorithms, from which listing, validation and building come.

use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, find_in};
use crate::kind::Kind;
use crate::rate::{
    bolt, d3, dcqcn, dctcp as dctcp_rate, fast_like, fixed, hpcc, hpcc_pint, nscc, powertcp,
    prague as prague_rate, rcp, swift, timely,
};
use crate::receiver::{eqds, ndp};
use crate::{
    cubic, d2tcp, dctcp, gst, hystart, l2tcp, limited, p_start, prague, reno, reno_ecn, rfb_ss, smooth,
    standard,
};

/// Every algorithm: slow starts, congestion avoidances, rate controls, receivers. A new one is a file with
/// its `INFO` and a line here.
static REGISTRY: &[AlgorithmInfo] = &[
    standard::INFO,
    gst::INFO,
    rfb_ss::INFO,
    limited::INFO,
    smooth::INFO,
    p_start::INFO,
    hystart::INFO,
    reno::INFO,
    reno_ecn::INFO,
    dctcp::INFO,
    d2tcp::INFO,
    l2tcp::INFO,
    cubic::INFO,
    cubic::ECN_INFO,
    prague::INFO,
    timely::INFO,
    fast_like::INFO,
    dcqcn::INFO,
    hpcc::INFO,
    hpcc_pint::INFO,
    powertcp::INFO,
    powertcp::THETA_INFO,
    bolt::INFO,
    swift::INFO,
    nscc::INFO,
    prague_rate::INFO,
    dctcp_rate::INFO,
    d3::INFO,
    d3::RCP_DC_INFO,
    rcp::INFO,
    fixed::INFO,
    ndp::INFO,
    eqds::EQDS,
    eqds::RCCC,
];

/// All algorithms, in a fixed order.
pub fn registry() -> &'static [AlgorithmInfo] {
    REGISTRY
}

/// Finds an algorithm of one kind, or says which there are.
pub(crate) fn find(kind: Kind, name: &str) -> Result<&'static AlgorithmInfo, ConfigError> {
    find_in(registry(), kind, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Make;
    use crate::params::Domain;

    #[test]
    fn every_row_is_consistent() {
        for info in registry() {
            let same = registry().iter().filter(|other| other.name == info.name);
            assert_eq!(same.count(), 1, "{} appears once", info.name);
            match info.make {
                Make::SlowStart(_) => assert_eq!(info.kind, Kind::SlowStart),
                Make::CongestionAvoidance(_) => assert_eq!(info.kind, Kind::CongestionAvoidance),
                Make::RateControl(_) => assert_eq!(info.kind, Kind::RateControl),
                Make::Receiver(_) => assert_eq!(info.kind, Kind::Receiver),
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
