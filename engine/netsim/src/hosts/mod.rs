//! Hosts: the two ends of flows, what applications do, and the interface that sends.
//!
//! | file | what it has |
//! |---|---|
//! | `host`, `flow` | state of a host and of a flow |
//! | `new_flow`, `applications` | how a flow begins, gets data and is closed |
//! | `window`, `rdma` | handlers of flows with a congestion window, and of paced RDMA-like flows |
//! | `tcp`, `connections` | window flows that are TCP on the wire: segments out and in; ports and lookup |
//! | `delivery` | which flow an arriving packet goes to |
//! | `interface`, `round_robin` | which packet leaves next |
//! | `kernel` | what arrives waits for the host's kernel |
//! | `packets` | bytes of packets, made and read |
//! | `special` | packets over TCP or IPv6, and with headers of the user's |
//! | `own_headers` | headers of the user's program in data packets |
//! | `source`, `own_packets` | packets of the user's own: state, and when they are handed over |
//! | `injected` | packets that the caller gives between two steps |
//! | `pauses` | PFC (IEEE 802.1Qbb): priorities that the neighbour has paused |
//! | `rtt_noise` | the random part of round-trip times |

mod applications;
mod connections;
mod delivery;
mod flow;
mod host;
mod injected;
mod interface;
mod kernel;
mod new_flow;
mod own_headers;
mod own_packets;
mod packets;
mod pauses;
mod rdma;
mod reads;
mod round_robin;
mod rtt_noise;
mod source;
mod special;
mod tcp;
mod window;

pub(crate) use connections::Connections;
pub(crate) use flow::{Ends, Flow};
pub(crate) use host::Host;
pub use host::HostCounters;
pub(crate) use new_flow::new_flow;
pub use source::MAX_WAITING_INJECTED;
pub(crate) use source::{OwnPackets, Source};
