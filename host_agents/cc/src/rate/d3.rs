//! D3 (docs/algorithms/d3-rcp.md#d3): a flow asks the switches of its path for the rate
//! that its deadline needs, once per round trip, and paces its data at what they grant.
//! RCP_dc (docs/algorithms/d3-rcp.md#rcp) is the same sender with nothing ever desired.
//!
//! The transport carries requests and returns; here is what a flow desires, and when it gives up.
//!
//! Invariants: `0 <= granted <= line rate` and 0 is the base
//! rate; what is desired is 0 or positive, at most the line rate.

use p4cc_units::Span;

use super::control::{FlowRemainder, RateAck, RateControl, RateEnvironment, RateRequest};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

/// What the registry says about D3.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "d3",
    kind: Kind::RateControl,
    summary: "requests from switches, every round trip, the rate that the flow's deadline requires, and \
        paces at their grant",
    parameters: &[
        ParamInfo {
            name: "slack_rounds",
            unit: "round trips",
            summary: "margin before the deadline: one to get the rate, one to close; 0 for size divided by \
                time",
            domain: Domain::Number { default: Some(2.0), min: 0.0, max: 100.0 },
            source: "docs/algorithms/d3-rcp.md#d3-sender",
        },
        ParamInfo {
            name: "quench",
            unit: "",
            summary: "'on': a flow ends early if its deadline has passed or would need more than the uplink",
            domain: Domain::Choice { default: "off", options: &["off", "on"] },
            source: "docs/algorithms/d3-rcp.md#d3-quench",
        },
        ParamInfo {
            name: "late",
            unit: "",
            summary: "after a missed deadline, a flow continues at the 'fair_share', or 'extend's the \
                deadline",
            domain: Domain::Choice { default: "fair_share", options: &["fair_share", "extend"] },
            source: "docs/algorithms/d3-rcp.md#d3-sender; our own",
        },
        ParamInfo {
            name: "extend_ns",
            unit: "ns",
            summary: "extension of a deadline with 'extend', each time it is missed",
            domain: Domain::Number { default: Some(20e6), min: 1e3, max: 3.6e12 },
            source: "our own",
        },
    ],
    switch_needs: SwitchNeed::RateAllocation,
    source: "docs/algorithms/d3-rcp.md#d3",
    make: Make::RateControl(|params, environment| Ok(Box::new(D3::new(params, environment)?))),
};

/// What the registry says about RCP_dc.
pub(crate) const RCP_DC_INFO: AlgorithmInfo = AlgorithmInfo {
    name: "rcp_dc",
    kind: Kind::RateControl,
    summary: "requests rates like D3 but without deadlines: every flow gets an equal share",
    parameters: &[],
    switch_needs: SwitchNeed::RateAllocation,
    source: "docs/algorithms/d3-rcp.md#rcp",
    make: Make::RateControl(|_, environment| Ok(Box::new(D3::fair(environment)))),
};

/// How deadlines count.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Deadlines {
    slack_rounds: f64,
    quench: bool,
    extend: Option<Span>,
}

/// State of one sender.
#[derive(Clone, Copy, Debug)]
struct D3 {
    /// None for RCP_dc.
    deadlines: Option<Deadlines>,
    granted_bps: f64,
    line_bps: f64,
}

impl D3 {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let extend = Span::from_ns(params.number("extend_ns")? as u64);
        let deadlines = Deadlines {
            slack_rounds: params.number("slack_rounds")?,
            quench: params.choice("quench")? == "on",
            extend: (params.choice("late")? == "extend").then_some(extend),
        };
        Ok(Self { deadlines: Some(deadlines), ..Self::fair(environment) })
    }

    const fn fair(environment: &RateEnvironment) -> Self {
        Self { deadlines: None, granted_bps: 0.0, line_bps: environment.line_bps() }
    }
}

impl Deadlines {
    /// docs/algorithms/d3-rcp.md#d3-sender: `r_new = remaining_bytes*8
    /// / (deadline - now - c*RTT)`; 0 where that is no time.
    fn request(&self, remainder: &FlowRemainder, line_bps: f64) -> RateRequest {
        let (Some(deadline), Some(left_bytes)) = (remainder.deadline, remainder.left_bytes) else {
            return RateRequest::Rate(0.0);
        };
        let (now, bits) = (remainder.now, left_bytes as f64 * 8.0);
        let left_s = deadline.max(now).since(now).as_ps() as f64 / 1e12;
        // docs/algorithms/d3-rcp.md#d3-quench; the slack is the sender's caution and quenches nothing.
        if self.quench && bits > left_s * line_bps {
            return RateRequest::Quench;
        }
        let left_s = match self.extend {
            Some(extend) if deadline <= now => {
                let late_ps = now.since(deadline).as_ps();
                (extend.as_ps() - late_ps % extend.as_ps()) as f64 / 1e12
            }
            _ => left_s,
        };
        let time_s = left_s - self.slack_rounds * remainder.rtt.as_ps() as f64 / 1e12;
        if time_s <= 0.0 {
            return RateRequest::Rate(0.0);
        }
        RateRequest::Rate((bits / time_s).min(line_bps))
    }
}

