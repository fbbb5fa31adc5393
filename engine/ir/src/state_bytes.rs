//! What the state of a program takes of memory before its first packet, for the bound on it.
//!
//! Tables, profiles and value sets start empty: what they take grows with what is written, to their sizes.

use crate::bits::words_for;
use crate::{Counter, Filter, Meter, Program, Register, RegisterKind};

/// Bytes of a cell, as the execution engine has it (it checks that they are no more).
pub const COUNTER_CELL_BYTES: u64 = 16;
/// The same of a meter.
pub const METER_CELL_BYTES: u64 = 144;
/// The same of a filter.
pub const FILTER_CELL_BYTES: u64 = 64;

/// An object with cells.
pub trait HasCells {
    /// Bytes of all its cells. Those of direct objects come with the entries.
    fn state_bytes(&self) -> u64;
}

fn of(size: Option<u32>, cell: u64) -> u64 {
    u64::from(size.unwrap_or(0)) * cell
}

impl HasCells for Counter {
    fn state_bytes(&self) -> u64 {
        of(self.size, COUNTER_CELL_BYTES)
    }
}

impl HasCells for Meter {
    fn state_bytes(&self) -> u64 {
        of(self.size, METER_CELL_BYTES)
    }
}

impl HasCells for Filter {
    fn state_bytes(&self) -> u64 {
        of(self.size, FILTER_CELL_BYTES)
    }
}

impl HasCells for Register {
    fn state_bytes(&self) -> u64 {
        let cells = if self.kind == RegisterKind::Direct { 1 } else { self.size };
        of(Some(cells), 8 * words_for(self.ty.width()) as u64)
    }
}

/// Bytes of all cells of some objects.
pub fn of_all(objects: &[impl HasCells]) -> u64 {
    objects.iter().map(HasCells::state_bytes).sum()
}

impl Program {
    /// Bytes that its counters, meters, registers and filters take from the start, of one pipe.
    pub fn state_bytes(&self) -> u64 {
        of_all(&self.counters) + of_all(&self.meters) + of_all(&self.registers) + of_all(&self.filters)
    }
}
