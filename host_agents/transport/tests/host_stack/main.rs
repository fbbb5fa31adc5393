//! Tests of the host stack as a whole: sender, receiver and wire format together.

mod bursts;
mod credit;
mod geo;
mod go_back_0;
mod incast;
mod ipv6;
mod pair;
mod pint;
mod properties;
mod rare_acks;
mod rdma;
mod recovery;
mod tcp;
mod traces;
mod trimmed;
mod wire;
