//! Links: what is sent into them, on its way, and lost; when a port is busy.
//!
//! | file | what it has |
//! |---|---|
//! | `state` | all links of a run: sending, arrival, links that go down |
//! | `channel` | one direction of a link, with the frames on their way |
//! | `line` | when a port or an interface is busy |
//! | `pause` | pause frames of PFC (IEEE 802.1Qbb) |

mod channel;
mod line;
mod pause;
mod state;

pub(crate) use channel::{Frame, Message, frame_time, time_on_link, usual_lead};
pub(crate) use line::{Line, Work};
pub(crate) use pause::{PAUSE_FRAME_BYTES, PauseTimers, PauseWord};
pub(crate) use state::Links;
