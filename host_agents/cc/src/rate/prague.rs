//! Prague of a paced sender (docs/algorithms/prague.md#prague-paced): the window's law, sent at a window in a
//! round trip, as L4S asks of its senders.
//!
//! Invariant: the window stays between `cwnd_min` packets and what the host's link holds.

use p4cc_units::{Span, Time};

use super::control::{RateAck, RateControl, RateEnvironment};
use crate::alpha::{ALPHA0, CWND_MIN, G};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::prague::{Acked, Law, RTT_VIRT};

const IW: ParamInfo = ParamInfo {
    name: "iw",
    unit: "packets",
    summary: "initial window",
    domain: Domain::Number { default: Some(10.0), min: 1.0, max: 1_000.0 },
    source: "docs/algorithms/prague.md#prague-paced",
};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "prague_paced",
    kind: Kind::RateControl,
    summary: "Prague with the pacing that L4S requires: one window per round trip, evenly spaced",
    parameters: &[G, ALPHA0, CWND_MIN, RTT_VIRT, IW],
    switch_needs: SwitchNeed::L4sMarks,
    source: "docs/algorithms/prague.md#prague-paced, RFC9331",
    make: Make::RateControl(|params, environment| Ok(Box::new(Paced::new(params, environment)?))),
};

/// State of one sender. The window is in packets.
#[derive(Clone, Copy, Debug)]
struct Paced {
    law: Law,
    cwnd: f64,
    max: f64,
    mss_bytes: f64,
    packet_bits: f64,
    line_bps: f64,
    /// Arrived so far.
    acked: u64,
    srtt: Option<Span>,
    /// Doubles with every round trip until the first mark or loss.
    in_slow_start: bool,
}

impl Paced {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let mss_bytes = environment.packet.payload.0 as f64;
        let max = (environment.bdp_bytes() / mss_bytes).max(1.0);
        Ok(Self {
            law: Law::new(params)?,
            cwnd: params.number("iw")?.min(max),
            max,
            mss_bytes,
            packet_bits: 8.0 * environment.packet.ip.0 as f64,
            line_bps: environment.line_bps(),
            acked: 0,
            srtt: None,
            in_slow_start: true,
        })
    }

    /// A loss: half of the window (RFC5681), and no slow start any more.
    fn halve(&mut self) {
        self.in_slow_start = false;
        self.cwnd = (self.cwnd / 2.0).max(1.0);
    }
}

