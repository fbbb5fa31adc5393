//! Bounds on what a program may ask for; what exceeds one is a diagnostic, never growth without limit.

/// Widest variable, in bits (BMv2 and p4c allow 2048).
pub const MAX_WIDTH: u32 = 2048;
/// Most variables of a frame.
pub const MAX_VARS: usize = 65_536;
/// Most elements of a header stack.
pub const MAX_STACK: u32 = 1_024;
/// Most instructions after inlining.
pub const MAX_INSTS: usize = 1_000_000;
/// Most entries of a table.
pub const MAX_TABLE_SIZE: u32 = 1 << 20;
/// Most cells of a counter, meter or register array.
pub const MAX_ARRAY_CELLS: u32 = 1 << 24;
/// Most states a parser may visit for one packet.
pub const MAX_PARSER_STEPS: u32 = 4_096;
/// Most errors, and most warnings, that one compilation gives.
pub const MAX_SHOWN: usize = 100;
