//! Figures of the engine on one core. With the project's ECN program: the program by itself, one switch,
//! packet-hops per second of an incast, memory of a packet that waits or is on its way. With HPCC's:
//! permutations of the hosts of fat-trees, memory of a flow that waits for its start.
//!
//! `cargo bench -p p4cc-netsim` prints one JSON object and asserts nothing. With `-- --profile [BYTES]` it
//! only runs one incast with so many bytes from each host, for a profiler to watch, and with `BYTES tcp` over
//! TCP; with `-- --permutation K BYTES [SENDER [RECORD]]` one permutation with so many bytes from each host;
//! `SENDER` is `hpcc`, `dcqcn`, `dctcp` or `dctcp_tcp`, `RECORD` what to record, in JSON.

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "../tests/support/counting.rs"]
mod counting;
#[path = "../tests/support/fat_tree.rs"]
mod fat_tree;

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

use counting::{allocations, in_use};
use fat_tree::{FatTree, Sender};
use p4cc_exec::testing::SplitMix;
use p4cc_exec::{
    DEFAULT_DROP_PORT, Effects, EgressMetadata, EgressStart, Env, Exec, Executor, Frame, IngressStart,
    PacketView, Pipeline, State,
};
use p4cc_netsim::RunOptions;
use p4cc_switch::Packet;
use p4cc_units::Time;
use serde_json::{Map, Value, json};
use support::{Incast, incast};

const GST: &str = r#"{"rto_init_ns":200000000,"cc":{"congestion_avoidance":{"name":"dctcp","cwnd_min":1},
    "slow_start":{"name":"gst","k":33,"k_dc":65,"entry":"window_close"}}}"#;
/// The same over TCP, with packets as long.
const GST_TCP: &str = r#"{"packets":"tcp","mss_bytes":1448,"rto_init_ns":200000000,
    "cc":{"congestion_avoidance":{"name":"dctcp","cwnd_min":1},
    "slow_start":{"name":"gst","k":33,"k_dc":65,"entry":"window_close"}}}"#;

fn scenario(senders: u32, size_bytes: u64, buffer_pkts: u32) -> Incast<'static> {
    Incast {
        senders,
        size_bytes,
        start_jitter_ns: 10_000,
        buffer_pkts,
        k: 33,
        k_dc: 65,
        algorithm: GST,
        record: "{}",
    }
}

/// Repetitions of each measurement; the fastest counts, as all else is other work of the machine.
const REPEATS: u64 = 5;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--profile", given @ ..] => {
            let size_bytes = given.first().map_or(Ok(1 << 20), |bytes| number(bytes))?;
            let algorithm = if given.get(1) == Some(&"tcp") { GST_TCP } else { GST };
            let (packet_hops, per_second, _) =
                hops(&Incast { algorithm, ..scenario(16, size_bytes, 150) }, 1)?;
            let figures = json!({"packet_hops": packet_hops, "hops_per_s": per_second});
            return writeln!(io::stdout().lock(), "{figures}");
        }
        ["--permutation", k, bytes, more @ ..] => {
            let name = more.first().unwrap_or(&"hpcc");
            let sender = sender_named(name)?;
            let record = serde_json::from_str(more.get(1).unwrap_or(&"{}"))?;
            let (k, size_bytes) = (number(k)? as usize, number(bytes)?);
            let figures = permutation(&FatTree { k, sender, size_bytes, idle_flows: 0, record })?;
            return writeln!(io::stdout().lock(), "{figures}");
        }
        _ => {}
    }
    let mut figures = Map::new();
    let mut note = |name: &str, figure: f64| figures.insert(name.to_owned(), json!(figure));
    note("pipeline_ns", program(Exec::Native)?);
    note("pipeline_interp_ns", program(Exec::Interp)?);
    note("switch_ns", switch()?);
    let (_, per_second, allocations) = hops(&scenario(16, 8 << 20, 150), REPEATS)?;
    note("hops_per_s", per_second);
    note("allocations_per_hop", allocations);
    let over_tcp = Incast { algorithm: GST_TCP, ..scenario(16, 8 << 20, 150) };
    note("tcp_hops_per_s", hops(&over_tcp, REPEATS)?.1);
    note("queued_bytes", memory()?);
    note("link_bytes", LINK_SLOT_BYTES + data_packet_bytes());
    note("idle_flow_bytes", idle_flow()?);
    for k in [8, 12] {
        let record = serde_json::from_str(RESULTS_ON)?;
        let tree = FatTree { k, sender: Sender::Hpcc, size_bytes: PERMUTATION_BYTES, idle_flows: 0, record };
        let figures = permutation(&tree)?;
        note(
            &format!("permutation_{}_hops_per_s", k.pow(3) / 4),
            figures["hops_per_s"].as_f64().unwrap_or(0.0),
        );
    }
    writeln!(io::stdout().lock(), "{}", Value::Object(figures))
}

