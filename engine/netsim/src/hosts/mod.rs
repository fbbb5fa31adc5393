//! Hosts: the two ends of flows, what applications do, and the network interface that sends.
//!
//! [`host`] has the state of a host and of its flows; [`new_flow`] makes a flow, [`applications`] starts,
//! feeds and closes it. [`rdma`] is the path of rate-paced flows, whose order at the interface
//! [`round_robin`] decides; [`rtt_noise`] adds the random part of their round-trip times.

pub(crate) mod applications;
pub(crate) mod host;
pub(crate) mod new_flow;
pub(crate) mod ordered;
pub(crate) mod rdma;
pub(crate) mod round_robin;
pub(crate) mod rtt_noise;
