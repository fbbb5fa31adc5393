//! Swift (docs/algorithms/swift.md): additive increase below a target delay, decrease in proportion to the
//! delay above it, at most once in a round trip; the target grows with the path and with small windows, and a
//! window below one packet is a pause between packets.
//!
//! Invariant: the window stays between `min_cwnd` and `max_cwnd` packets.

use libm::sqrt;
use p4cc_units::{Span, Time};

use super::control::{RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{ParamInfo, Params};

const PARAMETERS: &str = "docs/algorithms/swift.md#swift-parameters";

const AI: ParamInfo = ParamInfo::number(
    "ai",
    "packets",
    "additive increase per round trip",
    (Some(1.0), 0.0001, 1e3),
    PARAMETERS,
);
const BETA: ParamInfo = ParamInfo::number(
    "beta",
    "ratio",
    "weight of the delay above the target in a decrease",
    (Some(0.8), 0.001, 1.0),
    PARAMETERS,
);
const MAX_MDF: ParamInfo = ParamInfo::number(
    "max_mdf",
    "ratio",
    "maximum decrease, as a fraction of the window",
    (Some(0.5), 0.001, 0.999),
    PARAMETERS,
);
const BASE_TARGET: ParamInfo = ParamInfo::number(
    "base_target_ns",
    "ns",
    "target delay of a path without hops",
    (Some(20_000.0), 1.0, 1e12),
    PARAMETERS,
);
const HOP: ParamInfo = ParamInfo::number(
    "hop_ns",
    "ns",
    "increase of the target per switch on the path",
    (Some(3_053.0), 0.0, 1e9),
    PARAMETERS,
);
const FS_RANGE: ParamInfo = ParamInfo::number(
    "fs_range_ns",
    "ns",
    "maximum increase of the target for small windows (0: none)",
    (Some(100_000.0), 0.0, 1e12),
    PARAMETERS,
);
const FS_MIN: ParamInfo = ParamInfo::number(
    "fs_min_cwnd",
    "packets",
    "window below which the target is at its maximum",
    (Some(0.1), 0.001, 1e6),
    PARAMETERS,
);
const FS_MAX: ParamInfo = ParamInfo::number(
    "fs_max_cwnd",
    "packets",
    "window above which the target has no increase for small windows",
    (Some(100.0), 0.001, 1e6),
    PARAMETERS,
);
const MIN_CWND: ParamInfo =
    ParamInfo::number("min_cwnd", "packets", "minimum window", (Some(0.01), 0.0001, 1.0), PARAMETERS);
const MAX_CWND: ParamInfo = ParamInfo::number(
    "max_cwnd",
    "packets",
    "maximum window; 0 uses the bandwidth-delay product of the host's link",
    (Some(0.0), 0.0, 1e7),
    PARAMETERS,
);
const INITIAL: ParamInfo = ParamInfo::number(
    "initial_cwnd",
    "packets",
    "initial window; 0 uses the maximum",
    (Some(0.0), 0.0, 1e7),
    PARAMETERS,
);
const RETX_RESET: ParamInfo = ParamInfo::number(
    "retx_reset_threshold",
    "timeouts",
    "consecutive timeouts after which the window is set to the minimum",
    (Some(5.0), 1.0, 1e6),
    PARAMETERS,
);

/// What the registry says about Swift.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "swift",
    kind: Kind::RateControl,
    summary: "keeps the delay at a target that grows with the number of hops and for small windows",
    parameters: &[
        AI,
        BETA,
        MAX_MDF,
        BASE_TARGET,
        HOP,
        FS_RANGE,
        FS_MIN,
        FS_MAX,
        MIN_CWND,
        MAX_CWND,
        INITIAL,
        RETX_RESET,
    ],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/swift.md#swift",
    make: Make::RateControl(|params, environment| Ok(Box::new(Swift::new(params, environment)?))),
};

/// The target delay (docs/algorithms/swift.md#swift-target).
#[derive(Clone, Copy, Debug)]
struct Target {
    base_ns: f64,
    hop_ns: f64,
    range_ns: f64,
    /// `alpha` and `beta` of the flow scaling.
    scale_ns: f64,
    offset_ns: f64,
}

