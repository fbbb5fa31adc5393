//! The rate family: senders of RDMA-like transports, whose
//! output is a pacing rate and, for some, a window in bytes.
//!
//! State machines as in the window family: they take `now` and what an ACK says, and are asked for the rate.
//! They react to round-trip times (TIMELY, FAST-like), congestion notifications (DCQCN, DCTCP) or telemetry
//! (HPCC), or are told their rate by the switches (D3, RCP). [`rate_registry`] is their table; it stands
//! apart from [`crate::registry`] because another transport runs them.
//!
//! Invariants: `min <= rate <= line rate`, or 0 where switches allot
//! rates and have none left; nothing changes but through the calls.

mod d3;
mod dcqcn;
mod dctcp;
mod fast_like;
mod fixed;
mod hpcc;
mod int;
mod rcp;
mod timely;

use core::fmt;

use p4cc_units::{Bytes, Rate, Span, Time};

use crate::AlgorithmSpec;
use crate::config::{ConfigError, Params, find_in};
use crate::registry::{AlgorithmInfo, Domain, Kind, Make, ParamInfo};

pub use d3::{FlowRemainder, RateRequest};
pub use int::IntEncoding;

/// Where a rate-controlled sender runs: what its algorithm must know of the network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateEnvironment {
    /// Rate of the host's interface, the first rate and the highest
    /// (docs/algorithms/timely.md#timely-parameters,
    /// docs/algorithms/dcqcn.md#dcqcn-sender, docs/algorithms/hpcc.md#hpcc-sender).
    pub line_rate: Rate,
    /// Largest base round-trip time over host pairs (docs/algorithms/hpcc.md#hpcc-parameters, T;
    /// docs/algorithms/timely.md#timely-variants, for the window).
    pub base_rtt: Span,
    /// How switches write telemetry.
    pub int: IntEncoding,
}

impl RateEnvironment {
    /// Line rate in bit/s.
    pub(crate) const fn line_bps(&self) -> f64 {
        self.line_rate.as_bps() as f64
    }

    /// Bytes that fit a base round trip at the line rate: `W_max` of
    /// docs/algorithms/timely.md#timely-variants, `W_init` of docs/algorithms/hpcc.md#hpcc-sender.
    pub(crate) fn bdp_bytes(&self) -> f64 {
        self.line_bps() * self.base_rtt.as_ps() as f64 / 8e12
    }
}

/// What one hop wrote into a packet, as it stands in the header:
/// wrapping counters in units (docs/algorithms/int.md#hpcc-int).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HopRecord {
    /// Rate of the link.
    pub line_rate: Rate,
    /// When the packet left.
    pub timestamp: u32,
    /// What the port had sent before.
    pub tx: u32,
    /// What it had left to send.
    pub queue: u32,
}

/// What an ACK says to a rate-controlled sender.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct RateAck<'a> {
    /// When it arrived.
    pub now: Time,
    /// The next byte that the receiver expects.
    pub ack: u64,
    /// The next byte to send.
    pub snd_nxt: u64,
    /// Round-trip time by the timestamp that came back, serialisation taken off where the transport does so.
    pub rtt: Option<Span>,
    /// The receiver saw a congestion mark (docs/algorithms/dcqcn.md#dcqcn-receiver, `ack_flag`).
    pub cnp: bool,
    /// Rate at which the flow really sent lately, in bit/s; none if it always had data.
    pub sent_bps: Option<f64>,
    /// Telemetry in the order of hops.
    pub hops: &'a [HopRecord],
    /// Rate in bit/s that the switches of the path grant; 0 for
    /// the base rate, none where the ACK says nothing of it.
    pub granted_bps: Option<f64>,
}

/// Congestion control by rate.
pub trait RateControl: fmt::Debug + Send {
    /// Takes an ACK.
    fn on_ack(&mut self, ack: &RateAck<'_>);

    /// Takes a congestion notification that came as a packet of its own
    /// (docs/algorithms/dcqcn.md#dcqcn-receiver).
    fn on_cnp(&mut self, _now: Time) {}

    /// Counts bytes that left.
    fn on_sent(&mut self, _now: Time, _size: Bytes) {}

    /// When [`Self::on_timer`] is to be called.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Does what is due at `now`; a call at another time does no harm.
    fn on_timer(&mut self, _now: Time) {}

    /// What the flow asks the switches for; the transport asks for nobody but algorithms that need
    /// [`crate::SwitchNeed::RateAllocation`].
    fn ask(&mut self, _ahead: &FlowRemainder) -> RateRequest {
        RateRequest::Rate(0.0)
    }

    /// Pacing rate in bit/s; 0 says that no data may leave now.
    fn rate_bps(&self) -> f64;

    /// Window in bytes; none where the rate alone decides.
    fn cwnd_bytes(&self) -> Option<f64>;
}

/// Every algorithm of the rate family.
static REGISTRY: &[AlgorithmInfo] = &[
    timely::INFO,
    fast_like::INFO,
    dcqcn::INFO,
    hpcc::INFO,
    dctcp::INFO,
    d3::INFO,
    d3::RCP_DC_INFO,
    rcp::INFO,
    fixed::INFO,
];

/// All algorithms of the rate family, in a fixed order.
pub fn rate_registry() -> &'static [AlgorithmInfo] {
    REGISTRY
}

