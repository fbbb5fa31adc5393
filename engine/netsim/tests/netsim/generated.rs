//! The packet generator of a Tofino chip in virtual time: by a timer, by a link that goes down, on threads.

use std::path::Path;

use p4cc_netsim::{Network, NetworkSpec, RunOptions};
use p4cc_switch::chip::{App, GeneratorPort, Trigger};
use p4cc_units::Time;
use serde_json::json;

use crate::columns::{texts, u64s};
use crate::support::compile;
use crate::threads::assert_same;

/// The port that generates.
const GENERATES: u32 = 68;

/// `a - s1 - s2 - b`, and a host at s1 whose link goes down. What is generated leaves by port 2.
fn pair_of_switches(apps: &[App]) -> Network {
    let host = |n: u32, name: &str| json!({"name": name, "mac": format!("02:00:00:00:00:0{n}"), "ipv4": format!("10.0.0.{n}")});
    let switch = |n: u32, ports: u32| {
        let ports = (1..=ports).map(|port| json!({"port": port, "queue_capacity_pkts": 100}));
        json!({"name": format!("s{n}"), "device_id": n, "ports": ports.collect::<Vec<_>>()})
    };
    let link = |a: (&str, u32), b: (&str, u32)| {
        json!({"a": {"node": a.0, "port": a.1}, "b": {"node": b.0, "port": b.1},
            "rate_bps": 1_000_000_000, "delay_ns": 1_000})
    };
    let spec = json!({
        "switches": [switch(1, 3), switch(2, 2)],
        "hosts": [host(1, "a"), host(2, "b"), host(3, "c")],
        "links": [
            link(("a", 0), ("s1", 1)), link(("s1", 2), ("s2", 1)),
            link(("c", 0), ("s1", 3)), link(("b", 0), ("s2", 2)),
        ],
        "algorithms": {"reno": {}},
        "flows": [],
        "faults": [{"between": ["s1", "c"], "down_ns": 50_500}],
        "record": {"packets_received": {"hosts": ["b"], "snap_bytes": 20, "max_packets": 100}},
        "stop_ns": 100_000,
        "limits": {"max_events": 10_000_000},
    });
    let spec = NetworkSpec::from_json(&spec.to_string()).expect("a right description");
    let mut network = Network::build(spec, 1).expect("a right description");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../filetests/cases/run/tna_pktgen.p4");
    let pipeline = compile(&program);
    for id in [1, 2] {
        network.switch_mut(id).expect("a switch").control().set_pipeline(pipeline.clone());
    }
    let generator = &mut network.switch_mut(1).expect("a switch").control().chip_mut().generator;
    let known = GeneratorPort { generates: true, ..GeneratorPort::default() };
    generator.set_port(GENERATES, known).expect("a port of the chip");
    for (id, app) in (1..).zip(apps) {
        generator.set_app(Time::ZERO, 0, id, app.clone()).expect("a right application");
    }
    network
}

/// Bursts of three packets, 2 us apart.
fn app(trigger: Trigger) -> App {
    App { trigger, enabled: true, length_bytes: 200, last_packet: 2, packet_gap_ns: 2_000, ..App::default() }
}

/// Arrival times and first bytes of the generator's header, by which applications are told apart.
fn arrivals(network: &mut Network) -> Vec<(u64, u8)> {
    network.run(RunOptions::default()).expect("few events");
    assert!(network.packet_balance().is_even(), "{:?}", network.packet_balance());
    let results = network.results();
    let number = |digits: String| u8::from_str_radix(&digits[..2], 16).expect("bytes as digits");
    let bytes = texts(&results, "packets_received", "bytes").into_iter().map(number);
    u64s(&results, "packets_received", "time_ns").into_iter().zip(bytes).collect()
}

#[test]
fn timers_and_links_that_go_down_start_bursts_at_their_instants() {
    let apps = [app(Trigger::Periodic { timer_ns: 40_000 }), app(Trigger::PortDown { mask: 0 })];
    let found = arrivals(&mut pair_of_switches(&apps).fork(7).expect("a fork"));
    // Links count from behind the 14 B of Ethernet: 192 B take 1,536 ns on each of two of 1,000 ns.
    let way_ns = 2 * (1_536 + 1_000);
    let burst = |at: u64, app: u8| (0..3).map(move |packet| (at + 2_000 * packet + way_ns, app));
    assert_eq!(found, burst(40_000, 1).chain(burst(50_500, 2)).chain(burst(80_000, 1)).collect::<Vec<_>>());
}

#[test]
fn threads_and_batches_generate_the_same() {
    let often = App { packet_gap_ns: 90, last_packet: 400, ..app(Trigger::Periodic { timer_ns: 7_000 }) };
    let base = pair_of_switches(&[often, app(Trigger::PortDown { mask: 0 })]);
    let epochs = assert_same(&base);
    assert!(epochs > 20, "threads had {epochs} epochs");
}

#[test]
fn what_the_control_plane_sets_between_two_stretches_begins_there() {
    let mut network = pair_of_switches(&[]);
    network.run(RunOptions::until(Time::from_us(60))).expect("few events");
    let generator = &mut network.switch_mut(1).expect("a switch").control().chip_mut().generator;
    let once = app(Trigger::OneShot { timer_ns: 5_000 });
    generator.set_app(Time::from_us(60), 0, 5, once).expect("a right application");
    assert_eq!(arrivals(&mut network).first(), Some(&(65_000 + 2 * 2_536, 5)));
}
