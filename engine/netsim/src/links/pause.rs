//! State of PFC (IEEE 802.1Qbb) on links: pause frames on their way, and pauses that expire.

use std::collections::BTreeMap;

use p4cc_units::Time;

/// What a pause frame says: the receiver stops a priority, or resumes it. As wide as a pointer, so that a
/// frame is moved in words.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(crate) struct PauseWord {
    pub priority: u8,
    pub pause: bool,
}

/// A priority at a port of a node.
pub(crate) type PausePoint = (u32, u32, u8);

/// When pauses with a limited duration end; an entry is replaced by a later pause of the same point.
#[derive(Clone, Debug, Default)]
pub(crate) struct PauseTimers {
    /// At the switch that asked for the pause.
    pub asked: BTreeMap<PausePoint, Time>,
    /// At the node that obeys the pause.
    pub obeyed: BTreeMap<PausePoint, Time>,
}
