//! Native code against the register machine: random packets and entries
//! on the programs of `p4src`, and on every program of the cases.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use p4cc_exec::{HalfId, Pipeline, RandomSource};
use p4cc_filetests::bench::PORTS;
use p4cc_filetests::twin::Twin;
use p4cc_switch::Packet;
use p4cc_units::Time;
use proptest::prelude::*;

/// A small generator with a seed.
struct SplitMix(u64);

impl RandomSource for SplitMix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn pipelines(folder: &str) -> Vec<Arc<Pipeline>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files: Vec<PathBuf> = p4cc_filetests::cases(&folder).expect("the folder is part of the repository");
    let programs = files.iter().filter_map(|file| p4cc_filetests::compile(file).program);
    programs
        .map(|program| Arc::new(Pipeline::compile(Arc::new(program)).expect("a checked program")))
        .collect()
}

fn p4src() -> &'static [Arc<Pipeline>] {
    static MADE: OnceLock<Vec<Arc<Pipeline>>> = OnceLock::new();
    MADE.get_or_init(|| [pipelines("../../p4src/v1model"), pipelines("../../p4src/tna")].concat())
}

/// The table of what operations read and write (`engine/exec/src/accesses.rs`), which decides what is kept,
/// cleared and held in registers.
#[test]
fn operations_read_and_write_what_their_table_says() {
    let checked: usize = p4src()
        .iter()
        .chain(&pipelines("cases"))
        .enumerate()
        .map(|(seed, pipeline)| p4cc_exec::testing::check_accesses(pipeline, seed as u64))
        .sum();
    assert!(checked > 9_000, "{checked} operations");
}

/// An Ethernet and IPv4 packet with a UDP header and our own, of any extension,
/// whose checksum is right; then some of its bytes are changed and it is cut.
fn packet(random: &mut SplitMix) -> Packet {
    let extension = (0..random.next_u64() % 60).map(|_| random.next_u64() as u8).collect::<Vec<u8>>();
    let udp_len = 44 + extension.len() as u16 + 100;
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let mut ip = vec![0x45, random.next_u64() as u8 & 3];
    ip.extend((udp_len + 20).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 1 + random.next_u64() as u8 % 3, 17, 0, 0, 10, 1, 0, 7]);
    ip.extend([0, 0, 0, random.next_u64() as u8 % 8]);
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = (sum >> 16) + (sum & 0xffff);
    ip[10..12].copy_from_slice(&(!((sum >> 16) + (sum & 0xffff)) as u16).to_be_bytes());
    bytes.extend(ip);
    bytes.extend([0xc0, random.next_u64() as u8, 0xcc, 0x00]);
    bytes.extend(udp_len.to_be_bytes());
    let flags = if random.next_u64().is_multiple_of(3) { random.next_u64() as u8 } else { 0 };
    bytes.extend([0, 0, 0x10, flags, 0, random.next_u64() as u8 % 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(100_u16.to_be_bytes());
    bytes.extend([extension.len() as u8, 0]);
    bytes.extend([0; 16]);
    bytes.extend(extension);
    for _ in 0..random.next_u64() % 3 {
        let at = random.next_u64() as usize % bytes.len();
        bytes[at] = random.next_u64() as u8;
    }
    if random.next_u64().is_multiple_of(4) {
        bytes.truncate(random.next_u64() as usize % bytes.len());
    }
    Packet::new(&bytes, random.next_u64() as u32 % 200)
}

fn run(pipeline: &Arc<Pipeline>, seed: u64, packets: u32) -> Result<(), TestCaseError> {
    let mut random = SplitMix(seed);
    let mut twin =
        Twin::new(pipeline, &mut random).map_err(|error| TestCaseError::fail(error.to_string()))?;
    twin.fill(&mut random);
    let mut now = Time::ZERO;
    for _ in 0..packets {
        let packet = packet(&mut random);
        now += p4cc_units::Span::from_ns(random.next_u64() % 100_000);
        let port = random.next_u64() as u32 % PORTS;
        twin.send(now, port, &packet, &mut random).map_err(TestCaseError::fail)?;
    }
    Ok(())
}

/// Otherwise they would run block by block, several times as long, and nothing else would tell.
#[test]
fn our_programs_for_tofino_run_as_one_function_a_half() {
    let programs = pipelines("../../p4src/tna");
    assert!(!programs.is_empty());
    for pipeline in programs {
        let native = pipeline.native().expect("native code for this processor");
        for half in [HalfId::ingress(0), HalfId::egress(0)] {
            assert!(native.has_half(half), "{half:?} of {}", pipeline.program().name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_back_ends_run_our_programs_alike(seed in any::<u64>()) {
        for pipeline in p4src() {
            run(pipeline, seed, 24)?;
        }
    }
}

#[test]
fn both_back_ends_run_all_cases_alike() {
    for (seed, pipeline) in (0..).zip(pipelines("cases/run")) {
        if let Err(error) = run(&pipeline, seed, 40) {
            panic!("{error}");
        }
    }
}
