//! Executes IR: interpreter, native code, tables, action profiles, counters, registers.
//!
//! A [`Pipeline`] is compiled once from a verified program and shared. A [`State`] holds what the control
//! plane writes and what outlives a packet. A [`Frame`] holds one packet. An [`Executor`] runs a pipeline's
//! code on a frame and a state. There are two: the interpreter, which defines the result, and [`Native`].
//!
//! Invariants: no clock, no socket, no randomness of its own. The common path of a packet allocates nothing.
//! No packet and no verified program makes it panic or run forever.

mod accesses;
mod bitplan;
mod checksum;
mod compile;
pub mod control;
mod env;
mod frame;
mod frame_layout;
mod interpreter;
mod math_unit;
mod native;
mod op;
mod pipeline;
pub mod prefetch;
mod snapshot;
mod state;
mod tna_pipelines;
mod v1_pipelines;
mod wide;

pub use checksum::CrcParams;
pub use env::{
    CloneRequest, DigestMessage, Effects, Env, Executor, NoTrace, PacketView, ParseResult, PayloadView,
    QueueBypass, RandomSource, RegisterAccess, Trace, Values,
};
pub use frame::Frame;
pub use interpreter::MAX_CONTROL_STEPS;
pub use native::{Exec, Native, NativeError};
pub use pipeline::{CompileError, Pipeline};
pub use snapshot::Snapshot;
pub use state::filter::{FilterConfig, LpfConfig, WredConfig};
pub use state::hashing::HashSlice;
pub use state::idle::IdleChange;
pub use state::meter::{COLOR_GREEN, COLOR_RED, COLOR_YELLOW, MeterConfig, MeterCounts};
pub use state::{Array, ArrayKind, DEFAULT_DROP_PORT, Part, State};
pub use tna_pipelines::{HalfEnd, HalfId};
pub use v1_pipelines::{
    BypassEnd, BypassResult, EgressEnd, EgressMetadata, EgressStart, IngressStart, V1Pipelines, Verdict,
};

#[cfg(feature = "testing")]
pub mod testing;
