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

/// The address of MAC control frames (IEEE 802.1Qbb).
const MAC_CONTROL_ADDRESS: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// EtherType of MAC control, and the opcode of PFC.
const PFC: [u8; 4] = [0x88, 0x08, 0x01, 0x01];
/// Bytes of a smallest Ethernet frame, its check sequence not counted.
const FRAME_BYTES: usize = 60;

impl PauseWord {
    /// The frame as IEEE 802.1Qbb has it. A switch has no address here, so the source is zero; a pause lasts
    /// so many quanta.
    pub fn to_bytes(self, quanta: u16) -> [u8; FRAME_BYTES] {
        let mut frame = [0; FRAME_BYTES];
        frame[..6].copy_from_slice(&MAC_CONTROL_ADDRESS);
        frame[12..16].copy_from_slice(&PFC);
        let priority = usize::from(self.priority & 7);
        frame[17] = 1 << priority;
        if self.pause {
            frame[18 + 2 * priority..20 + 2 * priority].copy_from_slice(&quanta.to_be_bytes());
        }
        frame
    }
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
