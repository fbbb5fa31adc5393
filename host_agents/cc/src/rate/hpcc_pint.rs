//! HPCC by PINT (docs/algorithms/hpcc.md#pint): switches average the utilisation of their ports, and the
//! packet brings that of the busiest one in a byte, in place of a record of every hop.
//!
//! Windows, rounds and bounds are HPCC's; only the estimate comes from the path.

use super::bounded::{R_MIN, R_MIN_SHARE};
use super::control::{RateAck, RateControl, RateEnvironment};
use super::hpcc::{AI, ETA, Hpcc, MAX_STAGE, REACTION};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::Params;

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "hpcc_pint",
    kind: Kind::RateControl,
    summary: "HPCC with the utilisation of the path's busiest port in one byte (PINT) in place of records",
    parameters: &[ETA, MAX_STAGE, AI, REACTION, R_MIN, R_MIN_SHARE],
    switch_needs: SwitchNeed::PathUtilisation,
    source: "docs/algorithms/hpcc.md#pint",
    make: Make::RateControl(|params, environment| Ok(Box::new(HpccPint::new(params, environment)?))),
};

/// State of one sender.
#[derive(Clone, Debug)]
struct HpccPint {
    hpcc: Hpcc,
    /// Whether an ACK brought a utilisation.
    has_heard: bool,
}

impl HpccPint {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        // Nothing is computed before the path reports its utilisation.
        Ok(Self { hpcc: Hpcc::with(params, environment, 1.0)?, has_heard: false })
    }
}

impl RateControl for HpccPint {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let Some(utilisation) = ack.utilisation else { return };
        if self.has_heard {
            self.hpcc.set_utilisation(utilisation);
            self.hpcc.react(ack);
        } else {
            // docs/algorithms/hpcc.md#pint-sender: the first ACK only begins a round.
            self.has_heard = true;
            self.hpcc.begin_round(ack);
        }
    }

    fn rate_bps(&self) -> f64 {
        self.hpcc.rate_bps()
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        self.hpcc.cwnd_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{environment, made};
    use super::*;

    fn told(ack: u64, utilisation: f64) -> RateAck<'static> {
        RateAck { ack, snd_nxt: ack + 100_000, utilisation: Some(utilisation), ..RateAck::default() }
    }

    /// docs/algorithms/hpcc.md#pint-sender by hand: T = 13 us and 100 Gbit/s are a window of 162,500 B and a
    /// step of 65 B; the reference moves with the first ACK above what was sent when the round began.
    #[test]
    fn a_round_by_hand() {
        let mut sender = made(r#"{"name":"hpcc_pint"}"#, &environment(100, 13));
        let mut window = |ack: &RateAck<'_>| {
            sender.on_ack(ack);
            sender.cwnd_bytes().expect("a window")
        };
        assert_eq!(window(&told(1_000, 1.9)), 162_500.0, "the first ACK begins the round");
        assert!((window(&told(2_000, 1.9)) - 81_315.0).abs() < 1e-6);
        assert!((window(&told(3_000, 3.8)) - 40_690.0).abs() < 1e-6, "from the same reference");
        assert!((window(&told(101_000, 1.9)) - 81_315.0).abs() < 1e-6, "the last byte of the round");
        assert!((window(&told(101_001, 1.9)) - 81_315.0).abs() < 1e-6, "moves the reference");
        assert!((window(&told(102_000, 1.9)) - (81_315.0 / 2.0 + 65.0)).abs() < 1e-6);
        let last = window(&RateAck { ack: 150_000, snd_nxt: 300_000, ..RateAck::default() });
        assert!((last - (81_315.0 / 2.0 + 65.0)).abs() < 1e-6, "an ACK that tells nothing changes nothing");
    }

    /// As HPCC's: additive stages come first where there are any, and an idle path opens the window whole.
    #[test]
    fn stages_and_bounds_are_hpccs() {
        let mut sender =
            made(r#"{"name":"hpcc_pint","max_stage":5,"r_min_mbps":1000}"#, &environment(100, 13));
        for ack in [told(1, 9.5), told(100_002, 9.5)] {
            sender.on_ack(&ack);
        }
        let cut = 16_250.0 + 65.0;
        assert!((sender.cwnd_bytes().expect("a window") - cut).abs() < 1e-6);
        for stage in 1..=5_u32 {
            sender.on_ack(&told(100_002 + 100_001 * u64::from(stage), 0.01));
            let want = cut + 65.0 * f64::from(stage);
            assert!((sender.cwnd_bytes().expect("a window") - want).abs() < 1e-6, "stage {stage}");
        }
        sender.on_ack(&told(1_000_000, 0.01));
        assert_eq!(sender.cwnd_bytes(), Some(162_500.0));
        sender.on_ack(&told(2_000_000, 494.0));
        assert_eq!(sender.cwnd_bytes(), Some(1_625.0));
    }
}
