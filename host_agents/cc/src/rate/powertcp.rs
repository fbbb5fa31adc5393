//! PowerTCP and theta-PowerTCP (docs/algorithms/powertcp.md): the window follows the power of the bottleneck,
//! its current (what arrives) times its voltage (what is in flight), normed to a busy link without a queue.
//!
//! Power is a number: 1 on a link that is busy without a queue. Invariant: the window stays between that of
//! the least rate and the bandwidth-delay product of the host's own link.

use p4cc_units::{Span, Time};

use super::bounded::{R_MIN, R_MIN_SHARE, min_rate_bps};
use super::control::{HopRecord, RateAck, RateControl, RateEnvironment};
use super::int::IntEncoding;
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

const GAMMA: ParamInfo = ParamInfo {
    name: "gamma",
    unit: "ratio",
    summary: "weight of the newest window",
    domain: Domain::Number { default: Some(0.9), min: 0.001, max: 1.0 },
    source: "docs/algorithms/powertcp.md#powertcp-parameters",
};

const EXPECTED_FLOWS: ParamInfo = ParamInfo {
    name: "expected_flows",
    unit: "flows",
    summary: "divisor: the additive step is the bandwidth-delay product of the host's link divided by this",
    domain: Domain::Number { default: Some(10.0), min: 1.0, max: 1e9 },
    source: "docs/algorithms/powertcp.md#powertcp-parameters",
};

const NS3: &str = "docs/algorithms/powertcp.md#powertcp-ns3";

const LEAST_CURRENT: ParamInfo = least_current(0.0);

/// docs/algorithms/powertcp.md#choice-theta-least-current: without one it swings without end.
const THETA_LEAST_CURRENT: ParamInfo = least_current(0.5);

const fn least_current(default: f64) -> ParamInfo {
    ParamInfo::number(
        "least_current",
        "ratio",
        "lower bound of the arrival rate, as a fraction of the line rate",
        (Some(default), 0.0, 1.0),
        NS3,
    )
}

const U_TARGET: ParamInfo = ParamInfo::number(
    "u_target",
    "ratio",
    "the power at which the window stays constant",
    (Some(1.0), 0.1, 10.0),
    NS3,
);

/// What the registry says about PowerTCP.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "powertcp",
    kind: Kind::RateControl,
    summary: "sets the window by the power of the busiest hop: its arrival rate times the data in flight",
    parameters: &[GAMMA, EXPECTED_FLOWS, R_MIN, R_MIN_SHARE, LEAST_CURRENT, U_TARGET],
    switch_needs: SwitchNeed::Telemetry,
    source: "docs/algorithms/powertcp.md#powertcp",
    make: Make::RateControl(|params, environment| Ok(Box::new(PowerTcp::new(params, environment)?))),
};

/// What the registry says about theta-PowerTCP.
pub(crate) const THETA_INFO: AlgorithmInfo = AlgorithmInfo {
    name: "theta_powertcp",
    kind: Kind::RateControl,
    summary: "PowerTCP without telemetry: the power is estimated from the round-trip time and its gradient",
    parameters: &[GAMMA, EXPECTED_FLOWS, R_MIN, R_MIN_SHARE, THETA_LEAST_CURRENT, U_TARGET],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/powertcp.md#theta-powertcp",
    make: Make::RateControl(|params, environment| Ok(Box::new(Theta::new(params, environment)?))),
};

/// What both have: the window, and the power that moves it. Windows are in bytes.
#[derive(Clone, Copy, Debug)]
struct Powered {
    gamma: f64,
    /// The additive step.
    beta: f64,
    /// The least current, as a share of the line rate; none if 0.
    least_current: f64,
    u_target: f64,
    w_min: f64,
    w_init: f64,
    base_rtt_ns: f64,
    window: f64,
    /// The window when what is acknowledged now was sent: that at the start of this round.
    old: f64,
    /// Smoothed.
    power: f64,
    /// A round ends with the first ACK above this byte.
    round_end: u64,
}

