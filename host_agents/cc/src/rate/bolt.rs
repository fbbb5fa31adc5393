//! Bolt's sender (docs/algorithms/bolt.md#bolt-sender): the window loses a packet for a queue that a switch
//! tells of, as often as this flow's part of that queue asks for, and wins one where every switch of the path
//! offers a place or room, and one each round.
//!
//! Switches tell within less than a round trip, so a packet's cut is felt before the next one is due.
//! Invariant: the window stays between that of the least rate and the bandwidth-delay product of the host's
//! own link.

use p4cc_units::{Bytes, Span, Time};

use super::bounded::min_rate_bps;
use super::control::{QueueNotice, RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

const AI_PKTS: ParamInfo = ParamInfo {
    name: "ai_pkts",
    unit: "packets",
    summary: "additive increase of the window per round, regardless of switches",
    domain: Domain::Number { default: Some(1.0), min: 0.0, max: 1e3 },
    source: "docs/algorithms/bolt.md#bolt-parameters",
};

const TARGET_QUEUE: ParamInfo = ParamInfo {
    name: "target_queue_bytes",
    unit: "B",
    summary: "queue length to leave standing; only the excess is drained",
    domain: Domain::Number { default: Some(0.0), min: 0.0, max: 1e9 },
    source: "docs/algorithms/bolt.md#bolt-parameters",
};

const MAX_CUT: ParamInfo = ParamInfo {
    name: "max_cut",
    unit: "ratio",
    summary: "decrease of a window of at most one packet per notification, and of any window after losses",
    domain: Domain::Number { default: Some(0.5), min: 0.0, max: 1.0 },
    source: "docs/algorithms/bolt.md#choice-bolt-small-window",
};

const R_MIN: ParamInfo = ParamInfo {
    name: "r_min_mbps",
    unit: "Mbit/s",
    summary: "lower bound of the rate, and of the window at this rate over a base RTT; if 0, r_min_share \
        applies",
    domain: Domain::Number { default: Some(0.0), min: 0.0, max: 1e9 },
    source: "docs/algorithms/bolt.md#bolt-parameters",
};

/// The simulator's 15 Mbit/s at its 100 Gbit/s.
const R_MIN_SHARE: ParamInfo = ParamInfo::number(
    "r_min_share",
    "ratio",
    "lower bound as a fraction of the line rate, if r_min_mbps is 0",
    (Some(0.000_15), 1e-9, 1.0),
    "docs/algorithms/bolt.md#bolt-parameters",
);

/// What the registry says about it.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "bolt",
    kind: Kind::RateControl,
    summary: "reacts within a round trip to queues that switches report, and takes up the spare capacity \
        that they offer",
    parameters: &[AI_PKTS, TARGET_QUEUE, MAX_CUT, R_MIN, R_MIN_SHARE],
    switch_needs: SwitchNeed::QueueNotices,
    source: "docs/algorithms/bolt.md#bolt",
    make: Make::RateControl(|params, environment| Ok(Box::new(Bolt::new(params, environment)?))),
};

/// State of one sender; windows are in bytes of payload.
#[derive(Clone, Copy, Debug)]
struct Bolt {
    ai_bytes: f64,
    target_queue_bytes: f64,
    max_cut: f64,
    line_bps: f64,
    min_bps: f64,
    /// Payload and IP length of a full packet.
    payload_bytes: f64,
    ip_bytes: f64,
    least: f64,
    most: f64,
    window: f64,
    base_rtt: Span,
    /// The latest.
    rtt: Option<Span>,
    /// In flight when something was last sent or acknowledged.
    flight: f64,
    /// The window had no room for a whole packet more when the last one left.
    waits: bool,
    /// When the window last lost a packet, or its part for lost packets.
    last_loss: Time,
    /// A round ends with the first ACK above this byte.
    round_end: u64,
}

