//! Network cards of receivers: hosts that take packets slowly, and the time and the intervals of answers
//! (docs/algorithms/pfc.md#slow-receivers, docs/algorithms/substrate.md#card-times,
//! docs/algorithms/dcqcn.md#cnp-scope).

use p4cc_exec::control::EntryAction;
use p4cc_ir::{ActionCall, MatchValue};
use p4cc_netsim::{Network, Results, RunOptions};
use serde_json::{Value, json};

use crate::columns::{texts, u64s};
use crate::fabrics::{DELAY_NS, Fabric, HEADROOM_BYTES, RATE_BPS};
use crate::several_links::add_link;
use crate::support::{action, bits, entry, table};

/// Two senders at one switch, their receiver at another: what the receiver stops fills the trunk.
fn fabric<'a>(lossless: &'a [u8], more: Value, flows: &'a [(usize, usize, u64, u64)]) -> Fabric<'a> {
    Fabric {
        program: "ack_priority.p4",
        hosts_at: &[1, 0, 0, 1],
        trunks: &[(0, 1)],
        next: |_, to| to,
        buffer_bytes: 4 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless,
        cc: r#"{"name":"fixed"}"#,
        more,
        flows,
        record: json!({}),
        stop_ns: 20_000_000,
    }
}

/// h0 takes 40 of 100 Gbit/s.
fn slow(lossless: &[u8]) -> Value {
    json!([{
        "host": "h0", "rate_bps": 40_000_000_000_u64, "buffer_bytes": 400_000, "lossless_priorities": lossless,
        "xoff_bytes": 200_000, "xon_bytes": 190_000,
    }])
}

fn run(network: &mut Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    let balance = network.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    network.results()
}

fn only(results: &Results, column: &str) -> u64 {
    assert_eq!(texts(results, "slow_receivers", "host"), ["h0"]);
    u64s(results, "slow_receivers", column)[0]
}

/// 10 MB in packets of 1,064 B at 40 Gbit/s; the port to h0 sends at 100 Gbit/s and stands still for the rest
/// of the time, and so does its sender, whose port sends nothing else.
#[test]
fn goodput_is_the_rate_at_which_the_host_takes_packets() {
    let flows = [(1, 0, 10_000_000, 0)];
    let results = run(&mut fabric(&[3], Value::Null, &flows).build_with(|spec| {
        spec["slow_receivers"] = slow(&[3]);
    }));
    let least_ns = 10_000 * 1_064 * 8 / 40;
    let end_ns = results.summary.end_ns;
    assert!((least_ns..least_ns + 10_000).contains(&end_ns), "{end_ns} of {least_ns}");
    assert_eq!((results.summary.drops, only(&results, "dropped_pkts")), (0, 0));
    assert_eq!((only(&results, "taken_pkts"), only(&results, "taken_bytes")), (10_000, 10_640_000));
    let (pausing, busy) = (only(&results, "pausing_ns") as f64, only(&results, "busy_ns") as f64);
    assert!(busy / least_ns as f64 > 0.99, "{busy}");
    // 200,000 B come at 100 and go at 40 Gbit/s before the first pause.
    let after_ns = least_ns as f64 - 200_000.0 * 8.0 / 60.0;
    assert!((pausing / after_ns - 0.6).abs() < 0.02, "{}", pausing / after_ns);
    let paused_of = |node: &str| {
        let nodes = texts(&results, "pauses", "node").into_iter();
        let times = u64s(&results, "pauses", "paused_ns").into_iter();
        nodes.zip(times).filter(|(name, _)| name == node).map(|(_, ns)| ns).sum::<u64>() as f64
    };
    assert!((paused_of("s1") / after_ns - 0.6).abs() < 0.02, "{}", paused_of("s1") / after_ns);
    assert!(paused_of("h1") > 0.0, "the pause reaches the sender");
    assert_eq!(results.summary.pauses, u64s(&results, "pauses", "pauses_sent").iter().sum::<u64>());
    // What is in the card above its threshold came in a round trip of the link, and behind packets on it.
    let most = 200_000 + 2 * RATE_BPS * DELAY_NS / 8_000_000_000 + 4 * 1_064;
    assert!((200_000..most).contains(&only(&results, "peak_bytes")), "{}", only(&results, "peak_bytes"));
}