impl Powered {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let base_rtt_ns = environment.base_rtt.as_ps() as f64 / 1e3;
        let w_init = environment.bdp_bytes();
        Ok(Self {
            gamma: params.number("gamma")?,
            beta: w_init / params.number("expected_flows")?,
            least_current: params.number("least_current")?,
            u_target: params.number("u_target")?,
            w_min: min_rate_bps(params, environment)? * base_rtt_ns / 8e9,
            w_init,
            base_rtt_ns,
            window: w_init,
            old: w_init,
            power: 1.0,
            round_end: 0,
        })
    }

    /// The current where `full` is that of a busy line: below 0 too where no least one is set.
    fn current(&self, current: f64, full: f64) -> f64 {
        if self.least_current > 0.0 { current.max(self.least_current * full) } else { current }
    }

    /// `Gamma_smooth = (Gamma_smooth (tau - dt) + Gamma dt)/tau`, dt being tau at most.
    fn smooth(&mut self, power: f64, dt_ns: f64) {
        let share = (dt_ns / self.base_rtt_ns).clamp(0.0, 1.0);
        self.power = (1.0 - share) * self.power + share * power;
    }

    /// `cwnd = gamma (cwnd_old/power + beta) + (1 - gamma) cwnd`, the power being one of `u_target`.
    fn update(&mut self) {
        let by_power = if self.power > 0.0 { self.old * self.u_target / self.power } else { self.w_init };
        let window = self.gamma * (by_power + self.beta) + (1.0 - self.gamma) * self.window;
        self.window = if window.is_nan() { self.w_min } else { window.clamp(self.w_min, self.w_init) };
    }

    /// Whether this ACK ends a round, which it then does.
    fn ends_round(&mut self, ack: &RateAck<'_>) -> bool {
        let ends = ack.ack > self.round_end;
        if ends {
            self.round_end = ack.snd_nxt;
        }
        ends
    }

    /// `rate = cwnd/tau`.
    fn rate_bps(&self) -> f64 {
        self.window * 8e9 / self.base_rtt_ns
    }
}

/// State of one PowerTCP sender.
#[derive(Clone, Debug)]
struct PowerTcp {
    of: Powered,
    int: IntEncoding,
    /// The last record of each hop; empty before the first ACK.
    last: Vec<HopRecord>,
    /// The path that wrote them (docs/algorithms/int.md#path-id).
    last_path: u16,
}

impl PowerTcp {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let of = Powered::new(params, environment)?;
        Ok(Self { of, int: environment.int, last: Vec::new(), last_path: 0 })
    }

    /// The normed power of a hop and the time between its two records; none where it tells nothing new.
    fn of_hop(&self, now: &HopRecord, last: &HopRecord) -> Option<(f64, f64)> {
        let dt_ns = self.int.elapsed_ns(last.timestamp, now.timestamp);
        let bytes_per_ns = now.line_rate.as_bps() as f64 / 8e9;
        if dt_ns <= 0.0 || bytes_per_ns <= 0.0 {
            return None;
        }
        let (queue, before) = (self.int.queue_bytes(now.queue), self.int.queue_bytes(last.queue));
        // "lambda = dq/dt + mu; nu = q + b tau; e = b^2 tau; Gamma = lambda nu / e".
        let current = (queue - before + self.int.sent_bytes(last.tx, now.tx)) / dt_ns;
        let bdp = bytes_per_ns * self.of.base_rtt_ns;
        let power = self.of.current(current, bytes_per_ns) * (queue + bdp) / (bytes_per_ns * bdp);
        Some((power, dt_ns))
    }
}

impl RateControl for PowerTcp {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        if ack.hops.is_empty() {
            return;
        }
        if self.last.len() == ack.hops.len() && self.last_path == ack.path {
            let hops = ack.hops.iter().zip(&self.last).filter_map(|(now, last)| self.of_hop(now, last));
            if let Some((power, dt_ns)) = hops.max_by(|one, other| one.0.total_cmp(&other.0)) {
                self.of.smooth(power, dt_ns);
            }
            self.of.update();
            if self.of.ends_round(ack) {
                self.of.old = self.of.window;
            }
        } else {
            // Two records of one path make a power.
            self.of.round_end = ack.snd_nxt;
        }
        ack.hops.clone_into(&mut self.last);
        self.last_path = ack.path;
    }

    fn rate_bps(&self) -> f64 {
        self.of.rate_bps()
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        Some(self.of.window)
    }
}

/// State of one theta-PowerTCP sender.
#[derive(Clone, Copy, Debug)]
struct Theta {
    of: Powered,
    /// The last round-trip time and when it came.
    last: Option<(Span, Time)>,
}

impl Theta {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        Ok(Self { of: Powered::new(params, environment)?, last: None })
    }
}