impl Target {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let range_ns = params.number("fs_range_ns")?;
        let (low, high) = (params.number("fs_min_cwnd")?, params.number("fs_max_cwnd")?);
        if low >= high {
            let cause = format!("{low} is not less than fs_max_cwnd {high}");
            return Err(params.error("fs_min_cwnd", cause, "reduce it".to_owned()));
        }
        let scale_ns = range_ns / (1.0 / sqrt(low) - 1.0 / sqrt(high));
        Ok(Self {
            base_ns: params.number("base_target_ns")?,
            hop_ns: params.number("hop_ns")?,
            range_ns,
            scale_ns,
            offset_ns: -scale_ns / sqrt(high),
        })
    }

    /// `t = base + hops h + max(0, min(alpha/sqrt(cwnd) + beta, fs_range))`.
    fn ns(&self, cwnd: f64, hops: u8) -> f64 {
        let of_window = (self.scale_ns / sqrt(cwnd) + self.offset_ns).clamp(0.0, self.range_ns);
        self.base_ns + f64::from(hops) * self.hop_ns + of_window
    }
}

/// State of one Swift sender. Windows are in packets.
#[derive(Clone, Copy, Debug)]
struct Swift {
    ai: f64,
    beta: f64,
    max_mdf: f64,
    target: Target,
    min: f64,
    max: f64,
    retx_reset: u32,
    mss_bytes: f64,
    packet_bits: f64,
    line_bps: f64,
    cwnd: f64,
    /// Arrived so far.
    acked: u64,
    /// Smoothed; the network's base before the first sample.
    srtt_ns: f64,
    has_sample: bool,
    last_decrease: Option<Time>,
    timeouts_in_row: u32,
}

impl Swift {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let mss_bytes = environment.packet.payload.0 as f64;
        let or =
            |name: &str, other: f64| params.number(name).map(|given| if given > 0.0 { given } else { other });
        let max = or("max_cwnd", (environment.bdp_bytes() / mss_bytes).max(1.0))?;
        let min = params.number("min_cwnd")?.min(max);
        Ok(Self {
            ai: params.number("ai")?,
            beta: params.number("beta")?,
            max_mdf: params.number("max_mdf")?,
            target: Target::new(params)?,
            min,
            max,
            retx_reset: params.number("retx_reset_threshold")? as u32,
            mss_bytes,
            packet_bits: 8.0 * environment.packet.ip.0 as f64,
            line_bps: environment.line_bps(),
            cwnd: or("initial_cwnd", max)?.clamp(min, max),
            acked: 0,
            srtt_ns: environment.base_rtt.as_ps() as f64 / 1e3,
            has_sample: false,
            last_decrease: None,
            timeouts_in_row: 0,
        })
    }

    /// "at most once in a round trip".
    fn can_decrease(&self, now: Time) -> bool {
        self.last_decrease.is_none_or(|at| now.since(at).as_ps() as f64 / 1e3 >= self.srtt_ns)
    }

    /// Takes a share off the window, unless one was taken within a round trip.
    fn decrease(&mut self, now: Time, share: f64) {
        if self.can_decrease(now) {
            self.cwnd = (self.cwnd * (1.0 - share.min(self.max_mdf))).max(self.min);
            self.last_decrease = Some(now);
        }
    }

    /// docs/algorithms/window.md#reno-rules: 7/8 srtt + 1/8 R.
    fn sample(&mut self, rtt_ns: f64) {
        self.srtt_ns = if self.has_sample { (7.0 * self.srtt_ns + rtt_ns) / 8.0 } else { rtt_ns };
        self.has_sample = true;
    }
}

fn ns(span: Span) -> f64 {
    span.as_ps() as f64 / 1e3
}

