//! The messages and the service, generated from `proto/bfruntime.proto`.

#![allow(missing_docs, clippy::all, clippy::too_many_lines, rustdoc::all, reason = "generated code")]

include!(concat!(env!("OUT_DIR"), "/proto.rs"));
