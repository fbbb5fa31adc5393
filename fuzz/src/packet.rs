//! Any packets through the programs of `engine/filetests/cases/run`.
//!
//! The first byte picks the program; then come packets, each
//! a byte for the port, one for the length, and the bytes.

use p4cc_filetests::bench::{PORTS, switch};
use p4cc_switch::{ExecChoice, Packet};
use p4cc_units::Time;

use crate::bytes::Bytes;
use crate::{corpus, programs};

/// Packets that one input may send, and that the switch may send for each of them.
const MAX_PACKETS: usize = 16;
const MAX_SENT: usize = 4096;

pub(crate) fn run(input: &[u8]) {
    let pipelines = programs::cases();
    let mut input = Bytes(input);
    let which = usize::from(input.byte()) % pipelines.len();
    let mut switch = switch(&pipelines[which], ExecChoice::default());
    for _ in 0..MAX_PACKETS {
        if input.is_empty() {
            return;
        }
        let (port, length) = (u32::from(input.byte()) % PORTS, usize::from(input.byte()));
        switch.receive(Time::ZERO, port, Packet::new(input.take(length), 0));
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
}

/// A few packets for each program.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let made = (0..programs::cases().len()).map(|program| {
        let packet = |first: u8| [&[first % 8, 12, first][..], &[0, 1, 2, 0, 3, 0, 0, 0, 4, 5, 6]].concat();
        [vec![program as u8], packet(0), packet(1), packet(2), packet(0xff)].concat()
    });
    made.chain(corpus::kept("packet")).collect()
}
