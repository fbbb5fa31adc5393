//! HPCC (docs/algorithms/hpcc.md#hpcc): the window follows
//! the utilisation of the busiest hop, as telemetry tells it.
//!
//! The window of every ACK is computed from a reference `W_c` that changes once per round trip, so that ACKs
//! of one round do not act twice on one cause (docs/algorithms/hpcc.md#hpcc-sender, #choice-hpcc-reference).
//!
//! Invariant: `W_min <= W <= W_init`.

use super::bounded::{R_MIN, R_MIN_SHARE, min_rate_bps};
use super::control::{HopRecord, RateAck, RateControl, RateEnvironment};
use crate::IntEncoding;
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};

pub(super) const ETA: ParamInfo = ParamInfo {
    name: "eta",
    unit: "ratio",
    summary: "target utilisation",
    domain: Domain::Number { default: Some(0.95), min: 0.01, max: 1.0 },
    source: "docs/algorithms/hpcc.md#hpcc-parameters",
};

pub(super) const MAX_STAGE: ParamInfo = ParamInfo {
    name: "max_stage",
    unit: "rounds",
    summary: "rounds of additive increase before a multiplicative one; 0 in the authors' script, 5 \
        in the paper",
    domain: Domain::Number { default: Some(0.0), min: 0.0, max: 1e6 },
    source: "docs/algorithms/hpcc.md#hpcc-parameters, #choice-hpcc-max-stage",
};

pub(super) const AI: ParamInfo = ParamInfo {
    name: "ai_mbps",
    unit: "Mbit/s",
    summary: "additive increase step, per 25 Gbit/s of line rate; as a window, the step times the \
        base RTT",
    domain: Domain::Number { default: Some(10.0), min: 0.0, max: 1e6 },
    source: "docs/algorithms/hpcc.md#hpcc-parameters",
};

pub(super) const REACTION: ParamInfo = ParamInfo {
    name: "reaction",
    unit: "",
    summary: "reference window: updated per round and applied at every 'ack', updated and applied \
        once per 'rtt', or 'running'",
    domain: Domain::Choice { default: "ack", options: &["ack", "rtt", "running"] },
    source: "docs/algorithms/hpcc.md#hpcc-parameters, #choice-hpcc-reference",
};

const MULTI_RATE: ParamInfo = ParamInfo {
    name: "multi_rate",
    unit: "",
    summary: "'on' keeps a reference window per hop, and the smallest window wins",
    domain: Domain::Choice { default: "off", options: &["off", "on"] },
    source: "docs/algorithms/hpcc.md#hpcc-sender",
};

const U0: ParamInfo = ParamInfo {
    name: "u0",
    unit: "ratio",
    summary: "initial estimate of the utilisation; another implementation starts at eta",
    domain: Domain::Number { default: Some(1.0), min: 0.01, max: 10.0 },
    source: "docs/algorithms/hpcc.md#hpcc-parameters",
};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "hpcc",
    kind: Kind::RateControl,
    summary: "sets window and rate from the telemetry in every ACK so that the busiest hop is utilised at eta",
    parameters: &[ETA, MAX_STAGE, AI, REACTION, MULTI_RATE, U0, R_MIN, R_MIN_SHARE],
    switch_needs: SwitchNeed::Telemetry,
    source: "docs/algorithms/hpcc.md#hpcc",
    make: Make::RateControl(|params, environment| Ok(Box::new(Hpcc::new(params, environment)?))),
};

/// docs/algorithms/hpcc.md#hpcc-parameters: the additive step
/// is given for 25 Gbit/s and scales with the line rate.
const STEP_LINE_BPS: f64 = 25e9;

/// Most hops that records are kept for (docs/reference/wire-format.md: 8 at most).
const MAX_HOPS: usize = 8;

/// What moves with the rounds: `W_c`, `U` and `incStage` of docs/algorithms/hpcc.md#hpcc-sender.
/// One for the path, or with `multi_rate` one for each hop.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Reference {
    window: f64,
    utilisation: f64,
    inc_stage: u32,
}

