//! Hosts: the two ends of flows, what applications do, and the interface that sends.
//!
//! | file | what it has |
//! |---|---|
//! | `state` | all hosts and flows of a run |
//! | `delivery` | which flow an arriving packet goes to |
//! | `ends` | the verbs of every kind of flow |
//! | `window`, `rdma`, `reads` | the ends of flows: with a congestion window, paced, and reads |
//! | `tcp`, `connections` | window flows that are TCP on the wire: segments out and in; ports and lookup |
//! | `interface`, `round_robin` | which packet leaves next |
//! | `packets` | bytes of packets, made and read |
//! | `host`, `flow`, `new_flow` | one host; one flow, and how it is at the start |
//! | `opening`, `applications` | how a flow begins, gets data and is closed; what ties flows together |
//! | `kernel`, `rtt_noise` | what arrives waits for the host's kernel; the random part of round-trip times |
//! | `special`, `user_headers` | packets over TCP or IPv6, and with headers of the user's program |
//! | `source`, `user_packets` | users' packets: state, and when they are handed over |
//! | `pauses` | PFC (IEEE 802.1Qbb): priorities that the neighbour has paused |
//! | `partition` | what a partition of the network has for a region |

mod applications;
mod connections;
mod delivery;
mod ends;
mod flow;
mod host;
mod interface;
mod kernel;
mod new_flow;
mod opening;
mod packets;
mod partition;
mod pauses;
mod rdma;
mod reads;
mod round_robin;
mod rtt_noise;
mod source;
mod special;
mod state;
mod tcp;
mod user_headers;
mod user_packets;
mod window;

pub(crate) use flow::{Ends, Verb};
pub use host::HostCounters;
pub use source::MAX_WAITING_INJECTED;
pub(crate) use state::Hosts;