impl RateControl for D3 {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        if let Some(bps) = ack.granted_bps {
            self.granted_bps = bps.clamp(0.0, self.line_bps);
        }
    }

    fn request_rate(&mut self, remainder: &FlowRemainder) -> RateRequest {
        self.deadlines.map_or(RateRequest::Rate(0.0), |deadlines| deadlines.request(remainder, self.line_bps))
    }

    fn rate_bps(&self) -> f64 {
        self.granted_bps
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Time;

    use super::super::tests::{environment, made};
    use super::*;

    const MS: u64 = 1_000_000;

    fn remainder(now_ns: u64, left_bytes: u64, deadline_ns: u64) -> FlowRemainder {
        FlowRemainder {
            now: Time::from_ns(now_ns),
            left_bytes: Some(left_bytes),
            deadline: Some(Time::from_ns(deadline_ns)),
            rtt: Span::from_us(300),
        }
    }

    fn requested(parameters: &str, remainder: &FlowRemainder) -> RateRequest {
        made(&format!(r#"{{"name":"d3"{parameters}}}"#), &environment(1, 300)).request_rate(remainder)
    }

    /// docs/algorithms/d3-rcp.md#d3-sender by hand: 50000 B in 10.6 ms
    /// less two round trips of 0.3 ms is 400 kbit in 10 ms, 40 Mbit/s.
    #[test]
    fn the_desired_rate_is_size_left_over_time_left() {
        assert_eq!(requested("", &remainder(MS, 50_000, MS + 10_600_000)), RateRequest::Rate(40e6));
        assert_eq!(
            requested(r#","slack_rounds":0"#, &remainder(MS, 50_000, 11 * MS)),
            RateRequest::Rate(40e6)
        );
        assert_eq!(
            requested("", &remainder(0, 5_000_000, 10_600_000)),
            RateRequest::Rate(1e9),
            "never above the line"
        );
        assert_eq!(
            requested("", &remainder(0, 5_000, 600_000)),
            RateRequest::Rate(0.0),
            "no time but the slack"
        );
        assert_eq!(
            requested("", &remainder(2 * MS, 5_000, MS)),
            RateRequest::Rate(0.0),
            "late: a fair share"
        );
        let without = FlowRemainder { deadline: None, ..remainder(0, 5_000, 0) };
        assert_eq!(requested("", &without), RateRequest::Rate(0.0));
        assert_eq!(
            requested("", &FlowRemainder { left_bytes: None, ..remainder(0, 0, MS) }),
            RateRequest::Rate(0.0),
            "no end"
        );
    }

    #[test]
    fn quenching_ends_what_the_uplink_cannot_bring_in_time() {
        let on = r#","quench":"on""#;
        // 125 kB need 1 ms of 1 Gbit/s.
        assert_eq!(requested(on, &remainder(0, 125_000, MS)), RateRequest::Rate(1e9));
        assert_eq!(requested(on, &remainder(0, 125_001, MS)), RateRequest::Quench);
        assert_eq!(requested(on, &remainder(MS, 1, MS)), RateRequest::Quench, "the deadline is now");
        // Within the slack but possible: no rate is desired, the flow goes on.
        assert_eq!(requested(on, &remainder(0, 5_000, 500_000)), RateRequest::Rate(0.0));
        assert_eq!(requested("", &remainder(0, 125_001, MS)), RateRequest::Rate(1e9), "off by default");
    }

    #[test]
    fn a_soft_deadline_moves_as_often_as_it_is_missed() {
        let extend = r#","late":"extend","extend_ns":10600000"#;
        assert_eq!(
            requested(extend, &remainder(MS, 50_000, MS)),
            RateRequest::Rate(40e6),
            "missed just now: all of it remainder"
        );
        assert_eq!(
            requested(extend, &remainder(MS + 10_600_000, 50_000, MS)),
            RateRequest::Rate(40e6),
            "missed again"
        );
        assert_eq!(requested(extend, &remainder(MS + 5_000_000, 50_000, MS)), RateRequest::Rate(80e6));
    }

    #[test]
    fn the_grant_is_the_rate_and_rcp_desires_nothing() {
        let mut rcp = made(r#"{"name":"rcp_dc"}"#, &environment(1, 300));
        assert_eq!(rcp.request_rate(&remainder(0, 5_000, MS)), RateRequest::Rate(0.0));
        assert_eq!(rcp.rate_bps(), 0.0, "the base rate before the first grant");
        for (granted, rate) in [(Some(3e8), 3e8), (None, 3e8), (Some(0.0), 0.0), (Some(2e9), 1e9)] {
            rcp.on_ack(&RateAck { granted_bps: granted, ..RateAck::default() });
            assert_eq!(rcp.rate_bps(), rate);
        }
    }
}
