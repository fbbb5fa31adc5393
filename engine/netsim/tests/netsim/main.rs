//! The network as a whole: arithmetic by hand, conservation, determinism, ties, limits, errors.

#[path = "../support/mod.rs"]
mod support;

mod by_hand;
mod errors;
mod invariants;
mod traffic;
