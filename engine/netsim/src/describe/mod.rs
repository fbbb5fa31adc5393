//! The description of a network: what a user gives, and that resolved and checked.
//!
//! [`spec`] is the JSON description as plain data. [`topology`] turns names into indices and refuses
//! descriptions that contradict themselves.

pub mod spec;
pub(crate) mod topology;
