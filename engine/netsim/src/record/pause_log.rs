//! The pause frames of PFC (IEEE 802.1Qbb) that one switch sent, one by one.
//!
//! Each switch keeps its own, so that threads need no common order while they run.

use p4cc_switch::PauseFrame;
use p4cc_units::Time;

/// The frames of one switch, in the order of their times.
#[derive(Clone, Default, Debug)]
pub(crate) struct PauseLog {
    /// Most frames; none where they are not recorded.
    max_frames: Option<u64>,
    frames: Vec<(Time, PauseFrame)>,
    /// Frames that did not fit.
    pub left_out: u64,
}

impl PauseLog {
    pub fn new(max_frames: Option<u64>) -> Self {
        Self { max_frames, ..Self::default() }
    }

    /// Keeps a frame, if frames are recorded and there is room.
    pub fn add(&mut self, at: Time, frame: PauseFrame) {
        let Some(most) = self.max_frames else { return };
        if (self.frames.len() as u64) < most {
            self.frames.push((at, frame));
        } else {
            self.left_out += 1;
        }
    }

    /// What it holds.
    pub fn frames(&self) -> &[(Time, PauseFrame)] {
        &self.frames
    }
}
