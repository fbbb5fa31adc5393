//! Links that fail: a program that watches its ports takes another path, and threads and batches change no
//! result.

use std::path::Path;

use p4cc_exec::control::{EntryAction, Group, GroupMember, Member};
use p4cc_ir::{ActionCall, MatchValue, ProfileId};
use p4cc_netsim::{Network, NetworkSpec, RunOptions};
use p4cc_switch::DropCause;
use p4cc_units::Time;
use serde_json::{Value, json};

use crate::support::{action, bits, compile, entry, table};
use crate::threads::assert_same;

const FLOWS: u32 = 16;

/// Two hosts and two ways between their switches, through s2 and s3:
/// `h1 - s1 - (s2 | s3) - s4 - h2`; both end switches spread flows over the two.
fn diamond(watches: bool, faults: &Value) -> Network {
    let switch = |id: u32, ports: u32| {
        let ports = (1..=ports).map(|port| json!({"port": port, "queue_capacity_pkts": 200}));
        json!({"name": format!("s{id}"), "device_id": id, "ports": ports.collect::<Vec<_>>()})
    };
    let link = |(a, a_port): (&str, u32), (b, b_port): (&str, u32)| {
        json!({"a": {"node": a, "port": a_port}, "b": {"node": b, "port": b_port},
            "rate_bps": 1_000_000_000, "delay_ns": 10_000})
    };
    let host = |n: u32| json!({"name": format!("h{n}"), "mac": format!("02:00:00:00:00:0{n}"), "ipv4": format!("10.0.0.{n}")});
    let flow = |id: u32| {
        json!({"id": id, "src": "h1", "dst": "h2", "size_bytes": 200_000, "algorithm": "reno",
            "start_ns": 50_000 * id})
    };
    let spec = json!({
        "switches": [switch(1, 3), switch(2, 2), switch(3, 2), switch(4, 3)],
        "hosts": [host(1), host(2)],
        "links": [
            link(("h1", 0), ("s1", 1)), link(("s1", 2), ("s2", 1)), link(("s1", 3), ("s3", 1)),
            link(("s2", 2), ("s4", 2)), link(("s3", 2), ("s4", 3)), link(("h2", 0), ("s4", 1)),
        ],
        "algorithms": {"reno": {"rto_min_ns": 1_000_000, "rto_init_ns": 1_000_000, "rto_max_ns": 20_000_000}},
        "flows": (1..=FLOWS).map(flow).collect::<Vec<_>>(),
        "faults": faults,
        "stop_ns": 300_000_000,
        "limits": {"max_events": 10_000_000},
    });
    let spec = NetworkSpec::from_json(&spec.to_string()).expect("a right description");
    let mut network = Network::build(spec, 1).expect("a right description");
    (1..=4).for_each(|id| install(&mut network, id, watches));
    network
}

/// Loads the program of a switch, and its routes.
fn install(network: &mut Network, id: u64, watches: bool) {
    let pipeline =
        compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/v1model/ack_priority.p4"));
    let program = pipeline.program();
    let (next_hop, routes) = (action(program, "set_next_hop"), table(program, "ipv4_lpm"));
    // By switch: ports towards h1 and towards h2.
    let ways: [&[u32]; 2] = match id {
        1 => [&[1], &[2, 3]],
        4 => [&[2, 3], &[1]],
        _ => [&[1], &[2]],
    };
    let switch = network.switch_mut(id).expect("a switch of the description");
    switch.control().set_pipeline(pipeline.clone());
    let state = switch.control().state_mut().expect("a program is loaded");
    for (host, ports) in (1..).zip(ways) {
        let mut members = Vec::new();
        for &port in ports {
            let member_id = 10 * host + port;
            let args = vec![bits(9, port.into()), bits(48, 0x0200_0000_0000 + u128::from(host))];
            let member = Member { id: member_id, action: ActionCall { action: next_hop, args } };
            state.member_insert(ProfileId(0), member).expect("room for a member");
            members.push(GroupMember { member_id, weight: 1, watch_port: watches.then_some(port.into()) });
        }
        let group = Group { id: host, max_size: 0, members };
        state.group_insert(ProfileId(0), group).expect("room for a group");
        let key = vec![MatchValue::Lpm { value: bits(32, 0x0a00_0000 + u128::from(host)), len: 32 }];
        state.table_insert(routes, entry(key, EntryAction::Group(host))).expect("room for a route");
    }
}

/// The switch s2 loses its links at a time, and gets them back at another.
fn faults(down_ns: u64, up_ns: Option<u64>) -> Value {
    json!([
        {"between": ["s1", "s2"], "down_ns": down_ns, "up_ns": up_ns},
        {"between": ["s4", "s2"], "down_ns": down_ns, "up_ns": up_ns},
    ])
}

/// Flows complete, and packets lost on links.
fn ran(network: &Network) -> (u64, u64) {
    let mut run = network.fork(1).expect("a network that was built");
    run.run(RunOptions::default()).expect("few events");
    let balance = run.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    let summary = run.results().summary;
    (summary.flows_completed, summary.link_losses)
}