/// Which ACKs give a window, and which move the reference
/// (docs/algorithms/hpcc.md#hpcc-parameters, #choice-hpcc-reference).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reaction {
    /// Every ACK gives a window, computed from a reference that moves once per round: HPCC's own.
    Ack,
    /// Only the ACK that ends a round does.
    Rtt,
    /// Every ACK gives a window, and that is the next reference: what
    /// docs/algorithms/hpcc.md#choice-hpcc-reference warns of.
    Running,
}

/// State of one HPCC sender; windows in bytes.
#[derive(Clone, Debug)]
pub(super) struct Hpcc {
    eta: f64,
    max_stage: f64,
    w_ai: f64,
    w_min: f64,
    w_init: f64,
    reaction: Reaction,
    multi_rate: bool,
    base_rtt_ns: f64,
    int: IntEncoding,
    /// `W` of docs/algorithms/hpcc.md#hpcc-sender.
    window: f64,
    first: Reference,
    references: Vec<Reference>,
    /// The reference changes with the first ACK above this byte.
    last_update_seq: u64,
    /// The last record of each hop; empty before the first ACK.
    last: Vec<HopRecord>,
    /// The path that wrote them (docs/algorithms/int.md#path-id).
    last_path: u16,
}

impl Hpcc {
    fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let u0 = params.number("u0")?;
        Ok(Self { multi_rate: params.choice("multi_rate")? == "on", ..Self::with(params, environment, u0)? })
    }

    /// A sender with one reference and this first estimate, by the parameters that its forms share.
    pub(super) fn with(
        params: &Params<'_>,
        environment: &RateEnvironment,
        u0: f64,
    ) -> Result<Self, ConfigError> {
        let base_rtt_ns = environment.base_rtt.as_ps() as f64 / 1e3;
        let bytes_per_rtt = |bps: f64| bps * base_rtt_ns / 8e9;
        let step_bps = params.number("ai_mbps")? * 1e6 * environment.line_bps() / STEP_LINE_BPS;
        let w_init = environment.bdp_bytes();
        let first = Reference { window: w_init, utilisation: u0, inc_stage: 0 };
        Ok(Self {
            eta: params.number("eta")?,
            max_stage: params.number("max_stage")?,
            w_ai: bytes_per_rtt(step_bps),
            w_min: bytes_per_rtt(min_rate_bps(params, environment)?),
            w_init,
            reaction: match params.choice("reaction")? {
                "rtt" => Reaction::Rtt,
                "running" => Reaction::Running,
                _ => Reaction::Ack,
            },
            multi_rate: false,
            base_rtt_ns,
            int: environment.int,
            window: w_init,
            first,
            references: vec![first],
            last_update_seq: 0,
            last: Vec::new(),
            last_path: 0,
        })
    }

    /// docs/algorithms/hpcc.md#hpcc-sender: `u_i` of a hop and the time
    /// between its two records; none where the hop tells nothing new.
    #[inline]
    fn of_hop(&self, now: &HopRecord, last: &HopRecord) -> Option<(f64, f64)> {
        let dt_ns = self.int.elapsed_ns(last.timestamp, now.timestamp);
        let line_bps = now.line_rate.as_bps() as f64;
        if dt_ns <= 0.0 || line_bps <= 0.0 {
            // Two packets within one tick: the later ACK will tell what both sent.
            return None;
        }
        // "tx = 8 (txBytes_i - L_i.txBytes)/dt; u_i = min(q_i, L_i.q) 8/(B_i T) + tx/B_i".
        let tx_bps = 8e9 * self.int.sent_bytes(last.tx, now.tx) / dt_ns;
        let queue_bits = 8.0 * self.int.queue_bytes(now.queue.min(last.queue));
        Some((queue_bits / (line_bps * self.base_rtt_ns / 1e9) + tx_bps / line_bps, dt_ns))
    }

    /// docs/algorithms/hpcc.md#hpcc-sender, MeasureInflight;
    /// leaves the estimate alone where no hop tells anything new.
    #[inline]
    fn measure(&mut self, hops: &[HopRecord]) {
        let mut busiest: Option<(f64, f64)> = None;
        for (hop, (now, last)) in hops.iter().zip(&self.last).enumerate() {
            let Some((u, dt_ns)) = self.of_hop(now, last) else { continue };
            if self.multi_rate {
                if let Some(reference) = self.references.get_mut(hop) {
                    reference.observe(u, dt_ns / self.base_rtt_ns);
                }
            } else if busiest.is_none_or(|(most, _)| u > most) {
                busiest = Some((u, dt_ns));
            }
        }
        if let (Some((u, dt_ns)), Some(reference)) = (busiest, self.references.first_mut()) {
            reference.observe(u, dt_ns / self.base_rtt_ns);
        }
    }

    /// docs/algorithms/hpcc.md#hpcc-sender, ComputeWind; with several references "the minimum wins".
    #[inline]
    fn compute(&mut self, commit: bool) {
        let mut smallest = f64::INFINITY;
        for reference in &mut self.references {
            let multiplies =
                reference.utilisation >= self.eta || f64::from(reference.inc_stage) >= self.max_stage;
            let window = if multiplies {
                reference.window * self.eta / reference.utilisation + self.w_ai
            } else {
                reference.window + self.w_ai
            };
            // An idle path (U = 0) asks for an infinite window: the bound is the answer.
            let window = if window.is_nan() { self.w_min } else { window.clamp(self.w_min, self.w_init) };
            if commit {
                reference.inc_stage = if multiplies { 0 } else { reference.inc_stage.saturating_add(1) };
                reference.window = window;
            }
            smallest = smallest.min(window);
        }
        if commit || self.reaction != Reaction::Rtt {
            self.window = smallest.clamp(self.w_min, self.w_init);
        }
    }

    /// The estimate of a path whose utilisation switches tell.
    pub(super) fn set_utilisation(&mut self, utilisation: f64) {
        for reference in &mut self.references {
            reference.utilisation = utilisation;
        }
    }

    /// The reference changes with the first ACK for what leaves from now on.
    #[inline]
    pub(super) fn begin_round(&mut self, ack: &RateAck<'_>) {
        self.last_update_seq = ack.snd_nxt;
    }

    /// The window that follows from the estimate, and with the end of a round its reference.
    #[inline]
    pub(super) fn react(&mut self, ack: &RateAck<'_>) {
        let ends_round = ack.ack > self.last_update_seq;
        self.compute(ends_round || self.reaction == Reaction::Running);
        if ends_round {
            self.begin_round(ack);
        }
    }
}

