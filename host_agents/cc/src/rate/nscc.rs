//! NSCC, the sender's congestion control of Ultra Ethernet (docs/algorithms/nscc.md): delay and marks
//! together choose among four answers, and a window that is far off is set to what arrived in a round trip.
//!
//! Invariant: the window stays between a packet and `max_cwnd` bandwidth-delay products. Windows, like
//! htsim's, count packets with their headers.

use p4cc_units::{Span, Time};

use super::control::{RateAck, RateControl, RateEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{ParamInfo, Params};

const PARAMETERS: &str = "docs/algorithms/nscc.md#nscc-parameters";

/// What the constants are scaled to: 100 Gbit/s over 12 us.
const REFERENCE_BDP_BYTES: f64 = 150_000.0;
const REFERENCE_RTT_NS: f64 = 12_000.0;
/// Delays below this count as none.
const NO_DELAY_NS: f64 = 1_000.0;
/// A decrease takes at most this share.
const MAX_DECREASE: f64 = 0.5;

const TARGET: ParamInfo = ParamInfo::number(
    "target_qdelay_ns",
    "ns",
    "target queueing delay; 0 uses the network's base round-trip time",
    (Some(0.0), 0.0, 1e12),
    PARAMETERS,
);
const ALPHA: ParamInfo = ParamInfo::number(
    "alpha",
    "packets",
    "proportional increase per round trip without queueing delay",
    (Some(4.0), 0.0, 1e3),
    PARAMETERS,
);
const FI: ParamInfo =
    ParamInfo::number("fi", "packets", "fair increase per round trip", (Some(5.0), 0.0, 1e3), PARAMETERS);
const FI_SCALE: ParamInfo = ParamInfo::number(
    "fi_scale",
    "ratio",
    "fast increase per byte that arrives without queueing delay",
    (Some(0.25), 0.0, 10.0),
    PARAMETERS,
);
const ETA: ParamInfo = ParamInfo::number(
    "eta",
    "packets",
    "increase added in every round trip",
    (Some(0.15), 0.0, 1e3),
    PARAMETERS,
);
const GAMMA: ParamInfo = ParamInfo::number(
    "gamma",
    "ratio",
    "weight of the delay above the target in a decrease",
    (Some(0.8), 0.001, 1.0),
    PARAMETERS,
);
const DELAY_ALPHA: ParamInfo = ParamInfo::number(
    "delay_alpha",
    "ratio",
    "weight of a sample in the mean delay",
    (Some(0.0125), 0.0001, 1.0),
    PARAMETERS,
);
const QA_GATE: ParamInfo = ParamInfo::number(
    "qa_gate",
    "log2",
    "quick adapt triggers if less than 1/2^this of the largest window arrived in a round trip",
    (Some(3.0), 0.0, 16.0),
    PARAMETERS,
);
const ADJUST: ParamInfo = ParamInfo::number(
    "adjust_packets",
    "packets",
    "number of packets after which increases take effect",
    (Some(8.0), 1.0, 1e4),
    PARAMETERS,
);
const MAX_CWND: ParamInfo =
    ParamInfo::number("max_cwnd", "BDP", "maximum and initial window", (Some(1.5), 0.01, 100.0), PARAMETERS);

/// What the registry says about NSCC.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "nscc",
    kind: Kind::RateControl,
    summary: "Ultra Ethernet's sender: marks and delay together select an increase, a decrease or neither",
    parameters: &[TARGET, ALPHA, FI, FI_SCALE, ETA, GAMMA, DELAY_ALPHA, QA_GATE, ADJUST, MAX_CWND],
    switch_needs: SwitchNeed::RandomEcn,
    source: "docs/algorithms/nscc.md#nscc",
    make: Make::RateControl(|params, environment| Ok(Box::new(Nscc::new(params, environment)?))),
};