impl RateControl for Paced {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let newly = ack.arrived_bytes().saturating_sub(self.acked) as f64 / self.mss_bytes;
        self.acked = self.acked.max(ack.arrived_bytes());
        if let Some(rtt) = ack.rtt {
            // docs/algorithms/window.md#reno-rules: 7/8 srtt + 1/8 R.
            self.srtt = Some(match self.srtt {
                Some(srtt) => Span::from_ps((7 * srtt.as_ps() + rtt.as_ps()) / 8),
                None => rtt,
            });
        }
        let packets = (newly as u64).max(1);
        let acked = Acked { now: ack.now, packets, is_marked: ack.cnp, ack: ack.ack, snd_nxt: ack.snd_nxt };
        self.law.observe(&acked);
        if let Some(cut) = self.law.cut(&acked, self.cwnd) {
            self.cwnd = cut.min(self.max);
            self.in_slow_start = false;
        } else if !ack.cnp {
            let growth =
                if self.in_slow_start { newly } else { self.law.growth(newly, self.srtt, self.cwnd) };
            self.cwnd = (self.cwnd + growth).min(self.max);
        }
    }

    fn on_loss(&mut self, _now: Time) {
        self.halve();
    }

    fn on_timeout(&mut self, _now: Time) {
        self.halve();
    }

    /// `cwnd/srtt`, twice that in slow start; the first window leaves as it is.
    fn rate_bps(&self) -> f64 {
        let Some(srtt) = self.srtt else { return self.line_bps };
        let gain = if self.in_slow_start { 2.0 } else { 1.0 };
        (gain * self.cwnd * self.packet_bits * 1e12 / (srtt.as_ps().max(1) as f64)).min(self.line_bps)
    }

    fn paces_by_rtt(&self) -> bool {
        true
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        Some(self.cwnd * self.mss_bytes)
    }

    /// Whole packets.
    fn flight_limit_bytes(&self) -> Option<f64> {
        Some((self.cwnd as u64).max(1) as f64 * self.mss_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{environment, made};
    use super::*;

    fn ack(ms: u64, packets: u64, is_marked: bool) -> RateAck<'static> {
        let rtt = Some(Span::from_us(50_000));
        let (now, ack) = (Time::from_us(1_000 * ms), 1_000 * packets);
        RateAck { now, ack, snd_nxt: ack + 10_000, rtt, cnp: is_marked, ..RateAck::default() }
    }

    /// docs/algorithms/prague.md#prague-rtt: alpha is the marked share of packets, however many an ACK
    /// brings.
    #[test]
    fn an_ack_counts_for_its_packets() {
        let mut control = made(r#"{"name":"prague_paced","g":1}"#, &environment(1, 100_000));
        for (ms, packets, is_marked) in [(1, 1, false), (50, 4, false), (60, 5, true), (100, 20, false)] {
            control.on_ack(&ack(ms, packets, is_marked));
        }
        let before = control.cwnd_bytes().expect("a window");
        control.on_ack(&ack(200, 21, true));
        let cut = control.cwnd_bytes().expect("a window") / before;
        // One of 19 since the first.
        assert!((cut - (1.0 - 1.0 / 19.0 / 2.0)).abs() < 1e-9, "{cut}");
    }

    /// Whole packets are in flight, one at least; the window holds a bandwidth-delay product at most.
    #[test]
    fn the_window_in_flight_has_bounds() {
        let mut control = made(r#"{"name":"prague_paced"}"#, &environment(1, 100_000));
        control.on_ack(&ack(50, 15, false));
        assert_eq!(control.flight_limit_bytes(), Some(25_000.0));
        control.on_timeout(Time::from_us(60_000));
        assert_eq!((control.cwnd_bytes(), control.flight_limit_bytes()), (Some(12_500.0), Some(12_000.0)));
        (0..9).for_each(|_| control.on_timeout(Time::from_us(70_000)));
        assert_eq!(control.flight_limit_bytes(), Some(1_000.0));
        let mut control = made(r#"{"name":"prague_paced"}"#, &environment(1, 100_000));
        control.on_ack(&ack(50, 20_000, false));
        assert_eq!(control.cwnd_bytes(), Some(12_500_000.0));
    }

    #[test]
    fn doubles_until_a_mark_and_then_adds_a_packet_in_a_round_trip() {
        let mut control = made(r#"{"name":"prague_paced","alpha0":0.2}"#, &environment(1, 100_000));
        let packets = |control: &dyn RateControl| control.cwnd_bytes().expect("a window") / 1_000.0;
        control.on_ack(&ack(50, 10, false));
        assert!((packets(&*control) - 20.0).abs() < 1e-9);
        // Two windows in a round trip of 50 ms.
        assert!((control.rate_bps() - 2.0 * 20.0 * 8.0 * 1_064.0 / 0.05).abs() < 1.0);
        control.on_ack(&ack(100, 30, true));
        // A first round trip without a mark, one of marks alone: a sixteenth nearer to 0, then to 1.
        let alpha = 0.2 * 15.0 / 16.0 * 15.0 / 16.0 + 1.0 / 16.0;
        let cut = packets(&*control);
        assert!((cut - 20.0 * (1.0 - alpha / 2.0)).abs() < 1e-9);
        control.on_ack(&ack(150, 40, false));
        assert!((packets(&*control) - cut - 10.0 / cut).abs() < 1e-9);
        assert!((control.rate_bps() - packets(&*control) * 8.0 * 1_064.0 / 0.05).abs() < 1.0);
        control.on_timeout(Time::from_us(400_000));
        assert!((packets(&*control) - (cut + 10.0 / cut) / 2.0).abs() < 1e-9);
    }
}
