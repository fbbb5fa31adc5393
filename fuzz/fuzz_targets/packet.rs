//! Any packets through the programs of `engine/filetests/cases/run`.
//!
//! The first byte picks the program; then come packets, each a byte for the port, one for the length, and the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use p4cc_exec::Pipeline;
use p4cc_switch::{Packet, PortConfig, Switch, SwitchConfig};
use p4cc_units::{Rate, Time};
use std::path::Path;
use std::sync::{Arc, OnceLock};

const PORTS: u32 = 8;
/// Packets that one input may send, and that the switch may send for each of them.
const MAX_PACKETS: usize = 16;
const MAX_SENT: usize = 4096;

fn pipelines() -> &'static [Arc<Pipeline>] {
    static MADE: OnceLock<Vec<Arc<Pipeline>>> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/filetests/cases/run");
        let files = p4cc_filetests::cases(&folder).expect("the cases are part of the repository");
        let programs = files.iter().filter_map(|file| p4cc_filetests::compile(file).program);
        programs
            .map(|program| Arc::new(Pipeline::compile(Arc::new(program)).expect("a case has a pipeline")))
            .collect()
    })
}

fn switch(pipeline: &Arc<Pipeline>) -> Switch {
    let port = |port| PortConfig {
        port,
        rate: Rate::from_bps(1_000_000_000),
        capacity_pkts: 64,
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        device_id: 1,
        ports: (0..PORTS).map(port).collect(),
        timestamp_unit: p4cc_switch::TimestampUnit::default(),
        buffer: None,
        cpu_port: None,
        drop_port: p4cc_exec::DEFAULT_DROP_PORT,
        seed: 1,
    };
    let mut switch = Switch::new(config).expect("the configuration is right");
    switch.set_pipeline(Arc::clone(pipeline));
    switch
}

fuzz_target!(|input: &[u8]| {
    let pipelines = pipelines();
    let Some((first, mut rest)) = input.split_first() else { return };
    let Some(pipeline) = pipelines.get(usize::from(*first) % pipelines.len().max(1)) else { return };
    let mut switch = switch(pipeline);
    for _ in 0..MAX_PACKETS {
        let [port, length, tail @ ..] = rest else { return };
        let (packet, left) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = left;
        switch.receive(Time::ZERO, u32::from(*port) % PORTS, Packet::new(packet, 0));
        let mut sent = 0;
        while let Some(port) = switch.next_ready() {
            while let Some(out) = switch.transmit(Time::ZERO, port) {
                let _ = out.packet.to_vec();
                sent += 1;
                assert!(sent < MAX_SENT, "one packet became {sent}");
            }
        }
        let _ = switch.take_digests();
    }
});
