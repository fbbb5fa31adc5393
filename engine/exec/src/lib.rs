//! Executes IR: register machine, tables, action profiles, counters, registers.

pub mod control;
