//! Classic RCP (docs/algorithms/d3-rcp.md#rcp): switches keep one fair rate for all flows of a port and stamp
//! the path's smallest into every packet; the sender paces at what comes back.
//!
//! A flow starts with one packet per base round-trip time, until the first stamp is back (our own: the
//! handshake that would bring it does not exist here).

use super::control::{RateAck, RateControl, RateEnvironment};
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "rcp",
    kind: Kind::RateControl,
    summary: "paces at the smallest fair rate that the switches on the path stamp into packets",
    parameters: &[],
    switch_needs: SwitchNeed::FairRate,
    source: "docs/algorithms/d3-rcp.md#rcp",
    make: Make::RateControl(|_, environment| Ok(Box::new(Rcp::new(environment)))),
};

/// A full packet at IP level (docs/algorithms/substrate.md#packets).
const PACKET_BITS: f64 = 1_500.0 * 8.0;
/// The smallest rate that the transport paces at.
const LEAST_BPS: f64 = 1_000.0;

/// State of one sender.
#[derive(Clone, Copy, Debug)]
struct Rcp {
    rate_bps: f64,
    line_bps: f64,
}

impl Rcp {
    fn new(environment: &RateEnvironment) -> Self {
        let line_bps = environment.line_bps();
        let first = PACKET_BITS / (environment.base_rtt.as_ps() as f64 / 1e12);
        Self { rate_bps: first.clamp(LEAST_BPS, line_bps), line_bps }
    }
}

impl RateControl for Rcp {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        if let Some(bps) = ack.granted_bps {
            self.rate_bps = bps.clamp(LEAST_BPS, self.line_bps);
        }
    }

    fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{environment, made};
    use super::*;

    #[test]
    fn the_rate_is_one_packet_a_round_then_the_stamp() {
        let mut rcp = made(r#"{"name":"rcp"}"#, &environment(1, 300));
        assert_eq!(rcp.rate_bps(), 40e6);
        for (stamp, rate) in [(Some(5e8), 5e8), (None, 5e8), (Some(4e9), 1e9), (Some(0.0), 1e3)] {
            rcp.on_ack(&RateAck { granted_bps: stamp, ..RateAck::default() });
            assert_eq!(rcp.rate_bps(), rate);
        }
    }
}
