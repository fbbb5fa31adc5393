//! The verifier.

use crate::Program;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: function, block and instruction, or the object.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl core::fmt::Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl core::error::Error for Violation {}

/// All violations of a program, empty when it is sound.
pub fn verify(_program: &Program) -> Vec<Violation> {
    Vec::new()
}
