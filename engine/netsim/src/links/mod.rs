//! Links: transmission, propagation, loss, PFC (IEEE 802.1Qbb) and failures.
//!
//! A [`channel`] is one direction of a link. [`transmission`] sends frames of switch ports and host
//! interfaces into channels. [`pfc`] carries pause frames and detects deadlocks. [`faults`] takes links down
//! and brings them up.

pub(crate) mod channel;
pub(crate) mod faults;
pub(crate) mod pfc;
pub(crate) mod transmission;
