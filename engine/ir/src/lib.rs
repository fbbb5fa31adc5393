//! The intermediate representation of a P4 program.
//!
//! One IR, two readers: P4-16 source (checked and lowered from the syntax tree) and, later, BMv2 JSON. All state of a
//! packet is flattened into scalar variables with static places, since P4 has no recursion: controls, actions and
//! functions are inlined or called over one frame. Code is a graph of basic blocks of three-address instructions, so
//! that an interpreter and native code can be made from it alike.
//!
//! Invariants: every reference is its own index type; a program that passed the verifier holds no dangling index, no
//! width mismatch and no block without terminator; nothing here knows of packets, time or the network.

pub mod bits;
pub mod entities;
pub mod inst;
pub mod limits;
pub mod program;
pub mod text;
pub mod verify;

pub use bits::Bits;
pub use entities::*;
pub use inst::*;
pub use program::*;
