//! BF Runtime, as Tofino's control planes speak it: the tables of a program and of the chip as bf-rt.json,
//! and the gRPC service that reads and writes them.
//!
//! ```text
//!  gRPC ─► server (clients, batches, streams) ─► tables, fixed ─► Switch
//!                      fields: the wire's values by the schema's types
//!                      schema: what a program and the chip offer ─► bf-rt.json
//! ```
//!
//! Invariants: no request panics the server, whatever bytes it holds; entries, cells and groups are those
//! that P4Runtime sees, in the switch's own state; requests are applied one at a time, in the order in which
//! they came.

pub mod fields;
pub mod fixed;
mod journal;
mod pipes;
pub mod proto;
pub mod schema;
pub mod server;
pub mod tables;
pub mod target;

pub use server::{Local, Options, Server};
