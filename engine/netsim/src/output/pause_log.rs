//! The pause frames of PFC (IEEE 802.1Qbb) that one switch sent, one by one.
//!
//! Each switch keeps its own, so that threads need no common order while they run.

use p4cc_switch::PauseFrame;
use p4cc_units::Time;

/// The frames of one switch, in the order of their times.
#[derive(Clone, Default, Debug)]
pub(crate) struct PauseLog {
    frames: Vec<(Time, PauseFrame)>,
    /// Frames that did not fit.
    pub left_out: u64,
}

impl PauseLog {
    /// Keeps a frame, unless there are `most`.
    pub fn add(&mut self, at: Time, frame: PauseFrame, most: u64) {
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
