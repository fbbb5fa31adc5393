//! The Thrift calls of BMv2's simple_switch, served for the
//! tools that make them: p4-utils and simple_switch_CLI.
//!
//! ```text
//!  client ─► server (connections) ─► message, value (binary protocol) ─► Service ─► calls/* ─► Switch
//! ```
//!
//! The calls are those of BMv2's `standard`, `simple_switch`, `simple_pre` and `simple_pre_lag` services and,
//! as `p4cc`, a few of our own. Names, numbers and the meaning of arguments are BMv2's: of two priorities the
//! lower number wins, entries have handles, meters count in units a microsecond.
//!
//! Invariants: no bytes panic the server; an unknown call answers with an
//! application exception that names it; a call that fails changes nothing.

mod calls;
pub mod client;
mod config;
mod connections;
mod fault;
mod handles;
mod learning;
pub mod message;
mod server;
mod service;
pub mod state_file;
pub mod value;

pub use client::Client;
pub use server::{Held, Notifier, Server, StartError};
pub use service::{PortInfo, Target};
