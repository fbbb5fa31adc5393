//! Fuzz targets: each takes any bytes, and panics where what reads them breaks a promise.
//!
//! The bodies are here, so that `cargo test` runs them on kept inputs and on changed
//! ones (`tests/targets.rs`), and libFuzzer runs the same functions for as long as
//! it is told (`fuzz/libfuzzer`, `make fuzz`). docs/how-to/fuzzing.md has the list.
//!
//! Invariant: a target depends on its input alone; what it
//! keeps from run to run is made once and never changes.

mod bmv2_json;
mod bytes;
mod corpus;
mod cpp;
mod editor;
mod exec;
mod grpc;
mod mutate;
mod packet;
mod programs;
mod scenario;
mod segment;
mod source;
mod stf;

pub use mutate::Mutator;

/// A target.
pub struct Target {
    /// Its name, that of its folder in `fuzz/corpus` too.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
    /// Inputs to start from: the repository's own files, and what is kept in `fuzz/corpus`.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 10] = [
    Target { name: "cpp", run: cpp::run, seeds: cpp::seeds },
    Target { name: "source", run: source::run, seeds: source::seeds },
    Target { name: "editor", run: editor::run, seeds: editor::seeds },
    Target { name: "bmv2_json", run: bmv2_json::run, seeds: bmv2_json::seeds },
    Target { name: "packet", run: packet::run, seeds: packet::seeds },
    Target { name: "exec", run: exec::run, seeds: exec::seeds },
    Target { name: "grpc", run: grpc::run, seeds: grpc::seeds },
    Target { name: "stf", run: stf::run, seeds: stf::seeds },
    Target { name: "scenario", run: scenario::run, seeds: scenario::seeds },
    Target { name: "segment", run: segment::run, seeds: segment::seeds },
];

/// A target by its name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
