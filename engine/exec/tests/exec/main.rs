//! The interpreter and its state, on programs built by hand.

mod arithmetic;
mod ecn;
mod externs;
mod headers;
mod parser;
mod profiles;
mod tables;
mod verifier;
