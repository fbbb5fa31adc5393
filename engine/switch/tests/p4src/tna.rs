//! Programs of `p4src/tna`: those with a sister under v1model in its very tests, and what they have of
//! their own.

macro_rules! program {
    ($name:literal) => {
        concat!("tna/", $name)
    };
}
use program;

use super::{bench, frame};

#[path = "ack_priority.rs"]
mod ack_priority;
#[path = "ecn_dual.rs"]
mod ecn_dual;
#[path = "int_fixed.rs"]
mod int_fixed;
#[path = "int_hpcc.rs"]
mod int_hpcc;
#[path = "int_md.rs"]
mod int_md;
mod own;
#[path = "trim.rs"]
mod trim;
