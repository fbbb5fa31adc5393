//! The rate family: senders of RDMA-like transports, whose
//! output is a pacing rate and, for some, a window in bytes.
//!
//! State machines as in the window family: they take `now` and what an ACK says, and are asked for the rate.
//! They react to round-trip times (TIMELY, FAST-like), congestion notifications (DCQCN, DCTCP) or telemetry
//! (HPCC, whole or by PINT), are told of queues (Bolt), or are told their rate by the switches (D3, RCP).
//!
//! Invariants: `min <= rate <= line rate`, or 0 where switches allot
//! rates and have none left; nothing changes but through the calls.

pub(crate) mod bolt;
mod bounded;
mod build;
mod control;
pub(crate) mod d3;
pub(crate) mod dcqcn;
pub(crate) mod dctcp;
pub(crate) mod fast_like;
pub(crate) mod fixed;
pub(crate) mod hpcc;
pub(crate) mod hpcc_pint;
mod int;
pub(crate) mod nscc;
pub(crate) mod powertcp;
pub(crate) mod prague;
pub(crate) mod rcp;
pub(crate) mod swift;
pub(crate) mod timely;

pub use build::{build_rate, rate_needs};
pub use control::{
    FlowRemainder, HopRecord, PacketSize, QueueNotice, RateAck, RateControl, RateEnvironment, RateRequest,
};
pub use int::IntEncoding;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use p4cc_units::{Bytes, Rate, Span, Time};

    use super::*;
    use crate::testing::known;
    use crate::{AlgorithmInfo, AlgorithmSpec, Domain, Kind, registry};

    /// The rows of this family.
    fn rows() -> impl Iterator<Item = &'static AlgorithmInfo> {
        registry().iter().filter(|row| row.kind == Kind::RateControl)
    }

    pub(super) fn environment(gbps: u64, base_rtt_us: u64) -> RateEnvironment {
        RateEnvironment {
            line_rate: Rate::from_bps(gbps * 1_000_000_000),
            base_rtt: Span::from_us(base_rtt_us),
            int: IntEncoding::hs_fixed(gbps as u32 / 25),
            packet: PacketSize { payload: Bytes(1_000), ip: Bytes(1_064) },
        }
    }

    pub(super) fn made(json: &str, environment: &RateEnvironment) -> Box<dyn RateControl> {
        let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
        build_rate(&spec, environment).expect("valid parameters")
    }

    #[test]
    fn every_row_makes_an_algorithm_of_its_kind() {
        for info in rows() {
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
            format!(
                r#"rate_control.name: unknown algorithm "hpc"; did you mean "hpcc"? known: {}"#,
                known(Kind::RateControl)
            )
        );
        assert_eq!(
            message(r#"{"name":"dcqcn","r_min_mbps":20000}"#),
            "rate_control.r_min_mbps: 20000 Mbit/s exceeds the line rate of 10000 Mbit/s; reduce it, or use a faster link"
        );
    }

    /// Whatever the line rate, an algorithm can be made without a parameter, and its least rate is below it.
    #[test]
    fn defaults_are_below_the_line_rate() {
        for mbps in [10, 1_000, 25_000, 400_000, 1_600_000] {
            let line = Rate::from_bps(mbps * 1_000_000);
            let at = RateEnvironment { line_rate: line, ..environment(100, 13) };
            for info in rows() {
                let mut control = made(&format!(r#"{{"name":"{}"}}"#, info.name), &at);
                for now_us in 1..=1_000 {
                    control.on_timeout(Time::from_us(1_000 * now_us));
                }
                assert!(control.rate_bps() <= at.line_bps(), "{} at {mbps} Mbit/s", info.name);
            }
        }
    }

    #[test]
    fn the_least_rate_is_a_share_of_the_line_rate_unless_given() {
        let least = |more: &str, gbps| {
            let mut control = made(&format!(r#"{{"name":"dcqcn"{more}}}"#), &environment(gbps, 13));
            (0..10_000).for_each(|number| {
                control.on_ack(&RateAck {
                    now: Time::from_us(100 * number),
                    cnp: true,
                    ..RateAck::default()
                });
                control.on_timer(Time::from_us(100 * number + 50));
            });
            control.rate_bps()
        };
        assert_eq!((least("", 100), least("", 10)), (100e6, 10e6));
        assert_eq!(least(r#","r_min_share":0.5"#, 10), 5e9);
        assert_eq!(least(r#","r_min_mbps":10000"#, 10), 10e9, "the line rate itself");
        assert_eq!(least(r#","r_min_mbps":2000,"r_min_share":0.5"#, 10), 2e9);
    }

    /// Every algorithm as it is by default, and those that have others in their other forms.
    fn forms() -> Vec<(&'static AlgorithmInfo, &'static str)> {
        let row = |name: &str| rows().find(|row| row.name == name).expect("registered");
        let others = [
            ("timely", r#","hai_counts":"raw","scale_by_time":"on","max_cut":0.5"#),
            ("timely", r#","patched":"on","t_low_ns":0"#),
            ("timely", r#","update":"window","hai_counts":"every""#),
            ("timely", r#","hai_counts":"every_branch""#),
            ("dcqcn", r#","form":"paper","byte_counter_bytes":5000"#),
            ("hpcc", r#","multi_rate":"on","max_stage":5"#),
            ("hpcc", r#","reaction":"running""#),
            ("hpcc_pint", r#","max_stage":5"#),
        ];
        let plain = rows().map(|info| (info, ""));
        plain.chain(others.map(|(name, more)| (row(name), more))).collect()
    }

    /// The least rate of an algorithm that paces by itself.
    fn least_bps(info: &AlgorithmInfo) -> f64 {
        let least =
            info.parameters.iter().find(|param| param.name == "r_min_share").map(|param| param.domain);
        match least {
            Some(Domain::Number { default: Some(share), .. }) => share * 100e9,
            _ => 0.0,
        }
    }

    /// The largest window of an algorithm, in bandwidth-delay products.
    fn most_bdp(info: &AlgorithmInfo) -> f64 {
        let most = info.parameters.iter().find(|param| param.unit == "BDP").map(|param| param.domain);
        if let Some(Domain::Number { default: Some(most), .. }) = most { most } else { 1.0 }
    }

    proptest! {
        /// Whatever ACKs, notifications and timers bring, rate and window keep their bounds.
        #[test]
        fn bounds_hold_whatever_happens(
            (info, more) in prop::sample::select(forms()),
            steps in prop::collection::vec(
                (0_u64..200, 0_u64..1_000_000, any::<[bool; 3]>(), prop::option::of(0.0_f64..2e11), any::<[u32; 3]>(), 0_usize..4),
                0..200,
            ),
            vwin in any::<bool>(),
        ) {
            let vwin = vwin && info.parameters.iter().any(|param| param.name == "window");
            let window = if vwin { r#","window":"vwin""# } else { "" };
            let environment = environment(100, 13);
            let mut control = made(&format!(r#"{{"name":"{}"{window}{more}}}"#, info.name), &environment);
            let (mut now, mut ack) = (Time::ZERO, 0);
            for (later_us, rtt_ns, [cnp, is_offered, is_told], sent_bps, [timestamp, tx, queue], hops) in steps {
                now += Span::from_us(later_us);
                ack += 1_000;
                let hop = HopRecord { line_rate: environment.line_rate, timestamp, tx, queue };
                let hops = vec![hop; hops];
                let rtt = Some(Span::from_ns(rtt_ns));
                let (snd_nxt, hops) = (ack + 10_000, hops.as_slice());
                // A number of any size, used as a grant too.
                let granted_bps = sent_bps;
                control.on_ack(&RateAck {
                    now,
                    ack,
                    snd_nxt,
                    rtt,
                    cnp,
                    sent_bps,
                    hops,
                    path: 0,
                    utilisation: sent_bps.map(|number| number / 1e9),
                    granted_bps,
                    is_offered,
                    above_bytes: u64::from(tx) % 50_000,
                    flight_bytes: u64::from(queue),
                    lost_bytes: if cnp { 1_000 } else { 0 },
                    hop_count: 0,
                });
                if cnp {
                    control.on_loss(now);
                    control.on_timeout(now);
                }
                if is_told {
                    let (elapsed, queue) = (Span::from_ns(rtt_ns), Bytes(queue.into()));
                    control.on_notice(&QueueNotice { now, elapsed, queue, link_rate: environment.line_rate });
                }
                control.on_sent(now, Bytes(1_000));
                control.on_timer(now);
                let least = least_bps(info);
                prop_assert!((least..=100e9).contains(&control.rate_bps()), "{}", control.rate_bps());
                let most = most_bdp(info) * environment.bdp_bytes();
                prop_assert!(control.cwnd_bytes().is_none_or(|bytes| (1.0..=most).contains(&bytes)));
                prop_assert!(!vwin || control.cwnd_bytes().is_some());
                prop_assert!(control.next_timer().is_none_or(|timer| timer > now));
            }
        }
    }
}