/// Makes the algorithm that a configuration names.
///
/// # Errors
/// An unknown algorithm or parameter, a value out of range,
/// or values that contradict each other or the network.
pub fn build_rate(
    spec: &AlgorithmSpec,
    environment: &RateEnvironment,
) -> Result<Box<dyn RateControl>, ConfigError> {
    let kind = Kind::RateControl;
    let info = find_in(REGISTRY, kind, &spec.name)?;
    let Make::RateControl(make) = info.make else {
        return Err(ConfigError::new(kind.key(), "is filed under a wrong kind", "report this as a defect"));
    };
    make(&Params::new(kind.key(), info, spec)?, environment)
}

pub(crate) const R_MIN: ParamInfo = ParamInfo {
    name: "r_min_mbps",
    unit: "Mbit/s",
    summary: "the rate never falls below this",
    domain: Domain::Number { default: Some(1_000.0), min: 0.001, max: 1e9 },
    source: "docs/algorithms/timely.md#timely-parameters, docs/algorithms/dcqcn.md#dcqcn-sender, docs/algorithms/hpcc.md#hpcc-parameters",
};

pub(crate) const WINDOW: ParamInfo = ParamInfo {
    name: "window",
    unit: "",
    summary: "'vwin' bounds what is in flight by the largest BDP times rate over line rate",
    domain: Domain::Choice { default: "none", options: &["none", "vwin"] },
    source: "docs/algorithms/timely.md#timely-variants",
};

/// A rate between its bounds, with the window of the "+win"
/// variants (docs/algorithms/timely.md#timely-variants).
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedRate {
    bps: f64,
    min_bps: f64,
    line_bps: f64,
    /// `W_max`, where there is a window.
    window_max_bytes: Option<f64>,
}

impl BoundedRate {
    /// At the line rate, from [`R_MIN`] and [`WINDOW`], which the algorithm's registry row must list.
    pub(crate) fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let line_bps = environment.line_bps();
        let min_bps = min_rate_bps(params, environment)?;
        let has_window = params.choice("window")? == "vwin";
        let window_max_bytes = has_window.then(|| environment.bdp_bytes());
        Ok(Self { bps: line_bps, min_bps, line_bps, window_max_bytes })
    }

    pub(crate) const fn bps(&self) -> f64 {
        self.bps
    }

    pub(crate) const fn line_bps(&self) -> f64 {
        self.line_bps
    }

    /// Sets the rate, clamped to its bounds; not-a-number counts as the minimum.
    pub(crate) const fn set(&mut self, bps: f64) {
        self.bps = if bps.is_nan() { self.min_bps } else { bps.clamp(self.min_bps, self.line_bps) };
    }

    /// docs/algorithms/timely.md#timely-variants: `W = W_max * R/R_max`, at least 1 byte.
    pub(crate) fn cwnd_bytes(&self) -> Option<f64> {
        self.window_max_bytes.map(|max| (max * self.bps / self.line_bps).max(1.0))
    }
}

