//! The P4Runtime messages and service, generated from the .proto files.

#![allow(missing_docs, clippy::all, clippy::too_many_lines, rustdoc::all, reason = "generated code")]

include!(concat!(env!("OUT_DIR"), "/proto.rs"));

/// The same messages as descriptors, for reflection.
pub(crate) const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
