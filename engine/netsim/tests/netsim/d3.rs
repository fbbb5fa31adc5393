//! Real hosts against `d3.p4`: what a switch has given never exceeds its capacity
//! whatever is lost, nothing leaks past the next epoch, deadlines are met where
//! they can be, quenching ends what cannot, and long flows share alike.

use p4cc_netsim::{Network, Results, RunOptions};
use p4cc_units::{Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::columns::integers;
use crate::fabrics::{Fabric, RATE_BPS};

const CAPACITY_KBPS: u64 = RATE_BPS / 1_000;
/// 2^20 ns: over a hundred round trips.
pub const EPOCH_SHIFT: u32 = 20;
const EPOCH_NS: u64 = 1 << EPOCH_SHIFT;

/// Largest flow, last arrival, most flows and most loss of a link in the tests with loss.
const MOST_BYTES: u64 = 400_000;
const LAST_START_NS: u64 = 3_000_000;
const MOST_FLOWS: u64 = 40;
const MOST_LOSS: f64 = 0.01;
/// Three links there and three back.
const LEAST_RTT_NS: u64 = 6_000;

/// By when all flows that end have ended. A request that is lost, or whose return is, stays counted for two
/// epochs at most. A flow asks once in a round trip over six links, so there are on average at most `lost`
/// such for each flow under way, and all flows together have at least the share 1 / (1 + lost) of the trunk.
/// In that share each has sent the size of the largest. Twice that time, for data that is sent again and
/// rounds in which a flow waits for a return that does not come.
fn settled_by_ns() -> u64 {
    let lost = (2 * EPOCH_NS / LEAST_RTT_NS) as f64 * (6.0 * MOST_LOSS);
    let wire_bits = (MOST_FLOWS * MOST_BYTES * 8) as f64 * 1_500.0 / 1_436.0;
    LAST_START_NS + (2.0 * wire_bits * (1.0 + lost) / RATE_BPS as f64 * 1e9) as u64
}

/// A flow: sender, receiver, bytes, start in ns, deadline in ns.
type Flow = (usize, usize, Option<u64>, u64, Option<u64>);

/// Hosts 0 to 3 at one switch, 4 to 7 at another, one link between them.
fn network(cc: &str, loss: f64, flows: &[Flow], stop_ns: u64) -> Network {
    network_with(cc, loss, flows, stop_ns, |_| {})
}

/// The same network with a change to its description.
fn network_with(
    cc: &str,
    loss: f64,
    flows: &[Flow],
    stop_ns: u64,
    change: impl FnOnce(&mut Value),
) -> Network {
    let fabric = Fabric {
        program: "d3.p4",
        hosts_at: &[0, 0, 0, 0, 1, 1, 1, 1],
        trunks: &[(0, 1)],
        next: |_, to| to,
        buffer_bytes: 2 << 20,
        headroom_bytes: 0,
        lossless: &[],
        cc,
        more: json!({"mss_bytes": 1_436, "rto_ns": 200_000, "request_records": 2}),
        flows: &[],
        record: json!({"windows_interval_ns": 20_000}),
        stop_ns,
    };
    fabric.build_with(|description| {
        description["stop_when_complete"] = json!(false);
        for link in description["links"].as_array_mut().expect("a list") {
            link["loss"] = json!(loss);
        }
        let flows = flows.iter().zip(1..).map(|(&(src, dst, size, start, deadline), id)| {
            json!({
                "id": id, "src": format!("h{src}"), "dst": format!("h{dst}"), "size_bytes": size,
                "start_ns": start, "algorithm": "sender", "priority": 3,
                "deadline": deadline.map(|ns| json!({"offset_ns": ns})),
            })
        });
        description["flows"] = Value::Array(flows.collect());
        change(description);
    })
}

/// Allocated, demand, flows of every port, as the switches count them.
fn counters(network: &Network) -> Vec<[u64; 3]> {
    let mut found = Vec::new();
    for device in [1, 2] {
        let switch = network.switch(device).expect("two switches");
        let ports = switch.config().ports.iter().map(|port| port.port);
        let program = switch.observation().pipeline().expect("a program").program().clone();
        let state = switch.observation().state().expect("a program");
        let read = |name: &str, port: u32| {
            let at = program.registers.iter().position(|register| register.cp.name.ends_with(name));
            let id = p4cc_ir::RegisterId::from_index(at.expect("a register"));
            let bits = state.register_read(id, port).expect("a cell");
            u64::try_from(bits.to_u128().expect("narrow")).expect("narrow")
        };
        for port in ports {
            found.push(
                ["allocator.allocated", "allocator.demand", "allocator.flows"].map(|name| read(name, port)),
            );
        }
    }
    found
}

fn end(network: &mut Network) -> Results {
    network.run(RunOptions::default()).expect("few events");
    assert!(network.packet_balance().is_even());
    network.results()
}

#[test]
fn long_flows_share_the_trunk_and_give_it_back() {
    let flows: Vec<Flow> = (0..4).map(|host| (host, host + 4, Some(25_000_000), 0, None)).collect();
    let mut network = network(r#"{"name":"rcp_dc"}"#, 0.0, &flows, 10_000_000);
    network.run(RunOptions::until(Time::from_us(500))).expect("few events");
    let trunk = counters(&network)[4];
    assert_eq!(trunk[2], 4);
    assert!((CAPACITY_KBPS - 8..=CAPACITY_KBPS).contains(&trunk[0]), "{trunk:?}");
    let results = end(&mut network);
    let fct = integers(&results, "flows", "fct_ns");
    // 100 MB with headers at 100 Gbit/s, shared alike, and a few round trips.
    let alone_ns = 4.0 * 25e6 * 1_500.0 / 1_436.0 * 8.0 / 100.0;
    for fct in &fct {
        assert!((alone_ns..alone_ns * 1.05).contains(&(*fct as f64)), "{fct:?}, {alone_ns}");
    }
    assert_eq!(results.summary.drops, 0);
    assert_eq!(counters(&network), vec![[0; 3]; 10], "every FIN gave everything back");
}

#[test]
fn deadlines_come_before_size_and_arrival() {
    // One flow takes all; one with a deadline that needs
    // most of the link comes later, and one like it without.
    let flows: [Flow; 3] = [
        (0, 4, None, 0, None),
        (1, 5, Some(5_000_000), 100_000, Some(700_000)),
        (2, 6, Some(5_000_000), 100_000, None),
    ];
    for (cc, met) in [(r#"{"name":"d3"}"#, 1), (r#"{"name":"rcp_dc"}"#, 0)] {
        let results = end(&mut network(cc, 0.0, &flows, 5_000_000));
        assert_eq!(integers(&results, "flows", "deadline_met"), [-1, met, -1], "{cc}");
        assert!(integers(&results, "flows", "fct_ns")[2] > 0);
    }
}

#[test]
fn quenching_ends_what_cannot_be_in_time_and_frees_its_rate() {
    // 5 MB need 418 us of the line; 200 us are too few.
    let flows: [Flow; 2] =
        [(0, 4, Some(5_000_000), 0, Some(200_000)), (1, 5, Some(5_000_000), 0, Some(900_000))];
    let results = end(&mut network(r#"{"name":"d3","quench":"on"}"#, 0.0, &flows, 5_000_000));
    assert_eq!(integers(&results, "flows", "quenched"), [1, 0]);
    assert_eq!(integers(&results, "flows", "deadline_met"), [0, 1]);
    assert_eq!((integers(&results, "flows", "finish_ns")[0], results.summary.flows_completed), (-1, 1));
    let late = end(&mut network(r#"{"name":"d3"}"#, 0.0, &flows, 5_000_000));
    assert_eq!(integers(&late, "flows", "quenched"), [0, 0]);
    assert_eq!(late.summary.flows_completed, 2);
}

/// 5 MB need 418 us of the line. Beside a long flow and with 2 ms of time a
/// quarter of it is enough, until the application wants them within 700 us.
#[test]
fn a_deadline_that_moves_forward_is_met_by_a_larger_grant() {
    let flows: [Flow; 2] = [(0, 4, None, 0, None), (1, 5, Some(5_000_000), 100_000, Some(2_000_000))];
    let run = |after_ns: Option<u64>| {
        let mut network = network_with(r#"{"name":"d3"}"#, 0.0, &flows, 5_000_000, |description| {
            if let Some(after_ns) = after_ns {
                description["flows"][1]["deadline"]["change"] =
                    json!({"after_ns": after_ns, "offset_ns": 700_000});
            }
        });
        let results = end(&mut network);
        let of_flow = |column: &str| integers(&results, "flows", column)[1];
        (of_flow("deadline_ns"), of_flow("deadline_met"), of_flow("fct_ns"))
    };
    let (deadline, met, alone) = run(None);
    assert_eq!((deadline, met), (2_000_000, 1));
    assert!(alone > 700_000, "{alone}");
    let (deadline, met, sooner) = run(Some(200_000));
    assert_eq!((deadline, met), (700_000, 1), "{sooner}");
    let (deadline, met, _) = run(Some(4_000_000));
    assert_eq!((deadline, met), (2_000_000, 1), "it was complete: it keeps its deadline");
}

fn flow() -> impl Strategy<Value = Flow> {
    let size = prop::option::weighted(0.9, 500_u64..MOST_BYTES);
    let deadline = prop::option::weighted(0.7, 20_000_u64..1_000_000);
    (0_usize..4, 4_usize..8, size, 0_u64..LAST_START_NS, deadline)
}

fn endless(flows: &[Flow]) -> u64 {
    flows.iter().filter(|flow| flow.2.is_none()).count() as u64
}

/// Flows that have neither ended nor quenched themselves.
fn open(network: &Network) -> u64 {
    let results = network.results();
    let (ends, quits) = (integers(&results, "flows", "finish_ns"), integers(&results, "flows", "quenched"));
    ends.iter().zip(quits).filter(|(finish, quit)| **finish < 0 && *quit == 0).count() as u64
}

/// Requests that were lost, and those whose returns were, make a switch count many times the flows that there
/// are, each with a share of its own. Flows that need a share of the rest end all the same.
#[test]
fn lost_requests_leave_a_share_for_flows_without_deadlines() {
    let mut flows: Vec<Flow> =
        (0..20).map(|at| (at % 4, 4 + at / 4 % 4, Some(100_000), 100_000 * at as u64, None)).collect();
    flows.push((0, 4, None, 0, None));
    let mut network = network(r#"{"name":"d3"}"#, MOST_LOSS, &flows, settled_by_ns());
    let mut most_counted = 0;
    while open(&network) > 1 {
        let next = network.now() + Span::from_us(100);
        assert!(next <= Time::from_ns(settled_by_ns()), "{} flows open", open(&network));
        network.run(RunOptions::until(next)).expect("few events");
        most_counted = most_counted.max(counters(&network)[4][2]);
    }
    assert!(most_counted > 5 * flows.len() as u64, "{most_counted} flows counted at most");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// With C_e = C what a hop has given stays within its capacity at any time (the base rate is not counted,
    /// docs/algorithms/d3-rcp.md#choice-d3-base-rate); and when all flows that end have ended, whatever was
    /// lost of them, nothing of them is counted after the end of the epoch that follows.
    #[test]
    fn grants_stay_within_the_capacity_and_nothing_leaks(
        flows in prop::collection::vec(flow(), 1..MOST_FLOWS as usize),
        loss in prop_oneof![Just(0.0), 0.0005_f64..MOST_LOSS],
        quench in prop::sample::select(vec!["on", "off"]),
        late in prop::sample::select(vec!["fair_share", "extend"]),
    ) {
        let cc = format!(r#"{{"name":"d3","quench":"{quench}","late":"{late}"}}"#);
        // A flow over all ports that asks to the end, so that epochs are seen to end.
        let mut flows = flows;
        flows.push((0, 4, None, 0, None));
        let last_ns = settled_by_ns() + 3 * EPOCH_NS;
        let mut network = network(&cc, loss, &flows, last_ns + 1_000_000);
        let (mut now_ns, mut settled_ns) = (0, None);
        while now_ns < settled_ns.map_or(settled_by_ns(), |at: u64| at + 3 * EPOCH_NS) {
            now_ns += 20_000;
            network.run(RunOptions::until(Time::from_ns(now_ns))).expect("few events");
            for given in counters(&network) {
                prop_assert!(given[0] <= CAPACITY_KBPS, "{} of {CAPACITY_KBPS} given at {now_ns}", given[0]);
            }
            if settled_ns.is_none() && now_ns.is_multiple_of(500_000) && now_ns > LAST_START_NS {
                settled_ns = (open(&network) == endless(&flows)).then_some(now_ns);
            }
        }
        prop_assert!(settled_ns.is_some(), "{} flows open at {now_ns}, {} without end", open(&network), endless(&flows));
        // The trunk, which the endless flow keeps awake. Flows without end desire nothing; of those that had
        // a deadline, no desire is left. Where nothing is lost, no flow is counted that is not there.
        let [_, demand, counted] = counters(&network)[4];
        prop_assert_eq!(demand, 0);
        prop_assert!(loss > 0.0 || counted == endless(&flows), "{counted} flows are counted");
        prop_assert!(network.packet_balance().is_even());
    }
}
