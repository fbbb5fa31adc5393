//! The intermediate representation of a P4 program, its text form and its verifier.
//!
//! One IR, two readers: P4-16 source (checked and lowered from the syntax tree) and BMv2 JSON. All state of
//! a packet is flattened into scalar variables with static places, since P4 has no recursion:
//! controls, actions and functions are inlined or called over one frame. Code is a graph of basic blocks of
//! three-address instructions, so that an interpreter and native code can be made from it alike.
//!
//! Invariants: every reference is its own index type; a program that passed
//! the verifier holds no dangling index, no width mismatch and no block
//! without terminator; nothing here knows of source text, packets, time or the network.

pub mod bits;
pub mod limits;
pub mod state_bytes;
pub mod text;
pub mod verify;

mod architecture;
mod chip;
mod data_type;
mod entities;
mod inst;
mod program;
mod tna_view;

pub use architecture::*;
pub use bits::Bits;
pub use chip::*;
pub use data_type::*;
pub use entities::*;
pub use inst::*;
pub use program::*;
pub use tna_view::*;
