//! P4Info generation and the P4Runtime gRPC server; the only async crate.
//!
//! Invariants: no request panics the server, whatever bytes it holds; nothing here reads the wall clock to decide
//! anything a program or packet can see; requests of all clients to all devices are applied one at a time, in the
//! order in which they arrived.

pub mod p4info;
pub mod proto;