/// A flow to another host of the same switch shares the trunk with what the slow receiver stops.
#[test]
fn a_slow_receiver_slows_others_down() {
    let flows = [(1, 0, 20_000_000, 0), (2, 3, 10_000_000, 0)];
    let fct = |slow_receivers: Value| {
        let mut network =
            fabric(&[3], Value::Null, &flows).build_with(|spec| spec["slow_receivers"] = slow_receivers);
        u64s(&run(&mut network), "flows", "fct_ns")[1]
    };
    // Alone they share the trunk evenly: 10 MB end after twice their time on it.
    let (free, held) = (fct(json!([])), fct(slow(&[3])));
    assert!((free as f64 / (20_000.0 * 1_064.0 * 8.0 / 100.0) - 1.0).abs() < 0.1, "{free}");
    assert!(held as f64 > 1.15 * free as f64, "{held} {free}");
}

/// Without PFC the card drops what it cannot hold; nothing else does.
#[test]
fn a_card_without_pauses_drops() {
    let flows = [(1, 0, 10_000_000, 0)];
    let more = json!({"recovery": "selective_repeat", "rto_ns": 1_000_000});
    let results = run(&mut fabric(&[], more, &flows).build_with(|spec| spec["slow_receivers"] = slow(&[])));
    let dropped = only(&results, "dropped_pkts");
    assert!(dropped > 100 && results.summary.drops == dropped, "{:?}", results.summary);
    assert_eq!((results.summary.pauses, results.summary.flows_completed), (0, 1));
    assert!(only(&results, "peak_bytes") > 398_000 && only(&results, "peak_bytes") <= 400_000);
}

/// A host that takes nothing for a time, and then all at once.
#[test]
fn a_stuck_host_goes_on_where_it_stopped() {
    let flows = [(1, 0, 1_000_000, 0)];
    let results = run(&mut fabric(&[3], Value::Null, &flows).build_with(|spec| {
        spec["slow_receivers"] = slow(&[3]);
        spec["slow_receivers"][0]["rate_bps"] = json!(0);
        spec["slow_receivers"][0]["start_ns"] = json!(20_000);
        spec["slow_receivers"][0]["end_ns"] = json!(1_000_000);
    }));
    assert_eq!((results.summary.drops, results.summary.flows_completed), (0, 1));
    // What it had taken and its card held is about 20 us and 200,000 B of 85 us; the rest follows the end.
    let rest_ns = 1_000_000 + 85_120 - 20_000 - 16_000;
    assert!((rest_ns - 10_000..rest_ns + 20_000).contains(&results.summary.end_ns), "{:?}", results.summary);
    assert!(only(&results, "busy_ns").abs_diff(980_000) < 1_000, "{}", only(&results, "busy_ns"));
}

/// Storms and slow receivers of one host would end each other's pauses.
#[test]
fn wrong_descriptions_are_refused() {
    let flows = [(1, 0, 1_000, 0)];
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut spec = Value::Null;
        fabric(&[3], Value::Null, &flows).build_with(|description| spec = description.clone());
        spec["slow_receivers"] = slow(&[3]);
        change(&mut spec);
        let spec = p4cc_netsim::NetworkSpec::from_json(&spec.to_string()).expect("JSON");
        Network::build(spec, 1).err().expect("refused").to_string()
    };
    let error = refused(&|spec| spec["storms"] = json!([{"host": "h0", "priority": 3, "start_ns": 0}]));
    assert!(error.contains("slow_receivers[0].host") && error.contains("storm"), "{error}");
    let error = refused(&|spec| spec["slow_receivers"][0]["xon_bytes"] = json!(200_001));
    assert!(error.contains("slow_receivers[0].xon_bytes"), "{error}");
    let error = refused(&|spec| spec["slow_receivers"][0]["host"] = json!("h9"));
    assert!(error.contains("there is no host"), "{error}");
}

/// What a card takes for each answer is in each round-trip time and no more.
#[test]
fn answers_take_their_time_in_the_card() {
    let flows = [(1, 0, 100_000, 0)];
    let rtts = |more: Value| {
        let record = json!({"rtts": true});
        let results = run(&mut Fabric { record, ..fabric(&[3], more, &flows) }.build());
        assert_eq!(results.summary.flows_completed, 1);
        u64s(&results, "rtts", "rtt_ns")
    };
    let at_once = rtts(json!({}));
    let later: Vec<u64> = at_once.iter().map(|rtt| rtt + 3_000).collect();
    assert_eq!(rtts(json!({"ack_processing_ns": 3_000})), later);
    assert_eq!(rtts(json!({"notification": "packet", "cnp_processing_ns": 3_000})), at_once);
}