/// `r_min_mbps` in bit/s, which must not lie above the line rate.
pub(crate) fn min_rate_bps(params: &Params<'_>, environment: &RateEnvironment) -> Result<f64, ConfigError> {
    let (min_bps, line_bps) = (params.number("r_min_mbps")? * 1e6, environment.line_bps());
    if min_bps > line_bps {
        let cause = format!("{} Mbit/s is above the line rate of {} Mbit/s", min_bps / 1e6, line_bps / 1e6);
        return Err(params.error("r_min_mbps", cause, "lower it, or use a faster link".to_owned()));
    }
    Ok(min_bps)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn environment(gbps: u64, base_rtt_us: u64) -> RateEnvironment {
        RateEnvironment {
            line_rate: Rate::from_bps(gbps * 1_000_000_000),
            base_rtt: Span::from_us(base_rtt_us),
            int: IntEncoding::hs_fixed(gbps as u32 / 25),
        }
    }

    pub(super) fn made(json: &str, environment: &RateEnvironment) -> Box<dyn RateControl> {
        let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
        build_rate(&spec, environment).expect("valid parameters")
    }

    #[test]
    fn every_row_makes_an_algorithm_of_its_kind() {
        for info in rate_registry() {
            assert_eq!(info.kind, Kind::RateControl);
            let control = made(&format!(r#"{{"name":"{}"}}"#, info.name), &environment(100, 13));
            if !info.switch_needs.grants_rates() {
                assert_eq!(control.rate_bps(), 100e9, "{} starts at the line rate", info.name);
            }
        }
    }

    #[test]
    fn errors_name_place_cause_and_remedy() {
        let message = |json: &str| {
            let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
            build_rate(&spec, &environment(10, 100)).expect_err("refused").to_string()
        };
        assert_eq!(
            message(r#"{"name":"hpc"}"#),
            r#"rate_control.name: unknown algorithm "hpc"; did you mean "hpcc"? known: timely, fast_like, dcqcn, hpcc, dctcp_rate, d3, rcp_dc, rcp, fixed"#
        );
        assert_eq!(
            message(r#"{"name":"dcqcn","r_min_mbps":20000}"#),
            "rate_control.r_min_mbps: 20000 Mbit/s is above the line rate of 10000 Mbit/s; lower it, or use a faster link"
        );
    }

    /// Every algorithm as it is by default, and those that have others in their other forms.
    fn forms() -> Vec<(&'static AlgorithmInfo, &'static str)> {
        let row = |name: &str| rate_registry().iter().find(|row| row.name == name).expect("registered");
        let others = [
            ("timely", r#","hai_counts":"raw","scale_by_time":"on","max_cut":0.5"#),
            ("timely", r#","patched":"on","t_low_ns":0"#),
            ("timely", r#","update":"window","hai_counts":"every""#),
            ("dcqcn", r#","form":"paper","byte_counter_bytes":5000"#),
            ("hpcc", r#","multi_rate":"on","max_stage":5"#),
            ("hpcc", r#","reaction":"running""#),
        ];
        let plain = rate_registry().iter().map(|info| (info, ""));
        plain.chain(others.map(|(name, more)| (row(name), more))).collect()
    }

    proptest! {
        /// Whatever ACKs, notifications and timers bring, rate and window keep their bounds.
        #[test]
        fn bounds_hold_whatever_happens(
            (info, more) in prop::sample::select(forms()),
            steps in prop::collection::vec(
                (0_u64..200, 0_u64..1_000_000, any::<bool>(), prop::option::of(0.0_f64..2e11), any::<[u32; 3]>(), 0_usize..4),
                0..200,
            ),
            vwin in any::<bool>(),
        ) {
            let vwin = vwin && info.parameters.iter().any(|param| param.name == "window");
            let window = if vwin { r#","window":"vwin""# } else { "" };
            let environment = environment(100, 13);
            let mut control = made(&format!(r#"{{"name":"{}"{window}{more}}}"#, info.name), &environment);
            let (mut now, mut ack) = (Time::ZERO, 0);
            for (later_us, rtt_ns, cnp, sent_bps, [timestamp, tx, queue], hops) in steps {
                now += Span::from_us(later_us);
                ack += 1_000;
                let hop = HopRecord { line_rate: environment.line_rate, timestamp, tx, queue };
                let hops = vec![hop; hops];
                let rtt = Some(Span::from_ns(rtt_ns));
                let (snd_nxt, hops) = (ack + 10_000, hops.as_slice());
                // A number of any size, used as a grant too.
                let granted_bps = sent_bps;
                control.on_ack(&RateAck { now, ack, snd_nxt, rtt, cnp, sent_bps, hops, granted_bps });
                control.on_sent(now, Bytes(1_000));
                control.on_timer(now);
                let least = if info.switch_needs.grants_rates() { 0.0 } else { 1e9 };
                prop_assert!((least..=100e9).contains(&control.rate_bps()), "{}", control.rate_bps());
                prop_assert!(control.cwnd_bytes().is_none_or(|bytes| (1.0..=environment.bdp_bytes()).contains(&bytes)));
                prop_assert!(!vwin || control.cwnd_bytes().is_some());
                prop_assert!(control.next_timer().is_none_or(|timer| timer > now));
            }
        }
    }
}
