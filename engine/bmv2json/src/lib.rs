//! BMv2 JSON, the format in which p4c's v1model back end hands a program to BMv2: a second way into the IR
//! ([`read`]) and a way out of it ([`write`]).
//!
//! The two share nothing but the format: what [`write`] makes is read back to a program that does the same,
//! and a test runs the cases of the repository that way.

mod colors;
mod read;
mod write;

pub use read::{MAX_ERRORS, ReadError, is_document, read, read_within};
pub use write::{WriteError, write};