/// Nearly every packet is marked: two flows of one host and one of another, for 1.02 ms.
#[test]
fn notifications_share_an_interval() {
    let flows = [(1, 0, 4_000_000, 0), (1, 0, 4_000_000, 0), (2, 0, 4_000_000, 0)];
    let notifications = |scope: &str, has_two_links: bool| {
        let more = json!({
            "notification": "packet", "cnp_interval_ns": 50_000, "ecn_capable": true, "cnp_scope": scope,
        });
        let fabric = Fabric { program: "ecn_red.p4", ..fabric(&[3], more, &flows) };
        let mut network = fabric.build_with(|spec| {
            if has_two_links {
                add_link(spec, 0, 0, 4);
                let way = |to: &str, port: u32| json!({"to": [to], "interfaces": [[port]]});
                spec["hosts"][0]["ways"] = json!([way("h1", 0), way("h2", 1)]);
            }
        });
        let switch = network.switch_mut(1).expect("the switch of the senders");
        let program = switch.observation().pipeline().expect("a program").program().clone();
        let call = ActionCall {
            action: action(&program, "set_curve"),
            args: vec![bits(19, 0), bits(19, 1), bits(32, 0)],
        };
        let trunk = vec![MatchValue::Exact(bits(9, 3))];
        let state = switch.control();
        let state = state.state_mut().expect("a program is loaded");
        state.table_insert(table(&program, "curves"), entry(trunk, EntryAction::Direct(call))).expect("room");
        let results = run(&mut network);
        assert_eq!((results.summary.flows_completed, results.summary.drops), (3, 0));
        assert!(
            u64s(&results, "flows", "marks_level2").iter().sum::<u64>() > 11_000,
            "{:?}",
            results.summary
        );
        // All that left hosts, less the packets of data and an ACK for each.
        network.packet_balance().sent - 2 * u64s(&results, "flows", "data_pkts").iter().sum::<u64>()
    };
    let of = ["flow", "destination", "port"].map(|scope| notifications(scope, false));
    // The flow of the second host has half of the trunk and ends after 681 us, the others with the run.
    let (all, second) = (1_022_u64.div_ceil(50), 681_u64.div_ceil(50));
    assert_eq!(of, [2 * all + second, all + second, all]);
    // A host has one card: an interval is the same where its notifications leave by two links.
    assert_eq!(["destination", "port"].map(|scope| notifications(scope, true)), of[1..]);
}

/// A card drops what is in no lossless class above the bytes at which it pauses, and the room that is left is
/// that of lossless packets. A segment of TCP is in the class of its DSCP, as at switches.
#[test]
fn segments_of_tcp_are_in_their_class() {
    let ran = |priority: u8| {
        let flows = [(1, 0, 4_000_000, 0)];
        let fabric = Fabric { stop_ns: 3_000_000, ..fabric(&[3], Value::Null, &flows) };
        run(&mut fabric.build_with(|spec| {
            spec["slow_receivers"] = slow(&[3]);
            spec["algorithms"] = json!({"tcp": {"packets": "tcp", "iw": 1_000, "rwnd": 4_000}});
            spec["flows"][0]["algorithm"] = json!("tcp");
            spec["flows"][0]["priority"] = json!(priority);
        }))
    };
    let lossless = ran(3);
    assert!(only(&lossless, "pauses_sent") > 0, "{:?}", lossless.summary);
    assert!(only(&lossless, "peak_bytes") > 200_000, "{}", only(&lossless, "peak_bytes"));
    assert_eq!((only(&lossless, "dropped_pkts"), lossless.summary.flows_completed), (0, 1));
    let lossy = ran(0);
    assert!(only(&lossy, "dropped_pkts") > 0 && only(&lossy, "pauses_sent") == 0, "{:?}", lossy.summary);
    assert!(only(&lossy, "peak_bytes") <= 200_000, "{}", only(&lossy, "peak_bytes"));
}
