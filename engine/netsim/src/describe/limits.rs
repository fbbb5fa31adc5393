//! Limits of a description, and the check of a number against its bounds.

use crate::error::{SpecError, refuse};

/// Most switches and hosts together.
pub const MAX_NODES: usize = 16_384;
/// Most faults of links.
pub const MAX_FAULTS: usize = 100_000;
/// Most flows.
pub const MAX_FLOWS: usize = 1_000_000;
/// Largest flow.
pub const MAX_FLOW_BYTES: u64 = 1 << 50;
/// Longest run: one virtual hour.
pub const MAX_TIME_NS: u64 = 3_600_000_000_000;

/// Most bytes that all hosts keep of packets that no flow takes.
pub const MAX_RECEIVED_BYTES: u64 = 2 << 30;
/// What a kept packet takes beside its bytes.
pub const RECEIVED_ROW_BYTES: u64 = 64;

/// Most bytes that all captures of a run take.
pub const MAX_CAPTURE_BYTES: u64 = 4 << 30;
/// Least bytes of a file of captured packets: the largest packet fits, with all that stands around it.
pub const MIN_CAPTURE_BYTES: u64 = 100_000;
/// Most bytes of the comment of a capture.
pub const MAX_CAPTURE_COMMENT_BYTES: u64 = 4_096;

/// Most attributes of algorithms that are sampled.
pub const MAX_STATE_NAMES: u64 = 16;
/// Most rows of a table of samples or events.
pub const MAX_ROWS: u64 = 10_000_000_000;
/// Most packets that are followed.
pub const MAX_TRACED_PACKETS: u64 = 10_000;
/// Most steps that each switch keeps of them.
pub const MAX_TRACED_STEPS: u64 = 1_000_000;

/// Refuses a value outside `min..=max`.
pub(crate) fn in_range(path: &str, value: u64, min: u64, max: u64) -> Result<(), SpecError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    refuse(path, format!("{value} is out of range"), format!("give a number from {min} to {max}"))
}
