//! The chip's own tables, and those of externs, over the switch.

use p4cc_p4runtime::errors::Failure;

use crate::fields::Row;
use crate::schema::Table;
use crate::tables::Done;
use crate::target::{Entry, Target, Verb};

/// What is kept of the chip's tables beside the switch.
#[derive(Clone, Debug, Default)]
pub struct Kept {}

/// Applies a write.
///
/// # Errors
/// What the table refuses.
pub fn write(_target: &mut Target<'_>, _verb: Verb, entry: &Entry<'_>) -> Result<Done, Failure> {
    Err(not_here(entry.table))
}

/// Reads one entry or all.
///
/// # Errors
/// What the table refuses.
pub fn read(_target: &mut Target<'_>, entry: &Entry<'_>) -> Result<Vec<Row>, Failure> {
    Err(not_here(entry.table))
}

/// How many entries a table has.
///
/// # Errors
/// The table does not count them.
pub fn usage(_target: &Target<'_>, table: &Table) -> Result<u32, Failure> {
    Err(not_here(table))
}

fn not_here(table: &Table) -> Failure {
    Failure::unimplemented(format!("table {} has no counterpart in this switch", table.name))
}