impl Reference {
    /// "tau = dt of that hop, at most T; U = (1 - tau/T) U + (tau/T) u".
    #[inline]
    fn observe(&mut self, u: f64, rounds: f64) {
        let share = rounds.min(1.0);
        self.utilisation = (1.0 - share) * self.utilisation + share * u;
    }
}

impl RateControl for Hpcc {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        let hops = &ack.hops[..ack.hops.len().min(MAX_HOPS)];
        if hops.is_empty() {
            return;
        }
        if self.last.len() != hops.len() || self.last_path != ack.path {
            // docs/algorithms/hpcc.md#hpcc-sender: the first ACK "only stores
            // INT and sets last_update_seq"; so does one of another path.
            self.begin_round(ack);
            if self.multi_rate {
                self.references.resize(hops.len(), self.first);
            }
        } else {
            self.measure(hops);
            self.react(ack);
        }
        if self.last.len() == hops.len() {
            self.last.copy_from_slice(hops);
        } else {
            hops.clone_into(&mut self.last);
        }
        self.last_path = ack.path;
    }

    /// docs/algorithms/hpcc.md#hpcc-sender: `R = W/T`.
    fn rate_bps(&self) -> f64 {
        self.window * 8e9 / self.base_rtt_ns
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
    use crate::{AlgorithmSpec, registry};

    const LINE: Rate = Rate::from_bps(100_000_000_000);

    fn hpcc(json: &str) -> Hpcc {
        let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
        let info = registry().iter().find(|row| row.name == "hpcc").expect("registered");
        let params = info.params("rate_control", &spec).expect("known parameters");
        Hpcc::new(&params, &environment(100, 13)).expect("valid parameters")
    }

    fn set(sender: &mut Hpcc, window: f64, utilisation: f64) {
        sender.references[0] = Reference { window, utilisation, inc_stage: 0 };
    }

    fn hop(timestamp: u32, tx: u32, queue: u32) -> HopRecord {
        HopRecord { line_rate: LINE, timestamp, tx, queue }
    }

    /// An ACK that came while so many bytes were in flight.
    fn ack(ack: u64, in_flight: u64, hops: &[HopRecord]) -> RateAck<'_> {
        RateAck { ack, snd_nxt: ack + in_flight, hops, ..RateAck::default() }
    }

    /// docs/algorithms/int.md#number-hpcc-int: 40 Mbit/s at T = 13 us are 65 B; W_init is 162.5 kB.
    #[test]
    fn constants_of_the_script() {
        let sender = hpcc(r#"{"name":"hpcc","r_min_mbps":1000}"#);
        assert!((sender.w_ai - 65.0).abs() < 1e-9 && (sender.w_init - 162_500.0).abs() < 1e-6);
        // R_min of 1 Gbit/s is 1625 B.
        assert!((sender.w_min - 1_625.0).abs() < 1e-9);
    }

    /// docs/algorithms/README.md#properties: "HPCC fixed point (U = eta keeps
    /// W_c + W_AI)"; the additive stages come first where there are any.
    #[test]
    fn the_fixed_point() {
        for (max_stage, utilisation, commits, want) in [
            (0, 0.95, 1, 100_000.0 + 65.0),
            (0, 0.475, 1, 162_500.0),
            (0, 1.9, 1, 50_000.0 + 65.0),
            (5, 0.5, 5, 100_000.0 + 5.0 * 65.0),
            (5, 0.95, 1, 100_000.0 + 65.0),
        ] {
            let mut sender = hpcc(&format!(r#"{{"name":"hpcc","max_stage":{max_stage}}}"#));
            set(&mut sender, 100_000.0, utilisation);
            (0..commits).for_each(|_| sender.compute(true));
            assert!((sender.window - want).abs() < 1e-6, "U {utilisation}: {}", sender.window);
        }
        // "U >= eta": at eta itself the stages begin anew.
        let mut sender = hpcc(r#"{"name":"hpcc","max_stage":5}"#);
        sender.references[0] = Reference { window: 50_000.0, utilisation: 0.95, inc_stage: 3 };
        sender.compute(true);
        assert_eq!(sender.references[0].inc_stage, 0);
        // The sixth round multiplies.
        let mut sender = hpcc(r#"{"name":"hpcc","max_stage":5}"#);
        set(&mut sender, 50_000.0, 0.475);
        (0..6).for_each(|_| sender.compute(true));
        assert!((sender.window - (2.0 * (50_000.0 + 325.0) + 65.0)).abs() < 1e-6);
        assert_eq!(sender.references[0].inc_stage, 0);
    }

    /// docs/algorithms/hpcc.md#hpcc-sender by hand: a hop at 100 Gbit/s that sent 81,250 B in half of T is
    /// busy to 1.0, and 40,960 B waiting in both records add 0.252; the estimate moves half of the way.
    #[test]
    fn utilisation_by_hand() {
        let mut sender = hpcc(r#"{"name":"hpcc","u0":0.5}"#);
        // Units of 512 B and 320 B at 100 Gbit/s; the timestamp wraps.
        sender.on_ack(&ack(1_000, 100_000, &[hop((1 << 24) - 500, 0, 200)]));
        assert_eq!((sender.references[0].utilisation, sender.last_update_seq), (0.5, 101_000));
        sender.on_ack(&ack(2_000, 100_000, &[hop(6_000, 158, 128)]));
        let u = 128.0 * 320.0 / 162_500.0 + 158.0 * 512.0 * 8.0 / 6_500.0 / 100.0;
        assert!(
            (sender.references[0].utilisation - (0.25 + u / 2.0)).abs() < 1e-9,
            "{}",
            sender.references[0].utilisation
        );
        // Within the round the window moves, its reference does not.
        assert_eq!(sender.references[0].window, 162_500.0);
        let want = 162_500.0 * 0.95 / sender.references[0].utilisation + 65.0;
        assert!((sender.window - want.min(162_500.0)).abs() < 1e-6);
    }

    /// The busiest hop decides, and a change of the path starts the records anew.
    #[test]
    fn the_busiest_hop_decides() {
        let mut sender = hpcc(r#"{"name":"hpcc"}"#);
        sender.on_ack(&ack(1, 0, &[hop(0, 0, 0), hop(0, 0, 1_000)]));
        sender.on_ack(&ack(2, 0, &[hop(13_000, 100, 0), hop(13_000, 317, 1_000)]));
        let u = 320_000.0 / 162_500.0 + 317.0 * 512.0 / 162_500.0;
        assert!((sender.references[0].utilisation - u).abs() < 1e-9);
        let window = sender.window;
        sender.on_ack(&ack(3, 0, &[hop(20_000, 900, 0)]));
        assert_eq!((sender.window, sender.last.len()), (window, 1));
    }

    /// docs/algorithms/hpcc.md#hpcc-sender: records of one tick, or of a link without a rate, tell nothing.
    #[test]
    fn a_hop_that_tells_nothing_new_is_passed_over() {
        let mut sender = hpcc(r#"{"name":"hpcc","u0":0.5}"#);
        let unknown = HopRecord { line_rate: Rate::from_bps(0), ..hop(13_000, 317, 0) };
        sender.on_ack(&ack(1, 0, &[hop(500, 0, 0), hop(0, 0, 0)]));
        sender.on_ack(&ack(2, 0, &[hop(500, 317, 9), unknown]));
        assert_eq!(sender.references[0].utilisation, 0.5);
    }

    /// docs/algorithms/hpcc.md#hpcc-sender, MeasureInflight: "if u' > u", so of equally busy hops the first
    /// one's time counts; with many references each hop has its own.
    #[test]
    fn of_equal_hops_the_first_one_s_time_counts() {
        for (more, want) in [("", vec![0.5]), (r#","multi_rate":"on""#, vec![0.5, 0.0])] {
            let mut sender = hpcc(&format!(r#"{{"name":"hpcc","u0":1{more}}}"#));
            sender.on_ack(&ack(1, 0, &[hop(0, 0, 0), hop(0, 0, 0)]));
            // Both idle, over half of T and over all of it.
            sender.on_ack(&ack(2, 0, &[hop(6_500, 0, 0), hop(13_000, 0, 0)]));
            let found: Vec<f64> = sender.references.iter().map(|one| one.utilisation).collect();
            assert_eq!(found, want, "{more}");
        }
    }

    /// docs/algorithms/hpcc.md#hpcc-sender: counters of two ports have no difference. The hop of the other
    /// path sent less: 20 bits of it wrap to 536 MB in half a round, U = 3300 if it counted; its own next
    /// record counts.
    #[test]
    fn a_path_of_equal_length_starts_the_records_anew() {
        for (path, utilisation) in [(0x2003, 3_300.0), (0x2005, 1.0)] {
            let mut sender = hpcc(r#"{"name":"hpcc"}"#);
            let mut feed = |ack, path, tick, tx| {
                let hops = [hop(tick, tx, 0), hop(tick, tx, 0)];
                sender.on_ack(&RateAck { ack, snd_nxt: ack + 100, hops: &hops, path, ..RateAck::default() });
                (sender.references[0].utilisation, sender.last_update_seq)
            };
            feed(1, 0x2003, 0, 900);
            let (u, last_update_seq) = feed(2, path, 6_500, 400);
            assert!((u / utilisation - 1.0).abs() < 0.01, "{path:x}: {u}");
            assert_eq!(last_update_seq, if path == 0x2003 { 101 } else { 102 });
            let (next, _) = feed(3, path, 19_500, 717);
            assert!((next - 0.9988).abs() < 1e-3, "{path:x}: {next}");
        }
    }

    /// docs/algorithms/hpcc.md#hpcc-parameters: with reaction
    /// 'rtt' ACKs within a round leave the window alone.
    #[test]
    fn per_rtt_reaction_waits_for_the_round() {
        for (reaction, moves) in [("ack", true), ("rtt", false)] {
            let mut control =
                made(&format!(r#"{{"name":"hpcc","reaction":"{reaction}"}}"#), &environment(100, 13));
            let mut feed = |ack, tick, tx| {
                let hops = [hop(tick, tx, 3_000)];
                control.on_ack(&RateAck { ack, snd_nxt: 50_000, hops: &hops, ..RateAck::default() });
                control.rate_bps()
            };
            feed(1_000, 0, 0);
            assert_eq!(feed(2_000, 5_000, 120) < 100e9, moves, "{reaction}");
            // The round ends beyond the byte that was next when it began.
            assert_eq!(feed(50_000, 7_000, 168) < 100e9, moves, "{reaction}");
            assert!(feed(50_001, 10_000, 240) < 100e9);
        }
    }

    /// docs/algorithms/hpcc.md#choice-hpcc-reference: a running reference acts on one
    /// cause with every ACK of a round. Four ACKs that all tell U = 1.9 leave half of
    /// the window by HPCC's rule, and a sixteenth (and steps) by the running one.
    #[test]
    fn a_running_reference_acts_on_one_cause_again() {
        let after = |reaction: &str| {
            let mut control = made(
                &format!(r#"{{"name":"hpcc","reaction":"{reaction}","ai_mbps":0}}"#),
                &environment(100, 13),
            );
            for number in 0..5_u32 {
                // A whole T between records: tx 1.0 (317.4 units of 512 B) and a queue of 0.9.
                let hops = [hop(13_000 * number, 317 * number, 458)];
                let ack = 1_000 + u64::from(number);
                control.on_ack(&RateAck { ack, snd_nxt: 50_000, hops: &hops, ..RateAck::default() });
            }
            control.rate_bps() / 1e9
        };
        assert!((after("ack") - 50.0).abs() < 0.2, "{}", after("ack"));
        assert!((after("running") - 6.25).abs() < 0.1, "{}", after("running"));
    }

    /// docs/algorithms/hpcc.md#hpcc-sender, `MULTI_RATE`: each hop keeps
    /// its own estimate and reference; the smallest window is the sender's.
    #[test]
    fn with_many_references_the_smallest_wins() {
        let mut sender = hpcc(r#"{"name":"hpcc","multi_rate":"on","ai_mbps":0}"#);
        let idle = |tick| hop(tick, 0, 0);
        sender.on_ack(&ack(1, 0, &[idle(0), hop(0, 0, 458), idle(0)]));
        assert_eq!(sender.references.len(), 3);
        sender.on_ack(&ack(2, 0, &[idle(13_000), hop(13_000, 317, 458), idle(13_000)]));
        let windows: Vec<f64> = sender.references.iter().map(|one| one.window).collect();
        assert_eq!((windows[0], windows[2], sender.window), (162_500.0, 162_500.0, windows[1]));
        assert!((windows[1] / 162_500.0 - 0.5).abs() < 2e-3, "{windows:?}");
        // The busy hop changes: the first is busy to 1.0 (its queue
        // counts from the second record on), the second idle.
        sender.on_ack(&ack(3, 0, &[hop(26_000, 317, 458), hop(26_000, 317, 0), idle(26_000)]));
        let windows: Vec<f64> = sender.references.iter().map(|one| one.window).collect();
        assert!((windows[0] / 162_500.0 - 0.95).abs() < 2e-3 && windows[1] == 162_500.0, "{windows:?}");
        assert_eq!(sender.window, windows[0]);
    }

    proptest! {
        /// A busier path never gets a larger window.
        #[test]
        fn the_window_falls_with_utilisation(reference in 1e3_f64..162_500.0, u in 0.0_f64..3.0, more in 0.0_f64..3.0) {
            let window = |utilisation| {
                let mut sender = hpcc(r#"{"name":"hpcc"}"#);
                set(&mut sender, reference, utilisation);
                sender.compute(true);
                sender.window
            };
            prop_assert!(window(u + more) <= window(u));
        }
    }
}
