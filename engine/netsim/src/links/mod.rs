//! Links: transmission, propagation, loss, PFC (IEEE 802.1Qbb), deadlocks and failures.
//!
//! | file | what it has |
//! |---|---|
//! | `line` | when a port or an interface is busy |
//! | `transmission` | ports of switches that send |
//! | `channel` | one direction of a link, with the frames on their way |
//! | `pfc`, `pause` | pause frames on links, and the nodes that obey them |
//! | `deadlock`, `wait_graph` | cycles of paused links |
//! | `faults` | links that go down and come up |

mod channel;
mod deadlock;
mod faults;
mod line;
mod pause;
mod pfc;
mod transmission;
mod wait_graph;

pub(crate) use channel::{Channel, Frame, Message, frame_time, usual_lead};
pub(crate) use line::{Line, Work};
pub(crate) use pause::PauseTimers;
pub(crate) use wait_graph::DeadlockDetector;
