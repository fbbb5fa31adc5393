//! The chip's intrinsic metadata as bytes in front of a packet.

use p4cc_ir::{Program, TNA_INGRESS_METADATA_BYTES, TNA_MAX_PORT_METADATA_BYTES, TofinoChip, core_errors};
use p4cc_units::Time;

use crate::arch::LeftQueue;
use crate::core::{Instance, Queued};

/// Bits of `drop_ctl`.
pub(super) const DROP_PACKET: u64 = 1;
pub(super) const DROP_COPY_TO_CPU: u64 = 2;
pub(super) const DROP_MIRROR: u64 = 4;
/// Bits of the times that a header field holds.
pub(super) const MAC_TIME_MASK: u64 = (1 << 48) - 1;
/// Greatest depth that a header field holds.
const MAX_DEPTH: u32 = (1 << 19) - 1;

/// Most bytes in front of a packet at the entrance of ingress.
const MAX_FRONT_BYTES: usize = TNA_INGRESS_METADATA_BYTES + TNA_MAX_PORT_METADATA_BYTES;

/// What stands in front of a packet at the entrance of ingress.
pub(super) struct IngressFront {
    bytes: [u8; MAX_FRONT_BYTES],
    len: usize,
}

impl IngressFront {
    /// `ingress_intrinsic_metadata_t`, and behind it port metadata or what a resubmission brought.
    #[inline]
    pub fn new(chip: TofinoChip, now: Time, port: u32, resubmitted: bool, behind: &[u8]) -> Self {
        let word =
            u64::from(resubmitted) << 63 | (u64::from(port) & 0x1ff) << 48 | now.as_ns() & MAC_TIME_MASK;
        let len = front_bytes(chip);
        let mut bytes = [0; MAX_FRONT_BYTES];
        let (intrinsic, of_port) = bytes.split_at_mut(TNA_INGRESS_METADATA_BYTES);
        intrinsic.copy_from_slice(&word.to_be_bytes());
        for (to, from) in of_port.iter_mut().zip(behind) {
            *to = *from;
        }
        Self { bytes, len }
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&self.bytes)
    }
}

/// Bytes in front of a packet at the entrance of ingress.
pub(super) const fn front_bytes(chip: TofinoChip) -> usize {
    TNA_INGRESS_METADATA_BYTES + chip.port_metadata_bytes()
}

/// `egress_intrinsic_metadata_t`. Congestion states, which nothing here has, are zeros.
#[inline]
pub(super) fn egress_metadata(
    chip: TofinoChip,
    now: Time,
    left: &LeftQueue,
    length: u32,
) -> [u8; p4cc_ir::TNA_MAX_EGRESS_METADATA_BYTES] {
    let LeftQueue { port, priority, enq_depth, deq_depth, item: Queued { instance, rid, .. } } = *left;
    let (enqueued_ns, now_ns) = (left.item.enqueued_at.as_ns(), now.as_ns());
    let mask = (1 << chip.queue_time_bits()) - 1;
    let [p0, p1] = (port as u16 & 0x1ff).to_be_bytes();
    let [_, e0, e1, e2] = enq_depth.min(MAX_DEPTH).to_be_bytes();
    let [t0, t1, t2, t3] = ((enqueued_ns & mask) as u32).to_be_bytes();
    let [_, d0, d1, d2] = deq_depth.min(MAX_DEPTH).to_be_bytes();
    let [w0, w1, w2, w3] = ((now_ns.wrapping_sub(enqueued_ns) & mask) as u32).to_be_bytes();
    let [r0, r1] = rid.to_be_bytes();
    let first = u8::from(instance == Instance::FIRST_REPLICA);
    let deflected = u8::from(instance == Instance::DEFLECTED);
    let [l0, l1] = (length.min(u32::from(u16::MAX)) as u16).to_be_bytes();
    // Port, depth, state, time; depth, state, pools, time; replica, queue, class, deflection, length.
    [
        p0, p1, e0, e1, e2, 0, t0, t1, t2, t3, d0, d1, d2, 0, 0, w0, w1, w2, w3, r0, r1, first, priority, 0,
        deflected, l0, l1, 0,
    ]
}

/// Bit of `parser_err`: no row of the parser fits. Ingress drops such a packet whatever the program reads.
pub(super) const NO_MATCH: u64 = 0x0001;

/// Bits of `parser_err` for an error of the program; none for a plain `reject`, which the chip takes as an
/// end.
pub(super) fn error_flags(program: &Program, code: u32) -> u64 {
    const PARTIAL_HEADER: u64 = 0x0002;
    const COUNTER_RANGE: u64 = 0x0004;
    const TIMEOUT: u64 = 0x0010;
    const DESTINATION: u64 = 0x0040;
    match code {
        core_errors::NO_ERROR => 0,
        core_errors::PACKET_TOO_SHORT | core_errors::HEADER_TOO_SHORT => PARTIAL_HEADER,
        core_errors::STACK_OUT_OF_BOUNDS => DESTINATION,
        core_errors::PARSER_TIMEOUT => TIMEOUT,
        _ if program.errors.get(code as usize).is_some_and(|error| error == "CounterRange") => COUNTER_RANGE,
        _ => NO_MATCH,
    }
}
