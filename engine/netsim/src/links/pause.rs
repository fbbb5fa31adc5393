//! Pause frames of PFC (IEEE 802.1Qbb) on links.

use std::collections::BTreeMap;

use p4cc_units::{Bytes, Rate, Span, Time};

/// What a pause frame says: the receiver stops a priority, or resumes it. As wide as a pointer, so that a
/// frame is moved in words.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(crate) struct PauseWord {
    pub priority: u8,
    pub pause: bool,
    /// How long a pause lasts; none if it lasts until a resume frame.
    pub quanta: Option<u16>,
}

/// Bytes of a pause frame on a link (IEEE 802.1Qbb: a smallest Ethernet frame).
pub(crate) const PAUSE_FRAME_BYTES: u32 = 64;
/// IEEE 802.1Qbb counts pauses in quanta of 512 bits on the link.
const QUANTUM_BYTES: u64 = 64;

/// When pauses with a limited duration end, by port and priority; a later pause replaces an earlier one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PauseTimers(BTreeMap<(u32, u8), Time>);

impl PauseTimers {
    /// A pause ends at an instant.
    pub fn set(&mut self, port: u32, priority: u8, until: Time) {
        self.0.insert((port, priority), until);
    }

    /// Whether the last pause of a port and priority ends now.
    pub fn expires(&mut self, port: u32, priority: u8, now: Time) -> bool {
        let point = (port, priority);
        self.0.get(&point) == Some(&now) && self.0.remove(&point).is_some()
    }
}

/// The address of MAC control frames (IEEE 802.1Qbb).
const MAC_CONTROL_ADDRESS: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// EtherType of MAC control, and the opcode of PFC.
const PFC: [u8; 4] = [0x88, 0x08, 0x01, 0x01];
/// Bytes of a smallest Ethernet frame, its check sequence not counted.
const FRAME_BYTES: usize = 60;

impl PauseWord {
    /// How long a pause lasts on a link of this rate; none of a resume frame and of a pause without end.
    pub fn lasts(self, rate: Rate) -> Option<Span> {
        let quanta = self.quanta.filter(|_| self.pause)?;
        Some(rate.time_to_send(Bytes(u64::from(quanta) * QUANTUM_BYTES)))
    }

    /// The frame (IEEE 802.1Qbb). A switch has no address here, so the source is zero.
    pub fn to_bytes(self) -> [u8; FRAME_BYTES] {
        let mut frame = [0; FRAME_BYTES];
        frame[..6].copy_from_slice(&MAC_CONTROL_ADDRESS);
        frame[12..16].copy_from_slice(&PFC);
        let priority = usize::from(self.priority & 7);
        frame[17] = 1 << priority;
        if self.pause {
            frame[18 + 2 * priority..20 + 2 * priority]
                .copy_from_slice(&self.quanta.unwrap_or(u16::MAX).to_be_bytes());
        }
        frame
    }
}
