//! P4-16 source text to syntax tree.
//!
//! The way of a file: preprocessing (includes, macros, conditionals) gives one text with a map back to the
//! files it came from; parsing gives an [`ast::Program`] and every diagnostic found on the way.
//!
//! Invariants: nothing here panics on any input; every node has a [`Span`] into the preprocessed text;
//! readers return a result *plus* all diagnostics, never only the first.

pub mod ast;
pub mod diag;
pub mod loader;
pub mod span;
pub mod visit;

mod closest;
mod declared;
mod lexer;
mod operator;
mod parser;
mod places;
mod preprocess;
mod print;
mod render;
mod source;

pub use closest::closest;
pub use declared::declared;
pub use diag::{Diagnostic, Severity};
pub use lexer::tokens;
pub use loader::{FileSystem, Memory, SourceLoader, builtin_file, builtin_names, declaring_file};
pub use parser::{parse, parse_within};
pub use places::Place;
pub use print::print;
pub use render::MachineDiagnostic;
pub use source::{Limits, Location, Options, Source};
pub use span::Span;