impl RateControl for Theta {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let Some(rtt) = ack.rtt else { return };
        let Some((before, at)) = self.last else {
            self.last = Some((rtt, ack.now));
            return;
        };
        let ns = |span: Span| span.as_ps() as f64 / 1e3;
        let dt_ns = ns(ack.now.since(at));
        // Of ACKs of one instant the first one's round-trip time stays: no change of it is lost.
        if dt_ns > 0.0 {
            // "Gamma = (dRTT/dt + 1) RTT/tau".
            let gradient = (ns(rtt) - ns(before)) / dt_ns;
            self.of.smooth(self.of.current(gradient + 1.0, 1.0) * ns(rtt) / self.of.base_rtt_ns, dt_ns);
            self.last = Some((rtt, ack.now));
        }
        if self.of.ends_round(ack) {
            self.of.update();
            self.of.old = self.of.window;
        }
    }

    fn rate_bps(&self) -> f64 {
        self.of.rate_bps()
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        Some(self.of.window)
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Rate;

    use super::super::tests::{environment, made};
    use super::*;

    const LINE: Rate = Rate::from_bps(100_000_000_000);

    /// A hop of 100 Gbit/s as `environment(100, ..)` encodes it: sent bytes in 512 B, queues in 320 B.
    fn hop(ns: u32, sent_bytes: u32, queue_bytes: u32) -> HopRecord {
        HopRecord { line_rate: LINE, timestamp: ns, tx: sent_bytes / 512, queue: queue_bytes / 320 }
    }

    fn window(control: &mut dyn RateControl, hops: &[HopRecord]) -> f64 {
        for (i, hop) in hops.iter().enumerate() {
            let ack = 1 + i as u64;
            let hops = [*hop];
            control.on_ack(&RateAck { ack, snd_nxt: ack + 1_000, hops: &hops, ..RateAck::default() });
        }
        control.cwnd_bytes().expect("it has a window")
    }

    /// Two records a base round-trip time (10.24 us, 128,000 B) apart: power and window by hand.
    #[test]
    fn the_window_by_the_power() {
        let bdp = 128_000.0;
        for (sent, before, queue, power) in [
            // Busy without a queue.
            (128_000, 0, 0, 1.0),
            // Busy behind a queue of a whole BDP that stands.
            (128_000, 128_000, 128_000, 2.0),
            // Twice what the link carries arrives: the queue has grown by a BDP.
            (128_000, 0, 128_000, 4.0),
            // Half of the link is used.
            (64_000, 0, 0, 0.5),
        ] {
            let environment = RateEnvironment { base_rtt: Span::from_ns(10_240), ..environment(100, 10) };
            let mut control = made(r#"{"name":"powertcp","expected_flows":1000}"#, &environment);
            let found = window(&mut *control, &[hop(0, 0, before), hop(10_240, sent, queue)]);
            let want: f64 = 0.9 * (bdp / power + bdp / 1_000.0) + 0.1 * bdp;
            assert!((found - want.min(bdp)).abs() < 1e-6 * bdp, "power {power}: {found}, not {want}");
        }
    }

    /// `Gamma_smooth` moves by the share of a round that passed.
    #[test]
    fn the_power_is_smoothed_over_a_round() {
        let environment = RateEnvironment { base_rtt: Span::from_ns(10_240), ..environment(100, 10) };
        let mut control = made(r#"{"name":"powertcp","gamma":1,"expected_flows":1e9}"#, &environment);
        // A quarter of a round with power 3: 0.75 + 0.25 * 3.
        let found = window(&mut *control, &[hop(0, 0, 256_000), hop(2_560, 32_000, 256_000)]);
        assert!((found - 128_000.0 / 1.5).abs() < 600.0, "{found}");
    }

    /// A queue of two BDPs that drains by one while nothing arrives: no power, so the largest window, or half
    /// the current before a queue of one BDP, which is a power of 1.
    #[test]
    fn a_least_current_keeps_power_while_a_queue_drains() {
        let environment = RateEnvironment { base_rtt: Span::from_ns(10_240), ..environment(100, 10) };
        let hops = [hop(0, 0, 256_000), hop(10_240, 128_000, 128_000)];
        for (least, share) in [(0, 1.0), (50, 1.0), (100, 0.5)] {
            let params = format!(
                r#"{{"name":"powertcp","gamma":1,"expected_flows":1e9,"least_current":{}}}"#,
                f64::from(least) / 100.0
            );
            let found = window(&mut *made(&params, &environment), &hops);
            assert!((found - 128_000.0 * share).abs() < 1.0, "least current {least} %: {found}");
        }
    }

    /// `Gamma = (dRTT/dt + 1) RTT/tau`: a round-trip time of two base ones that stands has power 2.
    #[test]
    fn theta_goes_by_the_round_trip_time() {
        let environment = environment(100, 10);
        let mut control = made(r#"{"name":"theta_powertcp","gamma":1,"expected_flows":1e9}"#, &environment);
        for (us, rtt_us) in [(0, 20), (10, 20)] {
            let (now, rtt) = (Time::from_us(us), Some(Span::from_us(rtt_us)));
            control.on_ack(&RateAck { now, ack: 1 + us, snd_nxt: 1_000, rtt, ..RateAck::default() });
        }
        // The first round-trip time tells no gradient; the second one ends the round.
        assert!((control.cwnd_bytes().expect("a window") - 125_000.0 / 2.0).abs() < 1.0);
        assert!((control.rate_bps() - 50e9).abs() < 1e6);
    }

    /// A rising round-trip time has a power of its own, ACKs of one instant but the first tell nothing, and
    /// the window moves with the first ACK beyond what was sent at the last move.
    #[test]
    fn theta_follows_the_gradient_once_in_a_round() {
        let mut control =
            made(r#"{"name":"theta_powertcp","gamma":1,"expected_flows":1e9}"#, &environment(100, 10));
        let mut window = |us, rtt_us, ack| {
            let (now, rtt) = (Time::from_us(us), Some(Span::from_us(rtt_us)));
            control.on_ack(&RateAck { now, ack, snd_nxt: 100, rtt, ..RateAck::default() });
            control.cwnd_bytes().expect("a window")
        };
        window(0, 20, 1);
        // Half a round of (5/5 + 1) * 2.5 = 5.
        assert!((window(5, 25, 2) - 125_000.0 / 3.0).abs() < 1.0);
        assert!((window(5, 90, 3) - 125_000.0 / 3.0).abs() < 1.0);
        assert!((window(10, 25, 100) - 125_000.0 / 3.0).abs() < 1.0);
        // Twice half a round of 2.5 since.
        let power = 0.25 * 3.0 + 0.75 * 2.5;
        assert!((window(15, 25, 101) - 125_000.0 / 3.0 / power).abs() < 1.0);
    }

    /// The window has the share `u_target` of what the power allows, `r_min` at least; a queue that drains
    /// has a current below 0.
    #[test]
    fn the_window_has_a_target_and_a_floor() {
        let environment = RateEnvironment { base_rtt: Span::from_ns(10_240), ..environment(100, 10) };
        let found = |more: &str, hops: &[HopRecord]| {
            let json = format!(r#"{{"name":"powertcp","gamma":1,"expected_flows":1e9{more}}}"#);
            window(&mut *made(&json, &environment), hops)
        };
        let busy = [hop(0, 0, 0), hop(10_240, 128_000, 0)];
        assert!((found(r#","u_target":0.5"#, &busy) - 64_000.0).abs() < 1.0);
        let flooded = [hop(0, 0, 0), hop(10_240, 128_000, 12_800_000)];
        assert!((found(r#","r_min_mbps":1000"#, &flooded) - 1_280.0).abs() < 1e-6);
        // A quarter of a round of -5 B/ns at 371,200 B: -1.16.
        let draining = [hop(0, 0, 256_000), hop(2_560, 0, 243_200)];
        assert!((found(r#","u_target":0.3"#, &draining) - 128_000.0 * 0.3 / 0.46).abs() < 1.0);
    }

    /// A record of one tick does not spoil the next power: a queue of a BDP that stands.
    #[test]
    fn the_record_behind_one_of_the_same_tick_counts() {
        let environment = RateEnvironment { base_rtt: Span::from_ns(10_240), ..environment(100, 10) };
        let mut control = made(r#"{"name":"powertcp","gamma":1,"expected_flows":1e9}"#, &environment);
        let hops = [hop(0, 0, 128_000), hop(0, 512, 128_000), hop(10_240, 128_512, 128_000)];
        assert!((window(&mut *control, &hops) - 64_000.0).abs() < 1.0);
    }

    /// Records of one tick, of a link without a rate or of another path of equal length tell nothing.
    #[test]
    fn what_tells_nothing_changes_nothing() {
        let environment = RateEnvironment { base_rtt: Span::from_ns(10_240), ..environment(100, 10) };
        let unknown = HopRecord { line_rate: Rate::from_bps(0), ..hop(10_240, 128_000, 256_000) };
        for (path, second) in
            [(0, hop(0, 128_000, 256_000)), (0, unknown), (1, hop(10_240, 128_000, 256_000))]
        {
            let mut control = made(r#"{"name":"powertcp","expected_flows":1e9}"#, &environment);
            for (ack, path, hop) in [(1, 0, hop(0, 0, 0)), (2, path, second)] {
                let hops = [hop];
                control.on_ack(&RateAck { ack, snd_nxt: 1_000, hops: &hops, path, ..RateAck::default() });
            }
            assert_eq!(control.cwnd_bytes(), Some(128_000.0), "{path} {second:?}");
        }
    }
}
