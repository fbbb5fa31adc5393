//! P4Info generation and the P4Runtime gRPC server.
//!
//! ```text
//!  gRPC ─► server (arbitration, pipeline, one lock) ─► entity (tables, profiles, arrays, ...) ─► Switch
//!                                                        catalog, codec, entries: protocol <-> IR
//! ```
//!
//! Invariants: no request panics the server, whatever bytes it holds; nothing here reads
//! the wall clock to decide anything a program or packet can see; requests of all
//! clients to all devices are applied one at a time, in the order in which they arrived.

mod binding;
mod catalog;
mod codec;
mod data_form;
mod device_config;
mod entity;
mod entries;
pub mod errors;
mod executes;
mod objects;
pub mod p4info;
mod packet_io;
pub mod proto;
pub mod server;
mod sizes;
mod translation;

pub use p4info::{P4InfoError, library_p4info, p4info, p4info_from_text, p4info_text};
pub use server::{
    Delivered, Devices, Epoch, Held, Local, NoSuchDevice, Options, Rule, Server, StartError, Tls,
};
