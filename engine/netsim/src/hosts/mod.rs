//! Hosts: the two ends of flows, what applications do, and the interface that sends.

mod applications;
mod connections;
mod delivery;
mod ends;
mod flow;
mod host;
mod host_receiver;
mod interface;
mod jitter;
mod kernel;
mod new_flow;
mod opening;
mod packets;
mod partition;
mod pauses;
mod rdma;
mod reads;
mod receivers;
mod round_robin;
mod rtt_noise;
mod several_links;
mod source;
mod special;
mod state;
mod storms;
mod tcp;
mod user_headers;
mod user_packets;
mod window;

pub(crate) use flow::{Ends, Flow, Verb};
pub use host::HostCounters;
pub use source::MAX_WAITING_INJECTED;
pub(crate) use state::Hosts;