fn ns(span: Span) -> f64 {
    span.as_ps() as f64 / 1e3
}

impl Bolt {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let min_bps = min_rate_bps(params, environment)?;
        let payload_bytes = environment.packet.payload.0 as f64;
        let most = environment.bdp_bytes();
        Ok(Self {
            ai_bytes: params.number("ai_pkts")? * payload_bytes,
            target_queue_bytes: params.number("target_queue_bytes")?,
            max_cut: params.number("max_cut")?,
            line_bps: environment.line_bps(),
            min_bps,
            payload_bytes,
            ip_bytes: environment.packet.ip.0 as f64,
            least: (min_bps * ns(environment.base_rtt) / 8e9).min(most).max(1.0),
            most,
            // docs/algorithms/bolt.md#bolt-sender: a flow begins with a whole BDP.
            window: most,
            base_rtt: environment.base_rtt,
            rtt: None,
            flight: 0.0,
            waits: false,
            last_loss: Time::ZERO,
            round_end: 0,
        })
    }

    fn set(&mut self, window: f64) {
        self.window = window.clamp(self.least, self.most.max(self.least));
    }

    /// Whether a window may lose a packet now: "the interval is rtt_src by the packets of the queue that are
    /// this flow's", the share of it that the flow's rate has of the link's.
    fn is_due(&self, notice: &QueueNotice) -> bool {
        // Before the first ACK the flow sends at the line rate.
        let rate_bps = self.rtt.map_or(self.line_bps, |rtt| self.window * 8e9 / ns(rtt).max(1.0));
        let share = rate_bps / notice.link_rate.as_bps() as f64;
        let queue_pkts = (notice.queue.0 as f64 - self.target_queue_bytes) / self.ip_bytes;
        let own_pkts = queue_pkts * share;
        let since_ns = ns(notice.now.since(self.last_loss));
        own_pkts > 0.0 && since_ns * own_pkts >= ns(notice.elapsed)
    }
}

impl Bolt {
    /// docs/algorithms/bolt.md#choice-bolt-loss: once in a round trip.
    fn lose(&mut self, now: Time) {
        if now.since(self.last_loss) >= self.rtt.unwrap_or(self.base_rtt) {
            self.set(self.window * (1.0 - self.max_cut));
            self.last_loss = now;
        }
    }
}

