//! The event queue: events, their order, and where they wait until they are due.
//!
//! An [`Event`](event::Event) says what happens at which node and when. [`tie_break`] orders simultaneous
//! events. The [`calendar`] holds all events of a run: in a [timing wheel](timing_wheel) while they are
//! handled in the order of time, in [buckets] while logical processes are handled one after the other, each
//! as a [`batch`] of one epoch.
//!
//! Nothing here knows a network: no file of this folder imports one of another folder.

pub(crate) mod batch;
pub(crate) mod buckets;
pub(crate) mod calendar;
pub(crate) mod event;
pub(crate) mod tie_break;
pub(crate) mod timer;
pub(crate) mod timing_wheel;
