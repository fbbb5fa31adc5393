//! Programs built by hand and a rig to run them, for tests of this crate and of those above it.
//!
//! A normal build leaves it out (feature `testing`). Builders check nothing: the verifier does.

mod accesses;
mod builder;
mod ecn;
mod rig;

pub use accesses::check_accesses;
pub use builder::{ProgramBuilder, block, constant, var};
pub use ecn::{EcnProgram, ecn_program};
pub use rig::{Rig, SplitMix};

/// A lookup alone, without running anything: whether a packed
/// key hits an entry of a table, and some number for it.
pub fn lookup(state: &crate::State, table: p4cc_ir::TableId, key: &[u64]) -> Option<u32> {
    core::num::NonZeroU32::new(state.lookup(table, key)).map(core::num::NonZeroU32::get)
}
