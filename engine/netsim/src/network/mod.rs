//! The network in one run: its state and the loop that handles its events.
//!
//! [`state`] has the network itself and its event loop, [`switch_node`] a switch with the lines of its ports,
//! and [`exec`] the choice of what runs the switches' programs.

pub(crate) mod exec;
pub(crate) mod state;
pub(crate) mod switch_node;
