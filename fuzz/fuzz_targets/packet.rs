//! Any packets through the programs of `engine/filetests/cases/run`.
//!
//! The first byte picks the program; then come packets, each a byte for the port, one for the length, and the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use p4cc_exec::Pipeline;
use p4cc_filetests::bench::{PORTS, switch};
use p4cc_switch::{ExecChoice, Packet};
use p4cc_units::Time;
use std::path::Path;
use std::sync::{Arc, OnceLock};

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

fuzz_target!(|input: &[u8]| {
    let pipelines = pipelines();
    let Some((first, mut rest)) = input.split_first() else { return };
    let Some(pipeline) = pipelines.get(usize::from(*first) % pipelines.len().max(1)) else { return };
    let mut switch = switch(pipeline, ExecChoice::default());
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
