//! Any packets through the programs of `engine/filetests/cases/run` and `p4src`, by the register machine and
//! by native code, with entries of any kind: what comes out must be the same.
//!
//! The first byte picks the program, the next eight entries and room; then come packets, each a byte for the
//! port, one for the zeros behind it, one for the length, and the bytes.

use p4cc_exec::RandomSource;
use p4cc_filetests::bench::PORTS;
use p4cc_filetests::twin::Twin;
use p4cc_switch::Packet;
use p4cc_units::Time;

use crate::bytes::Bytes;
use crate::{corpus, programs};

/// Packets that one input may send.
const MAX_PACKETS: u64 = 16;

/// Room, entries and when queues are served.
struct Drawn(u64);

impl RandomSource for Drawn {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
}

pub(crate) fn run(input: &[u8]) {
    let pipelines = programs::all();
    let mut input = Bytes(input);
    let which = usize::from(input.byte()) % pipelines.len();
    let mut drawn = Drawn(input.long());
    let mut twin = Twin::new(&pipelines[which], &mut drawn).expect("native code for this processor");
    twin.fill(&mut drawn);
    for number in 0..MAX_PACKETS {
        if input.is_empty() {
            return;
        }
        let (port, zeros, length) =
            (u32::from(input.byte()), u32::from(input.byte()), usize::from(input.byte()));
        let packet = Packet::new(input.take(length), zeros);
        if let Err(difference) = twin.send(Time::from_ns(number * 1_000), port % PORTS, &packet, &mut drawn) {
            panic!("{difference}");
        }
    }
}

/// A few packets for each program.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let made = (0..programs::all().len()).map(|program| {
        let packet =
            |first: u8| [&[first % 8, 40, 12, first][..], &[0, 1, 2, 0, 3, 0, 0, 0, 4, 5, 6]].concat();
        let entries = (program as u64).to_le_bytes().to_vec();
        [vec![program as u8], entries, packet(0), packet(1), packet(2), packet(0xff)].concat()
    });
    made.chain(corpus::kept("exec")).collect()
}
