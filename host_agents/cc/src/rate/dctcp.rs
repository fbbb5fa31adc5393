//! DCTCP as a rate, as the authors of HPCC emulate it on an RDMA-like transport
//! (docs/algorithms/window.md#dctcp-rate): line-rate start, no slow start.
//!
//! `alpha` follows the share of marked packets window by window; a mark cuts
//! the rate once in a window, and a window without a cut adds one step.

use super::bounded::{BoundedRate, R_MIN, R_MIN_SHARE};
use super::control::{RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "dctcp_rate",
    kind: Kind::RateControl,
    summary: "rate-based DCTCP: cuts by half of the smoothed fraction of marks, adds one step per window \
        without marks",
    parameters: &[
        ParamInfo {
            name: "g",
            unit: "ratio",
            summary: "weight of the newest window in alpha",
            domain: Domain::Number { default: Some(1.0 / 16.0), min: 0.000_01, max: 1.0 },
            source: "docs/algorithms/window.md#dctcp",
        },
        ParamInfo {
            name: "ai_mbps",
            unit: "Mbit/s",
            summary: "increase step per window without a cut; 615 is one packet of 1000 B in 13 us",
            domain: Domain::Number { default: Some(615.0), min: 0.0, max: 1e6 },
            source: "docs/algorithms/window.md#dctcp-rate, #number-dctcp-step",
        },
        ParamInfo {
            name: "packet_bytes",
            unit: "B",
            summary: "payload of a packet, by which the packets of a window are counted",
            domain: Domain::Number { default: Some(1_000.0), min: 1.0, max: 65_000.0 },
            source: "docs/algorithms/window.md#dctcp-rate",
        },
        R_MIN,
        R_MIN_SHARE,
        ParamInfo {
            name: "window",
            unit: "",
            summary: "'vwin' limits the data in flight to the largest BDP times rate over line rate",
            domain: Domain::Choice { default: "vwin", options: &["none", "vwin"] },
            source: "docs/algorithms/window.md#dctcp-rate",
        },
    ],
    switch_needs: SwitchNeed::OneEcnThreshold,
    source: "docs/algorithms/window.md#dctcp-rate",
    make: Make::RateControl(|params, environment| Ok(Box::new(DctcpRate::new(params, environment)?))),
};

/// State of one sender.
#[derive(Clone, Copy, Debug)]
struct DctcpRate {
    rate: BoundedRate,
    g: f64,
    ai_bps: f64,
    packet_bytes: f64,
    alpha: f64,
    /// Marked ACKs of the window, and the packets that it has; none before the first ACK.
    marks: f64,
    batch: Option<f64>,
    /// The window ends with the first ACK above this byte.
    window_end: u64,
    /// No further cut up to this byte.
    cut_until: Option<u64>,
}

impl DctcpRate {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        Ok(Self {
            rate: BoundedRate::new(params, environment)?,
            g: params.number("g")?,
            ai_bps: params.number("ai_mbps")? * 1e6,
            packet_bytes: params.number("packet_bytes")?,
            alpha: 1.0,
            marks: 0.0,
            batch: None,
            window_end: 0,
            cut_until: None,
        })
    }

    /// A window is acknowledged: "F = min(1, marks/batch)". The first only starts to count.
    fn end_window(&mut self, ack: &RateAck<'_>) -> bool {
        let ended = self.batch.is_some();
        if let Some(batch) = self.batch {
            let share = (self.marks / batch).min(1.0);
            self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            self.marks = 0.0;
        }
        // "batch = inflight_pkts + 1".
        let flight = ack.snd_nxt.saturating_sub(ack.ack) as f64;
        self.batch = Some(libm::floor(flight / self.packet_bytes) + 1.0);
        self.window_end = ack.snd_nxt;
        ended
    }
}

impl RateControl for DctcpRate {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        self.marks += f64::from(u8::from(ack.cnp));
        let ended = ack.ack > self.window_end && self.end_window(ack);
        self.cut_until = self.cut_until.filter(|until| ack.ack <= *until);
        if ack.cnp && self.cut_until.is_none() {
            self.rate.set(self.rate.bps() * (1.0 - self.alpha / 2.0));
            self.cut_until = Some(ack.snd_nxt);
        }
        if ended && self.cut_until.is_none() {
            self.rate.set(self.rate.bps() + self.ai_bps);
        }
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
    use super::super::tests::{environment, made};
    use super::*;

    fn ack(ack: u64, snd_nxt: u64, cnp: bool) -> RateAck<'static> {
        RateAck { ack, snd_nxt, cnp, ..RateAck::default() }
    }

    /// docs/algorithms/window.md#dctcp-rate: alpha is 1 at the start, so the
    /// first mark halves; further marks of the window do not; the window that
    /// ends without a cut adds 615 Mbit/s. The window in flight follows the rate.
    #[test]
    fn one_cut_in_a_window_and_one_step_in_a_clean_one() {
        let mut control = made(r#"{"name":"dctcp_rate"}"#, &environment(100, 13));
        control.on_ack(&ack(1_000, 10_000, false));
        control.on_ack(&ack(2_000, 11_000, true));
        assert_eq!((control.rate_bps(), control.cwnd_bytes()), (50e9, Some(81_250.0)));
        control.on_ack(&ack(3_000, 12_000, true));
        assert_eq!(control.rate_bps(), 50e9);
        // The first window had 9 packets in flight at its first ACK: 2 marks of 10, alpha = 15/16 + 0.2/16.
        control.on_ack(&ack(10_500, 20_000, false));
        assert_eq!(control.rate_bps(), 50e9, "the window of the cut is not over");
        control.on_ack(&ack(20_500, 30_000, false));
        assert_eq!(control.rate_bps(), 50.615e9);
        // alpha after a clean window of 10 packets: 0.95 * 15/16.
        control.on_ack(&ack(21_000, 31_000, true));
        let alpha = 0.95 * 15.0 / 16.0;
        assert!((control.rate_bps() - 50.615e9 * (1.0 - alpha / 2.0)).abs() < 1.0, "{}", control.rate_bps());
    }

    /// docs/algorithms/window.md#dctcp-rate: a window, and the pause after a cut, end beyond their last byte.
    #[test]
    fn the_last_byte_of_a_window_is_in_it() {
        let mut control = made(r#"{"name":"dctcp_rate"}"#, &environment(100, 13));
        let mut rate = |number, snd_nxt, cnp| {
            control.on_ack(&ack(number, snd_nxt, cnp));
            control.rate_bps()
        };
        rate(1_000, 10_000, false);
        assert_eq!(rate(2_000, 11_000, true), 50e9);
        // The window is over, the pause is not; then neither is the next window.
        assert_eq!(rate(11_000, 20_000, false), 50e9);
        assert_eq!(rate(20_000, 30_000, false), 50e9);
        assert_eq!(rate(20_001, 30_001, false), 50.615e9);
    }
}