/// Of each host.
const PERMUTATION_BYTES: u64 = 2_000_000;
/// What a scenario records unless it says otherwise (`p4cc/scenario/schema.py`).
const RESULTS_ON: &str = r#"{"windows_interval_ns":100000,"queues_interval_ns":100000}"#;
/// Flows that wait for their start, to see what one takes.
const IDLE_FLOWS: usize = 1_000;
/// A place in a channel's ring: a time, and a packet or what a pause says.
const LINK_SLOT_BYTES: f64 = size_of::<(Time, Packet, [u8; 2])>() as f64;

fn sender_named(name: &str) -> io::Result<Sender> {
    match name {
        "hpcc" => Ok(Sender::Hpcc),
        "dcqcn" => Ok(Sender::Dcqcn),
        "dctcp" => Ok(Sender::Dctcp),
        "dctcp_tcp" => Ok(Sender::DctcpTcp),
        _ => Err(io::Error::other(format!("no sender {name:?}"))),
    }
}

fn number(argument: &str) -> io::Result<u64> {
    argument.parse().map_err(|_| io::Error::other(format!("{argument:?} is no number")))
}

/// One permutation, results included.
fn permutation(tree: &FatTree) -> io::Result<Value> {
    let mut run = tree.build().fork(1).map_err(io::Error::other)?;
    let start = Instant::now();
    run.run(RunOptions::default()).map_err(io::Error::other)?;
    let results = run.results();
    let seconds = start.elapsed().as_secs_f64();
    let summary = &results.summary;
    Ok(json!({
        "packet_hops": summary.packet_hops,
        "events": summary.events,
        "end_ns": summary.end_ns,
        "seconds": seconds,
        "hops_per_s": summary.packet_hops as f64 / seconds,
    }))
}

/// Bytes of a flow that has not begun: what a run takes with such flows and without.
fn idle_flow() -> io::Result<f64> {
    let mut taken = [0; 2];
    for (taken, idle_flows) in taken.iter_mut().zip([0, IDLE_FLOWS]) {
        let base =
            FatTree { k: 4, sender: Sender::Hpcc, size_bytes: 1, idle_flows, record: json!({}) }.build();
        let before = in_use();
        let run = base.fork(1).map_err(io::Error::other)?;
        *taken = in_use() - before;
        drop(run);
    }
    Ok((taken[1] - taken[0]) as f64 / IDLE_FLOWS as f64)
}

/// Bytes of a packet by itself.
fn data_packet_bytes() -> f64 {
    let before = in_use();
    let packet = black_box(data_packet());
    let bytes = in_use() - before;
    drop(packet);
    bytes as f64
}

