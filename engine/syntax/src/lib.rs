//! P4-16 preprocessing, lexing, parsing, AST and diagnostics.
