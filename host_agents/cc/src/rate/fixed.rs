//! A rate that nothing changes. It is "PFC only" of the TIMELY source, where PFC (IEEE 802.1Qbb) alone holds
//! senders back (docs/algorithms/reproductions.md#timely), and cross traffic of a known rate.

use super::bounded::{BoundedRate, R_MIN, R_MIN_SHARE, WINDOW};
use super::control::{RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "fixed",
    kind: Kind::RateControl,
    summary: "sends at a constant rate: the line rate, so that only PFC limits it, or a given one",
    parameters: &[
        ParamInfo {
            name: "rate_mbps",
            unit: "Mbit/s",
            summary: "the constant rate; 0 uses the line rate",
            domain: Domain::Number { default: Some(0.0), min: 0.0, max: 1e9 },
            source: "docs/algorithms/reproductions.md#y-inc",
        },
        R_MIN,
        R_MIN_SHARE,
        WINDOW,
    ],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/reproductions.md#y-inc",
    make: Make::RateControl(|params, environment| Ok(Box::new(Fixed::new(params, environment)?))),
};

/// State of one sender.
#[derive(Clone, Copy, Debug)]
struct Fixed {
    rate: BoundedRate,
}

impl Fixed {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let mut rate = BoundedRate::new(params, environment)?;
        let bps = params.number("rate_mbps")? * 1e6;
        if bps > rate.line_bps() {
            let cause =
                format!("{} Mbit/s exceeds the line rate of {} Mbit/s", bps / 1e6, rate.line_bps() / 1e6);
            return Err(params.error("rate_mbps", cause, "reduce it, or use a faster link".to_owned()));
        }
        if bps > 0.0 {
            rate.set(bps);
        }
        Ok(Self { rate })
    }
}

impl RateControl for Fixed {
    fn on_ack(&mut self, _ack: &RateAck<'_>) {}

    fn rate_bps(&self) -> f64 {
        self.rate.bps()
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        self.rate.cwnd_bytes()
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Span;

    use super::super::tests::{environment, made};
    use super::*;

    #[test]
    fn nothing_changes_the_rate() {
        for (json, want) in [
            (r#"{"name":"fixed"}"#, 10e9),
            (r#"{"name":"fixed","rate_mbps":200,"r_min_mbps":1}"#, 200e6),
            (r#"{"name":"fixed","rate_mbps":10000}"#, 10e9),
        ] {
            let mut control = made(json, &environment(10, 20));
            let rtt = Some(Span::from_us(5_000));
            control.on_ack(&RateAck { rtt, cnp: true, ..RateAck::default() });
            assert_eq!(control.rate_bps(), want);
        }
    }
}
