//! Any packets through the programs of `engine/filetests/cases/run` and `p4src`, by the register machine and by native
//! code, with entries of any kind: what comes out must be the same.
//!
//! The first byte picks the program, the next eight the entries; then come packets, each a byte for the port, one for the
//! zeros behind it, one for the length, and the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use p4cc_exec::{Pipeline, RandomSource};
use p4cc_filetests::bench::PORTS;
use p4cc_filetests::twin::Twin;
use p4cc_switch::Packet;
use p4cc_units::Time;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Packets that one input may send.
const MAX_PACKETS: u64 = 16;

struct Entries(u64);

impl RandomSource for Entries {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
}

fn pipelines() -> &'static [Arc<Pipeline>] {
    static MADE: OnceLock<Vec<Arc<Pipeline>>> = OnceLock::new();
    MADE.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folders = ["engine/filetests/cases/run", "p4src/v1model"];
        let files =
            folders.map(|folder| p4cc_filetests::cases(&root.join(folder)).expect("parts of the repository"));
        let programs = files.iter().flatten().filter_map(|file| p4cc_filetests::compile(file).program);
        programs
            .map(|program| Arc::new(Pipeline::compile(Arc::new(program)).expect("a case has a pipeline")))
            .collect()
    })
}

fuzz_target!(|input: &[u8]| {
    let pipelines = pipelines();
    let [program, seed @ ..] = input else { return };
    let Some((seed, mut rest)) = seed.split_first_chunk() else { return };
    let Some(pipeline) = pipelines.get(usize::from(*program) % pipelines.len().max(1)) else { return };
    let mut twin = Twin::new(pipeline).expect("native code for this processor");
    twin.fill(&mut Entries(u64::from_le_bytes(*seed)));
    for number in 0..MAX_PACKETS {
        let [port, zeros, length, tail @ ..] = rest else { return };
        let (packet, left) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = left;
        let packet = Packet::new(packet, u32::from(*zeros));
        if let Err(difference) = twin.send(Time::from_ns(number * 1_000), u32::from(*port) % PORTS, &packet) {
            panic!("{difference}");
        }
    }
});