/// Constants of one network.
#[derive(Clone, Copy, Debug)]
struct Constants {
    target_ns: f64,
    network_rtt_ns: f64,
    /// Bytes for each byte that arrives and each ns below the target.
    alpha: f64,
    fi_bytes: f64,
    fi_scale: f64,
    eta_bytes: f64,
    gamma: f64,
    delay_alpha: f64,
    qa_share: f64,
    adjust_bytes: f64,
    max_bdp: f64,
    bytes_per_ns: f64,
    packet_bytes: f64,
    /// Bytes of a packet for each byte of its payload.
    expansion: f64,
}

/// Whether a window is far off (docs/algorithms/nscc.md#nscc-quick-adapt).
#[derive(Clone, Copy, Debug, Default)]
struct QuickAdapt {
    ends: Option<Time>,
    achieved_bytes: f64,
    is_triggered: bool,
    to_ignore_bytes: f64,
    ignored_bytes: f64,
}

/// State of one sender.
#[derive(Clone, Copy, Debug)]
struct Nscc {
    constants: Constants,
    cwnd: f64,
    max: f64,
    base_rtt_ns: f64,
    avg_delay_ns: f64,
    /// Payload that arrived so far.
    arrived: u64,
    quick: QuickAdapt,
    /// Increases times the window, and bytes that arrived since they last took effect.
    increase: f64,
    received_bytes: f64,
    adjusted: Time,
    /// Bytes without delay in a row.
    fast_bytes: f64,
    is_fast: bool,
    decreased: Option<Time>,
}

