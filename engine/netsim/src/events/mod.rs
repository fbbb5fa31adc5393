//! The event queue: events, their order, and where they wait until they are due.
//!
//! An [`Event`] says what happens at which node and when, and its place among simultaneous events. The
//! [`schedule`] of a run has the time reached and a [`calendar`], which holds all events: in a
//! [timing wheel](timing_wheel) while they are handled in the order of time, in [buckets] while logical
//! processes are handled one after the other, each as a [`batch`] of one epoch.
//!
//! Nothing here knows a network: no file of this folder imports one of another folder.

mod batch;
mod buckets;
mod calendar;
mod event;
mod schedule;
mod timer;
mod timing_wheel;

pub(crate) use buckets::{BucketEntry, Cursor, Entry};
pub use calendar::Batching;
pub(crate) use event::{Event, Kind, arrival_place};
pub(crate) use schedule::Schedule;
pub(crate) use timer::Timer;
