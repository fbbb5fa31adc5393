//! Algorithms that are classes in Python: what a scenario names, what the engine calls.
//!
//! The user's class derives from a base of this module, which holds what the engine reads: the window, or
//! the rate. A state machine of the engine wraps an object of the class for each flow: it shows the object
//! the ACK and the window, calls a method, and takes over what the method set. Only methods that a class
//! overrides are called.
//!
//! Invariants: an exception is kept in [`Failures`] and ends the run, no method is called after it; what a
//! method may set is checked where it is set.

mod acks;
mod algorithm;
mod failures;
pub(crate) mod maths;
mod rate;
mod receiver;
pub(crate) mod script;
mod scripted_receiver;
mod slow_start;
mod window;

pub(crate) use acks::{Hop, PacedAck, WindowAck};
pub(crate) use algorithm::{OwnAlgorithm, brought};
pub(crate) use failures::{Failure, Failures};
pub(crate) use rate::RateBase;
pub(crate) use receiver::{Arrival, ReceiverBase};
pub(crate) use scripted_receiver::ScriptedReceiver;
pub(crate) use window::WindowBase;
