//! Congestion control algorithms, sans-IO, one file each.
//!
//! A [`Controller`] holds the [`Window`] of one flow and composes a [`SlowStart`] with a
//! [`CongestionAvoidance`]; the transport tells it what happened and never writes the window itself.
//! [`registry`] is the one table of algorithms: names, parameters, defaults, ranges and switch needs;
//! [`build`] makes a controller from an [`AlgorithmConfig`] by it. Senders paced by a rate have a trait of
//! their own, [`RateControl`]; so have receivers that say what senders may send, [`ReceiverAlgorithm`].
//!
//! Invariants:
//! - no clock, no socket, no log: state changes only through the calls, and is reported as typed [`Event`]s;
//! - no float function of the platform: powers come from `libm`, so two machines agree to the bit;
//! - a window is never below one segment, nor above [`Window::MAX_SEGMENTS`].

mod algorithm;
mod alpha;
mod config;
mod controller;
mod cubic;
mod d2tcp;
mod dctcp;
mod error;
mod event;
mod gst;
mod hystart;
mod ideal_path;
mod info;
mod kind;
mod l2tcp;
mod limited;
mod own;
mod p_start;
mod params;
mod prague;
mod rate;
mod receiver;
mod registry;
mod reno;
mod reno_ecn;
mod rfb_ss;
mod rounds;
mod signal;
mod smooth;
mod standard;
#[cfg(test)]
mod testing;
mod validation;
mod window;

pub use algorithm::{CongestionAvoidance, Echo, Loss, Reaction, SlowStart};
pub use config::{AlgorithmConfig, AlgorithmSpec, ParamValue};
pub use controller::{Controller, InitialWindow, build};
pub use error::{ConfigError, suggestion};
pub use event::{CutCause, Event, Phase, Publisher};
pub use ideal_path::windows_by_round;
pub use info::AlgorithmInfo;
pub use kind::{Kind, SwitchNeed};
pub use own::{Brought, FlowIdentity, OwnAlgorithm};
pub use params::{Domain, ParamInfo};
pub use rate::{
    FlowRemainder, HopRecord, IntEncoding, PacketSize, QueueNotice, RateAck, RateControl, RateEnvironment,
    RateRequest, build_rate, rate_needs,
};
pub use receiver::{Arrival, ReceiverAction, ReceiverAlgorithm, ReceiverEnvironment, build_receiver};
pub use registry::registry;
pub use signal::{AckSample, FlowProgress, HeaderField, Mark};
pub use validation::WindowValidation;
pub use window::Window;
