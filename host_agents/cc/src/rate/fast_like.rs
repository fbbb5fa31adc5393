//! The FAST equation on a rate (docs/algorithms/timely.md#fast-like), a comparison of the TIMELY source: each
//! flow keeps a fixed amount of rate in the queue.
//!
//! `R = min(2R, (1-g) R + g (R baseRTT/RTT + a))` once per round trip; at rest `R (1 - baseRTT/RTT) = a`.

use super::bounded::{BoundedRate, R_MIN, R_MIN_SHARE, WINDOW};
use super::control::{RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "fast_like",
    kind: Kind::RateControl,
    summary: "rate-based form of FAST TCP's equation: every flow keeps the same amount of data queued",
    parameters: &[
        ParamInfo {
            name: "a_mbps",
            unit: "Mbit/s",
            summary: "amount of data that each flow keeps queued; the source uses 10, 50 and a third value, \
                100",
            domain: Domain::Number { default: Some(10.0), min: 0.001, max: 1e6 },
            source: "docs/algorithms/timely.md#fast-like, #choice-fast-parameters",
        },
        ParamInfo {
            name: "g",
            unit: "ratio",
            summary: "weight of the new rate",
            domain: Domain::Number { default: Some(0.5), min: 0.001, max: 1.0 },
            source: "docs/algorithms/timely.md#fast-like, #choice-fast-parameters",
        },
        ParamInfo {
            name: "base_rtt_ns",
            unit: "ns",
            summary: "round-trip time of an idle path; 0 uses the network's largest",
            domain: Domain::Number { default: Some(0.0), min: 0.0, max: 3.6e12 },
            source: "docs/algorithms/timely.md#fast-like",
        },
        R_MIN,
        R_MIN_SHARE,
        WINDOW,
    ],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/timely.md#fast-like",
    make: Make::RateControl(|params, environment| Ok(Box::new(FastLike::new(params, environment)?))),
};

/// State of one sender.
#[derive(Clone, Copy, Debug)]
struct FastLike {
    rate: BoundedRate,
    a_bps: f64,
    g: f64,
    base_rtt_ps: f64,
    /// The next update comes with the first ACK above this byte.
    window_end: u64,
}

impl FastLike {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let base_rtt_ns = params.number("base_rtt_ns")?;
        Ok(Self {
            rate: BoundedRate::new(params, environment)?,
            a_bps: params.number("a_mbps")? * 1e6,
            g: params.number("g")?,
            base_rtt_ps: if base_rtt_ns > 0.0 {
                base_rtt_ns * 1e3
            } else {
                environment.base_rtt.as_ps() as f64
            },
            window_end: 0,
        })
    }
}

impl RateControl for FastLike {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let Some(rtt) = ack.rtt.filter(|_| ack.ack > self.window_end) else { return };
        self.window_end = ack.snd_nxt;
        let rate = self.rate.bps();
        // A sample below the base would ask for more than the
        // equation means; the base is what an idle path takes.
        let idle_share = (self.base_rtt_ps / rtt.as_ps() as f64).min(1.0);
        let target = rate * idle_share + self.a_bps;
        self.rate.set((2.0 * rate).min((1.0 - self.g) * rate + self.g * target));
    }

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

    fn rest(a_mbps: u32, rtt_ns: u64) -> f64 {
        let json = format!(r#"{{"name":"fast_like","a_mbps":{a_mbps},"r_min_mbps":1}}"#);
        let mut control = made(&json, &environment(20, 100));
        for ack in 1..5_000 {
            let rtt = Some(Span::from_ns(rtt_ns));
            control.on_ack(&RateAck { ack, snd_nxt: ack, rtt, ..RateAck::default() });
        }
        control.rate_bps()
    }

    /// docs/algorithms/timely.md#fast-like, #number-timely-rates: at rest `R (1 - baseRTT/RTT) = a`; 7.5 of
    /// 20 Gbit/s over 40 flows at a = 10 is an RTT of 1.056.
    #[test]
    fn every_flow_keeps_a_waiting() {
        for (a_mbps, rtt_ns, want) in [(10, 200_000, 20e6), (50, 125_000, 250e6), (10, 105_634, 187.5e6)] {
            let rate = rest(a_mbps, rtt_ns);
            assert!((rate / want - 1.0).abs() < 1e-3, "a {a_mbps}, RTT {rtt_ns} ns: {rate}");
        }
        assert_eq!(rest(10, 100_000), 20e9, "an idle path is filled");
    }

    /// docs/algorithms/timely.md#fast-like: the base round-trip time may be given; one update in a round
    /// trip, by the first ACK beyond what was sent at the last one.
    #[test]
    fn a_given_base_and_one_update_in_a_round_trip() {
        let json = r#"{"name":"fast_like","base_rtt_ns":200000,"g":1,"a_mbps":10,"r_min_mbps":1}"#;
        let mut control = made(json, &environment(20, 100));
        let mut rate = |ack, rtt_us| {
            let rtt = Some(Span::from_us(rtt_us));
            control.on_ack(&RateAck { ack, snd_nxt: ack + 9, rtt, ..RateAck::default() });
            control.rate_bps()
        };
        assert_eq!(rate(1, 400), 10.01e9);
        assert_eq!(rate(10, 400), 10.01e9);
        assert_eq!(rate(11, 400), 5.015e9);
    }
}
