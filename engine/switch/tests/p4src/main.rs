//! The project's P4 programs (`p4src/v1model`, `p4src/tna`), packet by packet and at chosen times and queue
//! depths.
//!
//! `bench` is a switch with one of the programs, `frame`
//! writes and reads packets as docs/reference/wire-format.md has them.

#![expect(clippy::duplicate_mod, reason = "one set of tests for the programs of two architectures")]

/// Name of a program of v1model, or in `tna` of its sister.
macro_rules! program {
    ($name:literal) => {
        $name
    };
}
use program;

mod ack_priority;
mod bench;
mod bolt;
mod d3;
mod d3_capacity;
mod d3_property;
mod dualpi2;
mod ecmp;
mod ecn_dual;
mod ecn_red;
mod frame;
mod int_fixed;
mod int_hpcc;
mod int_md;
mod rcp;
mod spray;
mod tna;
mod trim;
mod v1model_only;
