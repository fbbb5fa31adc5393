//! Newtypes for time, size and rate, so that a nanosecond is never added to a byte.
//!
//! Invariant: no dependencies, no floats in arithmetic, no clock.

mod rate;
mod size;
mod time;

pub use rate::Rate;
pub use size::Bytes;
pub use time::{Span, Time};
