//! The server as an editor sees it.

mod actions;
mod client;
mod completion;
mod documents;
mod edits;
mod formatting;
mod names;
mod remedies;

/// A small program that has a little of everything, without a warning.
const PROGRAM: &str = include_str!("program.p4");
