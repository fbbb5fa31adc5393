//! Links: what is sent into them, on its way, and lost; when a port is busy; pause frames (IEEE 802.1Qbb).

mod channel;
mod line;
mod pause;
mod state;

pub(crate) use channel::{Frame, Message, frame_time, time_on_link, usual_lead};
pub(crate) use line::{Line, Work};
pub(crate) use pause::{PAUSE_FRAME_BYTES, PauseTimers, PauseWord};
pub(crate) use state::Links;