impl RateControl for Bolt {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        self.rtt = ack.rtt.or(self.rtt);
        self.flight = ack.snd_nxt.saturating_sub(ack.ack) as f64;
        let mut window = self.window;
        if ack.is_offered {
            window += self.payload_bytes;
        }
        if ack.ack > self.round_end {
            window += self.ai_bytes;
            self.round_end = ack.snd_nxt;
        }
        self.set(window);
    }

    fn on_notice(&mut self, notice: &QueueNotice) {
        if self.window <= self.payload_bytes {
            self.set(self.window * (1.0 - self.max_cut));
        } else if self.is_due(notice) {
            self.set(self.window - self.payload_bytes);
            self.last_loss = notice.now;
        }
    }

    fn on_loss(&mut self, now: Time) {
        self.lose(now);
    }

    fn on_timeout(&mut self, now: Time) {
        self.lose(now);
    }

    fn on_sent(&mut self, _now: Time, size: Bytes) {
        self.flight += (size.0 as f64 - (self.ip_bytes - self.payload_bytes)).max(0.0);
        self.waits = self.flight + self.payload_bytes > self.window;
    }

    /// docs/algorithms/bolt.md#choice-bolt-part-of-a-packet: the line rate while the window
    /// has room for whole packets, and the window's own for the packet behind.
    fn rate_bps(&self) -> f64 {
        let is_small = self.window < self.payload_bytes;
        let Some(rtt) = self.rtt.or(is_small.then_some(self.base_rtt)).filter(|_| self.waits || is_small)
        else {
            return self.line_bps;
        };
        let bps = self.window / self.payload_bytes * self.ip_bytes * 8e9 / ns(rtt).max(1.0);
        bps.clamp(self.min_bps, self.line_bps)
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        Some(self.window)
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Rate;
    use proptest::prelude::*;

    use super::super::tests::{environment, made};
    use super::*;

    const LINE: Rate = Rate::from_bps(100_000_000_000);
    const PACKET: f64 = 1_000.0;

    /// 100 Gbit/s, T = 8 us: 100 packets of 1000 B of payload fit a round trip.
    fn bolt(json: &str) -> Box<dyn RateControl> {
        made(json, &environment(100, 8))
    }

    fn window(control: &dyn RateControl) -> f64 {
        control.cwnd_bytes().expect("it has a window")
    }

    fn notice(now_ns: u64, elapsed_ns: u64, queue: u64) -> QueueNotice {
        let (now, elapsed) = (Time::from_ns(now_ns), Span::from_ns(elapsed_ns));
        QueueNotice { now, elapsed, queue: Bytes(queue), link_rate: LINE }
    }

    fn ack(ack: u64, snd_nxt: u64, rtt_ns: u64, is_offered: bool) -> RateAck<'static> {
        RateAck { ack, snd_nxt, rtt: Some(Span::from_ns(rtt_ns)), is_offered, ..RateAck::default() }
    }

    /// docs/algorithms/bolt.md#number-bolt-interval: a queue of ten packets (1064 B) seen by the
    /// only flow of a link, 4 us ago, is ten packets of its own: one may go every 0.4 us.
    #[test]
    fn the_pace_of_losses_is_the_flows_part_of_the_queue() {
        let mut control = bolt(r#"{"name":"bolt"}"#);
        assert_eq!(window(&*control), 100.0 * PACKET);
        for (now_ns, lost) in [(4_000, 1.0), (4_399, 1.0), (4_400, 2.0), (4_799, 2.0), (4_801, 3.0)] {
            control.on_notice(&notice(now_ns, 4_000, 10_640));
            assert_eq!(window(&*control), (100.0 - lost) * PACKET, "at {now_ns} ns");
        }
        // At a quarter of the rate (a round trip of 32 us) a quarter of the queue is its own: 1.6 us.
        let mut control = bolt(r#"{"name":"bolt","ai_pkts":0}"#);
        control.on_ack(&ack(1, 1, 32_000, false));
        for (now_ns, lost) in [(10_000, 1.0), (11_599, 1.0), (11_620, 2.0)] {
            control.on_notice(&notice(now_ns, 4_000, 10_640));
            assert_eq!(window(&*control), (100.0 - lost) * PACKET, "at {now_ns} ns");
        }
    }

    #[test]
    fn a_queue_up_to_the_target_may_stay() {
        let mut control = bolt(r#"{"name":"bolt","target_queue_bytes":10640}"#);
        control.on_notice(&notice(1_000_000, 4_000, 10_640));
        assert_eq!(window(&*control), 100.0 * PACKET);
        control.on_notice(&notice(1_000_000, 0, 10_640));
        assert_eq!(window(&*control), 100.0 * PACKET, "however new");
        // A packet above it asks for one in 4 us.
        control.on_notice(&notice(1_000_000, 4_000, 10_640 + 1_064));
        assert_eq!(window(&*control), 99.0 * PACKET);
    }

    /// "On an ACK with INC one packet more; once in a round one more than that."
    #[test]
    fn offers_and_rounds_let_one_packet_more_out() {
        let mut control = bolt(r#"{"name":"bolt"}"#);
        for now_us in 1..=50 {
            control.on_notice(&notice(now_us * 100_000, 4_000, 10_640));
        }
        assert_eq!(window(&*control), 50.0 * PACKET);
        for (step, want) in [
            // The first ACK ends a round, which then lasts to byte 50,000.
            (ack(1_000, 50_000, 8_000, false), 51.0),
            (ack(2_000, 51_000, 8_000, true), 52.0),
            (ack(50_000, 99_000, 8_000, false), 52.0),
            (ack(51_000, 100_000, 8_000, true), 54.0),
        ] {
            control.on_ack(&step);
            assert_eq!(window(&*control), want * PACKET);
        }
        for number in 0..200 {
            control.on_ack(&ack(52_000 + number, 200_000, 8_000, true));
        }
        assert_eq!(window(&*control), 100.0 * PACKET, "never above what fits the round trip");
    }

    /// docs/algorithms/bolt.md#choice-bolt-small-window: halved by each notice, and paced.
    #[test]
    fn below_a_packet_the_window_is_halved_and_paced() {
        let mut control = bolt(r#"{"name":"bolt","ai_pkts":0,"r_min_mbps":15}"#);
        control.on_ack(&ack(1, 1, 8_000, false));
        for number in 1..=99 {
            assert_eq!(control.rate_bps(), 100e9);
            control.on_notice(&notice(number * 100_000, 4_000, 1_064_000));
        }
        assert_eq!((window(&*control), control.rate_bps()), (PACKET, 100e9));
        control.on_notice(&notice(10_000_000, 4_000, 1_064));
        assert_eq!(window(&*control), PACKET / 2.0);
        // A packet of 1064 B in two round trips of 8 us.
        assert!((control.rate_bps() - 1_064.0 * 8.0 / 16e-6).abs() < 1.0, "{}", control.rate_bps());
        (0..20).for_each(|_| control.on_notice(&notice(10_000_001, 4_000, 1_064)));
        assert_eq!(window(&*control), 15.0, "15 Mbit/s for 8 us");
    }

    /// docs/algorithms/bolt.md#choice-bolt-part-of-a-packet: what is in flight and the packet sent leave room
    /// for another one, or the next waits for its part of the window.
    #[test]
    fn a_packet_that_does_not_fit_waits_for_its_part() {
        for (losses, flight, rate_bps) in
            [(1, 48_000, 100e9), (1, 48_001, 53.2e9), (3, 10_000, 100e9), (3, 11_000, 13.3e9)]
        {
            let mut control = bolt(r#"{"name":"bolt","ai_pkts":0}"#);
            (1..=losses).for_each(|n| control.on_loss(Time::from_us(100 * n)));
            control.on_ack(&ack(1, 1 + flight, 8_000, false));
            control.on_sent(Time::from_us(500), Bytes(1_064));
            assert!((control.rate_bps() - rate_bps).abs() < 1.0, "{flight}: {}", control.rate_bps());
        }
    }

    /// docs/algorithms/bolt.md#choice-bolt-loss: lost packets cost half of the window, once in a round.
    #[test]
    fn lost_packets_cost_once_in_a_round() {
        let mut control = bolt(r#"{"name":"bolt","ai_pkts":0}"#);
        control.on_ack(&ack(1, 1, 10_000, false));
        for (now_us, left) in [(100, 50.0), (109, 50.0), (110, 25.0)] {
            control.on_loss(Time::from_us(now_us));
            assert_eq!(window(&*control), left * PACKET, "at {now_us} us");
        }
        control.on_timeout(Time::from_us(200));
        assert_eq!(window(&*control), 12.5 * PACKET);
    }

    proptest! {
        /// A longer queue, or a larger part of it, never costs less.
        #[test]
        fn longer_queues_cost_more(queue in 0_u64..10_000_000, more in 0_u64..10_000_000, since in 1_u64..100_000) {
            let left = |queue| {
                let mut control = bolt(r#"{"name":"bolt"}"#);
                control.on_notice(&notice(1_000_000, 4_000, 1_064_000));
                control.on_notice(&notice(1_000_000 + since, 4_000, queue));
                window(&*control)
            };
            prop_assert!(left(queue + more) <= left(queue));
        }
    }
}
