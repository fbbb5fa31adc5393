//! Bounds on what a program may ask for; what exceeds one is a diagnostic, never growth without limit.
//!
//! What adds up over a whole program is counted by [`Budget`](p4cc_budget::Budget) while it is compiled.

use p4cc_budget::Resource;

/// Widest variable, in bits (BMv2 and p4c allow 2048).
pub const MAX_WIDTH: u32 = 2048;
/// Widest `varbit`, in bits: a packet of 65,535 bytes.
pub const MAX_VARBIT: u32 = 65_535 * 8;
/// Widest `varbit` field of BMv2 JSON whose length p4c gave in bits, as it did before 2019.
pub const MAX_OLD_VARBIT: u32 = 2048;
/// Most variables of a frame.
pub const MAX_VARS: usize = Resource::Variables.limit() as usize;
/// Most bits of all variables of a frame (8 MiB).
pub const MAX_FRAME_BITS: u64 = 1 << 26;
/// Most elements of a header stack; what an element holds counts as variables.
pub const MAX_STACK: u32 = 32_768;
/// Most instructions after inlining.
pub const MAX_INSTS: usize = Resource::Instructions.limit() as usize;
/// Bits that a compile-time `int` may take.
pub const MAX_INT_BITS: u64 = 2 * MAX_WIDTH as u64;
/// Most variables that a value of one type may take, stacks and nested types included.
pub const MAX_TYPE_LEAVES: u64 = MAX_VARS as u64;
/// Most types that a written type may consist of, names of structs counted once.
pub const MAX_TYPE_NODES: u64 = 1_024;
/// Deepest nesting of statements, expressions and calls once calls are inlined.
pub const MAX_CODE_DEPTH: u32 = 400;
/// Deepest nesting of types, through the fields of structs and through `type` declarations.
pub const MAX_TYPE_DEPTH: u32 = 64;
/// Most entries of a table.
pub const MAX_TABLE_SIZE: u32 = 1 << 20;
/// Most cells of a counter, meter or register array.
pub const MAX_ARRAY_CELLS: u32 = 1 << 24;
/// Most states a parser may visit for one packet.
pub const MAX_PARSER_STEPS: u32 = 4_096;
/// Most errors, and most warnings, that one compilation gives.
pub const MAX_SHOWN: usize = 100;
