//! Links: transmission, propagation, loss, PFC (IEEE 802.1Qbb), deadlocks and failures.
//!
//! | file | what it has |
//! |---|---|
//! | `line` | when a port or an interface is busy |
//! | `transmission` | ports of switches that send |
//! | `channel` | one direction of a link, with the frames on their way |
//! | `pfc`, `pause` | pause frames on links, and the nodes that obey them |
//! | `deadlock`, `wait_graph` | cycles of paused links |
//! | `faults` | links that go down and come up |

pub(crate) mod channel;
pub(crate) mod deadlock;
pub(crate) mod faults;
pub(crate) mod line;
pub(crate) mod pause;
pub(crate) mod pfc;
pub(crate) mod transmission;
pub(crate) mod wait_graph;