#[test]
fn flows_leave_a_way_that_fails_where_its_ports_are_watched() {
    let all = u64::from(FLOWS);
    assert_eq!(ran(&diamond(true, &json!([]))), (all, 0));
    let for_ever = faults(1_000_000, None);
    let (completed, lost) = ran(&diamond(false, &for_ever));
    assert!(completed < all && lost > 0, "{completed} of {all}, {lost} lost");
    let (completed, lost_by_watchers) = ran(&diamond(true, &for_ever));
    assert_eq!(completed, all);
    assert!(lost_by_watchers < lost, "{lost_by_watchers} of {lost}");
    // The links come back: so do flows that waited for them.
    assert_eq!(ran(&diamond(false, &faults(1_000_000, Some(60_000_000)))).0, all);
}

#[test]
fn switches_know_of_their_links() {
    let mut network = diamond(true, &faults(1_000_000, Some(2_000_000)));
    let up = |network: &mut Network, ns| {
        network.run(RunOptions::until(Time::from_ns(ns))).expect("few events");
        [(1, 2), (1, 3), (2, 1), (2, 2), (4, 2)]
            .map(|(id, port)| network.switch(id).is_some_and(|one| one.observation().is_port_up(port)))
    };
    assert_eq!(up(&mut network, 999_999), [true; 5]);
    assert_eq!(up(&mut network, 1_000_000), [false, true, false, false, false]);
    // Another run starts with all of them up.
    assert!(
        network
            .fork(1)
            .expect("a network that was built")
            .switch(1)
            .is_some_and(|one| one.observation().is_port_up(2))
    );
    assert_eq!(up(&mut network, 2_000_000), [true; 5]);
}

#[test]
fn faults_are_those_of_one_thread() {
    assert_same(&diamond(true, &faults(1_000_000, Some(2_500_000))));
    assert_same(&diamond(false, &faults(700_000, Some(3_000_000))));
}

/// Flows complete, packets lost on links, and packets that switches without a program dropped, where s1 and
/// s2 restart at one time and have a program again at others.
fn restarted(again_ns: [Option<u64>; 2]) -> (u64, u64, u64) {
    let faults = json!([
        {"switch": "s1", "down_ns": 1_000_000, "up_ns": 4_000_000},
        {"switch": "s2", "down_ns": 1_000_000, "up_ns": 6_000_000},
    ]);
    let mut run = diamond(true, &faults).fork(1).expect("a network that was built");
    let mut at: Vec<(u64, u64)> = (1..).zip(again_ns).filter_map(|(id, ns)| Some((ns?, id))).collect();
    at.sort_unstable();
    for (ns, id) in at {
        run.run(RunOptions::until(Time::from_ns(ns))).expect("few events");
        assert!(
            run.switch(id).is_some_and(|switch| switch.observation().state().is_none()),
            "it has lost its program"
        );
        install(&mut run, id, true);
    }
    run.run(RunOptions::default()).expect("few events");
    let balance = run.packet_balance();
    assert!(balance.is_even(), "{balance:?}");
    let drops = |id| {
        run.switch(id).map_or(0, |switch| switch.observation().counters().drops.of(DropCause::NoPipeline))
    };
    let dropped = drops(1) + drops(2);
    let summary = run.results().summary;
    (summary.flows_completed, summary.link_losses, dropped)
}

#[test]
fn a_switch_that_restarts_has_no_program_until_one_is_loaded() {
    let all = u64::from(FLOWS);
    let (completed, lost, dropped) = restarted([None, None]);
    assert!(
        completed < all && lost > 0 && dropped > 0,
        "{completed} of {all}, {lost} lost, {dropped} dropped"
    );
    let (completed, lost, _) = restarted([Some(4_000_000), None]);
    assert!(lost > 0, "{lost} lost");
    assert!(completed < all, "s2 is up without a program, and takes its share: {completed} of {all}");
    assert_eq!(restarted([Some(5_000_000), Some(6_000_000)]).0, all);
}

#[test]
fn a_link_comes_back_with_the_later_of_its_switches() {
    let mut network = diamond(
        true,
        &json!([
            {"switch": "s1", "down_ns": 1_000_000, "up_ns": 4_000_000},
            {"switch": "s2", "down_ns": 3_000_000, "up_ns": 6_000_000},
            {"between": ["s1", "s2"], "down_ns": 5_000_000, "up_ns": 7_000_000},
        ]),
    );
    for (ns, is_up) in [(999_999, true), (1_000_000, false), (6_999_999, false), (7_000_000, true)] {
        network.run(RunOptions::until(Time::from_ns(ns))).expect("few events");
        for (id, port) in [(1, 2), (2, 1)] {
            assert_eq!(
                network.switch(id).map(|one| one.observation().is_port_up(port)),
                Some(is_up),
                "s{id}, at {ns} ns"
            );
        }
    }
}

#[test]
fn a_restart_is_that_of_one_thread() {
    assert_same(&diamond(true, &json!([{"switch": "s2", "down_ns": 900_000, "up_ns": 2_000_000}])));
}