impl Nscc {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let number = |name| params.number(name);
        let network_rtt_ns = ns(environment.base_rtt);
        let (payload, packet) = (environment.packet.payload.0 as f64, environment.packet.ip.0 as f64);
        let bytes_per_ns = environment.line_bps() / 8e9;
        let target_ns = number("target_qdelay_ns").map(|ns| if ns > 0.0 { ns } else { network_rtt_ns })?;
        let scale_a = bytes_per_ns * network_rtt_ns / REFERENCE_BDP_BYTES;
        let scale_b = target_ns / REFERENCE_RTT_NS;
        let mut nscc = Self {
            constants: Constants {
                target_ns,
                network_rtt_ns,
                alpha: number("alpha")? * payload * scale_a * scale_b / target_ns,
                fi_bytes: number("fi")? * payload * scale_a,
                fi_scale: number("fi_scale")? * scale_a,
                eta_bytes: number("eta")? * payload * scale_a,
                gamma: number("gamma")?,
                delay_alpha: number("delay_alpha")?,
                qa_share: libm::exp2(-number("qa_gate")?),
                adjust_bytes: number("adjust_packets")? * packet,
                max_bdp: number("max_cwnd")?,
                bytes_per_ns,
                packet_bytes: packet,
                expansion: packet / payload,
            },
            cwnd: 0.0,
            max: 0.0,
            base_rtt_ns: network_rtt_ns,
            avg_delay_ns: 0.0,
            arrived: 0,
            quick: QuickAdapt::default(),
            increase: 0.0,
            received_bytes: 0.0,
            adjusted: Time::ZERO,
            fast_bytes: 0.0,
            is_fast: false,
            decreased: None,
        };
        nscc.bound_by(network_rtt_ns);
        nscc.cwnd = nscc.max;
        Ok(nscc)
    }

    /// The base round trip is this long: the largest window follows from it.
    fn bound_by(&mut self, base_rtt_ns: f64) {
        let Constants { max_bdp, bytes_per_ns, packet_bytes, .. } = self.constants;
        self.base_rtt_ns = base_rtt_ns;
        self.max = (max_bdp * bytes_per_ns * base_rtt_ns).max(packet_bytes);
    }

    fn clamp(&mut self) {
        self.cwnd = self.cwnd.clamp(self.constants.packet_bytes, self.max);
    }

    fn average(&mut self, delay_ns: f64) {
        let weight = self.constants.delay_alpha;
        self.avg_delay_ns = weight * delay_ns + (1.0 - weight) * self.avg_delay_ns;
    }

    /// The queueing delay of a packet, which moves their mean. Without a mark a delay above the target counts
    /// as a quarter of the base round-trip time.
    fn delay_ns(&mut self, rtt: Option<Span>, is_marked: bool) -> f64 {
        let Some(rtt_ns) = rtt.map(ns) else { return self.avg_delay_ns };
        if rtt_ns < self.base_rtt_ns {
            self.bound_by(rtt_ns.max(1.0));
        }
        let delay_ns = (rtt_ns - self.base_rtt_ns).max(0.0);
        let is_other = !is_marked && delay_ns > self.constants.target_ns;
        self.average(if is_other { 0.25 * self.base_rtt_ns } else { delay_ns });
        delay_ns
    }

    /// docs/algorithms/nscc.md#nscc-quick-adapt; true where nothing else is to be done.
    fn quick_adapt(&mut self, ack: &RateAck<'_>, is_loss: bool, is_marked: bool, delay_ns: f64) -> bool {
        let Constants { target_ns, qa_share, packet_bytes, expansion, .. } = self.constants;
        let mut is_done = false;
        if is_marked && self.quick.ignored_bytes < self.quick.to_ignore_bytes {
            is_done = true;
        } else if self.quick.ends.is_none_or(|ends| ack.now > ends) {
            let is_bad = self.quick.is_triggered || is_loss || delay_ns > 4.0 * target_ns;
            if self.quick.ends.is_some() && is_bad && self.quick.achieved_bytes < self.max * qa_share {
                self.cwnd = self.quick.achieved_bytes.max(packet_bytes);
                self.quick.to_ignore_bytes = ack.flight_bytes as f64 * expansion;
                self.quick.ignored_bytes = 0.0;
                self.quick.is_triggered = false;
                is_done = true;
            }
            self.quick.achieved_bytes = 0.0;
            self.quick.ends = Some(ack.now + Span::from_ps((1e3 * (self.base_rtt_ns + target_ns)) as u64));
        }
        if is_done {
            (self.increase, self.received_bytes) = (0.0, 0.0);
        }
        is_done
    }

    /// A packet that was lost is answered as one that a switch trimmed.
    fn on_lost(&mut self, ack: &RateAck<'_>, lost_bytes: f64) {
        self.quick.ignored_bytes += lost_bytes;
        self.average(self.constants.network_rtt_ns);
        self.quick.is_triggered = true;
        if !self.quick_adapt(ack, true, true, 0.0) {
            self.cwnd -= lost_bytes;
            self.clamp();
        }
    }

    /// Neither marks nor delay: at first in proportion to the room below the target, and fast where there has
    /// been no delay for a window.
    fn increase_below_target(&mut self, newly: f64, delay_ns: f64) {
        if delay_ns < NO_DELAY_NS {
            self.fast_bytes += newly;
            self.is_fast |= self.fast_bytes > self.cwnd;
        } else {
            (self.fast_bytes, self.is_fast) = (0.0, false);
        }
        if self.is_fast {
            self.cwnd += newly * self.constants.fi_scale;
        } else {
            self.increase += self.constants.alpha * newly * (self.constants.target_ns - delay_ns);
        }
    }

    /// Marks and delay: by the mean's excess over the target, at most once in a round trip.
    fn decrease(&mut self, now: Time) {
        (self.fast_bytes, self.is_fast) = (0.0, false);
        let Constants { target_ns, gamma, packet_bytes, .. } = self.constants;
        let is_due = self.decreased.is_none_or(|at| ns(now.since(at)) > self.base_rtt_ns);
        if self.avg_delay_ns > target_ns && is_due {
            let share = gamma * (self.avg_delay_ns - target_ns) / self.avg_delay_ns;
            self.cwnd = (self.cwnd * (1.0 - share.min(MAX_DECREASE))).max(packet_bytes);
            self.decreased = Some(now);
        }
    }

    /// Increases take effect together.
    fn adjust(&mut self, now: Time) {
        let since_ns = ns(now.since(self.adjusted));
        let period_ns = self.constants.network_rtt_ns;
        if self.received_bytes <= self.constants.adjust_bytes && since_ns <= period_ns {
            return;
        }
        self.cwnd += self.increase / self.cwnd;
        if since_ns >= period_ns {
            self.cwnd += self.constants.eta_bytes;
            self.adjusted = now;
        }
        (self.increase, self.received_bytes) = (0.0, 0.0);
    }
}

