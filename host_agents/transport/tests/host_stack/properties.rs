//! Whatever the channel does, every byte arrives once, windows keep their bounds, and nothing panics.

use p4cc_cc::Mark;
use p4cc_transport::{AckFields, Action, Actions, Codepoint, SackBlocks, SenderConfig, WindowSender};
use p4cc_units::{Span, Time};
use proptest::prelude::*;

use crate::pair::{FINE, Fate, Pair, config};

pub fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let mark = prop_oneof![3 => Just(Mark::None), 1 => Just(Mark::K), 1 => Just(Mark::Kdc)];
    // Delays of up to six half round trips: packets overtake each other.
    let arrive = (20_u64..300, mark).prop_map(|(us, mark)| Fate::Arrive(Span::from_us(us), mark));
    prop::collection::vec(prop_oneof![5 => arrive, 1 => Just(Fate::Drop)], 0..300)
}

pub fn configs() -> impl Strategy<Value = SenderConfig> {
    let cc = prop_oneof![
        Just(r#"{}"#),
        Just(r#"{"congestion_avoidance":{"name":"dctcp","cwnd_min":1}}"#),
        Just(
            r#"{"congestion_avoidance":{"name":"dctcp","cwr_freeze":"on"},"slow_start":{"name":"gst","k":8}}"#
        ),
        Just(r#"{"slow_start":{"name":"gst","k":33,"delta":"literal"}}"#),
        Just(r#"{"congestion_avoidance":{"name":"d2tcp"},"slow_start":{"name":"gst","k":8}}"#),
        Just(r#"{"congestion_avoidance":{"name":"l2tcp","s1":5,"s2":20}}"#),
        Just(
            r#"{"congestion_avoidance":{"name":"reno_ecn"},"slow_start":{"name":"rfb_ss","rtt_max_ns":300000}}"#
        ),
        Just(r#"{"congestion_avoidance":{"name":"cubic_ecn"},"slow_start":{"name":"hystart"}}"#),
        Just(r#"{"congestion_avoidance":{"name":"prague"}}"#),
        Just(r#"{"slow_start":{"name":"limited","max_ssthresh":8}}"#),
        Just(r#"{"slow_start":{"name":"smooth"}}"#),
    ];
    let recovery = prop_oneof![1 => Just("reno"), 1 => Just("newreno"), 2 => Just("sack")];
    let numbers = (1_u32..1_500, 1_u32..12, 1_u32..40, 1_u32..5, 1_u64..2_000);
    let options = (prop::option::of(2_u32..30), prop::option::of(1_u32..20_000));
    (cc, recovery, any::<bool>(), 1_u32..4, numbers, options).prop_map(
        |(
            cc,
            recovery,
            limited,
            ack_every,
            (mss_bytes, iw, rwnd, dupthresh, rto_min_us),
            (ssthresh0, tso),
        )| {
            let rto_min_ns = rto_min_us * 1_000;
            let ssthresh0 = ssthresh0.unwrap_or(1 << 30);
            let tso_bytes = tso.map_or("null".to_owned(), |bytes| bytes.to_string());
            let with = |profile: &str| {
                config(&format!(
                    r#"{{"recovery":"{recovery}","mss_bytes":{mss_bytes},"iw":{iw},"rwnd":{rwnd},
                        "ssthresh0":{ssthresh0},"dupthresh":{dupthresh},"rto_min_ns":{rto_min_ns},
                        "rto_init_ns":{rto_min_ns},"rto_max_ns":100000000,"limited_transmit":{limited},
                        "ack_every":{ack_every},"tso_bytes":{tso_bytes},"ack_delay_ns":500000,
                        "ecn_profile":"{profile}","cc":{cc}}}"#
                ))
            };
            let fits = |config: &SenderConfig| config.validate().is_ok();
            ["gst", "sce", "rfc3168"].map(with).into_iter().find(fits).expect("a profile for every sender")
        },
    )
}

/// Blocks as a broken or hostile receiver might send them.
fn any_blocks() -> impl Strategy<Value = Vec<(u32, u32)>> {
    let near = (0_u32..60_000, 0_u32..20_000).prop_map(|(start, len)| (start, start + len));
    prop::collection::vec(prop_oneof![4 => near, 1 => any::<(u32, u32)>()], 0..=4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_byte_arrives_exactly_once(
        config in configs(),
        flow_bytes in 0_u64..60_000,
        data_fates in fates(),
        ack_fates in fates(),
    ) {
        let fate = move |_, _, sent: u64| data_fates.get(sent as usize).copied().unwrap_or(FINE);
        let mut pair = Pair::new(&config, flow_bytes, fate)
            .with_ack_fate(move |sent| ack_fates.get(sent as usize).copied().unwrap_or(FINE));
        let window_bytes = u64::from(config.rwnd) * u64::from(config.mss_bytes);
        let ended = pair.run(4_000_000, |pair| {
            let state = pair.sender.snapshot();
            assert!(state.cwnd_segments >= 1.0 && state.ssthresh_segments >= 1.0);
            assert!(state.flight_segments <= u64::from(config.rwnd));
            assert!(state.snd_una <= state.snd_nxt && state.snd_nxt - state.snd_una <= window_bytes);
            assert!(state.snd_una <= pair.delivered_bytes, "only what was delivered is acknowledged");
            assert!(pair.receiver.kept_bytes() <= window_bytes);
            assert!(state.alpha.is_none_or(|alpha| (0.0..=1.0).contains(&alpha)));
            assert!(state.delta.is_none_or(|delta| (0.0..=1.0).contains(&delta)));
            assert!(state.rto.as_ns() >= config.rto_min_ns && state.rto.as_ns() <= config.rto_max_ns);
        });
        prop_assert!(ended, "the flow never ends");
        prop_assert_eq!(pair.delivered_bytes, flow_bytes);
        prop_assert_eq!(pair.completions, 1);
        prop_assert!(pair.sender.is_complete());
        prop_assert_eq!(pair.receiver.is_complete(), flow_bytes > 0);
    }

    /// A connection kept over several answers (docs/algorithms/traffic.md#workloads): nothing leaves before
    /// it is given, windows keep their bounds over short segments inside the flow, and the end comes once.
    #[test]
    fn pieces_arrive_in_turn(
        config in configs(),
        pieces in prop::collection::vec(1_u64..9_000, 1..12),
        data_fates in fates(),
        ack_fates in fates(),
    ) {
        let fate = move |_, _, sent: u64| data_fates.get(sent as usize).copied().unwrap_or(FINE);
        let flow_bytes = pieces.iter().sum();
        let mut pair = Pair::new(&config, flow_bytes, fate)
            .with_ack_fate(move |sent| ack_fates.get(sent as usize).copied().unwrap_or(FINE))
            .with_pieces(&pieces);
        let window_bytes = u64::from(config.rwnd) * u64::from(config.mss_bytes);
        let ended = pair.run(4_000_000, |pair| {
            let state = pair.sender.snapshot();
            assert!(state.snd_nxt <= pair.given_bytes, "nothing leaves before it is given");
            assert!(state.snd_nxt - state.snd_una <= window_bytes);
            assert!(state.flight_segments <= u64::from(config.rwnd));
            assert_eq!(pair.receiver.is_complete(), pair.delivered_bytes == flow_bytes);
        });
        prop_assert!(ended, "the flow never ends");
        prop_assert_eq!((pair.delivered_bytes, pair.completions), (flow_bytes, 1));
    }

    /// ACKs of a broken or hostile peer and timers at any time: no panic, no window beyond its bounds.
    #[test]
    fn a_sender_survives_any_ack(
        config in configs(),
        steps in prop::collection::vec(
            (any::<u32>(), 0_u8..4, any::<u64>(), 0_u8..3, 0_u64..400, any_blocks()), 0..200,
        ),
    ) {
        let mut sender = WindowSender::new(&config, None).expect("a valid configuration");
        let (mut actions, mut now) = (Actions::new(), Time::ZERO);
        sender.start(now, &mut actions);
        for (ack, ecn, timestamp_echo_ns, kind, later_us, blocks) in steps {
            now += Span::from_us(later_us);
            actions.clear();
            let base = sender.snapshot();
            // Any ACK, one within the flight, or a timer call.
            let near = (base.snd_una + u64::from(ack) % (base.snd_nxt - base.snd_una + 1)) as u32;
            let ack = if kind == 0 { ack } else { near };
            let mut sack = SackBlocks::NONE;
            blocks.iter().for_each(|(start, end)| assert!(sack.push(*start, *end)));
            let fields = AckFields { ack, ecn_echo: Codepoint::from_bits(ecn), timestamp_echo_ns, sack, ..AckFields::default() };
            if kind == 2 { sender.on_timer(now, &mut actions) } else { sender.on_ack(now, &fields, &mut actions) }
            let state = sender.snapshot();
            prop_assert!(state.cwnd_segments >= 1.0);
            prop_assert!(state.flight_segments <= u64::from(config.rwnd));
            prop_assert!(state.snd_nxt > state.snd_una, "a flow without end always has something in flight");
            prop_assert!(actions.actions().iter().all(|action| *action != Action::Complete));
        }
    }
}