impl RateControl for Swift {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let newly = ack.arrived_bytes().saturating_sub(self.acked);
        self.acked = self.acked.max(ack.arrived_bytes());
        if newly > 0 {
            self.timeouts_in_row = 0;
        }
        let Some(rtt) = ack.rtt else { return };
        let delay_ns = ns(rtt);
        let target_ns = self.target.ns(self.cwnd, ack.hop_count);
        if delay_ns < target_ns {
            let packets = newly as f64 / self.mss_bytes;
            let step = self.ai * packets / self.cwnd.max(1.0);
            self.cwnd = (self.cwnd + step).min(self.max);
        } else {
            self.decrease(ack.now, self.beta * (delay_ns - target_ns) / delay_ns);
        }
        self.sample(delay_ns);
    }

    fn on_loss(&mut self, now: Time) {
        self.timeouts_in_row = 0;
        self.decrease(now, self.max_mdf);
    }

    fn on_timeout(&mut self, now: Time) {
        self.timeouts_in_row = self.timeouts_in_row.saturating_add(1);
        if self.timeouts_in_row >= self.retx_reset {
            self.cwnd = self.min;
            self.last_decrease = Some(now);
        } else {
            self.decrease(now, self.max_mdf);
        }
    }

    /// A window of a packet and more leaves as it opens; below it a packet leaves every `rtt/cwnd`.
    fn rate_bps(&self) -> f64 {
        if self.cwnd >= 1.0 {
            return self.line_bps;
        }
        (self.packet_bits * self.cwnd * 1e9 / self.srtt_ns.max(1.0)).min(self.line_bps)
    }

    fn paces_by_rtt(&self) -> bool {
        true
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        Some(self.cwnd * self.mss_bytes)
    }

    /// Whole packets; below one packet one is in flight at a time.
    fn flight_limit_bytes(&self) -> Option<f64> {
        Some((self.cwnd as u64).max(1) as f64 * self.mss_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{environment, made};
    use super::*;
    use crate::testing::params_of;

    const MSS: f64 = 1_000.0;

    fn swift(more: &str) -> Box<dyn RateControl> {
        made(&format!(r#"{{"name":"swift","max_cwnd":1000{more}}}"#), &environment(100, 13))
    }

    fn ack(us: u64, ack: u64, rtt_us: u64) -> RateAck<'static> {
        RateAck { now: Time::from_us(us), ack, rtt: Some(Span::from_us(rtt_us)), ..RateAck::default() }
    }

    fn packets(control: &dyn RateControl) -> f64 {
        control.cwnd_bytes().expect("it has a window") / MSS
    }

    /// docs/algorithms/swift.md#swift-target: with htsim's values alpha is 32.655 us, beta -3.2655 us.
    #[test]
    fn the_target_by_hand() {
        let json = r#"{"name":"swift","base_target_ns":20000,"hop_ns":3000,"fs_range_ns":100000,
            "fs_min_cwnd":0.1,"fs_max_cwnd":100}"#;
        let target = Target::new(&params_of(&INFO, json).params()).expect("valid parameters");
        assert!((target.scale_ns - 32_655.0).abs() < 0.5 && (target.offset_ns + 3_265.5).abs() < 0.1);
        for (cwnd, hops, want_ns) in
            [(1.0, 0, 49_389.7), (100.0, 5, 35_000.0), (1_000.0, 0, 20_000.0), (0.01, 1, 123_000.0)]
        {
            assert!((target.ns(cwnd, hops) - want_ns).abs() < 1.0, "{cwnd}: {}", target.ns(cwnd, hops));
        }
    }

    /// Below the target by `ai/cwnd` for each packet acknowledged, above it by the excess once in a round
    /// trip.
    #[test]
    fn rises_below_the_target_and_falls_above_it() {
        let mut control = swift(r#","initial_cwnd":10,"fs_range_ns":0,"hop_ns":1000"#);
        // At the target itself it neither rises nor falls.
        control.on_ack(&ack(50, 1_000, 20));
        assert_eq!(packets(&*control), 10.0);
        control.on_ack(&ack(100, 3_000, 15));
        assert!((packets(&*control) - 10.2).abs() < 1e-9);
        // 25 us against 20: 0.8 x 5/25.
        control.on_ack(&ack(110, 2_000, 25));
        assert!((packets(&*control) - 10.2 * 0.84).abs() < 1e-9);
        control.on_ack(&ack(120, 2_000, 25));
        assert!((packets(&*control) - 10.2 * 0.84).abs() < 1e-9, "twice in one round trip");
        // Five hops make 25 us the target's own; a delay far above it takes half.
        control.on_ack(&RateAck { hop_count: 6, ..ack(200, 2_000, 25) });
        assert!((packets(&*control) - 10.2 * 0.84).abs() < 1e-9, "nothing new, and below the target");
        control.on_ack(&ack(300, 2_000, 1_000));
        assert!((packets(&*control) - 10.2 * 0.84 * 0.5).abs() < 1e-9);
    }

    /// Below one packet the window grows by `ai` for each packet, and a packet leaves every `rtt/cwnd`.
    #[test]
    fn a_window_below_a_packet_is_a_pause() {
        let mut control = swift(r#","initial_cwnd":0.25,"ai":0.5,"fs_range_ns":0,"base_target_ns":50000"#);
        control.on_ack(&ack(100, 500, 40));
        assert!((packets(&*control) - 0.5).abs() < 1e-9);
        // A packet of 1064 B every 80 us.
        assert!((control.rate_bps() - 8.0 * 1_064.0 / 80e-6).abs() < 1.0);
        assert_eq!(control.flight_limit_bytes(), Some(MSS), "one at a time");
        control.on_ack(&ack(200, 2_500, 40));
        assert!((packets(&*control) - 1.5).abs() < 1e-9);
        assert_eq!((control.rate_bps(), control.flight_limit_bytes()), (100e9, Some(MSS)));
    }

    /// docs/algorithms/window.md#reno-rules: the network's base before a sample, the first one, then an
    /// eighth of each. Below one packet the pause shows it; nothing new is acknowledged, so the window stays.
    #[test]
    fn the_round_trip_of_a_pause_is_smoothed() {
        let mut control = swift(r#","initial_cwnd":0.25,"base_target_ns":1000000"#);
        let pause_us = |control: &dyn RateControl| 8.0 * 1_064.0 / control.rate_bps() * 1e6;
        assert!((pause_us(&*control) - 4.0 * 13.0).abs() < 1e-6);
        for (us, rtt_us, srtt_us) in [(100, 40, 40.0), (200, 120, 50.0), (300, 10, 45.0)] {
            control.on_ack(&ack(us, 0, rtt_us));
            assert!((pause_us(&*control) - 4.0 * srtt_us).abs() < 1e-6, "{rtt_us} us");
        }
    }

    /// The window is a bandwidth-delay product at most, 162.5 packets here, and begins there.
    #[test]
    fn without_parameters_a_bandwidth_delay_product_is_the_window() {
        let mut control = made(r#"{"name":"swift"}"#, &environment(100, 13));
        assert_eq!(control.cwnd_bytes(), Some(162_500.0));
        control.on_ack(&ack(100, 100_000, 1));
        assert_eq!(control.cwnd_bytes(), Some(162_500.0));
        // A window of one packet leaves as it opens.
        assert_eq!(swift(r#","initial_cwnd":1"#).rate_bps(), 100e9);
    }

    /// A whole round trip after a cut there may be another; a duplicate ACK ends no row of timeouts.
    #[test]
    fn a_round_trip_and_a_row_have_ends() {
        let mut control = swift(r#","initial_cwnd":64"#);
        for (us, want) in [(10, 32.0), (22, 32.0), (23, 16.0)] {
            control.on_loss(Time::from_us(us));
            assert!((packets(&*control) - want).abs() < 1e-9, "{us} us");
        }
        for (newly_acked, want) in [(0, 0.01), (1_000, 0.5)] {
            let mut control = swift(r#","initial_cwnd":16"#);
            (1..5).for_each(|n| control.on_timeout(Time::from_us(1_000 * n)));
            control.on_ack(&RateAck { rtt: None, ..ack(4_500, newly_acked, 15) });
            control.on_timeout(Time::from_us(5_000));
            assert!((packets(&*control) - want).abs() < 1e-9, "{newly_acked} B");
        }
    }

    #[test]
    fn losses_and_timeouts() {
        let mut control = swift(r#","initial_cwnd":64"#);
        control.on_loss(Time::from_us(10));
        assert!((packets(&*control) - 32.0).abs() < 1e-9);
        control.on_loss(Time::from_us(11));
        assert!((packets(&*control) - 32.0).abs() < 1e-9, "once in a round trip");
        for (n, want) in [(1, 16.0), (2, 8.0), (3, 4.0), (4, 2.0), (5, 0.01), (6, 0.01)] {
            control.on_timeout(Time::from_us(1_000 * n));
            assert!((packets(&*control) - want).abs() < 1e-9, "timeout {n}");
        }
    }

    #[test]
    fn scaling_between_no_windows_is_refused() {
        let spec = serde_json::from_str(r#"{"name":"swift","fs_min_cwnd":100}"#).expect("valid JSON");
        let error = super::super::build_rate(&spec, &environment(100, 13)).expect_err("refused").to_string();
        assert_eq!(error, "rate_control.fs_min_cwnd: 100 is not less than fs_max_cwnd 100; reduce it");
    }
}