fn ns(span: Span) -> f64 {
    span.as_ps() as f64 / 1e3
}

impl RateControl for Nscc {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let newly = ack.arrived_bytes().saturating_sub(self.arrived) as f64 * self.constants.expansion;
        self.arrived = self.arrived.max(ack.arrived_bytes());
        self.quick.achieved_bytes += newly;
        self.quick.ignored_bytes += newly;
        self.received_bytes += newly;
        if ack.lost_bytes > 0 {
            self.on_lost(ack, ack.lost_bytes as f64 * self.constants.expansion);
        }
        let delay_ns = self.delay_ns(ack.rtt, ack.cnp);
        if self.quick_adapt(ack, false, ack.cnp, delay_ns) {
            return;
        }
        match (ack.cnp, delay_ns >= self.constants.target_ns) {
            (false, true) => self.increase += self.constants.fi_bytes * newly,
            (false, false) => self.increase_below_target(newly, delay_ns),
            (true, true) => self.decrease(ack.now),
            // The mark is of a path that fills: another one is the answer, not another window.
            (true, false) => {}
        }
        self.clamp();
        self.adjust(ack.now);
        self.clamp();
    }

    fn on_timeout(&mut self, _now: Time) {
        self.cwnd -= self.constants.packet_bytes;
        self.clamp();
    }

    /// What the window lets out leaves at the line rate.
    fn rate_bps(&self) -> f64 {
        self.constants.bytes_per_ns * 8e9
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        Some(self.cwnd / self.constants.expansion)
    }

    /// Whole packets, at least one.
    fn flight_limit_bytes(&self) -> Option<f64> {
        let Constants { packet_bytes, expansion, .. } = self.constants;
        Some((self.cwnd / packet_bytes).max(1.0).floor() * packet_bytes / expansion)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{environment, made};
    use super::*;

    const PACKET: f64 = 1_064.0;

    /// 100 Gbit/s over 12 us: both scales are 1, the target is 12 us, the window 225 kB.
    fn nscc(more: &str) -> Box<dyn RateControl> {
        made(&format!(r#"{{"name":"nscc"{more}}}"#), &environment(100, 12))
    }

    /// So many packets arrived.
    fn ack(us: u64, packets: u64, rtt_us: u64, cnp: bool) -> RateAck<'static> {
        let ack = 1_000 * packets;
        let (now, rtt) = (Time::from_us(us), Some(Span::from_us(rtt_us)));
        RateAck { now, ack, rtt, cnp, flight_bytes: 20_000, ..RateAck::default() }
    }

    /// With headers.
    fn cwnd(control: &dyn RateControl) -> f64 {
        control.cwnd_bytes().expect("it has a window") * PACKET / 1_000.0
    }

    #[test]
    fn starts_with_one_and_a_half_products() {
        let control = nscc("");
        assert!((cwnd(&*control) - 225_000.0).abs() < 1e-6);
        // 211 whole packets.
        assert_eq!(control.flight_limit_bytes().map(f64::round), Some(211_000.0));
        // A shorter round trip makes it smaller.
        let mut control = nscc("");
        control.on_ack(&ack(8, 1, 8, false));
        assert!((cwnd(&*control) - 150_000.0).abs() < 1e-6);
    }

    /// Nothing arrived in a round trip but two packets: they are the window, and what is in flight is not
    /// answered again.
    #[test]
    fn quick_adapt_takes_what_arrived() {
        let mut control = nscc("");
        control.on_ack(&ack(12, 1, 12, false));
        control.on_ack(&ack(20, 2, 90, true));
        let before = cwnd(&*control);
        // The first round trip with the target ends at 36 us; 78 us of delay are above four targets.
        control.on_ack(&ack(40, 3, 90, true));
        assert!((cwnd(&*control) - 2.0 * PACKET).abs() < 1e-6, "from {before}: packets 2 and 3");
        for n in 4..23 {
            control.on_ack(&ack(40 + n, n, 90, true));
            assert!((cwnd(&*control) - 2.0 * PACKET).abs() < 1e-6, "{n}: was in flight");
        }
    }

    #[test]
    fn four_answers() {
        let grown = |rtt_us: u64, cnp: bool| {
            let mut control = nscc(r#","max_cwnd":100,"eta":0,"adjust_packets":1,"delay_alpha":0.5"#);
            control.on_ack(&ack(100, 1, 13, false));
            // Down from the largest window.
            control.on_ack(&RateAck { lost_bytes: 1_000_000, ..ack(101, 1, 13, false) });
            let before = cwnd(&*control);
            control.on_ack(&ack(102, 11, rtt_us, cnp));
            (cwnd(&*control) - before, before)
        };
        let newly = 10.0 * PACKET;
        let (below, before) = grown(18, false);
        // 4 packets of payload, times the room of half a target.
        assert!((below - 4.0 * 1_000.0 * 0.5 * newly / before).abs() < 1.0, "{below}");
        let (above, before) = grown(40, false);
        assert!((above - 5.0 * 1_000.0 * newly / before).abs() < 1.0, "{above}");
        assert!(grown(18, true).0.abs() < 1e-9, "another path's turn");
        assert!(grown(60, true).0 < 0.0);
    }

    #[test]
    fn a_decrease_by_the_mean_delay_once_in_a_round_trip() {
        let mut control = nscc(r#","delay_alpha":1,"qa_gate":16,"eta":0"#);
        control.on_ack(&ack(12, 1, 12, true));
        // 24 us of delay: 0.8 x 12/24.
        control.on_ack(&ack(24, 2, 36, true));
        assert!((cwnd(&*control) - 225_000.0 * 0.6).abs() < 1e-6);
        control.on_ack(&ack(30, 3, 36, true));
        assert!((cwnd(&*control) - 225_000.0 * 0.6).abs() < 1e-6, "twice in one round trip");
    }

    /// A window without delay, then a quarter of a byte for each.
    #[test]
    fn fast_increase() {
        let mut control = nscc(r#","eta":0,"alpha":0"#);
        control.on_timeout(Time::ZERO);
        control.on_ack(&RateAck { lost_bytes: 180_000, ..ack(12, 0, 12, false) });
        let before = cwnd(&*control);
        assert!(before < 35_000.0, "{before}");
        control.on_ack(&ack(20, 40, 12, false));
        assert!((cwnd(&*control) - before - 10.0 * PACKET).abs() < 1e-6, "more than a window at once");
        control.on_ack(&ack(21, 44, 12, false));
        assert!((cwnd(&*control) - before - 11.0 * PACKET).abs() < 1e-6);
        control.on_ack(&ack(22, 48, 14, false));
        assert!((cwnd(&*control) - before - 11.0 * PACKET).abs() < 1e-6, "2 us of delay");
    }

    /// Half of the largest window: 118.6 kB. The last adjustment was at 100 us, 2 packets arrived.
    fn halved(more: &str) -> Box<dyn RateControl> {
        let mut control = nscc(more);
        control.on_ack(&ack(100, 1, 13, false));
        control.on_ack(&RateAck { lost_bytes: 100_000, ..ack(101, 2, 13, false) });
        assert!((cwnd(&*control) - 118_600.0).abs() < 1.0);
        control
    }

    fn moved_by(control: &mut dyn RateControl, ack: &RateAck<'_>) -> f64 {
        let before = cwnd(control);
        control.on_ack(ack);
        cwnd(control) - before
    }

    /// 200 Gbit/s over 24 us are four products of the reference, a target of 6 us is half of its delay.
    #[test]
    fn constants_scale_with_the_network() {
        let moved = |more: &str, us: u64, packets: u64, rtt_us: u64| {
            let json = format!(
                r#"{{"name":"nscc","target_qdelay_ns":6000,"max_cwnd":100,"adjust_packets":1{more}}}"#
            );
            let mut control = made(&json, &environment(200, 24));
            control.on_ack(&ack(100, 1, 25, false));
            control.on_ack(&RateAck { lost_bytes: 50_000_000, ..ack(101, 1, 25, false) });
            let before = cwnd(&*control);
            (moved_by(&mut *control, &ack(us, 1 + packets, rtt_us, false)), before)
        };
        let newly = 10.0 * PACKET;
        let (below, before) = moved(r#","eta":0"#, 102, 10, 27);
        assert!((below - 4.0 * 4_000.0 * 0.5 * 0.5 * newly / before).abs() < 0.01, "{below}");
        let (above, before) = moved(r#","eta":0"#, 102, 10, 32);
        assert!((above - 4.0 * 5_000.0 * newly / before).abs() < 0.01, "{above}");
        let (fast, _) = moved(r#","eta":0,"alpha":0"#, 102, 10_000, 24);
        assert!((fast - 10_000.0 * PACKET).abs() < 0.01, "{fast}: a byte for each");
        let (steady, _) = moved(r#","alpha":0"#, 125, 10, 27);
        assert!((steady - 600.0).abs() < 0.01, "{steady}: 0.15 packets, four times");
    }

    /// The share of a decrease tells the mean: 0.4 of the delay's excess over 12 us.
    #[test]
    fn the_mean_delay_of_a_packet_above_the_target_without_a_mark() {
        let cut = |first: &RateAck<'_>| {
            let mut control = nscc(r#","delay_alpha":0.5,"gamma":0.4,"eta":0,"fi":0,"alpha":0"#);
            control.on_ack(&ack(99, 1, 12, false));
            control.on_ack(first);
            // 100 us of delay.
            control.on_ack(&ack(101, 2, 112, true));
            1.0 - cwnd(&*control) / 225_000.0
        };
        let share = |mean_us: f64| 0.4 * (mean_us - 12.0) / mean_us;
        // A quarter of 12 us in place of 40.
        assert!((cut(&ack(100, 1, 52, false)) - share(50.0 + 0.25 * 3.0)).abs() < 1e-9);
        // The target itself counts whole, as does a mark's delay.
        assert!((cut(&ack(100, 1, 24, false)) - share(50.0 + 0.25 * 12.0)).abs() < 1e-9);
        assert!((cut(&ack(100, 1, 20, true)) - share(50.0 + 0.25 * 8.0)).abs() < 1e-9);
        // Without a sample the mean stays.
        assert!((cut(&RateAck { rtt: None, ..ack(100, 1, 0, false) }) - share(50.0)).abs() < 1e-9);
    }

    /// A lost packet is one of a round-trip time's delay.
    #[test]
    fn the_mean_delay_of_a_lost_packet() {
        let mut control = nscc(r#","delay_alpha":0.5,"gamma":0.4,"eta":0,"fi":0,"alpha":0"#);
        control.on_ack(&ack(99, 1, 12, false));
        control.on_ack(&RateAck { rtt: None, lost_bytes: 1_000, ..ack(100, 1, 0, false) });
        control.on_ack(&ack(101, 2, 112, true));
        let (mean, before) = (50.0 + 0.25 * 12.0, 225_000.0 - PACKET);
        assert!((cwnd(&*control) - before * (1.0 - 0.4 * (mean - 12.0) / mean)).abs() < 1e-6);
    }

    #[test]
    fn quick_adapt_begins_after_a_round_trip_and_the_target() {
        let later = |us: u64, rtt_us: u64, packets: u64| {
            let mut control = nscc(r#","eta":0,"alpha":0,"fi":0"#);
            // The first ACK begins the period of 24 us, whatever its delay.
            control.on_ack(&ack(12, 1, 12, true));
            moved_by(&mut *control, &ack(us, 1 + packets, rtt_us, true))
        };
        assert!(later(36, 90, 2).abs() < 1e-6, "its end is in it");
        assert!((later(37, 90, 2) - 2.0 * PACKET + 225_000.0).abs() < 1e-6);
        // Four targets of delay are not above them.
        assert!(later(37, 60, 2).abs() < 1e-6);
        assert!(later(37, 61, 2) < 0.0);
        // An eighth of the window is 26.4 packets.
        assert!((later(37, 90, 26) - 26.0 * PACKET + 225_000.0).abs() < 1e-6);
        assert!(later(37, 90, 27).abs() < 1e-6);
        let mut late = nscc(r#","eta":0"#);
        assert!(moved_by(&mut *late, &ack(12, 1, 90, true)).abs() < 1e-6, "no period has ended");
    }

    #[test]
    fn quick_adapt_after_a_loss_in_the_period_and_not_without_a_cause() {
        let mut control = nscc(r#","eta":0,"alpha":0"#);
        control.on_ack(&ack(12, 1, 12, false));
        let mut same = nscc(r#","eta":0,"alpha":0"#);
        same.on_ack(&ack(12, 1, 12, false));
        control.on_ack(&RateAck { lost_bytes: 1_000, ..ack(20, 1, 12, false) });
        assert!(moved_by(&mut *control, &ack(37, 3, 13, false)) < -200_000.0);
        assert!(
            moved_by(&mut *same, &ack(37, 3, 13, false)).abs() < 1e-6,
            "few arrived, but nothing is wrong"
        );
    }

    /// 20 packets were in flight: marks on them are not answered, everything else is.
    #[test]
    fn after_quick_adapt_marks_of_what_was_in_flight_are_not_answered() {
        let adapted = || {
            let mut control = nscc(r#","delay_alpha":1,"eta":0,"adjust_packets":1"#);
            control.on_ack(&ack(12, 1, 12, false));
            control.on_ack(&ack(40, 3, 90, true));
            assert!((cwnd(&*control) - 2.0 * PACKET).abs() < 1e-6);
            control
        };
        let mut control = adapted();
        for n in 4..23 {
            assert!(moved_by(&mut *control, &ack(40 + n, n, 90, true)).abs() < 1e-6, "{n} was in flight");
        }
        assert!((moved_by(&mut *control, &ack(64, 24, 90, true)) + PACKET).abs() < 1e-6, "24 was not");
        let twenty = moved_by(&mut *adapted(), &ack(60, 23, 90, true));
        assert!((twenty + PACKET).abs() < 1e-6, "the ACK that completes them counts first");
        assert!(moved_by(&mut *adapted(), &ack(41, 8, 18, false)) > 0.0, "without a mark");
        // What was lost is in flight no more.
        let lost = RateAck { lost_bytes: 21_000, ..ack(41, 3, 90, true) };
        assert!((moved_by(&mut *adapted(), &lost) + PACKET).abs() < 1e-6);
    }

    /// Increases take effect after more than eight packets or a round trip, `eta` after a round trip.
    #[test]
    fn increases_wait_for_eight_packets_or_a_round_trip() {
        let moved = |more: &str, us: u64, packets: u64| {
            moved_by(&mut *halved(more), &ack(us, 2 + packets, 14, false))
        };
        // One of the eight arrived with the loss.
        assert!(moved("", 105, 7).abs() < 1e-9, "eight packets");
        assert!(moved("", 105, 8) > 0.0, "nine packets");
        let alpha = r#","alpha":0"#;
        assert!(moved(alpha, 112, 2).abs() < 1e-9, "a round trip");
        assert!((moved(alpha, 113, 2) - 150.0).abs() < 1e-6, "more than a round trip");
        assert!((moved(alpha, 112, 10) - 150.0).abs() < 1e-6, "nine packets and a round trip");
        assert!(moved(alpha, 111, 10).abs() < 1e-9, "nine packets");
    }

    #[test]
    fn fast_increase_counts_what_came_without_delay() {
        let zero = r#","eta":0,"alpha":0"#;
        let mut control = halved(zero);
        // 1 us is delay.
        assert!(moved_by(&mut *control, &ack(102, 150, 13, false)).abs() < 1e-9);
        // The window is 111.5 packets.
        let mut control = halved(zero);
        assert!(moved_by(&mut *control, &ack(102, 2 + 70, 12, false)).abs() < 1e-9);
        assert!((moved_by(&mut *control, &ack(103, 2 + 140, 12, false)) - 17.5 * PACKET).abs() < 1e-6);
    }

    #[test]
    fn fast_increase_begins_above_a_window() {
        let mut control = nscc(r#","eta":0,"alpha":0"#);
        control.on_ack(&ack(12, 1, 12, false));
        control.on_ack(&ack(20, 2, 90, true));
        control.on_ack(&ack(40, 3, 90, true));
        assert!((cwnd(&*control) - 2.0 * PACKET).abs() < 1e-6, "quick adapt");
        assert!(moved_by(&mut *control, &ack(41, 5, 12, false)).abs() < 1e-9, "a window");
        assert!((moved_by(&mut *control, &ack(42, 6, 12, false)) - 0.25 * PACKET).abs() < 1e-6);
    }

    /// With a gate of 1 quick adapt needs less than half of the largest window: 75 packets of 159.6 kB.
    #[test]
    fn quick_adapt_needs_less_than_its_share() {
        let moved = |packets: u64| {
            let mut control = nscc(r#","max_cwnd":1.064,"qa_gate":1,"eta":0,"alpha":0,"fi":0"#);
            control.on_ack(&ack(12, 1, 12, true));
            moved_by(&mut *control, &ack(37, 1 + packets, 90, true))
        };
        assert!((moved(74) - 74.0 * PACKET + 159_600.0).abs() < 1e-6);
        assert!(moved(75).abs() < 1e-6);
    }

    #[test]
    fn a_decrease_needs_a_mean_above_the_target_and_a_round_trip() {
        let all = r#","delay_alpha":1,"qa_gate":16,"eta":0"#;
        let begun = || {
            let mut control = nscc(all);
            control.on_ack(&ack(12, 1, 12, true));
            control
        };
        // The target itself is no excess, and does not count as a decrease.
        let mut control = begun();
        assert!(moved_by(&mut *control, &ack(24, 2, 24, true)).abs() < 1e-6);
        assert!((moved_by(&mut *control, &ack(25, 3, 36, true)) + 0.4 * 225_000.0).abs() < 1e-6);
        assert!(moved_by(&mut *control, &ack(37, 4, 36, true)).abs() < 1e-6, "a round trip later");
        assert!(moved_by(&mut *control, &ack(38, 5, 36, true)) < 0.0);
        // 0.8 x 66/78, but at most half.
        assert!((moved_by(&mut *begun(), &ack(24, 2, 90, true)) + 112_500.0).abs() < 1e-6);
        // One packet's delay hardly moves the mean of the default's weight.
        let mut slow = halved(r#","eta":0,"alpha":0"#);
        assert!(moved_by(&mut *slow, &ack(102, 2, 40, true)).abs() < 1e-9);
    }

    #[test]
    fn the_target_itself_is_above_it() {
        let mut control = halved(r#","eta":0,"alpha":0,"adjust_packets":1"#);
        let before = cwnd(&*control);
        let moved = moved_by(&mut *control, &ack(102, 12, 24, false));
        assert!((moved - 5_000.0 * 10.0 * PACKET / before).abs() < 0.1, "{moved}");
    }

    /// ACKs that come out of order do not count bytes twice.
    #[test]
    fn an_older_ack_brings_nothing() {
        let mut control = halved(r#","eta":0,"alpha":0,"adjust_packets":1"#);
        control.on_ack(&ack(102, 12, 40, false));
        assert!(moved_by(&mut *control, &ack(103, 6, 40, false)).abs() < 1e-9);
        let before = cwnd(&*control);
        let moved = moved_by(&mut *control, &ack(104, 14, 40, false));
        assert!((moved - 5_000.0 * 2.0 * PACKET / before).abs() < 0.1, "{moved}: packets 13 and 14");
    }

    #[test]
    fn a_timeout_takes_a_packet() {
        let mut control = nscc("");
        control.on_timeout(Time::ZERO);
        assert!((cwnd(&*control) - 225_000.0 + PACKET).abs() < 1e-6);
        assert_eq!(control.rate_bps(), 100e9);
    }
}
