//! Hosts: the two ends of flows, what applications do, and the interface that sends.
//!
//! | file | what it has |
//! |---|---|
//! | `host`, `flow` | state of a host and of a flow |
//! | `new_flow`, `applications` | how a flow begins, gets data and is closed |
//! | `window`, `rdma` | handlers of flows with a congestion window, and of paced RDMA-like flows |
//! | `delivery` | which flow an arriving packet goes to |
//! | `interface`, `round_robin` | which packet leaves next |
//! | `packets` | bytes of packets, made and read |
//! | `pauses` | PFC (IEEE 802.1Qbb): priorities that the neighbour has paused |
//! | `rtt_noise` | the random part of round-trip times |

pub(crate) mod applications;
pub(crate) mod delivery;
pub(crate) mod flow;
pub(crate) mod host;
pub(crate) mod interface;
pub(crate) mod new_flow;
pub(crate) mod packets;
pub(crate) mod pauses;
pub(crate) mod rdma;
pub(crate) mod round_robin;
pub(crate) mod rtt_noise;
pub(crate) mod window;