/// Nanoseconds of one call, the fastest of some rounds.
fn fastest(mut call: impl FnMut()) -> f64 {
    const ROUND: u32 = 200_000;
    let rounds = (0..REPEATS).map(|_| {
        let start = Instant::now();
        (0..ROUND).for_each(|_| call());
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

/// Packet-hops, how many a second and allocations per hop, in the fastest of some seeds.
fn hops(scenario: &Incast<'_>, seeds: u64) -> io::Result<(u64, f64, f64)> {
    let base = incast(scenario);
    let mut best = (0, 0.0, 0.0);
    for seed in 1..=seeds {
        let mut run = base.fork(seed).map_err(io::Error::other)?;
        let (before, start) = (allocations(), Instant::now());
        run.run(RunOptions::default()).map_err(io::Error::other)?;
        let seconds = start.elapsed().as_secs_f64();
        let allocations = (allocations() - before) as f64;
        let packet_hops = run.summary().packet_hops;
        let hops = packet_hops as f64;
        if hops / seconds > best.1 {
            best = (packet_hops, hops / seconds, allocations / hops);
        }
    }
    Ok(best)
}

/// A data packet through the program alone: parser, ingress, what is kept of it, egress, checksums, deparser.
fn program(exec: Exec) -> io::Result<f64> {
    let mut network = incast(&scenario(2, 1 << 20, 150));
    let switch = network.switch_mut(1).ok_or_else(no_switch)?;
    let pipeline = switch.observation().pipeline().ok_or_else(no_switch)?.clone();
    let state = switch.control().state_mut().ok_or_else(no_switch)?;
    match exec {
        Exec::Interp => Ok(passes(&*pipeline, &pipeline, state)),
        Exec::Native => {
            let native = pipeline.native();
            Ok(passes(native.map_err(|error| io::Error::other(error.to_string()))?, &pipeline, state))
        }
    }
}

fn passes(executor: &impl Executor, pipeline: &Pipeline, state: &mut State) -> f64 {
    let (mut effects, mut random) = (Effects::default(), SplitMix(1));
    let (mut frame, mut saved) = (Frame::new(pipeline), Vec::new());
    let (v1_pipelines, packet) = (pipeline.v1_pipelines().expect("a v1model program"), data_packet());
    fastest(|| {
        effects.reset();
        let mut env = Env {
            state,
            effects: &mut effects,
            random: &mut random,
            packet_length: packet.len(),
            payload: PacketView::default(),
            now: Time::ZERO,
        };
        let view = PacketView { bytes: black_box(&packet.head), zeros: packet.zeros };
        let (outside, drop_port) = (Some((2, 0)), DEFAULT_DROP_PORT);
        let start = IngressStart { packet: view, outside, instance_type: 0, drop_port };
        black_box(executor.ingress(&mut frame, start, &mut env));
        let port = v1_pipelines.verdict(&frame).egress_spec;
        saved.clear();
        saved.extend_from_slice(frame.front());
        let metadata =
            EgressMetadata { egress_port: port.into(), enq_qdepth: 40, ..EgressMetadata::default() };
        let start = EgressStart { saved: &saved, metadata, drop_port };
        black_box(executor.egress(&mut frame, start, &mut env));
        black_box(frame.front());
    })
}

/// A data packet that goes through one switch again and again, its queue included.
fn switch() -> io::Result<f64> {
    let mut network = incast(&scenario(2, 1 << 20, 150));
    let packet = data_packet();
    let switch = network.switch_mut(1).ok_or_else(no_switch)?;
    let mut now = Time::ZERO;
    Ok(fastest(|| {
        switch.receive(now, 2, packet.clone());
        while let Some(port) = switch.next_ready() {
            if let Some(sent) = switch.transmit(now, port) {
                now += sent.duration;
            }
        }
    }))
}

/// Bytes of a packet that waits, by filling the queue of a port that nobody empties.
fn memory() -> io::Result<f64> {
    const WAITING: u32 = 1 << 15;
    let mut network = incast(&scenario(2, 1 << 20, WAITING));
    let packet = data_packet();
    let switch = network.switch_mut(1).ok_or_else(no_switch)?;
    let before = in_use();
    for _ in 0..WAITING {
        switch.receive(Time::ZERO, 2, packet.clone());
    }
    Ok((in_use() - before) as f64 / switch.observation().waiting() as f64)
}

fn no_switch() -> io::Error {
    io::Error::other("the incast has no switch 1 with a program")
}

/// A packet of 1,500 B from host 1 to host 0, with 78 B of headers.
fn data_packet() -> Packet {
    let header = [
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 3, 5, 220, 0, 0, 0x40, 0, 64, 17, 0x21, 0x0c, 10, 0,
        0, 2, 10, 0, 0, 1, 0xc0, 0, 0xcc, 0, 5, 200, 0, 0,
    ];
    let mut head = [0; 78];
    head[..header.len()].copy_from_slice(&header);
    Packet::new(&head, 1_436)
}
