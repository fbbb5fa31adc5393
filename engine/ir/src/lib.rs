//! Typed intermediate representation of a P4 program: checks, lowering, text form, verifier.
